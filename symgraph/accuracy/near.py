"""The judge of low effort: two spellings are compared over the arrays that they share.

A whole graph is computed at all probes by `Judge`, which takes as long as all else that `simplify`
does. Here the values that both spellings rest on are inputs of their own: random numbers with the
same facts. So a comparison takes as long as the spellings are, and is made once for all places at
which the same spellings meet. Where values below depend on one another, the spellings may differ
though they are equal; then the new one is refused. Nothing is rescued.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np

from ..facts import Fact
from ..ir.fact_inference import Knowledge
from ..ir.interning import params_key
from ..ir.node import Node, Origin, copied, fresh, origin
from ..ops.creation import INPUT
from .judge import Judge
from .lost_numbers import SMALLEST

__all__ = ["NearJudge"]

_MOST = 50
"""The most values of one spelling to look at, from the top."""

_CONE = 8
"""The most values below an array to look at, to see whether it is related to another one."""

_ROUNDS = 4
"""How often related arrays are replaced by those below."""

_APART = 1e-6
"""Relative difference above which the references of two spellings disagree,"""

_MANY = 0.1
"""and the share of elements at which they may: some lose all digits in double precision, too."""

_KEPT = 20_000
"""The most verdicts to keep."""


class _Pair(NamedTuple):
    """Two spellings over common arrays: the arrays, and the operations above them in order."""

    new: Node
    old: Node
    arrays: dict[Node, None]
    steps: dict[Node, None]


_verdicts: dict[Hashable, bool] = {}
"""For each pair of spellings whether the new one loses. It depends on nothing else."""


class NearJudge(Judge):
    """Compares spellings over the arrays that they share."""

    whole = False

    def __init__(self, knowledge: Knowledge) -> None:
        super().__init__(knowledge)
        self._knowledge = knowledge

    def loses(self, new: Node, old: Node) -> bool:
        """Whether `new` loses digits or range that `old` keeps, or is not seen to equal it."""
        if new is old or new.dtype.kind != "f":
            return False
        common = _near(new, _MOST).keys() & _near(old, _MOST).keys()
        pair = _over(new, old, common)
        if not self._loses_over(pair):
            return False
        for _ in range(_ROUNDS):
            related = _related(pair.arrays)
            if not related or len(pair.steps) > _MOST:
                break
            common = common - related
            pair = _over(new, old, common)
        return self._loses_over(pair)

    def _loses_over(self, pair: _Pair) -> bool:
        if any(len(each.results) > 1 or each.op.custom for each in (*pair.arrays, *pair.steps)):
            return True
        key = self._key(pair)
        found = _verdicts.get(key)
        if found is None:
            if len(_verdicts) >= _KEPT:
                _verdicts.clear()
            found = _verdicts[key] = self._loses(pair)
        return found

    def rescues(self, new: Node, old: Node) -> bool:
        """Never: a value that fails is left as it is."""
        return False

    def fails(self, node: Node) -> bool:
        """Never: it is not asked."""
        return False

    def fails_anew(self, node: Node, below: Iterable[Node]) -> bool:
        """Never: it is not asked."""
        return False

    def _stated(self, array: Node) -> tuple[Fact, ...]:
        return tuple(self._knowledge.of(array).facts)

    def _key(self, pair: _Pair) -> Hashable:
        """A key that is equal where the verdict is."""
        places: dict[Node, int] = {}
        key: list[Hashable] = []
        for each in pair.arrays:
            places[each] = len(places)
            known = each.is_constant
            key.append((each.aval, params_key(each.params) if known else self._stated(each)))
        for each in pair.steps:
            below = [places[operand] for operand in each.operands]
            places[each] = len(places)
            key.append((each.op, each.aval, params_key(each.params), *below))
        return (*key, places[pair.new], places[pair.old])

    def _loses(self, pair: _Pair) -> bool:
        made: dict[Node, Node] = {}
        with origin(Origin()):
            for place, each in enumerate(pair.arrays):
                stated = {"name": f"array {place}", "assume": self._stated(each)}
                made[each] = each if each.is_constant else fresh(INPUT, stated, each.aval)
            for each in pair.steps:
                operands = [made[operand] for operand in each.operands]
                made[each] = copied(each, operands, Origin())
        known = Knowledge()
        judge = Judge(known)
        new, old = made[pair.new], made[pair.old]
        return judge.loses(new, old) or not _agree(judge, new, old)


def _over(new: Node, old: Node, common: Collection[Node]) -> _Pair:
    """Both spellings down to the first common values."""
    arrays: dict[Node, None] = {}
    steps: dict[Node, None] = {}
    stack = [new, old]
    while stack:
        top = stack[-1]
        if top in arrays or top in steps:
            stack.pop()
            continue
        if top in common or not top.operands or top.copy or len(steps) > 2 * _MOST:
            arrays[top] = None
            continue
        missing = [each for each in top.operands if each not in arrays and each not in steps]
        if missing:
            stack.extend(missing)
        else:
            steps[top] = None
    return _Pair(new, old, arrays, steps)


def _near(node: Node, most: int) -> dict[Node, None]:
    """The values nearest below a node, level by level, and the node itself."""
    found = {node: None}
    level = [node]
    while level and len(found) < most:
        level = list(dict.fromkeys(chain.from_iterable(each.operands for each in level)))
        level = [each for each in level if each not in found]
        found.update(dict.fromkeys(level))
    return found


def _related(arrays: Collection[Node]) -> set[Node]:
    """Arrays that are computed from what others among them are, or are computed from, too."""
    below = {each: _near(each, _CONE) for each in arrays if each.operands}
    seen: dict[Node, Node] = {each: each for each in arrays if not each.is_constant}
    found: set[Node] = set()
    for array, cone in below.items():
        for each in cone:
            other = None if each.is_constant else seen.setdefault(each, array)
            if other is not None and other is not array:
                found.add(array)
                if each not in arrays:
                    found.add(other)
    return found


def _agree(judge: Judge, new: Node, old: Node) -> bool:
    """Whether the spellings are equal in double precision, nearly everywhere."""
    one, other = judge.trials.of(new), judge.trials.of(old)
    if one is None or other is None or one.right.shape[1:] != other.right.shape[1:]:
        return False
    with np.errstate(all="ignore"):
        both = np.isfinite(one.right) & np.isfinite(other.right)
        gap = np.abs(one.right - other.right)
        apart = both & (gap > _APART * np.abs(other.right) + SMALLEST)
    return bool(np.count_nonzero(apart) <= _MANY * apart.size)
