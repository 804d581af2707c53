"""The functions `conv` and `conv_transpose` of layers: padding, groups, and any leading axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..array import Array, ArrayLike, apply
from ..errors import ShapeError
from ..ir.dims import Shape, count, normal, show_shape
from .composites import as_array, composite
from .convolution import ADJOINT, CONVOLUTION
from .movement import reshape
from .window_sizes import Pads, one_each, pads_of
from .windows import padded

__all__ = ["conv", "conv1d", "conv2d", "conv3d", "conv_transpose"]


def _batched(x: Array, n: int) -> tuple[Array, Shape]:
    """`x` with one axis of images before its channels, and the axes that it had there."""
    if x.ndim < n + 1:
        raise ShapeError(
            f"shape {show_shape(x.shape)} has no channels and {n} spatial axes.",
            mend="x has shape (..., C, *extents); add an axis with x[None].",
        )
    lead = x.shape[: x.ndim - n - 1]
    if len(lead) == 1:
        return x, lead
    return reshape(x, (count(lead), *x.shape[x.ndim - n - 1 :])), lead


def _unbatched(y: Array, lead: Shape) -> Array:
    return y if len(lead) == 1 else reshape(y, (*lead, *y.shape[1:]))


def _kernel_of(w: ArrayLike, n: int | None) -> tuple[Array, int]:
    kernel = as_array(w)
    spatial = kernel.ndim - 2
    if spatial < 1 or (n is not None and spatial != n):
        wanted = "(O, C / groups, *sizes)" if n is None else f"(O, C / groups) and {n} sizes"
        raise ShapeError(f"a kernel has shape {wanted}, not {show_shape(kernel.shape)}.")
    return kernel, spatial


def _groups_of(groups: object) -> int:
    return one_each(groups, 1, "groups")[0]


@composite()
def conv(
    x: ArrayLike,
    w: ArrayLike,
    stride: int | Sequence[int] = 1,
    padding: int | str | Sequence[int | tuple[int, int]] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Array:
    r"""The convolution of layers, $y_{n,o,p} = \sum_{c,k} x_{n,c,ps+kd-a} w_{o,c,k}$.

    The kernel is not flipped: this is a cross-correlation, as in all libraries of layers.

    Parameters
    ----------
    x : array_like, shape (..., C, *extents)
        Channels first; any number of leading axes, named ones too.
    w : array_like, shape (O, C / groups, *sizes)
        Its number of axes tells that of the spatial ones.
    stride, dilation : int or one an axis
        Steps between windows, and between the elements of one.
    padding : int, one or a pair an axis, "same" or "valid"
        Zeros around the spatial axes; "same" gives ceil(extent / stride) results, the odd zero
        after.
    groups : int
        Channels are cut into so many groups, each convolved with its own part of the kernel.

    Returns
    -------
    Array, shape (..., O, *counts)
        counts = floor((extent + padding - dilation (size - 1) - 1) / stride) + 1.

    Raises
    ------
    ShapeError
        If channels, groups or windows do not fit.
    DTypeError
        For truth values.

    Examples
    --------
    >>> x, w = sg.input("x", ("n", 3, 8, 8)), sg.input("w", (16, 3, 3, 3))
    >>> snp.conv(x, w, stride=2, padding=1).shape
    (n, 16, 4, 4)
    """
    kernel, n = _kernel_of(w, None)
    images, lead = _batched(as_array(x), n)
    strides, dilations = one_each(stride, n, "stride"), one_each(dilation, n, "dilation")
    extents, sizes = images.shape[images.ndim - n :], kernel.shape[kernel.ndim - n :]
    pads = pads_of(padding, extents, sizes, strides, dilations)
    params = {"strides": strides, "dilations": dilations, "groups": _groups_of(groups)}
    return _unbatched(apply(CONVOLUTION, padded(images, pads), kernel, **params), lead)


def _conv_of(n: int) -> Any:
    def call(
        x: ArrayLike,
        w: ArrayLike,
        stride: int | Sequence[int] = 1,
        padding: int | str | Sequence[int | tuple[int, int]] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> Array:
        _kernel_of(w, n)
        return conv(x, w, stride, padding, dilation, groups)

    call.__name__ = call.__qualname__ = f"conv{n}d"
    call.__doc__ = f"`conv` along {n} spatial ax{'i' if n == 1 else 'e'}s."
    return composite()(call)


conv1d, conv2d, conv3d = (_conv_of(n) for n in (1, 2, 3))


@composite()
def conv_transpose(
    x: ArrayLike,
    w: ArrayLike,
    stride: int | Sequence[int] = 1,
    padding: int | str | Sequence[int | tuple[int, int]] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    output_padding: int | Sequence[int] = 0,
) -> Array:
    """The transpose of `conv` in its first argument; it upsamples where `conv` downsamples.

    For y of the shape of `conv(x, w)`, sum(conv(x, w) * y) equals sum(x * conv_transpose(y, w)).

    Parameters
    ----------
    x : array_like, shape (..., O, *counts)
    w : array_like, shape (O, C / groups, *sizes)
        The kernel of the convolution this is the transpose of.
    stride, dilation : int or one an axis
    padding : int, one or a pair an axis
        Of that convolution: so much is cut off the result.
    groups : int
    output_padding : int or one an axis
        Further elements after the last; several extents have the same count if stride > 1.

    Returns
    -------
    Array, shape (..., C, *extents)
        extents = (count - 1) stride + dilation (size - 1) + 1 + output_padding - padding.
    """
    kernel, n = _kernel_of(w, None)
    images, lead = _batched(as_array(x), n)
    strides, dilations = one_each(stride, n, "stride"), one_each(dilation, n, "dilation")
    extra = one_each(output_padding, n, "output_padding", 0)
    if [0 for each, step in zip(extra, strides, strict=True) if each and each >= step]:
        raise ShapeError(f"output_padding={output_padding!r} is not below the stride {strides}.")
    counts, sizes = images.shape[images.ndim - n :], kernel.shape[kernel.ndim - n :]
    if isinstance(padding, str) and padding != "valid":
        raise ShapeError(f"padding={padding!r} does not tell the extents.", mend="Give numbers.")
    pads = pads_of(padding, counts, sizes, strides, dilations)
    whole = [
        normal((c - 1) * s + d * (k - 1) + 1 + e)
        for c, s, d, k, e in zip(counts, strides, dilations, sizes, extra, strict=True)
    ]
    params = {"strides": strides, "dilations": dilations, "groups": _groups_of(groups)}
    wide = apply(ADJOINT, images, kernel, extents=whole, **params)
    cut = [
        slice(before, normal(size - after))
        for size, (before, after) in zip(whole, pads, strict=True)
    ]
    return _unbatched(wide[(..., *cut)] if _any_pad(pads) else wide, lead)


def _any_pad(pads: Pads) -> bool:
    return [side for pad in pads for side in pad if side != 0] != []
