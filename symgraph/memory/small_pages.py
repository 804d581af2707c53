"""Large arrays of a search without large pages, which would stay with the process.

NumPy asks the system for pages of 2 MiB for arrays of 4 MiB and more. Where the C library takes the
array from its heap, the heap keeps such pages after the array is gone, and the system fills them
whole: a program that is planned to the last byte would then hold up to 2 MiB more than planned.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from numpy._core import multiarray

__all__ = ["small_pages"]

_lock = threading.Lock()
_within = [0]
"""How many searches are within `small_pages`, of all threads."""
_before = [True]


def _unknown(_wanted: bool) -> bool:
    return False


_ask_for_large: Callable[[bool], bool] = getattr(multiarray, "_set_madvise_hugepage", _unknown)
"""NumPy's own switch, that the environment sets at first; gives the setting before."""


@contextmanager
def small_pages() -> Generator[None]:
    """Within it NumPy asks for no large pages."""
    with _lock:
        if not _within[0]:
            _before[0] = _ask_for_large(False)
        _within[0] += 1
    try:
        yield
    finally:
        with _lock:
            _within[0] -= 1
            if not _within[0]:
                _ask_for_large(_before[0])
