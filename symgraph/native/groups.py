"""Groups of statements that one loop computes.

A group has a space, the axes of its largest values. Each of its values varies along all axes of the
space, or along the first few (a value of each row), or along the last few (of each column), or
along none. Reductions lead from one to the other. A sum over the columns is known at the end of a
row, so a row may be gone through several times, in stages; a sum over the rows is known at the end
of the loop.

Groups are formed as in `lowering.fusion`: a group grows from its first statement along the program;
what it does not need comes before it, what needs its late results comes after it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from ..ir.avals import Aval
from ..ir.dims import Dim
from ..lowering.drafts import Draft
from .readings import Number, Reading, reading_of

__all__ = ["END", "LEAST_SHARED", "Group", "Item", "Placed", "alone", "grouped"]

END = 1 << 30
"""The stage of a value that is known after the loop only."""
_WINDOW = 400
_MOST_MEMBERS = 300
_MOST_STEPS = 400_000
_SMALL = 2**18
"""A statement that shares no operand with a group joins it if its result has fewer bytes."""

LEAST_SHARED = 2**18
"""A loop of fewer numbers is computed by one thread: a second one costs 20 microseconds."""

Item: TypeAlias = "Draft | Group"


@dataclass(frozen=True, slots=True)
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
        for split in [self.split] if self.split is not None else [None, *self._splits(reading)]:
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

    def _splits(self, reading: Reading) -> list[int]:
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


# -- forming groups ----------------------------------------------------------------------------
def grouped(
    drafts: Sequence[Draft],
    avals: Mapping[str, Aval],
    numbers: Mapping[str, Number],
    results: Collection[str],
    *,
    parted: bool = False,
) -> list[Item]:
    """The statements of a program, groups of them together.

    Parameters
    ----------
    drafts : sequence of Draft
    avals : mapping of str to Aval
        Of the inputs and constants.
    numbers : mapping of str to Number
        The constants that are one number.
    results : collection of str
        The names of the program's results.
    parted : bool
        Whether groups that may be large are such that several threads can compute them.
    """
    known = dict(avals)
    for draft in drafts:
        if len(draft.line.avals) == 1:
            known[draft.target] = draft.line.avals[0]
    readers: dict[str, list[str]] = {}
    for draft in drafts:
        for name in draft.names:
            readers.setdefault(name, []).append(draft.target)
    readings = {
        draft.target: reading
        for draft in drafts
        for reading in [reading_of(draft, known, numbers)]
        if reading is not None
    }
    former = _Former(known, readings, readers, {*results}, parted)
    return former.formed(drafts)


def alone(draft: Draft, avals: Mapping[str, Aval], numbers: Mapping[str, Number]) -> Group | None:
    """A group of one statement; None if no loop computes it.

    Operands that vary along axes of their own are placed as if they had the shape of the result:
    the group is for copies of them that have it.

    Parameters
    ----------
    draft : Draft
    avals : mapping of str to Aval
        Of all values.
    numbers : mapping of str to Number
        The constants that are one number.
    """
    reading = reading_of(draft, avals, numbers)
    if reading is None or not (reading.function or reading.reduction):
        return None
    wide = dict(avals)
    if reading.function is not None:
        shape = reading.result.shape
        wide.update({name: avals[name].with_shape(shape) for name in reading.names})
    for each in (avals, wide):
        group = Group(_space(reading, each), results=(draft.target,))
        if group.join(reading, each):
            return group
    return None


def _space(reading: Reading, avals: Mapping[str, Aval]) -> tuple[Dim, ...]:
    """The axes of the largest value that a statement reads or computes."""
    shapes = [reading.result.shape, *[avals[name].shape for name in reading.names]]
    return max(shapes, key=lambda each: (sum([dim != 1 for dim in each]), len(each)))


@dataclass
class _Former:
    avals: Mapping[str, Aval]
    readings: Mapping[str, Reading]
    readers: Mapping[str, Sequence[str]]
    results: Collection[str]
    parted: bool
    left: int = _MOST_STEPS

    def formed(self, drafts: Sequence[Draft]) -> list[Item]:
        """Take groups off the front until nothing waits."""
        waiting = list(drafts)
        found: list[Item] = []
        start = 0
        while start < len(waiting):
            draft = waiting[start]
            reading = self.readings.get(draft.target)
            group = None
            if reading is not None and self.left > 0:
                group, before, after = self._grown(reading, waiting[start:])
                if group is not None:
                    found.extend(before)
                    found.append(group)
                    waiting, start = after, 0
                    continue
            found.append(draft)
            start += 1
        return found

    def _grown(
        self, first: Reading, waiting: Sequence[Draft]
    ) -> tuple[Group | None, list[Draft], list[Draft]]:
        """The group that begins with a statement, and what comes before and after it."""
        window = waiting[:_WINDOW]
        group, before, after = self._once(first, window, ())
        wanted = self._wanted(group, before)
        if wanted:
            group, before, after = self._once(first, window, wanted)
        self._finish(group)
        # Without the first, nothing in the group may have the axes of its space.
        if first.target not in group.targets or not self._pays(group):
            return None, [], []
        return group, before, [*after, *waiting[len(window) :]]

    def _once(
        self, first: Reading, window: Sequence[Draft], wanted: Collection[str]
    ) -> tuple[Group, list[Draft], list[Draft]]:
        """A group with these statements among others, if they can join."""
        space = _space(first, self.avals)
        large = any(not isinstance(each, int) for each in space) or prod(space) >= LEAST_SHARED
        group = Group(space, parted=self.parted and bool(large))
        before: list[Draft] = []
        after: list[Draft] = []
        late: set[str] = set()
        touched: set[str] = set()
        self.left -= len(window)
        for draft in window:
            reading = self.readings.get(draft.target)
            if (
                reading is not None
                and late.isdisjoint(draft.names)
                and (draft.target in wanted or self._is_near(reading, group, touched))
                and self._joins(group, reading)
            ):
                touched.update(draft.names, (draft.target,))
            elif not late.isdisjoint(draft.names) or not group.targets.isdisjoint(draft.names):
                after.append(draft)
                late.add(draft.target)
            else:
                before.append(draft)
        return group, before, after

    def _wanted(self, group: Group, before: Sequence[Draft]) -> set[str]:
        """The statements before a group whose values only the group reads."""
        wanted: set[str] = set()
        for draft in reversed(before):
            name = draft.target
            readers = self.readers.get(name, ())
            if name in self.results or name not in self.readings or not readers:
                continue
            if all(reader in group.targets or reader in wanted for reader in readers):
                wanted.add(name)
        return wanted

    def _joins(self, group: Group, reading: Reading) -> bool:
        return len(group.members) < _MOST_MEMBERS and group.join(reading, self.avals)

    def _is_near(self, reading: Reading, group: Group, touched: Collection[str]) -> bool:
        """Whether joining saves a pass over memory, or costs next to nothing."""
        if not group.members or any(name in touched for name in reading.names):
            return True
        size = reading.result.nbytes
        return isinstance(size, int) and size < _SMALL

    def _finish(self, group: Group) -> None:
        """Note what others read; drop views in another shape at the end that only others read."""
        inside = group.targets
        group.results = tuple(
            [
                each.target
                for each in group.members
                if each.target in self.results
                or any(reader not in inside for reader in self.readers.get(each.target, ()))
            ]
        )

    def _pays(self, group: Group) -> bool:
        computing = [each for each in group.members if each.function or each.reduction]
        return len(computing) >= 2
