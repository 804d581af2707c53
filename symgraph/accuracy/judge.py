"""Compares two spellings of one value: whether the new one loses digits or range.

A *spelling* is one way to compute a value, such as log(1 + x) or log1p(x). A *probe* is one choice
of numbers for all inputs (`probes`). A *trial* holds the values of one spelling at all probes: once
in double precision, as the reference, and several times in single precision, each time with other
roundings (`trials`). A *verdict* compares the trials of a new and of an old spelling. The error of
an element is its largest distance from the reference in any repetition.

The new spelling *loses* if it gives a worse result at an element where the old one was of use. It
*rescues* if it gives the right number where the old one overflows or gives NaN at arguments of
ordinary size, and spoils nothing elsewhere. A value *fails* if it overflows or is NaN at arguments
of ordinary size where its reference is far from the end of the range.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence

import numpy as np

from ..ir.fact_inference import Knowledge
from ..ir.node import Node
from ..ir.walks import reachable, unrepeated
from .common_terms import apart_from_common_terms
from .lost_numbers import LARGEST, LostNumbers
from .lost_range import LostRange
from .lucky_values import Luck
from .other_values import ACCIDENTS
from .probes import COUNT, ORDINARY, Numbers
from .trials import Trials
from .verdict import ALIKE, Verdict, compared

__all__ = ["Judge", "judge_of", "judged_as_carefully"]

_ROOMY = LARGEST**0.5
"""A larger value is near the end of the range: one more factor on the way to it overflows."""


class Judge:
    """Compares spellings. Each spelling is computed once, and each verdict is kept.

    Parameters
    ----------
    knowledge : Knowledge
        The facts that random inputs must satisfy.
    careful : bool
        Whether a spelling loses, too, where it drops a number at a wide probe, or leaves the range
        where inputs are of unlike sizes.
    """

    def __init__(self, knowledge: Knowledge, *, careful: bool = False) -> None:
        self.trials = Trials(knowledge)
        self.careful = careful
        self._lost = LostNumbers(self.trials)
        self._range = LostRange(self._lost)
        self._luck = Luck(self.trials)
        self._verdicts: dict[tuple[Node, Node], Verdict] = {}
        self._failing: dict[Node, Numbers | None] = {}

    def meet(self, outputs: Sequence[Node]) -> None:
        """Note which inputs of a graph are exponents, before anything is computed."""
        powers = [each for each in reachable(outputs) if _is_power_of_symbols(each)]
        if powers:
            bases, exponents = (
                {each for each in reachable(set(side)) if each.is_input}
                for side in zip(*[node.operands for node in powers], strict=True)
            )
            self.trials.exponents |= exponents - bases

    def learn(self, nodes: Sequence[Node]) -> None:
        """Compute these values at all probes in one sweep, as they will be compared."""
        self.trials.learn(nodes)

    def loses(self, new: Node, old: Node) -> bool:
        """Whether `new` loses digits or range that `old` keeps.

        There are three ways to lose. `new` is infinite or NaN where `old` is finite and not far
        off. The error of `new` is 8 times that of `old`, plus some units in the last place.
        Or `old` is infinite or NaN, and `new` is a number, but a wrong one. Spellings of other
        values lose, too. Of two sums that share terms the others are compared as well.
        """
        if self._verdict(new, old).differs or self.loses_digits(new, old):
            return True
        return self._loses_beside_others(new, old) and not self._verdict(old, new).loses

    def loses_digits(self, new: Node, old: Node) -> bool:
        """The same of spellings that are equal by a declared rule, right or wrong."""
        return self._verdict(new, old).loses or self._loses_range(new, old)

    def loses_as_a_whole(self, new: Node, old: Node) -> bool:
        """The same of whole graphs, where something below `old` may have been lost before.

        There `old` may be right by luck, as a comparison with NaN is false.
        """
        if not self.loses(new, old):
            return False
        after, before = self.trials.of(new), self.trials.of(old)
        if after is None or before is None or len(before.right) != COUNT:
            return True
        if self._verdict(new, old).differs or self._loses_range(new, old):
            return True
        return compared(after, before, lambda: False, self._luck.below(old)).loses

    def rescues(self, new: Node, old: Node) -> bool:
        """Whether `new` is right at arguments of ordinary size where `old` is infinite or NaN.

        It must not be wrong at any element where `old` is right, infinite or NaN. But it may have
        fewer digits, and at extreme arguments it may be infinite or NaN where `old` is, too.
        """
        return self._verdict(new, old).rescues

    def fails(self, node: Node) -> bool:
        """Whether a value is infinite or NaN at arguments of ordinary size without need.

        Values near the end of the range do not count: x * exp(x) / x overflows a little before
        exp(x) does, and every spelling of it overflows for some x.
        """
        return self._failures(node) is not None

    def fails_anew(self, node: Node, below: Iterable[Node]) -> bool:
        """Whether a value fails where none of the values below fails.

        Else no spelling over the values below can help: they are infinite or NaN already.
        """
        failing = self._failures(node)
        if failing is None:
            return False
        for each in below:
            lost = self._failures(each)
            if lost is not None:
                failing = failing & ~(lost if lost.shape == failing.shape else _rows(lost, failing))
        return bool(failing.any())

    def fails_less(self, new: Node, old: Node) -> bool:
        """Whether `new` fails at clearly fewer elements than `old`, and at no other element."""
        after, before = self._failures(new), self._failures(old)
        if after is None or before is None:
            return after is None and before is not None
        if after.shape != before.shape:
            return False
        mended = np.count_nonzero(before & ~after)
        more = bool(np.any(after & ~before))
        return not more and int(mended) > 1 + before.size // ACCIDENTS

    def drops(self, new: Node, old: Node) -> bool:
        """Whether `old` is right in plain single precision where `new` is infinite or NaN.

        This holds of whole graphs, too (`lost_numbers`).
        """
        return self._lost.drops(new, old)

    def leaves_range(self, new: Node, old: Node) -> bool:
        """Whether `new` overflows or underflows on its way much more often than `old`.

        It is asked where each input has a size of its own (`lost_range`), also of whole graphs.
        """
        return self._range.leaves(new, old)

    def out_of_range(self, new: Node, old: Node) -> int:
        """The number of probes at which `new` has left the range on its way, and `old` is right."""
        return self._range.count(new, old)

    def lies(self, new: Node, old: Node) -> int:
        """The number of probes of the same at which `new` is a wrong number, and `old` is none."""
        return self._range.lies(new, old)

    def differs(self, new: Node, old: Node) -> bool:
        """Whether the spellings are of different values, also of whole graphs."""
        return self._lost.differs(new, old)

    def _loses_range(self, new: Node, old: Node) -> bool:
        """Whether a careful judge finds that `new` drops a number or leaves the range."""
        return self.careful and (self.drops(new, old) or self.leaves_range(new, old))

    def _failures(self, node: Node) -> Numbers | None:
        """The elements at which a value fails; None if there are none."""
        if node not in self._failing:
            found = _failures(self.trials, node) if node.dtype.kind == "f" else None
            self._failing[node] = found
        return self._failing[node]

    def _loses_beside_others(self, new: Node, old: Node) -> bool:
        """Whether the terms of a sum that are new lose what those in their place keep."""
        if new is old or new.aval != old.aval or new.dtype.kind != "f":
            return False
        rest = apart_from_common_terms(new, old, self.trials.of)
        return rest is not None and compared(*rest, lambda: False).loses

    def _verdict(self, new: Node, old: Node) -> Verdict:
        if new is old or new.dtype.kind != "f" or len(new.results) > 1:
            return ALIKE
        found = self._verdicts.get((new, old))
        if found is None:
            before, after = self.trials.of(old), self.trials.of(new)
            found = (
                ALIKE
                if before is None or after is None
                else compared(after, before, lambda: self.trials.are_whole(new, old))
            )
            self._verdicts[new, old] = found
        return found


def _failures(trials: Trials, node: Node) -> Numbers | None:
    """The elements at ordinary probes that are infinite or NaN, but not near the end of the range.

    None if there are none.
    """
    trial = trials.of(node)
    if trial is None or len(trial.right) != COUNT:
        return None
    finite = np.isfinite(trial.found[0])
    if finite.all():
        return None
    found = ~finite[ORDINARY] & ~(np.abs(trial.right[ORDINARY]) > _ROOMY)
    return found if found.any() else None


def _rows(elements: Numbers, like: Numbers) -> Numbers:
    """The probes that have such an element, to be compared with the elements of another value."""
    rows = elements.reshape(len(elements), -1).any(axis=1)
    return rows.reshape(-1, *[1] * (like.ndim - 1))


def _is_power_of_symbols(node: Node) -> bool:
    """Whether it is x**a, and neither x nor a is a number."""
    return node.op.traits.raises and not any(unrepeated(each).is_constant for each in node.operands)


def judged_as_carefully(knowledge: Knowledge, as_in: Knowledge) -> Knowledge:
    """The knowledge, whose judge is as careful as that of another."""
    judge, other = judge_of(knowledge), judge_of(as_in)
    judge.careful = other.careful
    judge.trials.exponents |= other.trials.exponents
    return knowledge


_judges: weakref.WeakKeyDictionary[Knowledge, Judge] = weakref.WeakKeyDictionary()


def judge_of(knowledge: Knowledge) -> Judge:
    """The judge for all graphs simplified with this knowledge."""
    found = _judges.get(knowledge)
    if found is None:
        found = _judges[knowledge] = Judge(weakref.proxy(knowledge))
    return found
