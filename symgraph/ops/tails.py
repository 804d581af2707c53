r"""Functions far from 0 by their asymptotic series, where differences have lost all digits.

Far out many functions are $f(x) = c\, x^p S(t)$ with a series $S(t) = \sum_k a_k t^k$ in a power
$t$ of $1 / x$: modified Bessel functions and Airy's without their exponential factors (DLMF 10.40,
9.7). Their slopes are differences of values that agree to a part of 1 / x, and $f(x) / x$ times
a series.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..array import Array, ArrayLike
from .choice import where

__all__ = ["airy_series", "far_or_near", "hankel_series", "horner", "slope_of_tail"]


def hankel_series(order: Array | float, sign: int, terms: int) -> list[Any]:
    r"""The coefficients $s^k a_k(\nu)$ of DLMF 10.40.1 (s = -1) and 10.40.2 (s = 1) in 1 / x.

    $a_k(\nu) = \prod_{j \le k} (4 \nu^2 - (2 j - 1)^2) / (8 j)$. The order is a number or an array.
    """
    found: list[Any] = [1.0]
    for k in range(1, terms):
        found.append(found[-1] * (4 * order * order - (2 * k - 1) ** 2) * (sign / (8 * k)))
    return found


def airy_series(sign: int, terms: int, *, slope: bool) -> list[float]:
    r"""The coefficients $s^k u_k$ of DLMF 9.7.2 in $1 / \zeta$, or $s^k v_k$ for the derivative."""
    found = [1.0]
    for k in range(1, terms):
        ratio = (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1))
        found.append(sign * ratio * found[-1])
    if slope:
        found = [u * (6 * k + 1) / (1 - 6 * k) for k, u in enumerate(found)]
    return found


def horner(t: ArrayLike, coefficients: Sequence[Any]) -> Any:
    """The polynomial with these coefficients, the constant first, which may be arrays."""
    found = coefficients[-1]
    for each in reversed(coefficients[:-1]):
        found = found * t + each
    return found


def slope_of_tail(
    out: Array, x: Array, t: Array, power: float, rate: float, series: Sequence[Any]
) -> Array:
    r"""The slope of $c\, x^p S(t)$ for t in proportion to $x^{-r}$, of its value `out`.

    It is $\frac{f}{x} (p - r\, t S'(t) / S(t))$, and the quotient is a series: its coefficients
    are $h_k = k a_k - \sum_{0 < j < k} h_j a_{k-j}$.
    """
    quotient: list[Any] = [0.0]
    for k in range(1, len(series)):
        found = k * series[k]
        for j in range(1, k):
            found = found - quotient[j] * series[k - j]
        quotient.append(found)
    return out / x * (power - rate * t * horner(t, quotient[1:]))


def far_or_near(
    x: Array, far: Array, tail: Callable[[Array], Array], near: Callable[[Array], Array]
) -> Array:
    """`tail` of x where it is far, and `near` of it elsewhere, neither at the other's places."""
    return where(far, tail(where(far, x, 1)), near(where(far, 1, x)))
