"""Errors of operations name each operand; those that look the same share a row."""

from __future__ import annotations

import numpy as np
import pytest

import symgraph as sg


def test_neighbours_that_look_the_same_share_a_row() -> None:
    rows = [np.ones(2)] * 20

    def f(x):
        return np.concatenate([*rows, x[None], *rows])

    with pytest.raises(sg.ShapeError) as raised:
        sg.trace(f, x=(2,))
    told = [line.strip() for line in str(raised.value).splitlines()]
    assert [line.partition("   ")[0] for line in told if line.startswith("operand")] == [
        "operands 0 to 19",
        "operand 20",
        "operands 21 to 40",
    ]


def test_neighbours_that_differ_have_a_row_each() -> None:
    with pytest.raises(sg.ShapeError) as raised:
        sg.trace(lambda x, y: x @ y, x=(2, 3), y=(4, 5))
    told = str(raised.value)
    assert "operand 0   float64[2, 3] x" in told
    assert "operand 1   float64[4, 5] y" in told
