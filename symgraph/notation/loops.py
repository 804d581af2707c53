"""Loops and branches as Python source: `for`, `while` and `if` around calls of bodies.

Each body is lowered once, to a function of its own. A loop writes the results of its steps into
arrays that are made before it. Operands are called `v0`, `v1`, ... An operation that holds bodies
names a function of this module in its record, as `Op.source`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..ir.avals import Aval
from ..ir.body import Body
from ..ir.node import Node
from ..records import record

__all__ = [
    "CallSource",
    "Run",
    "SizeSource",
    "Source",
    "call_source",
    "cond_source",
    "scan_source",
    "solution_source",
    "while_source",
]

CallSource: TypeAlias = Callable[[Body, Sequence[str]], str]
SizeSource: TypeAlias = Callable[[Any], str]
Source: TypeAlias = tuple[list[str], str]
"""The lines of a function, and its last line, which returns."""


@record
class Run:
    """A node that holds bodies, with all that its source depends on.

    Parameters
    ----------
    node : Node
    keep : tuple of bool or None
        For each result, whether it is read.
    call : callable
        Gives the source of a call of a body, from the names of the operands. The call gives a
        tuple.
    dimension : callable
        Gives the source of a size.
    in_place : bool
        Whether the results of steps are written into arrays. Else they are listed and stacked.
    given : tuple of int
        The results that are written into arrays which the function is given, as `o2` for result 2.
    """

    node: Node
    keep: tuple[bool, ...] | None
    call: CallSource
    dimension: SizeSource
    in_place: bool = True
    given: tuple[int, ...] = ()


def _operands(node: Node) -> list[str]:
    return [f"v{place}" for place in range(len(node.operands))]


def _returned(values: Sequence[str]) -> str:
    return f"return {values[0]}" if len(values) == 1 else f"return ({', '.join(values)})"


def _assigned(targets: Sequence[str], right: str) -> str:
    """An assignment of a call's results. The call gives a tuple."""
    left = f"({targets[0]},)" if len(targets) == 1 else ", ".join(targets)
    return f"{left} = {right}" if targets else right


# -- scan ------------------------------------------------------------------------------------------
class _Scan:
    """The names in the source of a scan."""

    def __init__(self, run: Run) -> None:
        node = run.node
        body: Body = node.params["body"]
        count, scanned = node.params["carries"], node.params["scanned"]
        operands = _operands(node)
        self.node = node
        self.keep = run.keep or (True,) * len(node.results)
        self.carries = operands[:count]
        self.given = [f"y{place}" for place in range(len(body.outputs) - count)]
        self.stacked = [
            f"o{count + place}" if count + place in run.given else f"s{place}"
            for place in range(len(self.given) + count)
        ]
        self.avals = node.results[count:]
        self.kept = self.keep[count:]
        steps = run.dimension(node.params["length"])
        span = f"{steps} - 1, -1, -1" if node.params["reverse"] else steps
        factors = zip(operands, body.right_factors, strict=True)
        captured = [*factors][count + scanned :]
        self.laid_out = [name for name, read in captured if read and run.in_place]
        self.head = f"    for t in range({span}):"
        slices = [f"{name}[t]" for name in operands[count : count + scanned]]
        step = run.call(body, [*self.carries, *slices, *operands[count + scanned :]])
        self.step = f"        {_assigned([*self.carries, *self.given], step)}"

    def noted(self, pattern: str, names: Sequence[str], values: Sequence[str]) -> list[str]:
        """A line for each kept result of a step."""
        wanted = dict(zip(self.stacked, self.kept, strict=True))
        pairs = zip(names, values, strict=True)
        return [f"        {name}{pattern.format(value)}" for name, value in pairs if wanted[name]]

    def loop(self, pattern: str) -> list[str]:
        given, before = self.stacked[: len(self.given)], self.stacked[len(self.given) :]
        return [
            *[f"    {name} = np.ascontiguousarray({name})" for name in self.laid_out],
            self.head,
            *self.noted(pattern, before, self.carries),
            self.step,
            *self.noted(pattern, given, self.given),
        ]

    def last(self, stacked: Sequence[str]) -> str:
        # A copy, for a carry may be an operand or share memory with one.
        results = [*[f"np.array({name})" for name in self.carries], *stacked]
        return _returned(
            [name if kept else "None" for name, kept in zip(results, self.keep, strict=True)]
        )


def scan_source(run: Run) -> Source:
    """A `for` loop that writes its results into arrays, or lists and stacks them."""
    if not run.in_place:
        return _listed_scan(run)
    scan = _Scan(run)
    lines = [
        f"    {name} = {_empty(aval, run)}"
        for name, aval, kept in zip(scan.stacked, scan.avals, scan.kept, strict=True)
        if kept and not name.startswith("o")
    ]
    # What a step has given would be alive in the next step.
    freed = [f"        del {', '.join(scan.given)}"] if scan.given else []
    return [*lines, *scan.loop("[t] = {}"), *freed], scan.last(scan.stacked)


def _listed_scan(run: Run) -> Source:
    scan = _Scan(run)
    kept = [name for name, wanted in zip(scan.stacked, scan.kept, strict=True) if wanted]
    turned = "[::-1]" if scan.node.params["reverse"] else ""
    stacked = [
        f"np.stack({name}{turned}) if {name} else {_empty(aval, run, 'zeros')}"
        for name, aval in zip(scan.stacked, scan.avals, strict=True)
    ]
    return [*[f"    {name} = []" for name in kept], *scan.loop(".append({})")], scan.last(stacked)


def _empty(aval: Aval, run: Run, how: str = "empty") -> str:
    sizes = [run.dimension(dim) for dim in aval.shape]
    name = "bool_" if aval.dtype.kind == "b" else aval.dtype.name
    return f"np.{how}(({', '.join(sizes)}{',' if len(sizes) == 1 else ''}), np.{name})"


# -- branches, loops of unknown length, calls ------------------------------------------------------
def cond_source(run: Run) -> Source:
    """An `if` statement."""
    node = run.node
    first, *rest = _operands(node)
    chosen, last = _copied(node, run.call(node.params["true"], rest))
    other, end = _copied(node, run.call(node.params["false"], rest))
    within = [f"        {line}" for line in (*chosen, last)]
    return [f"    if {first}:", *within, *[f"    {line}" for line in other]], end


def _copied(node: Node, call: str) -> Source:
    """A call of a body whose results are copied."""
    values = [f"y{place}" for place in range(len(node.results))]
    return [_assigned(values, call)], _returned([f"np.array({name})" for name in values])


def while_source(run: Run) -> Source:
    """A `while` loop."""
    node = run.node
    operands = _operands(node)
    count, tests = len(node.results), node.params["tests"]
    carries, rest = operands[:count], operands[count:]
    condition = run.call(node.params["cond"], [*carries, *rest[:tests]])
    step = run.call(node.params["body"], [*carries, *rest[tests:]])
    lines = [f"    while {condition}[0]:", f"        {_assigned(carries, step)}"]
    return lines, _returned([f"np.array({name})" for name in carries])


def call_source(run: Run) -> Source:
    """A call of the body."""
    lines, last = _copied(run.node, run.call(run.node.params["body"], _operands(run.node)))
    return [f"    {line}" for line in lines], last


def solution_source(run: Run) -> Source:
    """The solution itself. Its equation is used only for derivatives."""
    operands = _operands(run.node)[: len(run.node.results)]
    return [], _returned([f"np.array({name})" for name in operands])
