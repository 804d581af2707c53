"""A program as Python source: `v3 = np.multiply(v1, v2, v1); del v2  # multiply  model.py:12`.

The source can be read, stepped through and profiled, and is safe by construction: identifiers are
`v`, `c`, `d`, `k` or `r` with a number, attribute names come from kernels, numbers from params.
What a user names (inputs, files) stands in comments only, without characters that could end one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..avals import Aval
from ..dag import Node
from ..dims import names_of, resolve
from ..namespace import NUMPY
from .pieces import Dimension, Operand, Piece, Pieces, Step, Tabled
from .statements import Program, Statement

__all__ = ["Emitted", "Names", "commented", "emit", "remark", "sanitized"]

_COMMENT_COLUMN = 52


@dataclass(frozen=True, slots=True)
class Emitted:
    """Source of a function `program(inputs..., sizes...)` that gives the tuple of results.

    Parameters
    ----------
    source : str
    table : mapping of str to object
        What the names in it stand for.
    dims : tuple of str
        The named dimensions whose sizes follow the inputs, in order.
    lines : mapping of int to Node
        The node each line computes.
    """

    source: str
    table: Mapping[str, Any]
    dims: tuple[str, ...]
    lines: Mapping[int, Node]


def sanitized(text: str) -> str:
    """Text that can stand in a comment: one line, printable."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else "?" for char in text)


# Printing dtypes is slow, and most lines of a graph have one of few.
_shown_aval = lru_cache(maxsize=4096)(str)


def remark(node: Node, avals: Sequence[Aval]) -> str:
    """What a line is for: operation, result, the user's line, the rule that made it."""
    origin = node.origin
    text = f"{node.op.name}  {', '.join([_shown_aval(aval) for aval in avals])}"
    where = str(origin)
    if where:
        text = f"{text}  {where}"
    return sanitized(f"{text}  by {origin.rule}" if origin.rule else text)


def commented(line: str, comment: str) -> str:
    """A line with what it is for, in a column of its own."""
    return f"{line.ljust(_COMMENT_COLUMN)}  # {comment}"


class Names:
    """Names of tabled values and of sizes, given out as they are met."""

    def __init__(self, taken: int = 0) -> None:
        self.table: dict[str, Any] = {}
        self.dims: dict[str, str] = {}
        self.derived: dict[Any, str] = {}
        self.lines: list[tuple[str, str]] = []
        self._numbers = {"c": taken, "k": 0, "r": 0}
        self._by_id: dict[int, str] = {}

    def written(
        self, pieces: Pieces, operands: Sequence[str] = (), steps: Sequence[str] = ()
    ) -> str:
        """The source of an expression."""
        return "".join([self._text(piece, operands, steps) for piece in pieces])

    def _text(self, piece: Piece, operands: Sequence[str], steps: Sequence[str]) -> str:
        if isinstance(piece, str):
            return piece
        if isinstance(piece, Operand):
            return operands[piece.index]
        if isinstance(piece, Step):
            return steps[piece.index]
        return self.dimension(piece.expr) if isinstance(piece, Dimension) else self.tabled(piece)

    def tabled(self, piece: Tabled) -> str:
        """The name under which a value is looked up."""
        name = self._by_id.get(id(piece.value))
        if name is None:
            name = self._by_id[id(piece.value)] = self._entered(piece.prefix, piece.value)
        return name

    def _entered(self, prefix: str, value: Any) -> str:
        name = f"{prefix}{self._numbers[prefix]}"
        self._numbers[prefix] += 1
        self.table[name] = value
        return name

    def dimension(self, expr: Any) -> str:
        """The name of a size; one calculated from named dimensions gets a line of its own."""
        if isinstance(expr, int):
            return repr(expr)
        if expr.is_Symbol:
            return self.dims.setdefault(str(expr), f"d{len(self.dims) + len(self.derived)}")
        found = self.derived.get(expr)
        if found is None:
            needed = names_of(expr)
            arguments = [self.dims.get(name) or self._base(name) for name in needed]
            found = self.derived[expr] = f"d{len(self.dims) + len(self.derived)}"
            function = self._entered("r", partial(_calculated, expr, needed))
            self.lines.append((f"{found} = {function}({', '.join(arguments)})", str(expr)))
        return found

    def _base(self, name: str) -> str:
        return self.dims.setdefault(name, f"d{len(self.dims) + len(self.derived)}")


def _calculated(expr: Any, names: tuple[str, ...], *sizes: int) -> int:
    return resolve(expr, dict(zip(names, sizes, strict=True)))


def emit(program: Program) -> Emitted:
    """The source of `program`, and what its names stand for."""
    names = Names(len(program.constants))
    last = max((i for i, each in enumerate(program.statements) if each.allocates), default=-1)
    body: list[tuple[str, Statement]] = []
    for number, statement in enumerate(program.statements):
        # After the last allocation nothing is gained by releasing before the return does.
        dead = statement.dead if number < last else ()
        body.append((_line(statement, names, dead), statement))
    head = _heading(program, names)
    arguments = ", ".join((*program.inputs, *names.dims.values()))
    head.append(f"def program({arguments}):")
    head.extend(f"    {commented(line, sanitized(why))}" for line, why in names.lines)
    lines = {len(head) + 1 + number: each.node for number, (_, each) in enumerate(body)}
    text = [f"    {commented(line, remark(each.node, each.avals))}" for line, each in body]
    results = ", ".join(program.results) + ("," if len(program.results) == 1 else "")
    source = "\n".join([*head, *text, f"    return ({results})", ""])
    table = {name: node.params["value"] for name, node in program.constants.items()}
    return Emitted(source, {"xp": NUMPY, **table, **names.table}, tuple(names.dims), lines)


def _line(statement: Statement, names: Names, dead: tuple[str, ...]) -> str:
    line = f"{statement.target} = {names.written(statement.pieces)}"
    return f"{line}; del {', '.join(dead)}" if dead else line


def _heading(program: Program, names: Names) -> list[str]:
    head: list[str] = []
    for name, (given, node) in zip(program.inputs, program.dag.inputs.items(), strict=True):
        head.append(f"# {name}: {given!a}  {sanitized(str(node.aval))}")
    for name, node in program.constants.items():
        value = node.params["value"]
        shown = f" = {value}" if not value.ndim else ""
        head.append(f"# {name}: constant  {node.aval}{shown}")
    for dim, name in names.dims.items():
        head.append(f"# {name}: size of {dim!a}")
    ops = {id(each.node.op.kernel): each.node.op.name for each in program.statements}
    for name, value in names.table.items():
        if id(value) in ops:
            head.append(f"# {name}: kernel of {sanitized(ops[id(value)])}")
        elif isinstance(value, np.ndarray) and not value.ndim:
            head.append(f"# {name}: constant  {value.dtype}[] = {value}")
    return head
