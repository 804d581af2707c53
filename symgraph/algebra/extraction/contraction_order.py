"""Plans the order in which a product of indexed arrays is computed: fewest operations, then flops.

A plan knows only the set of indices of each array. There are three moves. Two arrays are multiplied
or divided elementwise. Two arrays are contracted over indices that no other array needs. One array
is summed over such indices. Up to five factors are planned exhaustively, more of them greedily. No
intermediate may have more elements than the largest factor or the result, because plans of equal
operation counts may differ in the rank of an intermediate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Final, NamedTuple, TypeAlias

__all__ = [
    "CONTRACT",
    "EINSUM",
    "INVERT",
    "MATMUL",
    "MULTIPLY",
    "REDUCE",
    "PlanOperand",
    "PlanStep",
    "contraction_kind",
    "plan",
]

MULTIPLY: Final = "multiplied or divided, element by element"
CONTRACT: Final = "contracted"
REDUCE: Final = "summed"
INVERT: Final = "inverted"
"""Kinds of moves."""

MATMUL: Final = "matrix product"
EINSUM: Final = "index notation"
"""Kinds of contractions."""

LabelSet: TypeAlias = frozenset[int]
PlanCost: TypeAlias = tuple[int, int, float]
"""Operations, products that may overflow though the result does not, and flops."""

_EXHAUSTIVE = 5


class PlanOperand(NamedTuple):
    """An array in a product: its indices, and whether the product is divided by it.

    `damped` says that a factor of it is at most 1, so what it is multiplied with becomes no larger.
    """

    labels: LabelSet
    inverse: bool
    damped: bool = False


class PlanStep(NamedTuple):
    """One move: the items at `places` are removed, and the result is appended."""

    kind: str
    """`MULTIPLY`, `CONTRACT`, `REDUCE` or `INVERT`."""
    places: tuple[int, ...]
    result: PlanOperand


def contraction_kind(a: LabelSet, b: LabelSet, gone: LabelSet) -> str:
    """The kind of contraction over `gone`: MATMUL, EINSUM, or "" if it is not a contraction."""
    shared = a & b
    if not gone or not gone <= shared:
        return ""
    batch, rows, columns = shared - gone, a - shared, b - shared
    if not rows and not columns:
        return MATMUL if not batch and len(gone) == 1 else ""
    plain = len(gone) == 1 and len(rows) <= 1 and len(columns) <= 1
    return MATMUL if plain and (not batch or (rows and columns)) else EINSUM


def plan(
    items: Sequence[PlanOperand],
    out: LabelSet,
    size: Callable[[LabelSet], float],
    *,
    steady: bool = False,
) -> list[PlanStep] | None:
    """The moves that turn the items into one array over `out`; None if the limit forbids all.

    With `steady`, of plans of as many operations, one that divides before it multiplies, (x / z) y,
    and takes factors of at most 1 first.
    """
    if len(items) == 1 and items[0].labels == out:
        return []
    if len(items) == 2 and items[0].labels | items[1].labels == out:
        # Nothing is summed: most products are of two arrays.
        one, two = items
        return [PlanStep(MULTIPLY, (0, 1), PlanOperand(out, one.inverse and two.inverse))]
    names: dict[int, int] = {}
    for labels in (*[item.labels for item in items], out):
        for label in sorted(labels):
            names.setdefault(label, len(names))
    plain = tuple(
        [item._replace(labels=frozenset([names[label] for label in item.labels])) for item in items]
    )
    sizes = tuple([size(frozenset([label])) for label in names])
    found = _plan_of(plain, frozenset([names[label] for label in out]), sizes, steady)
    if found is None:
        return None
    labels = list(names)
    return [
        PlanStep(
            kind,
            places,
            result._replace(labels=frozenset([labels[i] for i in result.labels])),
        )
        for kind, places, result in found
    ]


@lru_cache(maxsize=10_000)
def _plan_of(
    items: tuple[PlanOperand, ...], out: LabelSet, sizes: tuple[float, ...], steady: bool
) -> list[PlanStep] | None:
    """The plan for items whose labels are the places of their sizes: most plans are made again."""

    def size(labels: LabelSet) -> float:
        return prod([sizes[label] for label in labels])

    limit = max([size(item.labels) for item in items] + [size(out)])
    if len(items) <= _EXHAUSTIVE:
        found = _best(items, out, size, limit, {}, steady)
        return None if found is None else found[1]
    moves: list[PlanStep] = []
    current = list(items)
    while len(current) > 1 or current[0].labels - out:
        options = _moves(tuple(current), out, size, limit)
        if not options:
            return None
        _, move = min(options, key=lambda option: _greed(option, current, size))
        moves.append(move)
        current = _after(current, move)
    return moves


def _greed(
    option: tuple[tuple[int, float], PlanStep],
    items: Sequence[PlanOperand],
    size: Callable[[LabelSet], float],
) -> tuple[float, float, tuple[int, ...]]:
    (_, flops), move = option
    used = sum(size(items[place].labels) for place in move.places)
    return (size(move.result.labels) - used, flops, move.places)


def _after(items: Sequence[PlanOperand], move: PlanStep) -> list[PlanOperand]:
    return [each for i, each in enumerate(items) if i not in move.places] + [move.result]


def _best(
    items: tuple[PlanOperand, ...],
    out: LabelSet,
    size: Callable[[LabelSet], float],
    limit: float,
    memo: dict[tuple[PlanOperand, ...], tuple[PlanCost, list[PlanStep]] | None],
    steady: bool,
) -> tuple[PlanCost, list[PlanStep]] | None:
    if len(items) == 1 and not items[0].labels - out:
        return (0, 0, 0.0), []
    if items in memo:
        return memo[items]
    best: tuple[PlanCost, list[PlanStep]] | None = None
    for cost, move in _moves(items, out, size, limit):
        rest = _best(tuple(_after(items, move)), out, size, limit, memo, steady)
        if rest is None:
            continue
        risk = rest[0][1] + (steady and _may_overflow(move, items))
        total = (cost[0] + rest[0][0], risk, cost[1] + rest[0][2])
        if best is None or total < best[0]:
            best = (total, [move, *rest[1]])
    memo[items] = best
    return best


def _may_overflow(move: PlanStep, items: tuple[PlanOperand, ...]) -> bool:
    """Whether it multiplies two factors although one would become smaller by another item.

    This one is on the other side of the line, or at most 1: in E z z the product E z comes first.
    """
    taken = [items[place] for place in move.places]
    below = {item.inverse for item in taken}
    others = [item for place, item in enumerate(items) if place not in move.places]
    return (
        move.kind == MULTIPLY
        and len(below) == 1
        and any(
            item.inverse not in below or (item.damped and not any(each.damped for each in taken))
            for item in others
        )
    )


def _moves(
    items: tuple[PlanOperand, ...], out: LabelSet, size: Callable[[LabelSet], float], limit: float
) -> list[tuple[tuple[int, float], PlanStep]]:
    """All next moves and their costs: sums, inversions, contractions, products of limited size."""
    found: list[tuple[tuple[int, float], PlanStep]] = []
    for place, item in enumerate(items):
        rest = out.union(*[other.labels for i, other in enumerate(items) if i != place])
        gone = item.labels - rest
        if gone and not item.inverse:
            result = PlanOperand(item.labels - gone, False, item.damped)
            found.append(((1, size(item.labels)), PlanStep(REDUCE, (place,), result)))
        if gone and item.inverse:
            found.append(
                (
                    (1, size(item.labels)),
                    PlanStep(INVERT, (place,), PlanOperand(item.labels, False)),
                )
            )
    for i, j in combinations(range(len(items)), 2):
        a, b = items[i], items[j]
        union = a.labels | b.labels
        rest = out.union(*[each.labels for k, each in enumerate(items) if k not in (i, j)])
        gone = union - rest
        damped = a.damped or b.damped
        if not a.inverse and not b.inverse and contraction_kind(a.labels, b.labels, gone):
            found.append(
                (
                    (1, 2 * size(union)),
                    PlanStep(CONTRACT, (i, j), PlanOperand(union - gone, False, damped)),
                )
            )
        nested = a.labels <= b.labels or b.labels <= a.labels
        if nested or size(union) <= limit:
            result = PlanOperand(union, a.inverse and b.inverse, damped)
            found.append(((1, size(union)), PlanStep(MULTIPLY, (i, j), result)))
    return found
