"""What a plain installation may lack."""

from __future__ import annotations

from importlib.util import find_spec

BACKENDS = ["numpy", *(["jax"] if find_spec("jax") is not None else [])]
"""Our own backends that can be imported here."""
ON_THE_CPU = ["numpy", *(["native"] if find_spec("llvmlite") is not None else [])]
"""Those that run on NumPy's arrays."""
