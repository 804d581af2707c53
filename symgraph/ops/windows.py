"""Sliding windows and their reductions: `windows`, its transpose, sums and largest elements.

The transpose of reading windows adds up overlapping elements. Each is the other's derivative.
Pooling and `np.lib.stride_tricks.sliding_window_view` are made of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..array.cuts import READ_ONLY
from ..errors import ShapeError
from ..facts import Fact, finite, integer_valued, total
from ..ir.avals import Aval, normal_axes
from ..ir.dims import Dim, Shape, count, normal, same_shape, show_shape
from ..ir.fact_inference import Known
from ..ir.op import Op, no_flops, register, results_of
from ..ir.traits import MOVEMENT, Selection, Traits
from ..namespace.windows import span
from ..pytrees import listed
from .batched import batch_aligned
from .composites import as_array, composite, refuse
from .creation import ones
from .indexing import embed
from .movement import broadcast_to, expand_dims, facts_of_elements, transpose
from .window_sizes import Pads, Sizes, counted, one_each

__all__ = [
    "MAX_OF_WINDOWS",
    "OVERLAP_ADD",
    "SUM_OF_WINDOWS",
    "WINDOWS",
    "lowest",
    "padded",
    "sliding_window_view",
    "window_sum",
]

Places = Sequence["int | None"]


def _normal_windows(avals: tuple[Aval, ...], **params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) for name, value in params.items()}


def _split(x: Aval, n: int) -> tuple[Shape, Shape]:
    if x.ndim < n:
        raise ShapeError(f"shape {show_shape(x.shape)} has no {n} axes to put windows on.")
    return x.shape[: x.ndim - n], x.shape[x.ndim - n :]


# -- axes kept apart -------------------------------------------------------------------------------
def _carries_windows(out: Aval, x: Aval, *, slot: int, sizes: Sizes, **_: object) -> Places:
    n = len(sizes)
    return (*[own - n for own in range(-x.ndim, -n)], *(None,) * n)


def _carries_overlap(out: Aval, y: Aval, *, slot: int, extents: Shape, **_: object) -> Places:
    n = len(extents)
    return (*[own + n for own in range(-y.ndim, -2 * n)], *(None,) * (2 * n))


def _carries_reduced(out: Aval, x: Aval, *, slot: int, sizes: Sizes, **_: object) -> Places:
    return (*range(-x.ndim, -len(sizes)), *(None,) * len(sizes))


# -- windows and their transpose -------------------------------------------------------------------
def _infer_windows(x: Aval, *, sizes: Sizes, strides: Sizes, dilations: Sizes) -> Aval:
    lead, extents = _split(x, len(sizes))
    return x.with_shape((*lead, *counted(extents, sizes, strides, dilations), *sizes))


def _infer_overlap_add(y: Aval, *, extents: Shape, strides: Sizes, dilations: Sizes) -> Aval:
    n = len(extents)
    lead, counts, sizes = y.shape[: -2 * n], y.shape[-2 * n : -n], y.shape[-n:]
    wanted = counted(extents, sizes, strides, dilations)
    if not same_shape(counts, wanted):
        raise ShapeError(f"{show_shape(counts)} windows are not those of {show_shape(extents)}.")
    return y.with_shape((*lead, *extents))


WINDOWS = register(
    Op(
        "windows",
        batch=batch_aligned,
        total=True,
        infer=_infer_windows,
        kernel=lambda xp, x, *, sizes, strides, dilations: xp.windows(x, sizes, strides, dilations),
        vjp=(
            lambda ct, out, x, *, sizes, strides, dilations: apply(
                OVERLAP_ADD,
                ct,
                extents=x.shape[x.ndim - len(sizes) :],
                strides=strides,
                dilations=dilations,
            ),
        ),
        carries=_carries_windows,
        normalize=_normal_windows,
        flops=no_flops,
        count=0,
        facts=lambda x, *, sizes, strides, dilations: facts_of_elements(x),
        view=True,
        write=READ_ONLY,
        doc="The sliding windows of the last axes, as axes of their own at the end.",
        traits=MOVEMENT,
    )
)

OVERLAP_ADD = register(
    Op(
        "overlap_add",
        workspace=lambda out, y, *, extents, **_: (
            2 * y.dtype.itemsize * count(y.shape[: y.ndim - len(extents)])
        ),
        batch=batch_aligned,
        total=True,
        infer=_infer_overlap_add,
        kernel=lambda xp, y, *, extents, strides, dilations: xp.overlap_add(
            y, extents, strides, dilations
        ),
        vjp=(
            lambda ct, out, y, *, extents, strides, dilations: apply(
                WINDOWS,
                ct,
                sizes=y.shape[y.ndim - len(extents) :],
                strides=strides,
                dilations=dilations,
            ),
        ),
        carries=_carries_overlap,
        normalize=_normal_windows,
        flops=lambda out, y, *, extents, strides, dilations: y.size,
        facts=lambda y, *, extents, strides, dilations: _facts_of_sums(y),
        doc="Windows put back in their places, what overlaps added up: the transpose of `windows`.",
        traits=Traits(linear=(0,)),
    )
)


def _facts_of_sums(x: Known) -> Iterable[Fact]:
    """Facts of sums of elements, perhaps of none: signs, finiteness, whole numbers."""
    kept = (Fact("nonnegative"), Fact("nonpositive"), finite, total, integer_valued)
    return [fact for fact in kept if x.has(fact)]


# -- reduced windows -------------------------------------------------------------------------------
def _infer_reduced(x: Aval, *, sizes: Sizes, strides: Sizes, dilations: Sizes) -> Aval:
    lead, extents = _split(x, len(sizes))
    return x.with_shape((*lead, *counted(extents, sizes, strides, dilations)))


def _vjp_sum(
    ct: Array, out: Array, x: Array, *, sizes: Sizes, strides: Sizes, dilations: Sizes
) -> Array:
    n = len(sizes)
    copies = broadcast_to(expand_dims(ct, tuple(range(-n, 0))), (*ct.shape, *sizes))
    extents = x.shape[x.ndim - n :]
    return apply(OVERLAP_ADD, copies, extents=extents, strides=strides, dilations=dilations)


SUM_OF_WINDOWS = register(
    Op(
        "sum_of_windows",
        workspace=results_of(1.5),
        batch=batch_aligned,
        total=True,
        infer=_infer_reduced,
        kernel=lambda xp, x, *, sizes, strides, dilations: xp.sum_of_windows(
            x, sizes, strides, dilations
        ),
        vjp=(_vjp_sum,),
        carries=_carries_reduced,
        normalize=_normal_windows,
        flops=lambda out, x, *, sizes, strides, dilations: count((*out.shape, *sizes)),
        facts=lambda x, *, sizes, strides, dilations: _facts_of_sums(x),
        doc="The sum of each sliding window of the last axes.",
        traits=Traits(linear=(0,)),
    )
)


def padded(x: Array, pads: Pads, fill: float = 0) -> Array:
    """`x` with `fill` around its last axes."""
    if not any(side != 0 for pad in pads for side in pad):
        return x
    n = len(pads)
    lead, extents = _split(x.aval, n)
    shape = [normal(a + extent + b) for extent, (a, b) in zip(extents, pads, strict=True)]
    index = tuple(
        [slice(a, normal(a + extent)) for extent, (a, _) in zip(extents, pads, strict=True)]
    )
    wide = embed(x, (*lead, *shape), (..., *index))
    if fill == 0:
        return wide
    inside = embed(ones(extents, bool), tuple(shape), index)
    return FUNCTIONS["where"](inside, wide, fill)


def lowest(dtype: np.dtype[Any]) -> float:
    """The least number of the dtype."""
    if dtype.kind == "f":
        return -np.inf
    return False if dtype.kind == "b" else int(np.iinfo(dtype).min)


def _vjp_max(
    ct: Array, out: Array, x: Array, *, sizes: Sizes, strides: Sizes, dilations: Sizes, pads: Pads
) -> Array:
    n = len(sizes)
    last = tuple(range(-n, 0))
    params = {"strides": strides, "dilations": dilations}
    wide = padded(x, pads, lowest(x.dtype))
    seen = apply(WINDOWS, wide, sizes=sizes, **params)
    chosen = seen == expand_dims(out, last)
    if wide is not x:
        # Padding that ties with elements of -inf gets no part of the cotangent.
        real = padded(ones(x.shape[x.ndim - n :], bool), pads)
        chosen = chosen & apply(WINDOWS, real, sizes=sizes, **params)
    share = FUNCTIONS["astype"](chosen, x.dtype)
    share = share / FUNCTIONS["sum"](share, axis=last, keepdims=True)
    extents = wide.shape[wide.ndim - n :]
    back = apply(OVERLAP_ADD, expand_dims(ct, last) * share, extents=extents, **params)
    return back if wide is x else _unpadded(back, x, pads)


def _unpadded(wide: Array, x: Array, pads: Pads) -> Array:
    extents = x.shape[x.ndim - len(pads) :]
    index = [slice(a, normal(a + size)) for size, (a, _) in zip(extents, pads, strict=True)]
    return wide[(..., *index)]


def _infer_max(x: Aval, *, sizes: Sizes, strides: Sizes, dilations: Sizes, pads: Pads) -> Aval:
    lead, extents = _split(x, len(sizes))
    for size, dilation, pad in zip(sizes, dilations, pads, strict=True):
        if max(pad) >= span(size, dilation):
            raise ShapeError(
                f"padding {pad} is as wide as the window {span(size, dilation)}: "
                "windows of nothing but padding have no largest element.",
                mend="Pad less than the window reaches over.",
            )
    wide = tuple([normal(a + size + b) for size, (a, b) in zip(extents, pads, strict=True)])
    return x.with_shape((*lead, *counted(wide, sizes, strides, dilations)))


def _max_kernel(
    xp: Any, x: Any, *, sizes: Sizes, strides: Sizes, dilations: Sizes, pads: Pads
) -> Any:
    if max(side for pad in pads for side in pad) > 0:
        widths = (((0, 0),) * (x.ndim - len(pads))) + pads
        x = xp.pad(x, widths, constant_values=lowest(xp.dtype_of(x)))
    return xp.largest_of_windows(x, sizes, strides, dilations)


def _room_of_max(out: Aval, x: Aval, *, pads: Pads, **_: object) -> Dim:
    """The padded array, and the largest elements so far."""
    lead, extents = _split(x, len(pads))
    wide = [a + extent + b for extent, (a, b) in zip(extents, pads, strict=True)]
    padding = max(side for pad in pads for side in pad) > 0
    return out.nbytes + (count((*lead, *wide)) * x.dtype.itemsize if padding else 0)


MAX_OF_WINDOWS = register(
    Op(
        "max_of_windows",
        workspace=_room_of_max,
        batch=batch_aligned,
        total=True,
        infer=_infer_max,
        kernel=_max_kernel,
        vjp=(_vjp_max,),
        carries=_carries_reduced,
        normalize=_normal_windows,
        flops=lambda out, x, *, sizes, strides, dilations, pads: count((*out.shape, *sizes)),
        facts=lambda x, *, sizes, strides, dilations, pads: facts_of_elements(x),
        doc="The largest element of each sliding window of the last axes; NaN if there is one. "
        "Ties split the gradient equally.",
        traits=Traits(selection=Selection.OTHER, homogeneous=1, shift=1),
    )
)


def window_sum(x: Array, sizes: Sizes, strides: Sizes, dilations: Sizes) -> Array:
    """The sum of each window of the last axes."""
    return apply(SUM_OF_WINDOWS, x, sizes=sizes, strides=strides, dilations=dilations)


# -- functions -------------------------------------------------------------------------------------
@composite(np.lib.stride_tricks.sliding_window_view, view=True)
def sliding_window_view(
    x: ArrayLike,
    window_shape: int | Sequence[int],
    axis: int | Sequence[int] | None = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> Array:
    """The windows of `window_shape` at every place of the given axes, as new last axes.

    Parameters
    ----------
    x : array_like
    window_shape : int or sequence of int
    axis : int or sequence of int, optional
        One an entry of `window_shape`, all axes by default; an axis may be named several times in
        NumPy, here once.

    Raises
    ------
    ShapeError
        If a window does not fit, or their number is not that of the axes.
    """
    refuse("sliding_window_view", {"writeable": writeable or None, "subok": subok or None})
    operand = as_array(x)
    sizes = listed(window_shape)
    places = list(range(operand.ndim)) if axis is None else listed(axis)
    if len(sizes) != len(places):
        raise ShapeError(f"{len(sizes)} window sizes for {len(places)} axes.")
    normal_axes(places, operand.ndim)  # in range, and none twice
    places = [each % operand.ndim for each in places]
    numbers = one_each(sizes, len(sizes), "window_shape")
    order = (*[i for i in range(operand.ndim) if i not in places], *places)
    steps = (1,) * len(numbers)
    found = apply(WINDOWS, transpose(operand, order), sizes=numbers, strides=steps, dilations=steps)
    back = [order.index(i) for i in range(operand.ndim)]
    return transpose(found, (*back, *range(operand.ndim, found.ndim)))
