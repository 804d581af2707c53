"""Where each place of a timeline stands: in bands, one below the other, with three lanes.

A band holds one forward place, the gradient places beside it, and the inputs and constants that are
first used there. Places that never live at the same moment share a seat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..export.folding import FoldedNodes, grouped
from ..export.labels import Labels
from ..export.scene import beside_of
from ..ir.node import Node
from ..ir.origins import adjoint_chain
from ..records import record
from .timeline import Timeline, TimelineEntry

__all__ = ["FORWARD", "GRADIENT", "LEAF", "Seats", "lane_of", "seated"]

LEAF, FORWARD, GRADIENT = 0, 1, 2
_FOLDED = 90


@record
class Seats:
    """For each place its lane, band and seat; for each band its group; the titles of groups."""

    of: Mapping[int, tuple[int, int, int]]
    groups: Sequence[int]
    titles: Sequence[str]


def lane_of(node: Node) -> int:
    """The lane of a node: leaves, forward, or gradient with the values recomputed for it."""
    if not node.operands:
        return LEAF
    return GRADIENT if node.copy or node.origin.adjoint_of is not None else FORWARD


def seated(line: Timeline, labels: Labels) -> Seats:
    """The seats of all places.

    Parameters
    ----------
    line : Timeline
    labels : Labels
        Of the last graph.
    """
    lives: dict[int, tuple[int, int]] = {}
    first: dict[int, TimelineEntry] = {}
    for entry in line.entries:
        low, high = lives.get(entry.place, (entry.lives[0][0], entry.lives[-1][1]))
        lives[entry.place] = (min(low, entry.lives[0][0]), max(high, entry.lives[-1][1]))
        first.setdefault(entry.place, entry)
    order = line.ordered()
    forward = [place for place in order if lane_of(first[place].node) == FORWARD]
    bands = _bands(forward, lives)
    _beside(line, first, bands)
    count = max(bands.values(), default=0) + 1
    rows: dict[tuple[int, int], list[list[tuple[int, int]]]] = {}
    found: dict[int, tuple[int, int, int]] = {}
    for place in order:
        lane = lane_of(first[place].node)
        band = bands.get(place, count - 1)
        seats = rows.setdefault((band, lane), [])
        seat = next((i for i, used in enumerate(seats) if _free(used, lives[place])), len(seats))
        if seat == len(seats):
            seats.append([])
        seats[seat].append(lives[place])
        found[place] = (lane, band, seat)
    groups, titles = _groups(line, labels, found, count)
    return Seats(found, groups, titles)


def _free(used: Sequence[tuple[int, int]], life: tuple[int, int]) -> bool:
    return all(life[1] <= low or high <= life[0] for low, high in used)


def _bands(forward: Sequence[int], lives: Mapping[int, tuple[int, int]]) -> dict[int, int]:
    """A band for each forward place; neighbours that never live together share one."""
    bands: dict[int, int] = {}
    used: list[tuple[int, int]] = []
    band = -1
    for place in forward:
        if band < 0 or not _free(used, lives[place]):
            band += 1
            used = []
        used.append(lives[place])
        bands[place] = band
    return bands


def _beside(line: Timeline, first: Mapping[int, TimelineEntry], bands: dict[int, int]) -> None:
    """The bands of gradient places: that of the forward place whose adjoint it is, or near it."""
    place_of = {entry.node: entry.place for entry in reversed(line.entries)}
    last = max(bands.values(), default=0)
    for entry in line.entries:
        if entry.place in bands or lane_of(entry.node) != GRADIENT:
            continue
        chain = adjoint_chain(entry.node.origin)
        at = place_of.get(chain[-1]) if chain and not entry.node.copy else None
        near = [bands[place_of[each]] for each in entry.node.operands if place_of[each] in bands]
        bands[entry.place] = bands[at] if at in bands else max(near, default=last)
    for entry in line.entries:
        if lane_of(entry.node) == LEAF or entry.place not in bands:
            continue
        for operand in entry.node.operands:
            place = place_of[operand]
            if lane_of(first[place].node) == LEAF:
                band = bands[entry.place]
                bands[place] = min(bands.get(place, band), band)


def _groups(
    line: Timeline, labels: Labels, seats: Mapping[int, tuple[int, int, int]], count: int
) -> tuple[list[int], list[str]]:
    """The group of each band, -1 for none: the scopes or the blocks of the last graph."""
    groups = [-1] * count
    boxed = [node for node in labels.nodes if node in line.alive and node.operands]
    forward = [node for node in boxed if lane_of(node) == FORWARD]
    gradient = [node for node in boxed if lane_of(node) == GRADIENT]
    if len(boxed) <= _FOLDED or count < 4:
        return groups, []
    beside = beside_of(forward, gradient, labels)
    sources = {node: node.operands for node in boxed}
    units = grouped(forward, gradient, beside, sources, labels.scope)
    titles: list[str] = []
    numbers: dict[FoldedNodes, int] = {}
    spans: dict[int, list[int]] = {}
    for node in forward:
        unit = units[node]
        if isinstance(unit, FoldedNodes):
            if unit not in numbers:
                numbers[unit] = len(titles)
                titles.append(unit.title)
            spans.setdefault(numbers[unit], []).append(seats[line.alive[node].place][1])
    end = 0
    for number in sorted(spans, key=lambda each: min(spans[each])):
        for band in range(max(min(spans[number]), end), max(spans[number]) + 1):
            groups[band] = number
        end = max(end, max(spans[number]) + 1)
    return groups, titles
