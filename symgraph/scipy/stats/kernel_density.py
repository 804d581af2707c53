"""Gaussian kernel density estimates of given data, at symbolic points."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from math import log, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import numpy as snp
from ...array import Array, ArrayLike
from ...errors import ShapeError, TraceError
from ...ir.dims import known_equal, show_shape
from ..names.mirrored import numbers_too
from .validity import common_float, lifted

if TYPE_CHECKING:
    import scipy.stats

__all__ = ["gaussian_kde"]


class gaussian_kde:
    r"""SciPy's estimate of a density, of given numbers, whose points may be symbolic.

    $f(x) = \sum_i w_i\, N(x;\, x_i, \Sigma)$ with the weights, and the covariance by Scott's rule
    or another, that SciPy computes of the data. What is not here, such as `resample`, is SciPy's.

    Parameters
    ----------
    dataset : array_like of numbers, (n,) or (d, n)
    bw_method : str, number or callable, optional
        The bandwidth, as in SciPy.
    weights : array_like of numbers, (n,), optional

    Raises
    ------
    TraceError
        If the data or the weights are symbolic.

    Examples
    --------
    >>> from symgraph.scipy import stats
    >>> density = stats.gaussian_kde([0.0, 1.0, 3.0])
    >>> float(sg.grad(lambda x: density.logpdf(x)[0])(1.0).round(6))
    -0.063176
    """

    def __init__(
        self,
        dataset: ArrayLike,
        bw_method: str | float | Callable[..., float] | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        if isinstance(dataset, Array) or isinstance(weights, Array):
            raise TraceError(
                "gaussian_kde: the data are symbolic.",
                mend="Symbolic points are taken, of data that are numbers. For symbolic data write "
                "snp.logsumexp(stats.norm.logpdf(x[:, None], data, width), axis=-1).",
            )
        scipy_stats = import_module("scipy.stats")  # It takes longer than all of symgraph.
        self._of_numbers = scipy_stats.gaussian_kde(dataset, bw_method, weights)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._of_numbers, name)

    def logpdf(self, x: ArrayLike) -> Any:
        """The logarithm of the density at points (d, m), or (m,) for d = 1: an array (m,)."""
        return _logpdf(x, self._of_numbers)

    def pdf(self, x: ArrayLike) -> Any:
        """The density at points (d, m), or (m,) for d = 1: an array (m,)."""
        return snp.exp(self.logpdf(x))

    evaluate = pdf
    __call__ = pdf


@numbers_too
def _logpdf(x: ArrayLike, kernel: scipy.stats.gaussian_kde) -> Any:
    dimensions = kernel.d
    dtype = common_float([x])
    points = snp.atleast_2d(lifted(x, dtype))
    if known_equal(points.shape[0], 1) and known_equal(points.shape[1], dimensions):
        points = points.T  # SciPy takes a vector of d elements for one point.
    if points.ndim != 2 or not known_equal(points.shape[0], dimensions):
        raise ShapeError(
            f"gaussian_kde: points {show_shape(points.shape)} for data of {dimensions} dimensions.",
            mend="Points have as many rows as the data, one column each.",
        )
    factor = np.linalg.cholesky(kernel.covariance)
    whitened = np.linalg.solve(factor, kernel.dataset).astype(dtype)
    rows = snp.solve_triangular(lifted(factor, dtype), points, lower=True)
    squares = snp.sum((rows[:, None, :] - whitened[:, :, None]) ** 2, axis=0)
    log_norm = 0.5 * dimensions * log(2 * pi) + float(np.sum(np.log(np.diag(factor))))
    with np.errstate(divide="ignore"):  # Observations without weight.
        weights = np.log(kernel.weights).astype(dtype)
    return snp.logsumexp(weights[:, None] - 0.5 * squares, axis=0) - log_norm
