"""Which axes a derivative is diagonal along: the structure of a Jacobian, before it is built.

If position k on an axis of y depends on position k on an axis of x alone, whatever stands between
them, then J[..., k, ..., l, ...] = 0 for k ≠ l. Each operation says which axes it carries
(`Op.carries`); here that is followed along all paths, in time linear in their edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ..dag import Node
from ..dims import known_equal
from .reverse import active_nodes

__all__ = ["Ties", "flowing", "mixing", "tied_axes"]

Ties: TypeAlias = "tuple[tuple[int, int], ...]"
"""Pairs (axis of y, axis of x), negative both, each axis in one pair at most."""

_Places: TypeAlias = "tuple[int | None, ...]"


def flowing(node: Node, slot: int) -> bool:
    """Whether a derivative may flow from operand `slot` into `node`."""
    if node.operands[slot].aval.dtype.kind != "f" and len(node.operands[slot].results) == 1:
        return False
    return (
        node.op.name == "project" or node.op.jvp is not None or node.op.vjp_rule(slot) is not None
    )


def _followed(y: Node, x: Node) -> tuple[dict[Node, list[_Places]], dict[int, Node]]:
    """For each node between x and y where each axis of x is, and by what an axis was first mixed.

    One entry a result of the node.
    """
    own: _Places = tuple(range(-x.ndim, 0))
    known: dict[Node, list[_Places]] = {x: [own]}
    mixed_by: dict[int, Node] = {}
    for node in sorted(active_nodes([y], [x]), key=lambda each: each.serial):
        if node is x:
            continue
        slots = [
            slot
            for slot, operand in enumerate(node.operands)
            if operand in known and flowing(node, slot)
        ]
        if not slots:
            continue
        known[node] = _through(node, slots, known)
        for axis, place in enumerate(known[node][0], -x.ndim):
            if place is None and all(
                known[node.operands[slot]][0][axis] is not None for slot in slots
            ):
                mixed_by.setdefault(axis, node)
    return known, mixed_by


def _through(node: Node, slots: Sequence[int], known: dict[Node, list[_Places]]) -> list[_Places]:
    """Where the axes of x are in each result of `node`, given where they are in its operands."""
    if node.op.name == "project":
        return [known[node.operands[0]][node.params["index"]]]
    results: list[_Places] = []
    avals = [operand.aval for operand in node.operands]
    for result in node.results:
        routes: list[_Places] = []
        for slot in slots:
            carried = node.op.carries(result, *avals, slot=slot, **node.params)
            before = known[node.operands[slot]][0]
            routes.append(tuple(None if at is None else carried[at] for at in before))
        results.append(
            tuple(
                places[0] if all(place == places[0] for place in places) else None
                for places in zip(*routes, strict=True)
            )
        )
    return results


def tied_axes(y: Node, x: Node) -> Ties:
    """Axes of y and x that the Jacobian of y with respect to x is diagonal along.

    Only pairs of one length: a Jacobian is diagonal along them and square.
    """
    known, _ = _followed(y, x)
    if y not in known:
        return ()
    ties: dict[int, int] = {}
    for axis, place in enumerate(known[y][0], -x.ndim):
        if place is not None and known_equal(x.shape[axis], y.shape[place]):
            ties.setdefault(place, axis)
    return tuple(sorted(ties.items()))


def mixing(y: Node, x: Node) -> Node | None:
    """The operation by which an axis of x is first mixed on the way to y, if one is."""
    _, mixed_by = _followed(y, x)
    return min(mixed_by.values(), key=lambda node: node.serial, default=None)
