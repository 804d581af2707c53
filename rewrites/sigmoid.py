"""The logistic sigmoid, softplus and tanh: quotients of exponentials that do not overflow.

As in `stability`, these rules apply whatever they cost.
"""

from __future__ import annotations

from symgraph.numpy import (
    cosh,
    exp,
    expm1,
    log,
    log1mexp,
    log1p,
    sigmoid,
    softplus,
    squareplus,
    tanh,
)
from symgraph.rewriting import (
    Finite,
    Identity,
    Nonnegative,
    Nonpositive,
    Real,
    ScaleConstant,
    UniformConstant,
    rule,
)


@rule(sound="rounding", stable="large x: exp overflows")
def one_over_one_plus_exp_of_negative(x: Real) -> Identity:
    r"""$1/(1 + e^{-x}) = \sigma(x)$."""
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


@rule(sound="rounding", stable="large x: in the derivative, inf / inf")
def constant_over_one_plus_exp(x: Real, c: UniformConstant) -> Identity:
    r"""$c/(1 + e^x) = c\,\sigma(-x)$."""
    return c / (1 + exp(x)), c * sigmoid(-x)


@rule(sound="rounding", priority=-1, stable="large y: in the derivative, inf / inf")
def over_one_plus_exp(x: Real, y: Real) -> Identity:
    r"""$x/(1 + e^y) = x\,\sigma(-y)$."""
    return x / (1 + exp(y)), x * sigmoid(-y)


@rule(sound="rounding", stable="large y: in the derivative, inf / inf")
def over_one_plus_exp_of_negative(x: Real, y: Real) -> Identity:
    r"""$x/(1 + e^{-y}) = x\,\sigma(y)$."""
    return x / (1 + exp(-y)), x * sigmoid(y)


@rule(sound="rounding", measure="exponentials")
def exp_over_sum_of_two(x: Real, y: Real) -> Identity:
    r"""$e^x/(e^x + e^y) = \sigma(x - y)$, a softmax of two."""
    return exp(x) / (exp(x) + exp(y)), sigmoid(x - y)


@rule(sound="rounding", priority=-1, stable="large x: inf / inf")
def exp_over_positive_plus_exp(x: Real, c: ScaleConstant) -> Identity:
    r"""$e^x/(c + e^x) = \sigma(x - \log c)$ for a number $c$ of ordinary size."""
    return exp(x) / (c + exp(x)), sigmoid(x - log(c))


@rule(sound="rounding", priority=-1, stable="large x: inf * 0")
def exp_times_quotient_by_positive_plus_exp(x: Real, y: Real, c: ScaleConstant) -> Identity:
    r"""$e^x y/(c + e^x) = y\,\sigma(x - \log c)$ for a number $c$ of ordinary size."""
    return y / (c + exp(x)) * exp(x), y * sigmoid(x - log(c))


@rule(sound="rounding", stable="large x: infinity times 0")
def exp_times_sigmoid_of_minus_twice(x: Real) -> Identity:
    r"""$e^x \sigma(-2 x) = 1 / (e^x + e^{-x})$."""
    return exp(x) * sigmoid(-2 * x), 0.5 / cosh(x)


@rule(sound="rounding", stable="large x: inf / inf")
def expm1_over_exp_plus_one(x: Real) -> Identity:
    r"""$(e^x - 1)/(e^x + 1) = \tanh(x/2)$."""
    return expm1(x) / (exp(x) + 1), tanh(0.5 * x)


@rule(sound="rounding", stable="large x: inf / inf")
def minus_expm1_over_exp_plus_one(x: Real) -> Identity:
    r"""$(1 - e^x)/(1 + e^x) = -\tanh(x/2)$."""
    return -expm1(x) / (exp(x) + 1), -tanh(0.5 * x)


@rule(sound="rounding", stable="x far below 0: sigmoid underflows")
def log_of_sigmoid(x: Real) -> Identity:
    r"""$\log \sigma(x) = -\log(1 + e^{-x})$."""
    return log(sigmoid(x)), -softplus(-x)


@rule(sound="rounding", stable="large x")
def log1p_of_minus_sigmoid(x: Real) -> Identity:
    r"""$\log(1 - \sigma(x)) = -\log(1 + e^x)$."""
    return log1p(-sigmoid(x)), -softplus(x)


@rule(sound="rounding", stable="x far below 0: sigmoid underflows")
def log_of_multiple_of_sigmoid(x: Real, y: Real) -> Identity:
    r"""$\log(y \sigma(x)) = \log y - \log(1 + e^{-x})$, NaN for $y < 0$ on both sides."""
    return log(y * sigmoid(x)), log(y) - softplus(-x)


@rule(sound="rounding", stable="x far below 0: sigmoid underflows")
def log_of_sigmoid_over(x: Real, y: Real) -> Identity:
    r"""$\log(\sigma(x) / y) = -\log(1 + e^{-x}) - \log y$, NaN for $y < 0$ on both sides."""
    return log(sigmoid(x) / y), -softplus(-x) - log(y)


@rule(sound="rounding", stable="x far below 0: sigmoid underflows")
def log_of_quotient_by_sigmoid(x: Real, y: Real) -> Identity:
    r"""$\log(y / \sigma(x)) = \log y + \log(1 + e^{-x})$, NaN for $y < 0$ on both sides."""
    return log(y / sigmoid(x)), log(y) + softplus(-x)


@rule(sound="rounding", stable="large x: 1 - sigmoid is 0")
def log_of_multiple_of_complement(x: Real, y: Real) -> Identity:
    r"""$\log(y (1 - \sigma(x))) = \log y - \log(1 + e^x)$, NaN for $y < 0$ on both sides."""
    return log(y * (1 - sigmoid(x))), log(y) - softplus(x)


@rule(sound="rounding", stable="large x: 1 - sigmoid is 0")
def log_of_complement_over(x: Real, y: Real) -> Identity:
    r"""$\log((1 - \sigma(x)) / y) = -\log(1 + e^x) - \log y$, NaN for $y < 0$ on both sides."""
    return log((1 - sigmoid(x)) / y), -softplus(x) - log(y)


@rule(sound="rounding", stable="large x: 1 - sigmoid is 0")
def log_of_quotient_by_complement(x: Real, y: Real) -> Identity:
    r"""$\log(y / (1 - \sigma(x))) = \log y + \log(1 + e^x)$, NaN for $y < 0$ on both sides."""
    return log(y / (1 - sigmoid(x))), log(y) + softplus(x)


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
def sigmoid_of_difference_of_logs(x: Nonnegative, y: Nonnegative) -> Identity:
    r"""$\sigma(\log x - \log y) = 1/(1 + y/x)$ for $x, y \ge 0$, a choice by worths."""
    return sigmoid(log(x) - log(y)), 1 / (1 + y / x)


@rule(sound="rounding")
def sigmoid_quotient(x: Real) -> Identity:
    r"""$\sigma(x)/\sigma(-x) = e^x$."""
    return sigmoid(x) / sigmoid(-x), exp(x)


@rule(sound="rounding")
def softplus_of_log1mexp(x: Nonpositive) -> Identity:
    r"""$e^{\log(1 - e^x)} = 1 - e^x$ for $x \le 0$."""
    return exp(log1mexp(x)), -expm1(x)


@rule(sound="domain", earned={"rounding": {"x": Finite}})
def squareplus_and_reciprocal(x: Real) -> Identity:
    r"""$s(x) s(-x) = 1$ for $s(x) = (x + \sqrt{x^2 + 4}) / 2$: the roots of $s^2 - x s = 1$."""
    return squareplus(x) * squareplus(-x), 1
