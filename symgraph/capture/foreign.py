"""Whose code a module is: the user's, or that of Python, NumPy, SciPy and this library."""

from __future__ import annotations

import sys
import sysconfig
from contextlib import suppress
from functools import cache
from pathlib import Path

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
    if not isinstance(file, str):
        return False
    if file.startswith(_LIBRARIES):
        return True
    folder = _import_folder(module, file)
    if folder.name in ("site-packages", "dist-packages"):
        return True
    return module.partition(".")[0] in _installed_into(folder)


def _import_folder(module: str, file: str) -> Path:
    """The folder on the search path that a module was imported from."""
    path = Path(file)
    levels = module.count(".") + (path.stem == "__init__")
    return path.parents[min(levels, len(path.parents) - 1)]


@cache
def _installed_into(folder: Path) -> frozenset[str]:
    """Libraries that `pip install --target` has put into a folder, maybe beside the user's code."""
    found: set[str] = set()
    for record in folder.glob("*.dist-info/RECORD"):
        with suppress(OSError, UnicodeDecodeError):
            lines = record.read_text("utf-8").splitlines()
            found.update(line.partition(",")[0].partition("/")[0] for line in lines)
    return frozenset(name.removesuffix(".py") for name in found)
