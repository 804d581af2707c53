"""Multiples of sigmoids that are written as one quotient, and those that are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

FAR = np.array([-1000.0, -40.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 40.0, 708.0, 720.0, 1000.0])

SHORT: dict[str, tuple[Callable[[Any], Any], int]] = {
    "-sigmoid(-x)": (lambda x: -snp.sigmoid(-x), 3),
    "-0.2/(1 + exp x)": (lambda x: -0.2 / (1 + np.exp(x)), 3),
    "a sum, its sign further up": (lambda x: -np.sum(x * (1 / (1 + np.exp(x)))), 4),
    "a product, its sign further up": (lambda x: -(np.sqrt(3 + x**2) @ snp.sigmoid(-x)), 7),
    "x sigmoid(-x)": (lambda x: x * snp.sigmoid(-x), 3),
    "-x sigmoid(-x)": (lambda x: x * -snp.sigmoid(-x), 3),
    "-x sum(x) sigmoid(-x)": (lambda x: np.sum(x) * (-snp.sigmoid(-x) * x), 5),
    "-sigmoid of a difference": (lambda x: -snp.sigmoid(np.cos(x) - x), 5),
    "x sigmoid of a difference": (lambda x: x * snp.sigmoid(3 * (np.cos(x) - x)), 6),
    "a sigmoid of a multiple of a sigmoid": (lambda x: snp.sigmoid(-2 * snp.sigmoid(-x)), 7),
}
KEPT: dict[str, tuple[Callable[[Any], Any], int]] = {
    "no multiple": (lambda x: snp.sigmoid(-x), 5),
    "no sign": (lambda x: 2 * snp.sigmoid(x), 5),
    "an array without a sign": (lambda x: x * snp.sigmoid(x), 5),
    "below a quotient": (lambda x: -(np.cos(x) / (1 + snp.sigmoid(-x))), 9),
    "a difference below": (lambda x: -snp.sigmoid(x / (np.cos(x) - 1)), 9),
    "a difference used again": (lambda x: (d := np.cos(x) - x) * snp.sigmoid(d), 7),
    "used again": (lambda x: (s := snp.sigmoid(-x)) * np.sum(-s), 8),
}


@pytest.mark.parametrize("name", SHORT | KEPT)
def test_count_and_numbers_far_out(name: str) -> None:
    f, most = (SHORT | KEPT)[name]
    graph = sg.trace(f, x=sg.spec("11"))
    small = graph.simplify()
    assert small.op_count() <= most, small
    assert ("exp" in {node.op.name for node in small.nodes}) == (name in SHORT)
    assert small.simplify().dag.outputs == small.dag.outputs
    with np.errstate(all="ignore"):
        found, expected = small.evaluate(x=FAR), graph.evaluate(x=FAR)
    tiny = 4 * np.finfo(float).tiny
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=tiny)


@pytest.mark.parametrize("name", SHORT)
def test_the_gradient_is_that_of_the_sigmoid(name: str) -> None:
    """A quotient would have the slope exp(x) / (1 + exp(x))**2 there: infinite over infinite."""
    f, _ = SHORT[name]
    graph = sg.trace(lambda x: np.sum(f(x)), x=sg.spec("11"))
    slopes = graph.simplify().gradient("x", value=False).simplify().evaluate(x=FAR)
    assert np.all(np.isfinite(slopes))
    other = graph.gradient("x", value=False).simplify().evaluate(x=FAR)
    np.testing.assert_array_equal(slopes, other)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: snp.sigmoid(-x) * snp.sigmoid(-y),
        lambda x, y: -snp.sigmoid(-x) * snp.sigmoid(-y),
        lambda x, y: snp.sigmoid(np.cos(x) - y) * snp.sigmoid(-y),
    ],
)
def test_of_two_sigmoids_one_is_the_multiple_of_the_other(f: Callable[..., Any]) -> None:
    at = {"x": np.linspace(-2, 2, 5), "y": np.linspace(1, 3, 5)}
    small = sg.trace(f, x="5", y="5").simplify()
    np.testing.assert_allclose(small.evaluate(**at), sg.trace(f, **at).evaluate(**at), rtol=1e-14)


def test_numbers_agree_in_single_precision() -> None:
    x = np.array([-90.0, -3.0, 0.0, 3.0, 80.0], np.float32)
    small = sg.trace(lambda x: -snp.sigmoid(-x), x=x).simplify()
    found = small.evaluate(x=x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, -1 / (1 + np.exp(x.astype(float))), rtol=1e-6)
