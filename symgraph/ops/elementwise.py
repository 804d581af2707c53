"""Operations on corresponding elements: arithmetic, exp and log, trigonometric, comparisons, where.

Kinks and ties have one documented subgradient each, the same on every backend:
|x|'(0) = 0, sign' = 0, and a tie of maximum(x, y) or minimum(x, y) is split equally between two
computed operands, while a tie with a constant goes to the constant, so that relu'(0) = 0.
"""

from __future__ import annotations

from ..op import Algebra
from .families import elementwise, to_float

add = elementwise(
    "add",
    kernel=lambda xp, x, y: xp.add(x, y),
    vjp=(
        lambda ct, out, x, y: ct,
        lambda ct, out, x, y: ct,
    ),
    algebra=Algebra("add", commutative=True, associative=True, unit=0.0),
    ufunc="add",
)

multiply = elementwise(
    "multiply",
    kernel=lambda xp, x, y: xp.multiply(x, y),
    vjp=(
        lambda ct, out, x, y: ct * y,
        lambda ct, out, x, y: ct * x,
    ),
    algebra=Algebra("multiply", commutative=True, associative=True, unit=1.0),
    ufunc="multiply",
)

exp = elementwise(
    "exp",
    kernel=lambda xp, x: xp.exp(x),
    vjp=(lambda ct, out, x: ct * out,),
    promote=to_float,
    flops=10,
    algebra=Algebra("exp"),
    ufunc="exp",
)
