"""Many-to-one matching: the rules that may match at a node, by its and its operands' operations.

The *signature* of a node is its operation, and the operation of each operand. The rules that may
match a signature are found once and kept. So a graph of n nodes costs n dictionary look-ups, and
few rules are matched in vain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TypeAlias

from ..errors import RuleError, did_you_mean
from ..ir.node import Node
from .rule import Rule, RulePack

__all__ = ["RuleSet", "distinct"]

Signature: TypeAlias = tuple[str | bool, ...]


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
        self._by_head: dict[str, list[Rule]] = {}
        for rule in self.rules:
            self._by_head.setdefault(rule.left_side.head, []).append(rule)
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
            found = tuple(
                [rule for rule in self._by_head[head] if rule.left_side.fits(names, twice)]
            )
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
    return (-rule.priority, -rule.left_side.size)
