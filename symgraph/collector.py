"""Python's garbage collector, kept away while large graphs are built."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["collector_paused"]


@contextmanager
def collector_paused() -> Generator[None]:
    """No garbage collection inside: building 100,000 nodes makes it scan them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if gc.get_freeze_count() == 0:  # else the user's own would thaw
                # What is alive now is kept: among the old, it is not walked as if just made.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
