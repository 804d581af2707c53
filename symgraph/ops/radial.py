r"""Functions of a length: their second derivative right where the length is 0.

The gradient of $f(r)$ for a length $r = \lVert x \rVert$ is $f'(r)\, x / r$. It is 0 at $x = 0$,
and differentiated factor by factor it stays 0 there. With $q = f'(r) / r$, the Hessian is
$q I + (f''(r) - q)\, x x^\top / r^2$. Where $f'(0) = 0$, the quotient has the limit $f''(0)$, and
so the Hessian is $f''(0) I$ at the origin. Where $f'(0) \ne 0$, f has a cusp there, and q is 0,
like the slope of a length. The slope of $f'$ is taken of its own formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..array import FUNCTIONS, Array, apply
from ..ir.differentiation import StandIn, Undefined
from ..ir.node import Node, on_operands, origin
from ..ir.op import carries_aligned
from ..ir.walks import reachable
from .factor_products import factors_of, partials_of, product_of, product_rule
from .factors import opened, parts_by_factor
from .quotients import divide_or_slope

__all__ = ["depends", "scaled_direction", "with_limits"]

_TERMS = 16
"""How many terms and factors we search, so that the time is bounded."""

_LINEAR = ("add", "subtract", "negative", "multiply", "divide", "reshape", "broadcast_to")
"""The operations between a quotient by a length and the product with x."""

_WALKED = 64
"""Through how many values we follow a length."""


def scaled_direction(node: Node) -> StandIn | None:
    """The derivative of a product with a quotient by a length on which the rest depends."""
    factors, passed = factors_of(node)
    for place, each in enumerate(factors):
        others = [*factors[:place], *factors[place + 1 :]]
        if each.op.name == "sign":
            return _of_sign(others, each, passed)
        if each.op.name == "divide_or_zero":
            found = _of_direction(others, each, passed)
            if found is not None:
                return found
    return _with_quotients(node)


# -- c sign(x) -------------------------------------------------------------------------------------
def _of_sign(others: list[Node], sign: Node, passed: list[Node]) -> StandIn:
    """The derivative of c sign(x); a tangent of c has the sign, too, and it is left out."""

    def pushed(place: int, tangent: Array) -> Array:
        found = parts_by_factor(tangent, Array(sign))
        rest, other = (None, tangent) if found is None else found
        once: Any = other * Array(sign) if other is not None else rest
        if rest is not None and other is not None:
            once = rest + once
        return product_of([*others[:place], *others[place + 1 :]], once)

    return product_rule(tuple(others), tuple(passed), partials_of(others, Array(sign)), pushed)


# -- c (x / r) -------------------------------------------------------------------------------------
def _of_direction(others: list[Node], direction: Node, passed: list[Node]) -> StandIn | None:
    r"""The derivative of $c\, (x / r)$, where the factors of c depend on r."""
    x, length = direction.operands
    slope = _slope_of_product(others, length)
    if slope is None:
        return None
    unit = Array(direction)
    quotient = divide_or_slope(product_of(others), Array(length), slope)
    partials: list[Callable[[], Array]] = [
        *partials_of(others, unit),
        lambda: quotient,
        lambda: -(quotient * unit),
    ]
    return product_rule((*others, x, length), (direction, *passed), partials)


# -- x (c / r) -------------------------------------------------------------------------------------
def _with_quotients(node: Node) -> StandIn | None:
    """The derivative of a product of x and terms c / r, where c depends on r.

    The terms vanish where x is 0, or are multiplied by it. So any value of c / r serves there, and
    its limit gives the derivative.
    """
    right = [_with_limits(each) for each in node.operands]
    if all(each is None for each in right):
        return None
    operands = [
        Array(one) if each is None else each for one, each in zip(node.operands, right, strict=True)
    ]

    def pulled(slot: int) -> Callable[[Any, Any], Any]:
        rule: Any = node.op.vjp_rule(slot)
        return lambda ct, out: rule(ct, out, *operands, **node.params)

    def pushed(tangents: Sequence[Array | None], out: Array) -> Array | None:
        total: Any = None
        for slot, tangent in enumerate(tangents):
            if tangent is not None:
                moved = [*operands[:slot], tangent, *operands[slot + 1 :]]
                part = apply(node.op, *moved, **node.params)
                total = part if total is None else total + part
        return total

    return StandIn(
        passed=(),
        operands=node.operands,
        helps=lambda ct, out: True,
        vjp=tuple([pulled(slot) for slot in range(len(operands))]),
        jvp=pushed,
    )


def _with_limits(whole: Node) -> Array | None:
    """A sum of multiples of quotients c / r with their limits; None if there are no such."""
    right: dict[Node, Array] = {}
    for node in _opened(whole):
        if node.op.name == "divide_or_zero":
            found = _limit_of_quotient(node)
            if found is not None:
                right[node] = found
        elif any(each in right for each in node.operands):
            operands = [right.get(each, Array(each)) for each in node.operands]
            right[node] = apply(node.op, *operands, **node.params)
    return right.get(whole)


def _limit_of_quotient(node: Node) -> Array | None:
    """The quotient c / r of a derivative with its limit; None if c does not depend on r."""
    value, length = node.operands
    if node.origin.adjoint_of is None:
        return None  # A quotient that a user wrote has the value 0 where its divisor is 0.
    slope = _slope_of_product([value], length)
    return None if slope is None else divide_or_slope(Array(value), Array(length), slope)


def _limit_of_product(node: Node) -> Array | None:
    """A product c (x / r) of a derivative as x (c / r) with its limit."""
    factors, _ = factors_of(node)
    for place, each in enumerate(factors):
        if each.op.name == "divide_or_zero" and each.origin.adjoint_of is not None:
            others = [*factors[:place], *factors[place + 1 :]]
            x, length = each.operands
            slope = _slope_of_product(others, length)
            if slope is not None:
                return Array(x) * divide_or_slope(product_of(others), Array(length), slope)
    return None


def with_limits(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with the limit of each c / r where c and r are 0, to be differentiated again.

    Their values are the same. Simplified, they are differentiated right, too: no quotient is apart
    from what it needs for that.
    """
    if not any(_is_direction(node) for node in reachable(outputs)):
        return list(outputs)
    new: dict[Node, Node] = {}
    outputs = [_taken_out(each) for each in outputs]
    for node in reachable(outputs):
        found = on_operands(node, tuple([new[each] for each in node.operands]))
        limit = None
        if node.op.name in ("divide_or_zero", "multiply"):
            with origin(node.origin):
                of = _limit_of_quotient if node.op.name == "divide_or_zero" else _limit_of_product
                limit = of(found)
        new[node] = found if limit is None else limit.node
    return [new[output] for output in outputs]


def _taken_out(output: Node) -> Node:
    """The output as a sum of multiples of directions, x / r or a sign, and a rest without them.

    Forward mode multiplies each by one slope after the other, and no product has all of f'.
    """
    total: Any = None
    left: Array | None = Array(output)
    for each in _directions(output):
        found = None if left is None else parts_by_factor(left, Array(each))
        if found is None or found.rest is None:
            continue
        if each.op.name != "sign" and not _has_slope(found.rest.node, each.operands[1]):
            continue
        part = found.rest * Array(each)
        total = part if total is None else total + part
        left = found.other
    if total is None:
        return output
    return (total if left is None else total + left).node


def _has_slope(value: Node, length: Node) -> bool:
    return _slope_of_product([value], length) is not None


def _directions(output: Node) -> list[Node]:
    """The directions in an output, of its shape."""
    return [each for each in opened(output) if _is_direction(each) and each.shape == output.shape]


def _is_direction(node: Node) -> bool:
    """Whether a derivative has made a quotient by a length, or a sign."""
    return node.op.name in ("divide_or_zero", "sign") and node.origin.adjoint_of is not None


def _opened(whole: Node) -> list[Node]:
    """The terms and factors of a value, operands first."""
    seen = {whole}
    stack = [whole]
    while stack and len(seen) < _TERMS:
        node = stack.pop()
        if node.op.name in _LINEAR:
            fresh = [each for each in node.operands if each not in seen]
            seen.update(fresh)
            stack.extend(fresh)
    return sorted(seen, key=lambda each: each.serial)


# -- the slope of c by r ---------------------------------------------------------------------------
def _slope_of_product(factors: Sequence[Node], length: Node) -> Array | None:
    """The derivative of a product by a length; None if no factor depends on it.

    Each length has the tangent 1. That of others does not count where this one is 0: there f' is 0
    whatever they are, unless f has a cusp.
    """
    base = length
    while base.op.name in ("reshape", "broadcast_to"):
        (base,) = base.operands
    known = {base: FUNCTIONS["ones_like"](Array(base))}
    for node in _between(base, factors):
        found = _moved(node, known)
        if found is not None:
            known[node] = found
    total: Any = None
    for place, each in enumerate(factors):
        if each in known:
            part = product_of([*factors[:place], *factors[place + 1 :]], known[each])
            total = part if total is None else total + part
    return total


def depends(value: Node, base: Node) -> bool:
    """Whether a value is seen to depend on another one, by few steps."""
    return value is base or any(base in each.operands for each in _between(base, [value]))


def _between(base: Node, ends: Sequence[Node]) -> list[Node]:
    """The values that are made after `base` and lead to an end; none if they are many."""
    seen = {each for each in ends if each.serial > base.serial}
    stack = list(seen)
    while stack:
        for operand in stack.pop().operands:
            if operand.serial > base.serial and operand not in seen:
                seen.add(operand)
                stack.append(operand)
        if len(seen) > _WALKED:
            return []
    return sorted(seen, key=lambda each: each.serial)


def _moved(node: Node, known: dict[Node, Array]) -> Array | None:
    """The tangent of a value; None if it is 0, or the operation is neither elementwise nor linear.

    What such an operation passes on is left out: it is a product with the slope of an operand,
    which vanishes where the length does unless the operand has a cusp.
    """
    slots = [slot for slot, each in enumerate(node.operands) if each in known]
    if not slots or len(node.results) > 1 or node.dtype.kind != "f":
        return None
    operands = [Array(each) for each in node.operands]
    if node.op.carries is not carries_aligned:
        if slots != [0] or node.op.traits.linear != (0,):
            return None
        whole = FUNCTIONS["broadcast_to"](known[node.operands[0]], node.operands[0].shape)
        return apply(node.op, whole, *operands[1:], **node.params)
    total: Any = None
    for slot in slots:
        rule: Any = node.op.vjp_rule(slot)
        if rule is not None and not isinstance(rule, Undefined):
            part = rule(known[node.operands[slot]], Array(node), *operands, **node.params)
            total = part if total is None else total + part
    return total
