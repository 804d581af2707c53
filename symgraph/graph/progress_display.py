"""A line, or a bar of tqdm, that tells the user who waits how far the work is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from typing import Any, TextIO

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
        return _shown(work, sys.stderr, after=0.0 if progress else 1.0)
    return nullcontext()


def _is_watched(stream: TextIO | None) -> bool:
    """Whether a person sees the stream while it is written."""
    if stream is None or stream.closed:
        return False
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")


@contextmanager
def _shown(work: str, stream: TextIO, after: float) -> Generator[None]:
    """A bar of tqdm if it is installed, else one line; both are wiped out at the end."""
    display: _Bar | _Line | None = None

    def show(progress: Progress) -> None:
        nonlocal display
        if display is None:  # Only who waits pays for the import.
            display = _Bar.of(work, stream) or _Line(work, stream)
        display.show(progress)

    try:
        with watched(show, after=after):
            yield
    finally:
        if display is not None:
            display.close()


class _Line:
    """One line, written over and over."""

    def __init__(self, work: str, stream: TextIO) -> None:
        self._work, self._stream, self._widest = work, stream, 0

    def show(self, progress: Progress) -> None:
        text = f"{self._work}: {progress}"
        self._stream.write("\r" + text.ljust(self._widest))
        self._stream.flush()
        self._widest = max(self._widest, len(text))

    def close(self) -> None:
        self._stream.write("\r" + " " * self._widest + "\r")
        self._stream.flush()


class _Bar:
    """A bar of tqdm, which begins again with each pass."""

    def __init__(self, make: Callable[..., Any], stream: TextIO, work: str) -> None:
        self._bar, self._work = make(file=stream, leave=False, dynamic_ncols=True), work

    @classmethod
    def of(cls, work: str, stream: TextIO) -> _Bar | None:
        """The bar, if tqdm is installed."""
        try:
            tqdm: Callable[..., Any] = import_module("tqdm.std").tqdm
        except ImportError:
            return None
        return cls(tqdm, stream, work)

    def show(self, progress: Progress) -> None:
        self._bar.total = progress.total
        self._bar.n = progress.done
        self._bar.set_description_str(f"{self._work}: {progress.what}", refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()
