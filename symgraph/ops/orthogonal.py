"""Orthogonal polynomials of a whole degree under SciPy's names, by their recurrences in the degree.

They are sums and products (DLMF 18.9.1), so they have derivatives of every order, in the argument
and in the parameters, on every backend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..array import Array, ArrayLike
from ..errors import TraceError
from .beta import binom
from .composites import as_array, composite
from .creation import ones_like
from .scipyufuncs import float_or_double

__all__: list[str] = []

Next = Callable[[int, Any, Any, Any], Any]
"""From k, x, p_k and p_{k-1} to p_{k+1}."""


def _degree(name: str, n: ArrayLike) -> int:
    if isinstance(n, (int, np.integer)) and not isinstance(n, (bool, np.bool_)) and n >= 0:
        return int(n)
    raise TraceError(
        f"{name}: the degree is {n!r}, but a whole number from 0 on must be known while tracing.",
        mend="Give the degree as a Python number; stack the polynomials for several.",
    )


def _recurred(n: int, x: Array, first: ArrayLike, following: Next) -> Array:
    before: Any = ones_like(x)
    if n == 0:
        return before
    found: Any = first
    for k in range(1, n):
        before, found = found, following(k, x, found, before)
    return found


def _argument(x: ArrayLike) -> Array:
    x = as_array(x)
    return x.astype(float_or_double(x.dtype))


def _publish(name: str, doc: str, given: int, polynomial: Callable[..., Any]) -> None:
    """Publish a function of the degree, of `given` parameters and of the argument."""

    def call(n: ArrayLike, *arguments: ArrayLike) -> Array:
        if len(arguments) != given + 1:
            raise TypeError(f"{name}() takes {given + 2} arguments, not {len(arguments) + 1}.")
        *parameters, x = arguments
        return polynomial(_degree(name, n), *parameters, _argument(x))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"The {doc} polynomial of degree n at x."
    composite(f"scipy.special.{name}")(call)
    __all__.append(name)


def _doubled(first: int) -> Callable[..., Any]:
    """p_{k+1} = 2 x p_k - p_{k-1}."""

    def polynomial(n: int, x: Array) -> Array:
        return _recurred(n, x, first * x, lambda k, x, p, q: 2 * x * p - q)

    return polynomial


_first_kind, _second_kind = _doubled(1), _doubled(2)


def _legendre(n: int, x: Array) -> Array:
    return _recurred(n, x, x, lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1))


def _laguerre(n: int, alpha: Array | float, x: Array) -> Array:
    return _recurred(
        n,
        x,
        1 + alpha - x,
        lambda k, x, p, q: ((2 * k + 1 + alpha - x) * p - (k + alpha) * q) / (k + 1),
    )


def _gegenbauer(n: int, alpha: Array, x: Array) -> Array:
    return _recurred(
        n,
        x,
        2 * alpha * x,
        lambda k, x, p, q: (2 * (k + alpha) * x * p - (k + 2 * alpha - 1) * q) / (k + 1),
    )


def _jacobi(n: int, a: Array, b: Array, x: Array) -> Array:
    def following(k: int, x: Array, p: Array, q: Array) -> Any:
        total = 2 * k + a + b
        middle = (total + 1) * ((total + 2) * total * x + a * a - b * b)
        last = 2 * (k + a) * (k + b) * (total + 2)
        return (middle * p - last * q) / (2 * (k + 1) * (k + a + b + 1) * total)

    return _recurred(n, x, a + 1 + (a + b + 2) * (x - 1) / 2, following)


_publish("eval_chebyt", "Chebyshev T", 0, _first_kind)
_publish("eval_chebyu", "Chebyshev U", 0, _second_kind)
_publish("eval_chebyc", "Chebyshev C", 0, lambda n, x: 2 * _first_kind(n, x / 2))
_publish("eval_chebys", "Chebyshev S", 0, lambda n, x: _second_kind(n, x / 2))
_publish("eval_sh_chebyt", "shifted Chebyshev T", 0, lambda n, x: _first_kind(n, 2 * x - 1))
_publish("eval_sh_chebyu", "shifted Chebyshev U", 0, lambda n, x: _second_kind(n, 2 * x - 1))
_publish("eval_legendre", "Legendre", 0, _legendre)
_publish("eval_sh_legendre", "shifted Legendre", 0, lambda n, x: _legendre(n, 2 * x - 1))
_publish(
    "eval_hermite",
    "physicists' Hermite",
    0,
    lambda n, x: _recurred(n, x, 2 * x, lambda k, x, p, q: 2 * x * p - 2 * k * q),
)
_publish(
    "eval_hermitenorm",
    "probabilists' Hermite",
    0,
    lambda n, x: _recurred(n, x, x, lambda k, x, p, q: x * p - k * q),
)
_publish("eval_laguerre", "Laguerre", 0, lambda n, x: _laguerre(n, 0, x))
_publish("eval_genlaguerre", "generalized Laguerre", 1, _laguerre)
_publish("eval_gegenbauer", "Gegenbauer", 1, _gegenbauer)
_publish("eval_jacobi", "Jacobi", 2, _jacobi)
_publish(
    "eval_sh_jacobi",
    "shifted Jacobi",
    2,
    lambda n, p, q, x: _jacobi(n, p - q, q - 1, 2 * x - 1) / binom(2 * n + p - 1, n),
)
