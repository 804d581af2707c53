"""The plan of a loop: the operations of each stage, the values kept for later ones, its arrays."""

from __future__ import annotations

from collections.abc import Mapping

from ..records import record
from .groups import END, Group
from .operations import kind_of
from .readings import Reading

__all__ = ["LoopPlan", "Parameter"]

_RECOMPUTED = 6
"""Up to so many loads and light operations a value is computed again rather than kept."""


@record
class Parameter:
    """An array that the function of a group takes.

    Parameters
    ----------
    name : str
        The value, or that of which scratch memory holds a row.
    role : str
        `"in"`, `"out"` or `"scratch"`.
    kind : str
    form : str
        How it lies in the space, as in `Placed`.
    """

    name: str
    role: str
    kind: str
    form: str


class LoopPlan:
    """The stages of a group.

    Parameters
    ----------
    group : Group
    kinds : mapping of str to str
        The kind of each value outside of the group that it reads.

    Attributes
    ----------
    of : dict of str to Reading
        The members by the names of their values.
    kept : set of str
        The full values that lie in memory, as results or for later stages.
    stages : int
    parameters : tuple of Parameter
    """

    def __init__(self, group: Group, kinds: Mapping[str, str]) -> None:
        self.group = group
        self.placed = group.placed
        self.of = {each.target: each for each in group.members}
        self.kinds = dict(kinds)
        for each in group.members:
            found = kind_of(each.result.dtype)
            assert found is not None
            self.kinds[each.target] = found
        self.kept = {name for name in group.results if self.placed[name].form == "full"}
        self.scratch: list[str] = []
        stages = [p.stage for p in self.placed.values() if p.stage != END]
        self.stages = 1 + max(stages, default=0)
        self._choose_kept()
        self.parameters = self._parameters()

    def roots(self, stage: int) -> list[str]:
        """The full values that a stage must have: results, kept values, and what is reduced."""
        found = [
            each.target
            for each in self.group.members
            if self.placed[each.target].stage == stage
            and self.placed[each.target].form == "full"
            and each.target in self.kept
        ]
        found += [each.names[0] for each in self.reductions(stage)]
        return list(dict.fromkeys(found))

    def reductions(self, stage: int) -> list[Reading]:
        """The reductions of full values of a stage."""
        return [
            each
            for each in self.group.members
            if each.reduction is not None
            and self.placed[each.names[0]].form == "full"
            and self.placed[each.names[0]].stage == stage
        ]

    def _choose_kept(self) -> None:
        """Find the values of earlier stages that are kept, from the last stage to the first."""
        for stage in reversed(range(self.stages)):
            waiting = self.roots(stage)
            seen: set[str] = set()
            while waiting:
                name = waiting.pop()
                reading = self.of.get(name)
                if name in seen or reading is None or self.placed[name].form != "full":
                    continue
                seen.add(name)
                if self.placed[name].stage < stage:
                    if name in self.kept:
                        continue
                    if self._cost(name) > _RECOMPUTED:
                        self.kept.add(name)
                        self.scratch.append(name)
                        continue
                waiting.extend(reading.names)

    def _cost(self, name: str) -> int:
        """The loads and light operations that compute a value again; many if it is heavy."""
        reading = self.of.get(name)
        if reading is None or name in self.kept:
            return 1
        if self.placed[name].form != "full":
            return 0
        if reading.heavy:
            return _RECOMPUTED + 1
        total = 1
        for each in reading.names:
            total += self._cost(each)
            if total > _RECOMPUTED:
                break
        return total

    def _parameters(self) -> tuple[Parameter, ...]:
        read = dict.fromkeys([n for m in self.group.members for n in m.names])
        found = [
            Parameter(name, "in", self.kinds[name], self.placed[name].form)
            for name in read
            if name not in self.of
        ]
        found += [
            Parameter(name, "out", self.kinds[name], self.placed[name].form)
            for name in self.group.results
        ]
        found += [Parameter(name, "scratch", self.kinds[name], "column") for name in self.scratch]
        return tuple(found)
