"""Values that are right by luck: something below them was lost.

A comparison with NaN is false; what overflowed and became a wrong number may not matter above.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..ir.node import Node
from ..ir.walks import reachable
from .other_values import SMALLEST
from .probes import COUNT, Numbers
from .trial import Trial
from .trials import Trials

__all__ = ["LostBelow", "Luck", "lucky_probes", "zeros_by_luck"]

_WRONG = 0.5
"""Relative error above which a number says nothing."""


def zeros_by_luck(old: Trial, reference: Numbers) -> Numbers:
    """Zeros of an array of which another element is a wrong number: all of it was lost before.

    Where a norm overflows, what is divided by it is 0 in single precision; and where a gate is
    shut, 0 is right by luck.
    """
    size, rows = np.abs(reference), _wrong_rows(old, reference)
    return (size <= SMALLEST) & rows.reshape(-1, *[1] * (size.ndim - 1))


def lucky_probes(trials: Trials, node: Node) -> set[int]:
    """The probes at which a value below is lost: a right value above it is right by luck.

    An element is NaN, or an overflow became a wrong number: x / norm(x) is 0 where the norm
    overflows, and another row is so much larger that it does not matter in the sum.
    """
    found = set[int]()
    for each in reachable([node]):
        trial = trials.of(each)
        if trial is not None:
            rows = _rows(np.isnan(trial.found[0]))
            if each.dtype.kind == "f":
                rows = rows | (_overflowed(trials, each) & _wrong_rows(trial, trial.right))
            found.update(np.flatnonzero(rows).tolist())
    return found


class LostBelow(NamedTuple):
    """The probes at which something below a value is lost, as masks.

    Parameters
    ----------
    overflowed : ndarray
        An overflow became a wrong number: m / sqrt(v) is 0 where v overflows.
    undecided : ndarray
        Infinities made NaN, and NaN was compared: where 0 * inf > 0 is false, a gradient is 0.
    """

    overflowed: Numbers
    undecided: Numbers


class Luck:
    """Finds where something below a value is lost, so that it may be right by luck.

    Parameters
    ----------
    trials : Trials
        At usual probes.
    """

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._below: dict[Node, Numbers] = {}
        """For each value three masks: where an overflow became a wrong number, where infinities
        made NaN, and where NaN was compared."""

    def below(self, node: Node) -> LostBelow:
        """Where something below a value is lost."""
        for each in reachable([node]):
            if each not in self._below:
                self._below[each] = self._masks(each)
        overflowed, made, compared = self._below[node]
        return LostBelow(overflowed, made & compared)

    def _masks(self, node: Node) -> Numbers:
        below = [self._below[each] for each in node.operands]
        found: Numbers = np.logical_or.reduce(below) if below else np.zeros((3, COUNT), bool)
        trial, trials = self._trials.of(node), self._trials
        operands = [each for each in map(trials.of, node.operands) if each is not None]
        if trial is None or all(each.is_finite for each in (trial, *operands)):
            return found
        if node.dtype.kind == "f":
            found[0] |= _overflowed(trials, node) & _wrong_rows(trial, trial.right)
            found[1] |= _made_nan(trials, node, trial)
        elif node.op.traits.comparison is not None:
            found[2] |= _of_operands(trials, node, lambda each: np.isnan(each.found[0]))
        return found


def _made_nan(trials: Trials, node: Node, trial: Trial) -> Numbers:
    """Whether at a probe a value is NaN of which no operand is, and one is infinite."""
    found = _rows(np.isnan(trial.found[0]))
    if found.any():
        infinite = _of_operands(trials, node, lambda below: np.isinf(below.found[0]))
        lost = _of_operands(trials, node, lambda below: np.isnan(below.found[0]))
        found = found & infinite & ~lost
    return found


def _overflowed(trials: Trials, node: Node) -> Numbers:
    """Whether at a probe an operand is infinite that is a number in double precision."""
    return _of_operands(
        trials, node, lambda below: np.isinf(below.found[0]) & np.isfinite(below.right)
    )


def _of_operands(trials: Trials, node: Node, holds: Callable[[Trial], Numbers]) -> Numbers:
    """The probes at which something holds of an element of an operand."""
    found: Numbers = np.zeros(1, bool)
    for each in map(trials.of, node.operands):
        if each is not None:
            found = found | _rows(holds(each))
    return found


def _rows(elements: Numbers) -> Numbers:
    """The probes at which an element is true."""
    return np.logical_or.reduce(elements.reshape(len(elements), -1), axis=1)


def _wrong_rows(trial: Trial, reference: Numbers) -> Numbers:
    """The probes at which an element, as it is computed, is a number and a wrong one."""
    with np.errstate(all="ignore"):
        error = np.abs(trial.found[0] - reference)
        return _rows(np.isfinite(trial.found[0]) & (error > _WRONG * np.abs(reference) + SMALLEST))
