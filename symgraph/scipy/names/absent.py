"""Names that have no counterpart on symbols: SciPy's own functions, which take numbers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ...errors import MissingAttribute
from ...source import user_frame

__all__ = ["absent", "of_numbers"]


def of_numbers(module: str, name: str, known: Sequence[str]) -> Any:
    """SciPy's own function or class of this name.

    So a program that imports a module from here has all of it for numbers. Of symbols SciPy's
    functions ask for numbers, which is refused with advice (`array/scipy_calls.py`).

    Raises
    ------
    MissingAttribute
        If SciPy has no such name either.
    """
    original = None if name.startswith("_") else import_module(f"scipy.{module}")
    found = getattr(original, name, None)
    if found is None:
        raise absent(module, name, known)
    return found


def absent(module: str, name: str, known: Sequence[str]) -> Exception:
    """The error for a name that neither a module of this package has nor SciPy's."""
    if name.startswith("__"):
        return AttributeError(name)
    frame = user_frame()
    return MissingAttribute(
        f"symgraph.scipy.{module} has no {name}.",
        [f"used at {frame.quoted()}"] if frame else [],
        mend=f"Nor has SciPy's; of symbols there are {', '.join(sorted(known)) or 'none'}.",
    )
