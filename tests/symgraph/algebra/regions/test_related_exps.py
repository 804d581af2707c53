"""Exponents over the inputs stay short."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.algebra.regions.memory import RegionMemory
from symgraph.algebra.regions.related_exps import RelatedExps
from symgraph.ir.fact_inference import Knowledge


def recurrence(x: Any, b: Any, steps: int) -> Any:
    for _ in range(steps):
        x = x * np.sum(b * x)
    return x


@pytest.mark.parametrize("steps", [3, 10])
def test_a_recurrence_that_doubles_its_factors_is_not_opened(steps: int) -> None:
    """Thirty steps of an auction would open to 2**30 factors."""
    knowledge = Knowledge()
    memory = RegionMemory(knowledge, None, at_kinks=True)
    graph = sg.trace(lambda x, b: recurrence(x, b, steps), x=3, b=3)
    atom = memory.lifter.atoms.leaf(graph.outputs["out"].node)
    opened = RelatedExps(memory).array_opened(atom) or {}
    assert all(len(term.factors) + len(term.bound) <= 48 for term in opened)
    assert bool(opened) is (steps < 6)
