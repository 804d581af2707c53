"""Of two spellings of one value: whether one loses digits or range that the other keeps."""

from __future__ import annotations

import weakref
from typing import NamedTuple

import numpy as np

from ..ir.fact_inference import Knowledge
from ..ir.node import Node
from .probes import COUNT, MIXED, ORDINARY, Numbers
from .trials import UNIT, Trial, Trials

__all__ = ["FACTOR", "Judge", "judge_of"]

FACTOR = 8.0
"""By so much the error of a spelling may exceed that of another before it has lost digits."""

_UNITS = 8 * UNIT
"""An error, as part of the value, that any spelling may have."""

_SMALLEST = 64 * float(np.finfo(np.float32).tiny)
"""What is smaller, or has such a factor, is a number with fewer digits, or none."""

_WRONG = 1e-2
"""A value with a larger error, as part of it, is not right."""

_LOST = 1e-3
"""A value with a larger error, as part of it, has no digits left to lose."""

_NONE = 0.5
"""A value with a larger error, as part of it, tells nothing: NaN in its place is no loss."""

_MATTERS = 0.01
"""Unless it is smaller than this: then 0 in its place, as underflow leaves, is not far off."""

_CERTAIN = _WRONG / 64
"""A value with a smaller error has become wrong by no accident."""

_LARGEST = float(np.finfo(np.float32).max)

_ROOMY = _LARGEST**0.5
"""A larger value has no room for a factor: what comes to it by way of one overflows."""

_AMBIGUOUS = 1e-6
"""Where double precision gives two values that differ by more, neither is known to be right."""

_SAME = 0.5
"""The share of elements on which spellings agree, unless they stand over other random numbers."""

_ONE_SIDED = 4
"""By so much oftener than it wins a spelling may lose the range where sizes are mixed."""

_ACCIDENTS = 150
"""One element, and one more of so many, may have less luck with its roundings than before."""


class Judge:
    """Compares spellings, each measured once.

    Parameters
    ----------
    knowledge : Knowledge
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self.trials = Trials(knowledge)
        self._verdicts: dict[tuple[Node, Node], Verdict] = {}
        self._failing: dict[Node, Numbers | None] = {}

    def loses(self, new: Node, old: Node) -> bool:
        """Whether `new` loses digits or range that `old` keeps.

        It does where it is not finite and `old` is, and not far off; where its error is `FACTOR`
        times that of `old` and some units in the last place besides; and where `old` is infinite or
        NaN and `new` a number, but a wrong one.
        """
        return self._verdict(new, old).loses

    def rescues(self, new: Node, old: Node) -> bool:
        """Whether `new` is right at arguments of ordinary size where `old` is infinite or NaN.

        And nowhere wrong, neither where `old` is right nor where that is no number: it may have
        fewer digits, or be no number far out as well.
        """
        return self._verdict(new, old).rescues

    def fails(self, node: Node) -> bool:
        """Whether a value is infinite or NaN at arguments of ordinary size where it should not.

        A value near the end of the range is spared: x * exp(x) / x overflows a little before
        exp(x) does, and every spelling of it overflows for some x.
        """
        return self._failures(node) is not None

    def fails_less(self, new: Node, old: Node) -> bool:
        """Whether `old` fails, and `new` nowhere, or nowhere else and clearly more rarely."""
        after, before = self._failures(new), self._failures(old)
        if after is None or before is None:
            return after is None and before is not None
        if after.shape != before.shape:
            return False
        mended = np.count_nonzero(before & ~after)
        more = bool(np.any(after & ~before))
        return not more and int(mended) > 1 + before.size // _ACCIDENTS

    def _failures(self, node: Node) -> Numbers | None:
        """Where a value fails; None if it does nowhere."""
        if node not in self._failing:
            found = _failures(self.trials, node) if node.dtype.kind == "f" else None
            self._failing[node] = found
        return self._failing[node]

    def _verdict(self, new: Node, old: Node) -> Verdict:
        if new is old or new.dtype.kind != "f" or len(new.results) > 1:
            return _ALIKE
        found = self._verdicts.get((new, old))
        if found is None:
            before, after = self.trials.of(old), self.trials.of(new)
            found = _ALIKE if before is None or after is None else _compared(after, before)
            self._verdicts[new, old] = found
        return found


def _failures(trials: Trials, node: Node) -> Numbers | None:
    trial = trials.of(node)
    if trial is None or len(trial.right) != COUNT:
        return None
    finite = np.isfinite(trial.found[0])
    if finite.all():
        return None
    found = ~finite[ORDINARY] & ~(np.abs(trial.right[ORDINARY]) > _ROOMY)
    return found if found.any() else None


class Verdict(NamedTuple):
    """What was found of a spelling beside another."""

    loses: bool
    rescues: bool


_ALIKE = Verdict(loses=False, rescues=False)


def _compared(new: Trial, old: Trial) -> Verdict:
    if new.right.shape[1:] != old.right.shape[1:]:
        return _ALIKE
    with np.errstate(all="ignore"):
        right = np.where(np.isfinite(old.right), old.right, new.right)
        size = np.abs(right)
        before, after = old.farthest(right), new.farthest(right)
        was, now = np.isfinite(before), np.isfinite(after)
        slack = _WRONG * size + _SMALLEST
        if was.all() and now.all():
            # Nearly always no error is larger, and nothing below would find fault.
            grown = (after > slack) & (before <= _CERTAIN * size + _SMALLEST)
            if not (grown | (after > _most(before, size))).any():
                return _ALIKE
        spread = new.farthest(new.found[0])
        clear = ~(np.abs(old.right - new.right) > _AMBIGUOUS * size + _SMALLEST)
        if new.drawn != old.drawn and np.count_nonzero(clear) < _SAME * clear.size:
            return _ALIKE
        was_right, now_right = was & (before <= slack), now & (after <= slack)
        # A NaN may become a right number, never a wrong one: more wrong than by its own roundings.
        nothing = ~np.any(np.isfinite(old.found), axis=0) & ~np.isnan(right)
        told = clear | ~np.isfinite(old.right)
        told_right = (after <= slack + FACTOR * spread) & (size <= _LARGEST)
        lies = nothing & told & now & ~told_right
        number_gone = was & ~now & np.isfinite(right)
        gone = number_gone & ~((before > _NONE * size) & (size > _MATTERS))
        won = clear & ~was_right & now_right & np.isfinite(right)
        gross = clear & was & ~now_right & (before <= _CERTAIN * size + _SMALLEST)
        digits = clear & was & now & (before <= _LOST * size + _SMALLEST)
        # A 0 is right by luck where the same array has lost another element altogether.
        lost_there = (before > _NONE * size + _SMALLEST).reshape(len(before), -1).any(axis=1)
        lucky = (size <= _SMALLEST) & lost_there.reshape(-1, *[1] * (size.ndim - 1))
        gross = gross & ~lucky
        worse = digits & ~lucky & (after > _most(before, size))
    whole = len(worse) == COUNT
    mixed, ordinary = (MIXED, ORDINARY) if whole else (slice(0), slice(0))
    alike = ~MIXED if whole else slice(None)
    accidents = 1 + worse.size // _ACCIDENTS
    rescued = np.any((nothing & now & told_right)[ordinary]) and not np.any(lies[alike])
    spoiled = np.any(number_gone[alike]) or np.any((was_right & clear & ~now_right)[alike])
    worst = gone | gross | lies
    lost = np.any(worst[alike])
    lost = lost or np.count_nonzero(worse[alike]) > accidents
    # Of factors of any size each order overflows somewhere.
    wins = accidents + np.count_nonzero(won[mixed])
    lost = lost or np.count_nonzero(worst[mixed]) > _ONE_SIDED * wins
    return Verdict(loses=bool(lost), rescues=bool(rescued and not spoiled))


def _most(error: Numbers, size: Numbers) -> Numbers:
    """The error that a value of this size may have, where another spelling has that one."""
    return FACTOR * error + _UNITS * size + _SMALLEST


_judges: weakref.WeakKeyDictionary[Knowledge, Judge] = weakref.WeakKeyDictionary()


def judge_of(knowledge: Knowledge) -> Judge:
    """The judge of all that is simplified with this knowledge."""
    found = _judges.get(knowledge)
    if found is None:
        found = _judges[knowledge] = Judge(weakref.proxy(knowledge))
    return found
