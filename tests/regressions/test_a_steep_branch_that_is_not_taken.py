"""The slope of max(sqrt(u), v) where u is 0 and v is chosen: 0 times infinity is not added.

`maximum` gives both operands a share of the cotangent, and that of the other one is 0. The slope of
a root at 0 is infinite, so the root's rule acts behind the share, as it does behind a mask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

CASES: dict[str, tuple[Callable[[Any], Any], float]] = {
    "maximum": (lambda x: np.maximum(np.sqrt(x + 1), x + 3), -1.0),
    "the other way around": (lambda x: np.maximum(x + 3, np.sqrt(x + 1)), -1.0),
    "minimum": (lambda x: np.minimum(-np.sqrt(x), x - 3), 0.0),
    "a multiple": (lambda x: np.maximum(5 - 3 * np.sqrt(x), np.exp(x) + 6), 0.0),
    "a product": (lambda x: np.maximum(np.cos(x) * np.sqrt(x), np.exp(x)), 0.0),
    "a quotient": (lambda x: np.maximum(np.sqrt(x) / (2 + x), np.exp(x)), 0.0),
    "below another maximum": (lambda x: np.maximum(np.maximum(np.sqrt(x), x), x + 1), 0.0),
    "times another value": (lambda x: np.exp(x) * np.maximum(np.sqrt(x), x + 1), 0.0),
    "behind a mask": (lambda x: np.where(x < 5, np.maximum(np.sqrt(x), x + 1), 0), 0.0),
    "a cube root": (lambda x: np.maximum(np.cbrt(x), x + 1), 0.0),
}


def graphs(function: Callable[[Any], Any]) -> list[sg.Graph]:
    derived = sg.trace(function, x=sg.spec(())).gradient("x", value=False)
    return [derived, derived.simplify()]


@pytest.mark.parametrize("case", CASES)
def test_it_is_the_slope_of_the_branch_that_is_taken(case: str) -> None:
    function, at = CASES[case]
    step = 1e-7
    right = (function(at + step) - function(at)) / step
    for graph in graphs(function):
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(graph.evaluate(x=np.array(at)), right, rtol=1e-5)


def test_the_taken_branch_keeps_its_infinite_slope() -> None:
    for graph in graphs(lambda x: np.maximum(np.sqrt(x), x - 1)):
        with np.errstate(divide="ignore"):
            assert graph.evaluate(x=np.array(0.0)) == np.inf


@pytest.mark.parametrize(("at", "right"), [(0.25, 1.0), (1.0, 0.75), (4.0, 1.0)])
def test_ties_share_the_slope_as_before(at: float, right: float) -> None:
    for graph in graphs(lambda x: np.maximum(np.sqrt(x), x)):
        assert graph.evaluate(x=np.array(at)) == right


def test_both_sides_of_a_tie_at_which_one_is_steep() -> None:
    """max(sqrt(x), x) at 0: half of infinity and half of 1."""
    for graph in graphs(lambda x: np.maximum(np.sqrt(x), x)):
        with np.errstate(divide="ignore"):
            assert graph.evaluate(x=np.array(0.0)) == np.inf


@pytest.mark.whole
def test_arrays_and_second_derivatives() -> None:
    def function(x: Any) -> Any:
        return np.sum(np.maximum(np.sqrt(x + 1), (x + 3) ** 2 / 4))

    x = np.array([-1.0, 0.5, 3.0])
    first = sg.trace(function, x=sg.spec("n")).gradient("x", value=False)
    second = sg.trace(function, x=sg.spec("n")).hessian("x", value=False)
    for graph in (first, first.simplify()):
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(graph.evaluate(x=x), (x + 3) / 2)
    np.testing.assert_allclose(second.simplify().evaluate(x=x[1:]), np.eye(2) / 2)


def test_a_root_of_what_is_positive_is_as_short_as_before() -> None:
    """Nothing is steep there: sqrt(1 + x**2) and y have one pair of shares."""

    def function(x: Any, y: Any) -> Any:
        return np.sum(np.maximum(np.sqrt(1 + x**2), y))

    graph = sg.trace(function, x=sg.spec("n"), y=sg.spec("n")).gradient("x", "y", value=False)
    assert graph.simplify().op_count() <= 11
