"""Numbers that a new spelling drops: infinity or NaN where the old spelling has the right number.

No rounding is perturbed, so the question can be asked of whole graphs, where perturbed roundings
add up. It is asked at random numbers: a loss that needs a rare combination of inputs is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..ir.node import Node
from ..ir.walks import reachable
from .lucky_values import lucky_probes, zeros_by_luck
from .other_values import CERTAIN, SMALLEST, are_other_values
from .probes import (
    COUNT,
    MIXED,
    NEAR_ONE,
    OF_ONE_SIZE,
    ORDINARY_SIZES,
    Numbers,
    Places,
    is_wide_band,
)
from .short_sizes import size_of
from .trial import Trial
from .trials import Trials

__all__ = ["LARGEST", "MOST", "NEAR", "NEAR_THE_END", "LostNumbers", "plainly_gone"]

LARGEST = float(np.finfo(np.float32).max)

NEAR = 1e-3
"""The largest relative difference of two references of one value."""

NEAR_THE_END = 64.0
"""A number within this factor of the largest may overflow in one spelling and not in another."""

_MANY = 0.5
"""The share of probes of ordinary size at which a value is NaN, if it has none at negatives."""

_FEW = 150
"""The most nodes of a graph whose arrays are taken whole."""

MOST = 1_000
"""The most nodes of a graph that is looked at at wide probes; on larger ones they take a fifth."""

_SMALL = 512
"""The most elements of an array that is taken whole."""


class LostNumbers:
    """Finds whether a new spelling drops a number, or is another value, at usual and wide probes.

    Parameters
    ----------
    usual : Trials
        The trials at usual probes.
    """

    def __init__(self, usual: Trials) -> None:
        self._knowledge = usual.knowledge
        self._trials: dict[tuple[Places, bool, bool], Trials] = {("usual", False, False): usual}
        self._dropped: dict[tuple[Node, Node], bool] = {}

    def drops(self, new: Node, old: Node) -> bool:
        """Whether `old` is right in plain single precision where `new` is infinite or NaN.

        Where a value below `old` is NaN, `old` is right by luck: a comparison with NaN is false.
        """
        if new is old or new.dtype.kind != "f" or len(new.results) > 1:
            return False
        found = self._dropped.get((new, old))
        if found is None:
            whole = self._needs_whole_arrays(new, old)
            found = any(
                self._drops_at(each, new, old, whole=whole)
                for each in self._places(old, whole=whole)
            )
            self._dropped[new, old] = found
        return found

    def differs(self, new: Node, old: Node) -> bool:
        """Whether the spellings are of different values.

        Of a large graph or array whose dimensions are shortened it is not said: there a number may
        stand for a size.
        """
        if new is old or new.dtype.kind != "f" or len(new.results) > 1:
            return False
        usual = self.trials_at("usual", whole=False, rough=False)
        whole = not usual.are_whole(new, old)
        if whole:
            below = reachable([old, new])
            if len(below) > MOST or any(size_of(each) > _SMALL for each in below):
                return False
        if whole or not (usual.has(new) and usual.has(old)):
            rough = self.trials_at("usual", whole=whole, rough=True)
            if not _are_apart(rough.of(new), rough.of(old)):
                return False
        trials = self.trials_at("usual", whole=whole, rough=False)
        after, before = trials.of(new), trials.of(old)
        if after is None or before is None or after.drawn != before.drawn:
            return False
        return are_other_values(after, before)

    def _places(self, old: Node, *, whole: bool) -> Iterator[Places]:
        """Where to look: at positive numbers, too, if a value is NaN at most of either sign."""
        yield "usual"
        if len(reachable([old])) <= MOST:
            yield "wide"
            trial = self.trials_at("wide", whole=whole, rough=True).of(old)
            if trial is not None and len(trial.right) > 1:  # not a constant
                gone = np.isnan(trial.found[0, ORDINARY_SIZES])
                if gone.any(axis=tuple(range(1, gone.ndim))).mean() > _MANY:
                    yield "positive"

    def _needs_whole_arrays(self, new: Node, old: Node) -> bool:
        """Whether random numbers stand for a computed value where long arrays are shortened.

        It is asked of small graphs only: whole arrays take a hundred times as long.
        """
        below = reachable([old, new])
        if len(below) > _FEW or any(size_of(each) > _SMALL for each in below):
            return False
        trial = self.trials_at("usual", whole=False, rough=False).of(old)
        return trial is not None and bool(trial.drawn)

    def trials_at(self, places: Places, *, whole: bool = False, rough: bool = False) -> Trials:
        """The trials at these probes: of whole arrays, or of single precision alone."""
        key = (places, whole, rough)
        found = self._trials.get(key)
        if found is None:
            # What a rough trial does not lose is lost by no other: they have the same numbers.
            finer = self._trials.get((places, whole, False)) if rough else None
            usual = self._trials["usual", False, False]
            found = Trials(
                *(self._knowledge, places),
                whole=whole,
                rough=rough,
                order=usual.order,
                finer=finer,
                exponents=usual.exponents,
            )
            self._trials[key] = found
        return found

    def _drops_at(self, where: Places, new: Node, old: Node, *, whole: bool) -> bool:
        """Whether it does at these probes; `whole` if a kernel cannot run on short arrays."""
        usual = self.trials_at("usual", whole=False, rough=False)
        rows = OF_ONE_SIZE if where == "wide" else slice(None)
        if whole or where != "usual" or not (usual.has(new) and usual.has(old)):
            rough = self.trials_at(where, whole=whole, rough=True)
            one, other = rough.of(new), rough.of(old)
            if _is_finite(one, rows) or not _is_suspicious(one, other, rows):
                return False
        trials = self.trials_at(where, whole=whole, rough=False)
        after, before = trials.of(new), trials.of(old)
        if after is None or before is None:
            return False
        places = [each for each in _dropped(after, before) if rows.stop is None or each < rows.stop]
        if places:
            lucky = lucky_probes(trials, old)
            places = [each for each in places if each not in lucky]
        return bool(places) if where == "usual" else is_wide_band(places)


def plainly_gone(new: Trial, old: Trial, reference: Numbers) -> Numbers:
    """Where, without perturbed roundings, the old value is right and the new one is not finite.

    Double precision must have a number for both: where y is tiny and x negative, y x**(y - 1) x is
    a number only because y - 1 is rounded to -1.
    """
    error = np.abs(old.found[0] - reference)
    right = error <= CERTAIN * np.abs(reference) + SMALLEST
    gone = right & ~np.isfinite(new.found[0]) & np.isfinite(new.right)
    return gone & ~zeros_by_luck(old, reference) if gone.any() else gone


def _is_finite(trial: Trial | None, rows: slice) -> bool:
    """Whether a value is a number at all these probes: then none is lost."""
    return trial is not None and bool(np.isfinite(trial.found[:, rows]).all())


def _are_apart(new: Trial | None, old: Trial | None) -> bool:
    """Whether values may differ by more than roundings at numbers near 1."""
    if new is None or old is None or len(old.right) != COUNT:
        return False
    if new.found.shape != old.found.shape:
        return False
    after, before = new.found[0][NEAR_ONE], old.found[0][NEAR_ONE]
    with np.errstate(all="ignore"):
        return bool(np.any(np.abs(after - before) > NEAR * np.abs(before) + SMALLEST))


def _is_suspicious(new: Trial | None, old: Trial | None, rows: slice) -> bool:
    """Whether a new value is not finite somewhere where the old one is; also if it is not known."""
    if new is None or old is None:
        return False
    if new.found.shape != old.found.shape or new.drawn or old.drawn:
        return True
    after, before = new.found[:, rows], old.found[:, rows]
    return bool(np.any(np.isfinite(before) & ~np.isfinite(after)))


def _dropped(new: Trial, old: Trial) -> Sequence[int]:
    """The probes at which a number is plainly gone.

    Mixed probes do not count, for there every order of factors overflows for some inputs, nor do
    numbers near the end of the range.
    """
    if new.right.shape != old.right.shape or new.drawn != old.drawn:
        return ()
    with np.errstate(all="ignore"):
        size = np.abs(old.right)
        near = np.abs(new.right - old.right) <= NEAR * size + SMALLEST
        gone = plainly_gone(new, old, old.right) & near & (size < LARGEST / NEAR_THE_END)
    rows = np.any(gone.reshape(len(old.right), -1), axis=1)
    return np.flatnonzero(rows & ~MIXED if len(rows) == COUNT else rows).tolist()
