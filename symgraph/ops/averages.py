"""Weighted averages, covariance and correlation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, Array, ArrayLike
from ..errors import ShapeError
from ..ir.avals import AxisLike, normal_axes
from ..ir.dims import same_shape, show_shape
from .composites import as_array, composite, given
from .creation import dimension
from .diagonals import diagonal
from .joining import atleast_2d, concatenate
from .matmul import matmul
from .movement import broadcast_to, expand_dims, reshape, squeeze, transpose
from .reduction import reduced_count
from .statistics import mean
from .totals import sum

__all__ = ["average", "corrcoef", "cov"]


@composite(np.average)
def average(
    a: ArrayLike,
    axis: AxisLike = None,
    weights: ArrayLike | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    r"""The average $\sum_i w_i x_i / \sum_i w_i$ over `axis`, and $\sum_i w_i$ if `returned`.

    The weights have the shape of the array, or of the averaged axes. Where they sum to zero,
    the result is NaN or infinite. NumPy raises an error there, but a graph cannot.
    """
    a = as_array(a)
    kept = given(keepdims) and bool(keepdims)
    if weights is None:
        found = mean(a, axis, keepdims=kept)
        size = dimension(reduced_count(a.shape, normal_axes(axis, a.ndim)), found.dtype)
    else:
        weights = as_array(weights)
        exact = a.dtype.kind != "f"
        dtype = np.result_type(a.dtype, weights.dtype, *(["float64"] if exact else []))
        weights = _spread(weights, a, axis)
        size = sum(weights, axis=axis, dtype=dtype, keepdims=kept)
        products = FUNCTIONS["astype"](a, dtype) * FUNCTIONS["astype"](weights, dtype)
        found = sum(products, axis=axis, keepdims=kept) / size
    return (found, broadcast_to(size, found.shape)) if returned else found


def _spread(weights: Array, a: Array, axis: AxisLike) -> Array:
    """Weights in the shape of the array."""
    if same_shape(weights.shape, a.shape):
        return weights
    if axis is None:
        raise ShapeError(
            f"average: weights {show_shape(weights.shape)} do not fit {show_shape(a.shape)}.",
            mend="Name the axis that they belong to: axis=0.",
        )
    given_axes = list(axis) if isinstance(axis, Sequence) else [axis]
    axes = [each if each < 0 else each - a.ndim for each in given_axes]
    normal_axes(given_axes, a.ndim)
    wanted = tuple([a.shape[each] for each in axes])
    if not same_shape(weights.shape, wanted):
        raise ShapeError(
            f"average: weights {show_shape(weights.shape)} do not fit {show_shape(wanted)}."
        )
    order = sorted(range(len(axes)), key=lambda each: axes[each])
    turned = transpose(weights, tuple(order))
    shape = [dim if i in axes else 1 for i, dim in enumerate(a.shape, -a.ndim)]
    return broadcast_to(reshape(turned, tuple(shape)), a.shape)


@composite(np.cov, array=True)
def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    r"""The covariances $\frac1{n - d} \sum_k (x_{ik} - \bar x_i)(x_{jk} - \bar x_j)$ of variables.

    Parameters
    ----------
    m, y : array_like
        Observations; each row is a variable, or each column if not `rowvar`.
    bias, ddof : bool, int, optional
        $d$ is `ddof`, by default 0 if `bias` and 1 else.
    fweights, aweights : array_like, optional
        How often an observation counts, and how much.
    dtype : dtype, optional
    """
    x = _variables(m, rowvar)
    if y is not None:
        x = concatenate([x, _variables(y, rowvar)], axis=0)
    kind = np.dtype(dtype) if dtype is not None else np.result_type(x.dtype, "float64")
    x = FUNCTIONS["astype"](x, kind)
    ddof = int(not bias) if ddof is None else ddof
    aweights = None if aweights is None else as_array(aweights)
    weights = _together(fweights, aweights, x)
    centre, total = average(x, axis=1, weights=weights, returned=True)
    if weights is None:
        rest: Any = dimension(x.shape[1], kind) - ddof
    else:
        total = total[0]
        lost = ddof if aweights is None else ddof * sum(weights * aweights) / total
        rest = total - lost if ddof else total
    centred = x - expand_dims(centre, -1)
    other = centred if weights is None else centred * weights
    return squeeze(matmul(centred, transpose(other)) / FUNCTIONS["maximum"](rest, 0))


def _variables(m: ArrayLike, rowvar: bool) -> Array:
    m = as_array(m)
    if m.ndim > 2:
        raise ShapeError(f"cov: a vector or a matrix is needed, not shape {show_shape(m.shape)}.")
    return transpose(m) if not rowvar and m.ndim == 2 else atleast_2d(m)


def _together(fweights: object, aweights: object, x: Array) -> Any:
    for each in (fweights, aweights):
        if each is not None and not same_shape(as_array(each).shape, x.shape[1:]):
            raise ShapeError(
                f"cov: weights {show_shape(as_array(each).shape)} for {x.shape[1]} observations."
            )
    given = [as_array(each) for each in (fweights, aweights) if each is not None]
    return None if not given else given[0] if len(given) == 1 else given[0] * given[1]


@composite(np.corrcoef)
def corrcoef(
    x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, *, dtype: DTypeLike | None = None
) -> Array:
    r"""The correlations $c_{ij} / \sqrt{c_{ii} c_{jj}}$ of the covariances of variables."""
    found = cov(x, y, rowvar, dtype=dtype)
    if not found.ndim:
        return found / found
    spread = FUNCTIONS["sqrt"](diagonal(found))
    scaled = found / expand_dims(spread, -1) / spread
    # Rounding alone goes beyond 1, so the slope is that of the quotient, at 1 and -1 as well.
    beyond = FUNCTIONS["clip"](scaled, -1, 1) - scaled
    return scaled + FUNCTIONS["stop_gradient"](beyond)
