"""Products made of contractions, such as `dot`; Kronecker's product and the cross product."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count as counter
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..errors import DTypeError, ShapeError
from ..facts import Fact, finite, integer_valued, total
from ..ir.avals import Aval, broadcast_shapes, normal_axes, normal_axis
from ..ir.dims import known_equal, normal, show_shape
from ..ir.fact_inference import Known
from ..ir.op import Op, per_element, register, results_of
from ..ir.traits import Traits
from ..pytrees import listed
from .batched import batch_aligned
from .carrying import all_but_last
from .composites import as_array, composite, naming_lines, refuse
from .einsum import EINSUM
from .families import function, same_dtype
from .matmul import matmul
from .movement import expand_dims, moveaxis, ravel, reshape
from .subscripts import written

__all__ = ["cross", "dot", "inner", "kron", "outer", "tensordot", "vdot"]


# -- sums of products ----------------------------------------------------------------------------
@composite(np.tensordot, np.linalg.tensordot, array=True)
def tensordot(x: ArrayLike, y: ArrayLike, axes: int | Sequence[Any] = 2) -> Array:
    """Sums of products over the last axes of x and the first of y, or over pairs of axes."""
    x, y = as_array(x), as_array(y)
    if isinstance(axes, (int, np.integer)):
        left: list[int] = list(range(x.ndim - int(axes), x.ndim))
        right: list[int] = list(range(int(axes)))
    else:
        left, right = listed(axes[0]), listed(axes[1])
    if len(left) != len(right) or len(left) > x.ndim or len(right) > y.ndim:
        raise ShapeError("tensordot: both arrays need the same number of axes to contract.")
    normal_axes(left, x.ndim)
    normal_axes(right, y.ndim)
    fresh = counter()
    rows = [[next(fresh) for _ in range(each.ndim)] for each in (x, y)]
    for a, b in zip(left, right, strict=True):
        if not known_equal(x.shape[a], y.shape[b]):
            raise ShapeError(
                f"tensordot: shapes {show_shape(x.shape)}, {show_shape(y.shape)} do not contract: "
                f"axis {a} against axis {b}."
            )
        rows[1][b] = rows[0][a]
    summed = {rows[0][a] for a in left}
    result = [label for row in rows for label in row if label not in summed]
    return apply(EINSUM, x, y, subscripts=written(rows, result))


@composite(np.dot)
def dot(x: ArrayLike, y: ArrayLike, out: object = None) -> Array:
    """The product of vectors or matrices; higher dimensions as in NumPy."""
    refuse("dot", {"out": out})
    x, y = as_array(x), as_array(y)
    if not x.ndim or not y.ndim:
        return x * y
    if y.ndim == 1 or (x.ndim <= 2 and y.ndim == 2):
        return matmul(x, y)
    return tensordot(x, y, ((-1,), (-2,)))


@composite(np.inner)
def inner(x: ArrayLike, y: ArrayLike) -> Array:
    """Sums of products over the last axes."""
    x, y = as_array(x), as_array(y)
    if not x.ndim or not y.ndim:
        return x * y
    return matmul(x, y) if x.ndim == y.ndim == 1 else tensordot(x, y, ((-1,), (-1,)))


@composite(np.vdot)
def vdot(x: ArrayLike, y: ArrayLike) -> Array:
    """The sum of products of all elements."""
    return matmul(ravel(as_array(x)), ravel(as_array(y)))


@composite(np.outer)
def outer(x: ArrayLike, y: ArrayLike, out: object = None) -> Array:
    """The matrix of all products of an element of x and an element of y."""
    refuse("outer", {"out": out})
    x, y = as_array(x), as_array(y)
    column = expand_dims(x if x.ndim == 1 else ravel(x), -1)
    return column * (y if y.ndim == 1 else ravel(y))


# -- Kronecker's product -------------------------------------------------------------------------


@composite(np.kron)
def kron(x: ArrayLike, y: ArrayLike) -> Array:
    """The Kronecker product: blocks, each an element of `x` times the whole of `y`."""
    x, y = as_array(x), as_array(y)
    ndim = max(x.ndim, y.ndim)
    x = expand_dims(x, tuple(range(ndim - x.ndim)))
    y = expand_dims(y, tuple(range(ndim - y.ndim)))
    apart = expand_dims(x, tuple(range(1, 2 * ndim, 2))) * expand_dims(
        y, tuple(range(0, 2 * ndim, 2))
    )
    sizes: list[Any] = [(a, b) for a, b in zip(x.shape, y.shape, strict=True)]
    return reshape(apart, tuple([normal(a * b) for a, b in sizes]))


# -- cross product -------------------------------------------------------------------------------
def _infer_cross(x: Aval, y: Aval) -> Aval:
    if x.dtype.kind == "b":
        raise DTypeError("truth values have no differences.", mend="Convert them with astype.")
    for each in (x, y):
        if not each.ndim or not known_equal(each.shape[-1], 3):
            raise ShapeError(
                f"vectors of 3 elements are needed, not shape {show_shape(each.shape)}.",
                mend="In the plane write x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0].",
            )
    return x.with_shape(broadcast_shapes(x.shape, y.shape))


def _facts_cross(x: Known, y: Known) -> Iterable[Fact]:
    return [fact for fact in (finite, total, integer_valued) if x.has(fact) and y.has(fact)]


CROSS = register(
    Op(
        "cross",
        workspace=results_of(2.25),
        batch=batch_aligned,
        total=True,
        carries=all_but_last(1),
        infer=_infer_cross,
        kernel=lambda xp, x, y: xp.cross(x, y),
        # ct . (x cross y) is the same turned around: x . (y cross ct) and y . (ct cross x).
        vjp=(
            lambda ct, out, x, y: apply(CROSS, y, ct),
            lambda ct, out, x, y: apply(CROSS, ct, x),
        ),
        promote=same_dtype,
        flops=per_element(3),
        facts=_facts_cross,
        doc="The cross product of vectors of three elements, on the last axis or as `axis` says.",
        traits=Traits(linear=...),
    )
)


def _in_space(x: Array) -> Array:
    """Vectors of the plane as vectors of space, with a third component of 0."""
    if not (x.ndim and known_equal(x.shape[-1], 2)):
        return x
    return FUNCTIONS["concatenate"]([x, FUNCTIONS["zeros_like"](x[..., :1])], axis=-1)


@naming_lines
def _cross(
    x: ArrayLike,
    y: ArrayLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Array:
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = as_array(x), as_array(y)
    first, second = normal_axis(axisa, x.ndim), normal_axis(axisb, y.ndim)
    x = x if first == -1 else moveaxis(x, first, -1)
    y = y if second == -1 else moveaxis(y, second, -1)
    if all(each.ndim and known_equal(each.shape[-1], 2) for each in (x, y)):
        # For vectors of the plane NumPy gives one number, the third component.
        return x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    found = apply(CROSS, _in_space(x), _in_space(y))
    place = normal_axis(axisc, found.ndim)
    return found if place == -1 else moveaxis(found, -1, place)


cross = function(CROSS, _cross, np.cross)


@naming_lines
def linalg_cross(x: ArrayLike, y: ArrayLike, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three elements on `axis`."""
    for each in (as_array(x), as_array(y)):
        place = normal_axis(axis, each.ndim)
        if not known_equal(each.shape[place], 3):
            raise ShapeError(
                f"vectors of 3 elements are needed, not shape {show_shape(each.shape)}.",
                mend="np.cross takes vectors of the plane too.",
            )
    return _cross(x, y, axis=axis)
