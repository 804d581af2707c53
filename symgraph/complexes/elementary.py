"""Exponentials, logarithms, roots and trigonometric functions of complex arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import FUNCTIONS
from .arithmetic import angle_of, minus, multiplied, negated, pair, times, whole
from .handle import COMPLEX_UFUNCS, Operand, Part, as_complex

__all__: list[str] = []


def _called(name: str, *operands: Operand) -> Any:
    return FUNCTIONS[name](*operands)


def _exp(z: Operand) -> Any:
    a, b = as_complex(z)
    if b is None:
        return pair(_called("exp", a), None)
    size = None if a is None else _called("exp", a)
    turned = (_called("cos", b), _called("sin", b))
    return pair(*turned) if size is None else pair(*[times(size, each) for each in turned])


def _log(z: Operand) -> Any:
    """log|z| + i arg z."""
    return pair(_called("log", COMPLEX_UFUNCS["absolute"](z)), angle_of(*as_complex(z)))


def _scaled(function: str, base: float) -> Any:
    def called(z: Operand) -> Any:
        re, im = as_complex(COMPLEX_UFUNCS[function](z))
        return pair(re / base, im / base)

    return called


def _sqrt(z: Operand) -> Any:
    """The root with a real part that is not negative.

    The part that would cancel is the other part over twice the one that does not (Kahan 1987).
    """
    a, b = whole(*as_complex(z))
    size = _called("hypot", a, b)
    long = _called("sqrt", 0.5 * (size + _called("absolute", a)))
    short = _called("divide_or_zero", 0.5 * b, long)
    right = a >= 0
    re = _called("where", right, long, _called("absolute", short))
    return pair(re, _called("where", right, short, _called("copysign", long, b)))


def _sinh(z: Operand) -> Any:
    a, b = as_complex(z)
    return _pair_of_products(("sinh", a, "cos", b), ("cosh", a, "sin", b))


def _cosh(z: Operand) -> Any:
    a, b = as_complex(z)
    return _pair_of_products(("cosh", a, "cos", b), ("sinh", a, "sin", b))


def _sin(z: Operand) -> Any:
    a, b = as_complex(z)
    return _pair_of_products(("sin", a, "cosh", b), ("cos", a, "sinh", b))


def _cos(z: Operand) -> Any:
    a, b = as_complex(z)
    re, im = as_complex(_pair_of_products(("cos", a, "cosh", b), ("sin", a, "sinh", b)))
    return pair(re, negated(im))


def _pair_of_products(first: Operand, second: Operand) -> Any:
    """Of sines and cosines; those of 0 are 0 and 1."""

    def value(name: str, part: Part) -> Part:
        if part is None:
            return 1.0 if name in ("cos", "cosh") else None
        return _called(name, part)

    parts = [times(value(f, a), value(g, b)) for f, a, g, b in (first, second)]
    return pair(*parts)


def _tanh(z: Operand) -> Any:
    """With t = tanh a and u = tan b: (t (1 + u²) + i u (1 - t²)) / (1 + t² u²)."""
    a, b = as_complex(z)
    if a is None:
        return pair(None, _called("tan", b))
    if b is None:
        return pair(_called("tanh", a), None)
    t, u = _called("tanh", a), _called("tan", b)
    over = 1 + _called("square", t * u)
    slope = _called("square", 1 / _called("cosh", a))
    return pair(t * (1 + _called("square", u)) / over, u * slope / over)


def _tan(z: Operand) -> Any:
    return multiplied(-1j, _tanh(multiplied(1j, z)))


def _expm1(z: Operand) -> Any:
    """expm1(a) cos b - 2 sin²(b / 2), and exp(a) sin b."""
    a, b = as_complex(z)
    if b is None:
        return pair(_called("expm1", a), None)
    half = _called("square", _called("sin", 0.5 * b))
    if a is None:
        return pair(-2 * half, _called("sin", b))
    return pair(
        minus(times(_called("expm1", a), _called("cos", b)), 2 * half),
        times(_called("exp", a), _called("sin", b)),
    )


COMPLEX_UFUNCS.update(
    exp=_exp,
    exp2=lambda z: _exp(multiplied(float(np.log(2)), z)),
    expm1=_expm1,
    log=_log,
    log2=_scaled("log", float(np.log(2))),
    log10=_scaled("log", float(np.log(10))),
    sqrt=_sqrt,
    sin=_sin,
    cos=_cos,
    tan=_tan,
    sinh=_sinh,
    cosh=_cosh,
    tanh=_tanh,
)
