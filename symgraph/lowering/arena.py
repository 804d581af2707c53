"""The arena of a planned program: values at planned offsets, whose pages are given back in time.

A program that was planned for a memory budget writes its values into one range of addresses that is
kept between calls. Its results live in memory of their own, for the caller keeps them. A range that
is kept whole would be needed beside all results. So the pages of dead values are given back to the
system where they and what lives would need more than was planned: the program then needs the bytes
of its live values, whatever gaps lie between them.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..records import record
from .arena_writers import Writer, fills
from .buffers import Buffers
from .memory_model import resolved
from .statements import Filled, Program, Role, Statement, Temporary
from .temporaries import ends_of_memory, written_to

__all__ = ["Layout", "laid_out", "with_arena"]

LEAST_BYTES = 2**12
"""Smaller values are left to the C library."""
NEAR = 0.9
"""The share of the limit from which on free memory of the C library is given back."""
LEAST_FREE = 2**17
"""For fewer free bytes the C library is not asked."""
_ALIGNMENT = 64
_LARGE = 2**20
"""Values of this size lie apart from smaller ones, so that they begin at the start of a page."""
_MOST_UNITS = 2**16
_FAR = 2**31 - 1


def with_arena(
    program: Program, texts: Mapping[str, str], writers: Mapping[str, Writer], buffers: Buffers
) -> Program:
    """The program with its values in an arena.

    Parameters
    ----------
    program : Program
    texts : mapping of str to str
        The values that could be written to memory in row order, with the text that passes it.
    writers : mapping of str to callable
        Others, with the call that writes them to a place.
    buffers : Buffers
        The memory of the values of the program.
    """
    ends = ends_of_memory(program, buffers)
    places: list[Temporary] = []
    statements: list[Statement] = []
    for number, each in enumerate(program.statements):
        if _takes_pages(each):
            end = ends.get(buffers.memory_of(each.target)) if each.target else None
            role = _role(each, end, each.target in texts or each.target in writers, buffers)
            place = f"w[{len(places)}]"
            last = number if end is None else end
            places.append(Temporary(each.avals[0], number, last, role=role))
            if role is Role.MARK:
                each = replace(each, ahead=place)
            elif each.target in texts:
                each = written_to(each, texts[each.target], place)
            else:
                pieces = writers[each.target](place)
                each = replace(each, pieces=pieces, place=place, works=not fills(pieces))
        statements.append(each)
    if not places:
        return program
    return replace(program, statements=tuple(statements), workspace=tuple(places), arena=True)


def _takes_pages(statement: Statement) -> bool:
    """Whether a statement allocates an array of some pages, or is the first to write a part."""
    found = statement.allocates or statement.filled is Filled.PART
    return found and any(
        aval.shape and resolved(aval.nbytes, None) >= LEAST_BYTES for aval in statement.avals
    )


def _role(statement: Statement, end: int | None, known: bool, buffers: Buffers) -> Role:
    """The role of a statement's place; `known` says that its result can be written to one."""
    if not known or len(statement.avals) > 1 or statement.filled is Filled.PART:
        return Role.MARK
    if buffers.is_handed_out(statement.target):
        return Role.RESULT
    return Role.MARK if end is None else Role.TEMPORARY


# -- where values lie, and which pages are given back ----------------------------------------------
@record
class Layout:
    """Where the values of an arena lie, for the sizes of one call.

    Parameters
    ----------
    starts : tuple of int
        The first byte of each place; -1 for those that are not in the arena.
    nbytes : int
        The bytes from the first address to the last.
    released : mapping of int to list of (int, int)
        Ranges of bytes, each a start and a length, that are given back before a place is used.
    trimmed : frozenset of int
        The places before which the C library gives free memory back.
    kept : int
        The bytes that are still held after a call.
    most : int
        The most bytes that are held at once, those outside of the arena included.
    """

    starts: tuple[int, ...]
    nbytes: int
    released: Mapping[int, list[tuple[int, int]]]
    trimmed: frozenset[int]
    kept: int
    most: int


def laid_out(
    places: Sequence[Temporary],
    sizes: Sequence[int],
    outside: Sequence[int],
    heap: Sequence[int],
    left: Sequence[int],
    limit: int,
    page: int,
) -> Layout:
    """Where each value lies, and which pages are given back.

    Parameters
    ----------
    places : sequence of Temporary
    sizes : sequence of int
        Bytes of each.
    outside : sequence of int
        The bytes that each statement needs outside of the arena.
    heap : sequence of int
        Those among them that the C library gives.
    left : sequence of int
        Those of the C library's that live after each statement.
    limit : int
        The bytes that may be held at once.
    page : int
        The bytes that the system gives and takes at a time.
    """
    inside = [number for number, each in enumerate(places) if each.role is Role.TEMPORARY]
    large = [number for number in inside if sizes[number] >= _LARGE]
    starts = [-1] * len(places)
    nbytes = 0
    for chosen in (large, [number for number in inside if sizes[number] < _LARGE]):
        found, total = _fitted(
            [places[number] for number in chosen], [sizes[number] for number in chosen]
        )
        for number, start in zip(chosen, found, strict=True):
            starts[number] = nbytes + start
        nbytes += -(-total // page) * page
    unit = page
    while nbytes // unit > _MOST_UNITS:
        unit *= 2
    nbytes = -(-nbytes // unit) * unit
    pages = _Pages(places, starts, sizes, nbytes, unit)
    pages.run(outside, heap, left, limit)
    return Layout(
        tuple(starts),
        nbytes,
        pages.released,
        frozenset(pages.trimmed),
        pages.held(),
        pages.most,
    )


def _fitted(places: Sequence[Temporary], sizes: Sequence[int]) -> tuple[list[int], int]:
    """The start of each value, and the bytes of all: each takes the smallest gap that is free."""
    found: list[int] = []
    gaps: list[tuple[int, int]] = []  # Start and end of each, by start.
    living: list[tuple[int, int, int]] = []  # Last statement, start and end, by the first.
    top = 0
    for each, size in zip(places, sizes, strict=True):
        while living and living[0][0] < each.first:
            _, start, end = living.pop(0)
            _add_gap(gaps, start, end)
        need = -(-size // _ALIGNMENT) * _ALIGNMENT
        fitting = [(end - start, start) for start, end in gaps if end - start >= need]
        if fitting:
            width, start = min(fitting)
            place = bisect_left(gaps, (start, 0))
            gaps[place : place + 1] = [(start + need, start + width)] * (width > need)
        else:
            start = top
            if gaps and gaps[-1][1] == top:
                start = gaps.pop()[0]
            top = start + need
        found.append(start)
        insort(living, (each.last, start, start + need))
    return found, top


def _add_gap(gaps: list[tuple[int, int]], start: int, end: int) -> None:
    place = bisect_left(gaps, (start, end))
    if place < len(gaps) and gaps[place][0] == end:
        end = gaps.pop(place)[1]
    if place and gaps[place - 1][1] == start:
        place -= 1
        start = gaps.pop(place)[0]
    gaps.insert(place, (start, end))


class _Pages:
    """Which pages of an arena are held, statement after statement."""

    def __init__(
        self,
        places: Sequence[Temporary],
        starts: Sequence[int],
        sizes: Sequence[int],
        nbytes: int,
        unit: int,
    ) -> None:
        self.places = places
        self.unit = unit
        self.spans = [
            (start // unit, max(start // unit + 1, -(-(start + size) // unit)))
            if start >= 0
            else (0, 0)
            for start, size in zip(starts, sizes, strict=True)
        ]
        count = nbytes // unit
        self.living = np.zeros(count, np.int32)
        # Any page may be left from the call before.
        self.resident = np.ones(count, np.bool_)
        self.next_use = np.full(count, _FAR, np.int64)
        self.after: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
        for place, (begin, end) in zip(places[::-1], self.spans[::-1], strict=True):
            self.after.append(self.next_use[begin:end].copy())
            self.next_use[begin:end] = place.first
        self.after.reverse()
        self.most = 0
        self.released: dict[int, list[tuple[int, int]]] = {}
        self.trimmed: set[int] = set()

    def held(self) -> int:
        """The bytes that are held now."""
        return int(self.resident.sum()) * self.unit

    def run(
        self, outside: Sequence[int], heap: Sequence[int], left: Sequence[int], limit: int
    ) -> None:
        """Decide what is given back before each place, so that the limit is kept."""
        dying: list[tuple[int, int]] = []  # Last statement and number of each living place.
        firsts = [*[each.first for each in self.places], len(outside)]
        free = max(heap, default=0)  # Free memory may be left from the call before.
        for number, place in enumerate(self.places):
            while dying and dying[0][0] < place.first:
                _, dead = dying.pop(0)
                begin, end = self.spans[dead]
                self.living[begin:end] -= 1
            begin, end = self.spans[number]
            self.living[begin:end] += 1
            self.resident[begin:end] = True
            self.next_use[begin:end] = self.after[number]
            if place.role is Role.TEMPORARY:
                insort(dying, (place.last, number))
            # Up to the next place nothing can be given back.
            until = slice(place.first, max(firsts[number + 1], place.first + 1))
            now = max(heap[until])
            mapped = max([a - b for a, b in zip(outside[until], heap[until], strict=True)])
            if self.held() + mapped + now + free > limit * NEAR and free >= LEAST_FREE:
                self.trimmed.add(number)
                free = 0
            over = self.held() + mapped + now + free - limit
            if over > 0:
                found = self._released(-(-over // self.unit))
                if found:
                    self.released[number] = found
            self.most = max(self.most, self.held() + mapped + now + free)
            free += max(0, now - left[until.stop - 1])

    def _released(self, count: int) -> list[tuple[int, int]]:
        """Give back pages that hold no living value, those first that are used again last."""
        dead = np.flatnonzero(self.resident & (self.living == 0))
        if len(dead) > count:
            order = np.argsort(-self.next_use[dead], kind="stable")
            dead = np.sort(dead[order[:count]])
        self.resident[dead] = False
        if not len(dead):
            return []
        cuts = np.flatnonzero(np.diff(dead) > 1) + 1
        return [(int(run[0]) * self.unit, len(run) * self.unit) for run in np.split(dead, cuts)]
