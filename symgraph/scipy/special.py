"""`scipy.special` on symbols: functions that are no ufuncs, and all ufuncs with an operation."""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi
from typing import Any

import numpy as np
import scipy.special as _original

from .. import numpy as snp
from ..array import Array, ArrayLike
from ..errors import InputError
from ..ir.avals import AxisLike
from ..ops.composites import as_array
from .names.absent import of_numbers
from .names.mirrored import mirrored

__all__ = [
    "comb",
    "factorial",
    "log_expit",
    "log_softmax",
    "logsumexp",
    "multigammaln",
    "perm",
    "softmax",
]


@mirrored
def logsumexp(
    a: ArrayLike,
    axis: AxisLike = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Any:
    r"""$\log \sum_i b_i e^{a_i}$ along `axis`, without overflow.

    With `return_sign` it gives the logarithm of the absolute value, and the sign. Without it a
    negative sum gives NaN. Where b is 0, a does not count, even if it is infinite.
    """
    x = _floating(a)
    if b is None and not return_sign:
        return snp.logsumexp(x, axis=axis, keepdims=keepdims)
    weights = _floating(1.0 if b is None else b)
    counted = snp.where(weights == 0, -np.inf, x)
    top = snp.stop_gradient(snp.max(counted, axis=axis, keepdims=True))
    # Nothing but weights of 0, or an infinite term: the sum itself is right.
    top = snp.where(snp.isfinite(top), top, 0.0)
    # A weight of 0 has the slope exp(x - value), as any other; only the product with it is 0.
    largest = np.log(np.finfo(x.dtype).max) - 1
    above = snp.where(weights == 0, snp.fmin(x - top, largest), x - top)
    total = snp.sum(weights * snp.exp(above), axis=axis, keepdims=True)
    value = snp.log(snp.abs(total) if return_sign else total) + top
    sign = snp.sign(total)
    if not keepdims:
        value, sign = (snp.squeeze(each, axis=_axes(axis, x.ndim)) for each in (value, sign))
    return (value, sign) if return_sign else value


def _axes(axis: AxisLike, ndim: int) -> Any:
    return tuple(range(ndim)) if axis is None else axis


@mirrored
def softmax(x: ArrayLike, axis: AxisLike = None) -> Any:
    r"""$e^{x_i} / \sum_j e^{x_j}$ over `axis`, by default over all elements, as in SciPy."""
    x = _floating(x)
    return snp.softmax(x, axis=_axes(axis, x.ndim)) if x.ndim else snp.ones_like(x)


@mirrored
def log_softmax(x: ArrayLike, axis: AxisLike = None) -> Any:
    """The logarithm of `softmax` over `axis`, by default over all elements, as in SciPy."""
    x = _floating(x)
    if axis is None and x.ndim != 1:
        return x - snp.logsumexp(x)
    return snp.log_softmax(x, axis=-1 if axis is None else axis)


@mirrored
def multigammaln(a: ArrayLike, d: int) -> Any:
    r"""The logarithm of the multivariate gamma function of dimension d.

    $\tfrac14 d (d - 1) \log\pi + \sum_{j<d} \log\Gamma(a - j/2)$ (Muirhead 1982, theorem 2.1.12).
    NaN unless a > (d - 1) / 2, where SciPy raises.

    Raises
    ------
    InputError
        If `d` is no positive whole number.
    """
    if int(d) != d or d < 1:
        raise InputError(f"multigammaln: d is {d!r}; it must be a positive integer.")
    a = _floating(a)
    total: Any = 0.25 * d * (d - 1) * log(pi)
    for j in range(int(d)):
        total = total + snp.gammaln(a - 0.5 * j)
    return snp.where(a > 0.5 * (d - 1), total, np.nan)


@mirrored
def log_expit(x: ArrayLike) -> Any:
    """The logarithm of the logistic function, without overflow."""
    return snp.log_sigmoid(_floating(x))


@mirrored
def factorial(n: ArrayLike, exact: bool = False) -> Any:
    r"""$n! = \Gamma(n + 1)$, also between integers; 0 for negative n, as in SciPy."""
    _inexact("factorial", exact)
    n = _floating(n)
    below = n < 0
    return snp.where(below, 0.0, snp.gamma(snp.where(below, 0.0, n) + 1.0))


@mirrored
def comb(N: ArrayLike, k: ArrayLike, *, exact: bool = False, repetition: bool = False) -> Any:
    r"""$\binom{N}{k}$, the ways to choose k of N; 0 unless 0 <= k <= N, as in SciPy."""
    _inexact("comb", exact)
    n, k = _floating(N), _floating(k)
    return _within(snp.binom, n + k - 1.0 if repetition else n, k)


@mirrored
def perm(N: ArrayLike, k: ArrayLike, exact: bool = False) -> Any:
    r"""$N! / (N - k)!$, the ways to choose k of N in order; 0 unless 0 <= k <= N, as in SciPy."""
    _inexact("perm", exact)
    return _within(lambda n, k: snp.poch(n - k + 1.0, k), _floating(N), _floating(k))


def _within(count: Callable[[Array, Array], Array], n: Array, k: Array) -> Array:
    """The count where 0 <= k <= n, NaN where one is NaN (SciPy has 0), and 0 elsewhere."""
    none = (k > n) | (n < 0) | (k < 0)
    return snp.where(none, 0.0, count(snp.where(none, 1.0, n), snp.where(none, 1.0, k)))


def _inexact(name: str, exact: bool) -> None:
    if exact:
        raise InputError(
            f"{name}: exact integers of any length are no numbers of an array.",
            mend=f"Leave exact=True out, or call scipy.special.{name} with numbers.",
        )


def _floating(x: ArrayLike) -> Array:
    x = as_array(x)
    return x if x.dtype.kind == "f" else snp.astype(x, "float64")


def __getattr__(name: str) -> Callable[..., Any]:
    if not name.startswith("_") and hasattr(_original, name) and name in dir(snp):
        found = getattr(snp, name)
        if callable(found):
            return found
    return of_numbers("special", name, [*__all__, "the ufuncs that symgraph.numpy has"])


def __dir__() -> list[str]:
    return sorted({*__all__, *({*dir(_original)} & {*dir(snp)})})
