"""Operations of PyTorch that read and write at integer arrays, and that sort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import ordering
from ..functions import f
from ..spelling import ABSENT, Refused, SpelledCall, Spelling, known, own

__all__ = ["INDEXING"]


def _index(x: Any, indices: Sequence[Any]) -> Any:
    return x[_places(indices)]


def _places(indices: Sequence[Any]) -> tuple[Any, ...]:
    """An index as NumPy writes it, where None of PyTorch's is a whole axis."""
    if any(each is not None and each.dtype.kind == "b" for each in indices):
        raise Refused("picks elements by a mask, so the shape of its result depends on values")
    return tuple([slice(None) if each is None else each for each in indices])


def _index_select(x: Any, dim: int, index: Any) -> Any:
    return f.take(x, index, axis=dim)


def _gather(x: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    return x[_along(x, dim, index)]


def _take_along(x: Any, indices: Any, dim: int | None = None) -> Any:
    return f.take_along_axis(x, indices, dim)


def _along(x: Any, dim: int, index: Any) -> tuple[Any, ...]:
    """The index that reads `x[..., index[..., i, ...], ...]` along an axis.

    The other axes of `index` may be shorter than those of `x`: PyTorch reads their beginning.
    """
    dim %= max(x.ndim, 1)
    places: list[Any] = []
    for axis in range(x.ndim):
        if axis == dim:
            places.append(index)
        else:
            shape = [1] * x.ndim
            shape[axis] = index.shape[axis]
            places.append(f.reshape(f.arange(index.shape[axis]), tuple(shape)))
    return tuple(places)


def _scatter(x: Any, dim: int, index: Any, src: Any, *, reduce: str | None = None) -> Any:
    if reduce not in (None, "add"):
        raise Refused(f"scatters with reduce={reduce!r}")
    if getattr(src, "ndim", 0):  # Of which PyTorch reads as much as the index is long.
        src = src[tuple(slice(0, size) for size in index.shape)]
    write = f.index_update if reduce is None else f.index_add
    return write(x, _along(x, dim, index), src)


def _scatter_add(x: Any, dim: int, index: Any, src: Any) -> Any:
    return _scatter(x, dim, index, src, reduce="add")


def _index_put(x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
    if len(indices) == 1 and indices[0] is not None and indices[0].dtype.kind == "b":
        if values.ndim or accumulate:
            raise Refused("writes several values at a mask")
        mask = indices[0]
        return f.where(f.reshape(mask, (*mask.shape, *[1] * (x.ndim - mask.ndim))), values, x)
    write = f.index_add if accumulate else f.index_update
    return write(x, _places(indices), values)


def _index_add(x: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    place = (*[slice(None)] * (dim % x.ndim), index)
    return f.index_add(x, place, source if alpha == 1 else source * alpha)


def _index_fill(x: Any, dim: int, index: Any, value: Any) -> Any:
    return f.index_update(x, (*[slice(None)] * (dim % x.ndim), index), value)


def _embedding(
    weight: Any,
    indices: Any,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    if scale_grad_by_freq:
        raise Refused("divides gradients by the frequency of indices")
    rows = weight[indices]
    if padding_idx < 0:
        return rows
    # The row of the padding gets no gradient.
    padding = f.expand_dims(f.equal(indices, padding_idx), -1)
    return f.where(padding, f.stop_gradient(rows), rows)


def _embedding_bag(
    weight: Any,
    indices: Any,
    offsets: Any,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Any, ...]:
    """Sums or means of rows, a bag from each offset to the next."""
    if mode not in (0, 1):
        raise Refused("takes the largest of each bag")
    rows = _embedding(weight, indices, -1, scale_grad_by_freq)
    bags = offsets.shape[0] - int(include_last_offset)
    # Of equal offsets, all bags but the last are empty.
    bag = f.searchsorted(offsets[:bags], f.arange(indices.shape[0]), side="right") - 1
    if per_sample_weights is not None:
        rows = rows * f.expand_dims(per_sample_weights, -1)
    counted = f.not_equal(indices, -1 if padding_idx is None else padding_idx)
    shares = f.astype(counted, weight.dtype)
    rows = f.where(f.expand_dims(counted, -1), rows, 0)
    found = f.index_add(f.zeros((bags, weight.shape[-1]), weight.dtype), (bag,), rows)
    if mode == 1:
        number = f.index_add(f.zeros((bags,), weight.dtype), (bag,), shares)
        found = found / f.expand_dims(f.maximum(number, 1), -1)
    return found, ABSENT, ABSENT, ABSENT


def _one_hot(call: SpelledCall, x: Any, num_classes: int = -1) -> Any:
    if num_classes < 0:
        raise Refused("has as many classes as the largest label says")
    return f.one_hot(x, num_classes, dtype=call.dtype)


def _sort(x: Any, dim: int = -1, descending: bool = False, **_stable: Any) -> tuple[Any, Any]:
    order = ordering.descending(x, dim) if descending else f.argsort(x, dim, stable=True)
    return f.take_along_axis(x, order, dim), order


def _topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    first = (*[slice(None)] * (dim % x.ndim), slice(0, k))
    return tuple(each[first] for each in _sort(x, dim, largest))


def _searchsorted(
    sequence: Any, values: Any, *, out_int32: bool = False, right: bool = False, **options: Any
) -> Any:
    if sequence.ndim != 1 or options.get("sorter") is not None or options.get("side"):
        raise Refused("searches several sequences, or one with a sorter")
    return f.searchsorted(sequence, values, side="right" if right else "left")


INDEXING: dict[str, Spelling] = {
    "index": own(_index),
    "index_select": own(_index_select),
    "gather": own(_gather),
    "take_along_dim": own(_take_along),
    "scatter": own(_scatter),
    "scatter_add": own(_scatter_add),
    "index_put": own(_index_put),
    "index_add": own(_index_add),
    "index_fill": own(_index_fill),
    "embedding": own(_embedding),
    **dict.fromkeys(["embedding_bag", "_embedding_bag_forward_only"], own(_embedding_bag)),
    "one_hot": known(_one_hot),
    "sort": own(_sort),
    "argsort": own(lambda x, dim=-1, descending=False, **o: _sort(x, dim, descending, **o)[1]),
    "argsort.stable": own(
        lambda x, *, stable, dim=-1, descending=False: _sort(x, dim, descending, stable=stable)[1]
    ),
    "topk": own(_topk),
    "searchsorted": own(_searchsorted),
    "bucketize": own(
        lambda x, boundaries, out_int32=False, right=False: f.searchsorted(
            boundaries, x, side="right" if right else "left"
        )
    ),
}
