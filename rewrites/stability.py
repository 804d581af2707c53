"""Stability: the same value with fewer digits lost, or without overflow.

The right sides are the formulas of Goldberg (1991) and Mächler (2012). These rules apply whatever
they cost.
"""

from __future__ import annotations

from math import inf
from math import log as ln
from typing import Annotated

from symgraph.numpy import (
    cosh,
    equal,
    exp,
    expm1,
    hypot,
    log,
    log1mexp,
    log1p,
    log_expm1,
    logaddexp,
    logcosh,
    logsinh,
    sinh,
    softplus,
    sqrt,
    sqrt1pm1,
    square,
    tanh,
    where,
)
from symgraph.rewriting import (
    Identity,
    Positive,
    PositiveConstant,
    Real,
    Varying,
    provided,
    rule,
)

from .known import logarithm_in_range

LN2 = ln(2)


# -- log and exp near their zeros ------------------------------------------------------------------
@rule(sound="rounding", stable="small x: 1 + x rounds its digits away")
def log_of_one_plus(x: Real) -> Identity:
    r"""$\log(1 + x) = \operatorname{log1p} x$, computed without the sum."""
    return log(1 + x), log1p(x)


@rule(sound="rounding", stable="small x")
def log_of_one_minus(x: Real) -> Identity:
    r"""$\log(1 - x) = \operatorname{log1p}(-x)$, computed without the difference."""
    return log(1 - x), log1p(-x)


@rule(sound="rounding", stable="small x: exp(x) is near 1")
def exp_minus_one(x: Real) -> Identity:
    r"""$e^x - 1 = \operatorname{expm1} x$, computed without the difference."""
    return exp(x) - 1, expm1(x)


@rule(sound="rounding", stable="small x")
def one_minus_exp(x: Real) -> Identity:
    r"""$1 - e^x = -\operatorname{expm1} x$, computed without the difference."""
    return 1 - exp(x), -expm1(x)


@rule(sound="rounding", stable="x far from 0: inf / inf")
def exp_over_squared_expm1(x: Real) -> Identity:
    r"""$e^x / (e^x - 1)^2 = -1 / ((e^x - 1)(e^{-x} - 1))$."""
    return exp(x) / square(expm1(x)), -1 / (expm1(x) * expm1(-x))


@rule(sound="rounding", stable="x far from 0: inf / inf")
def exp_over_expm1_twice(x: Real) -> Identity:
    r"""$e^x / (e^x - 1) / (e^x - 1) = -1 / ((e^x - 1)(e^{-x} - 1))$."""
    return exp(x) / expm1(x) / expm1(x), -1 / (expm1(x) * expm1(-x))


@rule(sound="rounding")
def expm1_plus_one(x: Real) -> Identity:
    r"""$(e^x - 1) + 1 = e^x$."""
    return expm1(x) + 1, exp(x)


@rule(sound="rounding", stable="small x: a root near 1")
def sqrt_of_one_plus_minus_one(x: Real) -> Identity:
    r"""$\sqrt{1 + x} - 1 = x / (\sqrt{1 + x} + 1)$."""
    return sqrt(1 + x) - 1, sqrt1pm1(x)


@rule(sound="rounding", stable="small x: a root near 1")
def one_minus_sqrt_of_one_minus(x: Real) -> Identity:
    r"""$1 - \sqrt{1 - x} = x / (1 + \sqrt{1 - x})$."""
    return 1 - sqrt(1 - x), -sqrt1pm1(-x)


@rule(sound="rounding", stable="large x or y: the squares overflow; small: they underflow")
def root_of_two_squares(x: Varying, y: Varying) -> Identity:
    r"""$\sqrt{x^2 + y^2}$ is the hypotenuse of $x$ and $y$.

    If neither has the full shape, the squares are cheaper.
    """
    total = square(x) + square(y)
    provided((x.shape == total.shape) | (y.shape == total.shape))
    return sqrt(total), hypot(x, y)


@rule(sound="rounding", stable="large x: exp overflows before the root is taken")
def sqrt_of_exp(x: Real) -> Identity:
    r"""$\sqrt{e^x} = e^{x/2}$."""
    return sqrt(exp(x)), exp(0.5 * x)


# -- softplus and its complement -------------------------------------------------------------------
@rule(sound="rounding", stable="large x: exp overflows")
def log1p_of_exp(x: Real) -> Identity:
    r"""$\log(1 + e^x)$ is the softplus."""
    return log1p(exp(x)), softplus(x)


@rule(sound="rounding", stable="x near 0 and far below")
def log1p_of_minus_exp(x: Real) -> Identity:
    r"""$\log(1 - e^x) = \operatorname{log1mexp} x$, NaN for $x > 0$ on both sides."""
    return log1p(-exp(x)), log1mexp(x)


@rule(sound="rounding", stable="x far below 0")
def log_of_minus_expm1(x: Real) -> Identity:
    r"""$\log(-(e^x - 1)) = \log(1 - e^x)$."""
    return log(-expm1(x)), log1mexp(x)


@rule(sound="rounding", stable="large x or y: exp overflows")
def log_of_sum_of_exps(x: Real, y: Real) -> Identity:
    r"""$\log(e^x + e^y) = \max(x, y) + \log(1 + e^{-|x - y|})$."""
    return log(exp(x) + exp(y)), logaddexp(x, y)


# Before `log_of_sum_of_exps`, whose derivative is a difference of near equals at 0.
@rule(sound="rounding", priority=1, stable="large x: exp overflows; small x: in the derivative")
def log_of_exp_plus_its_inverse(x: Real) -> Identity:
    r"""$\log(e^x + e^{-x}) = \log \cosh x + \log 2$."""
    return log(exp(x) + exp(-x)), logcosh(x) + LN2


@rule(sound="rounding", stable="large x, y or z: exp overflows")
def log_of_sum_of_three_exps(x: Real, y: Real, z: Real) -> Identity:
    r"""$\log(e^x + e^y + e^z) = \log(e^u + e^z)$ for $u = \log(e^x + e^y)$."""
    return log(exp(x) + exp(y) + exp(z)), logaddexp(logaddexp(x, y), z)


@rule(sound="rounding", priority=-1, stable="large x: exp overflows")
def log_of_exp_plus_constant(x: Real, c: PositiveConstant) -> Identity:
    r"""$\log(e^x + c) = \log(e^x + e^{\log c})$ for a number $c > 0$."""
    return log(exp(x) + c), logaddexp(x, log(c))


@rule(sound="rounding", priority=-2, stable="large x: exp overflows")
def log_of_exp_and_positive(x: Real, y: Annotated[Positive, logarithm_in_range]) -> Identity:
    r"""$\log(e^x + y) = \log(e^x + e^{\log y})$ for $y > 0$.

    If y has overflowed where its logarithm stays infinite, the slope in x would be 0, not NaN.
    """
    return log(exp(x) + y), logaddexp(x, log(y))


@rule(sound="rounding", stable="large x: exp overflows")
def log1p_of_multiple_of_exp(x: Real, y: Annotated[Positive, logarithm_in_range]) -> Identity:
    r"""$\log(1 + y e^x) = \log(1 + e^{x + \log y})$ for $y > 0$."""
    return log1p(y * exp(x)), softplus(x + log(y))


@rule(sound="rounding", stable="large x or y: exp overflows; x near y: a difference")
def log_of_difference_of_exps(x: Real, y: Real) -> Identity:
    r"""$\log(e^x - e^y) = x + \log(1 - e^{y - x})$, and $x$ for $y = -\infty$."""
    return log(exp(x) - exp(y)), where(equal(y, -inf), x, x + log1mexp(y - x))


@rule(sound="rounding", stable="large x: exp overflows")
def log_of_expm1(x: Real) -> Identity:
    r"""$\log(e^x - 1) = x + \log(1 - e^{-x})$, the inverse of softplus."""
    return log(expm1(x)), log_expm1(x)


@rule(sound="rounding", priority=1, stable="large x: cosh overflows; small x: in the derivative")
def log_of_twice_cosh(x: Real) -> Identity:
    r"""$\log(2 \cosh x) = \log \cosh x + \log 2$."""
    return log(2 * cosh(x)), logcosh(x) + LN2


@rule(sound="rounding", stable="large x: cosh overflows; small x: it is near 1")
def log_of_cosh(x: Real) -> Identity:
    r"""$\log \cosh x = |x| + \log(1 + e^{-2 |x|}) - \log 2$."""
    return log(cosh(x)), logcosh(x)


@rule(sound="rounding", stable="large x: sinh overflows")
def log_of_sinh(x: Real) -> Identity:
    r"""$\log \sinh x = x + \log(1 - e^{-2 x}) - \log 2$, NaN for $x < 0$ on both sides."""
    return log(sinh(x)), logsinh(x)


@rule(sound="rounding", stable="large x: tanh is 1")
def log_of_squared_sech(x: Real) -> Identity:
    r"""$\log(1 - \tanh^2 x) = -2 \log \cosh x$."""
    return log1p(-square(tanh(x))), -2 * logcosh(x)


# For other multiples than 1/2 the log may be 0 near x = 0; there the typed form has more digits.
@rule(sound="rounding", stable="x far below 0: tanh is -1")
def log_of_half_of_one_plus_tanh(x: Real) -> Identity:
    r"""$\log \frac12 (1 + \tanh x) = -\log(1 + e^{-2 x})$."""
    return log(0.5 * (1 + tanh(x))), -softplus(-2 * x)


@rule(sound="rounding", stable="x far below 0: tanh is -1")
def log_of_one_plus_tanh_over_two(x: Real) -> Identity:
    r"""$\log((1 + \tanh x)/2) = -\log(1 + e^{-2 x})$."""
    return log((1 + tanh(x)) / 2), -softplus(-2 * x)


@rule(sound="rounding", stable="large x: tanh is 1")
def log_of_half_of_one_minus_tanh(x: Real) -> Identity:
    r"""$\log \frac12 (1 - \tanh x) = -\log(1 + e^{2 x})$."""
    return log(0.5 * (1 - tanh(x))), -softplus(2 * x)


@rule(sound="rounding", stable="large x: tanh is 1")
def log_of_one_minus_tanh_over_two(x: Real) -> Identity:
    r"""$\log((1 - \tanh x)/2) = -\log(1 + e^{2 x})$."""
    return log((1 - tanh(x)) / 2), -softplus(2 * x)


@rule(sound="rounding", stable="y near 1: the sum is 1")
def complement_of_mixture_with_one(x: Real, y: Real) -> Identity:
    """$1 - (x + (1 - x) y) = (1 - x)(1 - y)$, where the left side cancels."""
    return 1 - (x + (1 - x) * y), (1 - x) * (1 - y)
