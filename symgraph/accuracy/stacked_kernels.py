"""Runs a kernel at many points at once, along a leading axis that the operation does not know.

Most kernels accept a leading axis. Some accept it after the operands are reshaped to the same
number of axes, or after the shape in the params is extended. When an operation is first met, each
way is tried on a few points and compared with running the points one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from ..ir.interning import params_key
from ..ir.op import Op
from ..namespace import NUMPY
from .probes import Numbers

__all__ = ["Params", "kind_of", "stacked"]

Params: TypeAlias = Mapping[str, Any]
Sizes: TypeAlias = tuple[int, ...]
Way: TypeAlias = "Callable[[Op, Sequence[Numbers], Params, Sizes], Numbers]"

_TRIED = 7
"""Points on which a way of running a kernel is tried: more than any dimension has (`trials`)."""


_ways: dict[Hashable, Way] = {}
"""How each kind of operation takes the leading axis."""

_misfits: set[Hashable] = set()
"""Kinds of operation, and shapes, that give an array of another shape or refuse these shapes.

Dimensions are shortened (`trials`), and those that a param names are not: a convolution does not
fit then. What does not fit is not computed again: random numbers take its place."""

_MOST_WAYS = 20_000
"""The most kinds to keep."""


def stacked(
    op: Op,
    operands: Sequence[Numbers],
    params: Params,
    shape: tuple[int, ...],
    kind: Hashable = None,
) -> Numbers | None:
    """The values of an operation at all points; None if the kernel gives no array of this shape.

    Parameters
    ----------
    op : Op
    operands : sequence of ndarray
        The leading axis runs over the points; it has length 1 if all points share one value.
    params : mapping
    shape : tuple of int
        The shape of the value at one point.
    kind : hashable, optional
        Its `kind_of`, if that is known.
    """
    if op.ends_below is not None and not all(_ends(op, each).all() for each in operands):
        return _where_it_ends(op, operands, params, shape)
    key = kind or kind_of(op, operands, params, shape)
    whole = (key, shape, params.get("shape"), *[each.shape[1:] for each in operands])
    if whole in _misfits:
        return None
    way = _ways.get(key)
    if way is None:
        few = [each[:_TRIED] for each in operands]
        wanted = _singly(op, few, params, shape)
        if wanted.shape[1:] != shape and len(wanted):
            return _misfit(whole)
        if len(_ways) >= _MOST_WAYS:
            _ways.clear()
        way = _ways[key] = _way(op, few, params, shape, wanted)
    try:
        found = _taken(way, op, operands, params, shape)
    except Exception:  # A kernel may refuse some numbers; one by one it takes most.
        found = _singly(op, operands, params, shape)
    if found.shape[1:] != shape:
        return _misfit(whole) if len(found) else None
    count = max(map(len, operands), default=1)
    return found if len(found) == count else _singly(op, operands, params, shape)


def kind_of(
    op: Op, operands: Sequence[Numbers], params: Params, shape: tuple[int, ...]
) -> Hashable:
    """A key. Operations with the same key take the leading axis in one way, and round alike."""
    return op, len(shape), _kind_of_params(params), *[_sides(each.shape) for each in operands]


def _ends(op: Op, operand: Numbers) -> Numbers:
    """Where an operand is small enough for the kernel to end. Nothing is below NaN."""
    return np.abs(operand) < np.float64(op.ends_below or 0.0)


def _where_it_ends(
    op: Op, operands: Sequence[Numbers], params: Params, shape: tuple[int, ...]
) -> Numbers | None:
    """The values where the kernel ends for sure, and NaN elsewhere."""
    fine = [_ends(op, each).reshape(len(each), -1).all(axis=1) for each in operands]
    count = max(len(each) for each in operands)
    everywhere = np.logical_and.reduce([np.broadcast_to(each, count) for each in fine])
    tame = [
        np.where(ok.reshape(-1, *[1] * (each.ndim - 1)), each, each.dtype.type(0))
        for each, ok in zip(operands, fine, strict=True)
    ]
    found = stacked(op, tame, params, shape)
    if found is None:
        return None
    return np.where(everywhere.reshape(-1, *[1] * len(shape)), found, found.dtype.type(np.nan))


@lru_cache(maxsize=4096)
def _sides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """For each axis 0 if it is empty, 1 if it has length 1, and 2 if it is longer."""
    return tuple([min(size, 2) for size in shape])


def _kind_of_params(params: Params) -> Hashable:
    """A key of params. Of a shape only the kind counts; axis 0 differs from axis -1."""
    if not params:
        return ()
    shape = params.get("shape")
    if not isinstance(shape, tuple):
        return params_key(params)
    rest = {name: value for name, value in params.items() if name != "shape"}
    return _sides(shape), params_key(rest)


def _misfit(whole: Hashable) -> None:
    """Remember a kernel that cannot be stacked."""
    if len(_misfits) >= _MOST_WAYS:
        _misfits.clear()
    _misfits.add(whole)


def _way(
    op: Op, few: Sequence[Numbers], params: Params, shape: tuple[int, ...], wanted: Numbers
) -> Way:
    """The first way that gives the wanted values at a few points."""
    for way in (
        _plainly,
        _aligned,
        _lengthened,
        _placed,
        _moved,
        _as_matrices,
        _as_columns,
        _by_letters,
    ):
        try:
            found = _taken(way, op, few, params, shape)
        except Exception:  # The operation cannot be run in this way.
            continue
        if found.shape == wanted.shape and _are_close(found, wanted):
            return way
    return _singly


def _taken(way: Way, op: Op, operands: Sequence[Numbers], params: Params, shape: Sizes) -> Numbers:
    """The values in this way; one by one where the first operand is a singular matrix."""
    try:
        return way(op, operands, params, shape)
    except np.linalg.LinAlgError:
        matrices = operands[0]
        singular = np.linalg.slogdet(matrices)[0] == 0
        if matrices.ndim != 3 or not singular.any() or singular.all():
            raise
    one = np.eye(matrices.shape[1], dtype=matrices.dtype)
    tame = np.where(singular[:, None, None], one, matrices)
    found = way(op, (tame, *operands[1:]), params, shape)
    alone = _singly(
        op, [each if len(each) == 1 else each[singular] for each in operands], params, shape
    )
    found = np.array(found)
    found[singular] = alone if len(alone) else np.nan
    return found


def _are_close(found: Numbers, wanted: Numbers) -> bool:
    """`numpy.allclose` in a third of the time: every process calls it for each operation."""
    one, other = found.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(one - other) <= 1e-8 + 1e-3 * np.abs(other)
    finite = np.isfinite(other)
    return bool((np.where(finite, near, one == other) | ((one != one) & (other != other))).all())


def _plainly(op: Op, operands: Sequence[Numbers], params: Params, _shape: Sizes) -> Numbers:
    return np.asarray(op.kernel(NUMPY, *operands, **params))


def _aligned(op: Op, operands: Sequence[Numbers], params: Params, shape: Sizes) -> Numbers:
    """With all operands reshaped to as many axes as the result."""
    ndim = len(shape)
    aligned = [
        each.reshape(each.shape[:1] + (1,) * (ndim + 1 - each.ndim) + each.shape[1:])
        for each in operands
    ]
    return _plainly(op, aligned, params, shape)


def _lengthened(op: Op, operands: Sequence[Numbers], params: Params, shape: Sizes) -> Numbers:
    """With the number of points put before the shape in the params."""
    return _aligned(op, operands, _longer(operands, params), shape)


def _placed(op: Op, operands: Sequence[Numbers], params: Params, shape: Sizes) -> Numbers:
    """Likewise, but without reshaping an operand that fills only a part of that shape."""
    return _plainly(op, operands, _longer(operands, params), shape)


def _longer(operands: Sequence[Numbers], params: Params) -> Params:
    count = max(len(each) for each in operands)
    return {**params, "shape": (count, *params["shape"])}


def _moved(op: Op, operands: Sequence[Numbers], params: Params, shape: Sizes) -> Numbers:
    """With the leading axis put before the axes to permute."""
    axes = params["axes"]
    return _plainly(op, operands, {**params, "axes": (-len(axes) - 1, *axes)}, shape)


def _as_matrices(op: Op, operands: Sequence[Numbers], params: Params, shape: Sizes) -> Numbers:
    """For a product of matrices: with vectors as rows and columns."""
    left, right = operands
    left = left[:, None, :] if left.ndim == 2 else left
    right = right[:, :, None] if right.ndim == 2 else right
    found = _plainly(op, (left, right), params, shape)
    return found.reshape(-1, *shape)


def _as_columns(op: Op, operands: Sequence[Numbers], params: Params, shape: Sizes) -> Numbers:
    """For a system of equations: with its right side as a column."""
    matrices, sides = operands
    if matrices.ndim != 3 or sides.ndim != 2:
        raise ValueError("no matrices and vectors")
    return _plainly(op, (matrices, sides[:, :, None]), params, shape)[..., 0]


def _by_letters(op: Op, operands: Sequence[Numbers], params: Params, shape: Sizes) -> Numbers:
    """For an einsum: with an ellipsis before the named indices."""
    left, _, right = params["subscripts"].partition("->")
    terms = ",".join(f"...{term}" for term in left.split(","))
    return _plainly(op, operands, {**params, "subscripts": f"{terms}->...{right}"}, shape)


def _singly(op: Op, operands: Sequence[Numbers], params: Params, shape: Sizes) -> Numbers:
    """Point by point; NaN where the kernel refuses a point, such as a matrix without an inverse."""
    count = max((len(each) for each in operands), default=1)
    found: list[Numbers] = []
    refused = 0
    for point in range(count):
        own = [each[0 if len(each) == 1 else point] for each in operands]
        try:
            value = np.asarray(op.kernel(NUMPY, *own, **params))
        except Exception as error:  # It refuses this point.
            found.append(np.full(shape, np.nan))
            refused += 1
            if refused == point + 1 == _TRIED and not isinstance(error, np.linalg.LinAlgError):
                return np.zeros((1, *shape, 0))  # It refuses the shapes, not the numbers.
            continue
        if value.shape != shape:
            return np.zeros((1, *shape, 0))
        found.append(value)
    if refused == len(found):
        return np.zeros((0, *shape, 0))  # It refuses these numbers, if not the shapes.
    return np.stack(found)
