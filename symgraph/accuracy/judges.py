"""The judge of each knowledge: all graphs that are simplified with it share one."""

from __future__ import annotations

import weakref

from ..ir.fact_inference import Knowledge
from .judge import Judge
from .near import NearJudge

__all__ = ["judge_of", "judged_as_carefully", "judged_nearby"]

_judges: weakref.WeakKeyDictionary[Knowledge, Judge] = weakref.WeakKeyDictionary()


def judge_of(knowledge: Knowledge) -> Judge:
    """The judge for all graphs simplified with this knowledge."""
    found = _judges.get(knowledge)
    if found is None:
        found = _judges[knowledge] = Judge(weakref.proxy(knowledge))
    return found


def judged_as_carefully(knowledge: Knowledge, as_in: Knowledge) -> Knowledge:
    """The knowledge, whose judge is as careful as that of another."""
    judge_of(knowledge).careful = judge_of(as_in).careful
    return knowledge


def judged_nearby(knowledge: Knowledge) -> Knowledge:
    """The knowledge, whose judge compares spellings over the arrays that they share."""
    _judges[knowledge] = NearJudge(weakref.proxy(knowledge))
    return knowledge
