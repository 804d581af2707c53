"""Pooling: the largest or the mean element of each window of the last axes."""

from __future__ import annotations

from typing import Any

from ..array import FUNCTIONS, Array, apply
from ..dims import show_shape
from ..errors import ShapeError
from .composites import as_array, composite
from .creation import ones
from .windows import MAX_OF_WINDOWS, one_each, padded, pads_of, window_sum

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
    x: Array, window: Any, stride: Any, padding: Any, dilation: Any, n: int | None
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


def _max(
    x: Any, window: Any, stride: Any, padding: Any, dilation: Any, n: int | None = None
) -> Array:
    operand = as_array(x)
    return apply(MAX_OF_WINDOWS, operand, **_params(operand, window, stride, padding, dilation, n))


def _avg(
    x: Any,
    window: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    count_include_pad: bool,
    n: int | None = None,
) -> Array:
    operand = as_array(x)
    params = _params(operand, window, stride, padding, dilation, n)
    pads = params.pop("pads")
    totals = window_sum(_as_float(padded(operand, pads)), **params)
    if count_include_pad or not [side for pad in pads for side in pad if side != 0]:
        number = 1
        for size in params["sizes"]:
            number *= size
        return totals / number
    here = ones(operand.shape[operand.ndim - len(pads) :], totals.dtype)
    return totals / window_sum(padded(here, pads), **params)


def _as_float(x: Array) -> Array:
    return x if x.dtype.kind == "f" else FUNCTIONS["astype"](x, "float64")


@composite()
def max_pool(x: Any, window: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1) -> Array:
    """The largest element of each window of the last axes.

    Ties split the gradient equally, as in `max`; padding counts as minus infinity and never takes
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

    Raises
    ------
    ShapeError
        If a window does not fit, or could lie in the padding altogether.

    Examples
    --------
    >>> snp.max_pool2d(sg.input("x", ("n", 3, 8, 8)), 2).shape
    (n, 3, 4, 4)
    """
    return _max(x, window, stride, padding, dilation)


@composite()
def avg_pool(
    x: Any,
    window: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    count_include_pad: bool = True,
) -> Array:
    """The mean of each window of the last axes; parameters as in `max_pool`.

    Zeros of the padding are counted as elements unless `count_include_pad` is False.
    """
    return _avg(x, window, stride, padding, dilation, count_include_pad)


def _max_of(n: int) -> Any:
    def call(x: Any, window: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1) -> Array:
        return _max(x, window, stride, padding, dilation, n)

    return _named(call, "max_pool", n)


def _avg_of(n: int) -> Any:
    def call(
        x: Any,
        window: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        count_include_pad: bool = True,
    ) -> Array:
        return _avg(x, window, stride, padding, dilation, count_include_pad, n)

    return _named(call, "avg_pool", n)


def _named(call: Any, name: str, n: int) -> Any:
    call.__name__ = call.__qualname__ = f"{name}{n}d"
    call.__doc__ = f"`{name}` along the last {n} ax{'i' if n == 1 else 'e'}s."
    return composite()(call)


max_pool1d, max_pool2d, max_pool3d = (_max_of(n) for n in (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = (_avg_of(n) for n in (1, 2, 3))
