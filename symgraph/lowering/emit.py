"""A program as Python source: `v3 = np.multiply(v1, v2, v1); del v2  # multiply  model.py:12`.

The source can be read, stepped through and profiled. It is safe by construction: identifiers are
`v`, `c`, `d`, `f`, `k` or `r` with a number; attribute names come from kernels, numbers from
params. A user's names, of inputs and files, stand in comments only, without characters that end a
comment.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..ir.body import Body
from ..ir.dims import Dim, named, names_of, resolve
from ..namespace import NUMPY, writing
from ..records import record
from .body_functions import function_of
from .comments import commented, remark, sanitized
from .float_source import float_function
from .loop_lines import LoopLines, ends_of_loops
from .method_calls import as_method, as_operator, numbers, wholes
from .node_source import dims_of
from .source_pieces import Defined, Dimension, EarlierResult, OperandName, Piece, Pieces, Tabled
from .statements import Program, Statement

__all__ = ["Emitted", "NameTable", "commented", "emit", "remark", "sanitized"]

_ABOUT_BLOCKED = "# The same in blocks of rows that fit the cache: called for large arrays."


@record
class Emitted:
    """Source of a function `program(inputs..., sizes..., places)` that gives the tuple of results.

    Parameters
    ----------
    source : str
    table : mapping of str to object
        The values of the names in it.
    dims : tuple of str
        The named dimensions whose sizes follow the inputs, in order.
    lines : mapping of int to Statement
        The statement that each line is.
    workspace : bool
        Whether values lie in a workspace. The function then takes their places in one tuple, as the
        last argument. There may be a function `blocked` besides, for large arrays.
    on_floats : bool
        Whether there is a function `floats(inputs...)` besides, that takes and uses Python's
        floats. It raises one of `FLOAT_ERRORS` where NumPy gives infinity or NaN.
    """

    source: str
    table: Mapping[str, Any]
    dims: tuple[str, ...]
    lines: Mapping[int, Statement]
    workspace: bool = False
    on_floats: bool = False


class _Module:
    """The functions of one source, and the named values they share."""

    def __init__(self, taken: int = 0) -> None:
        self.table: dict[str, Any] = {}
        self.programs: dict[Body, Program] = {}
        self.definitions: list[tuple[str, Statement | None]] = []
        self.numbers = {"c": taken, "k": 0, "r": 0, "f": 0}
        self.by_id: dict[int, str] = {}
        self.functions: dict[Any, tuple[str, tuple[str, ...]]] = {}

    def entered(self, prefix: str, value: object) -> str:
        """Enter a value into the table, and give its name."""
        name = self.next_name(prefix)
        self.table[name] = value
        return name

    def next_name(self, prefix: str) -> str:
        self.numbers[prefix] += 1
        return f"{prefix}{self.numbers[prefix] - 1}"

    def body(self, body: Body) -> tuple[str, tuple[str, ...]]:
        """The function of a body, and the named dimensions whose sizes it takes after operands."""
        found = self.functions.get(body)
        if found is None:
            program = self.programs[body]
            names = NameTable(self)
            lines = _statements(program, names)
            name = self.next_name("f")
            arguments = ", ".join((*program.inputs, *names.dims.values()))
            head: list[tuple[str, Statement | None]] = [
                (f"    {commented(line, sanitized(why))}", None) for line, why in names.lines
            ]
            self.define(
                f"def {name}({arguments}):", [*head, *lines], _return_statement(program.results)
            )
            found = self.functions[body] = name, tuple(names.dims)
        return found

    def define(self, head: str, lines: Sequence[tuple[str, Statement | None]], last: str) -> None:
        self.definitions.extend(
            [(head, None), *lines, (f"    {last}", None), ("", None), ("", None)]
        )


class NameTable:
    """The names of looked-up values and of sizes, in the order in which they are met."""

    def __init__(self, module: _Module | None = None) -> None:
        self.module = module or _Module()
        self.dims: dict[str, str] = {}
        self.derived: dict[Dim, str] = {}
        self.lines: list[tuple[str, str]] = []

    @property
    def table(self) -> dict[str, Any]:
        return self.module.table

    def written(
        self, pieces: Pieces, operands: Sequence[str] = (), steps: Sequence[str] = ()
    ) -> str:
        """The source of an expression."""
        return "".join([self._piece_source(piece, operands, steps) for piece in pieces])

    def _piece_source(self, piece: Piece, operands: Sequence[str], steps: Sequence[str]) -> str:
        if isinstance(piece, str):
            return piece
        if isinstance(piece, OperandName):
            return operands[piece.index]
        if isinstance(piece, EarlierResult):
            return steps[piece.index]
        if isinstance(piece, Defined):
            return self.defined(piece)
        return self.dimension(piece.expr) if isinstance(piece, Dimension) else self.tabled(piece)

    def tabled(self, piece: Tabled) -> str:
        """The name under which a value is looked up."""
        known = self.module.by_id
        name = known.get(id(piece.value))
        if name is None:
            name = known[id(piece.value)] = self.module.entered(piece.prefix, piece.value)
        return name

    def defined(self, piece: Defined) -> str:
        """The name of the function that runs the bodies of a node."""
        module = self.module
        found = module.functions.get(piece)
        if found is None:
            inner = NameTable(module)
            dims = dims_of(piece.node)
            arguments = [f"v{place}" for place in range(len(piece.node.operands))]
            arguments += [inner.dimension(named(name)) for name in dims]
            arguments += [f"o{index}" for index in piece.given]

            def call(body: Body, operands: Sequence[str]) -> str:
                name, wanted = module.body(body)
                sizes = [inner.dimension(named(each)) for each in wanted]
                return f"{name}({', '.join([*operands, *sizes])})"

            lines, last = function_of(piece, call, inner.dimension)
            name = module.next_name("f")
            sizes = [f"    {commented(line, sanitized(why))}" for line, why in inner.lines]
            head = commented(f"def {name}({', '.join(arguments)}):", remark(piece.node, ()))
            module.define(head, [(line, None) for line in (*sizes, *lines)], last)
            found = module.functions[piece] = name, dims
        return found[0]

    def dimension(self, expr: Dim) -> str:
        """The name of a size; a size calculated from named dimensions gets a line of its own."""
        if isinstance(expr, int):
            return repr(expr)
        if expr.is_Symbol:
            return self._named_size(str(expr))
        found = self.derived.get(expr)
        if found is None:
            needed = names_of(expr)
            arguments = [self._named_size(name) for name in needed]
            found = self.derived[expr] = f"d{len(self.dims) + len(self.derived)}"
            function = self.module.entered("r", partial(_calculated, expr, needed))
            self.lines.append((f"{found} = {function}({', '.join(arguments)})", str(expr)))
        return found

    def _named_size(self, name: str) -> str:
        return self.dims.setdefault(name, f"d{len(self.dims) + len(self.derived)}")


def _calculated(expr: Dim, names: tuple[str, ...], *sizes: int) -> int:
    return resolve(expr, dict(zip(names, sizes, strict=True)))


def emit(
    program: Program, *, floats: bool = False, threads: bool = False, apart: bool = False
) -> Emitted:
    """The source of `program`, and the values of its names.

    Parameters
    ----------
    program : Program
    floats : bool
        Whether to add a function on Python's floats, if all values are scalars.
    threads : bool
        Whether loops are functions, which `spread` calls on several threads. What their blocks add
        to results goes through `in_order`. Both names are left to whoever runs the source.
    """
    module = _Module(program.constants_below)
    names = NameTable(module)
    parts = {"program": program}
    if program.blocked is not None:
        parts["blocked"] = program.blocked
    bodies = {name: _statements(part, names, threads) for name, part in parts.items()}
    has_workspace = _name_dimensions(parts.values(), names)
    last = ("w",) if has_workspace else ()
    arguments = ", ".join((*program.inputs, *names.dims.values(), *last))
    rows: list[tuple[str, Statement | None]] = [(line, None) for line in _heading(program, names)]
    rows.extend(module.definitions)
    on_floats = float_function(program, apart) if floats else []
    rows.extend(on_floats)
    for name, part in parts.items():
        if name == "blocked":
            rows.extend([("", None), ("", None), (_ABOUT_BLOCKED, None)])
        rows.append((f"def {name}({arguments}):", None))
        rows.extend((f"    {commented(line, sanitized(why))}", None) for line, why in names.lines)
        rows.extend(bodies[name])
        rows.append((f"    {_return_statement(part.results)}", None))
    lines = {number: each for number, (_, each) in enumerate(rows, 1) if each is not None}
    source = "\n".join([*[line for line, _ in rows], ""])
    table = _values_of_names([*parts.values(), *module.programs.values()], module)
    return Emitted(source, table, tuple(names.dims), lines, has_workspace, bool(on_floats))


def _name_dimensions(parts: Collection[Program], names: NameTable) -> bool:
    """Give names to the dimensions that temporaries and loops have; whether there are any such."""
    workspaces = [each for part in parts for each in part.workspace]
    loops = [each for part in parts for each in part.loops]
    sizes = [dim for each in workspaces for dim in each.aval.shape]
    # How many rows a block has depends on the bytes of all that its loop reads and computes.
    sizes += [dim for loop in loops for each in loop.avals for dim in each.shape]
    for size in sizes:
        for each in names_of(size):
            names.dimension(named(each))
    return bool(workspaces or loops)


def _values_of_names(programs: Sequence[Program], module: _Module) -> dict[str, Any]:
    """The namespaces, constants and functions that the source calls by name."""
    table: dict[str, Any] = {"xp": NUMPY, "into": writing}
    for each in programs:
        table.update({name: node.params["value"] for name, node in each.constants.items()})
    if module.functions:
        table["range"] = range
    return {**table, **module.table}


def _statements(
    program: Program, names: NameTable, threads: bool = False
) -> list[tuple[str, Statement | None]]:
    """The lines of a program between `def` and `return`, each with its statement."""
    for body, inner in program.bodies.items():
        # Two loops may run one body: the constants are then those of its first program.
        names.module.programs.setdefault(body, inner)
    last = max(
        (
            i
            for i, each in enumerate(program.statements)
            if each.allocates or (program.arena and each.place)
        ),
        default=-1,
    )
    found: list[tuple[str, Statement | None]] = []
    kept: set[str] = set()  # Values in the workspace: their memory is not released.
    ends = ends_of_loops(program)
    avals = wholes(program)
    known = numbers(program)
    constants = {name: node.params["value"] for name, node in program.constants.items()}
    loop = LoopLines(program, -1, threads)
    for number, statement in enumerate(program.statements):
        if statement.loop != loop.number:
            loop = LoopLines(program, statement.loop, threads)
        inside = statement.place[:1] == "t" or (statement.place[:1] == "w" and not program.arena)
        if inside or statement.out in kept:
            kept.add(statement.target)
        dead = tuple([name for name in statement.dead if name not in kept])
        if loop.number >= 0:
            dead = loop.own_of(statement, dead)
        elif number >= last:
            dead = ()  # After the last allocation `del` gains nothing: the return releases names.
        comment = remark(statement.node, statement.avals)
        pieces = as_method(statement, avals)
        if pieces is statement.pieces:
            pieces = as_operator(statement, known, constants)
        loop.add(_line(statement, names.written(pieces), dead), statement, comment)
        if loop.number < 0 or number in ends:
            found.extend(loop.taken())
    return found


def _return_statement(results: Sequence[str]) -> str:
    return f"return ({', '.join(results)}{',' if len(results) == 1 else ''})"


def _line(statement: Statement, line: str, dead: tuple[str, ...]) -> str:
    if statement.target:
        line = f"{statement.target} = {line}"
    if statement.ahead:
        line = f"{statement.ahead}; {line}"
    return f"{line}; del {', '.join(dead)}" if dead else line


def _heading(program: Program, names: NameTable) -> list[str]:
    head: list[str] = []
    for name, (given, node) in zip(program.inputs, program.dag.inputs.items(), strict=True):
        head.append(f"# {name}: {given!a}  {sanitized(str(node.aval))}")
    for name, node in program.constants.items():
        value = node.params["value"]
        shown = f" = {value}" if not value.ndim else ""
        head.append(f"# {name}: constant  {node.aval}{shown}")
    for inner in names.module.programs.values():
        for name, node in inner.constants.items():
            head.append(f"# {name}: constant  {node.aval}")
    for dim, name in names.dims.items():
        head.append(f"# {name}: size of {dim!a}")
    blocked = program.blocked or program
    places = len(program.workspace)
    if program.arena:
        head.append(f"# w: the arena, kept between calls, and memory for results; places: {places}")
    elif places or blocked.loops:
        head.append(f"# w: the workspace, kept between calls; places: {places}")
    programs = (program, blocked, *names.module.programs.values())
    statements = [each for part in programs for each in part.statements]
    ops = {id(each.node.op.kernel): each.node.op.name for each in statements}
    for name, value in names.table.items():
        if id(value) in ops:
            head.append(f"# {name}: kernel of {sanitized(ops[id(value)])}")
        elif isinstance(value, np.ndarray) and not value.ndim:
            head.append(f"# {name}: constant  {value.dtype}[] = {value}")
    return [*head, *[f"# {sanitized(each)}" for each in program.notes]]
