r"""Textbook derivatives of a graph of scalars, on numbers, with a count of edges.

The algorithms of this package, step by step on numbers:

- forward values and the `grad_table` of Goodfellow, Bengio and Courville (algorithms 6.1 and 6.2),
  which takes O(E);
- forward accumulation along one input;
- the naive way of Arora and Ma, a sweep for each node, which takes O(VE).

They are for learning and for checking; for use there is `Graph.gradient`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..array import Array
from ..errors import NotDifferentiable, ShapeError
from ..ir.dag import Dag
from ..ir.differentiation import Undefined
from ..ir.interpreter import evaluate
from ..ir.node import Node, adjoint_origin, origin
from ..ops.creation import constant_of, zeros
from .reverse import fitted

__all__ = ["ScalarDerivatives", "Table", "scalar_derivatives"]

Table: TypeAlias = dict[Node, float]


@dataclass(repr=False)
class ScalarDerivatives:
    r"""The values of all nodes, the derivatives on all edges, and sweeps over them.

    Attributes
    ----------
    values : dict of Node to float
        $u^{(i)} = f^{(i)}(\mathbb A^{(i)})$ in topological order (algorithm 6.1).
    partials : dict of (Node, int) to float
        $\partial u^{(i)} / \partial u^{(j)}$ for operand j of node i, all others held fixed.
    edges : int
        How many edges the last sweep visited.
    """

    dag: Dag
    output: Node
    values: Table
    partials: dict[tuple[Node, int], float]
    edges: int = field(default=0, init=False)

    def __repr__(self) -> str:
        return self.side_by_side(*self.dag.inputs)

    def grad_table(self) -> Table:
        r"""$\partial u^{(n)} / \partial u^{(j)}$ of every node, backwards (algorithm 6.2): O(E)."""
        self.edges = 0
        table: Table = dict.fromkeys(self.dag.nodes, 0.0)
        table[self.output] = 1.0
        for node in reversed(self.dag.nodes):
            for slot, operand in enumerate(node.operands):
                self.edges += 1
                table[operand] += table[node] * self.partials[node, slot]
        return table

    def tangents(self, wrt: str | Node) -> Table:
        r"""$\partial u^{(i)} / \partial x$ for every node, forwards from one of them: O(E)."""
        self.edges = 0
        start = self.dag.inputs[wrt] if isinstance(wrt, str) else wrt
        return self._swept(start)

    def naive_table(self) -> Table:
        """The same table by a forward sweep from each node: O(VE) (Arora and Ma)."""
        self.edges = 0
        return {node: self._swept(node)[self.output] for node in self.dag.nodes}

    def _swept(self, start: Node) -> Table:
        table: Table = dict.fromkeys(self.dag.nodes, 0.0)
        for node in self.dag.nodes:
            total = 1.0 if node is start else 0.0
            for slot, operand in enumerate(node.operands):
                self.edges += 1
                # `start` counts as an input: the nodes before it are held fixed.
                total += table[operand] * self.partials[node, slot] if node is not start else 0.0
            table[node] = total
        return table

    def side_by_side(self, *wrt: str) -> str:
        """A table with one line for each node: value, derivative by each input, adjoint."""
        forward = [self.tangents(name) for name in wrt]
        backward = self.grad_table()
        names = _names(self.dag)
        width = max([len(name) for name in names.values()] + [4])
        heads = ["value", *[f"d/d{name}" for name in wrt], "adjoint"]
        lines = ["  ".join([f"{'node':{width}}", *[f"{head:>12}" for head in heads]])]
        for node in self.dag.nodes:
            row = [self.values[node], *[table[node] for table in forward], backward[node]]
            lines.append(
                "  ".join([f"{names[node]:{width}}", *[f"{number:12.6g}" for number in row]])
            )
        return "\n".join(lines)


def _names(dag: Dag) -> dict[Node, str]:
    """The names of nodes: inputs by name, constants by value, others as `u3 = multiply(u1, u2)`."""
    names: dict[Node, str] = {}
    count = 0
    for node in dag.nodes:
        if node.is_input:
            names[node] = str(node.params["name"])
        elif node.is_constant:
            names[node] = repr(node.params["value"].item())
        else:
            operands = ", ".join(names[operand].partition(" = ")[0] for operand in node.operands)
            count += 1
            names[node] = f"u{count} = {node.op.name}({operands})"
    return names


def scalar_derivatives(dag: Dag, output: Node, inputs: Mapping[str, Any]) -> ScalarDerivatives:
    """The values of all nodes and the derivatives on all edges of a graph of scalars.

    Parameters
    ----------
    dag : Dag
    output : Node
        The node that is differentiated.
    inputs : mapping
        A number for each input.

    Raises
    ------
    ShapeError
        If a node is not a scalar.
    NotDifferentiable
        If an operation has no derivative.
    """
    edges: list[tuple[Node, int]] = []
    found: list[Node] = []
    for node in dag.nodes:
        if node.ndim or len(node.results) > 1:
            raise ShapeError(
                f"{node!r} is not a scalar; the algorithms of the textbooks are for scalars.",
                [f"{node!r}   from {node.origin}"],
                mend="Use graph.gradient for arrays.",
            )
        for slot in range(len(node.operands)):
            edges.append((node, slot))
            found.append(_partial(node, slot).node)
    whole = Dag(dag.inputs, [*dag.nodes, *found])
    numbers = [float(number) for number in evaluate(whole, inputs)]
    count = len(dag.nodes)
    return ScalarDerivatives(
        dag,
        output,
        dict(zip(dag.nodes, numbers[:count], strict=True)),
        dict(zip(edges, numbers[count:], strict=True)),
    )


def _partial(node: Node, slot: int) -> Array:
    """The derivative of a node by one operand, the others held fixed."""
    operand = node.operands[slot]
    rule: Callable[..., Any] | Undefined | None = node.op.vjp_rule(slot)
    if isinstance(rule, Undefined):
        raise NotDifferentiable(f"{node.op.name} has no derivative: {rule.why}.")
    if rule is None or operand.dtype.kind != "f" or node.dtype.kind != "f":
        return zeros((), "float64")
    with origin(adjoint_origin(node)):
        operands = [Array(each) for each in node.operands]
        ct = constant_of(1, node.dtype)
        return fitted(rule(ct, Array(node), *operands, **node.params), operand.aval, 0)
