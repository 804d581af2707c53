"""The order in which nodes are written, which depends on the graph alone.

Nodes that depend on the graph's inputs are written in the order in which they were made. A node
made of constants alone may be as old as the process, so it is written before its first use. Bodies
are written before the node that holds them. All nodes are in one list, and refer to earlier nodes
only, so no reader has to recurse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..ir.body import Body
from ..ir.node import Node
from ..ops.backward_rules import Backward, WrittenRule, written_rule

__all__ = ["in_order", "rules_of"]


def rules_of(roots: Iterable[Node]) -> dict[Backward, WrittenRule]:
    """The users' derivative rules among all nodes, each with the graph it gave."""
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
    """The node whose adjoint this node is; None for a node that graphs share."""
    return None if node.origin.shared else node.origin.adjoint_of


def in_order(
    inputs: Iterable[Node], roots: Iterable[Node], rules: Mapping[Backward, WrittenRule]
) -> list[Node]:
    """All nodes that the roots need, each after the nodes it refers to.

    Parameters
    ----------
    inputs : iterable of Node
        The inputs of the graph.
    roots : iterable of Node
    rules : mapping
        The result of `rules_of`.
    """
    given = set(inputs)
    ends = list(roots)
    order: dict[Node, None] = {}
    met: set[Node] = set()
    for node in (*_dependent(ends, given), *ends):
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


def _dependent(ends: Iterable[Node], inputs: set[Node]) -> list[Node]:
    """The nodes that depend on the inputs, in the order in which they were made."""
    found: set[Node] = set()
    stack = list(ends)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(node.operands)
            adjoint = _adjoint_of(node)
            stack.extend(() if adjoint is None else (adjoint,))
    dependent: set[Node] = set()
    ordered = sorted(found, key=lambda each: each.serial)
    for node in ordered:
        if node in inputs or not dependent.isdisjoint(node.operands):
            dependent.add(node)
    return [node for node in ordered if node in dependent]


def _needs(node: Node, rules: Mapping[Backward, WrittenRule]) -> Iterator[Node]:
    """The nodes that must be written before a node."""
    yield from node.operands
    adjoint = _adjoint_of(node)
    if adjoint is not None:
        yield adjoint
    for value in node.params.values():
        if isinstance(value, Backward):
            value = rules[value].body
        if isinstance(value, Body):
            yield from value.dag.nodes
