"""Two sums without the terms that they share.

In a + x and a + y the term `a` hides what digits x has lost, unless it is small beside x. At few
probes it is, because numbers of one size are drawn for all inputs; for the user it may be 0. So x
and y are compared as well. A number that both add stays: it is there at all points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..ir.node import Node
from ..ir.walks import unrepeated
from .trial import Trial, drawn_below

__all__ = ["apart_from_common_terms"]

_MOST = 16
"""Terms of longer sums are not looked at."""

_Terms: TypeAlias = "Counter[tuple[Node, int]]"


def apart_from_common_terms(
    new: Node, old: Node, trial: Callable[[Node], Trial | None]
) -> tuple[Trial, Trial] | None:
    """The trials of what two sums do not share; None if they share nothing but numbers, or all.

    Parameters
    ----------
    new, old : Node
    trial : callable
        From a node to its trial.
    """
    ours, theirs = _terms(new), _terms(old)
    shared = ours & theirs
    common = Counter({each: n for each, n in shared.items() if not unrepeated(each[0]).is_constant})
    if not common:
        return None
    one, other = _sum(ours - common, trial), _sum(theirs - common, trial)
    return None if one is None or other is None else (one, other)


def _terms(node: Node) -> _Terms:
    """The terms of a sum of arrays of its shape, each with its sign; none of a long one."""
    found: _Terms = Counter()
    waiting = [(node, 1)]
    while waiting:
        each, sign = waiting.pop()
        signs = each.op.traits.combination
        if signs and all(operand.aval == node.aval for operand in each.operands):
            waiting += [(x, sign * s) for x, s in zip(each.operands, signs, strict=True)]
        else:
            found[each, sign] += 1
        if len(found) > _MOST or len(waiting) > _MOST:
            return Counter()
    return found


def _sum(terms: _Terms, trial: Callable[[Node], Trial | None]) -> Trial | None:
    trials = [(trial(each), sign * count) for (each, sign), count in terms.items()]
    known = [(each, factor) for each, factor in trials if each is not None]
    if not known or len(known) < len(trials):
        return None
    with np.errstate(all="ignore"):
        right = sum(factor * each.right for each, factor in known)
        found = sum(factor * each.found.astype(np.float64) for each, factor in known)
        single = np.asarray(found).astype(np.float32)
    return Trial(np.asarray(right), single, drawn_below([each for each, _ in known]))
