"""Moving elements: reshape, transpose, broadcast, and functions made of them.

All may give views. Axes are kept negative and permutations too, so that the derivative rules hold
for cotangents with extra leading axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..array.cuts import READ_ONLY, Cut
from ..errors import ShapeError, TraceError
from ..facts import Fact, finite, integer_valued, interval, nonzero, total
from ..ir.avals import Aval, AxisLike, normal_axes, normal_axis
from ..ir.dims import Shape, ShapeLike, known_equal, parse_shape, show_shape
from ..ir.fact_inference import Known
from ..ir.op import Batch, Op, carries_aligned, no_flops, register
from ..ir.traits import MOVEMENT, Arrangement
from ..notation import array_formulas, formulas, node_text
from ..pytrees import listed
from .batched import applied, batch_broadcast, batch_reshaped
from .carrying import carries_reshaped, carries_transposed
from .composites import as_array, composite, naming_lines
from .families import function
from .target_shapes import infer_reshape, normal_reshape

__all__ = [
    "broadcast_to",
    "expand_dims",
    "facts_of_elements",
    "matrix_transpose",
    "moveaxis",
    "ravel",
    "reshape",
    "rollaxis",
    "squeeze",
    "swapaxes",
    "transpose",
]

_OF_ELEMENTS = (
    Fact("positive"),
    Fact("nonnegative"),
    Fact("negative"),
    Fact("nonpositive"),
    nonzero,
    finite,
    total,
    integer_valued,
)


def facts_of_elements(*known: Known) -> Iterable[Fact]:
    """Facts of elements that all operands share: a choice among elements keeps them."""
    for fact in _OF_ELEMENTS:
        if not [each for each in known if not each.has(fact)]:
            yield fact
    low, high = [each.low for each in known], [each.high for each in known]
    lowest, highest = min(low), max(high)
    if lowest > -np.inf or highest < np.inf:
        yield interval(lowest, highest)


# -- reshape -------------------------------------------------------------------------------------


def _leading(ct: Array, out: Array) -> Shape:
    """The number of extra leading axes of a cotangent."""
    return ct.shape[: ct.ndim - out.ndim]


def _vjp_reshape(ct: Array, out: Array, x: Array, *, shape: Shape) -> Array:
    return reshape(ct, (*_leading(ct, out), *x.shape))


def _facts_reshape(x: Known, *, shape: Shape) -> Iterable[Fact]:
    yield from facts_of_elements(x)
    if x.has(Fact("unique")):
        yield Fact("unique")
    old = x.aval.shape
    if len(old) and len(shape) and known_equal(old[-1], shape[-1]):
        for name in ("simplex", "one_hot", "unit_norm"):
            if x.has(Fact(name, (-1,))):
                yield Fact(name, (-1,))
    square = len(shape) == 2 and known_equal(*shape)
    if square and len(old) == 4 and _is_symmetric_in_pairs(x):
        yield Fact("symmetric")


def _is_symmetric_in_pairs(x: Known) -> bool:
    """Whether we know that exchanging the first two axes and the last two changes nothing.

    The products of a Kronecker product of symmetric matrices have this symmetry.
    """
    shape = x.aval.shape
    if len(shape) != 4 or not all(map(known_equal, shape[:2], shape[2:])):
        return False
    if x.node.op.name == "multiply":
        return all(_is_symmetric_in_pairs(each) for each in x.operands)
    while x.aval.ndim != 2 or not x.has(Fact("symmetric")):
        if x.node.op.name != "reshape":
            return False
        (x,) = x.operands
    return True


RESHAPE = register(
    Op(
        "reshape",
        batch=batch_reshaped,
        total=True,
        infer=infer_reshape,
        kernel=lambda xp, x, *, shape: xp.reshape(x, shape),
        vjp=(_vjp_reshape,),
        carries=carries_reshaped,
        normalize=normal_reshape,
        flops=no_flops,
        count=0,
        facts=_facts_reshape,
        view=True,
        write=lambda whole, part, *, shape: reshape(part, whole.shape),
        doc="The same elements, in row-major order, in another shape; one entry may be -1.",
        traits=replace(MOVEMENT, arrangement=Arrangement.REGROUPED, in_order=lambda shape: True),
        latex=array_formulas.reshape_formula,
        text=node_text.reshape_text,
    )
)


@partial(naming_lines, view=True)
def _reshape(x: ArrayLike, shape: ShapeLike, order: str = "C", *, copy: object = None) -> Array:
    if order == "K":
        raise TraceError("reshape: order='K' is none.", mend="Use 'C' or 'F'.")
    if _by_rows("reshape", as_array(x), order):
        return apply(RESHAPE, x, shape=shape)
    # The columns of x are the rows of its transpose.
    turned = apply(RESHAPE, transpose(x), shape=tuple(reversed(listed(shape))))
    return transpose(turned)


def _by_rows(name: str, x: Array, order: str) -> bool:
    """Whether elements are read row by row; "A" and "K" follow the memory layout.

    Raises
    ------
    TraceError
        If the layout is not known: it depends on the operands, and inputs may have any.
    """
    if order not in ("C", "F", "A", "K"):
        raise TraceError(f"{name}: order={order!r} is none.", mend="Use 'C' or 'F'.")
    if order in ("A", "K") and not _lies_by_rows(x):
        raise TraceError(
            f"{name}: order={order!r} reads elements as they lie in memory, which is not known: "
            "those of x.T lie in another way than those of x.",
            mend="Use 'C', row by row, or 'F', column by column; or begin with x = x.copy().",
        )
    return order != "F"


def _lies_by_rows(x: Array) -> bool:
    memory = x.memory
    known = type(memory) is Cut and memory.rows and memory.whole is None
    return known or len([dim for dim in x.shape if dim != 1]) <= 1


reshape = function(RESHAPE, _reshape, np.reshape)


@composite(np.expand_dims, view=True)
def expand_dims(x: ArrayLike, axis: AxisLike) -> Array:
    """New axes of size 1 at the positions `axis` of the result."""
    return apply(RESHAPE, x, expand=axis)


@composite(np.squeeze, view=True)
def squeeze(x: ArrayLike, axis: AxisLike = None) -> Array:
    """The array without all axes of size 1, or without the given ones.

    An axis whose size is a name stays, also where the size will be 1.
    """
    return apply(RESHAPE, x, squeeze=axis, drop=True)


@composite(np.ravel, view=True)
def ravel(x: ArrayLike, order: str = "C") -> Array:
    """All elements as one vector, row by row, or column by column if `order` is "F"."""
    found = reshape(x if _by_rows("ravel", as_array(x), order) else transpose(x), (-1,))
    if type(found) is Array and type(found.memory) is Cut:
        found.memory.flat = True
    return found


# -- transpose -----------------------------------------------------------------------------------
def _normal_transpose(
    avals: tuple[Aval, ...], *, axes: int | Sequence[int] | None = None, last: bool = False
) -> dict[str, Any]:
    (x,) = avals
    if last:
        if x.ndim < 2:
            raise ShapeError(f"a matrix is needed, not shape {show_shape(x.shape)}.")
        return {"axes": (*range(-x.ndim, -2), -1, -2)}
    if axes is None:
        return {"axes": tuple(range(-1, -x.ndim - 1, -1))}
    given = listed(axes)
    normal_axes(given, x.ndim)
    if len(given) != x.ndim:
        raise ShapeError(f"axes {tuple(given)} do not permute {x.ndim} dimensions.")
    return {"axes": tuple([int(axis) if axis < 0 else int(axis) - x.ndim for axis in given])}


def _vjp_transpose(ct: Array, out: Array, x: Array, *, axes: tuple[int, ...]) -> Array:
    ndim = len(axes)
    inverse = [0] * ndim
    for position, axis in enumerate(axes):
        inverse[axis] = position - ndim
    return transpose(ct, (*range(-ct.ndim, -ndim), *inverse))


def _facts_transpose(x: Known, *, axes: tuple[int, ...]) -> Iterable[Fact]:
    yield from facts_of_elements(x)
    if x.has(Fact("unique")):
        yield Fact("unique")
    ndim = len(axes)
    for position, axis in enumerate(axes):
        for name in ("simplex", "one_hot", "unit_norm"):
            if x.has(Fact(name, (axis,))):
                yield Fact(name, (position - ndim,))
    if ndim < 2 or set(axes[-2:]) != {-1, -2}:
        return
    for name in ("symmetric", "antisymmetric", "positive_definite", "orthogonal", "diagonal"):
        if x.has(Fact(name)):
            yield Fact(name)
    exchanged = axes[-1] == -2
    for which, other in (("lower", "upper"), ("upper", "lower")):
        if x.has(Fact("triangular", (which,))):
            yield Fact("triangular", (other if exchanged else which,))


def _batch_transpose(batch: Batch, *, axes: tuple[int, ...]) -> Any:
    return applied(batch, batch.operands, axes=(-len(axes) - 1, *axes))


def _indices_transpose(
    _out: Aval, x: Aval, *, axes: tuple[int, ...]
) -> tuple[list[list[Any]], list[Any]]:
    return [list(range(-x.ndim, 0))], list(axes)


def _indices_broadcast_to(
    out: Aval, x: Aval, **_shape: object
) -> tuple[list[list[Any]], list[Any]]:
    return [list(range(-x.ndim, 0))], list(range(-out.ndim, 0))


TRANSPOSE = register(
    Op(
        "transpose",
        batch=_batch_transpose,
        total=True,
        infer=lambda x, *, axes: x.with_shape([x.shape[axis] for axis in axes]),
        kernel=lambda xp, x, *, axes: xp.transpose(x, axes),
        vjp=(_vjp_transpose,),
        carries=carries_transposed,
        normalize=_normal_transpose,
        flops=no_flops,
        count=0,
        facts=_facts_transpose,
        view=True,
        write=lambda whole, part, *, axes: _vjp_transpose(part, part, whole, axes=axes),
        doc="The array with its axes in another order, by default reversed.",
        traits=replace(MOVEMENT, arrangement=Arrangement.PERMUTED, indices=_indices_transpose),
        latex=array_formulas.transpose_formula,
        text=node_text.transpose_text,
    )
)


def _transpose(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    return apply(TRANSPOSE, x, axes=axes)


transpose = function(TRANSPOSE, _transpose, np.transpose)
FUNCTIONS["permute_dims"] = transpose


@composite(np.linalg.matrix_transpose, np.matrix_transpose, view=True)
def matrix_transpose(x: ArrayLike) -> Array:
    """The array with its last two axes exchanged."""
    return apply(TRANSPOSE, x, last=True)


@composite(np.swapaxes, view=True)
def swapaxes(x: ArrayLike, axis1: int, axis2: int) -> Array:
    """The array with two axes exchanged."""
    x = as_array(x)
    axes = list(range(-x.ndim, 0))
    (one,), (other,) = (normal_axes(axis, x.ndim) for axis in (axis1, axis2))
    axes[one], axes[other] = axes[other], axes[one]
    return transpose(x, tuple(axes))


@composite(np.moveaxis, view=True)
def moveaxis(x: ArrayLike, source: object, destination: int | Sequence[int]) -> Array:
    """The array with some axes moved; the others keep their order."""
    x = as_array(x)
    sources, places = listed(source), listed(destination)
    normal_axes(sources, x.ndim)
    normal_axes(places, x.ndim)
    if len(sources) != len(places):
        raise ShapeError("moveaxis: as many destinations are needed as sources.")
    rest = [axis for axis in range(x.ndim) if axis not in [each % x.ndim for each in sources]]
    for place, each in sorted(
        (p % x.ndim, s % x.ndim) for p, s in zip(places, sources, strict=True)
    ):
        rest.insert(place, each)
    return transpose(x, tuple(rest))


@composite(np.rollaxis, view=True)
def rollaxis(x: ArrayLike, axis: int, start: int = 0) -> Array:
    """The array with an axis moved before the axis `start`."""
    x = as_array(x)
    place = normal_axis(axis, x.ndim)
    if not -x.ndim <= start <= x.ndim:
        raise ShapeError(f"rollaxis: start={start} is out of range for {x.ndim} dimensions.")
    place, target = place + x.ndim, start + x.ndim * (start < 0)
    return moveaxis(x, place, target - (place < target))


# -- broadcast -----------------------------------------------------------------------------------
def _infer_broadcast(x: Aval, *, shape: Shape) -> Aval:
    fits = len(shape) >= x.ndim
    for axis in range(-x.ndim, 0) if fits else ():
        fits = fits and (known_equal(x.shape[axis], 1) or known_equal(x.shape[axis], shape[axis]))
    if not fits:
        raise ShapeError(
            f"shape {show_shape(x.shape)} does not broadcast to {show_shape(shape)}.",
            mend="Each dimension must be 1 or the one asked for; new axes come first.",
        )
    return Aval(x.dtype, shape)


def _facts_broadcast(x: Known, *, shape: Shape) -> Iterable[Fact]:
    yield from facts_of_elements(x)
    if x.has(Fact("unique")):
        yield Fact("unique")
    old = x.aval.shape
    for axis in range(-len(old), 0):
        if not known_equal(old[axis], shape[axis]):
            continue
        for name in ("simplex", "one_hot", "unit_norm"):
            if x.has(Fact(name, (axis,))):
                yield Fact(name, (axis,))
    if len(old) >= 2 and known_equal(old[-1], shape[-1]) and known_equal(old[-2], shape[-2]):
        for name in ("symmetric", "antisymmetric", "positive_definite", "orthogonal", "diagonal"):
            if x.has(Fact(name)):
                yield Fact(name)
        for which in ("lower", "upper"):
            if x.has(Fact("triangular", (which,))):
                yield Fact("triangular", (which,))


BROADCAST_TO = register(
    Op(
        "broadcast_to",
        batch=batch_broadcast,
        total=True,
        infer=_infer_broadcast,
        kernel=lambda xp, x, *, shape: xp.broadcast_to(x, shape),
        # The engine sums the cotangent over the axes that x was repeated along.
        vjp=(lambda ct, out, x, *, shape: ct,),
        carries=carries_aligned,
        normalize=lambda avals, *, shape: {"shape": parse_shape(shape)},
        flops=no_flops,
        count=0,
        facts=_facts_broadcast,
        view=True,
        write=READ_ONLY,
        doc="The array repeated to `shape`, as NumPy broadcasts it.",
        traits=replace(MOVEMENT, arrangement=Arrangement.REPEATED, indices=_indices_broadcast_to),
        latex=formulas.operand_formula,
        text=node_text.broadcast_text,
    )
)


def _broadcast_to(x: ArrayLike, shape: ShapeLike) -> Array:
    return apply(BROADCAST_TO, x, shape=shape)


broadcast_to = function(BROADCAST_TO, _broadcast_to, np.broadcast_to)
