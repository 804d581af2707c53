"""The lines of a loop over blocks of rows: a `for`, or a function that several threads call."""

from __future__ import annotations

from collections.abc import Sequence

from .comments import commented, sanitized
from .statements import Program, Statement

__all__ = ["LoopLines", "ends_of_loops"]


def ends_of_loops(program: Program) -> set[int]:
    """The numbers of the last statements of loops."""
    # A body may have no statement: it hands its operands on.
    following = [*[each.loop for each in program.statements], -1][1:]
    return {
        number
        for number, (each, after) in enumerate(zip(program.statements, following, strict=True))
        if each.loop >= 0 and each.loop != after
    }


class LoopLines:
    """The lines of one loop, or of statements outside of loops (number -1).

    On several threads the loop is a function of blocks. A statement that adds the result of a block
    to that of all rows is then a function of its own, which is called in the order of the blocks.
    """

    def __init__(self, program: Program, number: int, threads: bool) -> None:
        self.program, self.number = program, number
        self.threads = threads and number >= 0
        self.ahead: list[tuple[str, Statement | None]] = []
        self.lines: list[tuple[str, Statement | None]] = []
        self.own: set[str] = set()
        self.later: list[str] = []  # What the loop reads for the last time.
        self.sums = 0

    def own_of(self, statement: Statement, dead: Sequence[str]) -> tuple[str, ...]:
        """The values computed in the loop that die in a statement; others die after the loop."""
        self.own.add(statement.target)
        self.later.extend([name for name in dead if name not in self.own])
        return tuple([name for name in dead if name in self.own])

    def add(self, line: str, statement: Statement, comment: str) -> None:
        indent = "    " if self.number < 0 else "            " if self.threads else "        "
        if self.threads and not statement.target and statement.axis is None:
            _, block = statement.operands
            name = f"s{self.number}_{self.sums}"
            self.sums += 1
            adding = f"{name} = in_order(lambda {block}: {line.partition('; del ')[0]})"
            self.ahead.append((f"    {commented(adding, comment)}", statement))
            line = f"{name}(k, {block})"
        self.lines.append((f"{indent}{commented(line, comment)}", statement))

    def taken(self) -> list[tuple[str, Statement | None]]:
        """All lines, with those that begin and end the loop."""
        lines, self.lines = self.lines, []
        if self.number < 0:
            return lines
        loop = self.program.loops[self.number]
        scratch = [f"t{place}" for place in range(len(loop.scratch))]
        place = f"w[{sum([each.loop < 0 for each in self.program.workspace]) + self.number}]"
        about = sanitized(f"blocks of {loop.dim} rows")
        if not self.threads:
            targets = ", ".join(["rows", *scratch]) + "," * (not scratch)
            head = [(f"    {commented(f'for {targets} in {place}:', about)}", None)]
            return [*head, *lines, *_released(self.later)]
        part = f"part{self.number}"
        targets = ", ".join(["k", "rows", *scratch])
        head = [
            (f"    {commented(f'def {part}(blocks):', f'{about}, those of one thread')}", None),
            (f"        for {targets} in blocks:", None),
        ]
        products = ", products=True" if loop.multiplies else ""
        last = (f"    spread({part}, {place}{products})", None)
        return [*self.ahead, *head, *lines, last, *_released(self.later)]


def _released(dead: Sequence[str]) -> list[tuple[str, None]]:
    return [(f"    del {', '.join(dead)}", None)] if dead else []
