"""Freed memory goes back to the system.

The C library keeps what is freed for the next array, and where many small arrays lived, that is
hundreds of megabytes.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache

__all__ = ["give_freed_memory_back", "trim"]


def give_freed_memory_back() -> None:
    """Give the pages of freed memory back, where the GNU C library can.

    A hundred megabytes take some ten milliseconds.
    """
    trim()(0)


@cache
def trim() -> Callable[[int], int]:
    """`malloc_trim` of the GNU C library, or nothing in its place."""
    nothing: Callable[[int], int] = int
    if sys.platform != "linux":
        return nothing
    return getattr(ctypes.CDLL(None), "malloc_trim", nothing)
