"""Convolution of layers in any number of dimensions: channels first, the kernel not flipped.

The three operations here are the derivatives of one trilinear form
t = Σ y[n,o,p] x[n,c,p·stride + k·dilation] w[o,c,k] with respect to y, x and w: `convolution`,
`adjoint_convolution` (also called transposed convolution) and `kernel_convolution`. So the
derivatives of each are the other two, and gradients of every order stay within them (Dumoulin and
Visin 2016, "A guide to convolution arithmetic for deep learning").

Operands may have further leading axes, which are broadcast as by `matmul`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..array import Array, apply
from ..errors import DTypeError, ShapeError
from ..facts import Fact, finite, integer_valued, total
from ..ir.avals import Aval, broadcast_shapes
from ..ir.dims import Dim, Shape, count, known_equal, normal, same_shape, show_shape
from ..ir.fact_inference import Known
from ..ir.op import Batch, Op, carries_aligned, register
from ..ir.traits import Traits
from ..namespace.flat_images import added_places
from ..namespace.images import COLUMN_BYTES
from .batched import applied, batch_aligned
from .movement import reshape
from .window_sizes import counted

__all__ = ["ADJOINT", "CONVOLUTION", "KERNEL"]

Sizes = tuple[int, ...]


def _whole_or_float(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind == "b":
        raise DTypeError(
            "a convolution of truth values is not defined.", mend="Convert them with astype(int)."
        )
    return dtype


def _normal_convolution(avals: tuple[Aval, ...], **params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, int) else tuple(value) for name, value in params.items()
    }


def _channels(x: Dim, w: Aval, n: int, groups: int) -> None:
    outer, inner = w.shape[-n - 2], w.shape[-n - 1]
    if not known_equal(x, normal(inner * groups)):
        raise ShapeError(
            f"{x} channels do not meet a kernel of shape {show_shape(w.shape)} "
            f"in {groups} group{'s' if groups > 1 else ''}.",
            mend="x has shape (..., C, *extents), w has shape (O, C / groups, *sizes).",
        )
    _divided(outer, groups)


def _divided(channels: Dim, groups: int) -> Dim:
    if groups == 1:
        return channels
    if not isinstance(channels, int) or channels % groups:
        raise ShapeError(f"{channels} channels are not divisible into {groups} groups.")
    return channels // groups


def _parts(aval: Aval, n: int) -> tuple[Shape, Dim, Dim, Shape]:
    """The leading axes, the two axes of channels or images, and the spatial axes."""
    if aval.ndim < n + 2:
        raise ShapeError(
            f"shape {show_shape(aval.shape)} has fewer than {n + 2} axes.",
            mend="Two axes of channels and images come before the spatial ones.",
        )
    shape = aval.shape
    return shape[: -n - 2], shape[-n - 2], shape[-n - 1], shape[-n:]


def _carries(core: tuple[int, int]) -> Any:
    """The leading axes, and the axes of images if both operands and the result have them."""

    def carries(out: Aval, *avals: Aval, slot: int, strides: Sizes, **_: object) -> Any:
        n = len(strides)
        own = avals[slot].ndim
        kept = own - n - core[slot]
        aligned = carries_aligned(out, *avals, slot=slot)
        return (*aligned[:kept], *(None,) * (own - kept))

    return carries


# -- the three operations --------------------------------------------------------------------------
def _infer_convolution(x: Aval, w: Aval, *, strides: Sizes, dilations: Sizes, groups: int) -> Aval:
    n = len(strides)
    lead_x, images, channels, extents = _parts(x, n)
    lead_w, outer, _, sizes = _parts(w, n)
    _channels(channels, w, n, groups)
    counts = counted(extents, sizes, strides, dilations)
    return x.with_shape((*broadcast_shapes(lead_x, lead_w), images, outer, *counts))


def _infer_adjoint(
    y: Aval, w: Aval, *, extents: Shape, strides: Sizes, dilations: Sizes, groups: int
) -> Aval:
    n = len(strides)
    lead_y, images, outer, counts = _parts(y, n)
    lead_w, wanted, inner, sizes = _parts(w, n)
    if not known_equal(outer, wanted):
        raise ShapeError(
            f"{outer} channels do not meet a kernel of shape {show_shape(w.shape)}.",
            mend="y has shape (..., O, *counts), w has shape (O, C / groups, *sizes).",
        )
    channels = normal(inner * groups)
    _channels(channels, w, n, groups)
    _check_counts(counts, extents, sizes, strides, dilations)
    return y.with_shape((*broadcast_shapes(lead_y, lead_w), images, channels, *extents))


def _infer_kernel(
    x: Aval, y: Aval, *, sizes: Shape, strides: Sizes, dilations: Sizes, groups: int
) -> Aval:
    n = len(strides)
    lead_x, images, channels, extents = _parts(x, n)
    lead_y, same_images, outer, counts = _parts(y, n)
    if not known_equal(images, same_images):
        raise ShapeError(f"{images} images do not meet {same_images}.")
    inner = _divided(channels, groups)
    _divided(outer, groups)
    _check_counts(counts, extents, sizes, strides, dilations)
    return x.with_shape((*broadcast_shapes(lead_x, lead_y), outer, inner, *sizes))


def _check_counts(
    counts: Shape, extents: Shape, sizes: Shape, strides: Sizes, dilations: Sizes
) -> None:
    wanted = counted(extents, sizes, strides, dilations)
    if not same_shape(counts, wanted):
        raise ShapeError(
            f"a convolution of {show_shape(extents)} with {show_shape(sizes)} gives "
            f"{show_shape(wanted)}, not {show_shape(counts)}."
        )


def _spatial(x: Array, params: dict[str, Any]) -> Shape:
    return x.shape[x.ndim - len(params["strides"]) :]


def _without(params: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in params.items() if key != name}


def _facts_of_products(x: Known, y: Known, **_params: object) -> Iterable[Fact]:
    kept = (finite, total, integer_valued, Fact("nonnegative"))
    return [fact for fact in kept if x.has(fact) and y.has(fact)]


def _flops(one: Shape, w: Shape, n: int) -> Dim:
    """Flops of a convolution with results (..., N, O, counts) `one`: two for each product."""
    return count((2, *one, *w[-n - 1 :]))


def _batch_images(batch: Batch, **params: Mapping[str, Any]) -> Any:
    """Join the images of all examples if they meet the same kernel."""
    x, w = batch.operands
    n = len(params["strides"])
    if batch.batched[1] or x.ndim != n + 3 or w.ndim != n + 2:
        return batch_aligned(batch, **params)
    found = applied(batch, [reshape(x, (count(x.shape[:2]), *x.shape[2:])), w], **params)
    return reshape(found, (*x.shape[:2], *found.shape[1:]))


def _columns_bytes(x: Aval, sizes: Shape, counts: Shape) -> Dim:
    """The bytes of the windows of x (..., N, C, extents) that are laid out as columns at a time."""
    n = len(sizes)
    lead, images, channels = x.shape[: -n - 2], x.shape[-n - 2], x.shape[-n - 1]
    image = count((channels, *sizes, *counts)) * x.dtype.itemsize
    if isinstance(image, int) and isinstance(images, int) and image > 0:
        images = min(images, max(1, COLUMN_BYTES // image))
    return count((*lead, images)) * image


def _room_of_convolution(out: Aval, x: Aval, w: Aval, *, strides: Sizes, **_: object) -> Dim:
    """The columns, and the results of some images."""
    n = len(strides)
    room = _columns_bytes(x, w.shape[-n:], out.shape[-n:])
    return room + _part_of(out, room, x, w.shape[-n:], out.shape[-n:])


def _room_of_adjoint(
    out: Aval, y: Aval, w: Aval, *, strides: Sizes, groups: int, **_: object
) -> Dim:
    """The columns; in flat images they have more places, and so has the part of y."""
    n = len(strides)
    sizes, counts = w.shape[-n:], y.shape[-n:]
    room = _columns_bytes(out, sizes, counts)
    part = _part_of(out, room, out, sizes, counts)
    filters = w.shape[-n - 2]
    filters = filters // groups if isinstance(filters, int) else filters
    added = added_places(counts, sizes, out.shape[-n:], strides, filters)
    if added is None or not isinstance(room, int):
        return room + part
    places = count(counts)
    assert isinstance(places, int)
    spread = _part_of(y, room, out, sizes, counts) or y.nbytes
    return (room + spread) * (places + added) // max(1, places)


def _part_of(whole: Aval, room: Dim, x: Aval, sizes: Shape, counts: Shape) -> Dim:
    """The bytes of the part of `whole` that belongs to the images taken at a time, if not all."""
    n = len(sizes)
    everything = count((*x.shape[:-n], *sizes, *counts)) * x.dtype.itemsize
    if not (isinstance(everything, int) and isinstance(room, int) and everything > room):
        return 0
    return whole.nbytes * room // everything


def _room_of_kernel(
    out: Aval, x: Aval, y: Aval, *, sizes: Shape, strides: Sizes, **_: object
) -> Dim:
    """The columns, the other operand with its images last, their product, and that of some."""
    counts = y.shape[-len(strides) :]
    room = _columns_bytes(x, sizes, counts)
    part = _part_of(y, room, x, sizes, counts)
    return room + (part or y.nbytes) + (2 * out.nbytes if part else out.nbytes)


CONVOLUTION = register(
    Op(
        "convolution",
        batch=_batch_images,
        total=True,
        infer=_infer_convolution,
        kernel=lambda xp, x, w, *, strides, dilations, groups: xp.convolution(
            x, w, strides, dilations, groups
        ),
        vjp=(
            lambda ct, out, x, w, **params: apply(
                ADJOINT, ct, w, extents=_spatial(x, params), **params
            ),
            lambda ct, out, x, w, **params: apply(
                KERNEL, x, ct, sizes=_spatial(w, params), **params
            ),
        ),
        carries=_carries((1, 2)),
        normalize=_normal_convolution,
        promote=_whole_or_float,
        flops=lambda out, x, w, *, strides, **_: _flops(out.shape, w.shape, len(strides)),
        workspace=_room_of_convolution,
        facts=_facts_of_products,
        doc="x (..., N, C, extents) with a kernel w (..., O, C/groups, sizes), not flipped: "
        "(..., N, O, counts).",
        traits=Traits(linear=...),
    )
)

ADJOINT = register(
    Op(
        "adjoint_convolution",
        batch=_batch_images,
        total=True,
        infer=_infer_adjoint,
        kernel=lambda xp, y, w, *, extents, strides, dilations, groups: xp.adjoint_convolution(
            y, w, extents, strides, dilations, groups
        ),
        vjp=(
            lambda ct, out, y, w, **params: apply(
                CONVOLUTION, ct, w, **_without(params, "extents")
            ),
            lambda ct, out, y, w, **params: apply(
                KERNEL, ct, y, sizes=_spatial(w, params), **_without(params, "extents")
            ),
        ),
        carries=_carries((1, 2)),
        normalize=_normal_convolution,
        promote=_whole_or_float,
        flops=lambda out, y, w, *, strides, **_: _flops(y.shape, w.shape, len(strides)),
        workspace=_room_of_adjoint,
        facts=_facts_of_products,
        doc="The transpose of `convolution` in x: y (..., N, O, counts) and the kernel give "
        "(..., N, C, extents).",
        traits=Traits(linear=...),
    )
)

KERNEL = register(
    Op(
        "kernel_convolution",
        batch=batch_aligned,
        total=True,
        infer=_infer_kernel,
        kernel=lambda xp, x, y, *, sizes, strides, dilations, groups: xp.kernel_convolution(
            x, y, sizes, strides, dilations, groups
        ),
        vjp=(
            lambda ct, out, x, y, **params: apply(
                ADJOINT, y, ct, extents=_spatial(x, params), **_without(params, "sizes")
            ),
            lambda ct, out, x, y, **params: apply(CONVOLUTION, x, ct, **_without(params, "sizes")),
        ),
        carries=_carries((2, 2)),
        normalize=_normal_convolution,
        promote=_whole_or_float,
        flops=lambda out, x, y, *, strides, **_: _flops(y.shape, out.shape, len(strides)),
        workspace=_room_of_kernel,
        facts=_facts_of_products,
        doc="The transpose of `convolution` in w, summed over images: (..., O, C/groups, sizes).",
        traits=Traits(linear=...),
    )
)
