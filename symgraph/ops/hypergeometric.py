"""Hypergeometric, Struve and Airy functions, integrals and their kin, under SciPy's names.

Derivatives are taken in the argument (DLMF §6, §7, §9, §11, §13, §15). In a parameter there is no
closed form, unless one is written here.
"""

from __future__ import annotations

from math import factorial, pi, sqrt

from ..array import NUMPY_FUNCTIONS, Array, ArrayLike
from ..ir.traits import EVEN, ODD, Traits
from .bessel import jv, kv, yv
from .bounds import is_positive, knows
from .choice import where
from .composites import as_array, composite
from .elementwise import absolute
from .exponential import exp
from .integrals import sinc
from .powers import power
from .rounding import trunc
from .scipyufuncs import LONG_SERIES, no_closed_form, part_of, polynomial, scipy_ufunc
from .special import digamma, erf, gamma, gammaln, xlogy
from .trigonometric import cos, cosh, sin, sinh

__all__ = [
    "airy",
    "cosdg",
    "cosm1",
    "cotdg",
    "fresnel",
    "gammasgn",
    "hyp0f1",
    "hyp1f1",
    "hyp2f1",
    "hyperu",
    "kn",
    "loggamma",
    "modstruve",
    "owens_t",
    "powm1",
    "radian",
    "rgamma",
    "shichi",
    "sici",
    "sindg",
    "struve",
    "tandg",
    "wrightomega",
    "yn",
]


# -- gamma and powers ------------------------------------------------------------------------------
def _slope_of_rgamma(x: Array, out: Array) -> Array:
    """The slope, by reflection (DLMF 5.5.3) on the left, where digamma has poles."""
    left = x < 0.5
    mirrored, own = 1 - where(left, x, 0.5), where(left, 0.5, x)
    reflected = gamma(mirrored) * (cos(pi * x) - digamma(mirrored) * sin(pi * x) / pi)
    return where(left, reflected, -(digamma(own) * where(left, 0, out)))


rgamma = scipy_ufunc(
    "rgamma",
    lambda ct, out, x: ct * _slope_of_rgamma(x, out),
    facts=knows(keeps_finite=True),
    doc="1 / gamma(x), which is 0 at the poles of gamma; differentiable everywhere.",
)
gammasgn = scipy_ufunc(
    "gammasgn", None, doc="The sign of gamma; its derivative is 0.", traits=Traits(signed_zero=(0,))
)
powm1 = scipy_ufunc(
    "powm1",
    lambda ct, out, x, y: ct * (y * power(x, y - 1)),
    lambda ct, out, x, y: ct * xlogy(out + 1, x),
    doc="x**y - 1, accurate where x**y is near 1.",
)


@composite("scipy.special.loggamma")
def loggamma(x: ArrayLike) -> Array:
    """The logarithm of gamma, NaN where gamma's argument is negative (SciPy's of real arrays)."""
    x = as_array(x)
    below = x < 0
    return where(below, float("nan"), gammaln(where(below, 1, x)))


# -- angles ----------------------------------------------------------------------------------------
_DEGREE = pi / 180
cosm1 = scipy_ufunc(
    "cosm1", lambda ct, out, x: -(ct * sin(x)), doc="cos(x) - 1, accurate near 0.", traits=EVEN
)
sindg = scipy_ufunc(
    "sindg", lambda ct, out, x: ct * (_DEGREE * cosdg(x)), doc="The sine of degrees.", traits=ODD
)
cosdg = scipy_ufunc(
    "cosdg",
    lambda ct, out, x: ct * (-_DEGREE * sindg(x)),
    doc="The cosine of degrees.",
    traits=EVEN,
)
tandg = scipy_ufunc(
    "tandg",
    lambda ct, out, x: ct * (_DEGREE * (1 + out * out)),
    doc="The tangent of degrees.",
    traits=ODD,
)
cotdg = scipy_ufunc(
    "cotdg", lambda ct, out, x: ct * (-_DEGREE * (1 + out * out)), doc="The cotangent of degrees."
)
radian = scipy_ufunc(
    "radian",
    lambda ct, out, d, m, s: ct * _DEGREE,
    lambda ct, out, d, m, s: ct * (_DEGREE / 60),
    lambda ct, out, d, m, s: ct * (_DEGREE / 3600),
    doc="Degrees, minutes and seconds in radians.",
    traits=Traits(jointly_linear=...),
)

# -- hypergeometric functions ----------------------------------------------------------------------
hyp0f1 = scipy_ufunc(
    "hyp0f1",
    no_closed_form("hyp0f1"),
    lambda ct, out, v, x: ct * (hyp0f1(v + 1, x) / v),
    doc="The confluent hypergeometric limit function 0F1(v; x).",
    flops=100,
)
hyp1f1 = scipy_ufunc(
    "hyp1f1",
    no_closed_form("hyp1f1"),
    no_closed_form("hyp1f1"),
    lambda ct, out, a, b, x: ct * (a / b * hyp1f1(a + 1, b + 1, x)),
    doc="Kummer's confluent hypergeometric function 1F1(a; b; x).",
    ends_below=LONG_SERIES,
    flops=100,
)
hyp2f1 = scipy_ufunc(
    "hyp2f1",
    *[no_closed_form("hyp2f1")] * 3,
    lambda ct, out, a, b, c, x: ct * (a * b / c * hyp2f1(a + 1, b + 1, c + 1, x)),
    doc="Gauss's hypergeometric function 2F1(a, b; c; x).",
    flops=100,
)
hyperu = scipy_ufunc(
    "hyperu",
    no_closed_form("hyperu"),
    no_closed_form("hyperu"),
    lambda ct, out, a, b, x: -(ct * (a * hyperu(a + 1, b + 1, x))),
    doc="The confluent hypergeometric function U(a, b, x).",
    ends_below=LONG_SERIES,
    flops=100,
)


# -- Struve functions: DLMF 11.4.23 to 11.4.30 -----------------------------------------------------
def _struve_term(v: Array, x: Array) -> Array:
    return power(x / 2, v) / (sqrt(pi) * gamma(v + 1.5))


struve = scipy_ufunc(
    "struve",
    no_closed_form("struve"),
    lambda ct, out, v, x: ct * (0.5 * (struve(v - 1, x) - struve(v + 1, x) + _struve_term(v, x))),
    doc="The Struve function of real order v.",
    flops=100,
)
modstruve = scipy_ufunc(
    "modstruve",
    no_closed_form("modstruve"),
    lambda ct, out, v, x: (
        ct * (0.5 * (modstruve(v - 1, x) + modstruve(v + 1, x) + _struve_term(v, x)))
    ),
    doc="The modified Struve function of real order v.",
    flops=100,
)

# -- others ----------------------------------------------------------------------------------------
owens_t = scipy_ufunc(
    "owens_t",
    lambda ct, out, h, a: (
        -(ct * (exp(-0.5 * (h * h)) * erf(sqrt(0.5) * (a * h)) / (2 * sqrt(2 * pi))))
    ),
    lambda ct, out, h, a: ct * (exp(-0.5 * (h * h * (1 + a * a))) / (2 * pi * (1 + a * a))),
    doc="Owen's T: the probability that X > h and 0 < Y < a X for standard normal X and Y.",
    flops=60,
    traits=Traits(parity=(1, -1)),
)
wrightomega = scipy_ufunc(
    "wrightomega",
    lambda ct, out, x: ct * (out / (1 + out)),
    facts=knows(signs=is_positive),
    doc="The solution of w + log(w) = x.",
    flops=40,
)


# -- several results -------------------------------------------------------------------------------
_SINHC = tuple([1 / factorial(2 * k + 1) for k in range(10)])


def _sinhc(x: Array) -> Array:
    """sinh(x) / x; near 0 by its series, for derivatives of the quotient lose digits there."""
    near = absolute(x) < 0.5
    small, far = where(near, x, 0), where(near, 1, x)
    return where(near, polynomial(small * small, *_SINHC), sinh(far) / far)


_si = part_of(
    "sine_integral",
    "sici",
    0,
    lambda ct, out, x: ct * sinc(x / pi),
    doc="The sine integral: the integral of sin(t) / t from 0 to x.",
    traits=ODD,
)
_ci = part_of(
    "cosine_integral",
    "sici",
    1,
    lambda ct, out, x: ct * (cos(x) / x),
    doc="The cosine integral: minus the integral of cos(t) / t from x to infinity.",
)
_shi = part_of(
    "sinh_integral",
    "shichi",
    0,
    lambda ct, out, x: ct * _sinhc(x),
    doc="The hyperbolic sine integral: the integral of sinh(t) / t from 0 to x.",
    traits=ODD,
)
_chi = part_of(
    "cosh_integral",
    "shichi",
    1,
    lambda ct, out, x: ct * (cosh(x) / x),
    doc="The hyperbolic cosine integral, with the derivative cosh(x) / x.",
    traits=EVEN,
)
_fresnel_s = part_of(
    "fresnel_sine",
    "fresnel",
    0,
    lambda ct, out, x: ct * sin(pi / 2 * (x * x)),
    doc="Fresnel's integral of sin(pi t**2 / 2) from 0 to x.",
    traits=ODD,
)
_fresnel_c = part_of(
    "fresnel_cosine",
    "fresnel",
    1,
    lambda ct, out, x: ct * cos(pi / 2 * (x * x)),
    doc="Fresnel's integral of cos(pi t**2 / 2) from 0 to x.",
    traits=ODD,
)
_ai = part_of("airy_ai", "airy", 0, lambda ct, out, x: ct * _ai_slope(x), doc="Airy's function Ai.")
_ai_slope = part_of(
    "airy_ai_slope",
    "airy",
    1,
    lambda ct, out, x: ct * (x * _ai(x)),
    doc="The derivative of Airy's function Ai.",
)
_bi = part_of("airy_bi", "airy", 2, lambda ct, out, x: ct * _bi_slope(x), doc="Airy's function Bi.")
_bi_slope = part_of(
    "airy_bi_slope",
    "airy",
    3,
    lambda ct, out, x: ct * (x * _bi(x)),
    doc="The derivative of Airy's function Bi.",
)


@composite("scipy.special.sici")
def sici(x: ArrayLike) -> tuple[Array, Array]:
    """The sine and the cosine integral."""
    return _si(x), _ci(x)


@composite("scipy.special.shichi")
def shichi(x: ArrayLike) -> tuple[Array, Array]:
    """The hyperbolic sine and cosine integrals."""
    return _shi(x), _chi(x)


@composite("scipy.special.fresnel")
def fresnel(x: ArrayLike) -> tuple[Array, Array]:
    """Fresnel's integrals S and C."""
    return _fresnel_s(x), _fresnel_c(x)


@composite("scipy.special.airy")
def airy(x: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """Airy's functions Ai, Ai', Bi, Bi'."""
    return _ai(x), _ai_slope(x), _bi(x), _bi_slope(x)


# -- the same of real arguments --------------------------------------------------------------------
NUMPY_FUNCTIONS["scipy.special.jve"] = jv
NUMPY_FUNCTIONS["scipy.special.yve"] = yv


@composite("scipy.special.yn")
def yn(n: ArrayLike, x: ArrayLike) -> Array:
    """The Bessel function of the second kind and whole order n."""
    return yv(trunc(n), x)


@composite("scipy.special.kn")
def kn(n: ArrayLike, x: ArrayLike) -> Array:
    """The modified Bessel function of the second kind and whole order n."""
    return kv(trunc(n), x)
