"""The programs of a graph whose batch lies in chunks.

For each stage there is a *whole* program, which gives the whole values that the stage needs, and a
*chunk* program, which gives for one chunk what is combined over all chunks, and rows of results. A
last whole program gives the whole results. A chunk program begins with the rows of the inputs
again: it keeps nothing between stages, so a chunk that is lost can be computed anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...array import FUNCTIONS, Array
from ...ir.avals import Aval
from ...ir.dag import Dag
from ...ir.dims import Dim
from ...ir.node import Node
from ...ir.walks import reachable, substituted
from ...ops.creation import DIMENSION, zeros
from ...ops.creation import input as symbolic_input
from ...ops.gather import SCATTER_ADD
from ...records import record
from .placement import Combine, Placements, Rows, Whole, placed

__all__ = ["ChunkProgram", "ChunkStage", "ChunkedPlan", "planned"]


@record
class ChunkProgram:
    """A graph, and the kinds of its inputs.

    Parameters
    ----------
    dag : Dag
    given : tuple of str
        The names of its inputs: those of the graph, or of earlier values.
    gives : tuple of str
        The names of its results.
    """

    dag: Dag
    given: tuple[str, ...]
    gives: tuple[str, ...]

    def avals(self) -> dict[str, Aval]:
        """The dtype and shape of each result."""
        return {n: node.aval for n, node in zip(self.gives, self.dag.outputs, strict=True)}


@record
class ChunkStage:
    """A stage: whole values, then chunks.

    Parameters
    ----------
    whole : ChunkProgram or None
        None if the stage needs no whole value but inputs.
    chunk : ChunkProgram
    combine : tuple of str
        How each of the first results of the chunk program is combined over all chunks; the others
        are rows of results.
    """

    whole: ChunkProgram | None
    chunk: ChunkProgram
    combine: tuple[Combine, ...]


@record
class ChunkedPlan:
    """All programs of a graph.

    Parameters
    ----------
    rows : mapping
        For each input with rows the axis they lie on, from the end.
    sizes : mapping
        The names of the sizes that whole programs take, and the sizes as dimensions.
    stages : tuple of ChunkStage
    last : ChunkProgram or None
        Gives the whole results.
    results : tuple of (str, int or None)
        For each result its name, and the axis of its rows or None.
    """

    rows: Mapping[str, int]
    sizes: Mapping[str, tuple[Dim, str]]
    stages: tuple[ChunkStage, ...]
    last: ChunkProgram | None
    results: tuple[tuple[str, int | None], ...]


def planned(dag: Dag, batch: str) -> ChunkedPlan:
    """The programs of a graph whose batch is the dimension of that name.

    Raises
    ------
    BackendError
        As `placed` does.
    """
    return _Planner(dag, batch).plan()


class _Planner:
    def __init__(self, dag: Dag, batch: str) -> None:
        self._dag = dag
        self._placements: Placements = placed(dag, batch)
        self._names: dict[Node, str] = {node: name for name, node in dag.inputs.items()}
        self._sizes: dict[str, tuple[Dim, str]] = {}
        for node in dag.nodes:
            if node.op is DIMENSION:
                name = self._name(node, "size")
                self._sizes[name] = (node.params["size"], str(node.dtype))

    def plan(self) -> ChunkedPlan:
        last = max(each.stage for each in self._placements.of.values())
        stages = [self._stage(number) for number in range(last + 1)]
        of = self._placements.of
        outputs = self._dag.outputs
        whole = [each for each in dict.fromkeys(outputs) if isinstance(of[each], Whole)]
        rows = [(each, of[each]) for each in self._dag.inputs.values()]
        return ChunkedPlan(
            {self._names[n]: each.axis for n, each in rows if isinstance(each, Rows)},
            self._sizes,
            tuple([each for each in stages if each is not None]),
            self._whole(whole) if whole else None,
            tuple(
                [
                    (self._name(each), axis.axis if isinstance(axis, Rows) else None)
                    for each in outputs
                    for axis in [of[each]]
                ]
            ),
        )

    def _name(self, node: Node, kind: str = "value") -> str:
        return self._names.setdefault(node, f"{kind} {len(self._names)}")

    # -- programs ----------------------------------------------------------------------------------
    def _stage(self, number: int) -> ChunkStage | None:
        of = self._placements.of
        reduced = {n: r for n, r in self._placements.reductions.items() if r.stage == number}
        outputs = dict.fromkeys(self._dag.outputs)
        rows = [n for n in outputs if of[n] == Rows(number, getattr(of[n], "axis", 0))]
        if not reduced and not rows:
            return None
        parts = [_of_chunk(node) for node in reduced]
        needed = self._border([*parts, *rows])
        chunk = self._program([*parts, *rows], [*reduced, *rows], needed)
        computed = [n for n in needed if isinstance(of[n], Whole) and not n.is_input]
        combine: tuple[Combine, ...] = tuple([each.combine for each in reduced.values()])
        return ChunkStage(self._whole(computed) if computed else None, chunk, combine)

    def _border(self, outputs: Sequence[Node]) -> list[Node]:
        """The inputs with rows, and the whole values, that rows are computed from."""
        of = self._placements.of
        found: dict[Node, None] = {node: None for node in outputs if node.is_input}
        seen = {operand for node in outputs for operand in node.operands}
        stack = list(seen)
        while stack:
            node = stack.pop()
            if node.is_constant:
                continue
            known = of.get(node)
            if node.is_input or isinstance(known, Whole):
                found[node] = None
                continue
            for operand in node.operands:
                if operand not in seen:
                    seen.add(operand)
                    stack.append(operand)
        return sorted(found, key=lambda each: each.serial)

    def _whole(self, nodes: Sequence[Node]) -> ChunkProgram:
        """The program from whole inputs, sizes and combined results to whole values."""
        cut = [n for n in self._dag.nodes if n in self._placements.reductions or n.op is DIMENSION]
        replacement: dict[Node, Node] = {}
        for node in cut:
            value = _renamed(node, self._name(node))
            if node.op is SCATTER_ADD:  # The array that was added to, once.
                (base,) = substituted([node.operands[0]], replacement)
                value = (Array(base) + Array(value)).node
            replacement[node] = value
        return _closed(substituted(nodes, replacement), [self._name(n) for n in nodes])

    def _program(
        self, outputs: Sequence[Node], values: Sequence[Node], needed: Sequence[Node]
    ) -> ChunkProgram:
        cut = {n: _renamed(n, self._name(n)) for n in needed if not n.is_input}
        return _closed(substituted(outputs, cut), [self._name(n) for n in values])


def _renamed(node: Node, name: str) -> Node:
    """An input in the place of a value."""
    return symbolic_input(name, node.shape, node.dtype).node


def _of_chunk(node: Node) -> Node:
    """The node on the rows of a chunk, to be combined; a whole part is added once, at the end."""
    if node.op is not SCATTER_ADD:
        return node
    base, values, *indices = [Array(each) for each in node.operands]
    start = zeros(base.shape, base.dtype)
    return FUNCTIONS["scatter_add"](start, values, *indices, axis=node.params["axis"]).node


def _closed(outputs: Sequence[Node], gives: Sequence[str]) -> ChunkProgram:
    inputs = {node.params["name"]: node for node in reachable(outputs) if node.is_input}
    structure = tuple(range(len(outputs)))
    return ChunkProgram(Dag(inputs, outputs, None, structure), tuple(inputs), tuple(gives))
