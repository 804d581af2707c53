"""Abstract values: the dtype and shape of an array that has no numbers yet.

Promotion is NumPy 2's (NEP 50), asked of NumPy itself. Broadcasting is NumPy's with one
restriction: a named dimension broadcasts only against itself and against 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import DTypeLike

from ..errors import DTypeError, InputError, ShapeError, did_you_mean
from ..records import record
from .dims import Dim, Shape, count, known_equal, names_of, show_shape

__all__ = [
    "Aval",
    "AxisLike",
    "Casting",
    "broadcast_shapes",
    "normal_axes",
    "normal_axis",
    "refuse_other_arrays",
    "supported_dtype",
]

AxisLike: TypeAlias = "int | Sequence[int] | None"
Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
"""NumPy's rules of casting."""
"""The axes of a reduction: one, several, or None for all."""

_WIDTHS = {"int": (8, 16, 32, 64), "uint": (8, 16, 32, 64), "float": (16, 32, 64)}
_NAMES = ["bool", *[f"{kind}{bits}" for kind, widths in _WIDTHS.items() for bits in widths]]
_SUPPORTED = {dtype: dtype for dtype in map(np.dtype, _NAMES)}
"""One object for each dtype, so that equal dtypes are the same: `newbyteorder` makes others."""


def supported_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """`dtype` in native byte order, if this library computes with it.

    Raises
    ------
    DTypeError
        For complex, object, string, datetime, longdouble and structured dtypes.
    """
    if isinstance(dtype, np.dtype) and (known := _SUPPORTED.get(dtype)) is not None:
        return known
    try:
        found = np.dtype(dtype)
    except TypeError as error:
        mend = did_you_mean(dtype, [each.name for each in _SUPPORTED]) if type(dtype) is str else ""
        raise DTypeError(f"{dtype!r} is not a dtype.", mend=mend) from error
    native = _SUPPORTED.get(found.newbyteorder("=") if found.kind in "biuf" else found)
    if native is None:
        raise DTypeError(
            f"dtype {found} is not supported.",
            mend="Inputs of a graph are real: give real and imaginary parts as two, and write "
            "re + 1j * im in the function. sg.grad and its kin take complex arguments."
            if found.kind == "c"
            else "Give a number of days: (d - d[0]) / np.timedelta64(1, 'D')."
            if found.kind in "mM"
            else "Use bool, an integer, float16, float32 or float64.",
        )
    return native


def refuse_other_arrays(value: object, what: str) -> None:
    """Refuse arrays of NumPy's whose operators, or elements, mean something else than an array's.

    Raises
    ------
    InputError
        For a masked array, and for `np.matrix`, whose `*` is a product of matrices.
    """
    if type(value) is np.ndarray or not isinstance(value, np.ndarray):
        return
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(
            f"{what} is a masked array; its mask would be ignored.",
            mend="Fill it, or pass the mask as an input of its own, for np.where.",
        )
    if isinstance(value, np.matrix):
        raise InputError(
            f"{what} is an np.matrix, whose * and ** are products of matrices; here they are of "
            "elements.",
            mend="Convert it with np.asarray(x), and write products of matrices with @.",
        )


@record
class Aval:
    """dtype and shape of a value."""

    dtype: np.dtype[Any]
    shape: Shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Dim:
        """The number of elements."""
        return count(self.shape)

    @property
    def nbytes(self) -> Dim:
        """The number of bytes."""
        return count((*self.shape, self.dtype.itemsize))

    @property
    def is_float(self) -> bool:
        return self.dtype.kind == "f"

    def with_shape(self, shape: Sequence[Dim]) -> Aval:
        return Aval(self.dtype, tuple(shape))

    def with_dtype(self, dtype: DTypeLike) -> Aval:
        return Aval(np.dtype(dtype), self.shape)

    @property
    def dim_names(self) -> tuple[str, ...]:
        """Names of the dimensions the shape depends on."""
        return tuple(sorted({name for dim in self.shape for name in names_of(dim)}))

    def __str__(self) -> str:
        return f"{self.dtype}{show_shape(self.shape)}"


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape NumPy broadcasting gives.

    Raises
    ------
    ShapeError
        If two dimensions differ and neither is 1.
    """
    first = shapes[0]
    for shape in shapes:
        if shape is not first and shape != first:
            break
    else:
        return first
    ndim = max(len(shape) for shape in shapes)
    result: list[Dim] = []
    for axis in range(-ndim, 0):
        chosen: Dim = 1
        for shape in shapes:
            if len(shape) < -axis or shape[axis] == 1:
                continue
            dim = shape[axis]
            if chosen == 1:
                chosen = dim
            elif not known_equal(chosen, dim):
                shown = " and ".join(show_shape(each) for each in shapes)
                raise ShapeError(
                    f"shapes {shown} do not broadcast: {chosen} against {dim} on axis {axis}.",
                    mend="Each pair of dimensions must be equal, or one of them 1.",
                )
        result.append(chosen)
    return tuple(result)


def normal_axes(axis: AxisLike, ndim: int) -> tuple[int, ...]:
    """Axes as sorted negative numbers, so that a value may gain leading axes unnoticed.

    Raises
    ------
    ShapeError
        If an axis is out of range or named twice.
    """
    if axis is None:
        return tuple(range(-ndim, 0))
    axes = [normal_axis(each, ndim) for each in (axis if isinstance(axis, Sequence) else (axis,))]
    if len(set(axes)) != len(axes):
        raise ShapeError(f"axis {axis!r} names a dimension twice.")
    return tuple(sorted(axes))


def normal_axis(axis: AxisLike, ndim: int) -> int:
    """One axis as a negative number.

    Raises
    ------
    ShapeError
        If it is not one integer, or out of range.
    """
    try:
        number = index(cast("int", axis))
    except TypeError:
        raise ShapeError(f"axis {axis!r} is not an integer.") from None
    if not -ndim <= number < ndim:
        raise ShapeError(f"axis {number} is out of range for an array of {ndim} dimensions.")
    return number if number < 0 else number - ndim
