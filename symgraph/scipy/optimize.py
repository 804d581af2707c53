"""`scipy.optimize` is not traced: its names are SciPy's, for numbers."""

from __future__ import annotations

from typing import Any

from .names.absent import of_numbers

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    return of_numbers("optimize", name, __all__)
