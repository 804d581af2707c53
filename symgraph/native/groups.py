"""Groups of statements that one loop computes.

A group has a space, the axes of its largest values. Each of its values varies along all axes of the
space, or along the first few (a value of each row), or along the last few (of each column), or
along none. Reductions lead from one to the other. A sum over the columns is known at the end of a
row, so a row may be gone through several times, in stages; a sum over the rows is known at the end
of the loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ..ir.avals import Aval
from ..ir.dims import Dim
from ..lowering.drafts import Draft
from ..records import record
from .readings import Reading

__all__ = ["END", "LEAST_SHARED", "Group", "Item", "Placed"]

END = 1 << 30
"""The stage of a value that is known after the loop only."""

LEAST_SHARED = 2**18
"""A loop of fewer numbers is computed by one thread: a second one costs 20 microseconds."""

Item: TypeAlias = "Draft | Group"


@record
class Placed:
    """Where a value lies in the space.

    Parameters
    ----------
    axes : tuple of int or None
        The axis of the space that each of its axes is; None for an axis of length one.
    form : str
        `"full"`, `"row"`, `"column"` or `"one"`.
    stage : int
        The stage in which it is computed, or from which on it is known.
    """

    axes: tuple[int | None, ...]
    form: str
    stage: int


class _Apart(Exception):
    """The statement cannot join."""


@dataclass
class Group:
    """Statements that one loop computes.

    Parameters
    ----------
    space : tuple of Dim
    split : int or None
        How many axes count rows; None while there are no rows: the loop is then a single row.
    members : list of Reading
    placed : mapping of str to Placed
        Of each value computed or read.
    results : tuple of str
        The values that others read.
    parted : bool
        Whether several threads may compute it: nothing then reads a result over all rows.
    """

    space: tuple[Dim, ...]
    split: int | None = None
    members: list[Reading] = field(default_factory=list[Reading])
    placed: dict[str, Placed] = field(default_factory=dict[str, Placed])
    targets: set[str] = field(default_factory=set[str])
    results: tuple[str, ...] = ()
    parted: bool = False

    @property
    def whole(self) -> frozenset[int]:
        """The axes of the space that are longer than one."""
        return frozenset([k for k, dim in enumerate(self.space) if dim != 1])

    @property
    def rows(self) -> frozenset[int]:
        return frozenset([k for k in self.whole if k < (self.split or 0)])

    @property
    def columns(self) -> frozenset[int]:
        return self.whole - self.rows

    def join(self, reading: Reading, avals: Mapping[str, Aval]) -> bool:
        """Take a statement in, if the loop can compute it."""
        for split in [self.split] if self.split is not None else [None, *self._splits()]:
            before = self.split, dict(self.placed)
            self.split = split
            try:
                if split != before[0]:
                    self._place_again(avals)
                self._place(reading, avals)
            except _Apart:
                self.split, self.placed = before
                continue
            self.members.append(reading)
            self.targets.add(reading.target)
            return True
        return False

    def _splits(self) -> list[int]:
        """Where rows may end."""
        if len(self.space) < 2:
            return []
        return [*range(len(self.space) - 1, 0, -1)]

    def _place_again(self, avals: Mapping[str, Aval]) -> None:
        self.placed = {}
        for each in self.members:
            self._place(each, avals)

    def _form(self, support: frozenset[int]) -> str:
        if not support:
            return "one" if self.rows else "row"
        if support == self.whole:
            return "full"
        if support == self.rows:
            return "row"
        if support == self.columns:
            return "column"
        raise _Apart

    # -- one statement -----------------------------------------------------------------------------
    def _place(self, reading: Reading, avals: Mapping[str, Aval]) -> None:
        if reading.function is not None:
            found = self._elementwise(reading, avals)
        elif reading.reduction is not None:
            found = self._reduced(reading, avals)
        else:
            found = self._reshaped(reading)
        if len(found.axes) != reading.result.ndim:
            raise _Apart
        self.placed[reading.target] = found

    def _elementwise(self, reading: Reading, avals: Mapping[str, Aval]) -> Placed:
        known: dict[int, int] = {}  # By the place of an axis, counted from the last.
        for name in reading.names:
            placed = self.placed.get(name)
            if placed is None or name not in self.targets:
                continue
            for place, axis in enumerate(reversed(placed.axes)):
                if axis is not None and known.setdefault(place, axis) != axis:
                    raise _Apart
        axes = self._axes_of_result(reading.result.shape, known)
        stage, late = 0, False
        support: set[int] = set()
        for name in reading.names:
            placed = self.placed.get(name) or self._outside(avals[name], axes)
            if name not in self.targets:
                again = self._outside(avals[name], axes)
                if placed.form != again.form:
                    raise _Apart
                placed = again
            self.placed[name] = placed
            support |= {axis for axis in placed.axes if axis is not None}
            late = late or placed.stage == END
            stage = max(stage, placed.stage)
        if reading.repeats:
            support = {axis for axis in axes if axis is not None}
        form = self._form(frozenset(support))
        if form == "column" or (late and form != "one") or self._is_of_parts(stage):
            raise _Apart
        axes_of = tuple([axis if axis in support else None for axis in axes])
        return Placed(axes_of, form, stage)

    def _axes_of_result(
        self, shape: tuple[Dim, ...], known: Mapping[int, int]
    ) -> tuple[int | None, ...]:
        """The axis of the space for each axis of an elementwise result."""
        rank = len(self.space)
        usual = all(axis == rank - 1 - place for place, axis in known.items())
        found: list[int | None] = []
        for place, dim in enumerate(reversed(shape)):
            axis = known.get(place)
            if axis is None and dim != 1:
                if not usual or place >= rank:
                    raise _Apart
                axis = rank - 1 - place
            # The sum of a column and a row, both of the rows' length, is a square.
            if axis is not None and (self.space[axis] != dim or axis in found):
                raise _Apart
            found.append(axis)
        return tuple(reversed(found))

    def _outside(self, aval: Aval, axes: tuple[int | None, ...]) -> Placed:
        """An operand that is computed elsewhere, beside a result with these axes."""
        found: list[int | None] = []
        for place, dim in enumerate(reversed(aval.shape)):
            axis = axes[len(axes) - 1 - place]
            if dim != 1 and (axis is None or self.space[axis] != dim):
                raise _Apart
            found.append(axis if dim != 1 else None)
        support = frozenset([axis for axis in found if axis is not None])
        return Placed(tuple(reversed(found)), self._form(support), 0)

    def _reduced(self, reading: Reading, avals: Mapping[str, Aval]) -> Placed:
        (name,) = reading.names
        placed = self.placed.get(name) if name in self.targets else None
        if placed is None:
            spare = len(self.space) - avals[name].ndim
            if spare < 0:
                raise _Apart
            placed = self._outside(avals[name], tuple(range(spare, len(self.space))))
            if name in self.placed and self.placed[name].form != placed.form:
                raise _Apart
            self.placed[name] = placed
        gone = {placed.axes[each] for each in reading.axes} - {None}
        if placed.stage == END or placed.form in ("one", "column") or not gone:
            raise _Apart
        axes = tuple(
            [
                None if k in reading.axes else axis
                for k, axis in enumerate(placed.axes)
                if reading.kept or k not in reading.axes
            ]
        )
        support = frozenset([axis for axis in axes if axis is not None])
        form = self._form(support)
        if reading.initial is not None and self._is_of_parts(
            placed.stage + 1 if placed.form == "full" and form == "row" else END
        ):
            raise _Apart  # Each part would begin with it.
        if placed.form == "full" and form == "row":
            return Placed(axes, form, placed.stage + 1)
        if form == placed.form or form not in ("one", "column"):
            raise _Apart
        return Placed(axes, form, END)

    def _is_of_parts(self, stage: int) -> bool:
        """Whether a value of this stage is known when all parts of the loop are computed."""
        return self.parted and (stage == END or (stage > 0 and not self.rows))

    def _reshaped(self, reading: Reading) -> Placed:
        (name,) = reading.names
        if name not in self.targets:
            raise _Apart
        placed = self.placed[name]
        if placed.form == "column" or self._is_of_parts(placed.stage):
            raise _Apart  # It lies in memory; NumPy looks at it in another shape for nothing.
        axes = tuple([None if each is None else placed.axes[each] for each in reading.places])
        kept = {each for each in axes if each is not None}
        if kept != {each for each in placed.axes if each is not None}:
            raise _Apart
        return Placed(axes, placed.form, placed.stage)
