"""Parts of one call on several threads.

A loop is cut into parts that do not depend on one another. The caller takes the next free part
until none is left; threads of a pool do the same beside it, as soon as they come to it. A part
writes to rows of its own, and what all parts add to is added in their order. So results are the
same to the bit, however many threads there are.

The caller waits for nobody who has not begun. So a call within a call, a pool of busy threads and a
child process (whose parent's threads are gone) take longer, and do not stop.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["InOrder", "Team"]

Place = TypeVar("Place")


class Team:
    """Runs the parts of a loop on some threads.

    Parameters
    ----------
    threads : int
        How many threads work at a time, the caller among them.

    Raises
    ------
    InputError
        If it is no integer, or less than one.

    Examples
    --------
    >>> found = [0] * 100
    >>> def part(numbers):
    ...     for number in numbers:
    ...         found[number] = number
    >>> Team(4).spread(part, [range(100)] * 4)
    >>> found == [*range(100)]
    True
    """

    def __init__(self, threads: int) -> None:
        if isinstance(threads, bool) or not isinstance(threads, int):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(
                f"threads={threads!r} is no number of threads.", mend="Give an integer: threads=2."
            )
        if threads < 1:
            raise InputError(
                f"threads={threads}: a call needs a thread.",
                mend="threads=1 is the caller alone; None leaves loops uncut.",
            )
        self.threads = threads

    def spread(
        self,
        part: Callable[[Iterable[Place]], object],
        places: Sequence[Sequence[Place]],
        products: bool = False,
    ) -> None:
        """`part` on some threads at once, each with the next free numbers of its own places.

        Parameters
        ----------
        part : callable
            Takes places one by one until there are no more.
        places : sequence of sequence
            For each thread its places, one for each number.
        products : bool
            Whether the parts call BLAS: it then computes each product on the thread that asks.
            Without threadpoolctl it cannot be told to, and the caller works alone.
        """
        if products and not _can_tell_blas():
            part(places[0])
        elif products:
            with _blas_on_one_thread():
                _spread(part, places)
        else:
            _spread(part, places)


def _spread(part: Callable[[Iterable[Place]], object], places: Sequence[Sequence[Place]]) -> None:
    parts = _Parts(len(places[0]))
    helpers = _helpers(part, [parts.of(each) for each in places[1 : len(places[0])]])
    try:
        part(parts.of(places[0]))
    finally:
        parts.stop()  # Where the caller failed, the others begin no part either.
        begun = [each for each in helpers if not each.cancel()]
        failed = [error for each in begun for error in [each.exception()] if error is not None]
    if failed:
        raise failed[0]


class _Parts:
    """The numbers of parts, each given once, whoever asks."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._next = 0
        self._lock = threading.Lock()

    def of(self, places: Sequence[Place]) -> Generator[Place, None, None]:
        """The places of the numbers that are free when they are asked for."""
        while True:
            with self._lock:
                number = self._next
                self._next += 1
            if number >= self._count:
                return
            yield places[number]

    def stop(self) -> None:
        """Give no number any more."""
        with self._lock:
            self._next = self._count


class InOrder(Generic[Place]):
    """Hands values on in the order of their numbers, whenever they come.

    Parameters
    ----------
    take : callable
        Is given one value at a time.
    kept : callable
        Copies a value that must wait: its memory is used again.

    Examples
    --------
    >>> found = []
    >>> put = InOrder(found.append, str)
    >>> put(1, "b"), put(0, "a"), put(2, "c")
    (None, None, None)
    >>> found
    ['a', 'b', 'c']
    """

    def __init__(
        self, take: Callable[[Place], object], kept: Callable[[Place], Place] | None = None
    ) -> None:
        self._take = take
        self._kept = kept
        self._next = 0
        self._waiting: dict[int, Place] = {}
        self._lock = threading.Lock()

    def __call__(self, number: int, value: Place) -> None:
        with self._lock:
            if number != self._next:
                self._waiting[number] = value if self._kept is None else self._kept(value)
                return
            self._take(value)
            self._next += 1
            while self._next in self._waiting:
                self._take(self._waiting.pop(self._next))
                self._next += 1


# -- the pool --------------------------------------------------------------------------------------
class _Pool:
    """The threads of a process, as many as the widest team asks for beside its caller."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.width = 0
        self.executor: ThreadPoolExecutor | None = None

    def of(self, width: int) -> ThreadPoolExecutor:
        with self.lock:
            if self.executor is None or self.width < width:
                # Loaded with the first team: an import of the package does without.
                from concurrent.futures import ThreadPoolExecutor

                old = self.executor
                self.width = width
                self.executor = ThreadPoolExecutor(width, thread_name_prefix="symgraph")
                if old is not None:
                    old.shutdown(wait=False)
            return self.executor


_pool = _Pool()


def _helpers(
    part: Callable[[Iterable[Place]], object], places: Sequence[Iterable[Place]]
) -> list[Future[Any]]:
    """Calls of `part` that threads of the pool may come to."""
    found: list[Future[Any]] = []
    for each in places:
        # The caller's context, or NumPy would warn on other threads.
        context = copy_context()
        try:
            found.append(_pool.of(len(places)).submit(context.run, part, each))
        except RuntimeError:
            break  # The interpreter ends, or another team has just widened the pool.
    return found


# -- BLAS ------------------------------------------------------------------------------------------
class _Blas:
    """BLAS on one thread while at least one team works: its number is one for the whole process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.teams = 0
        self.libraries: list[Any] | None = None
        self.before: list[int] = []

    def enter(self) -> None:
        with self.lock:
            libraries = self.libraries
            if libraries is None:
                control = import_module("threadpoolctl").ThreadpoolController()
                libraries = self.libraries = control.select(user_api="blas").lib_controllers
            if not self.teams:
                self.before = [each.get_num_threads() for each in libraries]
                self._set([1] * len(libraries))
            self.teams += 1

    def leave(self) -> None:
        with self.lock:
            self.teams -= 1
            if not self.teams:
                self._set(self.before)

    def _set(self, numbers: Sequence[int]) -> None:
        for library, before, number in zip(self.libraries or (), self.before, numbers, strict=True):
            if before != 1:
                library.set_num_threads(number)

    def forked(self) -> None:
        """Begin a child process: no team of its parent works in it."""
        if self.teams:
            self._set(self.before)
        self.teams, self.lock = 0, threading.Lock()


_blas = _Blas()


def _can_tell_blas() -> bool:
    return _blas.libraries is not None or find_spec("threadpoolctl") is not None


@contextmanager
def _blas_on_one_thread() -> Generator[None, None, None]:
    _blas.enter()
    try:
        yield
    finally:
        _blas.leave()


def _forked() -> None:
    _pool.__init__()
    _blas.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
