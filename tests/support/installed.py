"""What a plain installation may lack."""

from __future__ import annotations

from importlib.util import find_spec

BACKENDS = ["numpy", *(["jax"] if find_spec("jax") is not None else [])]
"""Our own backends that can be imported here."""
