r"""Norms written out: the derivative of $\sqrt{c \sum x_i^2}$ right at $x = 0$.

By the chain rule $\bar x = 2 x\, c\, \bar y / (2 y)$ is $0 \cdot \infty$ there. The norm has
subgradients, all of length 1 at most, and 0 is the one that favours no direction: so
every spelling of `sqrt(sum(x * x))` has the derivative $c\, x / y$, which is 0 at $y = 0$, as
that of `norm(x)`. So has $\sqrt{m^2 \sum x_i^2}$, as which the norm of $m x$ is written where the
sum is there. The root itself keeps its infinite slope: a derivative by the sum under the root
follows the ordinary rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..array import FUNCTIONS, Array
from ..ir.differentiation import StandIn
from ..ir.node import Node
from .factors import without_factor
from .masks import behind_masks
from .quotients import divide_or_zero, inverse_root

__all__ = ["Squares", "is_square_root", "norm_written_out", "restored", "squares_of"]

_PARTS = 16
"""How many summands and factors we search, so that the time is bounded."""


class Squares(NamedTuple):
    """The sum of the squares of `x` over `axis`; without axes, the squares themselves.

    Under the sum they have `weights`, factors and conditions that nothing is differentiated by. It
    is multiplied and divided by `scales`: numbers, conditions, and other values made of squares.
    """

    x: Node
    axis: tuple[int, ...]
    keepdims: bool
    scales: tuple[tuple[str, Node], ...] = ()
    weights: tuple[tuple[str, Node], ...] = ()


# -- the radicand ----------------------------------------------------------------------------------
def norm_written_out(node: Node) -> StandIn | None:
    """The derivative of the root of a sum of squares by the summed array, as one step."""
    passed: list[Node] = []
    terms = _terms(node.operands[0], passed)
    if terms is None:
        return None
    return StandIn(
        passed=tuple(passed),
        operands=tuple([term.x for term in terms]),
        helps=lambda ct, out: not _divided_by(ct, out),
        vjp=tuple([_rule(term, _alone(node.operands[0], terms)) for term in terms]),
        jvp=lambda tangents, out: _pushed(terms, tangents, out),
    )


def is_square_root(node: Node) -> bool:
    """Whether a power is x ** 0.5."""
    return _is_number(node.operands[1], 0.5)


def _terms(node: Node, passed: list[Node]) -> list[Squares] | None:
    """The squares of which a value is made by sums, products, numbers and choices; else None."""
    terms: list[Squares] = []
    stack: list[tuple[Node, tuple[tuple[str, Node], ...]]] = [(node, ())]
    while stack:
        each, scales = stack.pop()
        inner = _within(each) if len(terms) + len(stack) < _PARTS else []
        if inner:
            passed.append(each)
            stack.extend([(part, (*scales, *more)) for part, more in reversed(inner)])
            continue
        found = squares_of(each, passed)
        if found is None or each.shape != node.shape:
            return None
        terms.append(found._replace(scales=scales))
    return terms


def _within(node: Node) -> list[tuple[Node, list[tuple[str, Node]]]]:
    """The parts of a sum, of a product that is no square, or of a multiple, and their factors."""
    scale = _scale_of(node)
    if scale is not None:
        return [(node.operands[1 - scale], [(node.op.name, node.operands[scale])])]
    if node.op.name == "add":
        return [(each, []) for each in node.operands]
    if node.op.name == "where":
        return [(node.operands[slot], [scale]) for slot, scale in _choices(node)]
    if node.op.name == "multiply" and _squared(node) is None:
        one, other = node.operands
        return [(one, [("multiply", other)]), (other, [("multiply", one)])]
    return []


def _alone(node: Node, terms: Sequence[Squares]) -> Node | None:
    """The value without the numbers that are its only factors; None if it has others inside."""
    scales: list[tuple[str, Node]] = []
    for _ in range(_PARTS):
        scale = _scale_of(node)
        if scale is None:
            break
        scales.append((node.op.name, node.operands[scale]))
        node = node.operands[1 - scale]
    return node if all(list(term.scales) == scales for term in terms) else None


def _choices(node: Node) -> list[tuple[int, tuple[str, Node]]]:
    """The place of the value in a choice between it and 0 or NaN, with the condition.

    Another number keeps a root from 0, where the chain rule is as good.
    """
    condition, x, y = node.operands
    if x.is_constant == y.is_constant or condition.shape not in ((), node.shape):
        return []
    if np.any((y if y.is_constant else x).params["value"] > 0):
        return []
    return [(1, ("where", condition))] if y.is_constant else [(2, ("unless", condition))]


def _scale_of(node: Node) -> int | None:
    """Which operand is a positive number, the size of a dimension, or a count to divide by."""
    slots = {"divide": (1,), "multiply": (0, 1)}.get(node.op.name, ())
    for slot in slots:
        each, other = node.operands[slot], node.operands[1 - slot]
        if other.is_constant:
            continue
        fits = node.op.name == "divide" and each.shape in ((), node.shape)
        if fits and not each.is_constant and (_is_count(each) or _is_weight(each)):
            return slot
        if each.shape:
            continue
        if each.op.name == "dimension" or (
            each.is_constant and 0 < float(each.params["value"]) < np.inf
        ):
            return slot
    return None


def squares_of(node: Node, passed: list[Node]) -> Squares | None:
    """The squares of which a value is the sum; None of other values."""
    passed.append(node)
    if node.op.name == "sum":
        inner, weights = _unweighted(node.operands[0], passed)
        x = _squared(inner)
        return x and Squares(x, node.params["axis"], node.params["keepdims"], (), weights)
    if node.op.name in ("matmul", "einsum") and len(set(node.operands)) == 1:
        x = node.operands[0]
        axis = _contracted(node, x)
        return None if axis is None else Squares(x, axis, False)
    if node.op.name == "matmul":
        return _weighed(node, passed)
    x = _squared(node)
    return x and Squares(x, (), False)


def _weighed(node: Node, passed: list[Node]) -> Squares | None:
    """The squares in a product with a vector of weights."""
    left, right = node.operands
    pairs = [(left, right), *([(right, left)] if right.ndim == 1 else [])]
    for each, weight in pairs:
        x = _squared(each) if weight.ndim == 1 and _is_weight(weight) else None
        if x is not None:
            passed.append(each)
            return Squares(x, (-1,), False, (), (("multiply", weight),))
    return None


def _unweighted(node: Node, passed: list[Node]) -> tuple[Node, tuple[tuple[str, Node], ...]]:
    """The value under a sum without weights and conditions that only choose and weigh."""
    weights: list[tuple[str, Node]] = []
    for _ in range(_PARTS):
        passed.append(node)
        if node.op.name == "where" and any(_is_zero(each) for each in node.operands[1:]):
            found = _choices(node)
        elif node.op.name == "multiply" and _squared(node) is None:
            places = [slot for slot in (0, 1) if _is_weight(node.operands[1 - slot])]
            found = [(slot, ("multiply", node.operands[1 - slot])) for slot in places[:1]]
        else:
            break
        if not found or node.operands[found[0][0]].shape != node.shape:
            break
        ((slot, weight),) = found
        weights.append(weight)
        node = node.operands[slot]
    return node, tuple(weights)


_PASSED_BY = ("reshape", "broadcast_to", "expand_dims", "transpose", "sum")
"""What makes weights of weights."""


def _is_zero(node: Node) -> bool:
    return node.is_constant and not np.any(node.params["value"])


def _is_weight(node: Node) -> bool:
    """Whether a value is no negative number anywhere, and has no derivative."""
    while node.op.name in _PASSED_BY:
        (node,) = node.operands
    if node.is_constant:
        value = np.asarray(node.params["value"])
        return bool(np.all((value >= 0) & np.isfinite(value)))
    return node.op.name == "cast" and node.operands[0].aval.dtype.kind in "bu"


def _is_count(node: Node) -> bool:
    """Whether a value is made of whole numbers alone, such as the number of what is no NaN."""
    while node.op.name in ("reshape", "broadcast_to", "maximum", "subtract", "add", "cast"):
        if node.op.name == "cast" and node.operands[0].aval.dtype.kind in "biu":
            return True
        variable = [each for each in node.operands if not each.is_constant]
        if len(variable) != 1:
            return False
        (node,) = variable
    return False


def _contracted(node: Node, x: Node) -> tuple[int, ...] | None:
    """The axes over which a contraction of x with itself sums squares."""
    if node.op.name == "matmul":
        return (-1,) if x.ndim == 1 else None
    inputs, _, result = node.params["subscripts"].partition("->")
    labels = inputs.split(",")[0]
    plain = inputs == f"{labels},{labels}" and labels.isalpha() and len(set(labels)) == x.ndim
    if not plain or [label for label in labels if label in result] != list(result):
        return None
    return tuple([place - x.ndim for place, label in enumerate(labels) if label not in result])


def _squared(node: Node) -> Node | None:
    """The value that this is the square of."""
    if node.op.name == "square":
        return node.operands[0]
    if node.op.name == "multiply" and node.operands[0] is node.operands[1]:
        return node.operands[0]
    if node.op.name == "power" and _is_number(node.operands[1], 2.0):
        return node.operands[0]
    return None


def _is_number(node: Node, number: float) -> bool:
    return _is_scalar_constant(node) and float(node.params["value"]) == number


def _is_scalar_constant(node: Node) -> bool:
    return node.is_constant and not node.shape


# -- its derivative --------------------------------------------------------------------------------
def _rule(term: Squares, alone: Node | None) -> Callable[[Any, Any], Any]:
    def rule(ct: Array, out: Array) -> Array:
        x = Array(term.x)
        rest = without_factor(ct, out)
        if rest is not None:
            # (c |x|) x / |x| is c x, the derivative of |x|^2, without a quotient.
            found = restored(_scaled(rest, term.scales), term) * x
        elif _is_made_of_numbers(ct.node):
            found = x * restored(ct * _inverse(out, term.scales, alone), term)
        else:
            found = x * restored(_scaled(divide_or_zero(ct, out), term.scales), term)
        return _scaled(found, term.weights)

    masked: Any = rule if term.axis else behind_masks(rule)
    return masked


def _inverse(out: Array, scales: Sequence[tuple[str, Node]], under: Node | None) -> Array:
    """The reciprocal root c / sqrt(c s) = sqrt(c) / sqrt(s), which is in range wherever s is.

    Without `under`, which is s, c has other factors, or stands inside.
    """
    if under is None:
        return _scaled(inverse_root(Array(out.node.operands[0])), scales)
    factor = 1.0
    for name, scale in scales:
        number = float(scale.params["value"]) if scale.is_constant else np.inf
        factor = factor / number if name == "divide" else factor * number
    if not 0 < factor < np.inf:
        return _scaled(inverse_root(Array(out.node.operands[0])), scales)
    return inverse_root(Array(under)) * factor**0.5


def _is_made_of_numbers(node: Node) -> bool:
    """Whether a cotangent does not depend on the root, so that we need not compute the root."""
    while node.op.name in ("broadcast", "broadcast_to", "reshape", "expand_dims"):
        (node,) = node.operands
    return node.is_constant


def _pushed(terms: Sequence[Squares], tangents: Sequence[Array | None], out: Array) -> Array | None:
    total: Any = None
    common = terms[0].scales if len({term.scales for term in terms}) == 1 else ()
    for term, tangent in zip(terms, tangents, strict=True):
        if tangent is None:
            continue
        part = _scaled(Array(term.x) * tangent, term.weights)
        if term.axis:
            part = FUNCTIONS["sum"](part, axis=term.axis, keepdims=term.keepdims)
        part = part if common else _scaled(part, term.scales)
        total = part if total is None else total + part
    return None if total is None else divide_or_zero(_scaled(total, common), out)


def restored(value: Array, term: Squares) -> Array:
    """The value with the axes again over which squares were summed."""
    if term.keepdims or not term.axis:
        return value
    return FUNCTIONS["expand_dims"](value, term.axis)


def _scaled(value: Array, scales: Sequence[tuple[str, Node]]) -> Array:
    for name, scale in scales:
        if name in ("multiply", "divide"):
            value = value / Array(scale) if name == "divide" else value * Array(scale)
    # Last, for a count to divide by may be 0 where nothing is chosen.
    choose: Any = FUNCTIONS["where"]
    for name, condition in scales:
        if name == "where":
            value = choose(Array(condition), value, 0)
        elif name == "unless":
            value = choose(Array(condition), 0, value)
    return value


_WALKED = 64
"""How many nodes of a cotangent we search for a divisor."""


def _divided_by(ct: Array, out: Array) -> bool:
    """Whether a later operation divides by the root, and no mask protects it from 0.

    Then there is no derivative at 0 in any case, and the shorter form is as good.
    """
    start = out.node.serial
    seen = {ct.node}
    stack = [ct.node]
    found = False
    while stack and len(seen) < _WALKED:
        node = stack.pop()
        if node.op.name == "where":
            return False
        found = found or _vanishing(_divisor(node), out.node)
        fresh = [each for each in node.operands if each.serial > start and each not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    return found


def _divisor(node: Node) -> Node | None:
    if node.op.name == "divide":
        return node.operands[1]
    if node.op.name == "reciprocal":
        return node.operands[0]
    if node.op.name == "power" and _is_scalar_constant(node.operands[1]):
        return node.operands[0] if float(node.operands[1].params["value"]) < 0 else None
    return None


def _vanishing(node: Node | None, root: Node) -> bool:
    """Whether a value is 0 where the root is 0, such as a product with the root."""
    stack = [] if node is None else [node]
    seen = 0
    while stack and seen < _PARTS:
        each = stack.pop()
        seen += 1
        if each is root:
            return True
        if each.op.name in (
            "multiply",
            "square",
            "sqrt",
            "power",
            "reshape",
            "expand_dims",
            "broadcast",
        ):
            stack.extend(each.operands if each.op.name == "multiply" else each.operands[:1])
    return False
