"""Errors named lines of `statistics.py`, and of programs that were generated, as the user's."""

from __future__ import annotations

import copy
import heapq
import random
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

CASES: list[Callable[[Any], Any]] = [
    lambda x: statistics.fmean(x),
    lambda x: statistics.harmonic_mean(x),
    lambda x: sum(heapq.nlargest(2, x)),
    lambda x: random.Random(0).choices([1.0, 2.0, 3.0], weights=x)[0] * x[0],
    lambda x: float(copy.deepcopy(x)[0]),
]


@pytest.mark.parametrize("f", CASES)
def test_the_line_is_the_users(f: Callable[[Any], Any]) -> None:
    with pytest.raises(sg.TraceError) as raised:
        sg.grad(f)(np.array([0.1, 0.4, 0.2]))
    rows = [row for row in raised.value.rows if row.startswith("used at")]
    assert len(rows) == 1
    assert f"test_lines_of_pythons_library.py:{f.__code__.co_firstlineno}" in rows[0]


def test_a_line_of_a_generated_program_is_no_users() -> None:
    g = sg.grad(lambda a: sg.root(lambda z, a: z**2 + a, 1.0, a))
    with pytest.raises(sg.ConvergenceError) as raised:
        g(2.0)  # the call
    assert "g(2.0)  # the call" in str(raised.value)
    assert "<symgraph" not in str(raised.value)
    assert "sg.root(lambda z, a: z**2 + a, 1.0, a)" in raised.value.__notes__[0]
