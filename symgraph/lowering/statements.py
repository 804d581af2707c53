"""What a program is made of: one assignment a line, with what it reads, writes and releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..ir.avals import Aval
from ..ir.body import Body
from ..ir.dag import Dag
from ..ir.node import Node
from .pieces import Alias, Pieces

__all__ = ["Program", "Statement"]


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
    elementwise : bool
        Whether a ufunc is called on operands as they are.
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
    elementwise: bool = False
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
    bodies : mapping of Body to Program
        The programs of the bodies that nodes hold.
    constants_below : int
        How many constants this program and those of its bodies have, or have been numbered before.
    """

    dag: Dag
    inputs: tuple[str, ...]
    constants: Mapping[str, Node]
    statements: tuple[Statement, ...]
    results: tuple[str, ...]
    bodies: Mapping[Body, Program] = field(default_factory=dict[Body, "Program"])
    constants_below: int = 0
