"""Compiled loops whose parts are computed on several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..native.thread_parts import Parts
from .threads import Team

__all__ = ["shared_loop", "shared_product"]

_MOST_SIZES = 8
_LEAST_WORK = 2**22
"""A product of fewer multiplications is computed by one thread."""
_LEAST_TILES = 8
"""The least tiles of rows of a part: each part packs the right matrix again."""
_MOST_PARTS = 32

Places = Sequence[Sequence[np.ndarray[Any, Any]]]


def shared_loop(
    whole: Callable[..., None], part: Callable[..., None], parts: Parts, team: Team
) -> Callable[..., None]:
    """The loop of a group: all of it by `whole` if it is small, else some rows each by `part`.

    Parameters
    ----------
    whole : callable
        Takes the arrays of the group.
    part : callable
        Takes these, arrays for the results of parts, and four integers in an array.
    parts : Parts
    team : Team
    """
    known: dict[tuple[int, int], Places] = {}
    ufuncs = [(out, place, getattr(np, name)) for out, place, name in parts.combined]

    def call(*arrays: Any) -> None:
        sizes = parts.sizes(arrays)
        places = known.get(sizes)
        if places is None:
            if len(known) >= _MOST_SIZES:
                known.clear()
            places = known[sizes] = _places(parts.bounds(*sizes), team.threads)
        if not places:
            whole(*arrays)
            return

        def run(numbers: Iterable[np.ndarray[Any, Any]]) -> None:
            for each in numbers:
                part(*arrays, each)

        team.spread(run, places)
        for out, place, ufunc in ufuncs:
            total = arrays[out]
            ufunc.reduce(arrays[place][: len(places[0])], axis=0, dtype=total.dtype, out=total)

    return call


def _places(bounds: Sequence[tuple[int, int]], threads: int) -> Places:
    """For each thread the integers of all parts; none if there are no parts."""
    return [
        [
            np.array([start, count, thread, number], np.int64)
            for number, (start, count) in enumerate(bounds)
        ]
        for thread in range(min(threads, len(bounds)))
    ]


def shared_product(product: Callable[..., None], rows: int, team: Team) -> Callable[..., None]:
    """A product of matrices, some rows of the left one each.

    Parameters
    ----------
    product : callable
        Takes both matrices, the result and two panels.
    rows : int
        The rows of a tile.
    team : Team
    """
    least = rows * _LEAST_TILES

    def call(left: Any, right: Any, result: Any, packed: Any, panel: Any) -> None:
        m, n = result.shape
        count = min(_MOST_PARTS, m // least)
        if count < 2 or m * n * right.shape[0] < _LEAST_WORK:
            product(left, right, result, packed, panel)
            return
        starts = [*[k * m // count // rows * rows for k in range(count)], m]

        def run(bounds: Iterable[tuple[int, slice]]) -> None:
            for thread, at in bounds:
                product(left[at], right, result[at], packed[thread], panel[thread])

        slices = [slice(start, stop) for start, stop in pairwise(starts)]
        threads = range(min(team.threads, count))
        team.spread(run, [[(thread, each) for each in slices] for thread in threads])

    return call
