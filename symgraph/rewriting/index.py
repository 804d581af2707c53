"""Many-to-one matching: the rules that may match at a node, by its and its operands' operations.

The *signature* of a node is its operation, and the operation of each operand. The rules that may
match a signature are found once and kept. So a graph of n nodes costs n dictionary look-ups, and
few rules are matched in vain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import permutations
from typing import TypeAlias

from ..errors import RuleError, did_you_mean
from ..ir.node import Node
from ..ir.op import OPS
from ..ir.traits import Arrangement
from ..ops.creation import CONSTANT
from .pattern import Literal, OpPattern, Pattern, Variable, subterms
from .rule import Rule, RulePack

__all__ = ["RuleSet", "distinct"]

Signature: TypeAlias = tuple[str | bool, ...]


@cache
def _numbers() -> frozenset[str]:
    """Operations whose results may have one value in all elements."""
    repeating = [op for op in OPS.values() if op.traits.arrangement is Arrangement.REPEATED]
    return frozenset(op.name for op in (CONSTANT, *repeating))


class RuleSet:
    """Indexed rules, as the driver uses them.

    Rules of higher priority come first, then those with the larger left side, then as given.

    Parameters
    ----------
    rules : iterable of Rule or RulePack

    Raises
    ------
    RuleError
        If two different rules have one name; the message names both packs.
    """

    def __init__(self, rules: Iterable[Rule | RulePack]) -> None:
        self.rules: tuple[Rule, ...] = tuple(sorted(distinct(rules), key=_rank))
        self._by_head: dict[str, list[_LeftSide]] = {}
        for rule in self.rules:
            self._by_head.setdefault(rule.lhs.op.name, []).append(_LeftSide(rule))
        self._by_signature: dict[Signature, tuple[Rule, ...]] = {}

    def __repr__(self) -> str:
        return f"<set of {len(self.rules)} rule{'' if len(self.rules) == 1 else 's'}>"

    def candidates(self, node: Node) -> tuple[Rule, ...]:
        """Rules whose left side may match `node`, in the order in which to try them."""
        head = node.op.name
        if head not in self._by_head:
            return ()
        operands = node.operands
        twice = len(operands) > 1 and len(set(operands)) < len(operands)
        signature = (head, twice, *[operand.op.name for operand in operands])
        found = self._by_signature.get(signature)
        if found is None:
            names = [operand.op.name for operand in operands]
            found = tuple([each.rule for each in self._by_head[head] if each.fits(names, twice)])
            self._by_signature[signature] = found
        return found

    @cached_property
    def before_differentiating(self) -> RuleSet:
        """The rules whose two sides have the same derivative, at kinks too."""
        return RuleSet(rule for rule in self.rules if not rule.kink)

    def held_back(self, node: Node) -> bool:
        """Whether a rule that is not used before differentiating may match at the node."""
        return any(rule.kink for rule in self.candidates(node))

    def without(self, *names: str) -> RuleSet:
        """All rules but these."""
        self._check_known(names)
        return RuleSet(rule for rule in self.rules if rule.name not in names)

    def only(self, *names: str) -> RuleSet:
        """These rules alone."""
        self._check_known(names)
        return RuleSet(rule for rule in self.rules if rule.name in names)

    def plus(self, *rules: Rule | RulePack) -> RuleSet:
        """The set with further rules: `default_rules().plus(mine)`.

        Raises
        ------
        RuleError
            If a rule of the same name is in the set; leave it out first, by `without`.
        """
        return RuleSet([*self.rules, *rules])

    def _check_known(self, names: Iterable[str]) -> None:
        have = {rule.name for rule in self.rules}
        unknown = [name for name in names if name not in have]
        if unknown:
            raise RuleError(
                f"There is no rule named {unknown[0]!r}.", mend=did_you_mean(unknown[0], have)
            )

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __getitem__(self, name: str) -> Rule:
        self._check_known((name,))
        return next(rule for rule in self.rules if rule.name == name)


def distinct(rules: Iterable[Rule | RulePack]) -> list[Rule]:
    """The rules, each once.

    Raises
    ------
    RuleError
        If two different rules have one name; the message names both packs.
    """
    owners: dict[str, tuple[Rule, str]] = {}
    for rule, pack in _flat(rules):
        known, owner = owners.setdefault(rule.name, (rule, pack))
        if known is not rule:
            raise RuleError(
                f"Two rules are named {rule.name!r}: one of pack {owner!r}, one of {pack!r}.",
                [str(known), str(rule)],
                mend="Rename one of them.",
            )
    return [rule for rule, _ in owners.values()]


def _flat(rules: Iterable[Rule | RulePack]) -> Iterator[tuple[Rule, str]]:
    for each in rules:
        if isinstance(each, Rule):
            yield each, "the rules given"
        else:
            yield from ((rule, each.name) for rule in each.rules)


def _rank(rule: Rule) -> tuple[int, int]:
    size = sum(not isinstance(part, Variable) for part in subterms(rule.lhs))
    return (-rule.priority, -size)


class _LeftSide:
    """The operations of operands that the left side of a rule may match."""

    __slots__ = ("orders", "rule", "twice")

    def __init__(self, rule: Rule) -> None:
        pattern = rule.lhs
        self.rule = rule
        self.twice = _needs_twice(pattern)
        allowed = tuple([_names_of(part) for part in pattern.operands])
        commutative = pattern.op.traits.commutative
        self.orders = tuple(dict.fromkeys(permutations(allowed))) if commutative else (allowed,)

    def fits(self, names: Sequence[str], twice: bool) -> bool:
        """Whether the left side may match operands of these operations.

        `twice` tells whether two of the operands are the same node.
        """
        if self.twice and not twice:
            return False
        return any(len(order) == len(names) and _allows(order, names) for order in self.orders)


def _allows(order: Sequence[frozenset[str] | None], names: Sequence[str]) -> bool:
    """Whether each operation is among those allowed at its place; None allows all."""
    for allowed, name in zip(order, names, strict=True):
        if allowed is not None and name not in allowed:
            return False
    return True


def _needs_twice(pattern: OpPattern) -> bool:
    """Whether one variable is an operand of the pattern twice, as in x - x."""
    variables = [each.name for each in pattern.operands if isinstance(each, Variable)]
    return len(set(variables)) < len(variables)


def _names_of(pattern: Pattern) -> frozenset[str] | None:
    """The operations whose results the pattern may match; None if it may match all."""
    match pattern:
        case OpPattern():
            return frozenset({pattern.op.name})
        case Literal():
            return _numbers()
        case Variable(guards=guards):
            return _numbers() if any(guard.constant for guard in guards) else None
        case _:
            return frozenset()
