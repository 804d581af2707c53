"""Whose code a module is: the user's, or that of Python, NumPy, SciPy and this library."""

from __future__ import annotations

import sys
import sysconfig
from functools import cache

__all__ = ["is_foreign", "is_installed", "is_numeric"]

_NUMERIC = ("numpy", "scipy", "symgraph", "rewrites", "jax", "jaxlib", "builtins")


@cache
def is_foreign(module: str) -> bool:
    """Whether a module's content is taken not to change."""
    return is_numeric(module) or module.partition(".")[0] in sys.stdlib_module_names


@cache
def is_numeric(module: str) -> bool:
    """Whether a module belongs to this library or to a library that it computes with."""
    return module.partition(".")[0] in _NUMERIC


_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})


def is_installed(module: str) -> bool:
    """Whether a module belongs to another library, not to the user and to none of the above."""
    if is_foreign(module):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    return isinstance(file, str) and file.startswith(_LIBRARIES)
