"""Luck: a value that is right although something below it was lost.

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

__all__ = ["LostBelow", "lost_below", "lucky_probes", "zeros_by_luck"]

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
    """The probes at which a value below is lost, so that what is right above is so by luck.

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


def lost_below(trials: Trials, node: Node) -> LostBelow:
    """Where something below a value is lost, so that it may be right by luck."""
    overflowed, made, compared = (np.zeros(COUNT, bool) for _ in range(3))
    for each in reachable([node]):
        trial = trials.of(each)
        if trial is None:
            continue
        if each.dtype.kind == "f":
            overflowed |= _overflowed(trials, each) & _wrong_rows(trial, trial.right)
            made |= _made_nan(trials, each, trial)
        elif each.op.traits.comparison is not None:
            compared |= _of_operands(trials, each, lambda below: np.isnan(below.found[0]))
    return LostBelow(overflowed, made & compared)


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
