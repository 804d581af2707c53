"""Choosing among several: select, choose, piecewise; interpolation; NaN replaced; steps unwrapped.

A branch that is not taken has the cotangent 0. It is masked, so its derivative may be infinite
there without harm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apart
from ..array.aliasing import has_memory
from ..array.in_place import overwrite
from ..errors import DTypeError, ShapeError, TraceError
from ..ir.avals import broadcast_shapes, normal_axis
from ..ir.dims import show_shape
from .choice import where
from .comparison import isnan
from .composites import as_array, composite, refuse
from .creation import arange, constant_of, dimension
from .differences import diff
from .gather import gather
from .joining import concatenate
from .sorting import argsort, searchsorted
from .statistics import cumsum

__all__ = ["choose", "interp", "nan_to_num", "piecewise", "select", "unwrap"]


# -- among branches --------------------------------------------------------------------------------
@composite(np.select, array=True)
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: object = 0) -> Array:
    """The elements of the first choice whose condition holds, and `default` where none does."""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ShapeError(
            f"select: {len(condlist)} conditions and {len(choicelist)} choices.",
            mend="Give one choice for each condition.",
        )
    conditions = [as_array(each) for each in condlist]
    for each in conditions:
        if each.dtype.kind != "b":
            raise DTypeError(f"select: conditions are boolean, not {each.dtype}.")
    # Promote all at once, so that Python's numbers take the dtype of the arrays.
    kind = np.result_type(*[_typed(each) for each in (*choicelist, default)])
    found = FUNCTIONS["asarray"](default, dtype=kind)
    for condition, choice in zip(reversed(conditions), reversed(choicelist), strict=True):
        found = where(condition, FUNCTIONS["asarray"](choice, dtype=kind), found)
    return found


def _typed(value: object) -> Any:
    if isinstance(value, Array):
        return value.dtype
    return value if type(value) in (int, float) else np.asarray(value).dtype


@composite(np.choose)
def choose(
    a: ArrayLike, choices: Iterable[ArrayLike], out: object = None, mode: str = "raise"
) -> Array:
    """At each place, the element of the choice whose number stands in `a`.

    Parameters
    ----------
    a : array_like of int
    choices : sequence of array_like
    mode : {"raise", "wrap", "clip"}
        What is done with numbers out of range. Where `a` is symbolic, "raise" raises when the
        graph runs on NumPy.
    """
    refuse("choose", {"out": out})
    a = as_array(a)
    options = list(choices)
    if a.dtype.kind not in "iub":
        raise DTypeError(f"choose: numbers of choices are integers, not {a.dtype}.")
    if not options:
        raise ShapeError("choose: there is nothing to choose from.")
    number = _in_range(FUNCTIONS["astype"](a, "int64"), len(options), mode)
    kind = np.result_type(*[_typed(each) for each in options])
    options = [FUNCTIONS["asarray"](each, dtype=kind) for each in options]
    found = options[-1]
    for k in range(len(options) - 2, -1, -1):
        found = where(number == k, options[k], found)
    return FUNCTIONS["broadcast_to"](found, broadcast_shapes(a.shape, found.shape))


def _in_range(a: Array, count: int, mode: str) -> Array:
    match mode:
        case "wrap":
            return a % count
        case "clip":
            return FUNCTIONS["clip"](a, 0, count - 1)
        case "raise":
            if a.node.is_constant:
                value = a.node.params["value"]
                if value.size and not (value.min() >= 0 and value.max() < count):
                    raise ShapeError(f"choose: a number out of range of {count} choices.")
                return a
            # Indexing a counter refuses numbers out of range; negative ones must be refused too.
            return gather(arange(count), where(a < 0, count, a), axis=0)
        case _:
            raise TraceError(f"choose: mode={mode!r} is none of 'raise', 'wrap' and 'clip'.")


@composite(np.piecewise)
def piecewise(
    x: ArrayLike, condlist: object, funclist: Sequence[Any], *args: object, **kw: object
) -> Array:
    """The values of the function, or the number, of the last condition that holds.

    Each function is called once, with all of `x`. Its result is taken where its condition holds, in
    the dtype of `x`. One function more than conditions applies where none holds; without it the
    result is 0 there.
    """
    x = as_array(x)
    conditions = _conditions(condlist, x)
    functions = list(funclist)
    if len(functions) not in (len(conditions), len(conditions) + 1):
        raise ShapeError(
            f"piecewise: {len(functions)} functions for {len(conditions)} conditions.",
            mend="Give one for each, and perhaps one for where none holds.",
        )
    rest = functions.pop() if len(functions) > len(conditions) else 0
    found = _value(rest, x, args, kw)
    for condition, each in zip(conditions, functions, strict=True):
        found = where(condition, _value(each, x, args, kw), found)
    return FUNCTIONS["broadcast_to"](found, x.shape)


def _conditions(condlist: object, x: Array) -> list[Array]:
    """The conditions as a list; a single one needs no list, as in NumPy."""
    if isinstance(condlist, (list, tuple)):
        several = not x.ndim or isinstance(condlist[0], (list, np.ndarray, Array))
    else:
        condlist = as_array(condlist)
        several = condlist.ndim > 1
    found = [as_array(each) for each in (condlist if several else [condlist])]
    return [each if each.dtype.kind == "b" else each != 0 for each in found]


def _value(function: object, x: Array, args: Sequence[object], kw: Mapping[str, object]) -> Array:
    # Give the function a copy: NumPy gives it the elements that it has picked.
    value = function(FUNCTIONS["_copy"](x), *args, **kw) if callable(function) else function
    return FUNCTIONS["astype"](as_array(value), x.dtype)


# -- along a table ---------------------------------------------------------------------------------
@composite(np.interp)
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None
) -> Array:
    """Linear interpolation at `x` between the points (xp, fp), in float64.

    Parameters
    ----------
    x, xp, fp : array_like
        Any of them may be symbolic. `xp` rises, unless there is a period.
    left, right : array_like, optional
        Values before the first point and behind the last; by default those of the ends.
    period : float, optional
        Of `xp` and `x`; the points need no order then.

    Notes
    -----
    At a point the derivative with respect to `x` is the slope on its right, at the last point the
    slope on its left.
    """
    x, xs, fs = (FUNCTIONS["astype"](as_array(each), "float64") for each in (x, xp, fp))
    if xs.ndim != 1 or fs.ndim != 1 or not xs.shape[0]:
        raise ShapeError("interp: the points are two vectors, and there is at least one.")
    if xs.shape != fs.shape:
        raise ShapeError(
            f"interp: {show_shape(xs.shape)} places and {show_shape(fs.shape)} values differ."
        )
    if period is not None:
        if not period:
            raise ShapeError("interp: a period is not 0.")
        period = abs(period)
        x, (xs, fs) = x % period, _around(xs % period, fs, period)
        left = right = None
    low = fs[0] if left is None else FUNCTIONS["astype"](as_array(left), "float64")
    high = fs[-1] if right is None else FUNCTIONS["astype"](as_array(right), "float64")
    within = _between(x, xs, fs)
    return where(x < xs[0], low, where(x > xs[-1], high, within))


def _around(xs: Array, fs: Array, period: float) -> tuple[Array, Array]:
    """The points in order, with the last one repeated before them and the first one behind them."""
    order = argsort(xs)
    xs, fs = xs[order], fs[order]
    xs = concatenate([xs[-1:] - period, xs, xs[:1] + period])
    return xs, concatenate([fs[-1:], fs, fs[:1]])


def _between(x: Array, xs: Array, fs: Array) -> Array:
    size = xs.shape[0]
    if size == 1:
        return fs[0]
    place = searchsorted(xs, x, side="right") - 1
    last: Any = size - 2 if isinstance(size, int) else dimension(size) - 2
    place = FUNCTIONS["maximum"](FUNCTIONS["minimum"](place, last), 0)
    x0, x1 = gather(xs, place, axis=0), gather(xs, place + 1, axis=0)
    f0, f1 = gather(fs, place, axis=0), gather(fs, place + 1, axis=0)
    apart = x1 > x0
    share = (x - x0) / where(apart, x1 - x0, 1)
    return where(apart, f0 + share * (f1 - f0), f1)


# -- NaN -------------------------------------------------------------------------------------------
@composite(np.nan_to_num, view=True)
def nan_to_num(
    x: ArrayLike,
    copy: bool = True,
    nan: ArrayLike = 0.0,
    posinf: ArrayLike | None = None,
    neginf: ArrayLike | None = None,
) -> Array:
    """Replace NaN and infinities, by default by 0 and by the largest numbers of the dtype."""
    x = as_array(x)
    if x.dtype.kind != "f":
        return apart(x) if copy else x
    if not copy and has_memory(x):
        return overwrite(x, nan_to_num(x, True, nan, posinf, neginf))
    limits: Any = np.finfo(x.dtype)
    high = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    infinite = constant_of(np.inf, x.dtype)
    found = where(isnan(x), FUNCTIONS["asarray"](nan, dtype=x.dtype), x)
    found = where(x == infinite, FUNCTIONS["asarray"](high, dtype=x.dtype), found)
    return apart(where(x == -infinite, FUNCTIONS["asarray"](low, dtype=x.dtype), found))


# -- angles ----------------------------------------------------------------------------------------
@composite(np.unwrap)
def unwrap(
    p: ArrayLike, discont: float | None = None, axis: int = -1, *, period: float = 2 * np.pi
) -> Array:
    """Add whole periods to angles so that no step is longer than half a period."""
    p = as_array(p)
    place = normal_axis(axis, p.ndim)
    steps = diff(p, axis=place)
    whole = np.result_type(steps.dtype, period).kind in "iu"
    half: Any = period // 2 if whole else period / 2
    ambiguous = period % 2 == 0 if whole else True
    near = (steps + half) % period - half
    if ambiguous:  # A step of exactly half a period keeps its sign.
        near = where((near == -half) & (steps > 0), half, near)
    short = FUNCTIONS["absolute"](steps) < (period / 2 if discont is None else discont)
    added = cumsum(where(short, 0, near - steps), axis=place)
    ends = (Ellipsis, slice(None, 1), *[slice(None)] * (-place - 1))
    rest = (Ellipsis, slice(1, None), *[slice(None)] * (-place - 1))
    return concatenate([p[ends], p[rest] + added], axis=place)
