"""Sequences: convolution and correlation in one dimension, counts of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..errors import DTypeError, ShapeError, TraceError
from ..facts import Fact, finite, integer_valued
from ..ir.avals import Aval, broadcast_shapes
from ..ir.dims import Dim, count, known_equal, normal, show_shape
from ..ir.op import Op, register
from ..ir.traits import Traits
from .batched import batch_aligned
from .carrying import all_but_last
from .composites import as_array, composite, naming_lines
from .creation import zeros
from .families import function, same_dtype
from .gather import scatter_add

__all__ = ["bincount", "convolve", "correlate"]


# -- convolution -----------------------------------------------------------------------------------
def _infer_convolve(x: Aval, v: Aval, *, mode: str) -> Aval:
    lead = broadcast_shapes(x.shape[:-1], v.shape[:-1])
    n, k = x.shape[-1], v.shape[-1]
    return Aval(x.dtype, (*lead, normal(n + k - 1 if mode == "full" else n - k + 1)))


def _convolve_kernel(xp: Any, x: Any, v: Any, *, mode: str) -> Any:
    if x.ndim == 1 and v.ndim == 1:
        return xp.convolve(x, v, mode=mode)
    lead = np.broadcast_shapes(x.shape[:-1], v.shape[:-1])
    rows = [
        xp.reshape(xp.broadcast_to(each, (*lead, each.shape[-1])), (-1, each.shape[-1]))
        for each in (x, v)
    ]
    length = x.shape[-1] + (v.shape[-1] - 1) * (1 if mode == "full" else -1)
    if not rows[0].shape[0]:
        return xp.zeros((*lead, length), x.dtype)
    # NumPy convolves vectors only; stacked derivatives are several rows.
    pairs = [[xp.getitem(each, i) for each in rows] for i in range(rows[0].shape[0])]
    found = [xp.convolve(*pair, mode=mode) for pair in pairs]
    return xp.reshape(xp.stack(found), (*lead, length))


def _back(x: Array) -> Array:
    return x[..., ::-1]


def _convolved(x: Array, v: Array, mode: str) -> Array:
    return apply(CONVOLVE, x, v, mode=mode)


def _vjp_left(ct: Array, out: Array, x: Array, v: Array, *, mode: str) -> Array:
    return _convolved(ct, _back(v), "valid" if mode == "full" else "full")


def _vjp_right(ct: Array, out: Array, x: Array, v: Array, *, mode: str) -> Array:
    if mode == "full":
        return _convolved(ct, _back(x), "valid")
    return _back(_convolved(x, _back(ct), "valid"))


def _flops_convolve(out: Aval, x: Aval, v: Aval, *, mode: str) -> Dim:
    if mode == "full":
        return count((2, *out.shape[:-1], x.shape[-1], v.shape[-1]))
    return count((2, *out.shape, v.shape[-1]))


_ROW_BYTES = 600
"""Bytes of the arrays that hold a row and its result, beside their numbers."""


def _room_of_convolve(out: Aval, x: Aval, v: Aval, *, mode: str) -> Dim:
    return out.nbytes + _ROW_BYTES * count(out.shape[:-1]) if out.ndim > 1 else 0


CONVOLVE = register(
    Op(
        "convolve",
        workspace=_room_of_convolve,
        batch=batch_aligned,
        total=True,
        carries=all_but_last(1),
        infer=_infer_convolve,
        kernel=_convolve_kernel,
        vjp=(_vjp_left, _vjp_right),
        promote=same_dtype,
        flops=_flops_convolve,
        facts=lambda x, v, *, mode: [
            fact
            for fact in (Fact("nonnegative"), finite, integer_valued)
            if x.has(fact) and v.has(fact)
        ],
        doc=r"$y_i = \sum_j x_{i-j} v_j$ along the last axis, of vectors or rows of them.",
        traits=Traits(linear=...),
    )
)


@naming_lines
def _convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> Array:
    x, w = as_array(a), as_array(v)
    if x.ndim > 1 or w.ndim > 1:
        raise ShapeError(
            f"convolve takes two vectors, not {show_shape(x.shape)} and {show_shape(w.shape)}."
        )
    x, w = FUNCTIONS["atleast_1d"](x, w)
    if x.shape[0] == 0 or w.shape[0] == 0:
        raise ShapeError("convolve: a vector without elements cannot be convolved.")
    if _shorter(x.shape[0], w.shape[0]):
        x, w = w, x
    if x.dtype.kind == w.dtype.kind == "b":
        return _convolve(FUNCTIONS["astype"](x, "int64"), FUNCTIONS["astype"](w, "int64"), mode) > 0
    match mode:
        case "full" | "valid":
            return _convolved(x, w, mode)
        case "same":
            size = w.shape[0]
            if not isinstance(size, int):
                raise _unknown(x, w, mode)
            start = (size - 1) // 2
            return _convolved(x, w, "full")[start : normal(start + x.shape[0])]
        case _:
            raise ShapeError(f"convolve: mode={mode!r} is none of 'full', 'same' and 'valid'.")


def _shorter(n: Dim, k: Dim) -> bool:
    """Whether the first vector is the shorter one."""
    if isinstance(n, int) and isinstance(k, int):
        return n < k
    return isinstance(n, int)  # The one of named length is the signal.


def _unknown(a: Array, v: Array, mode: str) -> ShapeError:
    return ShapeError(
        f"convolve: which of {a.shape[0]} and {v.shape[0]} elements are more is not known, "
        f"and mode {mode!r} asks for it.",
        mend="Use mode='full', and take the part that is wanted.",
    )


convolve = function(CONVOLVE, _convolve, np.convolve)


@composite(np.correlate)
def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> Array:
    r"""$c_k = \sum_i a_{i+k} v_i$ of two vectors."""
    x: Array
    w: Array
    x, w = (FUNCTIONS["atleast_1d"](as_array(each)) for each in (a, v))
    if mode == "same" and _shorter(x.shape[0], w.shape[0]):
        # NumPy swaps a shorter first vector, and reverses the result.
        return _back(_convolve(w, _back(x), mode))
    return _convolve(x, _back(w), mode)


# -- counts ----------------------------------------------------------------------------------------
@composite(np.bincount)
def bincount(x: ArrayLike, /, weights: ArrayLike | None = None, minlength: int = 0) -> Array:
    """The number of times that each number stands in a vector, or the sum of its weights.

    Parameters
    ----------
    x : array_like of int
    weights : array_like, optional
        May be symbolic; summed in float64.
    minlength : int
        Where `x` is symbolic this is the length, and must exceed every number in it: a graph's
        shapes do not depend on values.
    """
    if minlength < 0:
        raise ShapeError(f"bincount: minlength is {minlength}; it must be 0 or more.")
    known = None if isinstance(x, Array) else np.asarray(x)
    x = as_array(x)
    if x.ndim != 1 or x.dtype.kind not in "iub":
        raise DTypeError(f"bincount: a vector of integers is needed, not {x.aval}.")
    if known is None and not minlength:
        raise TraceError(
            "bincount: the length of the result depends on values that are not known yet.",
            mend="Give minlength=, larger than every number.",
        )
    size = minlength
    if known is not None and known.size:
        if known.min() < 0:
            raise ShapeError("bincount: the numbers must not be negative.")
        size = max(minlength, int(known.max()) + 1)
    if weights is None:
        values, dtype = FUNCTIONS["ones_like"](x, dtype="int64"), "int64"
    else:
        values, dtype = FUNCTIONS["astype"](as_array(weights), "float64"), "float64"
        if values.ndim != 1 or not known_equal(values.shape[0], x.shape[0]):
            raise ShapeError(f"bincount: {values.shape} weights for {x.shape} numbers.")
    places = FUNCTIONS["astype"](x, "int64")
    if known is None:  # A negative number counts from no end: it is out of range, and refused.
        places = FUNCTIONS["where"](places < 0, size, places)
    return scatter_add(zeros((size,), dtype), values, places, axis=0)
