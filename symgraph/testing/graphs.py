"""Comparison of graphs."""

from __future__ import annotations

from collections.abc import Sequence

from ..array import Array
from ..ir.dag import Dag
from ..ir.node import Node
from ..ir.walks import reachable, substituted

__all__ = ["assert_same_graph"]


def assert_same_graph(one: object, other: object) -> None:
    """Check that two graphs have the same operations and results; inputs are matched by name.

    Parameters
    ----------
    one, other : Graph, Dag, Array or sequence of Array

    Raises
    ------
    AssertionError
        If they differ; the message lists both graphs.

    Examples
    --------
    >>> x, again = sg.input("x", (3,)), sg.input("x", (3,))
    >>> assert_same_graph(np.exp(x) + 1, np.exp(again) + 1)
    """
    left, right = _outputs(one), _outputs(other)
    by_name = {node.params["name"]: node for node in reachable(left) if node.is_input}
    matched = {
        node: by_name[node.params["name"]]
        for node in reachable(right)
        if node.is_input and _same_input(node, by_name.get(node.params["name"]))
    }
    assert substituted(right, matched) == left, (
        f"The graphs differ.\n{_listed(left)}\n-- and --\n{_listed(right)}"
    )


def _outputs(graph: object) -> list[Node]:
    if isinstance(graph, Array):
        return [graph.node]
    if isinstance(graph, Sequence):
        return [array.node for array in graph]
    dag = getattr(graph, "dag", graph)
    assert isinstance(dag, Dag), f"{graph!r} is not a graph."
    return list(dag.outputs)


def _same_input(node: Node, other: Node | None) -> bool:
    if other is None:
        return False
    return node.aval == other.aval and set(node.params["assume"]) == set(other.params["assume"])


def _listed(outputs: Sequence[Node]) -> str:
    place = {node: i for i, node in enumerate(reachable(outputs))}
    lines = [
        f"%{i} = {node.params['name'] if node.is_input else node.op.name}"
        f"({', '.join(f'%{place[operand]}' for operand in node.operands)}) {_shown_params(node)}"
        for node, i in place.items()
    ]
    return "\n".join([*lines, f"returns {', '.join(f'%{place[each]}' for each in outputs)}"])


def _shown_params(node: Node) -> str:
    params = {name: value for name, value in node.params.items() if name != "name"}
    return f"{node.aval} {params}"
