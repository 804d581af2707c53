"""A line that tells the user who waits how far the work is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TextIO

from ..ir.progress import Progress, watched

__all__ = ["Told", "telling"]

Told = bool | Callable[[Progress], object] | None
"""Whether progress is shown, or who is told; None shows it after a second, where a person looks."""


def telling(progress: Told, work: str) -> AbstractContextManager[None]:
    """A context in which the user is told how far the work is.

    Parameters
    ----------
    progress : bool, callable or None
        A callable takes each `Progress`. True shows a line on stderr. None shows it after one
        second, and only on a terminal or in a notebook.
    work : str
        The name of the work, such as "simplify".
    """
    if callable(progress):
        return watched(progress)
    if progress or (progress is None and _is_watched(sys.stderr)):
        return _line(work, sys.stderr, after=0.0 if progress else 1.0)
    return nullcontext()


def _is_watched(stream: TextIO | None) -> bool:
    """Whether a person sees the stream while it is written."""
    if stream is None or stream.closed:
        return False
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")


@contextmanager
def _line(work: str, stream: TextIO, after: float) -> Generator[None]:
    """One line, written over and over, and wiped out at the end."""
    widest = 0

    def show(progress: Progress) -> None:
        nonlocal widest
        text = f"{work}: {progress}"
        stream.write("\r" + text.ljust(widest))
        stream.flush()
        widest = max(widest, len(text))

    try:
        with watched(show, after=after):
            yield
    finally:
        if widest:
            stream.write("\r" + " " * widest + "\r")
            stream.flush()
