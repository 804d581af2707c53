"""`Dag`: named inputs, outputs and the nodes between them, held in a networkx graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..errors import InputError
from .immutable import Immutable
from .node import Node
from .walks import consumers, in_making_order

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Dag", "Structure"]

Structure: TypeAlias = Any
"""Nested tuples, lists and dicts whose leaves are positions in `Dag.outputs`."""


class Dag(Immutable):
    """Named inputs, ordered outputs and all nodes between them.

    Parameters
    ----------
    inputs : mapping of str to Node
        In the order of the call signature; an unused one stays in the signature.
    outputs : sequence of Node
    names : sequence of str, optional
        One for each output.
    structure : optional
        How results are grouped: nested tuples and dicts whose leaves are positions in `outputs`.
    schedule : sequence of Node, optional
        The order to run all nodes in, where a plan depends on it: operands first.
    unplanned : Dag, optional
        The graph before it was planned, where the plan runs loops in another way.
    small_blocks : bool
        Whether a program that runs in blocks of rows takes small ones, to stay below a budget.

    Raises
    ------
    InputError
        If two inputs have one name, an input is not declared, or there is no output.

    Examples
    --------
    >>> x = sg.input("x", (3,))
    >>> dag = sg.Dag({"x": x.node}, [np.exp(x).node])
    >>> [node.op.name for node in dag.nodes]
    ['input', 'exp']
    """

    def __init__(
        self,
        inputs: Mapping[str, Node],
        outputs: Sequence[Node],
        names: Sequence[str] | None = None,
        structure: Structure = None,
        schedule: Sequence[Node] | None = None,
        unplanned: Dag | None = None,
        *,
        small_blocks: bool = False,
    ) -> None:
        if not outputs:
            raise InputError("A graph needs at least one output.")
        self.inputs: dict[str, Node] = dict(inputs)
        self.outputs: tuple[Node, ...] = tuple(outputs)
        default = ["out"] if len(outputs) == 1 else [f"out{i}" for i in range(len(outputs))]
        self.names: tuple[str, ...] = tuple(names or default)
        whole: Structure = 0 if len(outputs) == 1 else tuple(range(len(outputs)))
        self.structure: Structure = whole if structure is None else structure
        self.schedule: tuple[Node, ...] | None = None if schedule is None else tuple(schedule)
        self.unplanned = unplanned
        self.small_blocks = small_blocks
        self._check_inputs()

    def _check_inputs(self) -> None:
        declared = set(self.inputs.values())
        for node in self.nodes:
            if node.is_input and node not in declared:
                name = node.params["name"]
                clash = name in self.inputs
                raise InputError(
                    f"Two different inputs are named {name!r}."
                    if clash
                    else f"Input {name!r} is used but not declared.",
                    [f"{node.aval}   from {node.origin}"],
                    mend="Nodes of two graphs cannot be mixed; give each input its own name."
                    if clash
                    else "",
                )

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes of the graph, inputs too, operands first, in the order of their making."""
        return tuple(in_making_order([*self.inputs.values(), *self.outputs], self.outputs))

    @cached_property
    def nx(self) -> nx.DiGraph[Node]:
        """The networkx DAG: keys are nodes, an edge's `slots` are the operand positions it fills.

        Frozen: networkx raises if it is changed. `x * x` is one edge with the slots "0, 1": a text,
        so that networkx can write the graph to a file.
        """
        import networkx as nx  # a third of what `import symgraph` took: paid when first asked for

        graph: nx.DiGraph[Node] = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        edges: list[tuple[Node, Node, dict[str, Any]]] = []
        for node in self.nodes:
            operands = node.operands
            if len(operands) == 1:
                edges.append((operands[0], node, _FIRST_SLOT))
                continue
            slots: dict[Node, tuple[int, ...]] = {}
            for slot, operand in enumerate(operands):
                slots[operand] = (*slots.get(operand, ()), slot)
            edges.extend(
                (operand, node, {"slots": ", ".join(map(str, slots[operand]))}) for operand in slots
            )
        graph.add_edges_from(edges)
        return nx.freeze(graph)

    @cached_property
    def uses(self) -> dict[Node, list[tuple[Node, int]]]:
        """Consumers of each node, with the operand slot they use it in."""
        return consumers(self.nodes)

    @cached_property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions that inputs bring, in order of appearance."""
        found: dict[str, None] = {}
        for node in self.inputs.values():
            found.update(dict.fromkeys(node.aval.dim_names))
        return tuple(found)

    def regroup(self, leaves: Sequence[Any]) -> Any:
        """`leaves`, one an output, grouped as `structure` asks."""
        return _regroup(self.structure, leaves)

    def with_outputs(
        self,
        outputs: Sequence[Node],
        names: Sequence[str] | None = None,
        structure: Structure = None,
    ) -> Dag:
        """The same inputs with other outputs; names and grouping stay if they are not given.

        A schedule does not stay: it belongs to the nodes it orders.
        """
        return Dag(
            self.inputs,
            outputs,
            self.names if names is None else names,
            self.structure if structure is None else structure,
        )

    def __len__(self) -> int:
        return len(self.nodes)


_FIRST_SLOT: dict[str, Any] = {"slots": "0"}


def _regroup(structure: Structure, leaves: Sequence[Any]) -> Any:
    # Nesting is as deep as the user's own tuples, so recursion is bounded by what they wrote.
    if isinstance(structure, int):
        return leaves[structure]
    if isinstance(structure, dict):
        items = cast("dict[str, Structure]", structure)
        return {key: _regroup(part, leaves) for key, part in items.items()}
    parts = [_regroup(part, leaves) for part in structure]
    return tuple(parts) if isinstance(structure, tuple) else parts
