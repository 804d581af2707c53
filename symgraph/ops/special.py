"""Special functions under SciPy's names: error functions, gamma and its relatives, x log y.

Abramowitz and Stegun (1964), chapters 6 and 7; DLMF §5 and §7.
"""

from __future__ import annotations

import math
from functools import cache, partial
from math import inf, pi, sqrt
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from .. import facts as f
from ..array import NUMPY_FUNCTIONS, ArrayLike, apply
from ..ir.avals import Aval
from ..ir.fact_inference import Known
from ..ir.op import Op, carries_aligned, per_element, register, results_of
from ..ir.traits import ODD, Exponential, Traits
from .batched import batch_aligned
from .bounds import (
    decreasing,
    increasing,
    is_positive,
    knows,
    odd_signs,
    positive_operand,
    within,
)
from .elementwise import cbrt
from .exponential import exp, exp2, expm1, log, log1p, log_sigmoid, sigmoid
from .families import function
from .integrals import erfcx
from .powers import multiply_or_zero
from .rounding import rint
from .scipyufuncs import float_or_double, scipy_ufunc

__all__ = [
    "betaln",
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "exp10",
    "gamma",
    "gammaln",
    "log_ndtr",
    "logit",
    "ndtr",
    "ndtri",
    "polygamma",
    "xlog1py",
    "xlogy",
]


def _inside_unit(x: Known) -> bool:
    return x.low > 0 and x.high < 1


# -- error functions -------------------------------------------------------------------------------
erf = scipy_ufunc(
    "erf",
    lambda ct, out, x: ct * (2 / sqrt(pi) * exp(-(x * x))),
    doc="The error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x.",
    facts=knows(
        bounds=increasing(math.erf, image=(-1.0, 1.0)),
        signs=odd_signs,
        keeps_finite=True,
        zero_at_zero=True,
    ),
    traits=ODD,
    definition=lambda m, x: m.erf(x),
    mistaken_for=("erfc", "tanh"),
)
erfc = scipy_ufunc(
    "erfc",
    lambda ct, out, x: -(ct * (2 / sqrt(pi) * exp(-(x * x)))),
    doc="1 - erf(x), accurate where erf is near 1.",
    facts=knows(
        bounds=decreasing(math.erfc, image=(0.0, 2.0)), signs=is_positive, keeps_finite=True
    ),
    definition=lambda m, x: m.erfc(x),
    mistaken_for=("erf", "erfcx"),
)
erfinv = scipy_ufunc(
    "erfinv",
    lambda ct, out, x: ct * (sqrt(pi) / 2 * exp(out * out)),
    doc="The inverse of erf, on (-1, 1).",
    facts=knows(signs=odd_signs, defined=lambda x: x.low > -1 and x.high < 1, zero_at_zero=True),
    traits=ODD,
)
ndtr = scipy_ufunc(
    "ndtr",
    lambda ct, out, x: ct * (1 / sqrt(2 * pi) * exp(-0.5 * (x * x))),
    facts=knows(bounds=within(0.0, 1.0), signs=is_positive, keeps_finite=True),
    doc="The normal distribution function.",
    definition=lambda m, x: m.erfc(-x / m.sqrt(2)) / 2,
    mistaken_for=("erf", "sigmoid"),
)
ndtri = scipy_ufunc(
    "ndtri",
    lambda ct, out, x: ct * (sqrt(2 * pi) * exp(0.5 * (out * out))),
    facts=knows(defined=_inside_unit),
    doc="The inverse of `ndtr`.",
)
log_ndtr = scipy_ufunc(
    "log_ndtr",
    # Not exp(-x²/2 - out), whose exponent cancels far out on the left.
    lambda ct, out, x: ct * (sqrt(2 / pi) / erfcx(-sqrt(0.5) * x)),
    facts=knows(bounds=within(-inf, 0.0), signs=lambda x: (f.negative,)),
    doc="log(ndtr(x)), accurate far out on the left.",
    mistaken_for=("log_erfc", "ndtr"),
    definition=lambda m, x: m.log(m.erfc(-x / m.sqrt(2))) - m.log(2),
    traits=Traits(other_logarithm=True),
)

# -- powers of ten ---------------------------------------------------------------------------------
exp10 = scipy_ufunc(
    "exp10",
    lambda ct, out, x: ct * (math.log(10) * out),
    # Not as SciPy's, which other backends lack.
    kernel=lambda xp, x: xp.power(10.0, x),
    facts=knows(bounds=increasing(partial(np.power, 10.0), image=(0.0, inf)), signs=is_positive),
    doc="10 to the power of x.",
    traits=Traits(exponential=Exponential(10)),
    definition=lambda m, x: m.exp(x * m.log(10)),
    latex="10^{#}",
    mistaken_for=("exp", "exp2"),
)

# -- gamma and its derivatives ---------------------------------------------------------------------
gammaln = scipy_ufunc(
    "gammaln",
    lambda ct, out, x: ct * digamma(x),
    facts=knows(defined=positive_operand),
    doc="The logarithm of |gamma(x)|.",
    latex=r"\log\Gamma",
)
gamma = scipy_ufunc(
    "gamma",
    lambda ct, out, x: ct * (out * digamma(x)),
    doc="The gamma function, which is (x - 1)! at whole x > 0.",
    facts=knows(
        signs=lambda x: (f.positive,) if x.has(f.positive) else (), defined=positive_operand
    ),
    traits=Traits(signed_zero=(0,)),
    latex=r"\Gamma",
)
digamma = scipy_ufunc(
    "digamma",
    lambda ct, out, x: ct * polygamma(1, x),
    facts=knows(defined=positive_operand),
    doc="The derivative of gammaln.",
    traits=Traits(signed_zero=(0,)),
    latex=r"\psi",
)

betaln = scipy_ufunc(
    "betaln",
    lambda ct, out, a, b: ct * (digamma(a) - digamma(a + b)),
    lambda ct, out, a, b: ct * (digamma(b) - digamma(a + b)),
    doc="The logarithm of |beta(a, b)|.",
    traits=Traits(commutative=True),
)


def _infer_polygamma(x: Aval, *, order: int) -> Aval:
    return x


_LEFT = -8.0
"""Further to the left we use the reflection formula: SciPy counts up one by one from there."""


def _polygamma_kernel(xp: Any, x: Any, *, order: int) -> Any:
    r"""SciPy's polygamma, but by reflection far to the left (DLMF 5.15.6).

    $\psi^{(n)}(x) = (-1)^n \psi^{(n)}(1 - x) - \pi \frac{d^n}{dx^n} \cot(\pi x)$
    """
    far = (x < _LEFT) & (x != xp.floor(x))  # At poles SciPy answers at once.
    right = xp.special.polygamma(order, xp.where(far, 1 - x, x))
    turn = xp.where(far, x - xp.rint(x), 0.25)
    cot = 1 / xp.tan(pi * turn)
    slope = right * 0
    for coefficient in _cotangent(order):
        slope = slope * cot + coefficient
    return xp.astype(xp.where(far, (-1) ** order * right - slope, right), x.dtype)


@cache
def _cotangent(order: int) -> tuple[float, ...]:
    """The coefficients, in cot(pi x), of a derivative of pi cot(pi x); the highest power first."""
    found = Polynomial([0.0, pi])
    for _ in range(order):
        found = -pi * Polynomial([1.0, 0.0, 1.0]) * found.deriv()
    return tuple([float(each) for each in reversed(found.coef)])


POLYGAMMA = register(
    Op(
        "polygamma",
        workspace=results_of(5),
        infer=_infer_polygamma,
        kernel=_polygamma_kernel,
        vjp=(lambda ct, out, x, *, order: ct * polygamma(order + 1, x),),
        carries=carries_aligned,
        batch=batch_aligned,
        total=True,
        promote=float_or_double,
        flops=per_element(40),
        doc="The derivative of order `order` of digamma; the order comes first.",
    )
)


def _polygamma(order: int, x: ArrayLike) -> Any:
    return apply(POLYGAMMA, x, order=int(order))


polygamma = function(POLYGAMMA, _polygamma)

# -- logarithms ------------------------------------------------------------------------------------
logit = scipy_ufunc(
    "logit",
    lambda ct, out, x: ct / (x * (1 - x)),
    facts=knows(defined=_inside_unit),
    doc="log(x / (1 - x)), the inverse of sigmoid.",
    definition=lambda m, x: m.log(m.divide(x, 1 - x)),
    traits=Traits(other_logarithm=True),
)
xlogy = scipy_ufunc(
    "xlogy",
    lambda ct, out, x, y: ct * log(y),
    lambda ct, out, x, y: ct * multiply_or_zero(x, 1 / y),
    facts=knows(defined=lambda x, y: y.has(f.positive)),
    doc="x log y, and 0 where x is 0; where both are 0 the derivative with respect to y is 0.",
    traits=Traits(other_logarithm=True, linear=(0,)),
)
xlog1py = scipy_ufunc(
    "xlog1py",
    lambda ct, out, x, y: ct * log1p(y),
    lambda ct, out, x, y: ct * multiply_or_zero(x, 1 / (1 + y)),
    facts=knows(defined=lambda x, y: y.low > -1),
    doc="x log(1 + y), and 0 where x is 0; at x = 0, y = -1 the derivative with respect to y is 0.",
    traits=Traits(other_logarithm=True, linear=(0,)),
)

# -- SciPy's own functions on symbolic arrays ------------------------------------------------------
NUMPY_FUNCTIONS["scipy.special.psi"] = digamma
for _same in (cbrt, exp2, expm1, log1p):
    NUMPY_FUNCTIONS[f"scipy.special.{_same.op.name}"] = _same
NUMPY_FUNCTIONS["scipy.special.round"] = rint
NUMPY_FUNCTIONS["scipy.special.expit"] = sigmoid
NUMPY_FUNCTIONS["scipy.special.log_expit"] = log_sigmoid
