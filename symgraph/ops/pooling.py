"""Pooling: the largest or the mean element of each window of the last axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..errors import ShapeError
from ..ir.dims import show_shape
from ..namespace.windows import span
from .composites import as_array, composite
from .creation import ones
from .window_sizes import one_each, pads_of
from .windows import MAX_OF_WINDOWS, padded, window_sum

__all__ = [
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
]


def _params(
    x: Array,
    window: int | Sequence[int],
    stride: object,
    padding: int | str | Sequence[int | tuple[int, int]],
    dilation: int | Sequence[int],
    n: int | None,
) -> dict[str, Any]:
    if n is None:
        n = len(window) if isinstance(window, (tuple, list)) else 0
        if not n:
            raise ShapeError(
                f"window={window!r} does not tell the number of axes.",
                mend="Give one size an axis, as in (2, 2), or use max_pool2d, avg_pool2d.",
            )
    if x.ndim < n:
        raise ShapeError(f"shape {show_shape(x.shape)} has no {n} axes to pool.")
    sizes = one_each(window, n, "window")
    strides = sizes if stride is None else one_each(stride, n, "stride")
    dilations = one_each(dilation, n, "dilation")
    pads = pads_of(padding, x.shape[x.ndim - n :], sizes, strides, dilations)
    return {"sizes": sizes, "strides": strides, "dilations": dilations, "pads": pads}


def _to_the_end(x: Array, params: dict[str, Any]) -> tuple[tuple[Any, Any], ...]:
    """The pads, extended at the end so that a last, incomplete window fits (`ceil_mode`).

    That window must begin in the array or in the padding before it.
    """
    found: list[tuple[Any, Any]] = []
    extents = x.shape[x.ndim - len(params["pads"]) :]
    rows = zip(
        extents,
        *[params[name] for name in ("sizes", "strides", "dilations", "pads")],
        strict=True,
    )
    for extent, size, stride, dilation, (before, after) in rows:
        reach = span(size, dilation)
        whole = [each for each in (extent, reach, before, after) if isinstance(each, int)]
        if stride == 1:
            found.append((before, after))
            continue
        if len(whole) < 4:
            raise ShapeError(
                f"ceil_mode with stride {stride} depends on the size of {extent}.",
                mend="Give the padding in numbers, or the dimension.",
            )
        padded_extent = extent + before + after
        last = -(-max(padded_extent - reach, 0) // stride) * stride
        if last >= extent + before:
            last -= stride
        found.append((before, after + max(last + reach - padded_extent, 0)))
    return tuple(found)


def _max(
    x: ArrayLike,
    window: int | Sequence[int],
    stride: object,
    padding: int | str | Sequence[int | tuple[int, int]],
    dilation: int | Sequence[int],
    ceil_mode: bool = False,
    n: int | None = None,
) -> Array:
    operand = as_array(x)
    params = _params(operand, window, stride, padding, dilation, n)
    if ceil_mode:
        params["pads"] = _to_the_end(operand, params)
    return apply(MAX_OF_WINDOWS, operand, **params)


def _avg(
    x: ArrayLike,
    window: int | Sequence[int],
    stride: object,
    padding: int | str | Sequence[int | tuple[int, int]],
    dilation: int | Sequence[int],
    count_include_pad: bool,
    ceil_mode: bool = False,
    n: int | None = None,
) -> Array:
    operand = as_array(x)
    params = _params(operand, window, stride, padding, dilation, n)
    asked = params["pads"]
    pads = _to_the_end(operand, params) if ceil_mode else asked
    del params["pads"]
    totals = window_sum(_as_float(padded(operand, pads)), **params)
    # The places that ceil_mode adds at the end are no padding: they are never counted.
    within = asked if count_include_pad else ((0, 0),) * len(pads)
    beyond = tuple(
        [(all_[0] - own[0], all_[1] - own[1]) for all_, own in zip(pads, within, strict=True)]
    )
    if not [side for pad in beyond for side in pad if side != 0]:
        number = 1
        for size in params["sizes"]:
            number *= size
        return totals / number
    extents = operand.shape[operand.ndim - len(pads) :]
    counted = [
        extent + before + after for extent, (before, after) in zip(extents, within, strict=True)
    ]
    here = ones(tuple(counted), totals.dtype)
    return totals / window_sum(padded(here, beyond), **params)


def _as_float(x: Array) -> Array:
    return x if x.dtype.kind == "f" else FUNCTIONS["astype"](x, "float64")


@composite()
def max_pool(
    x: ArrayLike,
    window: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | str | Sequence[int | tuple[int, int]] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Array:
    """The largest element of each window of the last axes.

    Ties split the gradient equally, as in `max`. Padding counts as minus infinity and never takes
    part in a tie. A window with a NaN gives NaN.

    Parameters
    ----------
    x : array_like, shape (..., *extents)
    window : sequence of int
        One size an axis; `max_pool1d`, `max_pool2d` and `max_pool3d` take one number as well.
    stride : int or one an axis, optional
        The window's size by default: windows that do not overlap.
    padding : int, one or a pair an axis, "same" or "valid"
    dilation : int or one an axis
    ceil_mode : bool
        Whether a last window that the array does not fill counts as well; what it lacks is neither
        an element nor padding.

    Raises
    ------
    ShapeError
        If a window does not fit, or could lie in the padding altogether.

    Examples
    --------
    >>> snp.max_pool2d(sg.input("x", ("n", 3, 8, 8)), 2).shape
    (n, 3, 4, 4)
    """
    return _max(x, window, stride, padding, dilation, ceil_mode)


@composite()
def avg_pool(
    x: ArrayLike,
    window: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | str | Sequence[int | tuple[int, int]] = 0,
    dilation: int | Sequence[int] = 1,
    count_include_pad: bool = True,
    ceil_mode: bool = False,
) -> Array:
    """The mean of each window of the last axes; parameters as in `max_pool`.

    The zeros of the padding count as elements unless `count_include_pad` is False.
    """
    return _avg(x, window, stride, padding, dilation, count_include_pad, ceil_mode)


def _max_of(n: int) -> Any:
    def call(
        x: ArrayLike,
        window: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | str | Sequence[int | tuple[int, int]] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
    ) -> Array:
        return _max(x, window, stride, padding, dilation, ceil_mode, n)

    return _named(call, "max_pool", n)


def _avg_of(n: int) -> Any:
    def call(
        x: ArrayLike,
        window: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | str | Sequence[int | tuple[int, int]] = 0,
        dilation: int | Sequence[int] = 1,
        count_include_pad: bool = True,
        ceil_mode: bool = False,
    ) -> Array:
        return _avg(x, window, stride, padding, dilation, count_include_pad, ceil_mode, n)

    return _named(call, "avg_pool", n)


def _named(call: Callable[..., Any], name: str, n: int) -> Any:
    call.__name__ = call.__qualname__ = f"{name}{n}d"
    call.__doc__ = f"`{name}` along the last {n} ax{'i' if n == 1 else 'e'}s."
    return composite()(call)


max_pool1d, max_pool2d, max_pool3d = (_max_of(n) for n in (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = (_avg_of(n) for n in (1, 2, 3))
