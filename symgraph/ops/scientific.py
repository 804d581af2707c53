"""SciPy's rarer special functions of real arguments, each with a known derivative or a formula.

Kelvin functions and integrals of Bessel and Struve functions (DLMF 10.61, 10.43, 11.7),
scaled Airy functions, incomplete elliptic integrals (19.4), the arithmetic-geometric mean
(19.8.5), Wright's function (10.46.4).
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, pi, prod
from typing import Any

from ..array import Array, ArrayLike
from ..ir.differentiation import undefined
from ..ir.op import results_of
from ..ir.traits import EVEN, ODD, Traits
from .bessel import i0, j0, k0, y0
from .choice import where
from .composites import as_array, composite
from .elementwise import absolute
from .elementwise import sqrt as root
from .elliptic import ellipkm1
from .exponential import exp
from .families import elementwise
from .hypergeometric import modstruve, struve
from .scipyufuncs import (
    float_or_double,
    no_closed_form,
    part_of,
    polynomial,
    scipy_ufunc,
)
from .tails import airy_series, far_or_near, horner, slope_of_tail
from .trigonometric import cos, sin

__all__ = [
    "agm",
    "airye",
    "bei",
    "beip",
    "ber",
    "berp",
    "ellipeinc",
    "ellipkinc",
    "it2i0k0",
    "it2j0y0",
    "it2struve0",
    "iti0k0",
    "itj0y0",
    "itmodstruve0",
    "itstruve0",
    "kei",
    "keip",
    "ker",
    "kerp",
    "log_wright_bessel",
    "wright_bessel",
]


# -- Kelvin functions: w = ber + i bei solves x w'' + w' = i x w -----------------------------------
def _quotient(y: Callable[[Array], Array], x: Array, *series: float) -> Array:
    """`y(x) / x`; near 0 by its series in x², for the quotient and its derivatives lose digits."""
    near = absolute(x) < 0.5
    small, far = where(near, x, 0), where(near, 1, x)
    return where(near, polynomial(small * small, *series), y(far) / far)


# DLMF 10.65.1, differentiated and divided by x; every other power is missing.
_BERP = tuple(
    [
        (-1.0) ** (n // 2 + 1) * 2 * (n + 1) / (4.0 ** (n + 1) * factorial(n + 1) ** 2)
        if n % 2
        else 0.0
        for n in range(10)
    ]
)
_BEIP = tuple(
    [
        0.0
        if n % 2
        else (-1.0) ** (n // 2) * 2 * (n + 1) / (4.0 ** (n + 1) * factorial(n + 1) ** 2)
        for n in range(10)
    ]
)
ber = scipy_ufunc(
    "ber", lambda ct, out, x: ct * berp(x), doc="The Kelvin function ber.", flops=40, traits=EVEN
)
bei = scipy_ufunc(
    "bei", lambda ct, out, x: ct * beip(x), doc="The Kelvin function bei.", flops=40, traits=EVEN
)
ker = scipy_ufunc("ker", lambda ct, out, x: ct * kerp(x), doc="The Kelvin function ker.", flops=40)
kei = scipy_ufunc("kei", lambda ct, out, x: ct * keip(x), doc="The Kelvin function kei.", flops=40)
berp = scipy_ufunc(
    "berp",
    lambda ct, out, x: -(ct * (bei(x) + _quotient(berp, x, *_BERP))),
    doc="The derivative of ber.",
    flops=40,
    traits=ODD,
)
beip = scipy_ufunc(
    "beip",
    lambda ct, out, x: ct * (ber(x) - _quotient(beip, x, *_BEIP)),
    doc="The derivative of bei.",
    flops=40,
    traits=ODD,
)
kerp = scipy_ufunc(
    "kerp",
    lambda ct, out, x: -(ct * (kei(x) + out / x)),
    doc="The derivative of ker.",
    flops=40,
)
keip = scipy_ufunc(
    "keip",
    lambda ct, out, x: ct * (ker(x) - out / x),
    doc="The derivative of kei.",
    flops=40,
)

# (1 - j0(x)) / x² and (i0(x) - 1) / x² in powers of x²: DLMF 10.2.2 and 10.25.2.
_J0_LESS = tuple([(-1.0) ** k / (4.0 ** (k + 1) * factorial(k + 1) ** 2) for k in range(10)])
# H0(x) / x in powers of x²: DLMF 11.2.1.
_H0_OVER = tuple([(-1.0) ** k * 2 / (pi * prod(range(1, 2 * k + 2, 2)) ** 2) for k in range(10)])
_I0_LESS = tuple([1 / (4.0 ** (k + 1) * factorial(k + 1) ** 2) for k in range(10)])

# -- integrals -------------------------------------------------------------------------------------
_j0 = part_of(
    "integral_j0",
    "itj0y0",
    0,
    lambda ct, out, x: ct * j0(x),
    doc="The integral of j0 from 0 to x.",
    traits=ODD,
)
_y0 = part_of(
    "integral_y0", "itj0y0", 1, lambda ct, out, x: ct * y0(x), doc="The integral of y0 from 0 to x."
)
_i0 = part_of(
    "integral_i0",
    "iti0k0",
    0,
    lambda ct, out, x: ct * i0(x),
    doc="The integral of i0 from 0 to x.",
    traits=ODD,
)
_k0 = part_of(
    "integral_k0", "iti0k0", 1, lambda ct, out, x: ct * k0(x), doc="The integral of k0 from 0 to x."
)
_j0_over = part_of(
    "integral_j0_over",
    "it2j0y0",
    0,
    lambda ct, out, x: ct * (x * _quotient(lambda x: (1 - j0(x)) / x, x, *_J0_LESS)),
    doc="The integral of (1 - j0(t)) / t from 0 to x.",
    traits=EVEN,
)
_y0_over = part_of(
    "integral_y0_over",
    "it2j0y0",
    1,
    lambda ct, out, x: -(ct * (y0(x) / x)),
    doc="The integral of y0(t) / t from x to infinity.",
)
_i0_over = part_of(
    "integral_i0_over",
    "it2i0k0",
    0,
    lambda ct, out, x: ct * (x * _quotient(lambda x: (i0(x) - 1) / x, x, *_I0_LESS)),
    doc="The integral of (i0(t) - 1) / t from 0 to x.",
    traits=EVEN,
)
_k0_over = part_of(
    "integral_k0_over",
    "it2i0k0",
    1,
    lambda ct, out, x: -(ct * (k0(x) / x)),
    doc="The integral of k0(t) / t from x to infinity.",
)
itstruve0 = scipy_ufunc(
    "itstruve0",
    lambda ct, out, x: ct * struve(0, x),
    doc="The integral of the Struve function H0 from 0 to x.",
    flops=100,
    traits=EVEN,
)
it2struve0 = scipy_ufunc(
    "it2struve0",
    lambda ct, out, x: -(ct * _quotient(lambda x: struve(0, x), x, *_H0_OVER)),
    doc="The integral of H0(t) / t from x to infinity.",
    flops=100,
)
itmodstruve0 = scipy_ufunc(
    "itmodstruve0",
    lambda ct, out, x: ct * modstruve(0, x),
    doc="The integral of the modified Struve function L0 from 0 to x.",
    flops=100,
    traits=EVEN,
)


@composite("scipy.special.itj0y0")
def itj0y0(x: ArrayLike) -> tuple[Array, Array]:
    """The integrals of j0 and y0 from 0 to x."""
    return _j0(x), _y0(x)


@composite("scipy.special.iti0k0")
def iti0k0(x: ArrayLike) -> tuple[Array, Array]:
    """The integrals of i0 and k0 from 0 to x."""
    return _i0(x), _k0(x)


@composite("scipy.special.it2j0y0")
def it2j0y0(x: ArrayLike) -> tuple[Array, Array]:
    """The integrals of (1 - j0(t)) / t from 0 to x, and of y0(t) / t from x to infinity."""
    return _j0_over(x), _y0_over(x)


@composite("scipy.special.it2i0k0")
def it2i0k0(x: ArrayLike) -> tuple[Array, Array]:
    """The integrals of (i0(t) - 1) / t from 0 to x, and of k0(t) / t from x to infinity."""
    return _i0_over(x), _k0_over(x)


# -- scaled Airy functions: Ai exp(z), Ai' exp(z), Bi exp(-z), Bi' exp(-z), z = 2/3 x^(3/2) --------
def _rate(x: Array) -> Array:
    """The root of x, 0 on the left; at 0 it keeps its infinite slope to the right."""
    return root(where(x < 0, 0, x))


_FAR_AIRY = 30.0
"""From here on slopes are those of the series, of which ten terms have all digits."""
_SCIPYS_AIRY = 1e5
"""SciPy gives NaN from 1e6 on; here three terms of the series have all digits."""


def _scaled_airy(name: str, place: int, near: Callable[[Array, Array], Array], doc: str) -> Any:
    """One of the results of `airye`; `near` of x and its value is the slope where x is not far."""
    sign, power = (-1 if place < 2 else 1), (0.25 if place % 2 else -0.25)
    series = airy_series(sign, 10, slope=bool(place % 2))
    factor = (-1 if place == 1 else 1) / ((2 if place < 2 else 1) * pi**0.5)

    def kernel(xp: Any, x: Any) -> Any:
        far = x > _SCIPYS_AIRY
        nearer = xp.special.airye(xp.where(far, 1 + 0 * x, x))[place]
        large = xp.where(far, x, 1 + 0 * x)
        tail = factor * large**power * horner(1.5 / large / xp.sqrt(large), series[:3])
        return xp.astype(xp.where(far, tail, nearer), x.dtype)

    def slope(x: Array, out: Array) -> Array:
        return far_or_near(
            *(x, x > _FAR_AIRY),
            lambda x: slope_of_tail(out, x, 1.5 / x / root(x), power, 1.5, series),
            lambda x: near(x, out),
        )

    return elementwise(
        name,
        kernel=kernel,
        vjp=(lambda ct, out, x: ct * slope(x, out),),
        promote=float_or_double,
        flops=80,
        doc=doc,
        workspace=results_of(8),
    )


_eai = _scaled_airy(
    "airye_ai",
    0,
    lambda x, out: _eai_slope(x) + _rate(x) * out,
    "Airy's function Ai times exp(2/3 x**1.5); NaN left of 0.",
)
_eai_slope = _scaled_airy(
    "airye_ai_slope",
    1,
    lambda x, out: x * _eai(x) + _rate(x) * out,
    "The derivative of Ai times exp(2/3 x**1.5); NaN left of 0.",
)
_ebi = _scaled_airy(
    "airye_bi",
    2,
    lambda x, out: _ebi_slope(x) - _rate(x) * out,
    "Airy's function Bi times exp(-2/3 |Re x**1.5|).",
)
_ebi_slope = _scaled_airy(
    "airye_bi_slope",
    3,
    lambda x, out: x * _ebi(x) - _rate(x) * out,
    "The derivative of Bi times exp(-2/3 |Re x**1.5|).",
)


@composite("scipy.special.airye")
def airye(x: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """Airy's functions without their exponential factors; the first two are NaN left of 0."""
    return _eai(x), _eai_slope(x), _ebi(x), _ebi_slope(x)


# -- incomplete elliptic integrals: F - E = m D ----------------------------------------------------
def _kernel_of_d(xp: Any, phi: Any, m: Any) -> Any:
    """For one half period by Carlson's R_D, as the complete integral for the others."""
    periods = xp.round(phi / pi)
    s = xp.sin(phi - pi * periods)
    rest = s**3 / 3 * xp.special.elliprd(1 - s * s, 1 - m * s * s, m * 0 + 1)
    whole = xp.special.elliprd(m * 0, xp.where(periods == 0, m * 0 + 1, 1 - m), m * 0 + 1) / 3
    return xp.astype(rest + xp.where(periods == 0, rest * 0, 2 * periods * whole), phi.dtype)


def _delta(phi: Array, m: Array) -> Array:
    return root(1 - m * sin(phi) ** 2)


_D = elementwise(
    "ellipdinc",
    workspace=results_of(5.5),
    kernel=_kernel_of_d,
    vjp=(
        lambda ct, out, phi, m: ct * (sin(phi) ** 2 / _delta(phi, m)),
        undefined("second derivatives of incomplete elliptic integrals in m lose their digits"),
    ),
    promote=float_or_double,
    flops=80,
    doc="(ellipkinc(phi, m) - ellipeinc(phi, m)) / m, finite at m = 0.",
    traits=Traits(parity=(-1, 0)),
)
ellipkinc = scipy_ufunc(
    "ellipkinc",
    lambda ct, out, phi, m: ct / _delta(phi, m),
    lambda ct, out, phi, m: (
        ct * ((out - _D(phi, m) - sin(phi) * cos(phi) / _delta(phi, m)) / (2 * (1 - m)))
    ),
    doc="The incomplete elliptic integral of the first kind.",
    flops=60,
)
ellipeinc = scipy_ufunc(
    "ellipeinc",
    lambda ct, out, phi, m: ct * _delta(phi, m),
    lambda ct, out, phi, m: -(ct * (0.5 * _D(phi, m))),
    doc="The incomplete elliptic integral of the second kind.",
    flops=60,
    traits=Traits(parity=(-1, 0)),
)


@composite("scipy.special.agm")
def agm(a: ArrayLike, b: ArrayLike) -> Array:
    """The arithmetic-geometric mean of two numbers of one sign."""
    a, b = as_array(a), as_array(b)
    none = (a == 0) & (b == 0)
    total = where(none, 1, a + b)
    return where(none, 0, pi / 4 * total / ellipkm1(4 * (a / total) * (b / total)))


# -- Wright's function -----------------------------------------------------------------------------
wright_bessel = scipy_ufunc(
    "wright_bessel",
    no_closed_form("wright_bessel"),
    no_closed_form("wright_bessel"),
    lambda ct, out, a, b, x: ct * wright_bessel(a, a + b, x),
    doc="Wright's generalised Bessel function, for a, b, x of 0 or more.",
    flops=100,
)
log_wright_bessel = scipy_ufunc(
    "log_wright_bessel",
    no_closed_form("log_wright_bessel"),
    no_closed_form("log_wright_bessel"),
    lambda ct, out, a, b, x: ct * exp(log_wright_bessel(a, a + b, x) - out),
    doc="The logarithm of wright_bessel.",
    flops=100,
    traits=Traits(other_logarithm=True),
)
