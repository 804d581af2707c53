"""The programs that a transformed function keeps, and whether they still mean the same.

A program is kept for the structure, shapes, dtypes and static values of the arguments. With it is
kept what the function read besides them: where that has changed, the program is forgotten.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

from ..backends.lowered import Lowered
from ..capture.captured import Captured
from ..capture.retraces import Retraces
from .traced_call import TracedCall

__all__ = ["CacheInfo", "KeptProgram", "Programs"]


class CacheInfo(NamedTuple):
    """Statistics of the cache of programs, as `functools.lru_cache` gives them."""

    hits: int
    misses: int
    maxsize: int
    currsize: int


@dataclass(slots=True)
class KeptProgram:
    """The record of one call: its graph, the program, and the values that the function read."""

    traced: TracedCall
    lowered: Lowered
    captured: Captured


class Programs:
    """A bounded cache; the program used longest ago goes first.

    Parameters
    ----------
    most : int
        Programs kept.
    retraces : Retraces
        Told which values have changed.
    """

    def __init__(self, most: int, retraces: Retraces) -> None:
        self._kept: OrderedDict[Hashable, KeptProgram] = OrderedDict()
        self._most = most
        self._retraces = retraces
        self._hits = self._misses = 0
        self._lock = Lock()

    def get(self, key: Hashable, captured: Callable[[], Captured]) -> KeptProgram | None:
        """The program kept under a key, if the function still reads the same values.

        Parameters
        ----------
        key : hashable
        captured : callable
            Gives the values that the function reads now.
        """
        with self._lock:
            program = self._kept.get(key)
            if program is not None:
                self._kept.move_to_end(key)
        if program is None:
            return None
        if not program.captured.unchanged():
            now = captured()
            changed = program.captured.difference(now)
            if changed:
                self._retraces.of_captured(changed)
                return None
            program.captured = now
        with self._lock:
            self._hits += 1
        return program

    def add(self, key: Hashable, program: KeptProgram) -> None:
        """Keep a program."""
        with self._lock:
            self._misses += 1
            self._kept[key] = program
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def info(self) -> CacheInfo:
        """Hits, misses, and how many programs are kept of how many that may be."""
        with self._lock:
            return CacheInfo(self._hits, self._misses, self._most, len(self._kept))

    def clear(self) -> None:
        """Forget all programs."""
        with self._lock:
            self._kept.clear()
            self._hits = self._misses = 0

    def all(self) -> list[Any]:
        """The programs kept, the one used last at the end."""
        with self._lock:
            return list(self._kept.values())
