"""Functions that a user gives, applied along axes: `apply_along_axis`, `apply_over_axes`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..array import Array, ArrayLike
from ..errors import ShapeError
from ..ir.avals import normal_axis
from ..ir.dims import count
from ..pytrees import listed
from .composites import as_array, composite
from .joining import stack
from .loops import scan
from .movement import expand_dims, moveaxis, reshape

__all__ = ["apply_along_axis", "apply_over_axes"]

_WRITTEN_OUT = 32
"""Up to this many slices become nodes, which rules can simplify; more become a loop."""


@composite(np.apply_along_axis)
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: object, **kwargs: object
) -> Array:
    """The results of a function on each vector along `axis`, in place of that axis.

    The function gets symbolic vectors. A function of whole arrays with `axis=` costs
    less.

    Raises
    ------
    ShapeError
        If a dimension that is looped over has no elements.
    """
    x = as_array(arr)
    axis = normal_axis(axis, x.ndim)
    turned = moveaxis(x, axis, -1)
    lead = turned.shape[:-1]
    many = count(lead)
    if many == 0:
        raise ShapeError("apply_along_axis: there is no vector to apply the function to.")
    rows = reshape(turned, (many, turned.shape[-1]))

    def applied(row: Array) -> Array:
        return as_array(func1d(row, *args, **kwargs))

    if isinstance(many, int) and many <= _WRITTEN_OUT:
        found = stack([applied(rows[i]) for i in range(many)])
    else:
        _, found = scan(lambda carry, row: (carry, applied(row)), (), rows)
    results = reshape(found, (*lead, *found.shape[1:]))
    new = found.ndim - 1
    places = range(axis, axis + 1) if new == 1 else range(axis + 1 - new, axis + 1)
    order = list(range(len(lead), len(lead) + new))
    return moveaxis(results, order, [len(lead) + new + place for place in places])


@composite(np.apply_over_axes)
def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: int | Sequence[int]) -> Array:
    """Apply a function of an array and an axis to each of the axes in turn; axes are kept.

    Raises
    ------
    ShapeError
        If its result has neither the dimensions of the array nor one less.
    """
    x = as_array(a)
    for axis in listed(axes):
        place = normal_axis(axis, x.ndim)
        found = as_array(func(x, place + x.ndim))
        if found.ndim == x.ndim - 1:
            found = expand_dims(found, place)
        if found.ndim != x.ndim:
            raise ShapeError(
                f"apply_over_axes: the function gives {found.aval} for {x.aval}.",
                mend="It should reduce one axis, and may keep it.",
            )
        x = found
    return x
