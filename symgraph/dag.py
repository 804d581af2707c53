"""Nodes that are values, and `Dag`, which holds them in a networkx graph.

A node is an operation applied to operands. Nodes are immutable and hash-consed: equal subgraphs are
one node by construction (inputs excepted, each of which is itself). Constants are compared bit by
bit, so -0.0 is not 0.0. Building a node never simplifies it. Every node enters through `make`, and
its serial number is larger than its operands', so sorting by serial is a topological order: no walk
recurses.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from .avals import Aval
from .errors import InputError, SymgraphError
from .interning import Interned, params_key
from .op import Op, Params
from .source import Frame, user_frame

if TYPE_CHECKING:
    import networkx as nx

__all__ = [
    "Dag",
    "Node",
    "Origin",
    "ancestors",
    "consumers",
    "fresh",
    "make",
    "origin",
    "reachable",
    "substituted",
]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a node comes from. No part of its identity.

    Parameters
    ----------
    frames : tuple of Frame
        The user's lines; two lines that share a node are both here.
    adjoint_of : Node or None
        The forward node whose vjp made this one.
    rule : str
        The rewrite that made it, or an empty string.
    """

    frames: tuple[Frame, ...] = ()
    adjoint_of: Node | None = None
    rule: str = ""

    def __str__(self) -> str:
        where = ", ".join(str(frame) for frame in self.frames[:2])
        if self.adjoint_of is not None:
            return f"gradient of {where}" if where else "gradient"
        return where


class Node:
    """A value: `op` applied to `operands` with static `params`.

    `results` has one `Aval` a result; `aval` is the only one of a node with a single result.
    Equality and hash are identity, which hash-consing makes equality of value. `copy` is 0 but for
    nodes that are computed again on purpose (rematerialization): those equal no other node, so no
    later pass can merge them back.
    """

    __slots__ = ("__weakref__", "copy", "op", "operands", "origin", "params", "results", "serial")

    def __init__(
        self,
        op: Op,
        operands: tuple[Node, ...],
        params: Params,
        results: tuple[Aval, ...],
        serial: int,
        origin: Origin,
        copy: int = 0,
    ) -> None:
        self.copy = copy
        self.op = op
        self.operands = operands
        self.params = params
        self.results = results
        self.serial = serial
        self.origin = origin

    @property
    def aval(self) -> Aval:
        """The abstract value; of a node with several results, that of the first."""
        return self.results[0]

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.results[0].shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.results[0].dtype

    @property
    def ndim(self) -> int:
        return len(self.results[0].shape)

    @property
    def is_constant(self) -> bool:
        return self.op.name == "constant"

    @property
    def is_input(self) -> bool:
        return self.op.name == "input"

    def __repr__(self) -> str:
        avals = ", ".join(str(aval) for aval in self.results)
        name = self.params["name"] if self.is_input else self.op.name
        return f"<{name} #{self.serial} {avals}>"

    def __reduce__(self) -> Any:
        raise SymgraphError("Nodes are not pickled.", mend="Save the graph: graph.save('g.py').")


_serial = itertools.count()
_interned: Interned[Node] = Interned()
_current: ContextVar[Origin | None] = ContextVar("origin", default=None)


class origin:  # reads as a function: `with origin(...)`
    """Give nodes made inside this origin; with None, the user's own line.

    A class, for a generator would cost more than many a node that is made inside.
    """

    __slots__ = ("_token", "_value")

    def __init__(self, value: Origin | None) -> None:
        self._value = value

    def __enter__(self) -> None:
        self._token = _current.set(self._value)

    def __exit__(self, *_exception: object) -> None:
        _current.reset(self._token)


def _origin() -> Origin:
    given = _current.get()
    if given is not None:
        return given
    frame = user_frame()
    return Origin((frame,)) if frame is not None else Origin()


def make(op: Op, operands: Sequence[Node], params: Params | None = None, copy: int = 0) -> Node:
    """The node of `op` on `operands`: the existing one if there is an equal one.

    Parameters
    ----------
    op : Op
    operands : sequence of Node
        In order; a node may occur twice.
    params : mapping
        In normal form, see `Op.normalize`.
    copy : int
        Which recomputation of the value this is; 0 is the first.

    Raises
    ------
    ShapeError, DTypeError
        As `op.infer` finds.
    """
    serials = [operand.serial for operand in operands]
    # The record and not its name: a custom operation may be defined again under its name.
    if params:
        key = (op, *serials, *params_key(params), copy)
    else:
        params = {}
        key = (op, *serials, copy)
    ref = _interned.refs.get(key)
    found = None if ref is None else ref()
    if found is not None:
        _note(found)
        return found
    results = op.infer(*[_seen_aval(operand) for operand in operands], **params)
    node = Node(
        op,
        tuple(operands),
        params,
        results if isinstance(results, tuple) else (results,),
        next(_serial),
        _origin(),
        copy,
    )
    return _interned.add(key, node)


def _seen_aval(node: Node) -> Any:
    """What `infer` sees of an operand: its aval, or all of them for a node of several results."""
    return node.results[0] if len(node.results) == 1 else node.results


def fresh(op: Op, params: Params, result: Aval) -> Node:
    """A node equal to no other: an input."""
    return Node(op, (), params, (result,), next(_serial), _origin())


def _note(node: Node) -> None:
    """Add the current user's line to a node that another line has made before."""
    if _current.get() is not None or node.origin.adjoint_of is not None:
        return
    frame = user_frame()
    frames = node.origin.frames
    if frame is not None and frame not in frames and len(frames) < 4:
        node.origin = Origin((*frames, frame), None, node.origin.rule)


_by_serial = attrgetter("serial")


def reachable(outputs: Iterable[Node]) -> list[Node]:
    """All nodes the outputs depend on, themselves included, operands first."""
    seen: set[Node] = set(outputs)
    stack = list(seen)
    while stack:
        for operand in stack.pop().operands:
            if operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return sorted(seen, key=_by_serial)


def ancestors(outputs: Iterable[Node], among: Iterable[Node] | None = None) -> set[Node]:
    """Nodes the outputs depend on, themselves included; only those in `among` if it is given."""
    found = set(reachable(outputs))
    return found if among is None else found & set(among)


def consumers(nodes: Iterable[Node]) -> dict[Node, list[tuple[Node, int]]]:
    """For each node the pairs (consumer, operand slot), in order; `x * x` gives two."""
    uses: dict[Node, list[tuple[Node, int]]] = {}
    for node in nodes:
        uses.setdefault(node, [])
        for slot, operand in enumerate(node.operands):
            uses.setdefault(operand, []).append((node, slot))
    return uses


Structure: TypeAlias = Any
"""Nested tuples, lists and dicts whose leaves are positions in `Dag.outputs`."""


class Dag:
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

    Raises
    ------
    InputError
        If two inputs have one name, an input is not declared, or there is no output.
    """

    def __init__(
        self,
        inputs: Mapping[str, Node],
        outputs: Sequence[Node],
        names: Sequence[str] | None = None,
        structure: Structure = None,
        schedule: Sequence[Node] | None = None,
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
        """Every node the outputs or the inputs are, operands first."""
        return tuple(reachable([*self.inputs.values(), *self.outputs]))

    @cached_property
    def nx(self) -> nx.DiGraph[Node]:
        """The networkx DAG: keys are nodes, an edge's `slots` are the operand positions it fills.

        Frozen: networkx raises if it is changed. `x * x` is one edge with slots (0, 1).
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
            edges.extend((operand, node, {"slots": slots[operand]}) for operand in slots)
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


_FIRST_SLOT: dict[str, Any] = {"slots": (0,)}


def _regroup(structure: Structure, leaves: Sequence[Any]) -> Any:
    # Nesting is as deep as the user's own tuples, so recursion is bounded by what they wrote.
    if isinstance(structure, int):
        return leaves[structure]
    if isinstance(structure, dict):
        items = cast("dict[str, Structure]", structure)
        return {key: _regroup(part, leaves) for key, part in items.items()}
    parts = [_regroup(part, leaves) for part in structure]
    return tuple(parts) if isinstance(structure, tuple) else parts


def substituted(
    outputs: Sequence[Node],
    replacement: Mapping[Node, Node],
    rebuild: Callable[[Node, tuple[Node, ...]], Node] | None = None,
) -> list[Node]:
    """The outputs with nodes replaced, all consumers rebuilt bottom-up.

    `rebuild(node, operands)` makes the node anew; by default the same op and params on new
    operands, with the node's own origin.
    """
    new: dict[Node, Node] = dict(replacement)
    for node in reachable(outputs):
        if node in new:
            continue
        operands = tuple([new[operand] for operand in node.operands])
        if operands == node.operands:
            new[node] = node
        elif rebuild is not None:
            new[node] = rebuild(node, operands)
        else:
            with origin(node.origin):
                new[node] = make(node.op, operands, node.params, node.copy)
    return [new[output] for output in outputs]
