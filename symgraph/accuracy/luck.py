"""Luck: a value that is right although something below it was lost.

A comparison with NaN is false; what overflowed and became a wrong number may not matter above.
"""

from __future__ import annotations

import numpy as np

from ..ir.node import Node
from ..ir.walks import reachable
from .other_values import SMALLEST
from .probes import Numbers
from .trial import Trial
from .trials import Trials

__all__ = ["lucky_probes", "zeros_by_luck"]

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
            lost = np.isnan(trial.found[0])
            rows = lost.reshape(len(lost), -1).any(axis=1)
            if each.dtype.kind == "f":
                rows = rows | (_overflowed(trials, each) & _wrong_rows(trial, trial.right))
            found.update(np.flatnonzero(rows).tolist())
    return found


def _overflowed(trials: Trials, node: Node) -> Numbers:
    """Whether at a probe an operand is infinite that is a number in double precision."""
    found = np.zeros(1, bool)
    for each in map(trials.of, node.operands):
        if each is not None:
            gone = np.isinf(each.found[0]) & np.isfinite(each.right)
            found = found | gone.reshape(len(gone), -1).any(axis=1)
    return found


def _wrong_rows(trial: Trial, reference: Numbers) -> Numbers:
    """The probes at which an element, as it is computed, is a number and a wrong one."""
    with np.errstate(all="ignore"):
        error = np.abs(trial.found[0] - reference)
        wrong = np.isfinite(trial.found[0]) & (error > _WRONG * np.abs(reference) + SMALLEST)
    return wrong.reshape(len(wrong), -1).any(axis=1)
