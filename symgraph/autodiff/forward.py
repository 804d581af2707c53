r"""Forward mode: tangents pushed along the graph, by transposing each operation's reverse rule.

An operation's vjp rule is linear in its cotangent, $\bar x = J^\top \bar y$. Applied to a dummy
cotangent it gives a small linear graph. Differentiating this graph, with the tangent $\dot x$
as its cotangent, gives $\dot y = J \dot x$ without the dummy (Radul et al. 2023, "You only
linearize once", in the opposite direction). So one rule for each operation serves both modes, and
$\langle u, J v\rangle = \langle J^\top u, v\rangle$ holds by construction. The Jacobian of an
elementwise operation is diagonal, so its rule is its own transpose. An operation may bring a
forward rule of its own (`Op.jvp`). Each node is visited once, without recursion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from ..array import FUNCTIONS, Array, project
from ..ir.differentiation import Pull, Push, Undefined
from ..ir.dims import same_shape
from ..ir.fact_inference import knowledge_kept
from ..ir.node import Node, adjoint_origin, fresh, origin
from ..ir.op import OPS, carries_aligned
from ..ops.movement import reshape
from .reverse import active_nodes, check_targets, cotangents, fitted, past_of, rule_of
from .shifts import without_effect

__all__ = ["tangents"]


@knowledge_kept()
def tangents(outputs: Sequence[Array], seeds: Sequence[tuple[Array, Array]]) -> list[Array | None]:
    """The tangent of each output; None where no path leads to it from a seeded value.

    Parameters
    ----------
    outputs : sequence of Array
    seeds : sequence of (value, tangent)
        Floating inputs or intermediate values, each with a tangent of its shape, possibly with
        extra leading axes, the same for all.

    Raises
    ------
    DTypeError
        If a seeded value is not floating.
    NotDifferentiable
        If an operation on a path has no derivative.
    """
    check_targets([value for value, _ in seeds])
    lead = seeds[0][1].ndim - seeds[0][0].ndim
    known: dict[Node, Array] = {}
    several: dict[Node, list[Array | None]] = {}
    for value, tangent in seeds:
        before = known.get(value.node)
        known[value.node] = tangent if before is None else before + tangent
    seeded = set(known)
    ends = [output.node for output in outputs]
    active = active_nodes(ends, list(known))
    active -= without_effect(active, ends, seeded)
    for node in sorted(active, key=lambda each: each.serial):
        if node in known:
            continue
        if node.op.name == "project":
            found = several.get(node.operands[0], ())
            tangent = found[node.params["index"]] if found else None
            if tangent is not None:
                known[node] = tangent
            continue
        with origin(adjoint_origin(node)):
            past = past_of(node, seeded, active)
            if past is None:
                results = _pushed(node, known, lead)
            else:
                moving = [_aligned(known.get(each), each, node, lead) for each in past.operands]
                results = [_broadcast(past.jvp(moving, Array(node)), Array(node), lead)]
        if len(node.results) > 1:
            several[node] = results
        elif results[0] is not None:
            known[node] = results[0]
    return [known.get(output.node) for output in outputs]


def _pushed(node: Node, known: dict[Node, Array], lead: int) -> list[Array | None]:
    """The tangent of each result of a node, given the tangents of its operands."""
    if not any(aval.dtype.kind == "f" for aval in node.results):
        return [None] * len(node.results)
    operands = [Array(operand) for operand in node.operands]
    single = len(node.results) == 1
    outs = [Array(node)] if single else [Array(project(node, i)) for i in range(len(node.results))]
    given = tuple(known.get(operand) for operand in node.operands)
    found: Any = None
    if node.op.jvp is not None:
        out: Any = outs[0] if single else tuple(outs)
        found = node.op.jvp(given, out, *operands, **node.params)
        found = None if found is NotImplemented else _listed(found)
    elif node.op.pushforward is not None:
        push = Push(given, tuple(outs), tuple(operands), lead, tangents)
        found = node.op.pushforward(push, **node.params)
    if found is not None:
        return [_broadcast(each, out, lead) for each, out in zip(found, outs, strict=True)]
    return _transposed(node, operands, outs, known, lead)


def _transposed(
    node: Node,
    operands: Sequence[Array],
    outs: Sequence[Array],
    known: dict[Node, Array],
    lead: int,
) -> list[Array | None]:
    """The tangents of a node's results, by transposing its reverse rules."""
    moving = [slot for slot, operand in enumerate(node.operands) if operand in known]
    total: list[Array | None] = [None] * len(outs)
    for slot in [slot for slot in moving if _is_diagonal(node, slot)]:
        rule: Any = node.op.vjp_rule(slot)
        part = rule(known[node.operands[slot]], outs[0], *operands, **node.params)
        total[0] = _added(total[0], _broadcast(part, outs[0], lead))
        moving.remove(slot)
    if not moving:
        return total
    dummies = [_dummy(out) for out in outs]
    floating = [i for i, out in enumerate(outs) if out.dtype.kind == "f"]
    targets = [dummies[i] for i in floating]
    for seeds in _seeds(node, moving, dummies, operands, outs, known):
        found = cotangents(seeds, targets, owner=node)
        for i, each in zip(floating, found, strict=True):
            total[i] = _added(total[i], _broadcast(each, outs[i], lead))
    return total


def _is_diagonal(node: Node, slot: int) -> bool:
    """Whether the Jacobian by an operand is diagonal; then the rule is its own transpose."""
    rule = node.op.vjp_rule(slot)
    return (
        node.op.carries is carries_aligned
        and node.op.pullback is None
        and len(node.results) == 1
        and node.operands[slot].aval == node.aval
        and rule is not None
        and not isinstance(rule, Undefined)
    )


Seeds: TypeAlias = "list[tuple[Array, Array]]"


def _seeds(
    node: Node,
    moving: Sequence[int],
    dummies: Sequence[Array],
    operands: Sequence[Array],
    outs: Sequence[Array],
    known: dict[Node, Array],
) -> Iterator[Seeds]:
    """The results of reverse mode for dummy cotangents, each with the tangent that seeds it.

    They are then differentiated with respect to the dummies. The results of one rule stay together.
    """
    single = len(outs) == 1
    if node.op.pullback is not None:
        pull = Pull(tuple(dummies), tuple(outs), tuple(operands), tuple(moving), 0, cotangents)
        pulled = node.op.pullback(pull, **node.params)
        seeds = [
            (fitted(each, operands[slot].aval, 0), known[node.operands[slot]])
            for slot, each in zip(moving, pulled, strict=True)
            if each is not None
        ]
        if seeds:
            yield seeds
        return
    for slot in moving:
        rule = rule_of(node, slot)
        if rule is None:
            continue
        ct: Any = dummies[0] if single else tuple(dummies)
        out: Any = outs[0] if single else tuple(outs)
        pulled = fitted(rule(ct, out, *operands, **node.params), operands[slot].aval, 0)
        yield [(pulled, known[node.operands[slot]])]


def _dummy(out: Array) -> Array:
    """A dummy cotangent: a new input, which vanishes when we differentiate with respect to it."""
    return Array(fresh(OPS["input"], {"name": "cotangent", "assume": ()}, out.aval))


def _aligned(tangent: Array | None, operand: Node, node: Node, lead: int) -> Array | None:
    """The tangent of an operand with axes of size 1 for those that only the result has.

    Without them the leading axes of several tangents would meet the axes of the result.
    """
    missing = node.ndim - operand.ndim
    if tangent is None or missing <= 0 or not lead:
        return tangent
    shape = (*tangent.shape[:lead], *[1] * missing, *tangent.shape[lead:])
    return reshape(tangent, shape)


def _broadcast(tangent: Array | None, out: Array, lead: int) -> Array | None:
    if tangent is None:
        return None
    if same_shape(tangent.shape[lead:], out.shape):
        return tangent
    return FUNCTIONS["broadcast_to"](tangent, (*tangent.shape[:lead], *out.shape))


def _added(one: Array | None, other: Array | None) -> Array | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


def _listed(found: object) -> list[Any]:
    return list(found) if isinstance(found, tuple) else [found]
