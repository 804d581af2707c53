"""A program with a clock: after each statement the time since the one before is noted.

The statements are the same, so the numbers are. The clock is read twice at each statement, so its
own work is left out; what is left of it is measured on empty statements, and taken off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter_ns
from typing import Any

from ..lowering.emit import Emitted
from ..lowering.statements import Program, Statement
from ..records import record

__all__ = ["Clock", "Clocked", "Noted"]

_EMPTY = 2000


@record
class Noted:
    """A statement that is timed.

    Parameters
    ----------
    statement : Statement
    function : int
        The number of the function that it stands in.
    """

    statement: Statement
    function: int


class Clock:
    """Notes how long each statement of a source takes, and how often it runs.

    Attributes
    ----------
    noted : list of Noted
        The statements, in the order of the source.
    nanoseconds, calls : list of int
        Since the start: at 0 of entering functions, then one for each statement.
    """

    def __init__(self) -> None:
        self.noted: list[Noted] = []
        self.nanoseconds: list[int] = [0]
        self.calls: list[int] = [0]
        self._last = [0]

    def put_into(self, emitted: Emitted) -> Emitted:
        """The source with a call of `tick` after each statement, and at the head of functions."""
        lines: list[str] = []
        statements: dict[int, Statement] = {}
        function = 0
        for number, line in enumerate(emitted.source.splitlines(), 1):
            lines.append(line)
            statement = emitted.lines.get(number)
            if statement is not None:
                statements[len(lines)] = statement
                self.noted.append(Noted(statement, function))
                indent = line[: len(line) - len(line.lstrip())]
                lines.append(f"{indent}tick({len(self.noted)})")
            elif line.startswith("def "):
                function += 1
                lines.append("    tick(0)")
        self.start()
        return replace(emitted, source="\n".join([*lines, ""]), lines=statements)

    def start(self) -> None:
        """Begin again with zeros."""
        count = 1 + len(self.noted)
        self.nanoseconds[:] = [0] * count
        self.calls[:] = [0] * count
        self._last[0] = perf_counter_ns()

    def tick(self) -> Callable[[int], None]:
        """The function that the source calls."""
        spent, calls, last, now = self.nanoseconds, self.calls, self._last, perf_counter_ns

        def tick(number: int) -> None:
            spent[number] += now() - last[0]
            calls[number] += 1
            last[0] = now()

        return tick

    def own_nanoseconds(self) -> float:
        """The nanoseconds that are noted for a statement that does nothing."""
        names: dict[str, Any] = {"tick": self.tick()}
        exec("def run():\n" + "    tick(0)\n" * _EMPTY, names)
        found: list[float] = []
        for _ in range(3):
            self.start()
            names["run"]()
            found.append(self.nanoseconds[0] / _EMPTY)
        self.start()
        return min(found)


@record
class Clocked:
    """A program that notes its times.

    Parameters
    ----------
    run : callable
        As of `Compiled`.
    clock : Clock
    program : Program
    """

    run: Callable[..., Sequence[Any]]
    clock: Clock
    program: Program

    def timed(self, values: Sequence[Any]) -> tuple[list[int], list[int]]:
        """Nanoseconds and calls of one run, by the number of the statement."""
        self.clock.start()
        self.run(*values)
        return [*self.clock.nanoseconds], [*self.clock.calls]
