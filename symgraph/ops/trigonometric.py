"""Circular and hyperbolic functions and their inverses."""

from __future__ import annotations

from .elementwise import sqrt
from .families import elementwise

__all__ = [
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "cos",
    "cosh",
    "sin",
    "sinh",
    "tan",
    "tanh",
]

# -- circular ----------------------------------------------------------------------------------------
sin = elementwise(
    "sin",
    kernel=lambda xp, x: xp.sin(x),
    vjp=(lambda ct, out, x: ct * cos(x),),
    flops=10,
    ufunc="sin",
)
cos = elementwise(
    "cos",
    kernel=lambda xp, x: xp.cos(x),
    vjp=(lambda ct, out, x: -(ct * sin(x)),),
    flops=10,
    ufunc="cos",
)
tan = elementwise(
    "tan",
    kernel=lambda xp, x: xp.tan(x),
    vjp=(lambda ct, out, x: ct * (1 + out * out),),
    flops=10,
    ufunc="tan",
)
arcsin = elementwise(
    "arcsin",
    kernel=lambda xp, x: xp.arcsin(x),
    vjp=(lambda ct, out, x: ct / sqrt(1 - x * x),),
    flops=10,
    ufunc="arcsin",
)
arccos = elementwise(
    "arccos",
    kernel=lambda xp, x: xp.arccos(x),
    vjp=(lambda ct, out, x: -(ct / sqrt(1 - x * x)),),
    flops=10,
    ufunc="arccos",
)
arctan = elementwise(
    "arctan",
    kernel=lambda xp, x: xp.arctan(x),
    vjp=(lambda ct, out, x: ct / (1 + x * x),),
    flops=10,
    ufunc="arctan",
)
arctan2 = elementwise(
    "arctan2",
    kernel=lambda xp, y, x: xp.arctan2(y, x),
    vjp=(
        lambda ct, out, y, x: ct * (x / (x * x + y * y)),
        lambda ct, out, y, x: -(ct * (y / (x * x + y * y))),
    ),
    flops=10,
    ufunc="arctan2",
    doc="The angle of the point (x, y), the first operand being y; within [-pi, pi].",
)

# -- hyperbolic --------------------------------------------------------------------------------------
sinh = elementwise(
    "sinh",
    kernel=lambda xp, x: xp.sinh(x),
    vjp=(lambda ct, out, x: ct * cosh(x),),
    flops=10,
    ufunc="sinh",
)
cosh = elementwise(
    "cosh",
    kernel=lambda xp, x: xp.cosh(x),
    vjp=(lambda ct, out, x: ct * sinh(x),),
    flops=10,
    ufunc="cosh",
)
tanh = elementwise(
    "tanh",
    kernel=lambda xp, x: xp.tanh(x),
    vjp=(lambda ct, out, x: ct * (1 - out * out),),
    flops=10,
    ufunc="tanh",
)
arcsinh = elementwise(
    "arcsinh",
    kernel=lambda xp, x: xp.arcsinh(x),
    vjp=(lambda ct, out, x: ct / sqrt(x * x + 1),),
    flops=10,
    ufunc="arcsinh",
)
arccosh = elementwise(
    "arccosh",
    kernel=lambda xp, x: xp.arccosh(x),
    vjp=(lambda ct, out, x: ct / sqrt(x * x - 1),),
    flops=10,
    ufunc="arccosh",
)
arctanh = elementwise(
    "arctanh",
    kernel=lambda xp, x: xp.arctanh(x),
    vjp=(lambda ct, out, x: ct / (1 - x * x),),
    flops=10,
    ufunc="arctanh",
)
