"""Logarithms of tangents, whose slope the book has in the double angle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "log tan x": (lambda x: np.log(np.tan(x)), lambda x: 2 / np.sin(2 * x)),
    "log tan 3x": (lambda x: np.log(np.tan(3 * x)), lambda x: 6 / np.sin(6 * x)),
    "log cot^2 x": (
        lambda x: np.log(np.cos(x) ** 2 / np.sin(x) ** 2),
        lambda x: -4 / np.sin(2 * x),
    ),
    "log tanh x": (lambda x: np.log(np.tanh(x)), lambda x: 2 / np.sinh(2 * x)),
}


@pytest.mark.parametrize("name", CASES)
def test_slope(name: str) -> None:
    f, closed = CASES[name]
    small = sg.trace(f, x="").gradient("x", value=False).simplify()
    assert small.op_count() == 3
    np.testing.assert_allclose(small.evaluate(x=0.3), closed(0.3), rtol=1e-13)


@pytest.mark.parametrize(
    ("f", "closed"),
    [
        (lambda x, a: a * np.log(np.sin(x)), lambda x, a: a / np.tan(x)),
        (lambda x, a: a * np.log(np.sinh(x)), lambda x, a: a / np.tanh(x)),
    ],
    ids=["sine", "hyperbolic sine"],
)
def test_a_factor_stands_between_cosine_and_sine(
    f: Callable[..., Any], closed: Callable[..., Any]
) -> None:
    small = sg.trace(f, x="", a="").gradient("x", value=False).simplify()
    assert small.op_count() == 2
    np.testing.assert_allclose(small.evaluate(x=0.3, a=1.75), closed(0.3, 1.75), rtol=1e-13)


def test_the_book_has_no_digits_to_lose() -> None:
    """1 - tanh^2 x has none left from x = 19 on; 1 / sinh 2x has them all."""
    small = sg.trace(CASES["log tanh x"][0], x="").gradient("x", value=False).simplify()
    np.testing.assert_allclose(small.evaluate(x=25.0), 2 / np.sinh(50.0), rtol=1e-13)
