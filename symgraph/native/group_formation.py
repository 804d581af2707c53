"""How groups are formed of the statements of a program.

As in `lowering.fusion`, a group grows from its first statement along the program; what it does not
need comes before it, what needs its late results comes after it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ..ir.avals import Aval
from ..ir.dims import Dim
from ..lowering.drafts import Draft
from .groups import LEAST_SHARED, Group, Item
from .readings import Number, Reading, reading_of

__all__ = ["alone", "grouped"]

_WINDOW = 400
_MOST_MEMBERS = 300
_MOST_STEPS = 400_000
_SMALL = 2**18
"""A statement that shares no operand with a group joins it if its result has fewer bytes."""


def grouped(
    drafts: Sequence[Draft],
    avals: Mapping[str, Aval],
    numbers: Mapping[str, Number],
    results: Collection[str],
    *,
    parted: bool = False,
    left: Collection[str] = (),
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
    left : collection of str
        The targets of statements that join no group.
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
        if draft.target not in left
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
        """Note values that others read; drop reshaped views at the end that only others read."""
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
