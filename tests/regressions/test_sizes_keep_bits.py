"""At trust "exact" no value is computed at another size, where its last digit may differ.

NumPy computes a softplus of many elements by another kernel, and a sigmoid by one at every size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

BY_SIZE: list[Callable[[Any], Any]] = [snp.sigmoid, snp.softplus]

PROGRAMS: list[Callable[[Any, Any], Any]] = [
    lambda f, x: f(snp.broadcast_to(x, (40, 24))),
    lambda f, x: f(snp.outer(snp.ones(40), x))[0],
    lambda f, x: f(np.concatenate([x] * 20))[3:9],
    lambda f, x: np.concatenate([f(x[:8]), f(x[8:])] * 20),
]


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("f", BY_SIZE)
def test_exact_keeps_every_bit(f: Callable[[Any], Any], program: Callable[[Any, Any], Any]) -> None:
    graph = sg.trace(lambda x: program(f, x), x=sg.spec(24))
    small = graph.simplify(trust="exact")
    rng = np.random.default_rng(0)
    differs = False
    for _ in range(20):
        x = rng.normal(size=24) * 3
        wanted = graph.evaluate(x=x)
        np.testing.assert_array_equal(small.evaluate(x=x), wanted)
        np.testing.assert_array_equal(small.lower()(x), wanted)
        differs |= not np.array_equal(f(np.tile(x, 40))[:24], f(x))
    assert differs == (f is snp.softplus)  # So the test would see it.
