"""Sizes of sliding windows: strides, dilations and padding, and how many windows fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ShapeError
from ..ir.dims import Dim, Shape, normal
from ..namespace.windows import span
from ..pytrees import listed

__all__ = ["Pads", "Sizes", "counted", "one_each", "pads_of"]

Sizes = tuple[int, ...]
Pads = tuple[tuple[Dim, Dim], ...]


def one_each(value: object, n: int, what: str, least: int = 1) -> Sizes:
    """`value` as one int an axis.

    Raises
    ------
    ShapeError
        If there are not `n`, or one is below `least`.
    """
    entries = listed(value) * (n if len(listed(value)) == 1 else 1)
    if len(entries) != n or [
        each for each in entries if isinstance(each, bool) or not hasattr(each, "__index__")
    ]:
        raise ShapeError(
            f"{what}={value!r} is not an integer, nor {n} of them.",
            mend=f"Give one number for all {n} spatial axes, or one for each.",
        )
    numbers = tuple([int(each.__index__()) for each in entries])
    if min(numbers) < least:
        raise ShapeError(f"{what}={value!r}: at least {least} is needed.")
    return numbers


def pads_of(
    padding: int | str | Sequence[int | tuple[int, int]],
    extents: Shape,
    sizes: Shape,
    strides: Sizes,
    dilations: Sizes,
) -> Pads:
    """The number of elements added before and after each of the last axes.

    `padding` is a number for all axes, one for each, pairs (before, after), "valid" for none, or
    "same" for as many as give ceil(extent / stride) windows, the odd one after.

    Raises
    ------
    ShapeError
        If it is none of these, or "same" is asked of a named extent with a stride.
    """
    n = len(extents)
    if padding == "valid":
        return ((0, 0),) * n
    if padding == "same":
        rows = zip(extents, sizes, strides, dilations, strict=True)
        return tuple([_same_pad(*row) for row in rows])
    if isinstance(padding, str):
        raise ShapeError(
            f"padding={padding!r} is not known.", mend='Use numbers, pairs, "same" or "valid".'
        )
    entries = listed(padding)
    if len(entries) == n and [each for each in entries if isinstance(each, (tuple, list))]:
        pairs = [one_each(each, 2, "padding", 0) for each in entries]
        return tuple([(pair[0], pair[1]) for pair in pairs])
    return tuple([(each, each) for each in one_each(padding, n, "padding", 0)])


def _same_pad(extent: Dim, size: Dim, stride: int, dilation: int) -> tuple[Dim, Dim]:
    reach = span(size, dilation)
    if stride == 1 and isinstance(reach, int):
        total_pad = reach - 1
    elif isinstance(extent, int) and isinstance(reach, int):
        total_pad = max((-(-extent // stride) - 1) * stride + reach - extent, 0)
    else:
        raise ShapeError(
            f'padding="same" with stride {stride} depends on the size of {extent}.',
            mend="Give the padding in numbers.",
        )
    return total_pad // 2, total_pad - total_pad // 2


def counted(extents: Shape, sizes: Shape, strides: Sizes, dilations: Sizes) -> Shape:
    """The number of windows that fit each axis.

    Raises
    ------
    ShapeError
        If no window fits.
    """
    found: list[Dim] = []
    for extent, size, stride, dilation in zip(extents, sizes, strides, dilations, strict=True):
        room: Any = normal(extent - span(size, dilation))
        if isinstance(room, int):
            if room < 0:
                raise ShapeError(
                    f"a window that reaches over {span(size, dilation)} elements "
                    f"does not fit into {extent}.",
                    mend="Pad the array, or make the window smaller.",
                )
            found.append(room // stride + 1)
        elif stride == 1:
            found.append(normal(room + 1))
        else:
            from sympy import floor  # only where a dimension is named

            found.append(normal(floor(room / stride) + 1))
    return tuple(found)
