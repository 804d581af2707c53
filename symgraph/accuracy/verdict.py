"""The verdict on a new spelling beside an old one: what it loses, and what it rescues."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .lost_numbers import LARGEST, plainly_gone
from .lucky_values import LostBelow, zeros_by_luck
from .other_values import ACCIDENTS, CERTAIN, SMALLEST, WRONG, are_other_values
from .probes import COUNT, MIXED, ORDINARY, Numbers
from .trial import Trial
from .trials import UNIT

__all__ = ["ALIKE", "Verdict", "compared"]

_FACTOR = 8.0
"""A new spelling loses digits if its error is more than this many times that of the old one."""

_UNITS = 8 * UNIT
"""Relative error that every spelling may have."""

_LOST = 1e-3
"""Relative error of the old value above which it has no digits to lose."""

_NONE = 0.5
"""Relative error above which a value says nothing, so that NaN in its place is no loss."""

_MATTERS = 0.01
"""Smaller values are exempt from `_NONE`: underflow to 0 has a large relative error only."""

_AMBIGUOUS = 1e-6
"""Relative difference above which the references of two spellings disagree: neither is trusted."""

_SAME = 0.5
"""The least share of elements at which the references must agree.

It is asked only of spellings that rest on different random numbers."""

_ONE_SIDED = 4
"""At mixed probes a spelling may fail this many times as often as it succeeds."""


class Verdict(NamedTuple):
    """The result of comparing a new spelling with an old one."""

    loses: bool
    rescues: bool
    differs: bool = False


ALIKE = Verdict(loses=False, rescues=False)
"""The verdict where no difference counts, or where the spellings cannot be compared."""


class _Errors(NamedTuple):
    """The errors of both spellings, element by element.

    Parameters
    ----------
    reference : ndarray
        The value in double precision: that of the old spelling, or of the new one where the old
        one is not finite.
    size : ndarray
        Its absolute value.
    tolerance : ndarray
        The largest error of a right value.
    old, new : ndarray
        The largest error of each spelling in any repetition.
    old_finite, new_finite : ndarray
        Whether that error is finite.
    """

    reference: Numbers
    size: Numbers
    tolerance: Numbers
    old: Numbers
    new: Numbers
    old_finite: Numbers
    new_finite: Numbers

    @property
    def old_certain(self) -> Numbers:
        """Elements at which the old value is clearly right."""
        return self.old <= CERTAIN * self.size + SMALLEST

    @property
    def most(self) -> Numbers:
        """The error that the new value may have beside the error of the old one."""
        return _FACTOR * self.old + _UNITS * self.size + SMALLEST


class _Elements(NamedTuple):
    """The elements at which the spellings differ in a way that counts, as masks.

    Parameters
    ----------
    lies : ndarray
        The old value is infinite or NaN in all repetitions; the new one is a wrong number.
    rescued : ndarray
        The old value is infinite or NaN in all repetitions; the new one is right.
    not_finite : ndarray
        The old value and the reference are finite; the new value is not.
    gone : ndarray
        Likewise, and the old value was of use: not off by half of a size that matters, nor 0 in an
        array that is wrong elsewhere. Or, of both
        as they are computed without perturbed roundings, the old value is right and the new one is
        not finite. Perturbed roundings exaggerate a saturated function: tanh(40) is 1, so that
        1 - tanh(40)**2 is exactly 0, and stays 0 if it is divided by a tiny number.
    spoiled : ndarray
        The old value is right; the new one is not.
    gross : ndarray
        The old value is clearly right; the new one is wrong.
    won : ndarray
        The new value is right; the old one is not.
    fewer_digits : ndarray
        Both values are finite, and the new one has lost digits that the old one had.
    """

    lies: Numbers
    rescued: Numbers
    not_finite: Numbers
    gone: Numbers
    spoiled: Numbers
    gross: Numbers
    won: Numbers
    fewer_digits: Numbers


def compared(
    new: Trial, old: Trial, are_whole: Callable[[], bool], below: LostBelow | None = None
) -> Verdict:
    """The verdict on a new spelling beside an old one.

    Parameters
    ----------
    new, old : Trial
    are_whole : callable
        As that of their trials.
    below : LostBelow, optional
        What is lost below the old spelling. What it has by luck it cannot lose.
    """
    if new.right.shape[1:] != old.right.shape[1:]:
        return ALIKE
    with np.errstate(all="ignore"):
        errors = _errors(new, old)
        if _is_harmless(errors):
            return ALIKE
        gap = np.abs(old.right - new.right)
        same = new.drawn == old.drawn
        differs = same and are_other_values(new, old) and are_whole()
        agreed = ~(gap > _AMBIGUOUS * errors.size + SMALLEST)
        if not same and np.count_nonzero(agreed) < _SAME * agreed.size:
            return ALIKE
        elements = _elements(new, old, errors, agreed)
        if below is not None:
            elements = _without_luck(elements, errors, below)
    return _over_probes(elements)._replace(differs=differs)


def _errors(new: Trial, old: Trial) -> _Errors:
    reference = np.where(np.isfinite(old.right), old.right, new.right)
    size = np.abs(reference)
    before, after = old.largest_distance(reference), new.largest_distance(reference)
    tolerance = WRONG * size + SMALLEST
    finite = np.isfinite(before), np.isfinite(after)
    return _Errors(reference, size, tolerance, before, after, *finite)


def _is_harmless(errors: _Errors) -> bool:
    """Whether all values are finite and no error is larger: nearly always, so it is asked first."""
    if not (errors.old_finite.all() and errors.new_finite.all()):
        return False
    grown = (errors.new > errors.tolerance) & errors.old_certain
    return not (grown | (errors.new > errors.most)).any()


def _elements(new: Trial, old: Trial, errors: _Errors, agreed: Numbers) -> _Elements:
    """The elements at which the spellings differ.

    Parameters
    ----------
    new, old : Trial
    errors : _Errors
    agreed : ndarray
        Whether the references of both spellings agree at an element, so that it can be judged.
    """
    reference, size, tolerance, before, after, old_finite, new_finite = errors
    old_right = old_finite & (before <= tolerance)
    new_right = new_finite & (after <= tolerance)
    # A right number may take the place of NaN, a wrong one may not. The scatter of the new value's
    # own roundings does not make it wrong.
    scatter = new.largest_distance(new.found[0])
    nothing = ~np.any(np.isfinite(old.found), axis=0) & ~np.isnan(reference)
    judged = agreed | ~np.isfinite(old.right)
    close = (after <= tolerance + _FACTOR * scatter) & (size <= LARGEST)
    not_finite = old_finite & ~new_finite & np.isfinite(reference)
    useless = (before > _NONE * size) & (size > _MATTERS)
    digits = agreed & old_finite & new_finite & (before <= _LOST * size + SMALLEST)
    lucky = _right_by_luck(before, size)
    return _Elements(
        lies=nothing & judged & new_finite & ~close,
        rescued=nothing & new_finite & close,
        not_finite=not_finite,
        gone=not_finite & ~useless & ~zeros_by_luck(old, reference)
        | plainly_gone(new, old, reference),
        spoiled=old_right & agreed & ~new_right,
        gross=agreed & old_finite & ~new_right & errors.old_certain & ~lucky,
        won=agreed & ~old_right & new_right & np.isfinite(reference),
        fewer_digits=digits & ~lucky & (after > errors.most),
    )


def _without_luck(elements: _Elements, errors: _Errors, below: LostBelow) -> _Elements:
    """The elements without those that the old value has by luck.

    Where an overflow became a wrong number, a value that is clearly right has lost nothing by it.
    """
    shape = (-1, *[1] * (errors.size.ndim - 1))
    lucky = below.undecided.reshape(shape)
    lucky = lucky | (below.overflowed.reshape(shape) & ~errors.old_certain)
    return elements._replace(
        gone=elements.gone & ~lucky,
        gross=elements.gross & ~lucky,
        fewer_digits=elements.fewer_digits & ~lucky,
    )


def _right_by_luck(before: Numbers, size: Numbers) -> Numbers:
    """Zeros that the old spelling gets right by luck: it loses another element of the array."""
    lost = (before > _NONE * size + SMALLEST).reshape(len(before), -1).any(axis=1)
    return (size <= SMALLEST) & lost.reshape(-1, *[1] * (size.ndim - 1))


def _over_probes(elements: _Elements) -> Verdict:
    """The verdict from all elements. A constant has one probe, which is neither mixed nor ordinary.

    At mixed probes every order of factors overflows for some inputs. So there a spelling loses only
    if it fails much more often than it succeeds.
    """
    size = elements.fewer_digits.size
    whole = len(elements.fewer_digits) == COUNT
    mixed, ordinary = (MIXED, ORDINARY) if whole else (slice(0), slice(0))
    unmixed = ~MIXED if whole else slice(None)
    rescued = np.any(elements.rescued[ordinary]) and not np.any(elements.lies[unmixed])
    spoiled = np.any(elements.not_finite[unmixed]) or np.any(elements.spoiled[unmixed])
    failed = elements.gone | elements.gross | elements.lies
    accidents = 1 + size // ACCIDENTS
    loses = np.any(failed[unmixed])
    loses = loses or np.count_nonzero(elements.fewer_digits[unmixed]) > accidents
    successes = accidents + np.count_nonzero(elements.won[mixed])
    loses = loses or np.count_nonzero(failed[mixed]) > _ONE_SIDED * successes
    return Verdict(loses=bool(loses), rescues=bool(rescued and not spoiled))
