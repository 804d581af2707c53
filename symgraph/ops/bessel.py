"""Bessel functions under SciPy's names.

Derivatives come from the recurrences of DLMF §10.6 and §10.29, C_v' = (C_{v-1} ∓ C_{v+1}) / 2,
without a division: v/x C_v would lose digits near 0. The order has no derivative.
The slopes of the scaled functions are differences, of which nothing is left far from 0: there they
are series in 1 / x (`ops/tails.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np

from ..array import NUMPY_FUNCTIONS, Array
from ..ir.differentiation import undefined
from ..ir.op import results_of
from ..ir.traits import EVEN, ODD, Traits
from .bounds import is_positive, knows, odd_signs, within
from .composites import naming_lines
from .elementwise import absolute, sign
from .scipyufuncs import scipy_ufunc
from .tails import far_or_near, hankel_series, horner, slope_of_tail

__all__ = [
    "i0",
    "i0e",
    "i1",
    "i1e",
    "iv",
    "ive",
    "j0",
    "j1",
    "jv",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kv",
    "kve",
    "y0",
    "y1",
    "yv",
]

_IN_ORDER = undefined(
    "no closed form is known for the derivative in the order of a Bessel function"
)


_EVEN_IN_ORDER = Traits(parity=(1, 0))


def _of_order(
    name: str,
    rule: Callable[..., Any],
    doc: str,
    traits: Traits | None = None,
    kernel: Callable[..., Any] | None = None,
) -> Any:
    """A Bessel function of real order; `rule(v, x)` is its derivative in x."""
    return scipy_ufunc(
        name,
        _IN_ORDER,
        lambda ct, out, v, x: ct * rule(v, x, out),
        doc=doc,
        flops=100,
        traits=traits,
        kernel=kernel,
        **({} if kernel is None else {"workspace": results_of(16)}),
    )


# -- scaled by an exponential, far from 0 ----------------------------------------------------------
_FAR = 100.0
"""From this, times 1 + v², on ten terms of the series of order v have all digits."""
_TERMS = 10
_SCIPYS = 1e9
"""SciPy gives NaN for somewhat larger numbers."""


def _scaled_slope(order: float, sign: int, near: Callable[[Array], Array]) -> Callable[..., Any]:
    """The slope of a scaled function of order 0 or 1, `near` of x where x is not far from 0."""
    series = hankel_series(order, sign, _TERMS)

    def slope(x: Array, out: Array) -> Array:
        far = absolute(x) > _FAR
        return far_or_near(
            *(x, far), lambda x: slope_of_tail(out, x, 1 / absolute(x), -0.5, 1, series), near
        )

    return slope


def _scaled_slope_of_order(sign: int, near: Callable[..., Array]) -> Callable[..., Any]:
    """The slope of a scaled function of any order, `near` of v, x and its value otherwise."""

    def slope(v: Array, x: Array, out: Array) -> Array:
        far = absolute(x) > _FAR * (1 + v * v)
        series = hankel_series(v, sign, _TERMS)
        return far_or_near(
            *(x, far),
            lambda x: slope_of_tail(out, x, 1 / absolute(x), -0.5, 1, series),
            lambda x: near(v, x, out),
        )

    return slope


def _scaled_kernel(name: str, sign: int, factor: float) -> Callable[..., Any]:
    """SciPy's function, and the series for larger numbers than SciPy's."""

    def kernel(xp: Any, v: Any, x: Any) -> Any:
        size = xp.abs(x)
        far = size > xp.maximum(_SCIPYS + 0 * v, _FAR * (1 + v * v))
        near = getattr(xp.special, name)(v, xp.where(far, 1 + 0 * x, x))
        size = xp.where(far, size, 1 + 0 * x)
        # Left of 0 there is a value for whole orders only, and none of the second kind.
        turned = 1 - 2 * (v - 2 * xp.floor(0.5 * v)) if sign < 0 else v + xp.nan
        turned = xp.where((x < 0) & ((v > xp.floor(v)) | (sign > 0)), xp.nan, turned)
        tail = horner(1 / size, hankel_series(v, sign, _TERMS)) * factor / xp.sqrt(size)
        return xp.astype(xp.where(far, xp.where(x < 0, turned * tail, tail), near), x.dtype)

    return kernel


# -- of any order ----------------------------------------------------------------------------------
jv = _of_order(
    "jv",
    lambda v, x, out: 0.5 * (jv(v - 1, x) - jv(v + 1, x)),
    "The Bessel function of the first kind and real order v.",
)
yv = _of_order(
    "yv",
    lambda v, x, out: 0.5 * (yv(v - 1, x) - yv(v + 1, x)),
    "The Bessel function of the second kind and real order v.",
)
iv = _of_order(
    "iv",
    lambda v, x, out: 0.5 * (iv(v - 1, x) + iv(v + 1, x)),
    "The modified Bessel function of the first kind and real order v.",
)
ive = _of_order(
    "ive",
    _scaled_slope_of_order(
        -1, lambda v, x, out: 0.5 * (ive(v - 1, x) + ive(v + 1, x)) - sign(x) * out
    ),
    "exp(-|x|) iv(v, x).",
    kernel=_scaled_kernel("ive", -1, (2 * pi) ** -0.5),
)
kv = _of_order(
    "kv",
    lambda v, x, out: -0.5 * (kv(v - 1, x) + kv(v + 1, x)),
    "The modified Bessel function of the second kind and real order v.",
    _EVEN_IN_ORDER,
)
kve = _of_order(
    "kve",
    _scaled_slope_of_order(1, lambda v, x, out: out - 0.5 * (kve(v - 1, x) + kve(v + 1, x))),
    "exp(x) kv(v, x).",
    _EVEN_IN_ORDER,
    _scaled_kernel("kve", 1, (pi / 2) ** 0.5),
)

# -- of orders 0 and 1 -----------------------------------------------------------------------------
j0 = scipy_ufunc(
    "j0",
    lambda ct, out, x: -(ct * j1(x)),
    doc="The Bessel function of the first kind and order 0.",
    facts=knows(bounds=within(-0.403, 1.0), keeps_finite=True),
    traits=EVEN,
)
j1 = scipy_ufunc(
    "j1",
    lambda ct, out, x: ct * (0.5 * (j0(x) - jv(2, x))),
    doc="The Bessel function of the first kind and order 1.",
    facts=knows(bounds=within(-0.582, 0.582), keeps_finite=True, zero_at_zero=True),
    traits=ODD,
)
y0 = scipy_ufunc(
    "y0",
    lambda ct, out, x: -(ct * y1(x)),
    doc="The Bessel function of the second kind and order 0.",
)
y1 = scipy_ufunc(
    "y1",
    lambda ct, out, x: ct * (0.5 * (y0(x) - yv(2, x))),
    doc="The Bessel function of the second kind and order 1.",
)
i0 = scipy_ufunc(
    "i0",
    lambda ct, out, x: ct * i1(x),
    doc="The modified Bessel function of the first kind and order 0.",
    facts=knows(bounds=within(1.0, float("inf"))),
    traits=EVEN,
)
NUMPY_FUNCTIONS[np.i0] = naming_lines(i0, array=True)  # no ufunc: gives arrays
i1 = scipy_ufunc(
    "i1",
    lambda ct, out, x: ct * (0.5 * (i0(x) + iv(2, x))),
    doc="The modified Bessel function of the first kind and order 1.",
    facts=knows(signs=odd_signs, zero_at_zero=True),
    traits=ODD,
)
i0e = scipy_ufunc(
    "i0e",
    lambda ct, out, x: ct * _slope_of_i0e(x, out),
    facts=knows(bounds=within(0.0, 1.0), signs=is_positive, keeps_finite=True),
    doc="exp(-|x|) i0(x); its derivative at 0 is 0.",
    traits=EVEN,
)
i1e = scipy_ufunc(
    "i1e",
    lambda ct, out, x: ct * _slope_of_i1e(x, out),
    facts=knows(bounds=within(-0.22, 0.22), signs=odd_signs, keeps_finite=True, zero_at_zero=True),
    doc="exp(-|x|) i1(x).",
    traits=ODD,
)
k0 = scipy_ufunc(
    "k0",
    lambda ct, out, x: -(ct * k1(x)),
    doc="The modified Bessel function of the second kind and order 0.",
)
k1 = scipy_ufunc(
    "k1",
    lambda ct, out, x: -(ct * (0.5 * (k0(x) + kv(2, x)))),
    doc="The modified Bessel function of the second kind and order 1.",
)
k0e = scipy_ufunc("k0e", lambda ct, out, x: ct * _slope_of_k0e(x, out), doc="exp(x) k0(x).")
k1e = scipy_ufunc("k1e", lambda ct, out, x: ct * _slope_of_k1e(x, out), doc="exp(x) k1(x).")

_slope_of_i0e = _scaled_slope(0, -1, lambda x: i1e(x) - sign(x) * i0e(x))
_slope_of_i1e = _scaled_slope(1, -1, lambda x: 0.5 * (i0e(x) + ive(2, x)) - sign(x) * i1e(x))
_slope_of_k0e = _scaled_slope(0, 1, lambda x: k0e(x) - k1e(x))
_slope_of_k1e = _scaled_slope(1, 1, lambda x: k1e(x) - 0.5 * (k0e(x) + kve(2, x)))
