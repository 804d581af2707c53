"""Make a failing program smaller while it still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from .program import Line, Program

__all__ = ["shrunk"]


def shrunk(program: Program, fails: Callable[[Program], bool], tries: int = 400) -> Program:
    """The smallest program found for which `fails` holds."""
    progress = True
    while progress and tries > 0:
        progress = False
        for smaller in _smaller(program):
            tries -= 1
            if tries <= 0:
                break
            if _is_valid(smaller) and fails(smaller):
                program, progress = smaller, True
                break
    return program


def _is_valid(program: Program) -> bool:
    try:
        with np.errstate(all="ignore"):
            value = program.function(np, _sp(), **program.values)
    except Exception:
        return False
    return np.ndim(value) == 0 and bool(np.isfinite(value)) and bool(program.targets)


def _sp() -> object:
    from .namespaces import NUMPY

    return NUMPY.sp


def _smaller(program: Program) -> Iterator[Program]:
    """Candidates: end earlier, leave a line out, drop facts."""
    first = len(program.inputs)
    for stop in range(1, len(program.lines)):
        lines = program.lines[:stop]
        yield replace(program, lines=lines).trimmed()
        total = Line("np.sum({0})", (first + stop - 1,))
        yield replace(program, lines=(*lines, total)).trimmed()
    for position in range(len(program.lines) - 1, -1, -1):
        for stand_in in dict.fromkeys(program.lines[position].args):
            yield _without(program, position, stand_in).trimmed()
    for position, each in enumerate(program.inputs):
        if each.assume:
            inputs = list(program.inputs)
            inputs[position] = replace(each, assume="")
            yield replace(program, inputs=tuple(inputs))


def _without(program: Program, position: int, stand_in: int) -> Program:
    """The program where an operand stands for the line that used it."""
    here = len(program.inputs) + position

    def moved(argument: int) -> int:
        return stand_in if argument == here else argument - (argument > here)

    lines = [
        Line(line.text, tuple(moved(a) for a in line.args))
        for i, line in enumerate(program.lines)
        if i != position
    ]
    return replace(program, lines=tuple(lines))
