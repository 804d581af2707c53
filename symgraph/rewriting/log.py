"""The derivation: which rule fired, on what, with what result, where, how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..dag import Node, Origin, reachable
from .rule import Soundness

__all__ = ["Log", "Step"]


@dataclass(frozen=True, slots=True)
class Step:
    """One rewrite.

    Parameters
    ----------
    rule : str
        The identity's name.
    before, after : Node
        The value replaced and what stands for it.
    where : Origin
        The user's lines of the value replaced.
    sound : "exact", "rounding" or "domain"
        The grade at which the rule held here.
    """

    rule: str
    before: Node
    after: Node
    where: Origin
    sound: Soundness

    def __str__(self) -> str:
        place = f"   at {self.where}" if str(self.where) else ""
        return f"{self.rule} [{self.sound}]: {self.before!r} → {self.after!r}{place}"


@dataclass
class Log:
    """All rewrites of a simplification, in order, with counts and times by rule."""

    steps: list[Step] = field(default_factory=list[Step])
    tried: Counter[str] = field(default_factory=Counter[str])
    seconds: dict[str, float] = field(default_factory=dict[str, float])

    def record(self, rule: str, before: Node, after: Node, sound: Soundness = "rounding") -> None:
        """Add a rewrite."""
        self.steps.append(Step(rule, before, after, before.origin, sound))

    @property
    def fired(self) -> Counter[str]:
        """How often each rule fired."""
        return Counter(step.rule for step in self.steps)

    def leading_to(self, outputs: Iterable[Node]) -> list[Step]:
        """The steps that led to the given nodes, in order."""
        wanted = set(reachable(outputs))
        kept: list[Step] = []
        for step in reversed(self.steps):
            if step.after in wanted:
                wanted.update(reachable([step.before]))
                kept.append(step)
        return kept[::-1]

    def profile(self) -> str:
        """A table: rule, times fired, times tried, milliseconds."""
        fired = self.fired
        names = sorted({*fired, *self.tried}, key=lambda name: (-self.seconds.get(name, 0.0), name))
        spent = {name: 1e3 * self.seconds.get(name, 0.0) for name in names}
        rows = [
            f"{name:32} {fired[name]:7} {self.tried[name]:7} {spent[name]:9.2f}" for name in names
        ]
        return "\n".join([f"{'rule':32} {'fired':>7} {'tried':>7} {'ms':>9}", *rows])

    def extend(self, other: Log) -> None:
        """Add another log's steps after these."""
        self.steps.extend(other.steps)
        self.tried.update(other.tried)
        for name, seconds in other.seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def __len__(self) -> int:
        return len(self.steps)
