"""Error functions, exponential integrals and their like, which have no elementary form.

Where a derivative is a difference of large terms, or a quotient that is 0/0, it is taken
from a series there, so that derivatives of higher order keep their digits too (DLMF §6 and §7).
"""

from __future__ import annotations

from math import factorial, pi, prod, sqrt
from typing import Any

import numpy as np

from ..array import Array, ArrayLike, apply
from ..ir.avals import Aval
from ..ir.op import Op, carries_aligned, per_element, register
from ..ir.traits import EVEN, ODD, Traits
from .batched import batch_aligned
from .bounds import is_positive, knows, odd_signs, within
from .choice import where
from .elementwise import absolute
from .exponential import exp, log
from .families import elementwise, function
from .scipyufuncs import float_or_double, polynomial, scipy_ufunc
from .trigonometric import cos

__all__ = ["dawsn", "erfcinv", "erfcx", "erfi", "exp1", "expi", "expn", "sinc", "spence"]


# -- error functions -------------------------------------------------------------------------------
def _away(x: ArrayLike, wanted: object) -> Any:
    """`x`, but 1 where it is not wanted, so that values that are not chosen are no NaN."""
    return where(wanted, x, 1)


# 1, 1·3, 1·3·5, ...: the series 1 ∓ 3t + 15t² ∓ ... in t = 1/(2x²) is DLMF 7.12.1 differentiated;
# from x = 15 on its error is below 1e-16.
_RISING = tuple(float(prod(range(1, 2 * n + 2, 2))) for n in range(11))
_TAIL = tuple((-1) ** n * each for n, each in enumerate(_RISING))


def _tail_of_erfcx(large: Array) -> Array:
    return polynomial(1 / (2 * large * large), *_TAIL) / (-sqrt(pi) * large * large)


def _derivative_of_erfcx(x: Array, out: Array) -> Array:
    far = x > 15
    return where(far, _tail_of_erfcx(_away(x, far)), 2 * where(far, 0, x) * out - 2 / sqrt(pi))


def _relative_slope_of_erfcx(out: Array, x: Array) -> Array:
    far = x > 15
    tail = _tail_of_erfcx(_away(x, far)) / out
    return where(far, tail, 2 * where(far, 0, x) - 2 / sqrt(pi) / out)


erfcx = scipy_ufunc(
    "erfcx",
    lambda ct, out, x: ct * _derivative_of_erfcx(x, out),
    facts=knows(signs=is_positive),
    doc="exp(x**2) erfc(x), without underflow on the right.",
    mistaken_for=("erfc",),
    definition=lambda m, x: m.exp(x * x) * m.erfc(x),
    traits=Traits(relative_slope=_relative_slope_of_erfcx),
)
erfi = scipy_ufunc(
    "erfi",
    lambda ct, out, x: ct * (2 / sqrt(pi) * exp(x * x)),
    facts=knows(signs=odd_signs, zero_at_zero=True),
    doc="-i erf(ix).",
    traits=ODD,
)
erfcinv = scipy_ufunc(
    "erfcinv",
    lambda ct, out, x: -(ct * (sqrt(pi) / 2 * exp(out * out))),
    doc="The inverse of erfc.",
)


def _derivative_of_dawsn(x: Array, out: Array) -> Array:
    far = absolute(x) > 15
    large = _away(x, far)
    tail = polynomial(1 / (2 * large * large), *_RISING) / (-2 * large * large)
    return where(far, tail, 1 - 2 * where(far, 0, x) * out)


dawsn = scipy_ufunc(
    "dawsn",
    lambda ct, out, x: ct * _derivative_of_dawsn(x, out),
    facts=knows(
        bounds=within(-0.542, 0.542), signs=odd_signs, keeps_finite=True, zero_at_zero=True
    ),
    doc="Dawson's integral, exp(-x**2) times the integral of exp(t**2) from 0 to x.",
    traits=ODD,
)

# -- exponential integrals -------------------------------------------------------------------------
expi = scipy_ufunc("expi", lambda ct, out, x: ct * (exp(x) / x), doc="The exponential integral Ei.")
exp1 = scipy_ufunc(
    "exp1", lambda ct, out, x: -(ct * (exp(-x) / x)), doc="The exponential integral E1."
)


def _vjp_expn(ct: Array, out: Array, x: Array, *, order: int) -> Array:
    if order == 0:  # exp(-x) / x, whose derivative is -(1 + 1/x) times itself
        return -(ct * (out * (1 + 1 / x)))
    return -(ct * apply(EXPN, x, order=order - 1))


def _infer_expn(x: Aval, *, order: int) -> Aval:
    return x


EXPN = register(
    Op(
        "expn",
        infer=_infer_expn,
        kernel=lambda xp, x, *, order: xp.astype(xp.special.expn(order, x), x.dtype),
        vjp=(_vjp_expn,),
        carries=carries_aligned,
        batch=batch_aligned,
        total=True,
        promote=float_or_double,
        flops=per_element(40),
        doc="The generalized exponential integral of whole order; the order comes first.",
    )
)


def _expn(n: int, x: ArrayLike) -> Any:
    return apply(EXPN, x, order=int(n))


expn = function(EXPN, _expn, "scipy.special.expn")

# -- quotients that are 0/0 somewhere --------------------------------------------------------------
# -log(1 + h) / h, to 1e-17 for |h| < 0.05.
_LOG_QUOTIENT = tuple(-((-1.0) ** k) / (k + 1) for k in range(13))


def _derivative_of_spence(x: Array) -> Array:
    near = absolute(x - 1) < 0.05
    far = where(near, 2, x)
    return where(near, polynomial(where(near, x - 1, 0), *_LOG_QUOTIENT), log(far) / (1 - far))


spence = scipy_ufunc(
    "spence",
    lambda ct, out, x: ct * _derivative_of_spence(x),
    doc="The dilogarithm: the integral of log(t) / (1 - t) from 1 to x.",
)

# d/dt (sin t / t) / t in powers of t², to 1e-17 for |t| < 0.5.
_SINC_SLOPE = tuple((-1.0) ** k * 2 * k / factorial(2 * k + 1) for k in range(1, 8))


def _derivative_of_sinc(x: Array, out: Array) -> Array:
    near = absolute(x) < 0.15
    t = pi * where(near, x, 0)
    far = where(near, 1, x)
    slope = pi * (t * polynomial(t * t, *_SINC_SLOPE))
    return where(near, slope, (cos(pi * far) - where(near, 0, out)) / far)


def _like_sinc(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.asarray(np.sinc(np.ones(1, dtype))).dtype


sinc = elementwise(
    "sinc",
    workspace=lambda out, x: (3 if out.dtype.itemsize < 8 else 2) * out.nbytes,
    kernel=lambda xp, x: xp.sinc(x),
    vjp=(lambda ct, out, x: ct * _derivative_of_sinc(x, out),),
    promote=_like_sinc,
    facts=knows(bounds=within(-0.2173, 1.0), keeps_finite=True),
    flops=12,
    numpy=(np.sinc,),
    doc="sin(pi x) / (pi x), and 1 at 0.",
    traits=EVEN,
)
