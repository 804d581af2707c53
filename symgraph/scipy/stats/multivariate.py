"""Distributions of vectors: multivariate normal, Student's, Dirichlet's and multinomial."""

from __future__ import annotations

from functools import partial
from math import inf, log, pi
from typing import Any

import numpy as np

from ... import numpy as snp
from ...array import Array, ArrayLike
from ...errors import ShapeError, TraceError
from ...ir.dims import Dim, known_equal, show_shape
from ..names.mirrored import mirrored
from .distribution import Frozen, refused_method
from .validity import common_float, lifted, positive

__all__ = ["dirichlet", "multinomial", "multivariate_normal", "multivariate_t"]


class _Vectors:
    """Shared by distributions of vectors: freezing, and errors for missing methods."""

    methods: tuple[str, ...] = ("logpdf", "pdf")
    name: str = ""

    def __call__(self, *args: object, **keywords: object) -> Frozen:
        return Frozen(self, args, keywords)

    def __repr__(self) -> str:
        return f"<symgraph.scipy.stats.{self.name}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise refused_method(self.name, name, self.methods)


def _log_normal(x: object, mean: object, cov: ArrayLike, allow_singular: bool) -> Array:
    _refuse_singular(allow_singular, "multivariate_normal")
    dtype = common_float([x, 0 if mean is None else mean, cov])
    center = None if mean is None else snp.atleast_1d(lifted(mean, dtype))
    squares, factor, size = _whitened(
        "multivariate_normal", lifted(x, dtype), center, lifted(cov, dtype)
    )
    return -0.5 * (squares + size * log(2 * pi)) - _log_volume(factor)


def _log_t(
    x: object, loc: object, shape: ArrayLike, df: ArrayLike, allow_singular: bool = False
) -> Array:
    _refuse_singular(allow_singular, "multivariate_t")
    if isinstance(df, float) and df == inf:
        return _log_normal(x, loc, shape, allow_singular)
    dtype = common_float([x, 0 if loc is None else loc, shape, df])
    center = None if loc is None else snp.atleast_1d(lifted(loc, dtype))
    squares, factor, size = _whitened(
        "multivariate_t", lifted(x, dtype), center, lifted(shape, dtype)
    )
    freedom = positive(lifted(df, dtype), df)
    half = lifted(0.5, dtype) * size
    # Of gammaln((df + size) / 2) - gammaln(df / 2) a large df would leave no digits.
    norm = snp.gammaln(half) - snp.betaln(half, 0.5 * freedom) - half * snp.log(pi * freedom)
    return norm - _log_volume(factor) - (0.5 * freedom + half) * snp.log1p(squares / freedom)


def _refuse_singular(allow_singular: bool, name: str) -> None:
    if allow_singular:
        raise TraceError(
            f"{name}: allow_singular=True has no derivative here.",
            mend="Give a covariance that is positive definite.",
        )


def _whitened(name: str, x: Array, center: Array | None, matrix: Array) -> tuple[Array, Array, Dim]:
    """The squared lengths of $L^{-1} (x - c)$, Cholesky's factor L of the matrix, and its size."""
    size: Any = (
        matrix.shape[-1]
        if matrix.ndim
        else center.shape[-1]
        if center is not None and not known_equal(center.shape[-1], 1)
        else 1
    )
    if matrix.ndim < 2:
        matrix = snp.diag(snp.broadcast_to(matrix, (size,)))
    if matrix.ndim != 2 or not known_equal(matrix.shape[0], matrix.shape[1]):
        raise ShapeError(f"{name}: a covariance of shape {show_shape(matrix.shape)}.")
    if not x.ndim or (known_equal(size, 1) and x.ndim == 1):
        x = x[..., None]
    if not known_equal(x.shape[-1], size):
        raise ShapeError(
            f"{name}: vectors of {x.shape[-1]} elements do not fit a covariance of {size} rows.",
            mend="The last axis of x is that of the vectors.",
        )
    factor = snp.cholesky(matrix)
    return _squares(x if center is None else x - center, factor, size), factor, size


def _squares(deviation: Array, factor: Array, size: Dim) -> Array:
    if deviation.ndim == 1:
        whitened = snp.sum(snp.solve_triangular(factor, deviation, lower=True) ** 2)
    else:
        columns = snp.reshape(deviation, (-1, size)).T
        squares = snp.sum(snp.solve_triangular(factor, columns, lower=True) ** 2, axis=0)
        whitened = snp.reshape(squares, deviation.shape[:-1])
    # SciPy leaves out axes of length one.
    return snp.squeeze(whitened, axis=tuple([k for k, n in enumerate(whitened.shape) if n == 1]))


def _log_volume(factor: Array) -> Array:
    return snp.sum(snp.log(snp.diagonal(factor)))


class _MultivariateNormal(_Vectors):
    """The normal distribution of vectors, by the Cholesky factor of its covariance.

    `logpdf(x, mean=None, cov=1)` and `pdf`, as in SciPy: the last axis of x holds the vectors.
    A covariance that is a number or a vector stands for a diagonal. The lower triangle of a matrix
    is read, and its gradient is symmetric. A matrix that is not positive definite raises
    `numpy.linalg.LinAlgError` when the graph runs on NumPy.
    """

    name = "multivariate_normal"

    @partial(mirrored, name="scipy.stats.multivariate_normal.logpdf")
    def logpdf(
        self,
        x: ArrayLike,
        mean: ArrayLike | None = None,
        cov: ArrayLike = 1,
        allow_singular: bool = False,
    ) -> Any:
        """The logarithm of the density."""
        return _log_normal(x, mean, cov, allow_singular)

    @partial(mirrored, name="scipy.stats.multivariate_normal.pdf")
    def pdf(
        self,
        x: ArrayLike,
        mean: ArrayLike | None = None,
        cov: ArrayLike = 1,
        allow_singular: bool = False,
    ) -> Any:
        """The density."""
        return snp.exp(_log_normal(x, mean, cov, allow_singular))


class _MultivariateT(_Vectors):
    """Student's distribution of vectors, by the Cholesky factor of its shape matrix.

    `logpdf(x, loc=None, shape=1, df=1)` and `pdf`, as in SciPy; x and the shape matrix are as those
    of `multivariate_normal`. A `df` that is not positive gives NaN, where SciPy raises an error.
    """

    name = "multivariate_t"

    @partial(mirrored, name="scipy.stats.multivariate_t.logpdf")
    def logpdf(
        self,
        x: ArrayLike,
        loc: ArrayLike | None = None,
        shape: ArrayLike = 1,
        df: ArrayLike = 1,
    ) -> Any:
        """The logarithm of the density."""
        return _log_t(x, loc, shape, df)

    @partial(mirrored, name="scipy.stats.multivariate_t.pdf")
    def pdf(
        self,
        x: ArrayLike,
        loc: ArrayLike | None = None,
        shape: ArrayLike = 1,
        df: ArrayLike = 1,
        allow_singular: bool = False,
    ) -> Any:
        """The density."""
        return snp.exp(_log_t(x, loc, shape, df, allow_singular))


def _dirichlet(x: ArrayLike, alpha: ArrayLike, *, logarithm: bool) -> Array:
    dtype = common_float([x, alpha])
    parts, weights = lifted(x, dtype), positive(lifted(alpha, dtype), alpha)
    if weights.ndim != 1 or parts.ndim < 1:
        raise ShapeError("dirichlet: alpha is a vector, and x has one row for each element.")
    if not known_equal(parts.shape[0], weights.shape[0]):
        parts: Array = snp.concatenate([parts, 1 - snp.sum(parts, axis=0, keepdims=True)], axis=0)
    if not known_equal(parts.shape[0], weights.shape[0]):
        raise ShapeError(
            f"dirichlet: {parts.shape[0] - 1} rows do not fit {weights.shape[0]} parameters.",
            mend="x has as many rows as alpha, or one less.",
        )
    columns = snp.reshape(weights, (weights.shape[0], *[1] * (parts.ndim - 1)))
    log_norm = snp.sum(snp.gammaln(weights)) - snp.gammaln(snp.sum(weights))
    slack = 1e-9 if dtype == np.float64 else 1e-5
    off = snp.logical_or(snp.any(parts < 0, axis=0), snp.abs(snp.sum(parts, axis=0) - 1) > slack)
    safe = snp.where(off, 1.0, parts)
    if logarithm:
        value = snp.sum(snp.xlogy(columns - 1, safe), axis=0) - log_norm
    else:
        value = _product_of_powers(safe, columns - 1, log_norm, axis=0)
    return snp.where(off, np.nan, value)


def _product_of_powers(parts: Array, powers: Array, log_norm: Array, *, axis: int) -> Array:
    """The product along an axis over exp(log_norm), by logarithms where parts are not 0.

    The product of those that are 0 has the slopes that 0 times infinity has not.
    """
    # The power 0 ** 0 falls without bound in its exponent, as its logarithm says.
    none = snp.logical_and(parts == 0, powers != 0)
    logs = snp.where(none, 0.0, snp.xlogy(powers, snp.where(none, 1.0, parts)))
    rest = snp.where(none, parts, 1.0) ** snp.where(none, powers, 1.0)
    return snp.exp(snp.sum(logs, axis=axis) - log_norm) * snp.prod(rest, axis=axis)


class _Dirichlet(_Vectors):
    """Dirichlet's distribution on the simplex.

    `logpdf(x, alpha)` and `pdf`, as in SciPy: the first axis of x holds the parts; the last part
    may be left out. A point off the simplex gives NaN, where SciPy raises an error.
    """

    name = "dirichlet"

    @partial(mirrored, name="scipy.stats.dirichlet.logpdf")
    def logpdf(self, x: ArrayLike, alpha: ArrayLike) -> Any:
        """The logarithm of the density."""
        return _dirichlet(x, alpha, logarithm=True)

    @partial(mirrored, name="scipy.stats.dirichlet.pdf")
    def pdf(self, x: ArrayLike, alpha: ArrayLike) -> Any:
        """The density."""
        return _dirichlet(x, alpha, logarithm=False)


def _multinomial(x: ArrayLike, n: ArrayLike, p: ArrayLike, *, logarithm: bool) -> Array:
    dtype = common_float([x, n, p])
    counts, trials, parts = (lifted(each, dtype) for each in (x, n, p))
    if not counts.ndim or not parts.ndim or not known_equal(counts.shape[-1], parts.shape[-1]):
        raise ShapeError(
            f"multinomial: counts {show_shape(counts.shape)} do not fit probabilities "
            f"{show_shape(parts.shape)}.",
            mend="The last axis of x and of p is that of the outcomes.",
        )
    slack = 1e-9 if dtype == np.float64 else 1e-5
    off = snp.logical_or(
        snp.any(snp.logical_or(parts < 0, parts > 1), axis=-1),
        snp.logical_or(trials < 0, snp.abs(snp.sum(parts, axis=-1) - 1) > slack),
    )
    # `floor(x) != x` would hold for NaN.
    broken = snp.logical_or(snp.floor(counts) < counts, counts < 0)
    total = snp.sum(counts, axis=-1)
    outside = snp.logical_or(
        snp.any(broken, axis=-1), snp.logical_or(total < trials, total > trials)
    )
    safe = snp.where(snp.logical_or(off, outside)[..., None], 1.0, parts)
    held = snp.where(broken, 1.0, counts)
    log_ways = snp.gammaln(snp.where(trials < 0, 1.0, trials) + 1) - snp.sum(
        snp.gammaln(held + 1), axis=-1
    )
    if logarithm:
        value = snp.sum(snp.xlogy(held, safe), axis=-1) + log_ways
    else:
        parts, powers = snp.broadcast_arrays(safe, held)
        value = _product_of_powers(parts, powers, -log_ways, axis=-1)
    return snp.where(off, np.nan, snp.where(outside, -np.inf if logarithm else 0.0, value))


class _Multinomial(_Vectors):
    """The counts of outcomes in n trials.

    `logpmf(x, n, p)` and `pmf`, as in SciPy: the last axis of x and p is that of the outcomes.
    Counts that are not whole, or do not add up to n, have the probability 0. Probabilities that do
    not add up to 1 give NaN, as in SciPy from 1.18 on; before, the last one is adjusted.
    """

    name = "multinomial"
    methods = ("logpmf", "pmf")

    @partial(mirrored, name="scipy.stats.multinomial.logpmf")
    def logpmf(self, x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Any:
        """The logarithm of the probability of the counts."""
        return _multinomial(x, n, p, logarithm=True)

    @partial(mirrored, name="scipy.stats.multinomial.pmf")
    def pmf(self, x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Any:
        """The probability of the counts."""
        return _multinomial(x, n, p, logarithm=False)


multivariate_normal = _MultivariateNormal()
multivariate_t = _MultivariateT()
multinomial = _Multinomial()
dirichlet = _Dirichlet()
