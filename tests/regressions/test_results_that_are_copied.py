"""Plans of graphs whose results are copied: views, inputs, numbers, one value twice.

Large copies had no memory that the arena knew, and a copy between two recomputations was no plan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from installed import ON_THE_CPU

import symgraph as sg

LARGE: dict[str, Callable[[Any], Any]] = {
    "twice": lambda a: (np.exp(a), np.exp(a)),
    "an input": lambda a: (a, np.sin(a)),
    "a view": lambda a: (np.exp(a)[::-1], np.exp(a) * 2),
    "repeated numbers": lambda a: np.broadcast_to(np.sum(a), (40, 30)),
}


@pytest.mark.parametrize("backend", ON_THE_CPU)
@pytest.mark.parametrize("f", LARGE.values(), ids=LARGE)
def test_large_results_are_copied(f: Callable[[Any], Any], backend: str) -> None:
    a = np.random.default_rng(0).normal(size=(40, 30))
    planned = sg.trace(f, a=(40, 30)).checkpoint(recompute=[])
    found = planned.lower(backend)(a=a)
    for got, want in zip(np.atleast_3d(found), np.atleast_3d(f(a)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)


SMALL: dict[str, Callable[[Any], Any]] = {
    "two numbers": lambda a: (np.sum(a) * 2, np.sin(np.sum(a))),
    "a view and a number": lambda a: (np.sin(a)[:2], np.sum(np.sin(a))),
    "one value twice": lambda a: (np.cos(np.exp(a)), np.sum(np.exp(a)), np.cos(np.exp(a))),
}


@pytest.mark.parametrize("f", SMALL.values(), ids=SMALL)
def test_copies_come_last_in_a_plan(f: Callable[[Any], Any]) -> None:
    a = np.linspace(-1, 1, 4)
    graph = sg.trace(f, a=(4,))
    with pytest.raises(sg.MemoryBudgetError) as caught:
        graph.checkpoint(1)
    planned = graph.checkpoint(caught.value.least_bytes)
    for got, want in zip(planned.lower()(a=a), f(a), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)
