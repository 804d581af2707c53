"""Stability: the same value with fewer digits lost, or without overflow.

The right sides are the spellings of Goldberg (1991) and Mächler (2012). These rules answer to no
cost.
"""

from __future__ import annotations

from symgraph.numpy import exp, expm1, log, log1mexp, log1p, logaddexp, sigmoid, softplus, tanh
from symgraph.rewriting import Identity, Nonpositive, Real, rule


# -- log and exp near their zeros ------------------------------------------------------------------
@rule(sound="rounding", stable="small x: 1 + x rounds its digits away")
def log_of_one_plus(x: Real) -> Identity:
    r"""$\log(1 + x)$ without the sum."""
    return log(1 + x), log1p(x)


@rule(sound="rounding", stable="small x")
def log_of_one_minus(x: Real) -> Identity:
    r"""$\log(1 - x)$ without the difference."""
    return log(1 - x), log1p(-x)


@rule(sound="rounding", stable="small x: exp(x) is near 1")
def exp_minus_one(x: Real) -> Identity:
    r"""$e^x - 1$ without the difference."""
    return exp(x) - 1, expm1(x)


@rule(sound="rounding", stable="small x")
def one_minus_exp(x: Real) -> Identity:
    r"""$1 - e^x$ without the difference."""
    return 1 - exp(x), -expm1(x)


@rule(sound="rounding")
def expm1_plus_one(x: Real) -> Identity:
    r"""$(e^x - 1) + 1 = e^x$."""
    return expm1(x) + 1, exp(x)


# -- softplus and its complement -------------------------------------------------------------------
@rule(sound="rounding", stable="large x: exp overflows")
def log1p_of_exp(x: Real) -> Identity:
    r"""$\log(1 + e^x)$ is the softplus."""
    return log1p(exp(x)), softplus(x)


@rule(sound="rounding", stable="x near 0 and far below")
def log1p_of_minus_exp(x: Real) -> Identity:
    r"""$\log(1 - e^x)$, NaN for $x > 0$ on both sides."""
    return log1p(-exp(x)), log1mexp(x)


@rule(sound="rounding", stable="x far below 0")
def log_of_minus_expm1(x: Real) -> Identity:
    r"""$\log(-(e^x - 1))$ has the same name."""
    return log(-expm1(x)), log1mexp(x)


@rule(sound="rounding", stable="large x or y: exp overflows")
def log_of_sum_of_exps(x: Real, y: Real) -> Identity:
    r"""$\log(e^x + e^y)$."""
    return log(exp(x) + exp(y)), logaddexp(x, y)


# -- logistic --------------------------------------------------------------------------------------
@rule(sound="rounding", stable="large x: exp overflows")
def one_over_one_plus_exp_of_negative(x: Real) -> Identity:
    r"""$1/(1 + e^{-x})$ is the logistic function."""
    return 1 / (1 + exp(-x)), sigmoid(x)


@rule(sound="rounding", stable="large x: exp overflows")
def one_over_one_plus_exp(x: Real) -> Identity:
    r"""$1/(1 + e^x) = \sigma(-x)$."""
    return 1 / (1 + exp(x)), sigmoid(-x)


@rule(sound="rounding", stable="large x: inf / inf")
def exp_over_one_plus_exp(x: Real) -> Identity:
    r"""$e^x/(1 + e^x) = \sigma(x)$."""
    return exp(x) / (1 + exp(x)), sigmoid(x)


@rule(sound="rounding", stable="large x: inf / inf")
def exp_over_one_plus_its_exp(x: Real) -> Identity:
    r"""$e^{-x}/(1 + e^{-x}) = \sigma(-x)$."""
    return exp(-x) / (1 + exp(-x)), sigmoid(-x)


@rule(sound="rounding", stable="x far below 0: sigmoid underflows")
def log_of_sigmoid(x: Real) -> Identity:
    r"""$\log \sigma(x) = -\log(1 + e^{-x})$."""
    return log(sigmoid(x)), -softplus(-x)


@rule(sound="rounding", stable="large x")
def log1p_of_minus_sigmoid(x: Real) -> Identity:
    r"""$\log(1 - \sigma(x)) = -\log(1 + e^x)$."""
    return log1p(-sigmoid(x)), -softplus(x)


@rule(sound="rounding", stable="large x")
def exp_of_minus_softplus(x: Real) -> Identity:
    r"""$e^{-\log(1 + e^x)} = \sigma(-x)$."""
    return exp(-softplus(x)), sigmoid(-x)


@rule(sound="rounding")
def exp_of_softplus(x: Real) -> Identity:
    r"""$e^{\log(1 + e^x)} = 1 + e^x$."""
    return exp(softplus(x)), 1 + exp(x)


@rule(sound="rounding")
def expm1_of_softplus(x: Real) -> Identity:
    r"""$e^{\log(1 + e^x)} - 1 = e^x$."""
    return expm1(softplus(x)), exp(x)


@rule(sound="rounding", stable="large x")
def softplus_difference(x: Real) -> Identity:
    r"""$\log(1 + e^x) - x = \log(1 + e^{-x})$."""
    return softplus(x) - x, softplus(-x)


@rule(sound="rounding", stable="large x")
def identity_minus_softplus(x: Real) -> Identity:
    r"""$x - \log(1 + e^x) = -\log(1 + e^{-x})$."""
    return x - softplus(x), -softplus(-x)


@rule(sound="rounding", stable="large x")
def identity_minus_softplus_of_negative(x: Real) -> Identity:
    r"""$x + \log(1 + e^{-x}) = \log(1 + e^x)$."""
    return x + softplus(-x), softplus(x)


@rule(sound="rounding", stable="small x: a difference of near equals")
def twice_sigmoid_minus_one(x: Real) -> Identity:
    r"""$2\sigma(x) - 1 = \tanh(x/2)$."""
    return 2 * sigmoid(x) - 1, tanh(0.5 * x)


@rule(sound="rounding", stable="small x: a difference of near equals")
def one_minus_twice_sigmoid(x: Real) -> Identity:
    r"""$1 - 2\sigma(x) = -\tanh(x/2)$."""
    return 1 - 2 * sigmoid(x), -tanh(0.5 * x)


@rule(sound="rounding", stable="small x: a difference of near equals")
def sigmoid_difference(x: Real) -> Identity:
    r"""$\sigma(x) - \sigma(-x) = \tanh(x/2)$."""
    return sigmoid(x) - sigmoid(-x), tanh(0.5 * x)


@rule(sound="rounding")
def sigmoid_quotient(x: Real) -> Identity:
    r"""$\sigma(x)/\sigma(-x) = e^x$."""
    return sigmoid(x) / sigmoid(-x), exp(x)


@rule(sound="rounding")
def softplus_of_log1mexp(x: Nonpositive) -> Identity:
    r"""$e^{\log(1 - e^x)} = 1 - e^x$ for $x \le 0$."""
    return exp(log1mexp(x)), -expm1(x)
