"""Sums, products and quotients of complex arrays, in their parts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array
from .handle import (
    COMPLEX_FUNCTIONS,
    COMPLEX_UFUNCS,
    ComplexArray,
    Operand,
    Part,
    as_complex,
    numbers,
    refused,
)

__all__ = [
    "angle_of",
    "bilinear",
    "minus",
    "multiplied",
    "negated",
    "pair",
    "plus",
    "quotient",
    "times",
    "turned",
    "whole",
]


def pair(re: Part, im: Part) -> Any:
    """The complex array of two parts; numbers, where no part is symbolic."""
    if isinstance(re, Array) or isinstance(im, Array):
        return ComplexArray(re, im)
    return numbers(0.0 if re is None else re, 0.0 if im is None else im)


# -- parts, of which None is 0 ---------------------------------------------------------------------
def plus(a: Part, b: Part) -> Part:
    """The sum."""
    return b if a is None else a if b is None else FUNCTIONS["add"](a, b)


def minus(a: Part, b: Part) -> Part:
    """The difference; 0 - b is no -b, for it is not -0.0 where b is 0 (on the cut of a root)."""
    return a if b is None else FUNCTIONS["subtract"](0.0 if a is None else a, b)


def negated(a: Part) -> Part:
    """The part with the other sign."""
    return None if a is None else -a


def times(a: Part, b: Part) -> Part:
    """The product; factors 1 and -1 leave no operation."""
    if a is None or b is None:
        return None
    for one, other in ((a, b), (b, a)):
        if type(one) in (int, float) and abs(one) == 1:
            return other if one == 1 else -other
    return FUNCTIONS["multiply"](a, b)


def divided(a: Part, b: Part) -> Part:
    """The quotient; a divisor 1 leaves no operation."""
    return None if a is None else a if type(b) is float and b == 1 else FUNCTIONS["divide"](a, b)


def turned(a: Part) -> Part:
    """An imaginary part with the other sign: of 0 it is -0.0, the other side of a cut."""
    return -0.0 if a is None else -a


def whole(a: Part, b: Part) -> tuple[Part, Part]:
    """Both parts, with zeros for a missing one."""
    a = FUNCTIONS["zeros_like"](b) if a is None else a
    return a, FUNCTIONS["zeros_like"](a) if b is None else b


# -- arithmetic ------------------------------------------------------------------------------------
def bilinear(of_parts: Callable[..., Part], *operands: Operand) -> Any:
    """A function that is linear in each operand: the sum over one part of each."""
    parts = [as_complex(each) for each in operands]
    found: list[Part] = [None, None]
    for chosen in product((0, 1), repeat=len(parts)):
        values = [each[which] for each, which in zip(parts, chosen, strict=True)]
        if any(each is None for each in values):
            continue
        turns = sum(chosen) % 4  # i to this power
        value = of_parts(*values)
        found[turns % 2] = (minus if turns > 1 else plus)(found[turns % 2], value)
    return pair(*found)


def multiplied(x: Operand, y: Operand) -> Any:
    """(a + ib)(c + id)."""
    return bilinear(times, x, y)


def _added(x: Operand, y: Operand) -> Any:
    (a, b), (c, d) = as_complex(x), as_complex(y)
    return pair(plus(a, c), plus(b, d))


def _subtracted(x: Operand, y: Operand) -> Any:
    (a, b), (c, d) = as_complex(x), as_complex(y)
    return pair(minus(a, c), minus(b, d))


def quotient(x: Operand, y: Operand) -> Any:
    """The quotient; of a complex divisor first by its direction, so that nothing overflows."""
    (a, b), (c, d) = as_complex(x), as_complex(y)
    if d is None:
        b = 0.0 if b is None and not _is_positive(c) else b  # -0.0 over a negative number
        return pair(divided(a, c), divided(b, c))
    if c is None:  # (a + ib) / (id) = (b - ia) / d
        return pair(divided(b, d), divided(negated(a), d))
    size = FUNCTIONS["hypot"](c, d)
    u, v = FUNCTIONS["divide"](c, size), FUNCTIONS["divide"](d, size)
    re = plus(times(a, u), times(b, v))
    im = minus(times(b, u), times(a, v))
    return pair(divided(re, size), divided(im, size))


def _is_positive(x: Part) -> bool:
    return isinstance(x, (int, float, np.number)) and bool(x > 0)


def _power(x: Operand, y: Operand) -> Any:
    """x**y: by products for whole numbers, by the angle for real ones, else by the logarithm."""
    real, other = as_complex(y)
    if other is None and isinstance(real, (int, float, np.number)) and _is_whole(real):
        return _whole_power(x, int(real))
    a, b = as_complex(x)
    if a is None and b is None:
        raise refused("np.power of 0")
    if other is None:
        size, angle = FUNCTIONS["power"](_size(a, b), real), times(angle_of(a, b), real)
        return pair(times(size, FUNCTIONS["cos"](angle)), times(size, FUNCTIONS["sin"](angle)))
    exponent = multiplied(y, COMPLEX_UFUNCS["log"](x))
    return COMPLEX_UFUNCS["exp"](exponent)


def _is_whole(n: Operand) -> bool:
    return float(n).is_integer() and abs(n) <= 64


def _whole_power(x: Operand, n: int) -> Any:
    if n < 0:
        return quotient(1.0, _whole_power(x, -n))
    if n == 0:
        a, b = as_complex(x)
        return pair(FUNCTIONS["ones_like"](b if a is None else a), None)
    result = None
    while True:
        if n % 2:
            result = x if result is None else multiplied(result, x)
        n //= 2
        if not n:
            return result
        x = multiplied(x, x)


def _size(a: Part, b: Part) -> Part:
    if a is None or b is None:
        return FUNCTIONS["absolute"](b if a is None else a)
    return FUNCTIONS["hypot"](a, b)


def angle_of(a: Part, b: Part) -> Part:
    """The angle of a + ib from the real axis, -π to π."""
    a, b = whole(a, b)
    return FUNCTIONS["arctan2"](b, a)


def _both(question: str, joined: str) -> Callable[..., Any]:
    def asked(*operands: Operand) -> Any:
        parts = [as_complex(each) for each in operands]
        answers = [
            FUNCTIONS[question](*[0.0 if each is None else each for each in side])
            for side in zip(*parts, strict=True)
            if any(each is not None for each in side)
        ]
        return answers[0] if len(answers) == 1 else FUNCTIONS[joined](*answers)

    return asked


COMPLEX_UFUNCS.update(
    add=_added,
    subtract=_subtracted,
    multiply=multiplied,
    divide=quotient,
    power=_power,
    float_power=_power,
    square=lambda x: multiplied(x, x),
    reciprocal=lambda x: quotient(1.0, x),
    negative=lambda x: pair(negated(as_complex(x)[0]), turned(as_complex(x)[1])),
    positive=lambda x: x,
    conjugate=lambda x: pair(as_complex(x)[0], turned(as_complex(x)[1])),
    absolute=lambda x: _size(*as_complex(x)),
    equal=_both("equal", "logical_and"),
    not_equal=_both("not_equal", "logical_or"),
    isnan=_both("isnan", "logical_or"),
    isinf=_both("isinf", "logical_or"),
    isfinite=_both("isfinite", "logical_and"),
    matmul=lambda x, y: bilinear(FUNCTIONS["matmul"], x, y),
    vecdot=lambda x, y: bilinear(NUMPY_FUNCTIONS[np.vecdot], COMPLEX_UFUNCS["conjugate"](x), y),
)


def _degrees(z: Operand, deg: bool = False) -> Any:
    angle = angle_of(*as_complex(z))
    return FUNCTIONS["degrees"](angle) if deg else angle


COMPLEX_FUNCTIONS.update(
    {
        np.angle: _degrees,
        np.real: lambda z: z.real,
        np.imag: lambda z: z.imag,
        np.ndim: lambda z: z.ndim,
        np.shape: lambda z: z.shape,
        np.size: lambda z: z.size,
        np.iscomplexobj: lambda x: True,
        np.isrealobj: lambda x: False,
        np.iscomplex: lambda x: FUNCTIONS["not_equal"](x.imag, 0),
        np.isreal: lambda x: FUNCTIONS["equal"](x.imag, 0),
    }
)
