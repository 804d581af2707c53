"""The error functions: complements that cancel, and logarithms of values that underflow."""

from __future__ import annotations

from math import log as log_of_number
from math import pi, sqrt

from symgraph.numpy import erf, erfc, erfcx, exp, log, log1p, log_erfc, log_ndtr, ndtr, square
from symgraph.rewriting import Identity, Real, Total, rule

SQRT2, SQRT_HALF = sqrt(2), sqrt(0.5)
LOG_SQRT_2PI = 0.5 * log_of_number(2 * pi)
"""The logarithm of the divisor of the normal density."""


# -- complements -----------------------------------------------------------------------------------
@rule(sound="rounding", stable="x far below 0: erf is near -1")
def one_plus_erf(x: Real) -> Identity:
    r"""$1 + \operatorname{erf} x = \operatorname{erfc}(-x)$."""
    return 1 + erf(x), erfc(-x)


@rule(sound="rounding", stable="large x: erf is near 1")
def one_minus_erf(x: Real) -> Identity:
    r"""$1 - \operatorname{erf} x = \operatorname{erfc} x$."""
    return 1 - erf(x), erfc(x)


@rule(sound="rounding", stable="large x: erf is near 1")
def erf_minus_one(x: Real) -> Identity:
    r"""$\operatorname{erf} x - 1 = -\operatorname{erfc} x$."""
    return erf(x) - 1, -erfc(x)


@rule(sound="rounding", stable="small x: erfc is near 1")
def one_minus_erfc(x: Real) -> Identity:
    r"""$1 - \operatorname{erfc} x = \operatorname{erf} x$."""
    return 1 - erfc(x), erf(x)


@rule(sound="rounding", stable="small x: erfc is near 1")
def erfc_minus_one(x: Real) -> Identity:
    r"""$\operatorname{erfc} x - 1 = -\operatorname{erf} x$."""
    return erfc(x) - 1, -erf(x)


# -- logarithms and quotients ----------------------------------------------------------------------
@rule(sound="rounding", stable="large x: erfc underflows; small x: it is near 1")
def log_of_erfc(x: Real) -> Identity:
    r"""$\log \operatorname{erfc} x$ without the underflow."""
    return log(erfc(x)), log_erfc(x)


@rule(sound="rounding", stable="large x: erf is near 1")
def log1p_of_minus_erf(x: Real) -> Identity:
    r"""$\log(1 - \operatorname{erf} x) = \log \operatorname{erfc} x$."""
    return log1p(-erf(x)), log_erfc(x)


@rule(sound="domain", earned={"rounding": {"x": Total}})
def sum_of_erf_and_erfc(x: Real) -> Identity:
    r"""$\operatorname{erf} x + \operatorname{erfc} x = 1$."""
    return erf(x) + erfc(x), 1


@rule(sound="rounding", stable="x far below 0: erf is near -1")
def log1p_of_erf(x: Real) -> Identity:
    r"""$\log(1 + \operatorname{erf} x) = \log \operatorname{erfc}(-x)$."""
    return log1p(erf(x)), log_erfc(-x)


@rule(sound="rounding", stable="large x: erfc underflows; x far below 0: half of it is near 1")
def log_of_half_erfc(x: Real) -> Identity:
    r"""$\log(\frac12 \operatorname{erfc} x) = \log \Phi(-\sqrt2 x)$, the normal distribution's."""
    return log(0.5 * erfc(x)), log_ndtr(-SQRT2 * x)


@rule(sound="rounding", stable="large x: erfc underflows; x far below 0: half of it is near 1")
def log_of_erfc_halved(x: Real) -> Identity:
    r"""$\log(\operatorname{erfc}(x)/2) = \log \Phi(-\sqrt2 x)$."""
    return log(erfc(x) / 2), log_ndtr(-SQRT2 * x)


@rule(sound="rounding", stable="x far below 0: ndtr underflows; large x: it is near 1")
def log_of_ndtr(x: Real) -> Identity:
    r"""$\log \Phi(x)$ without the underflow."""
    return log(ndtr(x)), log_ndtr(x)


@rule(sound="rounding", stable="large x: ndtr is near 1")
def one_minus_ndtr(x: Real) -> Identity:
    r"""$1 - \Phi(x) = \Phi(-x)$."""
    return 1 - ndtr(x), ndtr(-x)


@rule(sound="rounding", stable="large x: ndtr is near 1")
def log1p_of_minus_ndtr(x: Real) -> Identity:
    r"""$\log(1 - \Phi(x)) = \log \Phi(-x)$."""
    return log1p(-ndtr(x)), log_ndtr(-x)


@rule(sound="rounding", stable="large x: 0 / 0")
def normal_density_over_erfc(x: Real) -> Identity:
    r"""$e^{-x^2} / \operatorname{erfc} x = 1 / \operatorname{erfcx} x$."""
    return exp(-square(x)) / erfc(x), 1 / erfcx(x)


@rule(sound="rounding", stable="large x: inf * 0")
def exp_of_square_times_erfc(x: Real) -> Identity:
    r"""$e^{x^2} \operatorname{erfc} x = \operatorname{erfcx} x$."""
    return exp(square(x)) * erfc(x), erfcx(x)


# -- the ratio of the normal density and its integral (Mills 1926) ---------------------------------
@rule(sound="rounding", stable="x far below 0: 0 / 0")
def density_over_ndtr(x: Real) -> Identity:
    r"""$\varphi(x) / \Phi(x) = \sqrt{2/\pi} / \operatorname{erfcx}(-x/\sqrt2)$."""
    density = exp(-0.5 * square(x) - LOG_SQRT_2PI)
    return density / ndtr(x), sqrt(2 / pi) / erfcx(-SQRT_HALF * x)


@rule(sound="rounding", stable="large x: 0 / 0")
def density_over_survival(x: Real) -> Identity:
    r"""$\varphi(x) / \Phi(-x) = \sqrt{2/\pi} / \operatorname{erfcx}(x/\sqrt2)$."""
    density = exp(-0.5 * square(x) - LOG_SQRT_2PI)
    return density / ndtr(-x), sqrt(2 / pi) / erfcx(SQRT_HALF * x)
