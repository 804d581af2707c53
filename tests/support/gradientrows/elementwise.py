"""Rows of the elementwise operations; numbers keep away from kinks, poles and ends of domains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgraph.ops  # noqa: F401  # registers the functions
from symgraph.array import FUNCTIONS, apply
from symgraph.ops.control import KEPT
from symgraph.testing import GradientCase, Operand

ANY = Operand()
POSITIVE = Operand(0.2, 3.0)
NEGATIVE = Operand(-3.0, -0.2)
UNIT = Operand(0.0, 1.0)
OPEN = Operand(-1.0, 1.0)
ABOVE_ONE = Operand(1.0, 3.0)
TWO = Operand(2.0, 2.04)


def _row(name: str, *operands: Operand, analytic: bool = True, note: str = "") -> GradientCase:
    return GradientCase(name, FUNCTIONS[name], operands, analytic, note=note)


def _of(
    name: str, call: Callable[..., Any], *operands: Operand, analytic: bool = True, note: str = ""
) -> GradientCase:
    return GradientCase(name, call, operands, analytic, note=note)


ARITHMETIC = (
    _row("add", ANY, ANY),
    _row("subtract", ANY, ANY),
    _row("negative", ANY),
    _row("multiply", ANY, ANY),
    _of("multiply", lambda x: x * x, ANY, note="twice"),
    _row("divide", ANY, POSITIVE),
    _row("reciprocal", NEGATIVE),
    _row("square", ANY),
    _row("sqrt", POSITIVE),
    _row("cbrt", NEGATIVE, analytic=False),
    _row("hypot", ANY, POSITIVE, analytic=False),
    _row("absolute", POSITIVE, analytic=False),
    _row("absolute", NEGATIVE, analytic=False, note="negative"),
    _row("copysign", POSITIVE, NEGATIVE, analytic=False),
    _of("heaviside", lambda x, y: np.heaviside(x, y) * y, NEGATIVE, ANY, analytic=False),
)

CHOICE = (
    _row("maximum", Operand(0.0, 1.0), Operand(1.0, 2.0), analytic=False),
    _row("maximum", Operand(1.0, 2.0), Operand(0.0, 1.0), analytic=False, note="first"),
    _of("maximum", lambda x: np.maximum(x, 0) * x, POSITIVE, analytic=False, note="relu"),
    _row("minimum", Operand(0.0, 1.0), Operand(1.0, 2.0), analytic=False),
    _row("fmax", Operand(0.0, 1.0), Operand(1.0, 2.0), analytic=False),
    _row("fmin", Operand(0.0, 1.0), Operand(1.0, 2.0), analytic=False),
    _row("clip", OPEN, Operand(-3.0, -1.0), Operand(1.0, 3.0), analytic=False),
    _row("clip", Operand(-4, -3), Operand(-3, -1), Operand(1, 3), analytic=False, note="below"),
    _row("clip", Operand(3, 4), Operand(-3, -1), Operand(1, 3), analytic=False, note="above"),
    _of("where", lambda x, y: np.where(x > 1, x * y, np.sin(y)), ABOVE_ONE, ANY, analytic=False),
)

EXPONENTIAL = (
    _row("exp", ANY),
    _row("exp2", ANY),
    _row("exp10", ANY),
    _row("expm1", ANY),
    _row("log", POSITIVE),
    _row("log1p", UNIT),
    _row("log2", POSITIVE),
    _row("log10", POSITIVE),
    _row("logaddexp", ANY, ANY, analytic=False),
    _of("logaddexp", lambda x: np.logaddexp(x, 0), ANY, analytic=False, note="constant"),
    _row("logaddexp2", ANY, ANY, analytic=False),
    _row("sigmoid", ANY, analytic=False),
    _row("softplus", ANY, analytic=False),
    _of("softplus", FUNCTIONS["log_sigmoid"], ANY, analytic=False, note="log_sigmoid"),
    _row("log1mexp", NEGATIVE, analytic=False),
    _row("power", POSITIVE, ANY),
    _row("multiply_or_zero", ANY, ANY),
    _row("log_or_zero", POSITIVE),
    _of("power", lambda x: x**3, NEGATIVE, note="cube"),
    _of("power", lambda x: x**-0.5, POSITIVE, note="inverse root"),
    _of("power", lambda y: 2.0**y, ANY, note="exponent"),
)

TRIGONOMETRIC = (
    _row("sin", ANY),
    _row("cos", ANY),
    _row("tan", OPEN),
    _row("arcsin", OPEN),
    _row("arccos", OPEN),
    _row("arctan", ANY),
    _row("arctan2", ANY, POSITIVE, analytic=False),
    _row("sinh", ANY),
    _row("cosh", ANY),
    _row("tanh", ANY),
    _row("arcsinh", ANY),
    _row("arccosh", ABOVE_ONE),
    _row("arctanh", OPEN),
)

WHOLE = (
    _row("floor", Operand(0.1, 0.9), analytic=False),
    _row("ceil", Operand(0.1, 0.9), analytic=False),
    _row("trunc", Operand(0.1, 0.9), analytic=False),
    _row("rint", Operand(0.6, 1.4), analytic=False),
    _of("round", lambda x: np.round(x, 1) * x, Operand(0.46, 0.54), analytic=False),
    _of("floor_divide", lambda x, y: x // y * y, Operand(4.1, 4.9), TWO, analytic=False),
    _row("remainder", Operand(4.1, 4.9), TWO, analytic=False),
    _row("fmod", Operand(-4.9, -4.1), TWO, analytic=False),
)

SPECIAL = (
    _row("erf", ANY),
    _row("erfc", ANY),
    _row("erfinv", OPEN, analytic=False),
    _row("ndtr", ANY),
    _row("ndtri", UNIT, analytic=False),
    _row("log_ndtr", ANY, analytic=False),
    _row("gamma", POSITIVE),
    _row("gammaln", POSITIVE, analytic=False),
    _row("digamma", POSITIVE, analytic=False),
    _of("polygamma", lambda x: FUNCTIONS["polygamma"](2, x), ABOVE_ONE, analytic=False),
    _row("logit", UNIT, analytic=False),
    _row("xlogy", POSITIVE, POSITIVE),
    _row("xlog1py", POSITIVE, POSITIVE),
)

CONTROL = (
    _of("cast", lambda x: (x * x).astype("float64") * x, ANY),
    _of("stop_gradient", lambda x: _sum_of_parts(x), ANY, analytic=False),
    _of("kept_value", lambda x: apply(KEPT, x) * x, ANY, analytic=False),
)


def _sum_of_parts(x: Any) -> Any:
    # Zero apart from x * x, so that what is stopped does not show in the differences either.
    stopped = FUNCTIONS["stop_gradient"](x)
    return x * x + 0 * stopped


ROWS = (
    *ARITHMETIC,
    *CHOICE,
    *EXPONENTIAL,
    *TRIGONOMETRIC,
    *WHOLE,
    *SPECIAL,
    *CONTROL,
)
