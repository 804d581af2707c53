"""The straight-line program of a graph: one statement a call, values released at their last use.

A program says in which order nodes are computed, which results are written into the buffer of an
operand that dies there, which names are released after each statement, and which outputs are copied
so that the caller may write to them. Backends print it as source, and the peak memory is predicted
from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, cast

from ..ir.avals import Aval
from ..ir.body import Body
from ..ir.dag import Dag
from ..ir.interpreter import results_read
from ..ir.node import Node
from ..passes.program_graph import program_graph
from .arena import with_arena
from .block_sizes import BEYOND_CACHES, SMALL_BYTES, Loop
from .body_programs import program_of_body
from .drafts import Draft
from .fusion import fused
from .joins_in_place import joins_of, with_joins
from .node_source import spell
from .peak import predicted_peak
from .planning import Planning
from .row_dots import with_row_dots
from .schedule import scheduled
from .source_pieces import (
    Alias,
    Defined,
    EarlierResult,
    Line,
    NodeSource,
    OperandName,
    Piece,
    Pieces,
)
from .statements import Program, Statement
from .temporaries import with_scratch, with_workspace
from .variants import FEWER, GROWTH, needs_little_more, with_blocks

__all__ = ["Program", "Rewrite", "Statement", "predicted_peak", "program_of"]


class Rewrite(Protocol):
    """Puts calls of its own in the place of statements."""

    def __call__(
        self,
        drafts: Sequence[Draft],
        inputs: Mapping[str, Aval],
        constants: Mapping[str, Node],
        results: Sequence[str],
        new_name: Callable[[], str],
        left: Collection[str],
    ) -> tuple[list[Draft], tuple[str, ...]]:
        """The statements instead, and notes for the head of the source.

        Those with targets in `left` must stay as they are.
        """
        ...

    def of_body(self) -> Rewrite | None:
        """The rewrite for the statements of a loop's body; None if there is none."""
        ...

    @property
    def used(self) -> bool:
        """Whether a statement was replaced."""
        ...


def program_of(
    dag: Dag,
    order: Sequence[Node] | None = None,
    *,
    constants_from: int = 0,
    handed_out: bool = True,
    workspace: bool = True,
    rewrite: Rewrite | None = None,
) -> Program:
    """The program that computes the outputs of `dag`.

    Kernels of two nodes may make the same call, as softmax and log_softmax do. It is made once
    where the peak grows by no more than 1/24, and temporaries are written to a workspace where the
    peak stays the same. Loops keep values for later loops (`program_graph`). Nothing of this is
    done in a graph that was planned for a memory budget.

    Parameters
    ----------
    dag : Dag
    order : sequence of Node, optional
        Nodes in the order they are computed; by default the schedule chosen for memory.
    constants_from : int
        The number of the first constant.
    handed_out : bool
        Whether results go to a caller, who may write to them; else none is copied.
    workspace : bool
        Whether temporaries may be written to memory that is kept between calls.
    rewrite : Rewrite, optional
        Replaces statements, in a graph that was not planned for a memory budget. Other statements
        run in blocks of rows only where that halves the peak, or where a matrix that no cache holds
        is then read once instead of twice.
    """
    planned = dag.schedule is not None or any(node.copy for node in dag.nodes)
    if handed_out and order is None:
        dag = program_graph(dag)
    nodes = scheduled(dag) if order is None else order
    given: Any = {"constants_from": constants_from, "handed_out": handed_out}
    if rewrite is not None and not planned:
        # Its loops have functions of their own, in the place of those that NumPy runs slowly.
        builder = _Builder(dag, nodes, share=True, many=False, rewrite=rewrite, **given)
        return builder.rewritten(rewrite)
    builder = _Builder(dag, nodes, joins=planned and handed_out and workspace, **given)
    program = builder.built()
    planning = builder.planning
    if planned:
        if not (workspace and handed_out):
            return program
        return with_arena(program, planning.places, planning.writers, planning.buffers)
    sharing = builder
    if builder.repeats:
        sharing = _Builder(dag, nodes, share=True, **given)
        shared = sharing.built()
        if needs_little_more(shared, program):
            builder, program = sharing, shared
    if not (workspace and handed_out):
        return program
    program = with_workspace(program, builder.planning.places, builder.planning.buffers)
    # What a block shares is small, so a call that two kernels have in common is made once.
    blocked = sharing.blocked()
    if blocked is None:
        return program
    blocked = with_workspace(blocked, sharing.planning.places, sharing.planning.buffers)
    return with_blocks(program, blocked, GROWTH)


class _Builder:
    """First name the values of every line, then decide where they die and who reuses a buffer."""

    def __init__(
        self,
        dag: Dag,
        order: Sequence[Node],
        *,
        share: bool = False,
        constants_from: int,
        handed_out: bool = True,
        joins: bool = False,
        many: bool = True,
        rewrite: Rewrite | None = None,
    ) -> None:
        self.dag = dag
        self.rewrite = rewrite
        self.many = many
        self.share = share
        self.handed_out = handed_out
        self.bodies: dict[Body, Program] = {}
        self.read = results_read(order)
        self.repeats = 0
        self.names: dict[Node, str] = {}
        self.drafts: list[Draft] = []
        self.statements: list[Statement] = []
        self.constants: dict[str, Node] = {}
        self.spellings: dict[Any, NodeSource] = {}
        self.known: dict[Any, str] = {}
        self.number = len(dag.inputs)
        self.computed = [node for node in order if not (node.is_input or node.is_constant)]
        for node in dag.inputs.values():
            self.names[node] = f"v{len(self.names)}"
        for node in order:
            if node.is_constant:
                name = f"c{constants_from + len(self.constants)}"
                self.names[node] = name
                self.constants[name] = node
        self.constants_below = constants_from + len(self.constants)

        for node in self.computed:
            self._draft(node)
        if joins:
            self.drafts = with_joins(self.drafts, joins_of(self.computed, dag.outputs), self.names)

    def built(self) -> Program:
        """The program, one statement a line."""
        return self._program(self.drafts, ())

    def rewritten(self, rewrite: Rewrite) -> Program:
        """The program with other statements, its temporaries in a workspace."""
        inputs = {self.names[node]: node.aval for node in self.dag.inputs.values()}
        results = [self.names[node] for node in self.dag.outputs]
        left = self._beside_matrices()
        drafts, notes = rewrite(self.drafts, inputs, self.constants, results, self._target, left)
        program = replace(self._program(drafts, ()), notes=notes)
        if not self.handed_out:
            return program
        program = with_workspace(program, self.planning.places, self.planning.buffers)
        blocked = self.blocked(drafts)
        if blocked is None:
            return program
        blocked = replace(blocked, notes=notes)
        blocked = with_workspace(blocked, self.planning.places, self.planning.buffers)
        return with_blocks(program, blocked, GROWTH if left else FEWER)

    def _beside_matrices(self) -> set[str]:
        """The statements of loops that save more by reading a matrix once than compiled ones do."""
        avals = [node.aval for node in self.dag.nodes if len(node.results) == 1]
        if not any(isinstance(n := each.nbytes, int) and n >= BEYOND_CACHES for each in avals):
            return set()
        blocked = self.blocked()
        if blocked is None:
            return set()
        found = {number for number, each in enumerate(blocked.loops) if each.spares_a_matrix()}
        targets = {each.target for each in self.drafts}
        inside = [each for each in blocked.statements if each.loop in found]
        return targets.intersection([each.target for each in inside])

    def blocked(self, drafts: Sequence[Draft] | None = None) -> Program | None:
        """The program whose groups of statements run in blocks of rows; None if no loop pays."""
        avals = {name: node.aval for name, node in self.constants.items()}
        avals.update({self.names[node]: node.aval for node in self.dag.inputs.values()})
        results = {self.names[node] for node in self.dag.outputs}
        given = self.drafts if drafts is None else drafts
        given = with_row_dots(given, avals, results, self._target)
        drafts, loops = fused(given, avals, results, self._target)
        if not loops:
            return None
        if self.dag.small_blocks:
            loops = tuple([replace(each, value_bytes=SMALL_BYTES) for each in loops])
        return with_scratch(self._program(drafts, loops), self.planning.places)

    def _program(self, drafts: Sequence[Draft], loops: tuple[Loop, ...]) -> Program:
        planning = self.planning = self._plan(drafts, loops)
        self.statements = planning.statements
        results = self._results()
        return Program(
            self.dag,
            tuple([self.names[node] for node in self.dag.inputs.values()]),
            self.constants,
            tuple(self.statements),
            results,
            self.bodies,
            self.constants_below,
            loops=loops,
        )

    def _target(self) -> str:
        self.number += 1
        return f"v{self.number - 1}"

    # -- lines -----------------------------------------------------------------------------------
    def _draft(self, node: Node) -> None:
        spelling = self._spelling(node)
        self._program_bodies(spelling)
        operands = [self.names[operand] for operand in node.operands]
        steps: list[str] = []
        for line in spelling.lines:
            pieces, names = _with_names(line, operands, steps)
            # `copy` sets values apart that are recomputed on purpose.
            key = (pieces, node.copy)
            found = self.known.get(key)
            if found is not None:
                self.repeats += 1
                if self.share:
                    steps.append(found)
                    continue
            target = self._target()
            self.known.setdefault(key, target)
            steps.append(target)
            self.drafts.append(Draft(node, target, line, pieces, names, spelling.named))
        self.names[node] = steps[-1]

    def _spelling(self, node: Node) -> NodeSource:
        """`spell`, cached: the source depends on the op, params, dtypes and shapes only."""
        params = tuple([(name, _key(value)) for name, value in node.params.items()])
        keep = self.read.get(node)
        key = (node.op.name, params, keep, *[each.results for each in node.operands])
        try:
            found = self.spellings.get(key)
        except TypeError:  # Params that cannot be hashed, such as arrays.
            return spell(node, fast=True, keep=keep, many=self.many)
        if found is None:
            found = self.spellings[key] = spell(node, fast=True, keep=keep, many=self.many)
        return found

    def _program_bodies(self, spelling: NodeSource) -> None:
        """Add the programs of the bodies that a node runs; each body has one."""
        for piece in spelling.lines[-1].pieces:
            if not isinstance(piece, Defined):
                continue
            for body in piece.bodies:
                if body not in self.bodies:
                    program = self.bodies[body] = self._program_of(body)
                    self.constants_below = program.constants_below

    def _program_of(self, body: Body) -> Program:
        # A loop copies its results, so the results of one step need no copy.
        make = partial(program_of, body.dag, constants_from=self.constants_below, handed_out=False)
        rewrite = self.rewrite.of_body() if self.rewrite is not None else None
        if rewrite is not None:
            program = make(rewrite=rewrite)
            if rewrite.used:
                return program
        return program_of_body(body.dag, self.constants_below, make)

    # -- memory ----------------------------------------------------------------------------------
    def _plan(self, drafts: Sequence[Draft], loops: Sequence[Loop]) -> Planning:
        external = {self.names[node]: node.aval for node in self.dag.inputs.values()}
        external.update({name: node.aval for name, node in self.constants.items()})
        results = [self.names[node] for node in self.dag.outputs]
        planning = Planning(drafts, external, results)
        planning.run(loops)
        return planning

    def _results(self) -> tuple[str, ...]:
        results = [self.names[node] for node in self.dag.outputs]
        if not self.handed_out:
            return tuple(results)
        copied = [
            position
            for position, node in enumerate(self.dag.outputs)
            # NumPy gives scalars for shape (); callers always get arrays.
            if not (node.aval.shape or self.names[node] in self.planning.made)
            or not self.planning.buffers.hand_out(self.names[node])
        ]
        left = Counter(results)
        given = {*self.constants, *[self.names[node] for node in self.dag.inputs.values()]}
        for position in copied:
            node = self.dag.outputs[position]
            name = results[position]
            left[name] -= 1
            target = results[position] = self._target()
            self.planning.buffers.computed(target, (node.aval,), (Alias.FRESH,), (name,))
            pieces = ("np.array(", name, ")")
            dead = () if left[name] or name in given else (name,)
            self.statements.append(
                Statement(node, target, pieces, (name,), (node.aval,), (Alias.FRESH,), dead=dead)
            )
        return tuple(results)


def _with_names(
    line: Line, operands: Sequence[str], steps: Sequence[str]
) -> tuple[Pieces, tuple[str, ...]]:
    """The pieces with names for operands and earlier results, and these names, each once."""
    pieces: list[Piece] = []
    names: dict[str, None] = {}
    for piece in line.pieces:
        if isinstance(piece, (OperandName, EarlierResult)):
            name = (operands if isinstance(piece, OperandName) else steps)[piece.index]
            names[name] = None
            pieces.append(name)
        else:
            pieces.append(piece)
    return tuple(pieces), tuple(names)


def _key(value: object) -> tuple[object, ...]:
    """A key that differs for 1, 1.0, True and -0.0."""
    if isinstance(value, tuple):
        return tuple([_key(item) for item in cast("tuple[object, ...]", value)])
    return (type(value), value.hex() if isinstance(value, float) else value)
