"""Sums and their kin along axes, and running sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import numpy as snp
from ..call import Call, Tensor
from ..registry import operator
from .movement import axes_of

__all__: list[str] = []

Axes = tuple[int, ...] | None


def _log_sum(x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    return np.log(_sum(x, axis, keepdims))


def _sum(x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    return np.sum(x, axis=axis, keepdims=keepdims)


def _l1(x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    return _sum(np.absolute(x), axis, keepdims)


def _l2(x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    return np.sqrt(_sum(x * x, axis, keepdims))


def _sum_square(x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    return _sum(x * x, axis, keepdims)


def _largest(x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    """Of no elements the least number there is; of truth values whether any holds."""
    if x.dtype == bool:
        return np.any(x, axis=axis, keepdims=keepdims)
    if 0 in x.shape:
        least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        return _sum(np.broadcast_to(x, x.shape), axis, keepdims).astype(x.dtype) + least
    return np.max(x, axis=axis, keepdims=keepdims)


def _smallest(x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    if x.dtype == bool:
        return np.all(x, axis=axis, keepdims=keepdims)
    if 0 in x.shape:
        most = np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max
        return _sum(x, axis, keepdims).astype(x.dtype) + most
    return np.min(x, axis=axis, keepdims=keepdims)


def _product(x: Any, axis: Axes, keepdims: bool) -> Any:
    return np.prod(x, axis=axis, keepdims=keepdims)


def _mean(x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    return np.mean(x, axis=axis, keepdims=keepdims)


def _log_sum_exp(x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    return snp.logsumexp(x, axis=axis, keepdims=keepdims)


_FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    "ReduceSum": (_sum, 13),
    "ReduceMean": (_mean, 18),
    "ReduceProd": (_product, 18),
    "ReduceMax": (_largest, 18),
    "ReduceMin": (_smallest, 18),
    "ReduceL1": (_l1, 18),
    "ReduceL2": (_l2, 18),
    "ReduceLogSum": (_log_sum, 18),
    "ReduceLogSumExp": (_log_sum_exp, 18),
    "ReduceSumSquare": (_sum_square, 18),
}
"""Each with the version from which its axes are an operand."""


@operator(*_FUNCTIONS)
def reduced(call: Call, x: Tensor, _axes: Tensor | None = None) -> Tensor:
    """Without axes all are meant; or none, if the attribute says so."""
    function, since = _FUNCTIONS[call.op]
    axes = axes_of(call, since)
    keepdims = call.flag("keepdims", 1)
    keeps_all = call.version >= since and call.flag("noop_with_empty_axes")
    if not axes:
        if keeps_all:
            # What is not the reduction still happens, as the square in the sum of squares.
            return function(np.expand_dims(x, 0), (0,), False).astype(x.dtype)
        axes = None
    found = function(x, None if axes is None else tuple(axes), keepdims)
    return found.astype(x.dtype)


@operator("ArgMax", "ArgMin")
def position(call: Call, x: Tensor) -> Tensor:
    """The first place of the extreme element, or the last."""
    find = np.argmax if call.op == "ArgMax" else np.argmin
    axis, keepdims = call.whole("axis"), call.flag("keepdims", 1)
    if not call.flag("select_last_index"):
        return find(x, axis=axis, keepdims=keepdims)
    return x.shape[axis] - 1 - find(np.flip(x, axis), axis=axis, keepdims=keepdims)


@operator("CumSum", "CumProd", since=11)
def running(call: Call, x: Tensor, _axis: Tensor) -> Tensor:
    """Sums of all up to an element; `exclusive` ones are without the element itself."""
    (axis,) = call.ints(1, "axis")
    sums = call.op == "CumSum"
    along = np.cumsum if sums else np.cumprod
    backwards = call.flag("reverse")
    x = np.flip(x, axis) if backwards else x
    if call.flag("exclusive"):
        first = (np.zeros if sums else np.ones)((), x.dtype)
        shape = tuple([1 if a == axis % x.ndim else dim for a, dim in enumerate(x.shape)])
        cut = tuple([slice(None, -1) if a == axis % x.ndim else slice(None) for a in range(x.ndim)])
        x = np.concatenate([np.broadcast_to(snp.asarray(first), shape), x[cut]], axis=axis)
    found = along(x, axis=axis).astype(x.dtype)
    return np.flip(found, axis) if backwards else found
