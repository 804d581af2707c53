"""First-order linear recurrences, and cumulative operations that have them as derivatives.

The cotangents of a recurrence s_k = a_k s_{k-1} + b_k come from one recurrence backwards.
Cumulative products, extrema and log-sum-exps have derivatives of the same form. Their cost is
linear, and they hold where elements are zero, for they do not divide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array, ArrayLike, apply
from ..errors import ShapeError
from ..facts import Fact, finite, integer_valued
from ..ir.avals import Aval, broadcast_shapes
from ..ir.op import Op, per_element, register
from ..ir.traits import Selection, Traits
from .batched import batch_aligned
from .carrying import all_but_last, carries_off_axis
from .composites import as_array, naming_lines, refuse
from .creation import constant_of
from .families import function, same_dtype, to_float
from .joining import concatenate
from .movement import broadcast_to, facts_of_elements, ravel, swapaxes
from .reduction import accumulator, one_axis, raveled

__all__ = ["cummax", "cummin", "cumprod", "linear_recurrence", "logcumsumexp"]


# -- the recurrence --------------------------------------------------------------------------------
def _infer_recurrence(a: Aval, b: Aval) -> Aval:
    shape = broadcast_shapes(a.shape, b.shape)
    if not shape:
        raise ShapeError("a recurrence runs along the last axis: give it one.")
    return Aval(b.dtype, shape)


def _backwards(a: Array, ct: Array) -> Array:
    r"""$t_k = \bar y_k + a_{k+1} t_{k+1}$ along the last axis."""
    return _reversed(linear_recurrence(_reversed(_later(a)), _reversed(ct)))


def _reversed(x: Array) -> Array:
    return x[..., ::-1]


def _later(x: Array) -> Array:
    """The array shifted by one place: the next element."""
    return concatenate([x, _edge(x, 0)], axis=-1)[..., 1:]


def _earlier(x: Array, start: float = 0) -> Array:
    """The array shifted by one place: the previous element."""
    return concatenate([_edge(x, start), x], axis=-1)[..., :-1]


def _edge(x: Array, value: float) -> Array:
    return broadcast_to(constant_of(value, x.dtype), (*x.shape[:-1], 1))


def _whole(x: Array, like: Array) -> Array:
    """`x` broadcast to the length of the last axis of `like`."""
    return broadcast_to(x, broadcast_shapes(x.shape, like.shape[-1:]))


RECURRENCE = register(
    Op(
        "linear_recurrence",
        batch=batch_aligned,
        total=True,
        carries=all_but_last(1),
        infer=_infer_recurrence,
        kernel=lambda xp, a, b: xp.linear_recurrence(a, b),
        vjp=(
            lambda ct, out, a, b: _backwards(_whole(a, out), ct) * _earlier(out),
            lambda ct, out, a, b: _backwards(_whole(a, out), ct),
        ),
        promote=same_dtype,
        flops=per_element(2),
        count=1,
        facts=lambda a, b: [
            fact for fact in (Fact("nonnegative"), integer_valued) if a.has(fact) and b.has(fact)
        ],
        doc=r"$s_k = a_k s_{k-1} + b_k$ along the last axis, with $s_0 = b_0$.",
        traits=Traits(linear=(1,)),
        fresh=False,
    )
)


@naming_lines
def _linear_recurrence(a: ArrayLike, b: ArrayLike) -> Array:
    return apply(RECURRENCE, a, b)


linear_recurrence = function(RECURRENCE, _linear_recurrence)


# -- what they share -------------------------------------------------------------------------------
def _along_last(
    rule: Callable[[Array, Array, Array], Array],
) -> Callable[..., Array]:
    """The derivative rule along any axis, made from a rule along the last axis."""

    def turned(ct: Array, out: Array, x: Array, *, axis: int) -> Array:
        if axis == -1:
            return rule(ct, out, x)
        found = rule(swapaxes(ct, axis, -1), swapaxes(out, axis, -1), swapaxes(x, axis, -1))
        return swapaxes(found, axis, -1)

    return turned


def _cumulative(
    name: str,
    *,
    kernel: Callable[..., Any],
    vjp: Callable[[Array, Array, Array], Array],
    ufunc: np.ufunc,
    facts: Callable[..., Iterable[Any]],
    promote: Callable[[np.dtype[Any]], np.dtype[Any]] = same_dtype,
    numpy: tuple[Any, ...] = (),
    flops: int = 1,
    traits: Traits | None = None,
    doc: str,
) -> Any:
    """A cumulative operation: at each place along an axis, the reduction of the elements so far."""
    op = register(
        Op(
            name,
            batch=batch_aligned,
            total=True,
            infer=lambda x, *, axis: x,
            kernel=kernel,
            vjp=(_along_last(vjp),),
            carries=carries_off_axis,
            normalize=lambda avals, *, axis: {"axis": one_axis(avals, axis=axis)["axis"]},
            promote=promote,
            flops=per_element(flops),
            facts=facts,
            traits=traits or Traits(),
            doc=doc,
        )
    )
    return function(op, _accumulating(op, ufunc), *numpy)


def _accumulating(op: Op, ufunc: np.ufunc) -> Callable[..., Array]:
    """The function of a cumulative operation, which is the ufunc's `accumulate` too."""

    @naming_lines
    def call(
        x: ArrayLike, axis: int | None = None, dtype: object = None, out: object = None
    ) -> Array:
        refuse(op.name, {"out": out})
        operand = as_array(x) if dtype is None else FUNCTIONS["astype"](as_array(x), dtype)
        if raveled(operand, axis):
            operand, axis = ravel(operand), -1
        found = apply(op, operand, axis=axis)
        return found if dtype is None else FUNCTIONS["astype"](found, dtype)

    def accumulate(
        x: ArrayLike, axis: int | None = 0, dtype: DTypeLike | None = None, out: object = None
    ) -> Array:
        return call(x, axis, dtype, out)

    NUMPY_FUNCTIONS[(ufunc, "accumulate")] = accumulate
    return call


# -- products --------------------------------------------------------------------------------------
def _vjp_cumprod(ct: Array, out: Array, x: Array) -> Array:
    r"""$\bar x_j = \prod_{i<j} x_i \sum_{k \ge j} \bar y_k \prod_{j<i\le k} x_i$."""
    return _earlier(out, 1) * _backwards(x, ct)


cumprod = _cumulative(
    "cumprod",
    kernel=lambda xp, x, *, axis: xp.cumprod(x, axis=axis),
    vjp=_vjp_cumprod,
    promote=accumulator,
    numpy=(np.cumprod,),
    ufunc=np.multiply,
    facts=lambda x, *, axis: [
        fact
        for fact in (
            *(Fact("nonnegative"), Fact("positive"), Fact("nonzero")),
            *(finite, Fact("total"), integer_valued),
        )
        if x.has(fact)
    ],
    doc="Products of all elements up to each along `axis` (None: of the raveled array).",
    traits=Traits(multiplies=True),
)


# -- extrema ---------------------------------------------------------------------------------------
def _vjp_cumulative_extremum(ct: Array, out: Array, x: Array) -> Array:
    """Split each cotangent equally among the elements so far that equal the extremum."""
    where, dtype = FUNCTIONS["where"], x.dtype
    one, none = constant_of(1, dtype), constant_of(0, dtype)
    reaching = where(x == out, one, none)
    kept = where(out == _earlier(out, np.nan), one, none)
    ties = FUNCTIONS["maximum"](linear_recurrence(kept, reaching), one)
    return reaching * _backwards(kept, ct / ties)


def _extremum(name: str, ufunc: np.ufunc, which: str) -> Any:
    return _cumulative(
        name,
        kernel=lambda xp, x, *, axis: getattr(xp, ufunc.__name__).accumulate(x, axis=axis),
        vjp=_vjp_cumulative_extremum,
        ufunc=ufunc,
        facts=lambda x, *, axis: facts_of_elements(x),
        traits=Traits(selection=Selection.OTHER, homogeneous=1, shift=1),
        doc=f"The {which} element so far along `axis` (None: of the raveled array); NaN from the "
        "first NaN on. Ties split the gradient equally.",
    )


cummax = _extremum("cummax", np.maximum, "largest")
cummin = _extremum("cummin", np.minimum, "least")


# -- logarithms of sums of exponentials ------------------------------------------------------------
def _vjp_logcumsumexp(ct: Array, out: Array, x: Array) -> Array:
    r"""$\bar x_j = e^{x_j - y_j} t_j$, $t_j = \bar y_j + e^{y_j - y_{j+1}} t_{j+1}$: no overflow.

    An element of -inf that follows only such elements has the derivative 0.
    """
    where, exp = FUNCTIONS["where"], FUNCTIONS["exp"]
    something = out > constant_of(-np.inf, out.dtype)
    share = where(something, exp(where(something, x - out, 0)), 0)
    before = _earlier(out, -np.inf)
    begun = before > constant_of(-np.inf, out.dtype)
    decay = where(begun, exp(where(begun, before - out, 0)), 0)
    return share * _backwards(decay, ct)


logcumsumexp = _cumulative(
    "logcumsumexp",
    kernel=lambda xp, x, *, axis: xp.logaddexp.accumulate(x, axis=axis),
    vjp=_vjp_logcumsumexp,
    promote=to_float,
    ufunc=np.logaddexp,
    flops=23,
    facts=lambda x, *, axis: [fact for fact in (Fact("total"),) if x.has(fact)],
    doc=r"$\log \sum_{i \le k} e^{x_i}$ along `axis` (None: of the raveled array).",
    traits=Traits(other_logarithm=True, shift=1),
)
