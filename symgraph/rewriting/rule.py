"""Rules: identities with both sides as data, applied at nodes; packs of them.

A rule holds mathematics only: the driver carries origins, checks shapes and dtypes, and counts.
`statement` makes a rule of a typed function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from ..array import Array
from ..errors import RewriteError, RuleError, SymgraphError
from ..facts import OF_SQUARES, Fact, is_square
from ..ir.dims import Shape, known_equal
from ..ir.fact_inference import Knowledge
from ..ir.node import Node
from ..ops.creation import constant_of, full
from .conditions import Declined, applying
from .guards import Guard
from .pattern import (
    Bindings,
    OpPattern,
    Pattern,
    Static,
    Variable,
    instantiated,
    matches,
    subterms,
)
from .pattern import Literal as Number

__all__ = [
    "SOUNDNESS",
    "Fired",
    "Identity",
    "Rule",
    "RulePack",
    "Soundness",
    "admits",
]

Soundness: TypeAlias = Literal["exact", "rounding", "domain"]
SOUNDNESS: tuple[Soundness, ...] = ("exact", "rounding", "domain")
"""From the strictest: equal bit for bit; in exact arithmetic; where the left is defined."""

Identity: TypeAlias = tuple[Array, Array | float | int | bool]
"""Left and right side of a rule; a number on the right fills the left side's shape."""


def admits(trust: Soundness, sound: Soundness) -> bool:
    """Whether a user who trusts `trust` accepts a rule that is `sound`."""
    return SOUNDNESS.index(sound) <= SOUNDNESS.index(trust)


@dataclass(frozen=True, slots=True)
class Fired:
    """What applying a rule at a node gave."""

    node: Node
    sound: Soundness


@dataclass(frozen=True, eq=False)
class Rule:
    """An identity with all that the driver, the catalogue and the verifier need.

    Parameters
    ----------
    name : str
        The identity's name; appears in logs and errors.
    function : callable
        Gives `(left, right)` for patterns or for arrays.
    sound : "exact", "rounding" or "domain"
    lhs, rhs : Pattern
        Both sides as data.
    variables : tuple of Variable
        Array parameters with their guards, in order.
    statics : tuple of Static
        Parameters that stand for axes, shapes, dtypes.
    earned : mapping
        Better grades, each with the further guards that earn it, by variable.
    measure : str
        What the rule lowers, if it is not the number of operations: the argument that it ends.
    stable : str
        For rules whose gain is digits or range, where the right side is better; such rules answer
        to no cost.
    priority : int
        Rules of higher priority are tried first; then those with the larger left side.
    limit : str
        What the right side is by convention where an operand is infinite, if it is not the limit
        of the left side.
    kink : str
        Where the two sides have another derivative by convention: such a rule is not used on what
        is yet to be differentiated.
    """

    name: str
    function: Callable[..., Any]
    sound: Soundness
    doc: str
    lhs: OpPattern
    rhs: Pattern
    variables: tuple[Variable, ...]
    statics: tuple[Static, ...]
    conditions: tuple[str, ...] = ()
    needed_facts: tuple[tuple[str, Callable[[Mapping[str, Any]], Fact]], ...] = ()
    earned: Mapping[Soundness, Mapping[str, tuple[Guard, ...]]] = field(
        default_factory=dict[Soundness, Mapping[str, tuple[Guard, ...]]]
    )
    measure: str = ""
    stable: str = ""
    priority: int = 0
    limit: str = ""
    kink: str = ""

    def __str__(self) -> str:
        guards = [
            f"{variable.name}: {guard.name}"
            for variable in self.variables
            for guard in variable.guards
            if guard.name != "real"
        ]
        given = [*guards, *self.conditions]
        return f"{self.lhs} → {self.rhs}" + (f"   if {', '.join(given)}" if given else "")

    def __repr__(self) -> str:
        return f"<rule {self.name} [{self.sound}]: {self}>"

    # -- applying --------------------------------------------------------------------------------
    def fits(self, node: Node) -> bool:
        """Whether the operations are those of the left side: without it `apply` gives None."""
        return next(matches(self.lhs, node), None) is not None

    def apply(
        self, node: Node, knowledge: Knowledge, trust: Soundness = "rounding"
    ) -> Fired | None:
        """What stands for `node` by this rule, or None where it does not apply.

        The left side is built anew from what was matched and must be `node` itself, so a param the
        pattern did not compare (an axis, keepdims, a dtype) cannot slip through; the right side
        must have its dtype and shape.

        Raises
        ------
        RewriteError
            If the rule cannot build its right side: a fault of the rule.
        """
        for found in matches(self.lhs, node):
            sound = self._grade(found, knowledge, trust)
            result = None if sound is None else self._right_side(found, node, knowledge)
            if sound is not None and result is not None and result is not node:
                return Fired(result, sound)
        return None

    def bound(self, node: Node, after: Node, knowledge: Knowledge) -> Bindings | None:
        """What each variable stood for where the rule made `after` of `node`; None if it cannot."""
        for found in matches(self.lhs, node):
            if self._grade(found, knowledge, "domain") is None:
                continue
            if self._right_side(found, node, knowledge) is after:
                return found
        return None

    def _grade(self, found: Bindings, knowledge: Knowledge, trust: Soundness) -> Soundness | None:
        """The grade at which the rule holds for these operands, None if that is not trusted."""
        for name in self._squares:
            if not is_square(found[name].aval.shape):
                return None
        for variable in self.variables:
            for guard in variable.guards:
                if not guard.holds(found[variable.name], knowledge):
                    return None
        if admits(trust, self.sound):
            return self.sound
        for sound, guards in self.earned.items():
            if admits(trust, sound) and all(
                guard.holds(found[name], knowledge) for name in guards for guard in guards[name]
            ):
                return sound
        return None

    @cached_property
    def _squares(self) -> tuple[str, ...]:
        """Variables that must be square: seen at once, while a fact is sought in all below."""
        asked = {each.name: [f for g in each.guards for f in g.facts] for each in self.variables}
        return tuple(name for name, facts in asked.items() if not OF_SQUARES.isdisjoint(facts))

    def environment(self, found: Bindings) -> dict[str, Any]:
        """The values of the rule's parameters: arrays for variables, params for statics."""
        env: dict[str, Any] = {each.name: Array(found[each.name]) for each in self.variables}
        env.update({each.name: found[each.name] for each in self.statics})
        return env

    @cached_property
    def _structural(self) -> bool:
        """Whether matching compares all there is, so that the left side need not be built anew."""
        return not any(isinstance(part, OpPattern) and part.params for part in subterms(self.lhs))

    def _is_lhs(self, found: Bindings, node: Node) -> bool:
        """Whether the left side, built anew from what was matched, is the node."""
        if self._structural:
            return True
        try:
            rebuilt = instantiated(self.lhs, self.environment(found), found)
        except SymgraphError:
            return False
        return rebuilt.node is node

    def misfit(self, node: Node, knowledge: Knowledge) -> Array | None:
        """A right side that has not the shape and dtype of `node`, which its left side fits.

        Such a rule declines. Where its operands are all alike, that is hardly what it meant.
        """
        for found in matches(self.lhs, node):
            if self._grade(found, knowledge, "domain") is None:
                continue
            right = self._applied(found, node, knowledge)
            if isinstance(right, Array) and _as_wide(right, node) is None:
                return right
        return None

    def _right_side(self, found: Bindings, node: Node, knowledge: Knowledge) -> Node | None:
        right = self._applied(found, node, knowledge)
        return None if right is None else _as_wide(right, node)

    def _applied(self, found: Bindings, node: Node, knowledge: Knowledge) -> Any:
        """The right side for what was matched; None if a condition or a param does not fit."""
        try:
            with applying(knowledge):
                left, right = self.function(**self.environment(found))
        except Declined:
            return None
        except Exception as error:
            if not self._is_lhs(found, node):
                return None
            if not isinstance(error, SymgraphError):
                raise
            if any(isinstance(key, Number) and found[key].ndim for key in found):
                return None  # a uniform array stands for a number here, and gave the left its shape
            raise RewriteError(
                f"Rule {self.name} cannot build its right side: {error.what}",
                [str(self), f"at {node!r}   from {node.origin}"],
            ) from error
        # Operands in another order, or numbers in another shape, give another node.
        same = isinstance(left, Array) and left.node is node
        return right if same or self._is_lhs(found, node) else None


def _as_wide(right: Any, node: Node) -> Node | None:
    """The right side's node; None where it has not the left side's dtype and shape."""
    aval = node.aval
    if not isinstance(right, Array):
        if not aval.shape:
            return constant_of(right, aval.dtype).node
        return full(aval.shape, right, aval.dtype).node
    if right.dtype != aval.dtype or not _same_shape(right.shape, aval.shape):
        return None
    return right.node


def _same_shape(one: Shape, other: Shape) -> bool:
    return one == other or (
        len(one) == len(other) and all(known_equal(a, b) for a, b in zip(one, other, strict=True))
    )


# -- packs -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class RulePack:
    """Rules under one name: a value, made by hand or from the rules a module holds.

    Raises
    ------
    RuleError
        If two of its rules have one name.
    """

    name: str
    rules: tuple[Rule, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for each in self.rules:
            if each.name in seen:
                raise RuleError(f"Pack {self.name!r} has two rules named {each.name!r}.")
            seen.add(each.name)

    @classmethod
    def of(cls, name: str, *sources: Any) -> RulePack:
        """The pack of all rules in the given modules, packs and rules, in order of definition."""
        found: list[Rule] = []
        for source in sources:
            if isinstance(source, Rule):
                found.append(source)
            elif isinstance(source, RulePack):
                found.extend(source.rules)
            else:
                found.extend(each for each in vars(source).values() if isinstance(each, Rule))
        return cls(name, tuple(found))

    def __add__(self, other: RulePack) -> RulePack:
        return RulePack(f"{self.name}+{other.name}", (*self.rules, *other.rules))

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def catalogue(self) -> str:
        """The table of rules: grade, name, both sides."""
        width = max((len(each.name) for each in self.rules), default=0)
        return "\n".join(f"{each.sound:8}  {each.name:{width}}  {each}" for each in self.rules)
