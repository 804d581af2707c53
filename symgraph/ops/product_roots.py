r"""Roots of products with even powers: the derivative of $\sqrt{c\, x^{2k} r}$ right at $x = 0$.

By the chain rule the slope in x is $2 k\, c\, x^{2k - 1} r / (2 \sqrt{c\, x^{2k} r})$, which is
$0 / 0$ there. It is $k\, x^{k - 1} \sqrt{c\, r}$, with the sign of x for odd k, so that the second
derivative is right as well. For k = 1 it is 0 at the kink, as that of a norm. Factors known to be
positive, and sums of squares, may be beside the powers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..array import FUNCTIONS, Array
from ..facts import positive
from ..ir.differentiation import StandIn
from ..ir.fact_inference import known_before
from ..ir.node import Node
from .masks import behind_masks
from .quotients import divide_or_zero
from .roots import Squares, restored, squares_of

__all__ = ["root_of_product"]

_PARTS = 16
"""How many factors we search, so that the time is bounded."""


class _Factor(NamedTuple):
    """A factor of the radicand: a value to a whole power, or a sum of squares of the value."""

    base: Node
    exponent: int
    positive: bool = False
    squares: Squares | None = None


def root_of_product(node: Node) -> StandIn | None:
    """The derivative of the root of a product with x**4, or with x**2 and what is positive."""
    passed: list[Node] = []
    factors = _factors(node.operands[0], passed)
    if factors is None:
        return None
    return StandIn(
        passed=tuple(passed),
        operands=tuple([each.squares.x if each.squares else each.base for each in factors]),
        helps=lambda ct, out: True,
        vjp=tuple([_rule(factors, place) for place in range(len(factors))]),
        jvp=lambda tangents, out: _pushed(factors, tangents, out),
    )


# -- the radicand ----------------------------------------------------------------------------------
def _factors(radicand: Node, passed: list[Node]) -> list[_Factor] | None:
    """The powers that make the radicand; None if one may be negative, or if none may be 0."""
    powers: dict[Node, int] = {}
    stack = [(radicand, 1)]
    while stack:
        node, exponent = stack.pop()
        inner = _opened(node) if len(powers) + len(stack) < _PARTS else None
        if inner is not None:
            passed.append(node)
            stack.extend([(each, exponent * by) for each, by in reversed(inner)])
        elif node.shape == radicand.shape or node.is_constant:
            powers[node] = powers.get(node, 0) + exponent
        else:
            return None
    found = [_factor(base, exponent, passed) for base, exponent in powers.items()]
    factors = [each for each in found if each is not None]
    if len(factors) < len(found) or all(each.positive for each in factors):
        return None
    return factors


def _opened(node: Node) -> list[tuple[Node, int]] | None:
    """The values of which this is a product, with their exponents; None of other values."""
    name, operands = node.op.name, node.operands
    if name == "square":
        return [(operands[0], 2)]
    if name == "multiply":
        return [(each, 1) for each in operands]
    if name == "divide":
        return [(operands[0], 1), (operands[1], -1)]
    if name == "power" and operands[1].is_constant and not operands[1].shape:
        exponent = float(operands[1].params["value"])
        if exponent.is_integer() and 1 <= exponent <= _PARTS:
            return [(operands[0], int(exponent))]
    return None


def _factor(base: Node, exponent: int, passed: list[Node]) -> _Factor | None:
    """The factor, None if it may be negative or 0 in a way that leaves no slope."""
    if known_before(base).has(positive):
        return _Factor(base, exponent, positive=True)
    if exponent > 0 and exponent % 2 == 0:
        return _Factor(base, exponent)
    squares = squares_of(base, passed) if exponent == 1 else None
    return squares and _Factor(base, 1, squares=squares)


# -- its derivative --------------------------------------------------------------------------------
def _rule(factors: Sequence[_Factor], place: int) -> Callable[[Any, Any], Any]:
    squares = factors[place].squares

    def rule(ct: Array, out: Array) -> Array:
        if squares is not None:
            scaled = divide_or_zero(ct, out) * _product_of_rest(factors, place)
            return Array(squares.x) * restored(scaled, squares)
        if factors[place].positive:
            return divide_or_zero(ct, out) * _slope_of_radicand(factors, place)
        return ct * _slope(factors, place)

    masked: Any = behind_masks(rule)
    return rule if squares is not None else masked


def _slope_of_radicand(factors: Sequence[_Factor], place: int) -> Any:
    """Half the slope of the radicand in a positive factor."""
    x: Any = Array(factors[place].base)
    exponent = factors[place].exponent
    lead = 0.5 * exponent * (x ** (exponent - 1)) if exponent != 1 else 0.5
    return lead * _product_of_rest(factors, place)


def _slope(factors: Sequence[_Factor], place: int) -> Array:
    base, exponent, _, _ = factors[place]
    x: Any = Array(base)
    half = exponent // 2
    rest = _product_of_rest(factors, place)
    lead = half * x ** (half - 1) if half % 2 == 0 else _odd_slope(x, half)
    return lead if rest is None else lead * FUNCTIONS["sqrt"](rest)


def _odd_slope(x: Array, half: int) -> Array:
    """The slope of |x|**half, for odd numbers."""
    if half == 1:
        return FUNCTIONS["sign"](x)
    return half * (FUNCTIONS["absolute"](x) * x ** (half - 2))


def _product_of_rest(factors: Sequence[_Factor], place: int) -> Any:
    """The product of the other factors; None if there is none."""
    rest: Any = None
    for each in [each for i, each in enumerate(factors) if i != place]:
        x: Any = Array(each.base)
        power = x if each.exponent == 1 else x**each.exponent
        rest = power if rest is None else rest * power
    return rest


def _pushed(
    factors: Sequence[_Factor], tangents: Sequence[Array | None], out: Array
) -> Array | None:
    total: Any = None
    for place, tangent in enumerate(tangents):
        if tangent is None:
            continue
        squares = factors[place].squares
        if factors[place].positive:
            part = divide_or_zero(tangent * _slope_of_radicand(factors, place), out)
        elif squares is None:
            part = tangent * _slope(factors, place)
        else:
            moved: Any = Array(squares.x) * tangent
            if squares.axis:
                moved = FUNCTIONS["sum"](moved, axis=squares.axis, keepdims=squares.keepdims)
            part = divide_or_zero(moved * _product_of_rest(factors, place), out)
        total = part if total is None else total + part
    return total
