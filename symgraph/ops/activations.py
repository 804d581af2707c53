"""Activation functions of neural networks, with one documented derivative at each kink.

All are made of other operations in the spelling that neither overflows nor cancels where their
value and their derivative are numbers.
"""

from __future__ import annotations

from math import inf, pi, sqrt
from typing import Any

from ..array import Array, ArrayLike
from ..errors import ShapeError
from ..ir.avals import normal_axis
from ..ir.dims import show_shape
from ..ir.traits import ODD
from .bounds import knows, odd_signs, within
from .choice import clip, maximum, where
from .composites import as_array, composite
from .elementwise import absolute, hypot, multiply, square
from .exponential import expm1, sigmoid, softplus
from .families import elementwise, to_float
from .special import ndtr
from .trigonometric import tanh

__all__ = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_swish",
    "hard_tanh",
    "leaky_relu",
    "mish",
    "relu",
    "relu6",
    "selu",
    "silu",
    "softsign",
    "squareplus",
    "swish",
]


# -- with a corner ---------------------------------------------------------------------------------
@composite()
def relu(x: ArrayLike) -> Array:
    """max(x, 0); its derivative at 0 is 0."""
    return maximum(as_array(x), 0)


@composite()
def relu6(x: ArrayLike) -> Array:
    """min(max(x, 0), 6); its derivative at 0 and 6 is 0."""
    return clip(as_array(x), 0, 6)


@composite()
def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 0.01) -> Array:
    """`x` where it is positive, `negative_slope` times x elsewhere; that is its slope at 0 too."""
    operand = as_array(x)
    return where(operand > 0, operand, negative_slope * operand)


@composite()
def hard_tanh(x: ArrayLike) -> Array:
    """`x` within [-1, 1]; its derivative at -1 and 1 is 0."""
    return clip(as_array(x), -1, 1)


@composite()
def hard_sigmoid(x: ArrayLike) -> Array:
    """The line x / 6 + 1/2 within [0, 1]; its derivative at the corners -3 and 3 is 0."""
    return clip(as_array(x) / 6 + 0.5, 0, 1)


@composite()
def hard_swish(x: ArrayLike) -> Array:
    """`x` times hard_sigmoid(x)."""
    return multiply(x, hard_sigmoid(x))


# -- exponential on the left -----------------------------------------------------------------------
def _elu(x: ArrayLike, scale: object, rate: object) -> Array:
    """`x` where it is positive, scale (exp(x / rate) - 1) elsewhere."""
    operand = as_array(x)
    right = operand > 0
    # exp would overflow for a positive x, on the side that is not taken.
    left = where(right, 0, operand)
    return where(right, operand, scale * expm1(left if rate is None else left / rate))


@composite()
def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """`x` where it is positive, alpha (exp(x) - 1) elsewhere; its derivative at 0 is alpha."""
    return _elu(x, alpha, None)


@composite()
def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """`x` where it is positive, alpha (exp(x / alpha) - 1) elsewhere."""
    return _elu(x, alpha, alpha)


# Klambauer et al. (2017), "Self-normalizing neural networks", equation 14.
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


@composite()
def selu(x: ArrayLike) -> Array:
    """The self-normalizing activation of Klambauer et al. (2017).

    Its derivative at 0 is the one from the left, 1.758.
    """
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


# -- smooth ----------------------------------------------------------------------------------------
@composite()
def gelu(x: ArrayLike, approximate: bool = False) -> Array:
    """`x` times the normal distribution function of x (Hendrycks and Gimpel 2016).

    With `approximate`, the form with tanh that many networks were trained with.
    """
    operand = as_array(x)
    if not approximate:
        return operand * ndtr(operand)
    # (1 + tanh t) / 2 is the sigmoid of 2t, which keeps its digits on the left.
    return operand * sigmoid(sqrt(8 / pi) * (operand + 0.044715 * operand**3))


@composite()
def silu(x: ArrayLike) -> Array:
    """`x` times sigmoid(x), also called swish."""
    return multiply(x, sigmoid(x))


@composite()
def swish(x: ArrayLike) -> Array:
    """Another name of `silu`."""
    return silu(x)


@composite()
def mish(x: ArrayLike) -> Array:
    """`x` times tanh(softplus(x)) (Misra 2019)."""
    return multiply(x, tanh(softplus(x)))


softsign = elementwise(
    "softsign",
    kernel=lambda xp, x: x / (1 + xp.absolute(x)),
    # Not by the rule of quotients, whose terms cancel far out.
    vjp=(lambda ct, out, x: ct / square(1 + absolute(x)),),
    promote=to_float,
    facts=knows(bounds=within(-1.0, 1.0), signs=odd_signs, keeps_finite=True, zero_at_zero=True),
    flops=3,
    count=3,
    doc="x / (1 + |x|).",
    traits=ODD,
)


def _squareplus(xp: Any, x: Any) -> Any:
    """Without the difference of sqrt(x² + 4) and |x|, which cancels."""
    half = xp.absolute(x) / 2
    large = half + xp.hypot(half, xp.ones_like(half))
    return xp.where(x < 0, 1 / large, large)


squareplus = elementwise(
    "squareplus",
    kernel=_squareplus,
    vjp=(lambda ct, out, x: ct * out / hypot(x, 2),),
    promote=to_float,
    facts=knows(bounds=within(0.0, inf)),
    flops=7,
    count=4,
    doc="(x + sqrt(x² + 4)) / 2, a softplus without exponentials (Barron 2021).",
    definition=lambda m, x: (x + m.sqrt(x * x + 4)) / 2,
    latex=r"\operatorname{squareplus}",
    examples=">>> snp.squareplus(np.array([-1.5, 0.0, 1.5]))\narray([0.5, 1. , 2. ])",
)


@composite()
def glu(x: ArrayLike, axis: int = -1) -> Array:
    """The first half along `axis` times the sigmoid of the second (Dauphin et al. 2017)."""
    operand = as_array(x)
    place = normal_axis(axis, operand.ndim)
    size = operand.shape[place]
    if not isinstance(size, int) or size % 2:
        raise ShapeError(
            f"axis {axis} of shape {show_shape(operand.shape)} has no two halves.",
            mend="Give the axis an even size.",
        )
    rest = [slice(None)] * (-place - 1)
    half = size // 2
    return operand[(..., slice(None, half), *rest)] * sigmoid(
        operand[(..., slice(half, None), *rest)]
    )
