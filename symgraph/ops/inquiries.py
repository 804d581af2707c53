"""Shape, size and dtype of arrays, and comparisons of whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array, ArrayLike, apart, constant
from ..array.aliasing import own
from ..array.named_sizes import as_seen, shape_as_seen
from ..ir.avals import Casting, normal_axes
from ..ir.dims import Dim, Shape, count, same_shape
from .comparison import equal, isfinite, isnan
from .composites import as_array, composite
from .elementwise import absolute
from .totals import all as all_over

__all__ = ["allclose", "array_equal", "array_equiv", "copy", "isclose", "ndim", "shape", "size"]


@composite(np.shape)
def shape(x: ArrayLike) -> Shape:
    """The dimensions: ints, or a `NamedSize` of each named one."""
    return shape_as_seen(as_array(x).shape)


@composite(np.ndim)
def ndim(x: ArrayLike) -> int:
    """The number of dimensions."""
    return as_array(x).ndim


@composite(np.size)
def size(x: ArrayLike, axis: int | None = None) -> Dim:
    """The number of elements of the array, or along `axis`."""
    x = as_array(x)
    return as_seen(count([x.shape[each] for each in normal_axes(axis, x.ndim)]))


@composite(np.copy, view=True)
def copy(x: ArrayLike, order: str = "K", subok: bool = False) -> Array:
    """A fresh copy of the array."""
    return apart(as_array(x), True)


def _method_copy(x: Array, order: str = "C") -> Array:
    """The result of the method `copy`: a number stays a number; the order is by rows by default."""
    found = apart(x)
    if type(found) is Array and found.shape:
        own(found, rows=order == "C")
    return found


FUNCTIONS["_copy"] = _method_copy
FUNCTIONS["_apart"] = apart


def _dtypes(operands: tuple[Any, ...]) -> list[Any]:
    return [each.dtype if isinstance(each, Array) else each for each in operands]


def _result_type(*operands: ArrayLike) -> Any:
    return np.result_type(*_dtypes(operands))


def _can_cast(given: DTypeLike | ArrayLike, to: DTypeLike, casting: Casting = "safe") -> bool:
    return np.can_cast(*_dtypes((given, to)), casting=casting)


NUMPY_FUNCTIONS[np.result_type] = _result_type
NUMPY_FUNCTIONS[np.can_cast] = _can_cast


# -- equal and nearly equal ------------------------------------------------------------------------
@composite(np.isclose)
def isclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1e-5,
    atol: ArrayLike = 1e-8,
    equal_nan: bool = False,
) -> Array:
    r"""Whether $|a - b| \le \mathrm{atol} + \mathrm{rtol} |b|$, or both are the same infinity.

    `equal_nan` makes NaN close to NaN.
    """
    a, b = as_array(a), as_array(b)
    if b.dtype.kind != "f":
        b = FUNCTIONS["astype"](b, np.result_type(b.dtype, 1.0))
    near = (absolute(a - b) <= atol + rtol * absolute(b)) & isfinite(b)
    found = near | equal(a, b)
    if equal_nan and a.dtype.kind == "f":
        return found | (isnan(a) & isnan(b))
    return found


@composite(np.allclose)
def allclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1e-5,
    atol: ArrayLike = 1e-8,
    equal_nan: bool = False,
) -> Array:
    """Whether all elements are close by `isclose`, as a 0-d boolean array."""
    return all_over(isclose(a, b, rtol, atol, equal_nan))


@composite(np.array_equal)
def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> Array:
    """Whether shapes and elements are equal, as a 0-d boolean array."""
    a1, a2 = as_array(a1), as_array(a2)
    if not same_shape(a1.shape, a2.shape):
        return constant(False)
    found = equal(a1, a2)
    if equal_nan and a1.dtype.kind == "f" and a2.dtype.kind == "f":
        found = found | (isnan(a1) & isnan(a2))
    return all_over(found)


@composite(np.array_equiv)
def array_equiv(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Whether the broadcast arrays are equal, as a 0-d boolean array."""
    return all_over(equal(a1, a2))
