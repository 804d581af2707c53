"""Values that leave the range between inputs in range and a result in range.

(x / z) y is 0 where x is 1e-27, and y and z are 1e27; x (y / z) is 1e-27. At probes where all
inputs have one size each order of factors looks alike. So the spellings are computed where each
input has a size of its own, without perturbed roundings. There each order leaves the range
somewhere, and a spelling loses only if it does much more often than the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..ir.node import Node
from ..ir.walks import reachable
from .lost_numbers import LARGEST, MOST, NEAR, NEAR_THE_END, LostNumbers
from .lucky_values import lucky_probes
from .other_values import CERTAIN, SMALLEST, WRONG
from .probes import UNLIKE, Numbers
from .trial import Trial

__all__ = ["LostRange"]

_FEW = 10
"""At fewer probes, of 160, it takes a rare combination of sizes, or a small factor, to lose."""

_ONE_SIDED = 2
"""A spelling loses if it leaves the range more than so many times as often as it stays in it."""


class _Compared(NamedTuple):
    """Probes, as masks, at which one of two spellings alone is right: the old or the new one."""

    lost: Numbers
    won: Numbers


_ALIKE = _Compared(np.zeros(1, bool), np.zeros(1, bool))


class LostRange:
    """Compares spellings at probes where each input has a size of its own.

    Parameters
    ----------
    lost : LostNumbers
        It has the trials at wide probes.
    """

    def __init__(self, lost: LostNumbers) -> None:
        self._lost = lost
        self._verdicts: dict[tuple[Node, Node], _Compared] = {}

    def leaves(self, new: Node, old: Node) -> bool:
        """Whether a spelling leaves the range much more often than another one."""
        lost, won = [int(np.count_nonzero(each)) for each in self._compared(new, old)]
        return lost >= _FEW and lost > _ONE_SIDED * won

    def count(self, new: Node, old: Node) -> int:
        """The number of probes at which `new` has left the range, and `old` is right."""
        return int(np.count_nonzero(self._compared(new, old).lost))

    def lies(self, new: Node, old: Node) -> int:
        """The number of probes at which `new` is a wrong number, and `old` infinite or NaN."""
        trials = self._lost.trials_at("wide")
        after, before = trials.of(new), trials.of(old)
        if new is old or new.dtype.kind != "f" or after is None or before is None:
            return 0
        if before.right.shape != after.right.shape or len(before.right) == 1:
            return 0
        found = after.found[0, UNLIKE]
        right = before.right[UNLIKE]
        with np.errstate(all="ignore"):
            wrong = np.abs(found - right) > WRONG * np.abs(right) + SMALLEST
        wrong &= np.isfinite(found) & np.isfinite(right) & ~np.isfinite(before.found[0, UNLIKE])
        return int(np.count_nonzero(_rows(wrong)))

    def _compared(self, new: Node, old: Node) -> _Compared:
        if new is old or new.dtype.kind != "f" or len(new.results) > 1:
            return _ALIKE
        found = self._verdicts.get((new, old))
        if found is None:
            found = self._verdicts[new, old] = self._compared_anew(new, old)
        return found

    def _compared_anew(self, new: Node, old: Node) -> _Compared:
        if len(reachable([old])) > MOST:
            return _ALIKE
        rough = self._lost.trials_at("wide", rough=True)
        if not _are_apart(rough.of(new), rough.of(old)):
            return _ALIKE
        fine = self._lost.trials_at("wide")
        after, before = fine.of(new), fine.of(old)
        if after is None or before is None:
            return _ALIKE
        found = _sides(after, before)
        if found.lost.any():
            places = [each - UNLIKE.start for each in lucky_probes(fine, old)]
            found.lost[[each for each in places if each >= 0]] = False
        return found


def _are_apart(new: Trial | None, old: Trial | None) -> bool:
    """Whether two values differ by more than roundings where the old one is finite.

    What random numbers stand for is not compared.
    """
    if new is None or old is None or new.drawn or old.drawn:
        return False
    if new.found.shape != old.found.shape or len(old.right) == 1:  # A constant.
        return False
    after, before = new.found[0, UNLIKE], old.found[0, UNLIKE]
    with np.errstate(all="ignore"):
        alike = np.abs(after - before) <= WRONG * np.abs(before) + SMALLEST
    return bool((np.isfinite(before) & ~alike).any())


def _sides(new: Trial, old: Trial) -> _Compared:
    """The probes at which the old value is right and the new one wrong, and the other way round.

    Zeros, and numbers next to the ends of the range, do not count.
    """
    if new.right.shape != old.right.shape:
        return _ALIKE
    right = old.right[UNLIKE]
    with np.errstate(all="ignore"):
        size = np.abs(right)
        judged = (np.abs(new.right[UNLIKE] - right) <= NEAR * size) & (size > SMALLEST)
        judged &= size < LARGEST / NEAR_THE_END
        before, after = (np.abs(each.found[0, UNLIKE] - right) for each in (old, new))
        lost = judged & (before <= CERTAIN * size) & ~(after <= WRONG * size)
        won = judged & (after <= CERTAIN * size) & ~(before <= WRONG * size)
    return _Compared(_rows(lost), _rows(won))


def _rows(elements: Numbers) -> Numbers:
    """The probes at which an element is true."""
    return np.logical_or.reduce(elements.reshape(len(elements), -1), axis=1)
