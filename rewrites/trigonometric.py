"""Circular and hyperbolic identities."""

from __future__ import annotations

from math import e as E
from math import inf
from typing import Annotated, TypeAlias

from symgraph.facts import interval
from symgraph.numpy import (
    absolute,
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctanh,
    cos,
    cosh,
    exp,
    log,
    log1p,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
)
from symgraph.rewriting import (
    Array,
    Identity,
    Nonnegative,
    Real,
    Total,
    UniformConstant,
    of_fact,
    rule,
)

Unit: TypeAlias = Annotated[Array, of_fact(interval(-1.0, 1.0))]
AtLeastOne: TypeAlias = Annotated[Array, of_fact(interval(1.0, inf))]


# -- Pythagoras ------------------------------------------------------------------------------------
@rule(sound="domain", earned={"rounding": {"x": Total}})
def pythagoras(x: Real) -> Identity:
    r"""$\sin^2 x + \cos^2 x = 1$."""
    return square(sin(x)) + square(cos(x)), 1


@rule(sound="rounding")
def one_minus_sin_squared(x: Real) -> Identity:
    r"""$1 - \sin^2 x = \cos^2 x$."""
    return 1 - square(sin(x)), square(cos(x))


@rule(sound="rounding")
def one_minus_cos_squared(x: Real) -> Identity:
    r"""$1 - \cos^2 x = \sin^2 x$."""
    return 1 - square(cos(x)), square(sin(x))


@rule(sound="domain", earned={"rounding": {"x": Total}})
def hyperbolic_pythagoras(x: Real) -> Identity:
    r"""$\cosh^2 x - \sinh^2 x = 1$."""
    return square(cosh(x)) - square(sinh(x)), 1


@rule(sound="rounding")
def one_plus_sinh_squared(x: Real) -> Identity:
    r"""$1 + \sinh^2 x = \cosh^2 x$."""
    return 1 + square(sinh(x)), square(cosh(x))


@rule(sound="rounding", stable="large x: a difference of near equals")
def one_minus_coth_squared(x: Real) -> Identity:
    r"""$1 - 1/\tanh^2 x = -1/\sinh^2 x$."""
    return 1 - 1 / square(tanh(x)), -1 / square(sinh(x))


@rule(sound="rounding", stable="large x: a difference of near equals")
def one_minus_coth_squared_beside(x: Real, y: Real) -> Identity:
    r"""$1 + (y - 1/\tanh^2 x) = y - 1/\sinh^2 x$."""
    return 1 + (y - 1 / square(tanh(x))), y - 1 / square(sinh(x))


# -- double angles ---------------------------------------------------------------------------------
@rule(sound="rounding", stable="large x: a difference of near equals")
def hyperbolic_secant_of_double(x: Real) -> Identity:
    r"""$(1 - \tanh^2 x)/(1 + \tanh^2 x) = 1/\cosh 2x$."""
    return (1 - square(tanh(x))) / (1 + square(tanh(x))), 1 / cosh(2 * x)


@rule(sound="rounding")
def tanh_of_double(x: Real) -> Identity:
    r"""$2 \tanh x/(1 + \tanh^2 x) = \tanh 2x$."""
    return 2 * tanh(x) / (1 + square(tanh(x))), tanh(2 * x)


@rule(sound="rounding")
def tan_of_half_and_its_reciprocal(x: Real) -> Identity:
    r"""$\tan(x/2) + 1/\tan(x/2) = 2/\sin x$."""
    return tan(x / 2) + 1 / tan(x / 2), 2 / sin(x)


# The algebra goes on to sin 2x, where it loses nothing: 2x may be too large for a float.
@rule(sound="rounding", measure="tangents")
def one_plus_tan_squared_over_tan(x: Real) -> Identity:
    r"""$(1 + \tan^2 x)/\tan x = 1/(\sin x \cos x)$."""
    return (1 + square(tan(x))) / tan(x), 1 / (sin(x) * cos(x))


@rule(sound="rounding", measure="tangents")
def multiple_of_tan_and_its_reciprocal(x: Real, c: UniformConstant) -> Identity:
    r"""$c (\tan x + 1/\tan x) = c/(\sin x \cos x)$."""
    return c * (tan(x) + 1 / tan(x)), c / (sin(x) * cos(x))


@rule(sound="rounding", stable="large x: a difference of near equals")
def one_minus_tanh_squared_over_tanh(x: Real) -> Identity:
    r"""$(1 - \tanh^2 x)/\tanh x = 2/\sinh 2x$."""
    return (1 - square(tanh(x))) / tanh(x), 2 / sinh(2 * x)


# In an exponent, digits of a difference near 0 do not matter to the result.
@rule(sound="rounding")
def exp_of_twice_squared_half_sine(x: Real) -> Identity:
    r"""$e^{2 \sin^2(x/2)} = e / e^{\cos x}$."""
    return exp(2 * square(sin(x / 2))), E / exp(cos(x))


@rule(sound="rounding")
def exp_of_minus_twice_squared_half_sine(x: Real) -> Identity:
    r"""$e^{-2 \sin^2(x/2)} = e^{-1} e^{\cos x}$."""
    return exp(-2 * square(sin(x / 2))), 1 / E * exp(cos(x))


# -- quotients -------------------------------------------------------------------------------------
@rule(sound="rounding")
def sin_over_cos(x: Real) -> Identity:
    r"""$\sin x / \cos x = \tan x$."""
    return sin(x) / cos(x), tan(x)


@rule(sound="rounding")
def cos_over_sin(x: Real) -> Identity:
    r"""$\cos x / \sin x = 1/\tan x$."""
    return cos(x) / sin(x), 1 / tan(x)


@rule(sound="rounding")
def tan_times_cos(x: Real) -> Identity:
    r"""$\tan x \cos x = \sin x$."""
    return tan(x) * cos(x), sin(x)


@rule(sound="rounding", stable="large x: inf / inf")
def sinh_over_cosh(x: Real) -> Identity:
    r"""$\sinh x / \cosh x = \tanh x$."""
    return sinh(x) / cosh(x), tanh(x)


@rule(sound="rounding", stable="large x: inf / inf")
def cosh_over_sinh(x: Real) -> Identity:
    r"""$\cosh x / \sinh x = 1/\tanh x$."""
    return cosh(x) / sinh(x), 1 / tanh(x)


@rule(sound="rounding")
def tanh_times_cosh(x: Real) -> Identity:
    r"""$\tanh x \cosh x = \sinh x$."""
    return tanh(x) * cosh(x), sinh(x)


# -- from exponentials -----------------------------------------------------------------------------
@rule(sound="rounding", stable="large x: inf / inf; small x: a difference of near equals")
def tanh_of_exponentials(x: Real) -> Identity:
    r"""$(e^x - e^{-x})/(e^x + e^{-x}) = \tanh x$."""
    return (exp(x) - exp(-x)) / (exp(x) + exp(-x)), tanh(x)


@rule(sound="rounding", stable="small x: a difference of near equals")
def sinh_of_exponentials(x: Real) -> Identity:
    r"""$\frac12 (e^x - e^{-x}) = \sinh x$."""
    return 0.5 * (exp(x) - exp(-x)), sinh(x)


@rule(sound="rounding")
def half_sinh_of_exponentials(x: Real) -> Identity:
    r"""$(e^x - e^{-x})/2 = \sinh x$."""
    return (exp(x) - exp(-x)) / 2, sinh(x)


@rule(sound="rounding")
def cosh_of_exponentials(x: Real) -> Identity:
    r"""$\frac12 (e^x + e^{-x}) = \cosh x$."""
    return 0.5 * (exp(x) + exp(-x)), cosh(x)


@rule(sound="rounding")
def half_cosh_of_exponentials(x: Real) -> Identity:
    r"""$(e^x + e^{-x})/2 = \cosh x$."""
    return (exp(x) + exp(-x)) / 2, cosh(x)


# -- inverses written with logarithms --------------------------------------------------------------
@rule(sound="rounding", stable="x below 0: a difference of near equals; large x: its square")
def arcsinh_of_logarithm(x: Real) -> Identity:
    r"""$\log(x + \sqrt{1 + x^2}) = \operatorname{arsinh} x$."""
    return log(x + sqrt(1 + square(x))), arcsinh(x)


@rule(sound="rounding", stable="large x: its square overflows")
def arccosh_of_logarithm(x: Real) -> Identity:
    r"""$\log(x + \sqrt{x^2 - 1}) = \operatorname{arcosh} x$, NaN for $x < 1$ on both sides."""
    return log(x + sqrt(square(x) - 1)), arccosh(x)


@rule(sound="rounding", stable="small x: the quotient is near 1")
def arctanh_of_logarithm(x: Real) -> Identity:
    r"""$\log((1 + x)/(1 - x)) = 2 \operatorname{artanh} x$, NaN for $|x| > 1$ on both sides."""
    return log((1 + x) / (1 - x)), 2 * arctanh(x)


@rule(sound="rounding")
def arctanh_of_logarithms(x: Real) -> Identity:
    r"""$\log(1 + x) - \log(1 - x) = 2 \operatorname{artanh} x$."""
    return log1p(x) - log1p(-x), 2 * arctanh(x)


# -- inverse pairs ---------------------------------------------------------------------------------
@rule(sound="domain", earned={"rounding": {"x": Unit}})
def sin_of_arcsin(x: Real) -> Identity:
    r"""$\sin \arcsin x = x$ for $|x| \le 1$."""
    return sin(arcsin(x)), x


@rule(sound="domain", earned={"rounding": {"x": Unit}})
def cos_of_arccos(x: Real) -> Identity:
    r"""$\cos \arccos x = x$ for $|x| \le 1$."""
    return cos(arccos(x)), x


@rule(sound="rounding")
def tan_of_arctan(x: Real) -> Identity:
    r"""$\tan \arctan x = x$."""
    return tan(arctan(x)), x


@rule(sound="rounding")
def sinh_of_arcsinh(x: Real) -> Identity:
    r"""$\sinh \operatorname{arsinh} x = x$."""
    return sinh(arcsinh(x)), x


@rule(sound="rounding")
def arcsinh_of_sinh(x: Real) -> Identity:
    r"""$\operatorname{arsinh} \sinh x = x$."""
    return arcsinh(sinh(x)), x


@rule(sound="rounding")
def arctanh_of_tanh(x: Real) -> Identity:
    r"""$\operatorname{artanh} \tanh x = x$; the left side saturates."""
    return arctanh(tanh(x)), x


@rule(sound="domain", earned={"rounding": {"x": Unit}})
def tanh_of_arctanh(x: Real) -> Identity:
    r"""$\tanh \operatorname{artanh} x = x$ for $|x| < 1$."""
    return tanh(arctanh(x)), x


@rule(sound="domain", earned={"rounding": {"x": AtLeastOne}})
def cosh_of_arccosh(x: Real) -> Identity:
    r"""$\cosh \operatorname{arcosh} x = x$ for $x \ge 1$."""
    return cosh(arccosh(x)), x


@rule(sound="rounding")
def arccosh_of_cosh(x: Real) -> Identity:
    r"""$\operatorname{arcosh} \cosh x = |x|$."""
    return arccosh(cosh(x)), absolute(x)


@rule(sound="rounding")
def arccosh_of_cosh_of_nonnegative(x: Nonnegative) -> Identity:
    r"""$\operatorname{arcosh} \cosh x = x$ for $x \ge 0$."""
    return arccosh(cosh(x)), x
