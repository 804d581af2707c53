"""Which temporaries are written to a workspace, memory that is kept between calls, and where.

Memory that a call gives back to the system is faulted in again, page by page, at the next call; for
a cheap operation on a large array this takes longer than the operation. A temporary whose memory no
result shares can be written to a workspace instead. The largest get their places first, each in the
lowest gap that no other occupies meanwhile (greedy by size for offset calculation, Pisarchyk and
Lee 2020, arXiv:2001.03288).

A workspace lives through the whole call. So temporaries are left out if the peak would grow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..ir.body import Body
from ..ir.cost import NOMINAL_DIM
from ..ir.dims import names_of
from ..ir.node import Node
from ..ops.results import PROJECT
from .buffers import Buffers
from .drafts import IN_PLACE
from .memory_model import resolved
from .peak import Peaks, predicted_peak
from .source_pieces import Alias, Defined, Pieces
from .statements import Program, Statement, Temporary

__all__ = ["ends_of_memory", "with_scratch", "with_workspace", "written_to"]

_GROWTH = 1 / 24
"""How much the peak may grow: places do not fit together without gaps."""
_TRIES = 4
_MOST = 256
"""How many temporaries, the largest, get a place: the time to find places is quadratic."""


def with_workspace(program: Program, texts: Mapping[str, str], buffers: Buffers) -> Program:
    """The program with temporaries in a workspace, as many as its peak allows.

    Parameters
    ----------
    program : Program
    texts : mapping of str to str
        The values that could be written to memory in row order, with the text that passes it.
    buffers : Buffers
        The memory of the values of the program.
    """
    program = _with_memory_of_loops(program, buffers)
    found = _temporaries(program, texts, buffers)[:_MOST]
    if not found:
        return program
    sizes = dict.fromkeys(_names_of_sizes(program), NOMINAL_DIM)
    peaks = Peaks(program, sizes)
    most = peaks.now * (1 + _GROWTH)
    for tried in range(_TRIES):
        few = found[: len(found) * (_TRIES - tried) // _TRIES]
        if few and peaks.with_places(dict(few)) <= most:
            placed = _placed(program, texts, few)
            if predicted_peak(placed, sizes, buffers=False) <= most:
                return placed
    return program


def _temporaries(
    program: Program, texts: Mapping[str, str], buffers: Buffers
) -> list[tuple[str, Temporary]]:
    """The temporaries that could be in a workspace, with their names, largest first."""
    ends = ends_of_memory(program, buffers)
    found: list[tuple[int, str, Temporary]] = []
    loops: dict[str, tuple[int, Defined]] = {}
    for number, statement in enumerate(program.statements):
        name = statement.target
        if isinstance(statement.pieces[0], Defined):
            loops[name] = number, statement.pieces[0]
        first = number if name in texts and statement.loop < 0 else _stacked(statement, loops)
        if first is not None and not buffers.is_handed_out(name):
            end = ends.get(buffers.memory_of(name))
            if end is not None:
                end = _end_of_loop(program, end)
                (aval,) = statement.avals
                size = resolved(aval.nbytes, None)
                found.append((size, name, Temporary(aval, first, end)))
    found.sort(key=lambda each: -each[0])
    return [(name, temporary) for _, name, temporary in found]


def _stacked(statement: Statement, loops: Mapping[str, tuple[int, Defined]]) -> int | None:
    """The number of the loop whose stacked rows a statement takes from its results, or None."""
    if statement.node.op is not PROJECT or statement.aliases != (Alias.FRESH,):
        return None
    number, function = loops.get(statement.operands[0], (0, None))
    stacked = function is not None and statement.node.params["index"] in function.stacks
    return number if stacked else None


def _end_of_loop(program: Program, number: int) -> int:
    """The last statement of the loop that a statement stands in: it is run until then."""
    statements = program.statements
    loop = statements[number].loop
    while loop >= 0 and number + 1 < len(statements) and statements[number + 1].loop == loop:
        number += 1
    return number


def with_scratch(program: Program, texts: Mapping[str, str]) -> Program:
    """The program whose loops write the values of a block to places of their own."""
    scratch: list[list[str]] = [[] for _ in program.loops]
    statements: list[Statement] = []
    for statement in program.statements:
        if statement.loop >= 0 and statement.target in texts:
            mine = scratch[statement.loop]
            place = f"t{len(mine)}"
            mine.append(statement.target)
            statement = written_to(statement, texts[statement.target], place)
        statements.append(statement)
    loops = [replace(a, scratch=tuple(b)) for a, b in zip(program.loops, scratch, strict=True)]
    return replace(program, statements=tuple(statements), loops=tuple(loops))


def _with_memory_of_loops(program: Program, buffers: Buffers) -> Program:
    """The program with a temporary for each value that a loop writes to a place of its own."""
    ends = ends_of_memory(program, buffers) if program.loops else {}
    places = {name for each in program.loops for name in each.scratch}
    found = [
        Temporary(each.avals[0], number, ends[buffers.memory_of(each.target)], each.loop, each.axis)
        for number, each in enumerate(program.statements)
        if each.target in places
    ]
    return replace(program, workspace=tuple(found))


def ends_of_memory(program: Program, buffers: Buffers) -> dict[str, int]:
    """For each memory the number of the last statement that reads or writes it.

    Memory that a user's kernel reads or writes is left out: the kernel may keep the array.
    """
    ends: dict[str, int] = {}
    left_out: set[str] = set()
    results = {*program.results}
    for number, statement in enumerate(program.statements):
        memory = [buffers.memory_of(name) for name in statement.operands]
        if statement.target and statement.target not in results:
            memory.append(buffers.memory_of(statement.target))
        ends.update(dict.fromkeys(memory, number))
        if _runs_custom(statement.node):
            left_out.update(memory)
    return {name: end for name, end in ends.items() if name not in left_out}


def _runs_custom(node: Node) -> bool:
    """Whether a user's kernel runs: that of the node, or one in a body."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each.op.custom:
            return True
        for value in each.params.values():
            if isinstance(value, Body):
                waiting.extend(value.dag.nodes)
    return False


def _names_of_sizes(program: Program) -> set[str]:
    avals = [aval for each in program.statements for aval in each.avals]
    avals += [node.aval for node in program.dag.inputs.values()]
    return {name for aval in avals for dim in aval.shape for name in names_of(dim)}


def _placed(
    program: Program, texts: Mapping[str, str], chosen: Sequence[tuple[str, Temporary]]
) -> Program:
    """The program with these temporaries in its workspace, in the order of its statements."""
    in_order = sorted(chosen, key=lambda each: each[1].first)
    places = {name: f"w[{number}]" for number, (name, _) in enumerate(in_order)}

    rows: dict[str, dict[int, str]] = {}
    for each in program.statements:
        if each.target in places and each.target not in texts:
            rows.setdefault(each.operands[0], {})[each.node.params["index"]] = places[each.target]

    def placed(statement: Statement) -> Statement:
        if statement.target in rows:
            return _stacking_in(statement, rows[statement.target])
        if statement.target in places and statement.target in texts:
            return written_to(statement, texts[statement.target], places[statement.target])
        return statement

    return replace(
        program,
        statements=tuple([placed(each) for each in program.statements]),
        workspace=(*[temporary for _, temporary in in_order], *program.workspace),
    )


def _stacking_in(statement: Statement, places: Mapping[int, str]) -> Statement:
    """The call of a loop's function that writes these of its results to places."""
    function, *rest, last = statement.pieces
    assert isinstance(function, Defined)
    given = tuple(sorted(places))
    function = Defined(function.node, function.keep, given)
    passed = "".join([f", {places[index]}" for index in given])
    pieces: Pieces = (function, *rest, f"{last}"[:-1], passed, ")")
    return replace(statement, pieces=pieces, given=given)


def written_to(statement: Statement, text: str, place: str) -> Statement:
    """The statement, its result written to a place that is passed by this text."""
    *first, last = statement.pieces
    pieces: Pieces = (*first, f"{last}"[:-1], text, place, ")") if text != IN_PLACE else (place,)
    return replace(statement, pieces=pieces, place=place)
