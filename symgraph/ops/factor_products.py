"""The factors of a product, and its derivative by each of them as one step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..array import Array
from ..ir.differentiation import StandIn
from ..ir.node import Node
from .masks import behind_masks

__all__ = ["factors_of", "partials_of", "product_of", "product_rule"]

_FACTORS = 16
"""How many factors we search, so that the time is bounded."""


def factors_of(node: Node) -> tuple[list[Node], list[Node]]:
    """The factors of nested products, and the products within."""
    factors: list[Node] = []
    passed: list[Node] = []
    stack = list(reversed(node.operands))
    while stack:
        each = stack.pop()
        if each.op.name == "multiply" and len(factors) + len(stack) < _FACTORS:
            passed.append(each)
            stack.extend(reversed(each.operands))
        else:
            factors.append(each)
    return factors, passed


def partials_of(factors: Sequence[Node], rest: Array) -> list[Callable[[], Array]]:
    """The derivatives of the product of factors and rest by each of the factors."""
    return [
        lambda place=place: product_of([*factors[:place], *factors[place + 1 :]], rest)
        for place in range(len(factors))
    ]


def product_of(factors: Sequence[Node], rest: Array | None = None) -> Array:
    """The product of factors, and of the rest."""
    found = rest
    for each in reversed(factors):
        found = Array(each) if found is None else Array(each) * found
    assert found is not None
    return found


def product_rule(
    operands: tuple[Node, ...],
    passed: tuple[Node, ...],
    partials: Sequence[Callable[[], Array]],
    push: Callable[[int, Array], Array] | None = None,
) -> StandIn:
    """The sum of products with the derivatives by each operand."""

    def pulled(partial: Callable[[], Array]) -> Any:
        return behind_masks(lambda ct, out: ct * partial())

    def pushed(tangents: Sequence[Array | None], out: Array) -> Array | None:
        total: Any = None
        for place, tangent in enumerate(tangents):
            if tangent is not None:
                part = tangent * partials[place]() if push is None else push(place, tangent)
                total = part if total is None else total + part
        return total

    return StandIn(
        passed=passed,
        operands=operands,
        helps=lambda ct, out: True,
        vjp=tuple([pulled(each) for each in partials]),
        jvp=pushed,
    )
