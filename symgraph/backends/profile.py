"""Where the time of a lowered function goes, by the lines of the user's code.

Each statement of the program is timed while the program runs, and belongs to the lines that its
node comes from. A loop that computes nodes of several lines at once cannot be parted: its lines
share a row. Flops and bytes are those of the operations' records, as in `ir.cost`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np

from ..ir.cost import node_bytes, node_flops
from ..ir.dag import Dag
from ..ir.dims import bind, resolve
from ..ir.html_tables import table
from ..ir.node import Node, Origin
from ..ir.origins import origins
from ..lowering.source_pieces import Defined
from ..lowering.statements import Program
from ..records import record
from ..source import Frame
from .machine_speed import Roof, roof
from .timed_programs import Clocked

__all__ = ["Profile", "ProfileRow", "profiled"]

_SECONDS = 0.25
"""How long a profile runs the function with the clock, and as long again without."""
_LEAST, _MOST = 2, 400


@record
class ProfileRow:
    """The cost, in one call, of the statements of a line, or of lines computed together.

    Parameters
    ----------
    lines : tuple of Frame
        Lines of the user's code; empty where none is known.
    part : str
        `"forward"`, `"gradient"`, or `"both"` where a loop computes both.
    operations : tuple of str
        The operations, each once.
    seconds, share : float
        Of one call, and of the seconds of all rows.
    calls : float
        How many statements ran.
    flops, bytes : int
        By the operations' records. Bytes are read and written as if nothing were fused; a compiled
        loop reads its operands and writes its results once.
    """

    lines: tuple[Frame, ...]
    part: str
    operations: tuple[str, ...]
    seconds: float
    share: float
    calls: float
    flops: int
    bytes: int

    @property
    def flops_per_second(self) -> float:
        return self.flops / self.seconds if self.seconds else 0.0

    @property
    def bytes_per_second(self) -> float:
        return self.bytes / self.seconds if self.seconds else 0.0

    @property
    def where(self) -> str:
        """`model.py:12`, or `model.py:12, 13 together`."""
        if not self.lines:
            return "no line is known"
        places: dict[str, list[str]] = {}
        for frame in self.lines:
            places.setdefault(frame.place, []).extend([str(frame.line)] if frame.line else [])
        parts = [f"{place}:{', '.join(n)}" if n else place for place, n in places.items()]
        return ", ".join(parts) + (" together" if len(self.lines) > 1 else "")


@record(repr=False)
class Profile:
    """A table of a call by the lines of the user's code; prints itself.

    Parameters
    ----------
    rows : tuple of ProfileRow
        The slowest first.
    between : float
        Seconds between statements: entering the program, its loops and the bodies they run.
    seconds : float
        Of one call without a clock, checks of the inputs included.
    roof : Roof
        What this machine reaches at best.
    """

    rows: tuple[ProfileRow, ...]
    between: float
    seconds: float
    roof: Roof

    @property
    def parts(self) -> float:
        """The time of the rows and of the work between them: a call without checks of inputs."""
        return sum([row.seconds for row in self.rows]) + self.between

    def _cells(self) -> list[list[str]]:
        rows = [["line", "ms", "share", "calls", "MFLOP", "MB", "GFLOP/s", "GB/s", "part"]]
        rows[0] += ["operations", "code"]
        for row in self.rows:
            rows.append([row.where, f"{row.seconds * 1e3:.4g}", f"{row.share:.1%}"])
            rows[-1] += [f"{row.calls:.6g}", f"{row.flops / 1e6:.4g}", f"{row.bytes / 1e6:.4g}"]
            rows[-1] += [
                f"{each / 1e9:.3g}" for each in (row.flops_per_second, row.bytes_per_second)
            ]
            rows[-1] += [row.part, _listed(row.operations), row.lines[0].text if row.lines else ""]
        return rows

    @property
    def summary(self) -> str:
        """The sum beside the call as a whole, and the machine's roof."""
        part = self.parts / self.seconds if self.seconds else 0.0
        return (
            f"rows {(self.parts - self.between) * 1e3:.4g} ms, between them "
            f"{self.between * 1e3:.4g} ms: {part:.0%} of the {self.seconds * 1e3:.4g} ms of a call "
            "without a clock\n"
            f"this machine: {self.roof.flops_per_second / 1e9:.3g} GFLOP/s in a product of "
            f"{self.roof.dtype} matrices, {self.roof.bytes_per_second / 1e9:.3g} GB/s in a copy"
        )

    def __str__(self) -> str:
        rows = self._cells()
        widths = [max([len(row[i]) for row in rows]) for i in range(len(rows[0]))]
        left = (0, *range(8, len(widths)))
        lines = [
            "  ".join(
                [
                    cell.ljust(width) if i in left else cell.rjust(width)
                    for i, (cell, width) in enumerate(zip(row, widths, strict=True))
                ]
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, self.summary])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        return table(head, rows, title=self.summary)


def _listed(names: Sequence[str], most: int = 4) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def profiled(
    dag: Dag,
    dims: Sequence[str],
    clocked: Callable[[], Clocked],
    call: Callable[[], object],
    values: Sequence[Any],
) -> Profile:
    """The profile of a call.

    Parameters
    ----------
    dag : Dag
    dims : sequence of str
        The named dimensions whose sizes stand behind the inputs in `values`.
    clocked : callable
        Gives the program with a clock.
    call : callable
        The call as the user makes it, without a clock.
    values : sequence of array
        What the program takes: the inputs, then sizes of dimensions.
    """
    call()  # What is made at the first call, as a workspace or machine code, is made here.
    run = clocked()
    own = run.clock.own_nanoseconds()
    run.timed(values)
    calls: Sequence[int] = ()
    whole: list[Sequence[float]] = []
    times: list[Sequence[float]] = []
    begun = perf_counter()
    while len(times) < _LEAST or (
        len(times) < _MOST and perf_counter() - begun < 2 * _SECONDS
    ):  # By turns, so that both see the same load.
        start = perf_counter()
        call()
        whole.append([perf_counter() - start])
        spent, calls = run.timed(values)
        times.append(spent)
    seconds = [
        max(0.0, spent - own * calls[number]) * 1e-9 for number, spent in enumerate(_calm(times))
    ]
    env: dict[str, int] = {}
    for node, value in zip(dag.inputs.values(), values, strict=False):
        bind(node.aval.shape, np.shape(value), env)
    env.update(zip(dims, values[len(dag.inputs) :], strict=True))
    rows = _rows(run, seconds, calls, env)
    return Profile(rows, seconds[0], _calm(whole)[0], roof(_dtype(dag)))


def _calm(rounds: Sequence[Sequence[float]]) -> list[float]:
    """Means over the faster half of the rounds: other programs on the machine slow the others."""
    calm = sorted(rounds, key=sum)[: (len(rounds) + 1) // 2]
    return [fmean(each) for each in zip(*calm, strict=True)]


def _dtype(dag: Dag) -> str:
    """The dtype of the roof: float32 if all floating outputs have it."""
    kinds = {node.dtype.name for node in dag.outputs if node.dtype.kind == "f"}
    return "float32" if kinds == {"float32"} else "float64"


def _rows(
    run: Clocked, seconds: Sequence[float], calls: Sequence[int], env: Mapping[str, int]
) -> tuple[ProfileRow, ...]:
    """A row for each set of lines, the slowest first."""
    costs = _costs(run, calls, env)
    origin_of = _origins(run.program)
    groups: dict[tuple[Any, str], list[int]] = {}
    looped = {
        (each.function, node): each.statement.members
        for each in run.clock.noted
        for node in each.statement.members
    }
    for number, noted in enumerate(run.clock.noted, 1):
        if calls[number]:
            node = noted.statement.node
            # Its result's array is made before a loop runs; both are the loop's.
            members = noted.statement.members or looped.get((noted.function, node), (node,))
            groups.setdefault(_place([origin_of(each) for each in members]), []).append(number)
    total = sum([seconds[number] for group in groups.values() for number in group])
    found: list[ProfileRow] = []
    for (lines, part), group in groups.items():
        statements = [run.clock.noted[number - 1].statement for number in group]
        nodes = [node for each in statements for node in each.members or (each.node,)]
        spent = sum([seconds[number] for number in group])
        found.append(
            ProfileRow(
                lines,
                part,
                tuple(dict.fromkeys([node.op.name for node in nodes])),
                spent,
                spent / total if total else 0.0,
                sum([calls[number] for number in group]),
                sum([costs[number][0] for number in group]),
                sum([costs[number][1] for number in group]),
            )
        )
    return tuple(sorted(found, key=lambda row: -row.seconds))


def _place(found: Sequence[Origin]) -> tuple[tuple[Frame, ...], str]:
    """The lines of origins, in their order, and the part of the graph they stand in."""
    frames = {(each.file, each.line): each for origin in found for each in origin.frames}
    lines = tuple([frames[key] for key in sorted(frames)])
    gradient = {origin.adjoint_of is not None for origin in found}
    return lines, "both" if len(gradient) > 1 else "gradient" if True in gradient else "forward"


def _programs(program: Program) -> list[Program]:
    """A program, and those of the bodies it runs."""
    found = [program]
    for each in found:
        found.extend(each.bodies.values())
    return found


def _origins(program: Program) -> Callable[[Node], Origin]:
    """The origin of each node of a program and of the bodies it runs."""
    found: dict[Node, Origin] = {}
    for each in _programs(program):
        found.update(origins(each.dag.nodes))
    return lambda node: found.get(node, node.origin)


def _costs(
    run: Clocked, calls: Sequence[int], env: Mapping[str, int]
) -> dict[int, tuple[int, int]]:
    """Flops and bytes of each statement in one call of the program.

    A node that several statements compute counts once: at its compiled loop, else at the first.
    """
    noted = dict(enumerate(run.clock.noted, 1))
    ran = [number for number in noted if calls[number]]
    avals_of = _avals_of_statements(run.program)
    known: set[tuple[int, Node]] = set()
    found: dict[int, tuple[int, int]] = dict.fromkeys(noted, (0, 0))
    for number in sorted(ran, key=lambda each: not noted[each].statement.members):
        each = noted[number]
        statement = each.statement
        nodes = [
            n for n in statement.members or (statement.node,) if (each.function, n) not in known
        ]
        known.update([(each.function, node) for node in nodes])
        # A loop over blocks computes a node once, whatever the number of its blocks.
        times = calls[number] if statement.loop < 0 else 1
        if any(isinstance(piece, Defined) for piece in statement.pieces):
            nodes = []  # The statements of the bodies have their own.
        flops = sum([int(resolve(node_flops(node), env)) for node in nodes])
        if statement.members:
            avals = avals_of[id(statement)]
            moved = sum([int(resolve(avals[name].nbytes, env)) for name in statement.operands])
        else:
            moved = sum([int(resolve(node_bytes(node), env)) for node in nodes])
        found[number] = (times * flops, times * moved)
    return found


def _avals_of_statements(program: Program) -> dict[int, dict[str, Any]]:
    """For each statement the values of the program that it stands in, by its identity."""
    return {
        id(statement): avals
        for each in _programs(program)
        for avals in [_avals(each)]
        for statement in each.statements
    }


def _avals(program: Program) -> dict[str, Any]:
    """The dtype and shape of each value of a program, by name."""
    found = {
        name: node.aval
        for name, node in zip(program.inputs, program.dag.inputs.values(), strict=True)
    }
    found.update({name: node.aval for name, node in program.constants.items()})
    for each in program.statements:
        if each.target:
            found[each.target] = each.avals[0]
    return found
