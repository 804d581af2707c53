"""The factors of a product, and its derivative by each of them as one step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import mul
from typing import Any

from ..array import Array
from ..ir.differentiation import StandIn
from ..ir.node import Node
from .masks import behind_masks

__all__ = ["factors_of", "nested", "partials_of", "product_of", "product_rule"]

_PARTS = 16
"""How many factors or summands we search, so that the time is bounded."""


def factors_of(node: Node) -> tuple[list[Node], list[Node]]:
    """The factors of nested products, and the products within."""
    return nested(node.operands, "multiply")


def nested(nodes: Sequence[Node], name: str) -> tuple[list[Node], list[Node]]:
    """The operands of nested operations of one name, and these operations."""
    parts: list[Node] = []
    passed: list[Node] = []
    stack = list(reversed(nodes))
    while stack:
        each = stack.pop()
        if each.op.name == name and len(parts) + len(stack) < _PARTS:
            passed.append(each)
            stack.extend(reversed(each.operands))
        else:
            parts.append(each)
    return parts, passed


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
    times: Callable[[Array, Array], Array] = mul,
) -> StandIn:
    """The sum of products with the derivatives by each operand."""

    def pulled(partial: Callable[[], Array]) -> Any:
        return behind_masks(lambda ct, out: times(ct, partial()))

    def pushed(tangents: Sequence[Array | None], out: Array) -> Array | None:
        total: Any = None
        for place, tangent in enumerate(tangents):
            if tangent is not None:
                moved = times(tangent, partials[place]()) if push is None else push(place, tangent)
                total = moved if total is None else total + moved
        return total

    return StandIn(
        passed=passed,
        operands=operands,
        helps=lambda ct, out: True,
        vjp=tuple([pulled(each) for each in partials]),
        jvp=pushed,
    )
