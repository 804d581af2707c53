"""The log of a simplification: each rewrite, with its rule, values, place and grade; each pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from ..ir.html_tables import bundle, table
from ..ir.node import Node, Origin
from ..ir.value_names import carried
from ..ir.walks import reachable
from ..records import record
from .rule import Rule, Soundness

__all__ = ["Grain", "Log", "Pass", "RuleProfile", "RuleTime", "Step"]

Grain: TypeAlias = Literal["rule", "region", "choice"]
"""A named rule; a rewritten region of sums and products; a choice, which is not an equality."""


@record
class Step:
    """One rewrite.

    Parameters
    ----------
    rule : str
        The identity's name.
    before, after : Node
        The value replaced, and its replacement.
    where : Origin
        The user's lines of the value replaced.
    sound : "exact", "rounding" or "domain"
        The grade at which the rule held here.
    by : Rule, optional
        The rule itself; regions and choices have none.
    grain : "rule", "region" or "choice"
        A rule or a region says that two values are equal. A choice, such as the mode of a Jacobian,
        says that the second was derived from the first.
    identities : tuple of str
        For a region: the identities by which its two sides are equal.
    """

    rule: str
    before: Node
    after: Node
    where: Origin
    sound: Soundness
    by: Rule | None = None
    grain: Grain = "rule"
    identities: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"   at {self.where}" if str(self.where) else ""
        return f"{self.rule} [{self.sound}]: {self.before!r} → {self.after!r}{place}"


@record
class Pass:
    """A part of the derivation: steps `start` to `stop` lead from one graph to another.

    Between the steps consumers are rebuilt and dead values left out.

    Parameters
    ----------
    what : str
        `rules`, `algebra`, `constants folded`, `equal values merged`, `differentiated`, ...
    start, stop : int
    before, after : tuple of Node
        The outputs.
    equal : bool
        Whether both graphs have the same values; they do not where the pass differentiates.
    """

    what: str
    start: int
    stop: int
    before: tuple[Node, ...]
    after: tuple[Node, ...]
    equal: bool = True


@record
class RuleTime:
    """How often one rule fired and was tried, and how long it took.

    The algebra looks at the whole graph, so it is tried at no node: `tried` is 0.
    """

    rule: str
    fired: int
    tried: int
    seconds: float


@record
class RuleProfile(Sequence[RuleTime]):
    """A row for each rule, the slowest first; prints as a table."""

    rows: tuple[RuleTime, ...]

    def __getitem__(self, index: int) -> RuleTime:  # pyright: ignore[reportIncompatibleMethodOverride]  # no slices
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, rule: object) -> bool:
        return any(rule in (row, row.rule) for row in self.rows)

    @property
    def seconds(self) -> float:
        """The time of all rules together."""
        return sum(row.seconds for row in self.rows)

    def __str__(self) -> str:
        lines = [
            f"{row.rule:32} {row.fired:7} {row.tried or '-':>7} {1e3 * row.seconds:9.2f}"
            for row in self.rows
        ]
        return "\n".join([f"{'rule':32} {'fired':>7} {'tried':>7} {'ms':>9}", *lines])

    __repr__ = __str__

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        rows = [
            (row.rule, str(row.fired), str(row.tried or "-"), f"{1e3 * row.seconds:.2f}")
            for row in self.rows
        ]
        return bundle(self, table(("rule", "fired", "tried", "ms"), rows, numbers=True))


@dataclass
class Log:
    """All rewrites of a simplification, in order, with counts and times by rule."""

    steps: list[Step] = field(default_factory=list[Step])
    tried: Counter[str] = field(default_factory=Counter[str])
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    passes: list[Pass] = field(default_factory=list[Pass])

    def record(
        self,
        rule: str,
        before: Node,
        after: Node,
        sound: Soundness = "rounding",
        by: Rule | None = None,
        *,
        identities: Sequence[str] = (),
    ) -> None:
        """Add a rewrite. Without a rule it is of a region, which is equal by `identities`.

        The names of the value go on to the node that replaces it.
        """
        carried(before, after)
        grain: Grain = "region" if by is None else "rule"
        names = tuple(identities)
        self.steps.append(Step(rule, before, after, before.origin, sound, by, grain, names))

    def choose(self, what: str, before: Node, after: Node) -> None:
        """Add a choice: how `after` was derived from `before`."""
        self.steps.append(Step(what, before, after, before.origin, "exact", None, "choice"))

    def through(
        self, what: str, before: Sequence[Node], after: Sequence[Node], *, equal: bool = True
    ) -> list[Node]:
        """Add a pass that led from `before` to `after`, by the steps since the last pass.

        The names of the outputs go on if both have the same values.
        """
        if equal:
            for old, new in zip(before, after, strict=False):
                carried(old, new)
        start = self.passes[-1].stop if self.passes else 0
        found = Pass(what, start, len(self.steps), tuple(before), tuple(after), equal)
        if found.start != found.stop or found.before != found.after:
            self.passes.append(found)
        return list(after)

    @property
    def fired(self) -> Counter[str]:
        """How often each rule fired."""
        return Counter(step.rule for step in self.steps)

    def leading_to(self, outputs: Iterable[Node]) -> list[Step]:
        """The steps on which the given nodes depend, in order."""
        wanted = set(reachable(outputs))
        kept: list[Step] = []
        for step in reversed(self.steps):
            if step.after in wanted:
                _add_all_below(step.before, wanted)
                kept.append(step)
        return kept[::-1]

    def took(self, what: str, seconds: float) -> None:
        """Add to the time of a rule, or of the algebra."""
        self.seconds[what] = self.seconds.get(what, 0.0) + seconds

    def profile(self) -> RuleProfile:
        """By rule: times fired, times tried, seconds; the slowest first."""
        fired = self.fired
        names = sorted({*fired, *self.tried}, key=lambda name: (-self.seconds.get(name, 0.0), name))
        return RuleProfile(
            tuple(
                RuleTime(name, fired[name], self.tried[name], self.seconds.get(name, 0.0))
                for name in names
            )
        )

    def extend(self, other: Log) -> None:
        """Add another log's steps after these."""
        offset = len(self.steps)
        self.steps.extend(other.steps)
        self.passes.extend(
            replace(each, start=each.start + offset, stop=each.stop + offset)
            for each in other.passes
        )
        self.tried.update(other.tried)
        for name, seconds in other.seconds.items():
            self.took(name, seconds)

    def __len__(self) -> int:
        return len(self.steps)


def _add_all_below(node: Node, found: set[Node]) -> None:
    """Add the node and all below it, where `found` has all below each of its own."""
    stack = [node]
    while stack:
        top = stack.pop()
        if top not in found:
            found.add(top)
            stack.extend(top.operands)
