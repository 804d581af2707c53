"""Progress of work that may take long: passes tell how far they are, and who waits is told.

    with watched(print):
        ...                                # somewhere below:
        working("rules", done=120, total=300)

Whoever works knows nothing of who waits; where nobody waits, telling costs a look at a variable.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

from ..records import record

__all__ = ["Progress", "told", "watched", "working"]


@record
class Progress:
    """The progress of a piece of work.

    Parameters
    ----------
    what : str
        The pass that runs, such as "rules" or "algebra".
    done, total : int
        How many of its steps are done. A pass may run several times, each time from 0.
    seconds : float
        Since the work began.

    Examples
    --------
    >>> str(sg.Progress("rules", done=1200, total=30000, seconds=4.0))
    'rules: 1,200 of 30,000 (4 s)'
    """

    what: str
    done: int
    total: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.what}: {self.done:,} of {self.total:,} ({self.seconds:.0f} s)"


@dataclass(slots=True)
class _Watch:
    """Tells `tell`, but not more often than once in `pause` seconds."""

    tell: Callable[[Progress], object]
    pause: float
    begun: float
    next: float

    def working(self, what: str, done: int, total: int) -> None:
        now = monotonic()
        if now >= self.next:
            self.tell(Progress(what, done, total, now - self.begun))
            self.next = monotonic() + self.pause


_watch: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched(
    tell: Callable[[Progress], object], *, after: float = 0.0, pause: float = 0.1
) -> Generator[None]:
    """Inside this context `tell` is called with the progress of the work.

    Parameters
    ----------
    tell : callable
        What it raises ends the work.
    after : float
        Seconds before it is called first.
    pause : float
        Seconds between two calls, at least.
    """
    begun = monotonic()
    token = _watch.set(_Watch(tell, pause, begun, begun + after))
    try:
        yield
    finally:
        _watch.reset(token)


def working(what: str, done: int, total: int) -> None:
    """Tell that `done` of `total` steps of the pass are done."""
    watch = _watch.get()
    if watch is not None:
        watch.working(what, done, total)


T = TypeVar("T")


def told(what: str, steps: Sequence[T]) -> Iterator[T]:
    """The steps of a pass, one by one; who waits is told how many are done."""
    for done, step in enumerate(steps):
        working(what, done, len(steps))
        yield step
