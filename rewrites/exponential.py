"""Exponentials, logarithms and powers: inverse pairs and special exponents."""

from __future__ import annotations

from math import inf

from symgraph.facts import interval
from symgraph.numpy import (
    absolute,
    exp,
    expm1,
    log,
    log1p,
    log_or_zero,
    multiply_or_zero,
    negative,
    power,
    sqrt,
    square,
)
from symgraph.rewriting import (
    Array,
    Identity,
    Integer,
    Nonnegative,
    Nonzero,
    Positive,
    Real,
    Total,
    holds,
    rule,
)

AWAY_FROM_ZERO = interval(1e-3, inf)
"""The fact that the reciprocal of a value is finite in any dtype."""


# -- inverse pairs ---------------------------------------------------------------------------------
@rule(sound="rounding")
def log_of_exp(x: Real) -> Identity:
    r"""$\log e^x = x$ for real $x$; the right side is finite where exp overflows."""
    return log(exp(x)), x


@rule(sound="domain", earned={"rounding": {"x": Nonnegative}})
def exp_of_log(x: Real) -> Identity:
    r"""$e^{\log x} = x$ for $x \ge 0$."""
    return exp(log(x)), x


@rule(sound="rounding")
def exp_of_difference_of_logs(x: Nonnegative, y: Positive) -> Identity:
    r"""$e^{\log x - \log y} = x/y$ for $x \ge 0$ and $y > 0$; at $y = -0$ it has the wrong sign."""
    return exp(log(x) - log(y)), x / y


@rule(sound="rounding")
def exp_of_sum_of_logs(x: Nonnegative, y: Nonnegative) -> Identity:
    r"""$e^{\log x + \log y} = x\,y$ for $x, y \ge 0$."""
    return exp(log(x) + log(y)), x * y


@rule(sound="rounding")
def log1p_of_expm1(x: Real) -> Identity:
    r"""$\log(1 + (e^x - 1)) = x$."""
    return log1p(expm1(x)), x


@rule(sound="domain", earned={"rounding": {"x": Nonnegative}})
def expm1_of_log1p(x: Real) -> Identity:
    r"""$e^{\log(1+x)} - 1 = x$ for $x \ge -1$."""
    return expm1(log1p(x)), x


@rule(sound="domain", earned={"rounding": {"x": Nonnegative}})
def exp_of_log1p(x: Real) -> Identity:
    r"""$e^{\log(1+x)} = 1 + x$ for $x \ge -1$."""
    return exp(log1p(x)), 1 + x


@rule(sound="rounding")
def sqrt_of_square(x: Real) -> Identity:
    r"""$\sqrt{x^2} = |x|$; the right side keeps digits and range."""
    return sqrt(square(x)), absolute(x)


@rule(sound="rounding")
def sqrt_of_product_with_itself(x: Real) -> Identity:
    r"""$\sqrt{x x} = |x|$."""
    return sqrt(x * x), absolute(x)


@rule(sound="domain", earned={"rounding": {"x": Nonnegative}})
def square_of_sqrt(x: Real) -> Identity:
    r"""$(\sqrt x)^2 = x$ for $x \ge 0$."""
    return square(sqrt(x)), x


@rule(sound="domain", earned={"rounding": {"x": Nonnegative}})
def sqrt_times_itself(x: Real) -> Identity:
    r"""$\sqrt x \sqrt x = x$ for $x \ge 0$."""
    return sqrt(x) * sqrt(x), x


# -- products of exponentials ----------------------------------------------------------------------
@rule(sound="rounding", measure="exponentials")
def exp_times_exp(x: Real, y: Real) -> Identity:
    r"""$e^x e^y = e^{x + y}$."""
    return exp(x) * exp(y), exp(x + y)


@rule(sound="rounding", measure="exponentials")
def exp_over_exp(x: Real, y: Real) -> Identity:
    r"""$e^x / e^y = e^{x - y}$."""
    return exp(x) / exp(y), exp(x - y)


# -- powers ----------------------------------------------------------------------------------------
@rule(sound="exact")
def power_one(x: Real) -> Identity:
    """$x^1 = x$."""
    return power(x, 1), x


@rule(sound="exact")
def power_zero(x: Real) -> Identity:
    """$x^0 = 1$, also of 0 and of NaN."""
    return power(x, 0), 1


@rule(sound="rounding", earned={"exact": {"x": Integer}})
def power_two(x: Array) -> Identity:
    """$x^2$ is cheaper as `square`."""
    return power(x, 2), square(x)


@rule(sound="exact", measure="products of a number with itself")
def minus_itself_times_itself(x: Real) -> Identity:
    """$(-x) x = -x^2$."""
    return negative(x) * x, negative(square(x))


@rule(sound="rounding")
def power_half(x: Real) -> Identity:
    r"""$x^{1/2} = \sqrt x$, NaN for negative $x$ on both sides."""
    return power(x, 0.5), sqrt(x)


@rule(sound="rounding", measure="powers")
def power_minus_one(x: Real) -> Identity:
    """$x^{-1} = 1/x$."""
    return power(x, -1), 1 / x


@rule(sound="exact")
def multiple_of_lowered_power(x: Real, y: Real) -> Identity:
    r"""$y\,x^{y - 1}$ needs no case for $y = 0$: it is 0 there if $1/x$ is finite."""
    holds(x, AWAY_FROM_ZERO)
    return multiply_or_zero(y, power(x, y - 1)), y * power(x, y - 1)


@rule(sound="rounding")
def multiple_of_lowered_power_of_nonzero(x: Nonzero, y: Real) -> Identity:
    r"""$y\,x^{y - 1}$ needs no case for $y = 0$ unless $1/x$ overflows."""
    return multiply_or_zero(y, power(x, y - 1)), y * power(x, y - 1)


@rule(sound="domain", earned={"rounding": {"x": (Nonzero, Total)}})
def slope_of_power_raised(x: Real, y: Real) -> Identity:
    r"""$x\,(y\,x^{y - 1}) = y\,x^y$ but where x is 0 or infinite."""
    return x * multiply_or_zero(y, power(x, y - 1)), y * power(x, y)


# Quotients of the Bose-Einstein distribution: for x < 0 the right sides would cancel.
@rule(sound="rounding", stable="exp overflows")
def exp_over_expm1(x: Nonnegative) -> Identity:
    r"""$e^x / (e^x - 1) = 1 + 1 / (e^x - 1)$ for $x \ge 0$."""
    return exp(x) / expm1(x), 1 + 1 / expm1(x)


@rule(sound="rounding", stable="exp overflows")
def product_with_exp_over_expm1(x: Nonnegative, y: Real) -> Identity:
    r"""$y e^x / (e^x - 1) = y + y / (e^x - 1)$ for $x \ge 0$."""
    return y * exp(x) / expm1(x), y + y / expm1(x)


# Tried before the special exponents, which match a base of 1 as well.
@rule(sound="exact", priority=1)
def one_to_any_power(x: Real) -> Identity:
    """$1^x = 1$, also for NaN."""
    return power(1, x), 1


# -- logarithms ------------------------------------------------------------------------------------
@rule(sound="rounding", measure="logarithms of powers")
def log_of_square_of_nonnegative(x: Nonnegative) -> Identity:
    r"""$\log x^2 = 2 \log x$ for $x \ge 0$."""
    return log(square(x)), 2 * log(x)


@rule(sound="rounding", measure="logarithms of powers")
def log_of_sqrt(x: Real) -> Identity:
    r"""$\log \sqrt x = \frac12 \log x$."""
    return log(sqrt(x)), 0.5 * log(x)


@rule(sound="rounding")
def log_of_reciprocal(x: Real) -> Identity:
    r"""$\log (1/x) = -\log x$, NaN for $x < 0$ on both sides."""
    return log(1 / x), -log(x)


@rule(sound="rounding")
def logarithm_never_of_zero(x: Nonzero) -> Identity:
    r"""A logarithm that would be 0 for $x = 0$, though $x$ is never 0."""
    return log_or_zero(x), log(x)


@rule(sound="exact")
def absolute_of_exp(x: Real) -> Identity:
    """Exponentials are positive."""
    return absolute(exp(x)), exp(x)
