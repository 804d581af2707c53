r"""softmax, log_softmax and logsumexp: stable kernels, textbook derivatives.

All three subtract the maximum first. Where every element is -inf, logsumexp is -inf and its
gradient, the softmax, 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..array import Array, ArrayLike, apply
from ..errors import ShapeError
from ..facts import Fact, finite, interval, total
from ..ir.avals import Aval, AxisLike, normal_axes
from ..ir.fact_inference import Known
from ..ir.op import Op, per_element, register
from ..ir.traits import ExponentialSum, Traits
from .batched import batch_aligned
from .carrying import carries_off_axis, carries_reduced
from .families import function, to_float
from .reduction import Axes, reduced_count, reduced_shape, restored
from .totals import sum

__all__ = ["log_softmax", "logsumexp", "softmax"]


def _normal(avals: tuple[Aval, ...], *, axis: AxisLike = -1) -> dict[str, Any]:
    return {"axis": normal_axes(axis, avals[0].ndim)}


def _infer(x: Aval, *, axis: Axes) -> Aval:
    if reduced_count(x.shape, axis) == 0 and x.size != 0:
        raise ShapeError("there is nothing to normalise over.")
    return x


def _shift(xp: Any, x: Any, axis: Axes) -> Any:
    """The maximum over `axis`, or 0 where it is infinite (there x - x would be NaN)."""
    # The initial value defines the maximum of no elements, so the size does not matter.
    top = xp.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return xp.where(xp.isfinite(top), top, 0)


def _softmax_kernel(xp: Any, x: Any, *, axis: Axes) -> Any:
    weights = xp.exp(x - _shift(xp, x, axis))
    whole = xp.sum(weights, axis=axis, keepdims=True)
    # The largest weight is 1, so the sum is below 1 only where all elements are -inf; then it is 0.
    return weights / xp.maximum(whole, 1)


def _vjp_softmax(ct: Array, out: Array, x: Array, *, axis: Axes) -> Array:
    return out * (ct - sum(ct * out, axis=axis, keepdims=True))


def _facts_softmax(x: Known, *, axis: Axes) -> Iterable[Fact]:
    yield interval(0.0, 1.0)
    yield Fact("positive")
    yield finite
    if len(axis) == 1:
        yield Fact("simplex", axis)


SOFTMAX = register(
    Op(
        "softmax",
        batch=batch_aligned,
        total=True,
        infer=_infer,
        kernel=_softmax_kernel,
        vjp=(_vjp_softmax,),
        carries=carries_off_axis,
        normalize=_normal,
        promote=to_float,
        flops=per_element(14),
        count=5,
        facts=_facts_softmax,
        doc=r"$q_i = e^{x_i} / \sum_j e^{x_j}$ over `axis`; 0 where every element is -inf.",
        traits=Traits(shift=0, exponential_sum=ExponentialSum(share=True, over_axis=True)),
        mistaken_for=("log_softmax",),
        definition=lambda m, row: [m.exp(x - level) for level in [m.logsumexp(row)] for x in row],
    )
)


def _softmax(x: ArrayLike, axis: AxisLike = -1) -> Array:
    return apply(SOFTMAX, x, axis=axis)


softmax = function(SOFTMAX, _softmax)


# -- log_softmax ---------------------------------------------------------------------------------
def _log_softmax_kernel(xp: Any, x: Any, *, axis: Axes) -> Any:
    centred = x - _shift(xp, x, axis)
    return centred - xp.log(xp.sum(xp.exp(centred), axis=axis, keepdims=True))


def _vjp_log_softmax(ct: Array, out: Array, x: Array, *, axis: Axes) -> Array:
    return ct - softmax(x, axis=axis) * sum(ct, axis=axis, keepdims=True)


LOG_SOFTMAX = register(
    Op(
        "log_softmax",
        batch=batch_aligned,
        total=True,
        infer=_infer,
        kernel=_log_softmax_kernel,
        vjp=(_vjp_log_softmax,),
        carries=carries_off_axis,
        normalize=_normal,
        promote=to_float,
        flops=per_element(14),
        count=6,
        facts=lambda x, *, axis: [Fact("nonpositive"), *[f for f in (total,) if x.has(f)]],
        doc=r"$x_i - \log \sum_j e^{x_j}$ over `axis`.",
        traits=Traits(
            shift=0,
            exponential_sum=ExponentialSum(share=True, logarithm=True, over_axis=True),
        ),
        mistaken_for=("softmax",),
        definition=lambda m, row: [x - level for level in [m.logsumexp(row)] for x in row],
    )
)


def _log_softmax(x: ArrayLike, axis: AxisLike = -1) -> Array:
    return apply(LOG_SOFTMAX, x, axis=axis)


log_softmax = function(LOG_SOFTMAX, _log_softmax)


# -- logsumexp -----------------------------------------------------------------------------------
def _normal_logsumexp(
    avals: tuple[Aval, ...], *, axis: AxisLike = None, keepdims: bool = False
) -> dict[str, Any]:
    return {"axis": normal_axes(axis, avals[0].ndim), "keepdims": bool(keepdims)}


def _logsumexp_kernel(xp: Any, x: Any, *, axis: Axes, keepdims: bool) -> Any:
    top = _shift(xp, x, axis)
    whole = xp.log(xp.sum(xp.exp(x - top), axis=axis, keepdims=keepdims))
    return whole + (top if keepdims else xp.squeeze(top, axis=axis))


def _vjp_logsumexp(ct: Array, out: Array, x: Array, *, axis: Axes, keepdims: bool) -> Array:
    return restored(ct, axis, keepdims) * softmax(x, axis=axis)


def _facts_logsumexp(x: Known, *, axis: Axes, keepdims: bool) -> Iterable[Fact]:
    number = reduced_count(x.aval.shape, axis)
    if x.has(total) and isinstance(number, int) and number:
        yield total
        if -np.inf < x.low:
            yield interval(x.low + np.log(number), np.inf)
        if x.high < np.inf:
            yield interval(-np.inf, x.high + np.log(number))


LOGSUMEXP = register(
    Op(
        "logsumexp",
        batch=batch_aligned,
        total=True,
        infer=lambda x, *, axis, keepdims: x.with_shape(reduced_shape(x.shape, axis, keepdims)),
        kernel=_logsumexp_kernel,
        vjp=(_vjp_logsumexp,),
        carries=carries_reduced,
        normalize=_normal_logsumexp,
        promote=to_float,
        flops=lambda out, x, *, axis, keepdims: per_element(13)(x),
        count=6,
        facts=_facts_logsumexp,
        doc=r"$\log \sum_j e^{x_j}$ over `axis` (None: all axes); -inf of no element.",
        traits=Traits(
            shift=1,
            exponential_sum=ExponentialSum(logarithm=True, over_axis=True),
        ),
        mistaken_for=("max", "sum"),
        definition=lambda m, row: m.logsumexp(row),
    )
)


def _logsumexp(x: ArrayLike, axis: AxisLike = None, keepdims: bool = False) -> Array:
    return apply(LOGSUMEXP, x, axis=axis, keepdims=keepdims)


logsumexp = function(LOGSUMEXP, _logsumexp)
