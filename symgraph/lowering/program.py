"""The straight-line program of a graph: one statement a node, values released at their last use.

A program says in which order nodes are computed, which results are written into the buffer of an
operand that dies there, which names are released after each statement, and which outputs are copied
so that the caller may write to them. It is what backends print as source, and what the predicted
peak is taken from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ..avals import Aval
from ..dag import Dag, Node
from .buffers import Buffers
from .pieces import Alias, Line, Operand, Piece, Pieces, Spelling, Step
from .schedule import scheduled
from .spelling import spell

__all__ = ["Program", "Statement", "program_of"]


@dataclass(frozen=True, slots=True)
class Statement:
    """`target = ...`: a node, or an intermediate result of its kernel.

    Parameters
    ----------
    node : Node
        What is computed; of a copied output, the output.
    target : str
        The name of the value.
    pieces : tuple
        The right-hand side, operands by name.
    operands : tuple of str
        Names read, each once.
    avals, aliases : tuple
        One a result: what it is, and what memory it shares with the operands.
    named : bool
        Whether a kernel is called by name.
    out : str
        The operand whose buffer is written, or an empty string.
    dead : tuple of str
        Names read for the last time here.
    """

    node: Node
    target: str
    pieces: Pieces
    operands: tuple[str, ...]
    avals: tuple[Aval, ...]
    aliases: tuple[Alias, ...]
    named: bool = False
    out: str = ""
    dead: tuple[str, ...] = ()

    @property
    def allocates(self) -> bool:
        """Whether the statement may need memory for its result."""
        return not self.out and any(
            alias not in (Alias.WHOLE, Alias.PART) for alias in self.aliases
        )


@dataclass(frozen=True, slots=True)
class Program:
    """Statements in order, with the names of inputs, constants and results.

    Parameters
    ----------
    dag : Dag
    inputs : tuple of str
        One an input of `dag`, in order.
    constants : mapping of str to Node
        Constants by name.
    statements : tuple of Statement
    results : tuple of str
        One an output of `dag`, in order; no two share memory, and none is an input or a constant.
    """

    dag: Dag
    inputs: tuple[str, ...]
    constants: Mapping[str, Node]
    statements: tuple[Statement, ...]
    results: tuple[str, ...]


def _key(value: Any) -> Any:
    """A key that tells 1, 1.0, True and -0.0 apart."""
    if isinstance(value, tuple):
        return tuple([_key(item) for item in cast("tuple[Any, ...]", value)])
    return (type(value), value.hex() if isinstance(value, float) else value)


def program_of(dag: Dag, order: Sequence[Node] | None = None) -> Program:
    """The program that computes the outputs of `dag`.

    Parameters
    ----------
    dag : Dag
    order : sequence of Node, optional
        Nodes in the order they are computed; by default the schedule chosen for memory.
    """
    return _Builder(dag, scheduled(dag) if order is None else order).built()


class _Builder:
    def __init__(self, dag: Dag, order: Sequence[Node]) -> None:
        self.dag = dag
        self.buffers = Buffers()
        self.names: dict[Node, str] = {}
        self.statements: list[Statement] = []
        self.constants: dict[str, Node] = {}
        self.spellings: dict[Any, Spelling] = {}
        self.number = len(dag.inputs)
        self.computed = [node for node in order if not (node.is_input or node.is_constant)]
        self.last_use: dict[Node, Node | None] = {
            operand: node for node in self.computed for operand in node.operands
        }
        self.last_use.update((node, None) for node in dag.outputs)
        self.projections = Counter(
            (node.operands[0], node.params["index"])
            for node in self.computed
            if node.op.name == "project"
        )
        for node in dag.inputs.values():
            self.names[node] = f"v{len(self.names)}"
            self.buffers.external(self.names[node])
        for node in order:
            if node.is_constant:
                name = f"c{len(self.constants)}"
                self.names[node] = name
                self.constants[name] = node
                self.buffers.external(name)

    def built(self) -> Program:
        for node in self.computed:
            self._compute(node)
        results = self._handed_out()
        return Program(
            self.dag,
            tuple([self.names[node] for node in self.dag.inputs.values()]),
            self.constants,
            tuple(self.statements),
            results,
        )

    def _target(self) -> str:
        self.number += 1
        return f"v{self.number - 1}"

    def _compute(self, node: Node) -> None:
        spelling = self._spelled(node)
        operands = [self.names[operand] for operand in node.operands]
        dying = {
            self.names[operand]
            for operand in node.operands
            if self.last_use[operand] is node and not (operand.is_input or operand.is_constant)
        }
        steps: list[str] = []
        written = [self._named(line, operands, steps) for line in spelling.lines]
        last_read = {name: i for i, (_, names) in enumerate(written) for name in names}
        dying.update(steps[:-1])
        for number, (line, (pieces, names)) in enumerate(zip(spelling.lines, written, strict=True)):
            dead = [name for name in names if name in dying and last_read[name] == number]
            self._state(node, steps[number], line, pieces, names, dead, spelling.named)
        self.names[node] = steps[-1]
        unread = dying.difference(last_read)  # A kernel may ignore an operand.
        if unread or node not in self.last_use:
            forgotten = (*sorted(unread), *(() if node in self.last_use else (steps[-1],)))
            latest = self.statements[-1]
            self.statements[-1] = replace(latest, dead=(*latest.dead, *forgotten))
            for name in forgotten:
                self.buffers.died(name)

    def _named(
        self, line: Line, operands: Sequence[str], steps: list[str]
    ) -> tuple[Pieces, tuple[str, ...]]:
        """Pieces with names for operands and earlier steps, and those names, each once."""
        pieces: list[Piece] = []
        names: dict[str, None] = {}
        for piece in line.pieces:
            if isinstance(piece, (Operand, Step)):
                name = (operands if isinstance(piece, Operand) else steps)[piece.index]
                names[name] = None
                pieces.append(name)
            else:
                pieces.append(piece)
        steps.append(self._target())
        return tuple(pieces), tuple(names)

    def _state(
        self,
        node: Node,
        target: str,
        line: Line,
        pieces: Pieces,
        names: tuple[str, ...],
        dead: list[str],
        named: bool,
    ) -> None:
        aliases = self._aliases(node, line, names)
        out = self.buffers.to_take_over(line.avals[0], dead) if line.out else None
        if out is None:
            self.buffers.born(target, line.avals, aliases, names)
        else:
            self.buffers.took_over(target, out)
            pieces = (*pieces[:-1], f"{pieces[-1]}"[:-1], line.out, out, ")")
        for name in dead:
            self.buffers.died(name)
        self.statements.append(
            Statement(
                node, target, pieces, names, line.avals, aliases, named, out or "", tuple(dead)
            )
        )

    def _aliases(self, node: Node, line: Line, names: tuple[str, ...]) -> tuple[Alias, ...]:
        """A result read off once, of a tuple of new arrays, is nobody else's."""
        if node.op.name != "project":
            return line.aliases
        alone = self.projections[node.operands[0], node.params["index"]] == 1
        return (Alias.FRESH,) if alone and self.buffers.is_plain(names[0]) else (Alias.WHOLE,)

    def _spelled(self, node: Node) -> Spelling:
        """`spell`, remembered: what a kernel says depends on op, params, dtypes and shapes only."""
        params = tuple([(name, _key(value)) for name, value in node.params.items()])
        key = (node.op.name, params, *[each.results for each in node.operands])
        try:
            found = self.spellings.get(key)
        except TypeError:  # Params that cannot be hashed, such as arrays.
            return spell(node, fast=True)
        if found is None:
            found = self.spellings[key] = spell(node, fast=True)
        return found

    def _handed_out(self) -> tuple[str, ...]:
        results = [self.names[node] for node in self.dag.outputs]
        copied = [
            position
            for position, node in enumerate(self.dag.outputs)
            # NumPy gives scalars for shape (); callers get arrays, always.
            if not node.aval.shape or not self.buffers.given_out(self.names[node])
        ]
        left = Counter(results)
        for position in copied:
            node = self.dag.outputs[position]
            name = self.names[node]
            left[name] -= 1
            last = not left[name] and not (node.is_input or node.is_constant)
            target = results[position] = self._target()
            pieces = ("np.array(", name, ")")
            dead = (name,) if last else ()
            self.statements.append(
                Statement(node, target, pieces, (name,), (node.aval,), (Alias.FRESH,), dead=dead)
            )
        return tuple(results)
