"""Statistics of samples: moments and standard scores, means, entropies, distances, correlation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod, sqrt
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from ... import numpy as snp
from ...array import Array, ArrayLike
from ...errors import InputError, ShapeError
from ...ir.dims import Dim, show_shape
from ...ops.composites import as_array
from ..names.mirrored import mirrored
from .bounded import beta

__all__ = [
    "energy_distance",
    "entropy",
    "gmean",
    "hmean",
    "kurtosis",
    "moment",
    "pearsonr",
    "pmean",
    "sem",
    "skew",
    "variation",
    "wasserstein_distance",
    "zscore",
]

F = TypeVar("F", bound=Callable[..., object])
Axis: TypeAlias = "int | Sequence[int] | None"


class PearsonResult(NamedTuple):
    """A correlation, and the probability of one as strong between independent normal numbers."""

    statistic: Array
    pvalue: Array


def statistic(function: F) -> F:
    """A function of `scipy.stats`, on symbols and on numbers."""
    return mirrored(function, f"scipy.stats.{function.__name__}")


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
    values = _sample(a, nan_policy, "moment")
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
    values = _sample(a, nan_policy, "skew")
    d, square, guard = _deviations(values, axis, keepdims)
    found = guard * snp.mean(d**3, axis=axis, keepdims=keepdims) / square**1.5
    n = _count(values, axis)
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
    values = _sample(a, nan_policy, "kurtosis")
    d, square, guard = _deviations(values, axis, keepdims)
    found = guard * snp.mean(d**4, axis=axis, keepdims=keepdims) / square**2
    n = _count(values, axis)
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
    values = _sample(a, nan_policy, "zscore")
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
    values = _sample(a, nan_policy, "sem")
    deviation = snp.std(values, axis=axis, ddof=ddof, keepdims=keepdims)
    return deviation / _root(_count(values, axis))


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
    values = _sample(a, nan_policy, "variation")
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
    values = _sample(a, nan_policy, "gmean", dtype)
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
    values = _sample(a, nan_policy, "hmean", dtype)
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
    values = _sample(a, nan_policy, "pmean", dtype)
    if not isinstance(p, Array) and p == 0:
        return snp.exp(_average(snp.log(values), axis, weights, keepdims))
    guard = _one_unless(snp.any(values < 0, axis=axis, keepdims=keepdims), values.dtype)
    return guard * _average(values**p, axis, weights, keepdims) ** (1 / p)


# -- distributions ---------------------------------------------------------------------------------
@statistic
def entropy(
    pk: ArrayLike,
    qk: ArrayLike | None = None,
    base: ArrayLike | None = None,
    axis: Axis = 0,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    r"""$-\sum_i p_i \log p_i$, or $\sum_i p_i \log(p_i / q_i)$ relative to another distribution.

    Both are divided by their sums first.

    Raises
    ------
    InputError
        For another `nan_policy` than to propagate.
    """
    p = _sample(pk, nan_policy, "entropy")
    p = p / snp.sum(p, axis=axis, keepdims=True)
    if qk is None:
        terms = snp.entr(p)
    else:
        q = _sample(qk, nan_policy, "entropy")
        terms = snp.rel_entr(p, q / snp.sum(q, axis=axis, keepdims=True))
    found = snp.sum(terms, axis=axis, keepdims=keepdims)
    return found if base is None else found / np.log(base)


@statistic
def wasserstein_distance(
    u_values: ArrayLike,
    v_values: ArrayLike,
    u_weights: ArrayLike | None = None,
    v_weights: ArrayLike | None = None,
) -> Array:
    r"""$\int |U(x) - V(x)|\, dx$ of the distribution functions of two samples.

    Samples of one size, without weights, are sorted and compared pair by pair.

    Raises
    ------
    ShapeError
        If a sample is no vector.
    """
    u, v = (_vector(each, "wasserstein_distance") for each in (u_values, v_values))
    if u_weights is None and v_weights is None and u.shape == v.shape:
        return snp.mean(np.abs(snp.sort(u) - snp.sort(v)))
    steps, difference = _distribution_functions((u, u_weights), (v, v_weights))
    return snp.sum(np.abs(difference) * steps)


@statistic
def energy_distance(
    u_values: ArrayLike,
    v_values: ArrayLike,
    u_weights: ArrayLike | None = None,
    v_weights: ArrayLike | None = None,
) -> Array:
    r"""$(2 \int (U(x) - V(x))^2\, dx)^{1/2}$ of the distribution functions of two samples.

    Raises
    ------
    ShapeError
        If a sample is no vector.
    """
    u, v = (_vector(each, "energy_distance") for each in (u_values, v_values))
    steps, difference = _distribution_functions((u, u_weights), (v, v_weights))
    return np.sqrt(2 * snp.sum(difference**2 * steps))


@statistic
def pearsonr(x: ArrayLike, y: ArrayLike, *, axis: int = 0) -> PearsonResult:
    r"""Pearson's correlation $\sum_i (x_i - \bar x)(y_i - \bar y) / (|x - \bar x| |y - \bar y|)$.

    The probability beside it is of both sides, by the beta distribution (Student 1908).

    Raises
    ------
    ShapeError
        If the two have no axis, or fewer than two elements along it.
    """
    a, b = (_sample(each, "propagate", "pearsonr") for each in (x, y))
    n = _count(a, axis) if a.ndim else 0
    if isinstance(n, int) and n < 2:
        raise ShapeError("pearsonr: there are fewer than two elements along the axis.")
    units: list[Any] = []
    for each in (a, b):
        center = snp.mean(each, axis=axis, keepdims=True)
        length = snp.linalg.norm(each - center, axis=axis, keepdims=True)
        constant = snp.all(each == snp.take(each, [0], axis=axis), axis=axis, keepdims=True)
        units.append((each - center) / snp.where(constant, np.nan, length))
    r = snp.clip(snp.sum(units[0] * units[1], axis=axis), -1, 1)
    if isinstance(n, int) and n == 2:
        return PearsonResult(np.round(r), snp.ones_like(r))
    return PearsonResult(r, 2 * beta.sf(np.abs(r), n / 2 - 1, n / 2 - 1, loc=-1, scale=2))


# -- what they share -------------------------------------------------------------------------------
def _sample(a: ArrayLike, nan_policy: str, name: str, dtype: DTypeLike | None = None) -> Array:
    """The elements as floats."""
    if nan_policy != "propagate":
        raise InputError(
            f"{name}: nan_policy={nan_policy!r} is not there.",
            mend="NaN is propagated; leave it out first, or weigh it by 0 with np.where.",
        )
    values = as_array(a)
    wanted = values.dtype if dtype is None else np.dtype(dtype)
    return snp.astype(values, wanted if wanted.kind == "f" else np.dtype("float64"))


def _vector(values: ArrayLike, name: str) -> Array:
    found = _sample(values, "propagate", name)
    if found.ndim != 1:
        raise ShapeError(f"{name}: a sample of shape {show_shape(found.shape)}: give vectors.")
    return found


def _count(values: Array, axis: Axis) -> Dim:
    """How many elements a mean is of; the size may be named."""
    sizes = values.shape
    if axis is None:
        return prod(sizes)
    return prod(sizes[each] for each in ((axis,) if isinstance(axis, int) else axis))


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


def _distribution_functions(*samples: tuple[Array, ArrayLike | None]) -> tuple[Array, Array]:
    """The distances from each element of both samples to the next, and U - V between them."""
    (u, _), (v, _) = samples
    merged = snp.sort(snp.concatenate([u, v]))
    found: list[Any] = []
    for values, weights in samples:
        at = snp.searchsorted(snp.sort(values), merged[:-1], side="right")
        if weights is None:
            found.append(at / values.shape[0])
            continue
        placed = snp.cumsum(as_array(weights)[snp.argsort(values)])
        total = snp.concatenate([snp.zeros_like(placed[:1]), placed])
        found.append(total[at] / total[-1])
    return snp.diff(merged), found[0] - found[1]
