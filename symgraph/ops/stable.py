"""Functions whose textbook spelling overflows or cancels, with kernels that do neither.

Each is one record because its derivative is short; that of a stable spelling is long.
Mächler (2012) for the logarithms; Cody (1969) for the error function far out.
"""

from __future__ import annotations

from dataclasses import replace
from math import log as ln
from math import pi, sqrt
from typing import Any

from .. import facts as f
from ..ir.traits import EVEN, Traits
from .bounds import knows, odd_signs
from .elementwise import sqrt as square_root
from .exponential import expm1
from .families import elementwise, to_float
from .integrals import erfcx
from .trigonometric import tanh

__all__ = ["log_erfc", "log_expm1", "logcosh", "logsinh", "sqrt1pm1"]


def _logcosh(xp: Any, x: Any) -> Any:
    size = xp.abs(x)
    # cosh x - 1 = 2 sinh²(x/2) keeps the digits of small x; far out cosh x is e^|x| / 2.
    half = xp.sinh(xp.minimum(size, 1) / 2)
    near = xp.log1p(2 * half * half)
    far = size + xp.log1p(xp.exp(-2 * size)) - ln(2)
    return xp.where(size > 1, far, near)


logcosh = elementwise(
    "logcosh",
    kernel=_logcosh,
    vjp=(lambda ct, out, x: ct * tanh(x),),
    facts=knows(signs=lambda x: (f.nonnegative,), keeps_finite=True, zero_at_zero=True),
    promote=to_float,
    flops=30,
    count=2,
    doc="log(cosh(x)), without overflow and accurate near 0.",
    traits=replace(EVEN, other_logarithm=True),
    mistaken_for=("logsinh", "absolute"),
    definition=lambda m, x: m.log(m.cosh(x)),
)


def _logsinh(xp: Any, x: Any) -> Any:
    far = x + xp.log1p(-xp.exp(-2 * xp.maximum(x, 1))) - ln(2)
    return xp.where(x > 1, far, xp.log(xp.sinh(xp.minimum(x, 1))))


logsinh = elementwise(
    "logsinh",
    kernel=_logsinh,
    vjp=(lambda ct, out, x: ct / tanh(x),),
    facts=knows(defined=lambda x: x.has(f.positive)),
    promote=to_float,
    flops=30,
    count=2,
    doc="log(sinh(x)) for x >= 0, without overflow.",
    mistaken_for=("logcosh",),
    definition=lambda m, x: m.log(m.sinh(x)),
    traits=Traits(other_logarithm=True),
)


def _log_expm1(xp: Any, x: Any) -> Any:
    far = x + xp.log1p(-xp.exp(-xp.maximum(x, 1)))
    return xp.where(x > 1, far, xp.log(xp.expm1(xp.minimum(x, 1))))


log_expm1 = elementwise(
    "log_expm1",
    kernel=_log_expm1,
    vjp=(lambda ct, out, x: ct / -expm1(-x),),
    facts=knows(defined=lambda x: x.has(f.positive)),
    promote=to_float,
    flops=30,
    count=2,
    doc="log(exp(x) - 1) for x >= 0, the inverse of softplus, without overflow.",
    mistaken_for=("log1mexp", "softplus"),
    definition=lambda m, x: m.log(m.expm1(x)),
    traits=Traits(other_logarithm=True),
)


def _sqrt1pm1(xp: Any, x: Any) -> Any:
    root = xp.sqrt(1 + x)
    # x = (root - 1)(root + 1) is exact; of an infinity it would be inf / inf.
    return xp.where(xp.isinf(x), root, x / (root + 1))


sqrt1pm1 = elementwise(
    "sqrt1pm1",
    kernel=_sqrt1pm1,
    vjp=(lambda ct, out, x: ct * (0.5 / square_root(1 + x)),),
    facts=knows(signs=odd_signs, defined=lambda x: x.low > -1, zero_at_zero=True),
    promote=to_float,
    flops=4,
    count=3,
    doc="sqrt(1 + x) - 1, accurate near 0.",
    mistaken_for=("expm1", "sqrt"),
    definition=lambda m, x: m.sqrt(1 + x) - 1,
)


def _log_erfc(xp: Any, x: Any) -> Any:
    right = xp.maximum(x, 0)
    far = xp.log(xp.astype(xp.special.erfcx(right), x.dtype)) - right * right
    near = xp.log1p(-xp.astype(xp.special.erf(xp.minimum(x, 1)), x.dtype))
    return xp.where(x > 0.5, far, near)


log_erfc = elementwise(
    "log_erfc",
    kernel=_log_erfc,
    # exp(-x²) / erfc(x) is 0 / 0 far out; its quotient has a name.
    vjp=(lambda ct, out, x: ct * (-2 / sqrt(pi) / erfcx(x)),),
    facts=knows(signs=lambda x: (), keeps_finite=True),
    promote=to_float,
    flops=60,
    count=2,
    doc="log(erfc(x)), accurate near 0 and where erfc underflows.",
    mistaken_for=("log_ndtr", "erfc"),
    definition=lambda m, x: m.log(m.erfc(x)),
    traits=Traits(other_logarithm=True),
)
