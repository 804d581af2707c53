"""At a kink or tie simplified gradients are those of the graph as derived (docs/decisions.md, 24).

Where kinks cancel, as in a softplus written with a maximum, it is the derivative there is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

KINKED: dict[str, Callable[[Any, Any], Any]] = {
    "where below zero": lambda x, y: np.sum(np.where(x < 0, 0, x)),
    "where above zero": lambda x, y: np.sum(np.where(x > 0, 0, x) * y),
    "where of exp": lambda x, y: np.sum(np.where(x > 0, 1, np.exp(x))),
    "where within": lambda x, y: np.sum(np.where(np.abs(x) < 1, x, np.sign(x))),
    "where up to a bound": lambda x, y: np.sum(y * np.where(np.abs(x) <= 1, 2 * x, 2 * np.sign(x))),
    "where beyond a bound": lambda x, y: np.sum(
        np.sin(np.where(np.abs(x) > 0.5, 0.5 * np.sign(x), x)) * y
    ),
    "where above the other": lambda x, y: np.sum(np.where(x > y, np.maximum(x, y) - y, 0)),
    "where below the other": lambda x, y: np.sum(np.sin(np.where(x < y, np.minimum(x, y) - y, 0))),
    "where under a log of exps": lambda x, y: (
        np.log(np.sum(np.exp(np.where(y < 0, 0, y)))) - np.max(np.stack([y, x])[0])
    ),
    "maximum": lambda x, y: np.sum(np.maximum(x, 0) ** 2 + np.maximum(x, y)),
    "maximum of both and one again": lambda x, y: np.sum(np.maximum(np.maximum(x, y), y)),
    "minimum of both and one again": lambda x, y: np.sum(np.minimum(np.minimum(x, y), y)),
    "maximum of what is not negative": lambda x, y: np.sum(np.maximum(np.sqrt(x * x + y * y), 0)),
    "maximum of negatives": lambda x, y: np.sum(np.maximum(-x, -y)),
    "max of max": lambda x, y: np.max(np.max(np.stack([x, x * y]), axis=0)),
    "min of min": lambda x, y: np.min(np.min(np.stack([x, x * y]), axis=0)),
    "max of maximum": lambda x, y: np.max(np.maximum(x, 0)) - np.min(np.minimum(x, 0)),
    "clip": lambda x, y: np.sum(np.clip(x, -1, 1) * y),
    "maximum and minimum": lambda x, y: np.sum(np.minimum(np.maximum(x, -1), 1)),
    "abs": lambda x, y: np.sum(np.abs(x) * np.abs(y) + np.abs(x) ** 2),
    "sort": lambda x, y: np.sum(np.sort(x) * np.arange(4.0)),
    "relu of relu": lambda x, y: np.sum(np.maximum(np.maximum(x, 0) * 2, 0)),
}
AT = [
    (np.array([0.0, 1.0, -1.0, 0.0]), np.array([0.0, 1.0, -1.0, 0.5])),
    (np.array([1.0, 1.0, -1.0, 0.0]), np.array([1.0, -1.0, -1.0, 1.0])),
    (np.zeros(4), np.array([0.24, 0.0, 1.0, -0.0])),
    (np.array([0.5, -0.5, 0.5, 2.0]), np.array([0.5, 1.0, -0.5, 2.0])),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")
@pytest.mark.parametrize("order", ["gradient first", "simplified first"])
@pytest.mark.parametrize("name", KINKED)
def test_simplified_as_derived(name: str, order: str) -> None:
    forward = sg.trace(KINKED[name], x=sg.spec((4,)), y=sg.spec((4,)))
    derived = forward.gradient("x", "y")
    first = forward.simplify().gradient("x", "y")
    simple = (derived if order == "gradient first" else first).simplify()
    for x, y in AT:
        value, slopes = derived.evaluate(x=x, y=y)
        found, found_slopes = simple.evaluate(x=x, y=y)
        np.testing.assert_allclose(found, value)
        np.testing.assert_allclose(np.array(found_slopes), np.array(slopes), atol=1e-15)


TWICE: dict[str, Callable[[Any], Any]] = {
    "Huber's loss": lambda x: np.where(np.abs(x) <= 1.5, x * x / 2, 1.5 * (np.abs(x) - 0.75)),
    "clipped up to a bound": lambda x: np.sin(np.where(np.abs(x) <= 1.5, x, 1.5 * np.sign(x))),
    "clipped beyond a bound": lambda x: np.sin(np.where(np.abs(x) > 1.5, 1.5 * np.sign(x), x)),
}


@pytest.mark.parametrize("x", [1.5, -1.5, 1.0, 2.0])
@pytest.mark.parametrize("name", TWICE)
def test_second_derivatives_as_derived(name: str, x: float) -> None:
    first = sg.trace(TWICE[name], x=sg.spec(())).gradient("x", value=False)
    second = first.gradient("x", value=False)
    wanted = second.evaluate(x=x)
    np.testing.assert_allclose(second.simplify().evaluate(x=x), wanted, atol=1e-15)
    again = first.simplify().gradient("x", value=False)
    np.testing.assert_allclose(again.evaluate(x=x), wanted, atol=1e-15)


def test_what_is_differentiated_already_is_clipped() -> None:
    loss = sg.trace(lambda x: np.sum(TWICE["Huber's loss"](x)), x=sg.spec((4,)))
    assert "clip" in str(loss.gradient("x", value=False).simplify().formula())


SMOOTH: dict[str, tuple[Callable[[Any], Any], float]] = {
    "softplus": (lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), 0.5),
    "of a log": (lambda x: np.maximum(x, 0) - 0.25 * x + np.log(1 + np.exp(-np.abs(x))), 0.25),
    "identity": (lambda x: np.maximum(x, 0) + np.minimum(x, 0), 1.0),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_where_kinks_cancel_it_is_the_derivative(name: str) -> None:
    f, slope = SMOOTH[name]
    simple = sg.trace(f, x=sg.spec(())).gradient("x").simplify()
    assert float(np.ravel(simple.evaluate(x=0.0)[1])[0]) == slope


def test_what_is_differentiated_already_is_simplified_at_kinks() -> None:
    """Only what is yet to be differentiated is left alone: the slope in y is a maximum."""
    specs = {"x": sg.spec((4,)), "y": sg.spec((4,))}
    graph = sg.trace(lambda x, y: np.sum(np.where(x < 0, 0, x) * y), **specs).gradient("y")
    names = [node.op.name for node in graph.simplify().nodes]
    assert "maximum" in names
