"""Jacobians by one mode: all seeds at once, as an identity on leading axes.

The compact form has the axes of y, then those axes of x that are not tied to one of y.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..array import Array, apply
from ..ir.dims import count
from ..ops.creation import eye, ones, zeros
from ..ops.diagonals import DIAGONAL_MATRIX
from ..ops.movement import broadcast_to, expand_dims, moveaxis, reshape, transpose
from .axes import Ties
from .forward import tangents
from .reverse import vjp

__all__ = ["by_cotangents", "by_tangents", "embedded", "other_axes", "permuted"]


def other_axes(array: Array, tied: Sequence[int]) -> list[int]:
    """The axes of an array, counted from the last one, without those that are tied."""
    return [axis for axis in range(-array.ndim, 0) if axis not in tied]


def _identity(like: Array, axes: Sequence[int]) -> Array:
    """Seeds for all positions along `axes`, as leading axes; ones along the other axes."""
    lead = [like.shape[axis] for axis in axes]
    shape = (*lead, *like.shape)
    seed: Any = None
    for i, axis in enumerate(axes):
        if like.shape[axis] == 1:
            continue
        delta = eye(like.shape[axis], dtype=like.dtype)
        between = len(lead) - i - 1 + like.ndim + axis
        delta = expand_dims(delta, tuple(range(1, 1 + between))) if between else delta
        behind = -axis - 1
        delta = expand_dims(delta, tuple(range(-behind, 0))) if behind else delta
        seed = delta if seed is None else seed * delta
    return ones(shape, like.dtype) if seed is None else broadcast_to(seed, shape)


def by_cotangents(y: Array, x: Array, ties: Ties) -> Array:
    """The Jacobian with the axes of y, then the untied axes of x, by cotangents."""
    rest = other_axes(y, [place for place, _ in ties])
    tied = dict(ties)
    free = other_axes(x, list(tied.values()))
    (found,) = vjp(y, [x], _identity(y, rest))
    if found is None:
        return zeros((*y.shape, *[x.shape[axis] for axis in free]), x.dtype)
    order = [
        len(rest) + x.ndim + tied[place] if place in tied else rest.index(place)
        for place in range(-y.ndim, 0)
    ]
    return permuted(found, [*order, *[len(rest) + x.ndim + axis for axis in free]])


def by_tangents(y: Array, x: Array, ties: Ties) -> Array:
    """The Jacobian with the axes of y, then the untied axes of x, by tangents."""
    free = other_axes(x, [axis for _, axis in ties])
    (found,) = tangents([y], [(x, _identity(x, free))])
    if found is None:
        return zeros((*y.shape, *[x.shape[axis] for axis in free]), y.dtype)
    return permuted(found, [*range(len(free), len(free) + y.ndim), *range(len(free))])


def permuted(array: Array, order: Sequence[int]) -> Array:
    """The array with its axes in this order."""
    return array if list(order) == list(range(array.ndim)) else transpose(array, tuple(order))


def embedded(compact: Array, y: Array, x: Array, ties: Ties) -> Array:
    """The whole Jacobian with axes (*y, *x): zeros off the diagonals."""
    if not ties:
        return compact
    tied = dict(ties)
    free = other_axes(x, list(tied.values()))
    places = [y.ndim + place for place in tied]
    sizes = [y.shape[place] for place in tied]
    rest = [axis for axis in range(compact.ndim) if axis not in places]
    flat = moveaxis(compact, places, list(range(-len(places), 0)))
    lead = flat.shape[: len(rest)]
    length = count(sizes)
    flat = flat if len(sizes) == 1 else reshape(flat, (*lead, length))
    square = apply(DIAGONAL_MATRIX, flat, rows=length, columns=length, offset=0)
    if len(sizes) > 1:
        square = reshape(square, (*lead, *sizes, *sizes))
    of_y = [
        len(rest) + list(tied).index(place) if place in tied else rest.index(y.ndim + place)
        for place in range(-y.ndim, 0)
    ]
    columns = {axis: len(rest) + len(tied) + k for k, axis in enumerate(tied.values())}
    of_x = [
        columns[axis] if axis in columns else rest.index(y.ndim + free.index(axis))
        for axis in range(-x.ndim, 0)
    ]
    return permuted(square, [*of_y, *of_x])
