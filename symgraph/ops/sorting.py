"""Order: sort, argsort, places in sorted arrays, membership.

Sorting is stable everywhere: equal elements keep their order, and the cotangents of a tie go to
the elements in that order. NaNs come last. `partition` sorts, which NumPy's `partition` allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..errors import DTypeError, ShapeError, TraceError
from ..facts import Fact, finite, integer_valued, interval
from ..ir.avals import Aval, AxisLike, normal_axis
from ..ir.dims import show_shape
from ..ir.fact_inference import Known
from ..ir.op import Batch, Op, register
from ..ir.traits import Selection, Traits
from .along_axis import add_along_axis, take_along_axis
from .batched import applied, batch_aligned
from .carrying import carries_off_axis
from .composites import as_array, composite, naming_lines
from .creation import dimension, zeros
from .families import function, same_dtype
from .movement import expand_dims, facts_of_elements, ravel
from .reduction import one_axis

__all__ = [
    "argpartition",
    "argsort",
    "digitize",
    "isin",
    "lexsort",
    "partition",
    "searchsorted",
    "sort",
]


def _sorting_flops(_out: Aval, x: Aval, **_params: object) -> Any:
    """About n log2 n comparisons; the logarithm is taken as 10."""
    return x.size * 10  # pyright: ignore[reportReturnType]  # int * Expr is an Expr


def _normal(avals: tuple[Aval, ...], *, axis: AxisLike) -> dict[str, Any]:
    return {"axis": one_axis(avals, axis=axis)["axis"]}


# -- sort and argsort ------------------------------------------------------------------------------
def _vjp_sort(ct: Array, out: Array, x: Array, *, axis: int) -> Array:
    start = zeros((*ct.shape[: ct.ndim - out.ndim], *x.shape), ct.dtype)
    return add_along_axis(start, ct, argsort(x, axis=axis), axis=axis)


SORT = register(
    Op(
        "sort",
        batch=batch_aligned,
        total=True,
        carries=carries_off_axis,
        infer=lambda x, *, axis: x,
        kernel=lambda xp, x, *, axis: xp.sort(x, axis=axis),
        vjp=(_vjp_sort,),
        normalize=_normal,
        flops=_sorting_flops,
        facts=lambda x, *, axis: facts_of_elements(x),
        doc="The elements along `axis` in ascending order, NaN last.",
        traits=Traits(selection=Selection.OTHER, homogeneous=1, shift=1),
    )
)


def _facts_argsort(x: Known, *, axis: int) -> Iterable[Fact]:
    yield from (integer_valued, finite, Fact("nonnegative"))
    if x.aval.ndim == 1:
        yield Fact("unique")  # a permutation
    size = x.aval.shape[axis]
    if isinstance(size, int) and size:
        yield interval(0, size - 1)


ARGSORT = register(
    Op(
        "argsort",
        batch=batch_aligned,
        total=True,
        infer=lambda x, *, axis: x.with_dtype("int64"),
        kernel=lambda xp, x, *, axis: xp.asarray(
            xp.argsort(x, axis=axis, stable=True), dtype="int64"
        ),
        vjp=(None,),
        normalize=_normal,
        flops=_sorting_flops,
        facts=_facts_argsort,
        doc="The places of the elements along `axis` in ascending order; equal ones as they stand.",
    )
)


def _refuse_order(name: str, order: object) -> None:
    if order is not None:
        raise TraceError(
            f"{name}: order= names fields of records, which are not traced.", mend="Leave it out."
        )


@naming_lines
def _sort(
    x: ArrayLike,
    axis: int | None = -1,
    kind: object = None,
    order: object = None,
    *,
    stable: bool | None = None,
) -> Array:
    _refuse_order("sort", order)
    return apply(SORT, ravel(x), axis=-1) if axis is None else apply(SORT, x, axis=axis)


sort = function(SORT, _sort, np.sort)


@naming_lines
def _argsort(
    x: ArrayLike,
    axis: int | None = -1,
    kind: object = None,
    order: object = None,
    *,
    stable: bool | None = None,
) -> Array:
    _refuse_order("argsort", order)
    x = as_array(x)
    if axis is None or (not x.ndim and axis in (0, -1)):
        x, axis = ravel(x), -1
    return apply(ARGSORT, x, axis=axis)


argsort = function(ARGSORT, _argsort, np.argsort)


@composite(np.partition)
def partition(
    x: ArrayLike,
    kth: int | Sequence[int] | ArrayLike,
    axis: int | None = -1,
    kind: str = "introselect",
    order: object = None,
) -> Array:
    """The elements in ascending order, an order that NumPy's `partition` allows."""
    _check_kth(as_array(x), kth, axis)
    return sort(x, axis, order=order)


@composite(np.argpartition)
def argpartition(
    x: ArrayLike,
    kth: int | Sequence[int] | ArrayLike,
    axis: int | None = -1,
    kind: str = "introselect",
    order: object = None,
) -> Array:
    """The places of the elements in ascending order; see `partition` and `argsort`."""
    _check_kth(as_array(x), kth, axis)
    return argsort(x, axis, order=order)


def _check_kth(x: Array, kth: int | Sequence[int] | ArrayLike, axis: int | None) -> None:
    size: Any = x.size if axis is None or not x.ndim else x.shape[normal_axis(axis, x.ndim)]
    places = np.asarray(kth)
    if places.dtype.kind not in "iu":
        raise DTypeError(f"partition: kth holds integers, not {places.dtype}.")
    if isinstance(size, int) and places.size and not (-size <= places.min() <= places.max() < size):
        raise ShapeError(f"partition: place {kth} is out of range for {size} elements.")


@composite(np.lexsort)
def lexsort(keys: Sequence[Any], axis: int = -1) -> Array:
    """The places in the order of the last key; the key before it decides ties, and so on."""
    rows = [as_array(each) for each in keys]
    if not rows:
        raise ShapeError("lexsort: at least one key is needed.")
    if not rows[0].ndim:  # NumPy's: of one number each.
        return zeros((), "int64")
    order = argsort(rows[0], axis)
    for key in rows[1:]:
        order = take_along_axis(order, argsort(take_along_axis(key, order, axis), axis), axis)
    return order


# -- places in sorted arrays -----------------------------------------------------------------------
def _infer_searchsorted(x: Aval, values: Aval, *, side: str) -> Aval:
    if x.ndim != 1:
        raise ShapeError(f"a sorted vector is needed, not shape {show_shape(x.shape)}.")
    if side not in ("left", "right"):
        raise ShapeError(f"side is 'left' or 'right', not {side!r}.")
    return values.with_dtype("int64")


def _facts_searchsorted(x: Known, values: Known, *, side: str) -> Iterable[Fact]:
    yield from (integer_valued, finite, Fact("nonnegative"))
    size = x.aval.shape[0]
    if isinstance(size, int):
        yield interval(0, size)


def _batch_searchsorted(batch: Batch, *, side: str) -> Any:
    # NumPy searches one vector at a time.
    return batch.one_by_one() if batch.batched[0] else applied(batch, batch.operands, side=side)


SEARCHSORTED = register(
    Op(
        "searchsorted",
        batch=_batch_searchsorted,
        total=True,
        infer=_infer_searchsorted,
        kernel=lambda xp, x, values, *, side: xp.asarray(
            xp.searchsorted(x, values, side=side), dtype="int64"
        ),
        vjp=(None, None),
        promote=same_dtype,
        flops=lambda out, x, values, *, side: values.size * 10,
        facts=_facts_searchsorted,
        doc="The places of values in a sorted vector: before equal elements, or behind them.",
    )
)


@naming_lines
def _searchsorted(x: ArrayLike, v: ArrayLike, side: str = "left", sorter: object = None) -> Array:
    if sorter is not None:
        x = FUNCTIONS["take"](x, sorter)
    return apply(SEARCHSORTED, x, v, side=side)


searchsorted = function(SEARCHSORTED, _searchsorted, np.searchsorted)


@composite(np.digitize)
def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> Array:
    """The number of the interval between `bins` that holds each element."""
    side = "left" if right else "right"
    if isinstance(bins, Array):
        rising = searchsorted(bins, x, side)
        if not isinstance(bins.shape[0], int) or bins.shape[0] > 1:
            falling = dimension(bins.shape[0]) - searchsorted(bins[::-1], x, side)
            return FUNCTIONS["where"](bins[0] <= bins[-1], rising, falling)
        return rising
    edges = np.asarray(bins)
    steps = np.diff(edges)
    if edges.ndim != 1 or not (np.all(steps >= 0) or np.all(steps <= 0)):
        raise ShapeError("digitize: bins are a vector that rises or falls.")
    if np.all(steps >= 0):
        return searchsorted(edges, x, side)
    return len(edges) - searchsorted(edges[::-1], x, side)


@composite(np.isin, array=True)
def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: object = None,
) -> Array:
    """Whether each element is one of `test_elements`."""
    among = expand_dims(element, -1) == ravel(test_elements)
    found = FUNCTIONS["any"](among, axis=-1)
    return FUNCTIONS["logical_not"](found) if invert else found
