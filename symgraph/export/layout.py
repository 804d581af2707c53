"""A layered drawing of a graph in two lanes: forward runs down the left, the gradient up the right.

The method is that of Sugiyama, Tagawa & Toda (1981), with rows of its own; see `rows`. An edge that
passes a row gets a place in it, one for each source, so no edge runs through a box. Values that
are kept for the gradient pass between the lanes. The places in a row are the least-squares solution
of the wishes that keeps the boxes apart (pool adjacent violators).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean
from typing import TypeAlias

from ..records import record
from .rows import Item, Key, rows

__all__ = ["BoxLayout", "BoxPlace", "Edge", "Item", "Key", "Point", "laid_out"]

Point: TypeAlias = tuple[float, float]

_GAP = 20.0
_TRACK = 12.0
_CHANNEL = 32.0
_LANES = 26.0
_SWEEPS = 10
_FORWARD, _BETWEEN, _GRADIENT = 0, 1, 2


@record
class BoxPlace:
    """The upper left corner and the size of a box."""

    x: float
    y: float
    width: float
    height: float


@record
class Edge:
    """An edge from box to box.

    Parameters
    ----------
    source, target : hashable
    points : tuple of Point
        Lines lead from the first to the second, from the third to the fourth, and so on, upright
        within a row; curves lead from the second to the third, and so on, between two rows.
    across : bool
        Whether it leads from one lane to the other.
    """

    source: Key
    target: Key
    points: tuple[Point, ...]
    across: bool


@record
class BoxLayout:
    """The places of boxes, the edges, and the size of the whole."""

    places: dict[Key, BoxPlace]
    edges: tuple[Edge, ...]
    width: float
    height: float


@dataclass(eq=False)
class _Cell:
    """A box in its row, or the spot where the edges of one source pass a row."""

    lane: int
    row: int
    width: float
    item: Item | None = None
    x: float = 0.0
    above: list[_Cell] = field(default_factory=list["_Cell"])
    below: list[_Cell] = field(default_factory=list["_Cell"])


def laid_out(
    items: Sequence[Item], edges: Iterable[tuple[Key, Key]], top: float = 0.0, left: float = 0.0
) -> BoxLayout:
    """The drawing of a graph.

    Parameters
    ----------
    items : sequence of Item
        In reading order.
    edges : iterable of pairs
        Operand and consumer, each pair once.
    top, left : float
        The upper left corner.
    """
    pairs = list(dict.fromkeys(edges))
    row_of = rows(items, pairs)
    cells = {
        item.key: _Cell(
            _GRADIENT if item.gradient else _FORWARD, row_of[item.key], item.width, item
        )
        for item in items
    }
    passing = _passing(cells, pairs)
    grid: list[list[_Cell]] = [[] for _ in range(max(row_of.values(), default=-1) + 1)]
    for cell in [*cells.values(), *(cell for each in passing.values() for cell in each.values())]:
        grid[cell.row].append(cell)
    _order(grid)
    width = _spread(grid)
    tops, heights, height = _heights(grid, pairs, row_of, top)
    places = {
        key: BoxPlace(
            left + cell.x - cell.width / 2,
            tops[cell.row] + (heights[cell.row] - item.height) / 2,
            cell.width,
            item.height,
        )
        for key, cell in cells.items()
        if (item := cell.item) is not None
    }
    bounds = [(tops[row], tops[row] + heights[row]) for row in range(len(grid))]
    drawn = _routes(cells, passing, pairs, places, bounds, left)
    return BoxLayout(places, drawn, width, height)


# -- rows ------------------------------------------------------------------------------------------
def _passing(
    cells: Mapping[Key, _Cell], pairs: Iterable[tuple[Key, Key]]
) -> dict[Key, dict[int, _Cell]]:
    """For each source the spots where its edges pass rows; all cells know their neighbours."""
    passing: dict[Key, dict[int, _Cell]] = {}
    for source, target in pairs:
        start, end = cells[source], cells[target]
        step = 1 if end.row > start.row else -1
        lane = start.lane if start.lane == end.lane else _BETWEEN
        spots = passing.setdefault(source, {})
        last = start
        for row in range(start.row + step, end.row, step):
            if row not in spots:
                spots[row] = _Cell(lane, row, _TRACK)
            _join(last, spots[row])
            last = spots[row]
        if start.row != end.row:
            _join(last, end)
    return passing


def _join(one: _Cell, other: _Cell) -> None:
    upper, lower = (one, other) if one.row < other.row else (other, one)
    if lower not in upper.below:
        upper.below.append(lower)
        lower.above.append(upper)


def _order(grid: Sequence[list[_Cell]]) -> None:
    """Sort each row by the mean place of the neighbours, down and up in turn."""
    for row in grid:
        _number(row)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in grid if down else reversed(grid):
            for cell in row:
                beside = cell.above if down else cell.below
                if beside:
                    cell.x = fmean(each.x for each in beside)
            _number(row)


def _number(row: list[_Cell]) -> None:
    """Numbers within each lane, as shares of it, so that long and short rows compare."""
    row.sort(key=lambda cell: (cell.lane, cell.x))
    for lane in (_FORWARD, _BETWEEN, _GRADIENT):
        members = [cell for cell in row if cell.lane == lane]
        for position, cell in enumerate(members):
            cell.x = lane + (position + 0.5) / len(members)


# -- places ----------------------------------------------------------------------------------------
def _spread(grid: Sequence[Sequence[_Cell]]) -> float:
    """Give each cell its x; the width of all lanes."""
    lanes = [[[cell for cell in row if cell.lane == lane] for row in grid] for lane in range(3)]
    start = 0.0
    for lane in lanes:
        width = max((_needed(row) for row in lane), default=0.0)
        if width == 0:
            continue
        for row in lane:
            _settle(row, start, start + width, lambda _cell, s=start, w=width: s + w / 2)
        start += width + _LANES
    bounds = _bounds(lanes)
    for sweep in range(4 * _SWEEPS):
        for number in range(len(grid)) if sweep % 2 else reversed(range(len(grid))):
            for lane, rows_of_lane in enumerate(lanes):
                if rows_of_lane[number]:
                    _settle(rows_of_lane[number], *bounds[lane], _wish)
    return max(start - _LANES, 0.0)


def _bounds(lanes: Sequence[Sequence[Sequence[_Cell]]]) -> list[tuple[float, float]]:
    start = 0.0
    found: list[tuple[float, float]] = []
    for lane in lanes:
        width = max((_needed(row) for row in lane), default=0.0)
        found.append((start, start + width))
        start += width + _LANES if width else 0.0
    return found


def _needed(row: Sequence[_Cell]) -> float:
    return sum(cell.width for cell in row) + sum(_apart(one, other) for one, other in pairwise(row))


def _apart(one: _Cell, other: _Cell) -> float:
    return _GAP if one.item is not None or other.item is not None else 0.0


def _wish(cell: _Cell) -> float:
    """The mean of the neighbours in the same lane."""
    beside = [each for each in (*cell.above, *cell.below) if each.lane == cell.lane]
    return fmean(each.x for each in beside) if beside else cell.x


def _settle(row: Sequence[_Cell], low: float, high: float, wish: Callable[[_Cell], float]) -> None:
    """The places nearest to the wishes that keep the cells apart and within the lane."""
    if not row:
        return
    offsets = [0.0]
    for one, other in pairwise(row):
        offsets.append(offsets[-1] + (one.width + other.width) / 2 + _apart(one, other))
    blocks: list[tuple[float, int]] = []  # the mean and the number of pooled wishes
    for cell, offset in zip(row, offsets, strict=True):
        mean, count = wish(cell) - offset, 1
        while blocks and blocks[-1][0] > mean:
            other, members = blocks.pop()
            mean = (mean * count + other * members) / (count + members)
            count += members
        blocks.append((mean, count))
    solved = [mean for mean, count in blocks for _ in range(count)]
    least = low + row[0].width / 2
    most = high - row[-1].width / 2 - offsets[-1]
    for cell, offset, place in zip(row, offsets, solved, strict=True):
        cell.x = min(max(place, least), max(most, least)) + offset


def _heights(
    grid: Sequence[Sequence[_Cell]],
    pairs: Iterable[tuple[Key, Key]],
    row_of: Mapping[Key, int],
    top: float,
) -> tuple[list[float], list[float], float]:
    """The upper end and the height of each row, and the lower end of the last channel."""
    flat = {row_of[source] for source, target in pairs if row_of[source] == row_of[target]}
    tops: list[float] = []
    heights: list[float] = []
    for number, row in enumerate(grid):
        heights.append(max((cell.item.height for cell in row if cell.item), default=0.0))
        tops.append(top)
        wide = max((len(cell.below) for cell in row), default=0)
        top += heights[-1] + _CHANNEL + min(24.0, 3.0 * wide) + (8.0 if number in flat else 0.0)
    last = len(grid) - 1
    end = top if last in flat else top - _CHANNEL + 8
    return tops, heights, end


# -- edges -----------------------------------------------------------------------------------------
def _routes(
    cells: Mapping[Key, _Cell],
    passing: Mapping[Key, Mapping[int, _Cell]],
    pairs: Sequence[tuple[Key, Key]],
    places: Mapping[Key, BoxPlace],
    bounds: Sequence[tuple[float, float]],
    left: float,
) -> tuple[Edge, ...]:
    arriving, leaving = _ports(cells, passing, pairs, left)
    edges: list[Edge] = []
    for source, target in pairs:
        start, end = cells[source], cells[target]
        box, goal = places[source], places[target]
        down = end.row > start.row
        flat = end.row == start.row
        step = 1 if down else -1
        out = bounds[start.row][1] if down or flat else bounds[start.row][0]
        points: list[Point] = [
            (leaving[source, down or flat], box.y + box.height if down or flat else box.y),
            (leaving[source, down or flat], out),
        ]
        for row in range(start.row + step, end.row, step) if not flat else ():
            x = left + passing[source][row].x
            points += [(x, at) for at in (bounds[row] if down else reversed(bounds[row]))]
        port = arriving[source, target]
        points += [
            (port, bounds[end.row][0] if down else bounds[end.row][1]),
            (port, goal.y if down else goal.y + goal.height),
        ]
        edges.append(Edge(source, target, tuple(points), start.lane != end.lane))
    return tuple(edges)


def _ports(
    cells: Mapping[Key, _Cell],
    passing: Mapping[Key, Mapping[int, _Cell]],
    pairs: Sequence[tuple[Key, Key]],
    left: float,
) -> tuple[dict[tuple[Key, Key], float], dict[tuple[Key, bool], float]]:
    """Where each edge enters its box, and where edges leave a box, below (True) or above.

    They are side by side, in the order in which they come; all edges leave a side at one point.
    """
    sides: dict[tuple[Key, bool], list[tuple[float, tuple[Key, Key] | None]]] = {}
    for source, target in pairs:
        start, end = cells[source], cells[target]
        step = 1 if end.row > start.row else -1
        last = passing[source].get(end.row - step, start) if start.row != end.row else start
        sides.setdefault((target, step < 0), []).append((last.x, (source, target)))
        comers = sides.setdefault((source, end.row >= start.row), [])
        if (start.x, None) not in comers:
            comers.append((start.x, None))
    arriving: dict[tuple[Key, Key], float] = {}
    leaving: dict[tuple[Key, bool], float] = {}
    for (key, side), comers in sides.items():
        cell = cells[key]
        comers.sort(key=lambda each: each[0])
        share = min(26.0, (cell.width - 24) / len(comers))
        for position, (_, pair) in enumerate(comers):
            x = left + cell.x + (position - (len(comers) - 1) / 2) * share
            if pair is None:
                leaving[key, side] = x
            else:
                arriving[pair] = x
    return arriving, leaving
