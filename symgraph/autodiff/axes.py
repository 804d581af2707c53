"""The axes along which a Jacobian is diagonal, known before it is built.

If position k along an axis of y depends only on position k along an axis of x, then
J[..., k, ..., l, ...] = 0 for k ≠ l. Each operation says which axes it carries (`Op.carries`).
Here the axes are followed along all paths, in time linear in the edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from ..array import Array, project
from ..errors import NotDifferentiable
from ..ir.body import Body
from ..ir.differentiation import Places, Pull, Trail, joined
from ..ir.dims import known_equal
from ..ir.node import Node, fresh
from ..ir.op import OPS
from .reverse import active_nodes, cotangents, fitted, rule_of

__all__ = ["Ties", "axes_of_one_length", "flowing", "mixing", "moves_with", "tied_axes"]

Ties: TypeAlias = "tuple[tuple[int, int], ...]"
"""Pairs (axis of y, axis of x), both negative; each axis is in at most one pair."""

_Known: TypeAlias = "dict[Node, list[Places | None]]"
"""For each node that depends on x, the places of the axes of x in each of its results."""


def flowing(node: Node, slot: int) -> bool:
    """Whether a derivative may flow from operand `slot` into `node`."""
    if node.operands[slot].aval.dtype.kind != "f" and len(node.operands[slot].results) == 1:
        return False
    return (
        node.op.name == "project" or node.op.jvp is not None or node.op.vjp_rule(slot) is not None
    )


def _followed(y: Node, x: Node) -> tuple[_Known, dict[int, Node]]:
    """The places of the axes of x in each node between x and y, and the nodes that mix an axis.

    For each axis that is mixed the second mapping has the first node that mixes it.
    """
    own: Places = tuple(range(-x.ndim, 0))
    known: _Known = {x: [own]}
    between = sorted(active_nodes([y], [x]), key=lambda each: each.serial)
    mixed_by: dict[int, Node] = {}
    for node in _reached([node for node in between if node is not x], known, 0):
        found = known[node][0]
        before = [known[node.operands[slot]][0] for slot in _moving(node, known)]
        for axis, place in enumerate(found or (), -x.ndim):
            if place is None and all(places and places[axis] is not None for places in before):
                mixed_by.setdefault(axis, node)
    return known, mixed_by


def _reached(nodes: Iterable[Node], known: _Known, level: int) -> list[Node]:
    """The nodes that a derivative flows to from known nodes; they are added to `known`.

    `nodes` must come with operands first.
    """
    reached: list[Node] = []
    for node in nodes:
        slots = _moving(node, known)
        results = list(_places_in_results(node, slots, known, level)) if slots else []
        if any(places is not None for places in results):
            known[node] = results
            reached.append(node)
    return reached


def _moving(node: Node, known: _Known) -> list[int]:
    return [
        slot
        for slot, operand in enumerate(node.operands)
        if operand in known and flowing(node, slot)
    ]


def _places_in_results(
    node: Node, slots: Sequence[int], known: _Known, level: int
) -> Sequence[Places | None]:
    """The places of the axes of x in each result of `node`, given the places in its operands."""
    if node.op.name == "project":
        return [known[node.operands[0]][node.params["index"]]]
    if node.op.follows is not None:
        places = [
            known[operand][0] if slot in slots else None
            for slot, operand in enumerate(node.operands)
        ]
        return node.op.follows(Trail(tuple(places), level, _places_in_body), **node.params)
    if node.op.unchecked:
        carried = _carried_by_rule(node, slots)
    else:
        avals = [operand.aval for operand in node.operands]
        carried = [
            [node.op.carries(result, *avals, slot=slot, **node.params) for slot in slots]
            for result in node.results
        ]
    before = [known[node.operands[slot]][0] for slot in slots]
    return [
        joined(*[_carried_places(places, to) for places, to in zip(before, routes, strict=True)])
        for routes in carried
    ]


def _carried_places(places: Places | None, carried: Sequence[int | None] | None) -> Places | None:
    """The next places of axes; an axis of loop steps keeps its place in all operations inside."""
    if places is None or carried is None:
        return None
    return tuple(at if at is None or at >= 0 else carried[at] for at in places)


def _places_in_body(body: Body, given: Sequence[Places | None], level: int) -> list[Places | None]:
    """The places of the axes of x in the outputs of a body."""
    known: _Known = {
        node: [places]
        for node, places in zip(body.inputs, given, strict=True)
        if places is not None
    }
    _reached(body.nodes, known, level)
    return [known[output][0] if output in known else None for output in body.outputs]


def _carried_by_rule(node: Node, slots: Sequence[int]) -> list[list[Sequence[int | None] | None]]:
    """The axes that a user's derivative rule carries, found by applying it to a dummy cotangent.

    The results of the rule are the products of the transposed Jacobian with the dummy.
    """
    count = len(node.results)
    outs = [Array(node)] if count == 1 else [Array(project(node, i)) for i in range(count)]
    dummies = [
        Array(fresh(OPS["input"], {"name": "cotangent", "assume": ()}, out.aval)) for out in outs
    ]
    operands = [Array(operand) for operand in node.operands]
    try:
        pulled = _pulled(node, slots, dummies, outs, operands)
    except NotDifferentiable:  # The error is raised again when the derivative is taken.
        return [[(None,) * operands[slot].ndim for slot in slots] for _ in outs]
    return [[_carried(ct, dummy) for ct in pulled] for dummy in dummies]


def _pulled(
    node: Node,
    slots: Sequence[int],
    dummies: Sequence[Array],
    outs: Sequence[Array],
    operands: Sequence[Array],
) -> list[Array | None]:
    """The cotangents of some operands of a node."""
    if node.op.pullback is not None:
        pull = Pull(tuple(dummies), tuple(outs), tuple(operands), tuple(slots), 0, cotangents)
        found = node.op.pullback(pull, **node.params)
    else:
        single = len(outs) == 1
        ct: Any = dummies[0] if single else tuple(dummies)
        out: Any = outs[0] if single else tuple(outs)
        rules = [rule_of(node, slot) for slot in slots]
        found = [
            None if rule is None else rule(ct, out, *operands, **node.params) for rule in rules
        ]
    return [
        None if each is None else fitted(each, operands[slot].aval, 0)
        for slot, each in zip(slots, found, strict=True)
    ]


def _carried(pulled: Array | None, dummy: Array) -> Sequence[int | None] | None:
    """The new place of each axis of an operand, given the rule's result for `dummy`."""
    if pulled is None:
        return None
    known, _ = _followed(pulled.node, dummy.node)
    if pulled.node not in known:
        return None
    ties = dict(_ties(known[pulled.node][0] or (), pulled.node, dummy.node))
    return [ties.get(axis) for axis in range(-pulled.ndim, 0)]


def tied_axes(y: Node, x: Node) -> Ties:
    """Pairs of axes along which the Jacobian of y with respect to x is diagonal.

    The axes of a pair have one length: the Jacobian is diagonal and square along them.
    """
    known, _ = _followed(y, x)
    return _ties(known[y][0] or (), y, x) if y in known else ()


def moves_with(y: Node, x: Node) -> bool:
    """Whether the derivative of y with respect to x may be nonzero."""
    return y in _followed(y, x)[0]


def axes_of_one_length(y: Node, x: Node) -> Ties:
    """Pairs of axes of one length, in order: a Jacobian of zeros is diagonal along each pair."""
    free = list(range(-x.ndim, 0))
    ties: list[tuple[int, int]] = []
    for place in range(-y.ndim, 0):
        axis = next((each for each in free if known_equal(x.shape[each], y.shape[place])), None)
        if axis is not None:
            free.remove(axis)
            ties.append((place, axis))
    return tuple(ties)


def _ties(places: Places, y: Node, x: Node) -> Ties:
    ties: dict[int, int] = {}
    for axis, place in enumerate(places, -x.ndim):
        if place is not None and known_equal(x.shape[axis], y.shape[place]):
            ties.setdefault(place, axis)
    return tuple(sorted(ties.items()))


def mixing(y: Node, x: Node) -> Node | None:
    """The first operation on the way to y that mixes an axis of x; None if none does."""
    _, mixed_by = _followed(y, x)
    return min(mixed_by.values(), key=lambda node: node.serial, default=None)
