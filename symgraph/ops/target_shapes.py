"""The shape that a reshape gives: from a shape with one -1, or from axes to add or to drop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ShapeError
from ..ir.avals import Aval, AxisLike, normal_axes
from ..ir.dims import Dim, Shape, ShapeLike, count, known_equal, normal, show_shape
from ..ir.symbolic_sizes import SymbolicSize, as_expr
from ..pytrees import listed

__all__ = ["infer_reshape", "normal_reshape"]


def normal_reshape(
    avals: tuple[Aval, ...],
    *,
    shape: ShapeLike | None = None,
    expand: object = None,
    squeeze: AxisLike = None,
    drop: bool = False,
) -> dict[str, Any]:
    """The full target shape, from a shape with at most one -1, or from axes to add or drop."""
    (x,) = avals
    if expand is not None:
        return {"shape": _expanded(x.shape, expand)}
    if squeeze is not None or drop:
        return {"shape": _squeezed(x.shape, squeeze)}
    return {"shape": _resolved_shape(x.shape, listed(shape))}


def _expanded(shape: Shape, axis: object) -> Shape:
    given = listed(axis)
    ndim = len(shape) + len(given)
    added = normal_axes(given, ndim)
    rest = iter(shape)
    return tuple([1 if position in added else next(rest) for position in range(-ndim, 0)])


def _squeezed(shape: Shape, axis: AxisLike) -> Shape:
    if axis is None:
        return tuple([dim for dim in shape if not known_equal(dim, 1)])
    if not shape and axis in (0, -1):
        return shape  # as NumPy does: a number has one axis here
    dropped = normal_axes(axis, len(shape))
    for each in dropped:
        if not known_equal(shape[each], 1):
            raise ShapeError(
                f"axis {each} of shape {show_shape(shape)} has size {shape[each]}, not 1.",
                mend="Only axes of size 1 can be squeezed.",
            )
    return tuple([dim for i, dim in enumerate(shape, -len(shape)) if i not in dropped])


def _resolved_shape(old: Shape, entries: Sequence[Any]) -> Shape:
    dims = [normal(entry) for entry in entries]
    unknown = [i for i, dim in enumerate(dims) if isinstance(dim, int) and dim < 0]
    if not unknown:
        return tuple(dims)
    if len(unknown) > 1 or dims[unknown[0]] != -1:
        raise ShapeError(
            f"a shape may hold one -1 and no other negative number: {show_shape(dims)}."
        )
    known = count([dim for i, dim in enumerate(dims) if i != unknown[0]])
    dims[unknown[0]] = _quotient(old, known, dims)
    return tuple(dims)


def _quotient(old: Shape, known: Dim, dims: Sequence[Dim]) -> Dim:
    whole: Any = count(old)
    if isinstance(whole, int) and isinstance(known, int):
        if known and whole % known == 0:
            return whole // known
    elif known != 0:
        if isinstance(whole, SymbolicSize) and (found := whole.over(known)) is not None:
            return found
        from sympy import cancel, fraction

        quotient = cancel(as_expr(whole) / as_expr(known))
        if fraction(quotient)[1] == 1:
            return normal(quotient)
    raise ShapeError(
        f"{whole} elements of shape {show_shape(old)} do not divide into {show_shape(dims)}.",
        mend="The product of the dimensions given must divide the number of elements.",
    )


def infer_reshape(x: Aval, *, shape: Shape) -> Aval:
    """The aval of `x` in another shape of as many elements."""
    if not known_equal(x.size, count(shape)):
        raise ShapeError(
            f"{x.size} elements of shape {show_shape(x.shape)} do not fill {show_shape(shape)}.",
            mend="Both shapes must have the same number of elements; one entry may be -1.",
        )
    return Aval(x.dtype, shape)
