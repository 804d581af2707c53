"""The statements of a program: assignments, with the names each reads, writes and releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from ..ir.avals import Aval
from ..ir.body import Body
from ..ir.dag import Dag
from ..ir.node import Node
from ..records import record
from .block_sizes import Loop
from .source_pieces import Alias, Pieces

__all__ = ["Filled", "Program", "Role", "Statement", "Temporary"]


class Filled(Enum):
    """Which bytes of its array a statement is the first to write."""

    WHOLE = "whole"
    LATER = "none: parts are written later"
    PART = "a part of an array that was made before"


@record
class Statement:
    """`target = ...`: a node, or an intermediate result of its kernel.

    Parameters
    ----------
    node : Node
        The node that is computed, or the output that is copied.
    target : str
        The name of the value; empty if the statement writes into the array at its `place`.
    pieces : tuple
        The right-hand side, operands by name.
    operands : tuple of str
        The names it reads, each once.
    avals, aliases : tuple
        For each result its shape and dtype, and the memory it shares with the operands.
    named : bool
        Whether a kernel is called by name.
    elementwise : bool
        Whether the line is one call of a ufunc on the operands.
    out : str
        The operand whose buffer the result is written to, or an empty string.
    dead : tuple of str
        Names that are read for the last time here.
    place : str
        The place in the workspace that the result is written to, or an empty string; in a loop it
        may be the rows of an array.
    loop : int
        The number of the loop that the statement stands in, or -1.
    axis : int, optional
        In a loop, the axis of the rows of the result, counted from the last.
    ahead : str
        A place of the arena that is named before the statement runs, or an empty string.
    filled : Filled
        Which bytes it is the first to write: the system gives pages when they are written to.
    works : bool
        Whether it needs the working room that its kernel declares.
    given : tuple of int
        Of several results those that are written into places of the workspace.
    members : tuple of Node
        The nodes that one call of a compiled loop computes; empty for other statements.
    """

    node: Node
    target: str
    pieces: Pieces
    operands: tuple[str, ...]
    avals: tuple[Aval, ...]
    aliases: tuple[Alias, ...]
    named: bool = False
    elementwise: bool = False
    out: str = ""
    dead: tuple[str, ...] = ()
    place: str = ""
    loop: int = -1
    axis: int | None = None
    ahead: str = ""
    filled: Filled = Filled.WHOLE
    works: bool = True
    given: tuple[int, ...] = ()
    members: tuple[Node, ...] = ()

    @property
    def allocates(self) -> bool:
        """Whether the statement may allocate memory for its result."""
        return not (self.out or self.place) and any(
            alias not in (Alias.WHOLE, Alias.PART) for alias in self.aliases
        )


class Role(Enum):
    """The role of the value at a place of a program."""

    TEMPORARY = "a value in memory that is kept between calls"
    RESULT = "a result, in memory of its own at each call"
    MARK = "nothing: the statement allocates by itself"


@record
class Temporary:
    """A value that is written to the workspace.

    Parameters
    ----------
    aval : Aval
    first, last : int
        The numbers of the statement that computes it and of the last that reads its memory.
    loop : int
        The number of the loop that it is scratch memory of, or -1.
    axis : int, optional
        In a loop, the axis of which a block holds some rows only, counted from the last.
    role : Role
        Other than `TEMPORARY` in an arena only.
    """

    aval: Aval
    first: int
    last: int
    loop: int = -1
    axis: int | None = None
    role: Role = Role.TEMPORARY


@record
class Program:
    """Statements in order, with the names of inputs, constants and results.

    Parameters
    ----------
    dag : Dag
    inputs : tuple of str
        One for each input of `dag`, in order.
    constants : mapping of str to Node
        Constants by name.
    statements : tuple of Statement
    results : tuple of str
        One for each output of `dag`, in order; no two share memory, and none is an input or a
        constant.
    bodies : mapping of Body to Program
        The programs of the bodies that nodes hold.
    constants_below : int
        The first number that is free for a constant: those of this program and its bodies, and
        those numbered before them, are below.
    workspace : tuple of Temporary
        The values in memory that is kept between calls, by the number of their place; then the
        values of which a loop keeps one block.
    loops : tuple of Loop
        The loops over blocks of rows that groups of statements run in.
    blocked : Program, optional
        The program that is run instead where arrays are too large for the cache.
    notes : tuple of str
        Lines that stand as comments at the head of the source.
    arena : bool
        Whether the workspace is an arena: pages are given back where the peak asks for it, so that
        the program needs the memory of its live values, and no more.
    """

    dag: Dag
    inputs: tuple[str, ...]
    constants: Mapping[str, Node]
    statements: tuple[Statement, ...]
    results: tuple[str, ...]
    bodies: Mapping[Body, Program] = field(default_factory=dict[Body, "Program"])
    constants_below: int = 0
    workspace: tuple[Temporary, ...] = ()
    loops: tuple[Loop, ...] = ()
    blocked: Program | None = None
    notes: tuple[str, ...] = ()
    arena: bool = False

    def for_sizes(self, sizes: Mapping[str, int]) -> Program:
        """The program that is run for these sizes of named dimensions."""
        blocked = self.blocked
        if blocked is not None and any(loop.pays(sizes) for loop in blocked.loops):
            return blocked
        return self
