"""The order in which nodes are written: the graph's own, whatever else the process has made.

Nodes that depend on the graph's inputs stand in the order of their making; what is made of
constants alone, and may be as old as the process, before its first use; bodies before the node that
holds them. All nodes stand in one list and refer backwards, so no reader has to recurse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..ir.body import Body
from ..ir.node import Node
from ..ops.derivatives import Backward, WrittenRule, written_rule

__all__ = ["in_order", "rules_of"]


def rules_of(roots: Iterable[Node]) -> dict[Backward, WrittenRule]:
    """The rules of users among all nodes, each as the graph it gave."""
    rules: dict[Backward, WrittenRule] = {}
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        for value in node.params.values():
            if isinstance(value, Body):
                stack.extend(value.outputs)
            elif isinstance(value, Backward) and value not in rules:
                rule = rules[value] = written_rule(value, node.params["body"])
                stack.extend(() if rule.body is None else rule.body.outputs)
        stack.extend(node.operands)
        if _adjoint_of(node) is not None:
            stack.append(_adjoint_of(node))  # pyright: ignore[reportArgumentType]
    return rules


def _adjoint_of(node: Node) -> Node | None:
    """The node it is the adjoint of; of what graphs share nothing is noted that lasts."""
    return None if node.origin.shared else node.origin.adjoint_of


def in_order(
    inputs: Iterable[Node], roots: Iterable[Node], rules: Mapping[Backward, WrittenRule]
) -> list[Node]:
    """All nodes that the roots need, each after what it refers to.

    Parameters
    ----------
    inputs : iterable of Node
        Of the graph.
    roots : iterable of Node
    rules : mapping
        As `rules_of` gives it.
    """
    given = set(inputs)
    ends = list(roots)
    order: dict[Node, None] = {}
    met: set[Node] = set()
    for node in (*_spine(ends, given), *ends):
        if node in met:
            continue
        met.add(node)
        stack = [(node, _needs(node, rules))]
        while stack:
            at, needs = stack[-1]
            fresh = next((each for each in needs if each not in met), None)
            if fresh is None:
                order[at] = None
                stack.pop()
            else:
                met.add(fresh)
                stack.append((fresh, _needs(fresh, rules)))
    return list(order)


def _spine(ends: Iterable[Node], inputs: set[Node]) -> list[Node]:
    """What depends on the inputs, in the order of its making."""
    found: set[Node] = set()
    stack = list(ends)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(node.operands)
            adjoint = _adjoint_of(node)
            stack.extend(() if adjoint is None else (adjoint,))
    spine: set[Node] = set()
    ordered = sorted(found, key=lambda each: each.serial)
    for node in ordered:
        if node in inputs or not spine.isdisjoint(node.operands):
            spine.add(node)
    return [node for node in ordered if node in spine]


def _needs(node: Node, rules: Mapping[Backward, WrittenRule]) -> Iterator[Node]:
    """What must be written before a node."""
    yield from node.operands
    adjoint = _adjoint_of(node)
    if adjoint is not None:
        yield adjoint
    for value in node.params.values():
        if isinstance(value, Backward):
            value = rules[value].body
        if isinstance(value, Body):
            yield from value.dag.nodes
