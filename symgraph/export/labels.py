"""What each node of a graph is called, and its role: shared by text, DOT and SVG.

Names are positional (`v1`, `v2`, ... in topological order); only inputs keep the name the user
gave, with everything unprintable escaped.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.avals import Aval
from ..ir.cost import varying
from ..ir.dag import Dag
from ..ir.node import Node, reachable
from ..ir.origins import origins
from ..notation.text import ATOM, Spelled, escaped, shortened, spelled
from ..source import Frame
from .expressions import inline

__all__ = ["Labels", "order_of", "reading_order", "role_of"]


def reading_order(dag: Dag) -> list[Node]:
    """The nodes of a graph in an order that depends on the graph alone: operands before uses.

    Values made of constants only are shared by all graphs of a process, so their serial numbers
    tell of other graphs; they stand before their first use. The first output comes first, so a
    value before its gradients, unless the graph says in which order it runs.
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
    """How often differentiation stands behind each node: 0 forward, 1 gradient, ...

    Nodes that graphs share are noted as adjoints in each of them, so notes may go round in a
    circle: it counts as forward where it was entered.
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


def role_of(node: Node, order: int) -> str:
    """`forward`, `gradient`, `gradient²`, ..., and whether it is computed again to save memory."""
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
        self.origins = origins(self.nodes)
        self.outputs: dict[Node, list[str]] = {}
        for name, node in zip(dag.names, dag.outputs, strict=True):
            self.outputs.setdefault(node, []).append(shortened(escaped(name)))
        self._atoms: dict[Node, Spelled] = {}
        # Named dimensions are SymPy expressions, slow to print: each shape is printed once.
        self._avals: dict[tuple[Aval, ...], str] = {}
        inputs = {node: shortened(escaped(name)) for name, node in dag.inputs.items()}
        taken = set(inputs.values())
        values = constants = 0
        for node in self.nodes:
            if node in inputs:
                self._atoms[node] = inputs[node], ATOM
            elif (text := inline(node)) is not None:
                self._atoms[node] = text
            elif node.is_constant:
                constants = _next_free("c", constants, taken)
                self._atoms[node] = f"c{constants}", ATOM
            else:
                values = _next_free("v", values, taken)
                self._atoms[node] = f"v{values}", ATOM

    def name(self, node: Node) -> str:
        """What `node` is called; a small constant is called by its value."""
        return self._atoms[node][0]

    def atom(self, node: Node) -> Spelled:
        """Its name, and how strongly that binds: -2 binds less than 2."""
        return self._atoms[node]

    def is_inline(self, node: Node) -> bool:
        """Whether it stands in its uses' expressions, with no line of its own."""
        return inline(node) is not None

    def expression(self, node: Node) -> str:
        """The operation of `node` on the names of its operands."""
        if node.is_input or node.is_constant:
            return node.op.name
        return spelled(node, [self._atoms[operand] for operand in node.operands])[0]

    def role(self, node: Node) -> str:
        """`input`, `constant`, `forward`, `gradient`, ..."""
        if node.is_input or node.is_constant:
            return node.op.name
        return role_of(node, self.orders[node])

    def aval(self, node: Node) -> str:
        """`float32[n, 64]`; one after another where there are several results."""
        found = self._avals.get(node.results)
        if found is None:
            found = self._avals[node.results] = ", ".join(map(str, node.results))
        return found

    def frame(self, node: Node) -> Frame | None:
        """The user's line: the first of those that share the node."""
        frames = self.origins[node].frames
        return frames[0] if frames else None


def _next_free(letter: str, last: int, taken: set[str]) -> int:
    last += 1
    while f"{letter}{last}" in taken:
        last += 1
    return last
