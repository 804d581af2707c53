"""How a loop is cut into parts that several threads compute.

A part is some rows of the loop, or some of its numbers if it is a single row. A result over all
rows is one number, or one of each column, for each part; NumPy then combines these. Where a loop is
cut depends on its sizes alone, so results do not depend on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

from ..ir.avals import Aval
from ..records import record
from .groups import END, LEAST_SHARED
from .loop_plan import LoopPlan

__all__ = ["MOST_PARTS", "Length", "Parts", "is_of_parts", "length_of", "parts_of"]

LEAST_PART = 2**16
MOST_PARTS = 32
_LEAST_ROWS = 16
"""Rows of a part whose sums over rows are kept: these sums then need little memory."""
_ALIGNED = 64
_WITH_COLUMNS = 4
"""How much larger a loop must be if sums of columns are kept for each part."""

Length: TypeAlias = "int | tuple[int, int]"
"""A length, or the number of an array and of the axis that has it."""


@record
class Parts:
    """How the loop of a group is cut.

    Parameters
    ----------
    cut, across : tuple of Length
        Their products are the numbers of what is cut (rows, or numbers of a single row), and of
        what each of these holds.
    combined : tuple of tuple
        For each result over all parts: its place among the arrays of a call, that of the results of
        parts, and NumPy's name of the ufunc that combines them.
    least : int
        The least rows of a part.
    """

    cut: tuple[Length, ...]
    across: tuple[Length, ...]
    combined: tuple[tuple[int, int, str], ...]
    least: int

    def sizes(self, arrays: Sequence[Any]) -> tuple[int, int]:
        """The numbers of rows and of columns in a call with these arrays."""

        def total(lengths: Sequence[Length]) -> int:
            known = [
                each if isinstance(each, int) else arrays[each[0]].shape[each[1]]
                for each in lengths
            ]
            return prod(known)

        return total(self.cut), total(self.across)

    def bounds(self, rows: int, columns: int) -> list[tuple[int, int]]:
        """The first row of each part and how many it has; empty if it is not worth it."""
        of_columns = bool(self.across) and self.least > 1
        if rows * columns < LEAST_SHARED * (_WITH_COLUMNS if of_columns else 1):
            return []
        count = min(MOST_PARTS, rows * columns // LEAST_PART, rows // self.least)
        starts = [number * rows // max(count, 1) for number in range(count + 1)]
        if not self.across:
            starts = [*[start // _ALIGNED * _ALIGNED for start in starts[:-1]], rows]
        return [(start, stop - start) for start, stop in pairwise(starts)] if count > 1 else []


def is_of_parts(plan: LoopPlan, name: str) -> bool:
    """Whether a value is known when all parts are computed: a reduction over all of them."""
    placed = plan.placed[name]
    single = not plan.group.rows and placed.form == "row" and placed.stage > 0
    return placed.stage == END or single


def length_of(plan: LoopPlan, avals: Mapping[str, Aval], axis: int) -> Length:
    """The length of an axis of the space."""
    dim = plan.group.space[axis]
    if isinstance(dim, int):
        return dim
    for number, each in enumerate(plan.parameters):
        axes = plan.placed[each.name].axes
        if each.role != "scratch" and axis in axes:
            assert avals[each.name].shape[axes.index(axis)] == dim
            return number, axes.index(axis)
    raise AssertionError(f"no array has axis {axis}")


def parts_of(plan: LoopPlan, avals: Mapping[str, Aval]) -> Parts:
    """How the loop of a group is cut; the results of parts follow its other arrays in a call."""
    group = plan.group
    rows, columns = [
        tuple([length_of(plan, avals, axis) for axis in sorted(axes)])
        for axes in (group.rows, group.columns)
    ]
    combined: list[tuple[int, int, str]] = []
    for number, each in enumerate(plan.parameters):
        if each.role == "out" and is_of_parts(plan, each.name):
            reduction = plan.of[each.name].reduction
            assert reduction is not None
            combined.append((number, len(plan.parameters) + len(combined), reduction.ufunc))
    of_columns = any(plan.parameters[k].form == "column" for k, _, _ in combined)
    least = _LEAST_ROWS if of_columns else 1
    if not group.rows:
        rows, columns, least = columns, (), _ALIGNED
    return Parts(rows, columns, tuple(combined), least)
