"""Reuse existing values to save flops; the number of operations stays the same.

- A power with a computed neighbour is one product: x**-7 is x**-6 / x, and x**4 is the square of
  x**2 (no exp and log; Knuth, TAOCP 2, 4.6.3). Only powers nearer to 0 are used, so no range is
  lost: where x**-6 is infinite or 0, so is x**-7.
- For positive numbers x**a is x x**(a - 1), if x**(a - 1) is needed for itself. x**(a - 1) is never
  a quotient of x**a, which is 0 or infinite sooner.
- An inner product is the sum of the elementwise product, if this product is computed.
- Elements of c x are c times elements of x, if this product is computed.
- Where both a - b and b - a are computed, b - a is added by subtracting a - b.
- A contraction has no factor of 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from ..algebra.expression.powers import is_raised, lowered_power
from ..array import Array
from ..facts import positive
from ..ir.fact_inference import Knowledge
from ..ir.node import Node, make, on_operands, origin
from ..ir.walks import reachable, use_counts
from ..ops.einsum import EINSUM, einsum
from ..ops.elementwise import add, divide, multiply, negative, square, subtract
from ..ops.indexing import GETITEM
from ..ops.matmul import MATMUL
from ..ops.powers import power
from ..ops.totals import sum as total

__all__ = ["with_values_reused"]

Powers: TypeAlias = dict[float, Node]
"""Powers of one array, by exponent."""


def with_values_reused(outputs: Sequence[Node], knowledge: Knowledge | None = None) -> list[Node]:
    """The outputs with values replaced by cheaper ones made of others; linear in the graph."""
    nodes = reachable(outputs)
    instead = _from_differences(nodes, outputs)
    wanted = [node for node in nodes if node.op in _LOOKED_AT and not node.copy]
    powers, products = (_powers(nodes), _products(nodes)) if wanted else ({}, {})
    instead |= _from_positive_powers(
        nodes, outputs, Knowledge() if knowledge is None else knowledge
    )
    for node in wanted:
        found = _from_powers(node, powers) or _from_product(node, products) or _without_ones(node)
        if found is not None:
            instead[node] = found
    while instead and (circle := _circle(instead, outputs)):
        for node in circle:
            instead.pop(node, None)
    return _replaced(instead, outputs) if instead else list(outputs)


def _circle(instead: Mapping[Node, Node], outputs: Sequence[Node]) -> list[Node]:
    """Nodes that would each be computed from the next, in a circle; none if there is no circle."""
    path: dict[Node, Iterator[Node]] = {}
    done: set[Node] = set()
    for output in outputs:
        path[output] = iter(instead.get(output, output).operands)
        while path:
            node, rest = next(reversed(path.items()))
            each = next((each for each in rest if each not in done), None)
            if each is None:
                done.add(node)
                del path[node]
            elif each in path:
                return list(path)[list(path).index(each) :]
            else:
                path[each] = iter(instead.get(each, each).operands)
    return []


_LOOKED_AT = frozenset({power.op, MATMUL, GETITEM, EINSUM})


def _replaced(instead: dict[Node, Node], outputs: Sequence[Node]) -> list[Node]:
    """The outputs with nodes replaced; a replacement may have operands that were made later."""
    new: dict[Node, Node] = {}
    stack = list(outputs)
    while stack:
        node = stack[-1]
        made = instead.get(node, node)
        missing = [each for each in made.operands if each not in new]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        new[node] = on_operands(made, tuple([new[each] for each in made.operands]))
    return [new[output] for output in outputs]


# -- powers ----------------------------------------------------------------------------------------
def _base_and_exponent(node: Node) -> tuple[Node, float] | None:
    """The base and the constant exponent of a power."""
    fixed = node.op.traits.exponent
    if fixed is not None:
        return node.operands[0], fixed
    if node.op is power.op:
        base, exponent = node.operands
        if exponent.is_constant and exponent.ndim == 0 and node.dtype.kind == "f":
            return base, float(exponent.params["value"])
    return None


def _powers(nodes: Sequence[Node]) -> dict[Node, Powers]:
    found: dict[Node, Powers] = {}
    for node in nodes:
        raised = _base_and_exponent(node)
        if raised is not None:
            found.setdefault(raised[0], {1.0: raised[0]})[raised[1]] = node
    return found


def _from_powers(node: Node, powers: dict[Node, Powers]) -> Node | None:
    """A general power as one product, quotient or square of lower ones."""
    if node.op is not power.op:
        return None
    raised = _base_and_exponent(node)
    if raised is None:
        return None
    base, exponent = raised
    known = powers[base]
    half = known.get(exponent / 2)
    # The square of a root, (x**1.5)**2 for x**3, is NaN for negative x.
    if half is not None and (exponent / 2).is_integer() == exponent.is_integer():
        return _replacement(square, node, half)
    for lower, value in known.items():
        rest = exponent - lower
        if not abs(lower) < abs(exponent) or lower * exponent < 0:
            continue
        if exponent.is_integer() and not lower.is_integer():
            continue
        if rest in known and rest * exponent > 0:
            return _replacement(multiply, node, value, known[rest])
        if -rest in known and rest < 0 and (-rest).is_integer():
            return _replacement(divide, node, value, known[-rest])
    return None


def _from_positive_powers(
    nodes: Sequence[Node], outputs: Sequence[Node], knowledge: Knowledge
) -> dict[Node, Node]:
    """For x > 0: x**a as x times x**(a - 1), if the latter has other users; else the reverse."""
    lower = {node: pair for node in nodes if (pair := lowered_power(node)) is not None}
    lower = {node: pair for node, pair in lower.items() if is_raised(*pair, knowledge)}
    if not lower:
        return {}
    raised = {node.operands: node for node in nodes if node.op is power.op}
    products: dict[Node, list[Node]] = {node: [] for node in lower}
    needed = set(outputs)
    for node in nodes:
        for less in lower.keys() & set(node.operands):
            if node.op is multiply.op and lower[less][0] in node.operands:
                products[less].append(node)
            else:
                needed.add(less)
    instead: dict[Node, Node | None] = {}
    for less, (x, a) in lower.items():
        if less not in needed:
            instead |= {product: _replacement(power, product, x, a) for product in products[less]}
        elif (x, a) in raised and all(knowledge.of(each).has(positive) for each in (x, a)):
            above = raised[x, a]
            instead[above] = _replacement(multiply, above, x, less)
    return {node: new for node, new in instead.items() if new is not None}


# -- inner products --------------------------------------------------------------------------------
def _products(nodes: Sequence[Node]) -> dict[tuple[Node, Node], Node]:
    found: dict[tuple[Node, Node], Node] = {}
    for node in nodes:
        if node.op is multiply.op:
            x, y = node.operands
            found[x, y] = found[y, x] = node
        elif node.op is square.op:
            x = node.operands[0]
            found[x, x] = node
    return found


def _from_product(node: Node, products: dict[tuple[Node, Node], Node]) -> Node | None:
    """An array times a vector as the sum of their elementwise product; elements of c x."""
    if node.op is GETITEM and node.operands[0].op is multiply.op:
        return _elements_scaled(node, products)
    if node.op is not MATMUL or node.operands[1].ndim != 1:
        return None
    whole = products.get((node.operands[0], node.operands[1]))
    if whole is None or whole.shape != node.operands[0].shape or whole.dtype != node.dtype:
        return None
    return _replacement(total, node, whole, axis=-1)


def _elements_scaled(node: Node, products: dict[tuple[Node, Node], Node]) -> Node | None:
    for number, array in (node.operands[0].operands, node.operands[0].operands[::-1]):
        if number.is_constant and number.ndim == 0:
            with origin(node.origin):
                elements = make(node.op, (array,), node.params, node.copy)
            return products.get((number, elements))
    return None


# -- contractions ----------------------------------------------------------------------------------
def _without_ones(node: Node) -> Node | None:
    """A contraction without its factors of 1, which come from the start of a gradient."""
    if node.op is not EINSUM or not any(map(_is_one, node.operands)):
        return None
    left, _, right = node.params["subscripts"].partition("->")
    terms = zip(left.split(","), node.operands, strict=True)
    kept = [(term, x) for term, x in terms if not _is_one(x)]
    if not kept:
        return None
    text = f"{','.join(term for term, _ in kept)}->{right}"
    with origin(node.origin):
        return einsum(text, *[Array(x) for _, x in kept]).node


def _is_one(node: Node) -> bool:
    return node.is_constant and node.ndim == 0 and bool(node.params["value"] == 1)


# -- differences -----------------------------------------------------------------------------------


def _from_differences(nodes: Sequence[Node], outputs: Sequence[Node]) -> dict[Node, Node]:
    """Sums that are the only users of b - a, written with a - b."""
    differences = {node.operands: node for node in nodes if node.op is subtract.op}
    opposites = {
        node: differences[operands[::-1]]
        for operands, node in differences.items()
        if operands[::-1] in differences and operands[0] is not operands[1]
    }
    instead: dict[Node, Node] = {}
    if not opposites:
        return instead
    uses = use_counts(nodes, outputs)
    for node in nodes:
        if node.op not in (add.op, subtract.op, total.op) or node.copy:
            continue
        places = range(len(node.operands)) if node.op is add.op else [-1]
        for place in reversed(places):
            back = _reversed_difference(node.operands[place], opposites, uses)
            if back is not None:
                other = node.operands[(place - 1) % len(node.operands)]
                instead[node] = _with_opposite(node, other, back[1])
                # The difference that stays is needed from now on.
                opposites.pop(opposites[back[0]], None)
                opposites.pop(back[0])
                break
    return instead


def _with_opposite(node: Node, other: Node, value: Node) -> Node:
    """A sum of two terms, or of elements, with `value` in place of its negative."""
    with origin(node.origin):
        if node.op is total.op:
            # Negating the sum is less work than another difference of all elements.
            return make(negative.op, (make(node.op, (value,), node.params),))
        opposite = subtract if node.op is add.op else add
        return make(opposite.op, (other, value))


def _reversed_difference(
    node: Node, opposites: dict[Node, Node], uses: Counter[Node]
) -> tuple[Node, Node] | None:
    """The difference below operations that only move it, and the value made of its negative."""
    chain: list[Node] = []
    while uses[node] == 1 and len(node.operands) == 1 and node.op.traits.linear_in(1):
        chain.append(node)
        node = node.operands[0]
    if node not in opposites or uses[node] != 1 or node.copy:
        return None
    value = opposites[node]
    for each in reversed(chain):
        with origin(each.origin):
            value = make(each.op, (value,), each.params, each.copy)
    return node, value


def _replacement(
    function: Callable[..., Array], node: Node, *operands: Node, **params: object
) -> Node | None:
    """The function's node in place of `node`; None if its shape or dtype differs."""
    with origin(node.origin):
        found = function(*map(Array, operands), **params).node
    return found if found.shape == node.shape and found.dtype == node.dtype else None
