"""The names and roles of a graph's nodes, which text, DOT and SVG share.

Inputs keep the user's names, in which unprintable characters are escaped. Other nodes have the
names of the variables that held them (`ir.naming`), `z`, then `z_2`, and the rest are called `v1`,
`v2`, ... in topological order. A gradient node is called `∂loss/∂z` where it is the gradient of a
value that has a name.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.avals import Aval
from ..ir.cost import varying
from ..ir.dag import Dag
from ..ir.given_names import given_names
from ..ir.node import Node
from ..ir.origins import origins
from ..ir.walks import reachable
from ..notation.node_text import ATOM, QUOTIENT, Spelled, escaped, shortened, spelled
from ..source import Frame
from .expressions import inline, number_text

__all__ = ["Labels", "order_of", "parameters_of", "reading_order", "role_of"]


def reading_order(dag: Dag) -> list[Node]:
    """The nodes of a graph, operands before uses, in an order that depends on the graph alone.

    All graphs of a process share values that are made of constants only. Their serial numbers
    depend on other graphs, so these values are placed before their first use. The first output
    comes first, and so a value comes before its gradients, unless the graph has a schedule.
    """
    depends = set(varying(dag.outputs))
    order: dict[Node, None] = {}
    sequence = [*(dag.schedule or reachable(dag.outputs[:1])), *dag.nodes]
    for node in [*(each for each in sequence if each in depends), *sequence]:
        stack = [node]
        while stack:
            missing = [operand for operand in stack[-1].operands if operand not in order]
            if missing:
                stack.append(missing[0])
            else:
                order[stack.pop()] = None
    return list(order)


def order_of(nodes: Sequence[Node]) -> dict[Node, int]:
    """The order of differentiation that made each node: 0 forward, 1 gradient, ...

    A node that several graphs share may be an adjoint in each of them, so that chains of adjoints
    can be circular. The node where a circle was entered counts as forward.
    """
    known = origins(nodes)
    orders: dict[Node, int] = {}
    for node in nodes:
        chain: dict[Node, None] = {}
        at: Node | None = node
        while at is not None and at not in orders and at not in chain:
            chain[at] = None
            at = known.get(at, at.origin).adjoint_of
        depth = -1 if at is None else orders.get(at, -1)
        for link in reversed(list(chain)):
            depth += 1
            orders[link] = depth
    return orders


def parameters_of(dag: Dag) -> frozenset[Node]:
    """The inputs that the graph has derivatives by."""
    split = [name.partition("_") for name in dag.names]
    wanted = {of for kind, _, of in split if kind in ("grad", "jacobian", "hessian", "hvp")}
    return frozenset([node for name, node in dag.inputs.items() if name in wanted])


def role_of(node: Node, order: int) -> str:
    """The role `forward`, `gradient`, `gradient²`, ...; `recomputed` if a copy saves memory."""
    raised = "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(order))
    role = "forward" if order == 0 else "gradient" if order == 1 else f"gradient{raised}"
    return f"{role}, recomputed" if node.copy else role


class Labels:
    """Names, expressions and roles of a graph's nodes.

    Parameters
    ----------
    dag : Dag
    """

    def __init__(self, dag: Dag) -> None:
        self.nodes = reading_order(dag)
        self.orders = order_of(self.nodes)
        self.parameters = parameters_of(dag)
        self.origins = origins(self.nodes)
        self.outputs: dict[Node, list[str]] = {}
        for name, node in zip(dag.names, dag.outputs, strict=True):
            self.outputs.setdefault(node, []).append(shortened(escaped(name)))
        self._atoms: dict[Node, Spelled] = {}
        # Named dimensions are SymPy expressions, slow to print: each shape is printed once.
        self._avals: dict[tuple[Aval, ...], str] = {}
        inputs = {node: shortened(escaped(name)) for name, node in dag.inputs.items()}
        taken = {*inputs.values(), *dag.dims}
        chosen = self._chosen(taken)
        values = constants = 0
        for node in self.nodes:
            if node in inputs:
                self._atoms[node] = inputs[node], ATOM
            elif node in chosen:
                self._atoms[node] = chosen[node]
            elif (text := inline(node)) is not None:
                short = number_text(node.params["value"]) if node.is_constant else None
                self._atoms[node] = short or text
            elif node.is_constant:
                constants = _next_free("c", constants, taken)
                self._atoms[node] = f"c{constants}", ATOM
            else:
                values = _next_free("v", values, taken)
                self._atoms[node] = f"v{values}", ATOM

    def _chosen(self, taken: set[str]) -> dict[Node, Spelled]:
        """Names of nodes that the user named, each once; they are added to `taken`."""
        self.given = self._given()
        results = {name for names in self.outputs.values() for name in names}
        found: dict[Node, Spelled] = {}
        counts: dict[str, int] = {}  # A loop of 100,000 steps names as many values `h`.
        for node, names in self.given.items():
            text = name = shortened(escaped(names[0]))
            while name in taken or (name in results and name not in self.outputs.get(node, ())):
                counts[text] = counts.get(text, 1) + 1
                name = f"{text}_{counts[text]}"
            taken.add(name)
            found[node] = name, QUOTIENT if "/" in text else ATOM
        return found

    def _given(self) -> dict[Node, tuple[str, ...]]:
        """The names that nodes have; a value that others are made of is not known as a gradient.

        Simplified, the gradient of (y - t)²/2 in y is the value y - t that is squared. The square
        of a gradient would read as if the value were defined by its derivative.
        """
        forward = [node for node in self.nodes if not self.orders[node]]
        parts = {operand for node in forward for operand in node.operands}
        found: dict[Node, tuple[str, ...]] = {}
        for node, names in given_names(self.nodes).items():
            part = node in parts and not self.orders[node]
            kept = tuple([name for name in names if not (part and name.startswith("∂"))])
            if kept:
                found[node] = kept
        return found

    def name(self, node: Node) -> str:
        """The name of a node; a small constant's name is its value."""
        return self._atoms[node][0]

    def names(self, node: Node) -> tuple[str, ...]:
        """All names that the user gave to a node, the outermost first, as written in the code."""
        return self.given.get(node, ())

    def scope(self, node: Node) -> tuple[str, ...]:
        """The calls and scopes that a node was made in, the outermost first."""
        return tuple([escaped(each) for each in self.origins[node].scope])

    def atom(self, node: Node) -> Spelled:
        """The name of a node, and how strongly it binds: -2 binds less than 2."""
        return self._atoms[node]

    def is_inline(self, node: Node) -> bool:
        """Whether a node has no line of its own: it is written where it is used."""
        return inline(node) is not None

    def expression(self, node: Node) -> str:
        """The operation of `node` on the names of its operands."""
        if node.is_input or node.is_constant:
            return node.op.name
        return spelled(node, [self._atoms[operand] for operand in node.operands])[0]

    def role(self, node: Node) -> str:
        """The role of a node: `input`, `constant`, `forward`, `gradient`, ..."""
        if node.is_input or node.is_constant:
            return node.op.name
        return role_of(node, self.orders[node])

    def aval(self, node: Node) -> str:
        """The type of a node, `float32[n, 64]`; several results are separated by commas."""
        found = self._avals.get(node.results)
        if found is None:
            found = self._avals[node.results] = ", ".join(map(str, node.results))
        return found

    def frame(self, node: Node) -> Frame | None:
        """The first of the user's lines that made the node."""
        frames = self.origins[node].frames
        return frames[0] if frames else None

    def place(self, node: Node) -> str:
        """The user's line that made the node, such as `model.py:12`; empty where none is known."""
        frame = self.frame(node)
        return escaped(str(frame)) if frame is not None else ""


def _next_free(letter: str, last: int, taken: set[str]) -> int:
    last += 1
    while f"{letter}{last}" in taken:
        last += 1
    return last
