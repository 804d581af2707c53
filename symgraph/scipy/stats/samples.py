"""Statistics of a sample: moments, standard scores and means."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ... import numpy as snp
from ...array import Array, ArrayLike
from ...ir.dims import Dim
from .sample_arguments import Axis, count, sample, statistic

__all__ = [
    "gmean",
    "hmean",
    "kurtosis",
    "moment",
    "pmean",
    "sem",
    "skew",
    "variation",
    "zscore",
]


# -- moments ---------------------------------------------------------------------------------------
@statistic
def moment(
    a: ArrayLike,
    order: int = 1,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    *,
    center: ArrayLike | None = None,
    keepdims: bool = False,
) -> Array:
    r"""$\frac1n \sum_i (a_i - c)^k$ about the mean, or about a given center c.

    Raises
    ------
    InputError
        For another `nan_policy` than to propagate.
    """
    values = sample(a, nan_policy, "moment")
    if center is None and order == 1:
        return snp.mean(values - values, axis=axis, keepdims=keepdims)
    about = snp.mean(values, axis=axis, keepdims=True) if center is None else center
    return snp.mean((values - about) ** order, axis=axis, keepdims=keepdims)


@statistic
def skew(
    a: ArrayLike,
    axis: Axis = 0,
    bias: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    r"""$m_3 / m_2^{3/2}$ of the moments about the mean (Fisher and Pearson's skewness).

    Without bias it is multiplied by $\sqrt{n (n - 1)} / (n - 2)$, for n > 2. Of equal numbers it
    is NaN, also where their mean is rounded.

    Raises
    ------
    InputError
        For another `nan_policy` than to propagate.
    """
    values = sample(a, nan_policy, "skew")
    d, square, guard = _deviations(values, axis, keepdims)
    found = guard * snp.mean(d**3, axis=axis, keepdims=keepdims) / square**1.5
    n = count(values, axis)
    return found if bias or _at_most(n, 2) else found * (_root(n * (n - 1)) / (n - 2))


@statistic
def kurtosis(
    a: ArrayLike,
    axis: Axis = 0,
    fisher: bool = True,
    bias: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    r"""$m_4 / m_2^2$ of the moments about the mean; Fisher's is 3 less, so that of a normal is 0.

    Without bias, for n > 3, it is $((n^2 - 1) m_4 / m_2^2 - 3 (n - 1)^2) / ((n - 2) (n - 3))$,
    Fisher's. Of equal numbers it is NaN, also where their mean is rounded.

    Raises
    ------
    InputError
        For another `nan_policy` than to propagate.
    """
    values = sample(a, nan_policy, "kurtosis")
    d, square, guard = _deviations(values, axis, keepdims)
    found = guard * snp.mean(d**4, axis=axis, keepdims=keepdims) / square**2
    n = count(values, axis)
    if bias or _at_most(n, 3):
        return found - 3 if fisher else found
    excess = ((n**2 - 1) * found - 3 * (n - 1) ** 2) / ((n - 2) * (n - 3))
    return excess if fisher else excess + 3


@statistic
def zscore(a: ArrayLike, axis: Axis = 0, ddof: int = 0, nan_policy: str = "propagate") -> Array:
    r"""$(a - \bar a) / \sigma$ with the standard deviation, whose divisor is n - `ddof`.

    Of equal numbers it is NaN, also where their mean is rounded.

    Raises
    ------
    InputError
        For another `nan_policy` than to propagate.
    """
    values = sample(a, nan_policy, "zscore")
    center = snp.mean(values, axis=axis, keepdims=True)
    deviation = snp.std(values, axis=axis, ddof=ddof, keepdims=True)
    rounding = np.abs(center) * np.finfo(values.dtype).eps
    return (values - center) / snp.where(deviation <= rounding, np.nan, deviation)


@statistic
def sem(
    a: ArrayLike,
    axis: Axis = 0,
    ddof: int = 1,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    r"""The standard error of the mean, $\sigma / \sqrt n$; the divisor of σ² is n - `ddof`.

    Raises
    ------
    InputError
        For another `nan_policy` than to propagate.
    """
    values = sample(a, nan_policy, "sem")
    deviation = snp.std(values, axis=axis, ddof=ddof, keepdims=keepdims)
    return deviation / _root(count(values, axis))


@statistic
def variation(
    a: ArrayLike,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    ddof: int = 0,
    *,
    keepdims: bool = False,
) -> Array:
    r"""The coefficient of variation, $\sigma / \bar a$; the divisor of σ² is n - `ddof`.

    Raises
    ------
    InputError
        For another `nan_policy` than to propagate.
    """
    values = sample(a, nan_policy, "variation")
    deviation = snp.std(values, axis=axis, ddof=ddof, keepdims=keepdims)
    return deviation / snp.mean(values, axis=axis, keepdims=keepdims)


# -- means -----------------------------------------------------------------------------------------
@statistic
def gmean(
    a: ArrayLike,
    axis: Axis = 0,
    dtype: DTypeLike | None = None,
    weights: ArrayLike | None = None,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    r"""The geometric mean, $\exp(\sum_i w_i \log a_i / \sum_i w_i)$; all weights are 1 by default.

    Raises
    ------
    InputError
        For another `nan_policy` than to propagate.
    """
    values = sample(a, nan_policy, "gmean", dtype)
    return snp.exp(_average(snp.log(values), axis, weights, keepdims))


@statistic
def hmean(
    a: ArrayLike,
    axis: Axis = 0,
    dtype: DTypeLike | None = None,
    *,
    weights: ArrayLike | None = None,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    r"""The harmonic mean, $\sum_i w_i / \sum_i (w_i / a_i)$, of numbers that are not negative.

    It is NaN if one is negative.

    Raises
    ------
    InputError
        For another `nan_policy` than to propagate.
    """
    values = sample(a, nan_policy, "hmean", dtype)
    guard = _one_unless(snp.any(values < 0, axis=axis, keepdims=keepdims), values.dtype)
    return guard / _average(1 / values, axis, weights, keepdims)


@statistic
def pmean(
    a: ArrayLike,
    p: float,
    *,
    axis: Axis = 0,
    dtype: DTypeLike | None = None,
    weights: ArrayLike | None = None,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    r"""The power mean, $(\sum_i w_i a_i^p / \sum_i w_i)^{1/p}$; for p = 0 the geometric mean.

    The exponent is a number, or symbolic and not 0. It is NaN if an element is negative.

    Raises
    ------
    InputError
        For another `nan_policy` than to propagate.
    """
    values = sample(a, nan_policy, "pmean", dtype)
    if not isinstance(p, Array) and p == 0:
        return snp.exp(_average(snp.log(values), axis, weights, keepdims))
    guard = _one_unless(snp.any(values < 0, axis=axis, keepdims=keepdims), values.dtype)
    return guard * _average(values**p, axis, weights, keepdims) ** (1 / p)


# -- what they share -------------------------------------------------------------------------------
def _root(n: Dim) -> float | Array:
    """The square root of a size: a Python float leaves the dtype of its factor as it is."""
    return sqrt(n) if isinstance(n, int) else snp.sqrt(n)


def _at_most(n: Dim, limit: int) -> bool:
    """Whether there are too few elements; a size with a name is taken to be larger."""
    return isinstance(n, int) and n <= limit


def _deviations(values: Array, axis: Axis, keepdims: bool) -> tuple[Array, Array, Array]:
    """Differences from the mean, the mean of their squares, and 1; NaN where these are rounding."""
    center = snp.mean(values, axis=axis, keepdims=True)
    d = values - center
    square = snp.mean(d**2, axis=axis, keepdims=keepdims)
    shown = center if keepdims else snp.mean(values, axis=axis)
    rounding = (shown * np.finfo(values.dtype).eps) ** 2
    return d, square, _one_unless(square <= rounding, values.dtype)


def _one_unless(condition: Array, dtype: np.dtype[Any]) -> Array:
    """A factor that makes a value NaN, and its derivatives with it."""
    return snp.where(condition, *[snp.asarray(each, dtype) for each in (np.nan, 1)])


def _average(values: Array, axis: Axis, weights: ArrayLike | None, keepdims: bool) -> Array:
    return snp.average(values, axis=axis, weights=weights, keepdims=keepdims)
