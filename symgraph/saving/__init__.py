"""Graphs as text that is kept and sent: a versioned, canonical JSON form, validated when read.

Reading executes nothing of the text. Operations are looked up by name, their own rules infer dtypes
and shapes again, and a value that does not agree is refused with its path in the file.
"""

from __future__ import annotations

from . import pickling as pickling
from .schemas import schema as schema
