"""Rules: identities with both sides as data, applied at nodes; and packs of rules.

A rule holds mathematics only. The driver carries origins to replacements, and counts. `statement`
makes a rule from a typed function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from types import ModuleType
from typing import Any, Literal, TypeAlias

from ..array import Array, ArrayLike
from ..errors import RewriteError, RuleError, SymgraphError, UnknownSize
from ..facts import OF_SQUARES, Fact, is_square
from ..ir.dims import same_shape
from ..ir.fact_inference import Knowledge
from ..ir.node import Node
from ..ops.creation import constant_of, full
from ..records import record
from .conditions import Declined, applying
from .guards import Guard
from .left_sides import LeftSide, index_text
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
    "Statement",
    "admits",
]

Soundness: TypeAlias = Literal["exact", "rounding", "domain"]
SOUNDNESS: tuple[Soundness, ...] = ("exact", "rounding", "domain")
"""The two sides are equal bit for bit; in exact arithmetic; where the left side is defined."""

Identity: TypeAlias = tuple[Array, Array | float | int | bool]
"""The left and right side of a rule; a number on the right fills the left side's shape."""


def admits(trust: Soundness, sound: Soundness) -> bool:
    """Whether a user who accepts rules of grade `trust` accepts a rule of grade `sound`."""
    return SOUNDNESS.index(sound) <= SOUNDNESS.index(trust)


@record
class Fired:
    """The node that a rule gave, and the grade at which the rule held."""

    node: Node
    sound: Soundness


@record(eq=False)
class Statement:
    """What the function of a rule states.

    Parameters
    ----------
    lhs, rhs : Pattern
        Both sides as data.
    variables : tuple of Variable
        Array parameters with their guards, in order.
    statics : tuple of Static
        Parameters that stand for axes, shapes, dtypes.
    conditions : tuple of str
        Conditions beyond the guards, as the catalogue prints them.
    needed_facts : tuple
        Facts among the conditions: the name of a variable, and a function that gives the fact from
        the environment.
    """

    lhs: OpPattern
    rhs: Pattern
    variables: tuple[Variable, ...]
    statics: tuple[Static, ...]
    conditions: tuple[str, ...] = ()
    needed_facts: tuple[tuple[str, Callable[[Mapping[str, Any]], Fact]], ...] = ()


@record(eq=False, slots=False)
class Rule:
    """An identity with all that the driver, the catalogue and the verifier need.

    Parameters
    ----------
    name : str
        The identity's name, which appears in logs and errors.
    function : callable
        Gives `(left, right)` for patterns or for arrays.
    sound : "exact", "rounding" or "domain"
    statement : Statement or callable
        What the function states, or a function that gives it when the rule first may match.
    earned : mapping
        Better grades, each with the further guards that earn it, by variable.
    measure : str
        The quantity the rule lowers, if it is not the number of operations: so rewriting ends.
    stable : str
        Where the right side keeps digits or range that the left side loses. Such a rule need not
        lower the cost.
    priority : int
        Rules of higher priority are tried first, among equals those with the larger left side.
    limit : str
        The value of the right side, by convention, where an operand is infinite, if it is not the
        limit of the left side.
    kink : str
        Where the derivatives of the two sides differ by convention. Such a rule is not used before
        differentiating. If it begins with "everywhere", derivatives are not compared.
    shipped : LeftSide, optional
        The left side as an index of the package tells it.
    """

    name: str
    function: Callable[..., Any]
    sound: Soundness
    statement: Statement | Callable[[], Statement]
    earned: Mapping[Soundness, Mapping[str, tuple[Guard, ...]]] = field(
        default_factory=dict[Soundness, Mapping[str, tuple[Guard, ...]]]
    )
    measure: str = ""
    stable: str = ""
    priority: int = 0
    limit: str = ""
    kink: str = ""
    shipped: LeftSide | None = None

    # -- what the function states ----------------------------------------------------------------
    @cached_property
    def doc(self) -> str:
        """The docstring of the function."""
        return inspect.getdoc(self.function) or ""

    @cached_property
    def stated(self) -> Statement:
        """Both sides as data, the parameters and the conditions."""
        given = self.statement
        return given if isinstance(given, Statement) else given()

    @cached_property
    def left_side(self) -> LeftSide:
        """The operations that the left side matches."""
        return self.shipped or LeftSide.of(self.lhs)

    @cached_property
    def lhs(self) -> OpPattern:
        """The left side as data."""
        return self.stated.lhs

    @cached_property
    def rhs(self) -> Pattern:
        """The right side as data."""
        return self.stated.rhs

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """Array parameters with their guards, in order."""
        return self.stated.variables

    @cached_property
    def statics(self) -> tuple[Static, ...]:
        """Parameters that stand for axes, shapes, dtypes."""
        return self.stated.statics

    @property
    def conditions(self) -> tuple[str, ...]:
        """Conditions beyond the guards, as the catalogue prints them."""
        return self.stated.conditions

    @property
    def needed_facts(self) -> tuple[tuple[str, Callable[[Mapping[str, Any]], Fact]], ...]:
        """Facts among the conditions, by variable."""
        return self.stated.needed_facts

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
        """Whether the left side matches the node; where it does not, `apply` gives None."""
        return next(matches(self.lhs, node), None) is not None

    def apply(
        self, node: Node, knowledge: Knowledge, trust: Soundness = "rounding"
    ) -> Fired | None:
        """The replacement of `node` by this rule, or None where the rule does not apply.

        The left side is rebuilt from the bindings and must be `node` itself. So a param that the
        pattern did not compare (an axis, keepdims, a dtype) cannot differ. The right side must have
        the dtype and shape of `node`.

        Raises
        ------
        RewriteError
            If the rule cannot build its right side; then the rule is wrong.
        """
        for found in matches(self.lhs, node):
            sound = self._grade(found, knowledge, trust)
            result = None if sound is None else self._right_side(found, node, knowledge)
            if sound is not None and result is not None and result is not node:
                return Fired(result, sound)
        return None

    def bound(self, node: Node, after: Node, knowledge: Knowledge) -> Bindings | None:
        """The bindings with which the rule turns `node` into `after`; None if there are none."""
        for found in matches(self.lhs, node):
            if self._grade(found, knowledge, "domain") is None:
                continue
            if self._right_side(found, node, knowledge) is after:
                return found
        return None

    def _grade(self, found: Bindings, knowledge: Knowledge, trust: Soundness) -> Soundness | None:
        """The grade at which the rule holds for these operands; None if it is not trusted."""
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
        """Variables whose guards only square arrays pass.

        Their shape is checked first: a look at it is cheap, while facts are sought in all operands
        below.
        """
        asked = {each.name: [f for g in each.guards for f in g.facts] for each in self.variables}
        return tuple(name for name, facts in asked.items() if not OF_SQUARES.isdisjoint(facts))

    def environment(self, found: Bindings) -> dict[str, Any]:
        """The values of the rule's parameters: arrays for variables, params for statics."""
        env: dict[str, Any] = {each.name: Array(found[each.name]) for each in self.variables}
        env.update({each.name: found[each.name] for each in self.statics})
        return env

    @cached_property
    def _structural(self) -> bool:
        """Whether matching compares the whole left side, so that it need not be rebuilt."""
        return not any(isinstance(part, OpPattern) and part.params for part in subterms(self.lhs))

    def _is_lhs(self, found: Bindings, node: Node) -> bool:
        """Whether the left side, rebuilt from the bindings, is the node."""
        if self._structural:
            return True
        try:
            rebuilt = instantiated(self.lhs, self.environment(found), found)
        except SymgraphError:
            return False
        return rebuilt.node is node

    def misfit(self, node: Node, knowledge: Knowledge) -> Array | None:
        """The right side, if it lacks the shape or dtype of a node that the left side matches.

        The rule then declines. Where its operands have one shape and dtype, it is probably wrong.
        """
        for found in matches(self.lhs, node):
            if self._grade(found, knowledge, "domain") is None:
                continue
            right = self._applied(found, node, knowledge)
            if isinstance(right, Array) and _node_like(right, node) is None:
                return right
        return None

    def _right_side(self, found: Bindings, node: Node, knowledge: Knowledge) -> Node | None:
        right = self._applied(found, node, knowledge)
        return None if right is None else _node_like(right, node)

    def _applied(self, found: Bindings, node: Node, knowledge: Knowledge) -> Any:
        """The right side for these bindings; None if a condition or a param does not hold."""
        try:
            with applying(knowledge):
                left, right = self.function(**self.environment(found))
        except (Declined, UnknownSize):
            return None  # A condition that only a size decides is not known to hold.
        except Exception as error:
            if not self._is_lhs(found, node):
                return None
            if not isinstance(error, SymgraphError):
                raise
            if any(isinstance(key, Number) and found[key].ndim for key in found):
                return None  # An array matched a number, and the left side has the array's shape.
            raise RewriteError(
                f"Rule {self.name} cannot build its right side: {error.what}",
                [str(self), f"at {node!r}   from {node.origin}"],
            ) from error
        # A left side with swapped operands, or a number of another shape, is another node.
        same = isinstance(left, Array) and left.node is node
        return right if same or self._is_lhs(found, node) else None


def _node_like(right: ArrayLike, node: Node) -> Node | None:
    """The node of a right side; None if its dtype or shape is not that of `node`.

    A number fills the shape of `node`.
    """
    aval = node.aval
    if not isinstance(right, Array):
        if not aval.shape:
            return constant_of(right, aval.dtype).node
        return full(aval.shape, right, aval.dtype).node
    if right.dtype != aval.dtype or not same_shape(right.shape, aval.shape):
        return None
    return right.node


# -- packs -----------------------------------------------------------------------------------------
@record
class RulePack:
    """Rules under one name, given one by one or taken from modules.

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
    def of(cls, name: str, *sources: Rule | RulePack | ModuleType) -> RulePack:
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

    def index(self) -> str:
        """The text of a file `rules.index` for rules whose modules lie in one folder."""
        return index_text((each.function, each.name, each.lhs) for each in self.rules)
