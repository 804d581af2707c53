"""Python's garbage collector, kept away while large graphs are built."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["collector_paused"]

_MANY = 50_000
"""Objects made and still alive, of which the collector is told; a graph of 2,000 nodes leaves
that many."""
_FEW = 1_000
"""Python 3.12 freezes some hundred objects by itself; a user freezes thousands."""


@contextmanager
def collector_paused() -> Generator[None]:
    """No garbage collection inside: building 100,000 nodes makes it scan them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if gc.get_count()[0] > _MANY and gc.get_freeze_count() < _FEW:
                # What is alive is kept: among the old it is not walked as if just made. Not where
                # it is little, lest calls in a loop take the user's garbage along each time; nor
                # where the user has frozen something, which would thaw.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
