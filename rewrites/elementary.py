"""Signs and absolute values of products, sums of constants, inverse pairs on their domain."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from symgraph.facts import interval
from symgraph.numpy import (
    absolute,
    digamma,
    exp,
    exp2,
    expm1,
    log,
    log1p,
    log2,
    logaddexp,
    logit,
    power,
    sigmoid,
    sign,
    square,
)
from symgraph.rewriting import (
    Array,
    Constant,
    Identity,
    Nonnegative,
    Nonzero,
    Positive,
    Real,
    Varying,
    applied,
    building,
    folded,
    is_real,
    is_total,
    of_fact,
    product,
    rule,
)
from symgraph.rewriting.guards import uniform_value

Probability: TypeAlias = Annotated[Array, of_fact(interval(0.0, 1.0))]
Sure: TypeAlias = Annotated[Positive, is_total]
"""Positive, and defined wherever the inputs are finite."""
RealConstant: TypeAlias = Annotated[Constant, is_real]


# -- signs -----------------------------------------------------------------------------------------
@rule(sound="rounding")
def sign_of_quotient_by_positive(x: Real, y: Sure) -> Identity:
    r"""$\operatorname{sgn}(x / y) = \operatorname{sgn} x$ for $y > 0$."""
    return sign(x / y), sign(x)


@rule(sound="rounding")
def sign_of_product_with_positive(x: Real, y: Sure) -> Identity:
    r"""$\operatorname{sgn}(x y) = \operatorname{sgn} x$ for $y > 0$."""
    return sign(x * y), sign(x)


@rule(sound="rounding")
def sign_of_reciprocal(x: Annotated[Nonzero, is_real]) -> Identity:
    r"""$\operatorname{sgn}(1 / x) = \operatorname{sgn} x$."""
    return sign(1 / x), sign(x)


@rule(sound="exact")
def sign_of_sign(x: Array) -> Identity:
    r"""The sign of a sign is that sign."""
    return sign(sign(x)), sign(x)


# -- absolute values -------------------------------------------------------------------------------
@rule(sound="domain", earned={"rounding": {"x": Nonzero}})
def over_its_absolute(x: Real) -> Identity:
    r"""$x / |x| = \operatorname{sgn} x$ for $x \ne 0$."""
    return x / absolute(x), sign(x)


@rule(sound="domain", earned={"rounding": {"x": Nonzero}})
def square_over_absolute(x: Real) -> Identity:
    r"""$x^2 / |x| = |x|$ for $x \ne 0$; the right side is finite where the square overflows."""
    return square(x) / absolute(x), absolute(x)


@rule(sound="domain", earned={"rounding": {"x": Nonzero}})
def absolute_over_itself(x: Real) -> Identity:
    r"""$|x| / x = \operatorname{sgn} x$ for $x \ne 0$."""
    return absolute(x) / x, sign(x)


@rule(sound="exact", measure="absolute values")
def product_of_absolutes(x: Real, y: Real) -> Identity:
    r"""$|x|\,|y| = |x y|$."""
    return absolute(x) * absolute(y), absolute(x * y)


@rule(sound="exact", measure="absolute values")
def quotient_of_absolutes(x: Real, y: Real) -> Identity:
    r"""$|x| / |y| = |x / y|$."""
    return absolute(x) / absolute(y), absolute(x / y)


# -- constant arrays -------------------------------------------------------------------------------
@building
def _product(c: Array, k: Array) -> Array:
    """The product of two constants; of two numbers as in `times_two_constants`."""
    if uniform_value(c.node) is not None and uniform_value(k.node) is not None:
        return product(c, k)
    return folded(c, k, np.multiply)


@rule(sound="rounding")
def plus_two_constant_arrays(x: Varying, c: RealConstant, k: RealConstant) -> Identity:
    r"""$(x + c) + k = x + (c + k)$, for arrays of constants."""
    return (x + c) + k, x + folded(c, k, np.add)


@rule(sound="rounding")
def minus_two_constant_arrays(x: Varying, c: RealConstant, k: RealConstant) -> Identity:
    r"""$(x - c) - k = x - (c + k)$, for arrays of constants."""
    return (x - c) - k, x - folded(c, k, np.add)


@rule(sound="rounding")
def times_two_constant_arrays(x: Varying, c: RealConstant, k: RealConstant) -> Identity:
    r"""$(x c) k = x (c k)$, for arrays of constants."""
    return (x * c) * k, _product(c, k) * x


# -- inverse pairs ---------------------------------------------------------------------------------
@rule(sound="domain", earned={"rounding": {"x": Nonnegative}})
def expm1_of_log(x: Real) -> Identity:
    r"""$e^{\log x} - 1 = x - 1$."""
    return expm1(log(x)), x - 1


@rule(sound="rounding", stable="large x: sigmoid is near 1")
def logit_of_sigmoid(x: Real) -> Identity:
    r"""$\operatorname{logit}(\sigma(x)) = x$; the right side is finite where $\sigma$ is 1."""
    return logit(sigmoid(x)), x


@rule(sound="domain", earned={"rounding": {"x": Nonnegative}})
def logaddexp_of_zero_and_log(x: Real) -> Identity:
    r"""$\log(e^0 + e^{\log x}) = \log(1 + x)$."""
    return logaddexp(0, log(x)), log1p(x)


@rule(sound="domain", earned={"rounding": {"x": Nonnegative}})
def exp2_of_log2(x: Real) -> Identity:
    r"""$2^{\log_2 x} = x$."""
    return exp2(log2(x)), x


@rule(sound="rounding")
def log2_of_exp2(x: Real) -> Identity:
    r"""$\log_2 2^x = x$; the right side is finite where the power overflows."""
    return log2(exp2(x)), x


@rule(sound="domain", earned={"rounding": {"x": Probability}})
def sigmoid_of_logit(x: Real) -> Identity:
    r"""$\sigma(\operatorname{logit} x) = x$ between 0 and 1."""
    return sigmoid(logit(x)), x


@rule(sound="domain", earned={"rounding": {"x": Probability}})
def sigmoid_of_log_odds(x: Real) -> Identity:
    r"""$\sigma(\log \tfrac{x}{1 - x}) = x$ between 0 and 1."""
    return sigmoid(log(x / (1 - x))), x


@rule(sound="domain", earned={"rounding": {"x": Probability}})
def sigmoid_of_log_odds_in_parts(x: Real) -> Identity:
    r"""$\sigma(\log x - \log(1 - x)) = x$ between 0 and 1."""
    return sigmoid(log(x) - log1p(-x)), x


# -- powers and logs -------------------------------------------------------------------------------
@rule(sound="domain", earned={"rounding": {"a": Sure}}, measure="powers")
def product_of_powers(a: Nonnegative, x: Real, y: Real) -> Identity:
    r"""$a^x a^y = a^{x + y}$ for $a \ge 0$."""
    return power(a, x) * power(a, y), power(a, x + y)


@rule(sound="domain", measure="powers")
def quotient_of_powers(a: Nonnegative, x: Real, y: Real) -> Identity:
    r"""$a^x / a^y = a^{x - y}$ for $a \ge 0$."""
    return power(a, x) / power(a, y), power(a, x - y)


@rule(sound="rounding", stable="exp overflows")
def log_of_product_with_exp(x: Varying, y: Real) -> Identity:
    r"""$\log(x e^y) = \log x + y$, NaN for $x < 0$ on both sides."""
    return log(x * exp(y)), log(x) + y


@rule(sound="rounding")
def polygamma_of_order_zero(x: Real) -> Identity:
    r"""$\psi^{(0)} = \psi$."""
    return applied("polygamma", x, order=0), digamma(x)
