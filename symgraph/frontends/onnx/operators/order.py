"""Order: the largest elements, and the distinct ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..call import Call, Tensor
from ..registry import operator

__all__: list[str] = []


@operator("TopK")
def top_k(call: Call, x: Tensor, _k: Tensor | None = None) -> list[Tensor]:
    """The largest elements in their order; of equal ones, the first comes first."""
    k: Any = call.whole("k") if call.version < 10 else call.dims(1, "number k")[0]
    axis = call.whole("axis", -1) % x.ndim
    call.flag("sorted", 1)  # They may be in any order if it is 0, this one too.
    if call.flag("largest", 1):
        # From the end, backwards: then a stable sort leaves the first of equal ones first.
        order = np.argsort(np.flip(x, axis), axis=axis, stable=True)
        places = x.shape[axis] - 1 - np.flip(order, axis)
    else:
        places = np.argsort(x, axis=axis, stable=True)
    places = places[(*[slice(None)] * axis, slice(None, k))]
    return [np.take_along_axis(x, places, axis=axis), places]


@operator("Unique", since=11)
def unique(call: Call, _x: Tensor) -> list[Any]:
    """Distinct elements, first places, places in the result and counts, of known numbers."""
    numbers = call.numbers(0, "elements")
    axis = call.whole("axis") if call.has("axis") else None
    found, first, inverse, counts = np.unique(
        numbers, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    if not call.flag("sorted", 1):
        order = np.argsort(first)
        ranks = np.argsort(order)
        found = np.take(found, order, axis=0 if axis is None else axis)
        first, inverse, counts = first[order], ranks[inverse], counts[order]
    others = [each.reshape(-1).astype(np.int64) for each in (first, inverse, counts)]
    return [found, *others]
