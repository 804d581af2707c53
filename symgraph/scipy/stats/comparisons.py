"""Comparisons of samples and distributions: entropies, distances, correlation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import numpy as snp
from ...array import Array, ArrayLike
from ...errors import ShapeError
from ...ir.dims import show_shape
from ...ops.composites import as_array
from .bounded import beta
from .sample_arguments import Axis, count, sample, statistic

__all__ = ["energy_distance", "entropy", "pearsonr", "wasserstein_distance"]


class PearsonResult(NamedTuple):
    """A correlation, and the probability of one as strong between independent normal numbers."""

    statistic: Array
    pvalue: Array


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
    p = sample(pk, nan_policy, "entropy")
    p = p / snp.sum(p, axis=axis, keepdims=True)
    if qk is None:
        terms = snp.entr(p)
    else:
        q = sample(qk, nan_policy, "entropy")
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
    a, b = (sample(each, "propagate", "pearsonr") for each in (x, y))
    n = count(a, axis) if a.ndim else 0
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
def _vector(values: ArrayLike, name: str) -> Array:
    found = sample(values, "propagate", name)
    if found.ndim != 1:
        raise ShapeError(f"{name}: a sample of shape {show_shape(found.shape)}: give vectors.")
    return found


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
