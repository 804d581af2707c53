"""Graphs as text that is kept and sent: a versioned, canonical JSON form, validated when read.

Reading executes nothing of what is read: operations are looked up by name, their own rules infer
dtypes and shapes anew, and what does not agree is refused with its path in the file.
"""

from __future__ import annotations

from . import pickling as pickling
