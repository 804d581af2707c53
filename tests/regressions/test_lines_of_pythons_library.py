"""An error below `statistics.fmean(x)` named a line of `statistics.py` as the user's."""

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
