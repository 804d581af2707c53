"""Facts of every node, from facts of inputs upward, and why each holds.

Each operation states what it knows of its result given what is known of its operands (`Op.facts`);
this module runs those statements over a graph, without recursion, and remembers the reasons.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from math import inf, isinf
from typing import Any, TypeAlias

import numpy as np

from ..errors import FactError
from ..facts import Fact, consistent, finite, integer_valued, interval, nonnegative, total
from .avals import Aval
from .node import Node

__all__ = ["Knowledge", "Known", "knowledge_kept", "known_before"]


Premise: TypeAlias = tuple[Node, Fact]
"""A value, and the facts that must be known of it."""


class Known:
    """The knowledge of one value: facts with the reason for each, bounds, and its aval.

    Operands that are the same node are the same `Known` object: `x is y` tells x * x from x * y.

    Attributes
    ----------
    facts : dict of Fact to Fact or None
        Every fact, with the one it follows from; None for one the operation or the user states.
    reasons : dict of Fact to str
        Who states it.
    low, high : float
        The smallest interval known to hold every element.
    operands : tuple of Known
        The knowledge of the operands of the operation that gives the value.

    Raises
    ------
    FactError
        If two facts cannot hold together.
    """

    __slots__ = ("aval", "facts", "high", "low", "node", "operands", "reasons")

    def __init__(
        self, node: Node, reasons: Mapping[Fact, str], operands: Iterable[Known] = ()
    ) -> None:
        self.node = node
        self.operands = tuple(operands)
        self.aval: Aval = node.aval
        self.reasons = reasons
        self.facts, self.low, self.high = _consequences(tuple(self.reasons), self.aval.dtype.char)

    @property
    def bounds(self) -> tuple[float, float]:
        """`low` and `high`."""
        return self.low, self.high

    def has(self, fact: Fact) -> bool:
        """Whether the fact is known."""
        if fact in self.facts:
            return True
        if fact.name == "interval":
            return self.low >= fact.args[0] and self.high <= fact.args[1]
        return False

    def __contains__(self, fact: Fact) -> bool:
        return self.has(fact)


class _Witness(Known):
    """A `Known` that records its answers, to tell the premises of a fact.

    With `allowed` given it knows nothing else.
    """

    __slots__ = ("allowed", "asked", "known")

    def __init__(
        self, known: Known, asked: list[Premise], allowed: Collection[Premise] | None
    ) -> None:
        self.known = known
        self.asked = asked
        self.allowed = allowed
        self.node, self.aval = known.node, known.aval
        self.facts, self.reasons = known.facts, known.reasons

    def has(self, fact: Fact) -> bool:
        return self.known.has(fact) and self._told(fact)

    def _told(self, fact: Fact) -> bool:
        premise = (self.node, fact)
        if self.allowed is not None and premise not in self.allowed:
            return False
        self.asked.append(premise)
        return True

    def __getattr__(self, name: str) -> Any:
        # Only these are not set: a rule that reads a bound rests on it.
        if name == "operands":
            return tuple([_Witness(each, self.asked, self.allowed) for each in self.known.operands])
        low, high = self.known.bounds
        if name not in ("low", "high"):
            raise AttributeError(name)
        bound = interval(low, inf) if name == "low" else interval(-inf, high)
        value = low if name == "low" else high
        if isinf(value) or self._told(bound):
            return value
        return -inf if name == "low" else inf


@lru_cache(maxsize=4096)
def _consequences(
    stated: tuple[Fact, ...], dtype: str
) -> tuple[Mapping[Fact, Fact | None], float, float]:
    """All facts that follow, and the least and largest value they leave.

    Most nodes of a graph have one of a few sets of facts, so what follows is found once.
    """
    facts = consistent(stated)
    low, high = _range_of(np.dtype(dtype))
    for fact in facts:
        if fact.name == "interval":
            low, high = max(low, fact.args[0]), min(high, fact.args[1])
        elif fact.name == "nonnegative":
            low = max(low, 0.0)
        elif fact.name == "nonpositive":
            high = min(high, 0.0)
    return facts, low, high


def _range_of(dtype: np.dtype[Any]) -> tuple[float, float]:
    if dtype.kind == "b":
        return 0.0, 1.0
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return float(limits.min), float(limits.max)
    return -inf, inf


@lru_cache(maxsize=64)
def _stated_by_dtype(dtype: np.dtype[Any]) -> Mapping[Fact, str]:
    why = f"dtype {dtype}"
    stated: dict[Fact, str] = {}
    if dtype.kind in "iub":
        stated = {integer_valued: why, finite: why}
    if dtype.kind in "ub":
        stated[nonnegative] = why
    return stated


_OPPOSITE = {
    "positive": "nonpositive",
    "nonpositive": "positive",
    "negative": "nonnegative",
    "nonnegative": "negative",
}
_BOUNDED = ("simplex", "one_hot", "unit_norm", "orthogonal")


class Knowledge:
    """Facts of nodes, found on demand and kept.

    Parameters
    ----------
    only_open : bool
        Leave out equality facts of inputs: the rest may be used before differentiating.
    """

    def __init__(self, *, only_open: bool = False) -> None:
        self.only_open = only_open
        self._known: dict[Node, Known] = {}

    def of(self, node: Node) -> Known:
        """All that is known of `node`.

        Raises
        ------
        FactError
            If the facts stated of an input contradict one another or the input's dtype.
        """
        found = self._known.get(node)
        if found is not None:
            return found
        stack = [node]
        while stack:
            top = stack[-1]
            missing = [operand for operand in top.operands if operand not in self._known]
            if top in self._known:
                stack.pop()
            elif missing:
                stack.extend(missing)
            else:
                self._known[top] = self._derive(top)
                stack.pop()
        return self._known[node]

    def _derive(self, node: Node) -> Known:
        by_dtype = _stated_by_dtype(node.aval.dtype)
        operands = [self._known[operand] for operand in node.operands]
        if node.is_input:
            reasons = {**by_dtype, **dict(self._stated_of_input(node))}
        else:
            reasons = {**by_dtype, **self._derived(node, operands)}
        try:
            return Known(node, reasons, operands)
        except FactError as error:
            if not node.is_input:
                # Rules speak of where a value is defined: this one is nowhere, as 1 / (x - x).
                return Known(node, by_dtype, operands)
            rows = [f"{fact}   {reason}" for fact, reason in reasons.items()]
            raise FactError(f"{error.what} Of {node!r} it is said:", rows) from None

    def _derived(self, node: Node, operands: Sequence[Known]) -> dict[Fact, str]:
        return dict.fromkeys(node.op.facts(*operands, **node.params), f"by {node.op.name}")

    def _stated_of_input(self, node: Node) -> Iterable[tuple[Fact, str]]:
        name = node.params["name"]
        for fact in node.params["assume"]:
            if fact.is_open or not self.only_open:
                yield fact, f"stated of input {name!r}"
                # Stated of an input, bounds are said of its numbers and leave no room for NaN.
                bounded = fact.name == "interval" and not any(isinf(each) for each in fact.args)
                if bounded or fact.name in _BOUNDED:
                    yield finite, f"{fact} stated of input {name!r}"
        yield total, "an input"

    def holds(self, node: Node, fact: Fact) -> bool | None:
        """True or False where it is known, None where it is not."""
        known = self.of(node)
        if known.has(fact):
            return True
        if known.aval.size == 0:
            return None
        opposite = _OPPOSITE.get(fact.name)
        if opposite is not None and known.has(Fact(opposite)):
            return False
        if fact.name == "nonzero" and known.low == known.high == 0:
            return False
        if fact.name == "interval":
            apart = known.low > fact.args[1] or known.high < fact.args[0]
            return False if apart else None
        return None

    def why(self, node: Node, fact: Fact) -> str:
        """The chain of reasons for a fact, one line each; its premises are indented below it.

        If the fact is not known, one line says so.
        """
        if not self.of(node).has(fact):
            return f"{fact} is not known of {node!r}."
        lines: list[str] = []
        seen: set[tuple[Node, Fact]] = set()
        stack: list[tuple[int, Node, Fact]] = [(0, node, fact)]
        while stack:
            depth, where, what = stack.pop()
            if (where, what) in seen:
                continue
            seen.add((where, what))
            causes = self._causes(where, what)
            for cause in causes:
                reason = self.of(where).reasons.get(cause, f"dtype {where.aval.dtype}")
                via = f" (from {cause})" if cause != what else ""
                place = f" at {where.origin}" if str(where.origin) else ""
                lines.append(f"{'  ' * depth}{what}: {where!r}{place}: {reason}{via}")
            premises = [pair for cause in causes for pair in self._premises(where, cause)]
            stack.extend((depth + 1, *pair) for pair in reversed(premises))
        return "\n".join(lines)

    def _causes(self, node: Node, fact: Fact) -> Sequence[Fact]:
        """The stated facts that give this one: one fact, or the facts that bound the value."""
        known = self.of(node)
        if fact not in known.facts:
            return [each for each in known.reasons if each.name in ("interval", *_OPPOSITE)][
                :1
            ] or [fact]
        cause: Fact | None = fact
        while cause is not None and cause not in known.reasons:
            cause = known.facts[cause]
        return [cause or fact]

    def _premises(self, node: Node, fact: Fact) -> list[Premise]:
        """The least that the operation must know of its operands to state the fact."""
        needed = dict.fromkeys(self._asked(node, fact, None) or ())
        for premise in list(needed):
            fewer = needed.keys() - {premise}
            if self._asked(node, fact, fewer) is not None:
                del needed[premise]
        return list(needed)

    def _asked(
        self, node: Node, fact: Fact, allowed: Collection[Premise] | None
    ) -> list[Premise] | None:
        """The facts that the operation asks of its operands to state the fact; None if it does not.

        With `allowed` given, operands answer no other question.
        """
        asked: list[Premise] = []
        witnesses: dict[Node, _Witness] = {
            operand: _Witness(self.of(operand), asked, allowed) for operand in node.operands
        }
        for stated in node.op.facts(*[witnesses[each] for each in node.operands], **node.params):
            if stated == fact:
                return asked
        return None


# -- before differentiating ------------------------------------------------------------------------
_before: ContextVar[Knowledge | None] = ContextVar("before", default=None)


@contextmanager
def knowledge_kept() -> Generator[None]:
    """Within, `known_before` finds the facts of each value once."""
    if _before.get() is not None:
        yield
        return
    token = _before.set(Knowledge(only_open=True))
    try:
        yield
    finally:
        _before.reset(token)


def known_before(node: Node) -> Known:
    """What is known of a value before it is differentiated: no equality of inputs is used."""
    return (_before.get() or Knowledge(only_open=True)).of(node)
