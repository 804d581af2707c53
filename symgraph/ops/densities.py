r"""The derivative of $e^{c \log y + r} = y^c e^r$ past the logarithm: right where y is 0.

Densities are written so, to be in range: with `xlogy(c, y)`, or `xlog1py` for $(1 + y)^c$, among
the terms of the exponent. By the chain rule the slope in y is $y^c e^r \cdot c / y$, which is
$0 \cdot \infty$ at y = 0. It is $c\, e^{(c - 1) \log y + r}$, as that of the power is, and that in
c has the factor log y, which is 0 where the power is 0 (`ops/powers.py`). Probabilities are written
so, too, as `expm1` of such an exponent, and their logarithms as `log1mexp`: their slopes have
$y^c e^r$ as a factor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from ..array import FUNCTIONS, Array, apply
from ..facts import nonzero
from ..ir.differentiation import StandIn
from ..ir.fact_inference import known_before
from ..ir.node import Node
from .factor_products import product_rule
from .masks import Mask, masked

__all__ = ["exponential_of_powers", "less_one", "logarithm_of_rest"]

_TERMS = 16
"""How many terms we search, so that the time is bounded."""

_LOGARITHMS = {"xlogy": "log", "xlog1py": "log1p"}
"""Products with a logarithm, and the logarithm."""


class _Term(NamedTuple):
    """A term of a sum, its sign, and the operations that hold it, outermost first, with places."""

    node: Node
    sign: int
    path: tuple[tuple[Node, int], ...]


def exponential_of_powers(node: Node) -> StandIn | None:
    """The derivative of exp of a sum past its sums and c log y; None if there is no such term."""
    return _past_logarithms(node, Array(node))


def less_one(node: Node) -> StandIn | None:
    """The derivative of expm1 of such a sum."""
    return _past_logarithms(node, FUNCTIONS["exp"](Array(node.operands[0])))


def logarithm_of_rest(node: Node) -> StandIn | None:
    """The derivative of log1mexp of such a sum."""
    exponent = Array(node.operands[0])
    return _past_logarithms(
        node, FUNCTIONS["exp"](exponent), lambda slope: slope / FUNCTIONS["expm1"](exponent)
    )


def _past_logarithms(
    node: Node, out: Array, outer: Callable[[Array], Array] | None = None
) -> StandIn | None:
    """The derivative of a function of `out`, the exponential; `outer` is applied to that of it."""
    whole, masks = _unmasked(_Term(node.operands[0], 1, ()))
    terms = _terms(whole)
    powers = [term for term in terms if _may_vanish(term)]
    if not powers:
        return None
    operands: list[Node] = []
    passed: dict[Node, None] = {}
    partials: list[Callable[[], Array]] = []
    for term in terms:
        passed.update(dict.fromkeys([each for each, _ in term.path]))
        if term in powers:
            passed[term.node] = None
            operands.extend(term.node.operands)
            partials.extend([partial(_by_exponent, term, out), partial(_by_base, term)])
        else:
            operands.append(term.node)
            partials.append(partial(_signed, term, out))
    return product_rule(
        tuple(operands), tuple(passed), partials, times=partial(_masked, masks, outer)
    )


# -- the terms of the exponent ---------------------------------------------------------------------
def _unmasked(term: _Term) -> tuple[_Term, list[Mask]]:
    """The exponent within the choices between it and a constant, such as -inf off the support."""
    masks: list[Mask] = []
    while term.node.op.name == "where":
        condition, x, y = term.node.operands
        if x.is_constant == y.is_constant:
            break
        slot = 2 if x.is_constant else 1
        inner = term.node.operands[slot]
        if inner.shape != term.node.shape:
            break
        masks.append(Mask(condition, slot == 1))
        term = _Term(inner, 1, (*term.path, (term.node, slot)))
    return term, masks


def _terms(whole: _Term) -> list[_Term]:
    found: list[_Term] = []
    stack = [whole]
    while stack:
        term = stack.pop()
        node, sign, path = term
        if node.op.name in ("add", "subtract", "negative") and len(found) + len(stack) < _TERMS:
            for slot, each in reversed(list(enumerate(node.operands))):
                last = node.op.name == "negative" or (node.op.name == "subtract" and slot == 1)
                stack.append(_Term(each, -sign if last else sign, (*path, (node, slot))))
        else:
            found.append(term)
    return found


def _may_vanish(term: _Term) -> bool:
    """Whether a term is c log y, and y may be 0."""
    if term.sign < 0 or term.node.op.name not in _LOGARITHMS:
        return False
    y = known_before(term.node.operands[1])
    return not (y.has(nonzero) if term.node.op.name == "xlogy" else y.low > -1)


# -- its derivatives -------------------------------------------------------------------------------
def _masked(
    masks: Sequence[Mask], outer: Callable[[Array], Array] | None, ct: Array, slope: Array
) -> Array:
    found = ct * slope if outer is None else ct * outer(slope)
    for mask in reversed(masks):
        found = masked(mask, found)
    return found


def _signed(term: _Term, out: Array) -> Array:
    return out if term.sign > 0 else -out


def _by_exponent(term: _Term, out: Array) -> Array:
    """The value times the logarithm, 0 where the value is."""
    logarithm = FUNCTIONS[_LOGARITHMS[term.node.op.name]]
    return FUNCTIONS["multiply_or_zero"](out, logarithm(Array(term.node.operands[1])))


def _by_base(term: _Term) -> Array:
    """The exponential of the whole exponent with c - 1 for c, c times."""
    c, y = (Array(each) for each in term.node.operands)
    less: Any = FUNCTIONS[term.node.op.name](c - 1, y)
    for node, slot in reversed(term.path):
        if node.op.name == "where":
            break  # Its other branch is masked.
        operands: list[Any] = [Array(each) for each in node.operands]
        operands[slot] = less
        less = apply(node.op, *operands, **node.params)
    return FUNCTIONS["multiply_or_zero"](c, FUNCTIONS["exp"](less))
