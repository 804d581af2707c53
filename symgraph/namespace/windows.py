"""Windows of arrays in an array namespace: sliding views, their transpose, and convolution.

Convolution is one matrix product over the windows laid out as columns ("im2col", Chellapilla, Puri
and Simard 2006), so that BLAS does the work; its transpose adds the columns back where the windows
overlap. Loops run over the places of a window, never over those of an array.

Functions take the array namespace first and call NumPy's names only. `axes` counts are those of the
trailing axes; a window has one size, stride and dilation for each of them.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from itertools import product
from math import prod
from typing import Any

__all__ = [
    "adjoint_convolution",
    "convolution",
    "counts_of",
    "kernel_convolution",
    "largest_of_windows",
    "overlap_add",
    "overlaps_added",
    "source",
    "span",
    "stacked_windows",
    "sum_of_windows",
    "taps",
    "windows",
]

Sizes = tuple[int, ...]


def span(size: Any, dilation: int) -> Any:
    """How far a window of `size` places reaches."""
    return dilation * (size - 1) + 1


def taps(
    sizes: Sizes, counts: Sizes, strides: Sizes, dilations: Sizes
) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
    """Each place of a window, with the index of the elements that the windows have there."""
    for tap in product(*[range(size) for size in sizes]):
        starts = [place * dilation for place, dilation in zip(tap, dilations, strict=True)]
        ends = [
            start + (count - 1) * stride + 1 if count else start
            for start, count, stride in zip(starts, counts, strides, strict=True)
        ]
        yield tap, (..., *[slice(*each) for each in zip(starts, ends, strides, strict=True)])


def windows(xp: Any, x: Any, sizes: Sizes, strides: Sizes, dilations: Sizes) -> Any:
    """The view (..., counts, sizes) of an array (..., extents); it must not be written to."""
    n = len(sizes)
    axes = tuple(range(-n, 0))
    spans = tuple(span(size, step) for size, step in zip(sizes, dilations, strict=True))
    view = xp.lib.stride_tricks.sliding_window_view(x, spans, axis=axes)
    return view[(..., *[slice(None, None, step) for step in (*strides, *dilations)])]


def overlap_add(xp: Any, y: Any, extents: Sizes, strides: Sizes, dilations: Sizes) -> Any:
    """The transpose of `windows`: (..., counts, sizes) added up to (..., extents)."""
    n = len(extents)
    lead, counts, sizes = y.shape[: -2 * n], y.shape[-2 * n : -n], y.shape[-n:]
    result = xp.zeros((*lead, *extents), y.dtype)
    for tap, index in taps(sizes, counts, strides, dilations):
        result[index] += y[(..., *tap)]
    return result


def stacked_windows(xp: Any, x: Any, sizes: Sizes, strides: Sizes, dilations: Sizes) -> Any:
    """The same as `windows` without views: the elements at each place are stacked."""
    n = len(sizes)
    counts = counts_of(x.shape[-n:], sizes, strides, dilations)
    places = [x[index] for _, index in taps(sizes, counts, strides, dilations)]
    return xp.reshape(xp.stack(places, axis=-1), (*x.shape[:-n], *counts, *sizes))


def overlaps_added(xp: Any, y: Any, extents: Sizes, strides: Sizes, dilations: Sizes) -> Any:
    """The same as `overlap_add` where arrays cannot be written to."""
    n = len(extents)
    lead, counts, sizes = y.shape[: -2 * n], y.shape[-2 * n : -n], y.shape[-n:]
    result = xp.zeros((*lead, *extents), y.dtype)
    for tap, index in taps(sizes, counts, strides, dilations):
        result = xp.scatter_add(result, index, y[(..., *tap)])
    return result


def counts_of(extents: Sizes, sizes: Sizes, strides: Sizes, dilations: Sizes) -> Sizes:
    """How many windows fit each axis.

    Raises
    ------
    ValueError
        If none does.
    """
    rows = zip(extents, sizes, strides, dilations, strict=True)
    found = tuple([(extent - span(k, d)) // s + 1 for extent, k, s, d in rows])
    if min(found, default=1) < 1:
        raise ValueError(f"Windows of {sizes}, dilated by {dilations}, exceed {extents}.")
    return found


def sum_of_windows(xp: Any, x: Any, sizes: Sizes, strides: Sizes, dilations: Sizes) -> Any:
    """The sum of each window, (..., counts); without a copy of the windows."""
    return _folded(xp, xp.add, x, sizes, strides, dilations)


def largest_of_windows(xp: Any, x: Any, sizes: Sizes, strides: Sizes, dilations: Sizes) -> Any:
    """The largest element of each window, (..., counts); NaN if there is one."""
    return _folded(xp, xp.maximum, x, sizes, strides, dilations)


def _folded(xp: Any, combine: Any, x: Any, sizes: Sizes, strides: Sizes, dilations: Sizes) -> Any:
    counts = counts_of(x.shape[-len(sizes) :], sizes, strides, dilations)
    (_, first), *rest = taps(sizes, counts, strides, dilations)
    result = xp.array(x[first])
    for _, index in rest:
        result = combine(result, x[index])
    return result


# -- convolution -----------------------------------------------------------------------------------
def _columns(
    xp: Any, x: Any, sizes: Sizes, strides: Sizes, dilations: Sizes, groups: int
) -> tuple[Any, Sizes]:
    """A view (..., N, g, C/g, sizes, counts) of (..., N, C, extents), and the counts."""
    n = len(sizes)
    view = xp.windows(x, sizes, strides, dilations)
    counts = view.shape[-2 * n : -n]
    lead = tuple(range(view.ndim - 2 * n))
    order = (*lead, *range(view.ndim - n, view.ndim), *range(view.ndim - 2 * n, view.ndim - n))
    channels = view.shape[-2 * n - 1]
    split = (*view.shape[: -2 * n - 1], groups, channels // groups, *sizes, *counts)
    return xp.reshape(xp.transpose(view, order), split), counts


def convolution(xp: Any, x: Any, w: Any, strides: Sizes, dilations: Sizes, groups: int) -> Any:
    """From x (..., N, C, extents) and w (..., O, C/g, sizes) to (..., N, O, counts)."""
    n = len(strides)
    sizes = w.shape[-n:]
    columns, counts = _columns(xp, x, sizes, strides, dilations, groups)
    outer, inner = w.shape[-n - 2] // groups, w.shape[-n - 1] * prod(sizes)
    columns = xp.reshape(columns, (*columns.shape[: -2 * n - 1], inner, prod(counts)))
    matrices = xp.reshape(w, (*w.shape[: -n - 2], 1, groups, outer, inner))
    found = xp.matmul(matrices, columns)
    return xp.reshape(found, (*found.shape[:-3], groups * outer, *counts))


def adjoint_convolution(
    xp: Any, y: Any, w: Any, extents: Sizes, strides: Sizes, dilations: Sizes, groups: int
) -> Any:
    """The transpose of `convolution` in x: y (..., N, O, counts) as (..., N, C, extents)."""
    n = len(strides)
    sizes, counts = w.shape[-n:], y.shape[-n:]
    outer, inner = w.shape[-n - 2] // groups, w.shape[-n - 1] * prod(sizes)
    matrices = xp.reshape(w, (*w.shape[: -n - 2], 1, groups, outer, inner))
    rows = xp.reshape(y, (*y.shape[: -n - 1], groups, outer, prod(counts)))
    found = xp.matmul(xp.swapaxes(matrices, -1, -2), rows)
    shape = (*found.shape[:-3], groups * w.shape[-n - 1], *sizes, *counts)
    columns = xp.reshape(found, shape)
    first = columns.ndim - 2 * n
    order = (*range(first), *range(first + n, columns.ndim), *range(first, first + n))
    return xp.overlap_add(xp.transpose(columns, order), extents, strides, dilations)


def kernel_convolution(
    xp: Any, x: Any, y: Any, sizes: Sizes, strides: Sizes, dilations: Sizes, groups: int
) -> Any:
    """The transpose of `convolution` in w, summed over N: (..., O, C/g, sizes)."""
    n = len(strides)
    columns, counts = _columns(xp, x, sizes, strides, dilations, groups)
    columns = xp.moveaxis(columns, -2 * n - 3, -n - 1)  # N in front of the counts
    shape = columns.shape[: -2 * n - 2]
    inner, depth = columns.shape[-2 * n - 2], columns.shape[-n - 1] * prod(counts)
    columns = xp.reshape(columns, (*shape, inner * prod(sizes), depth))
    outer = y.shape[-n - 1] // groups
    rows = xp.reshape(y, (*y.shape[: -n - 1], groups, outer, *counts))
    rows = xp.moveaxis(rows, -n - 3, -n - 1)
    rows = xp.reshape(rows, (*rows.shape[: -n - 2], outer, depth))
    found = xp.matmul(rows, xp.swapaxes(columns, -1, -2))
    return xp.reshape(found, (*found.shape[:-3], groups * outer, inner, *sizes))


# -- as source -------------------------------------------------------------------------------------
@cache
def source() -> str:
    """The functions of this module as source for any namespace, with `scatter_add` beside it."""
    tree = ast.parse(inspect.getsource(sys.modules[__name__]))
    functions = [
        each
        for each in tree.body
        if isinstance(each, ast.FunctionDef)
        and each.name not in ("source", "windows", "overlap_add")
    ]
    for function in functions:
        function.body = function.body[1 if ast.get_docstring(function) else 0 :]
        function.returns = None
        for argument in function.args.args:
            argument.annotation = None
    text = "\n\n\n".join(ast.unparse(each) for each in functions)
    for portable, method in (("stacked_windows", "windows"), ("overlaps_added", "overlap_add")):
        text = text.replace(f"def {portable}(", f"def {method}(")
    for method in ("windows", "overlap_add", "scatter_add"):
        text = text.replace(f"xp.{method}(", f"{method}(xp, ")  # of a namespace elsewhere
    return f"from itertools import product\nfrom math import prod\n\n\n{text}\n\n"
