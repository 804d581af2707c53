"""Which axes an operation keeps apart: the `carries` of the records.

Position k on a carried axis of the result depends on the operand at position k alone. Jacobians of
batched maps are diagonal along such axes, and are built as such (`autodiff.axes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ..ir.avals import Aval, AxisLike
from ..ir.body import Body
from ..ir.differentiation import Places as Route
from ..ir.differentiation import Trail, joined
from ..ir.dims import Dim, ShapeLike, count, known_equal
from ..ir.op import Carries, carries_aligned

__all__ = [
    "all_but_last",
    "carries_assigned",
    "carries_batched",
    "carries_diagonal",
    "carries_diagonal_matrix",
    "carries_embedded",
    "carries_gathered",
    "carries_matmul",
    "carries_off_axis",
    "carries_reduced",
    "carries_reshaped",
    "carries_scattered",
    "carries_sliced",
    "carries_solved",
    "carries_transposed",
    "settled",
]

Places: TypeAlias = "Sequence[int | None]"


def carries_off_axis(
    out: Aval, *avals: Aval, slot: int, axis: AxisLike, **params: object
) -> Places:
    """All axes but `axis`, which is mixed, as in softmax, sorting and joining."""
    mixed = axis if isinstance(axis, tuple) else (axis,)
    aligned = carries_aligned(out, *avals, slot=slot, **params)
    return tuple(
        None if own in mixed else place
        for own, place in zip(range(-len(aligned), 0), aligned, strict=True)
    )


def all_but_last(core: int) -> Carries:
    """The axes before the last `core` axes, which the operation mixes."""

    def carries(out: Aval, *avals: Aval, slot: int, **params: object) -> Places:
        aligned = carries_aligned(out, *avals, slot=slot, **params)
        return (*aligned[: max(len(aligned) - core, 0)], *(None,) * min(core, len(aligned)))

    return carries


def carries_batched(core: int) -> Carries:
    """The axes before the last `core` axes, which stand first in the result."""

    def carries(out: Aval, *avals: Aval, slot: int, **_params: object) -> Places:
        own = avals[slot]
        lead = max(own.ndim - core, 0)
        return (*range(-out.ndim, lead - out.ndim), *(None,) * (own.ndim - lead))

    return carries


def carries_reduced(
    out: Aval, x: Aval, *, slot: int, axis: tuple[int, ...] | int, keepdims: bool = False
) -> Places:
    """The axes that are not reduced; they close up unless reduced axes are kept."""
    gone = axis if isinstance(axis, tuple) else (axis,)
    places: list[int | None] = []
    for own in range(-x.ndim, 0):
        behind = 0 if keepdims else len([each for each in gone if each > own])
        places.append(None if own in gone else own + behind)
    return places


def carries_diagonal(out: Aval, x: Aval, *, slot: int, offset: int) -> Places:
    """Map both axes of the matrix to the axis of its diagonal."""
    square = not offset and known_equal(x.shape[-1], x.shape[-2])
    place = -1 if square else None
    return [*range(-x.ndim + 1, -1), place, place]


def carries_diagonal_matrix(
    out: Aval, x: Aval, *, slot: int, rows: Dim, columns: Dim, offset: int
) -> Places:
    """Map the axis of the diagonal to the rows."""
    return [*range(-x.ndim - 1, -2), -2 if not offset and known_equal(rows, columns) else None]


def carries_transposed(out: Aval, x: Aval, *, slot: int, axes: tuple[int, ...]) -> Places:
    """The new place of each axis."""
    return [axes.index(own) - x.ndim for own in range(-x.ndim, 0)]


def carries_reshaped(out: Aval, x: Aval, *, slot: int, shape: ShapeLike) -> Places:
    """The axes that match an axis of the result in length and in the elements before them."""
    places: list[int | None] = []
    for own in range(x.ndim):
        before = count(x.shape[:own])
        same = [
            place - out.ndim
            for place in range(out.ndim)
            if known_equal(out.shape[place], x.shape[own])
            and known_equal(count(out.shape[:place]), before)
        ]
        places.append(same[0] if same else None)
    return places


def carries_sliced(out: Aval, x: Aval, *, slot: int, index: Sequence[Any]) -> Places:
    """The axes that a basic index in normal form takes whole."""
    return [place for _, place in _whole(index, x.ndim)]


def _whole(entries: Sequence[Any], ndim: int) -> list[tuple[int, int | None]]:
    """Each indexed axis with its new place, or None if it is not taken whole."""
    pairs: list[tuple[int, int | None]] = []
    own, place = 0, 0
    for entry in reversed(entries):
        if entry is None:
            place -= 1
        elif isinstance(entry, tuple):
            own, place = own - 1, place - 1
            pairs.append((own, place if entry == (None, None, 1) else None))
        else:
            own -= 1
            pairs.append((own, None))
    while own > -ndim:
        own, place = own - 1, place - 1
        pairs.append((own, place))
    return pairs[::-1]


def carries_embedded(
    out: Aval, x: Aval, *, slot: int, shape: ShapeLike, index: Sequence[Any]
) -> Places:
    """The axes of a slice that fill whole axes of the result."""
    back = {place: own for own, place in _whole(index, out.ndim) if place is not None}
    return [back.get(own) for own in range(-x.ndim, 0)]


def carries_assigned(
    out: Aval, x: Aval, values: Aval, *, slot: int, index: Sequence[Any]
) -> Places:
    """All axes of the target; for the values, the axes that fill whole axes of the target."""
    if slot == 0:
        return carries_aligned(out, x, slot=0)
    back = {place: own for own, place in _whole(index, out.ndim) if place is not None}
    places: list[int | None] = [back.get(own) for own in range(-values.ndim, 0)]
    return [
        place if place is not None and known_equal(values.shape[own], out.shape[place]) else None
        for own, place in enumerate(places, -values.ndim)
    ]


def carries_gathered(out: Aval, x: Aval, *indices: Aval, slot: int, axis: int) -> Places:
    """The axes that no integer array indexes."""
    if slot:
        return (None,) * indices[slot - 1].ndim
    chosen = range(axis, axis + len(indices))
    return [
        None if own in chosen else own if own > axis else own + x.ndim - out.ndim
        for own in range(-x.ndim, 0)
    ]


def carries_scattered(
    out: Aval, x: Aval, values: Aval, *indices: Aval, slot: int, axis: int
) -> Places:
    """All axes of the target; for the values, the axes that no integer array indexes."""
    if slot == 0:
        return carries_aligned(out, x, slot=0)
    if slot > 1:
        return (None,) * indices[slot - 2].ndim
    start, behind = out.ndim + axis, -axis - len(indices)
    slots = start + max(each.ndim for each in indices) + behind
    places: list[int | None] = []
    for own in range(-values.ndim, 0):
        place = own + slots - out.ndim if own + slots < start else own
        apart = own + slots < start or own >= -behind
        fits = apart and known_equal(values.shape[own], out.shape[place])
        places.append(place if fits else None)
    return places


def carries_matmul(out: Aval, x: Aval, y: Aval, *, slot: int) -> Places:
    """The rows of the left factor, the columns of the right, and the batch axes."""
    own, other = (x, y) if slot == 0 else (y, x)
    if own.ndim == 1:
        return (None,)
    shift = 1 if other.ndim == 1 else 0
    batch = [
        axis + shift if known_equal(own.shape[axis], out.shape[axis + shift]) else None
        for axis in range(-own.ndim, -2)
    ]
    return [*batch, -2 + shift, None] if slot == 0 else [*batch, None, -1]


def carries_solved(out: Aval, a: Aval, b: Aval, *, slot: int, **_params: object) -> Places:
    """The columns of the right side, and the batch axes."""
    places = list(carries_matmul(out, a, b, slot=slot))
    return [*places[:-2], None, None] if slot == 0 else places


# -- through graphs that an operation holds --------------------------------------------------------
def settled(
    trail: Trail, body: Body, state: Sequence[Route | None], rest: Sequence[Route | None]
) -> tuple[list[Route | None], list[Route | None]]:
    """The places of axes in the carries of a body, and in all its outputs, at the fixpoint.

    A step may only lose what is known, so this ends: an axis of a carry is not reached yet, then in
    a place, then mixed. The axis along which a loop runs is mixed once a carry has it, for the next
    step reads that carry.

    Parameters
    ----------
    trail : Trail
    body : Body
        Its first inputs are handed on; its first outputs are their next values.
    state : sequence
        The places in the carries, before the first step.
    rest : sequence
        The places in the other inputs.
    """
    number = trail.level
    before = list(state)
    while True:
        found = trail.within(body, [*before, *rest], number + 1)
        after = [
            joined(one, _off(number, other)) for one, other in zip(before, found, strict=False)
        ]
        if after == before:
            return before, found
        before = after


def _off(number: int, route: Route | None) -> Route | None:
    """The places with the axis of loop `number` mixed."""
    return route and tuple(None if place == number else place for place in route)
