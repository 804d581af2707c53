"""Products of a sigmoid and its complement, by cosh, and those that stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from passedgraphs import assert_same, operations

import symgraph as sg
from symgraph.ir.node import Node
from symgraph.numpy import sigmoid
from symgraph.passes.logistic_densities import with_logistic_densities

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SPECS = {"x": sg.spec(9), "y": sg.spec(9), "n": sg.spec(9, "float32")}
FAR = np.array([0.5, -1.25, 0.0, 40.0, -700.0, 800.0, -np.inf, np.inf, np.nan])
AT = {"x": FAR, "y": np.linspace(-2, 3, 9), "n": np.arange(9, dtype="float32") - 4}

Function = Callable[[Any, Any, Any], Any]


def written(graph: sg.Graph, loses: bool = False) -> list[Node]:
    """The outputs after the pass: valid, with nearly the same values, for good."""
    found = with_logistic_densities(graph.dag.outputs, lambda new, old: loses)
    assert with_logistic_densities(found, lambda new, old: loses) == found
    assert_same(found, graph, AT, rtol=1e-12, atol=1e-13)
    return found


BY_COSH: list[tuple[Function, str]] = [
    (lambda x, y, n: sigmoid(x) * sigmoid(-x), "cosh divide divide multiply"),
    (lambda x, y, n: sigmoid(-x) * (y * sigmoid(x)), "cosh divide divide multiply multiply"),
    (lambda x, y, n: sigmoid(x) * (1 - sigmoid(x)), "cosh divide divide multiply"),
    (
        lambda x, y, n: -(sigmoid(x) / y) * sigmoid(-x),
        "cosh divide divide divide multiply negative",
    ),
    (lambda x, y, n: sigmoid(x - y) * sigmoid(y - x), "cosh divide divide multiply subtract"),
    (lambda x, y, n: sigmoid(2 * x) * sigmoid(-2 * x), "cosh divide divide multiply multiply"),
    # The product is used twice, and the difference is one of the pair.
    (
        lambda x, y, n: (v := (s := sigmoid(x)) * (t := sigmoid(-x)), v * (t - s)),
        "cosh divide divide multiply multiply negative tanh",
    ),
    (
        lambda x, y, n: (s := sigmoid(-x)) * (t := sigmoid(x)) * (t - s),
        "cosh divide divide multiply multiply tanh",
    ),
    (
        lambda x, y, n: (s := sigmoid(x)) * (c := 1 - s) * ((y + s) - c),
        "add cosh divide divide multiply multiply tanh",
    ),
    (
        lambda x, y, n: (s := sigmoid(x)) * (c := sigmoid(-x)) * ((c + y) - s),
        "add cosh divide divide multiply multiply negative tanh",
    ),
]

KEPT: list[Function] = [
    # The sigmoid is used again.
    lambda x, y, n: (s := sigmoid(x)) + x * (s * sigmoid(-x)),
    lambda x, y, n: (s := sigmoid(x), s * sigmoid(-x)),
    lambda x, y, n: ((s := sigmoid(x)) - y) * s * sigmoid(-x),
    lambda x, y, n: (s := sigmoid(x)) * (s * sigmoid(-x)),
    lambda x, y, n: (s := sigmoid(x)) * (c := 1 - s) * ((a := y + s) - c) + a,
    # No pair, no product of both.
    lambda x, y, n: sigmoid(x) * sigmoid(-y),
    lambda x, y, n: sigmoid(x) / sigmoid(-x),
    lambda x, y, n: sigmoid(x) * (2 - sigmoid(x)),
    lambda x, y, n: sigmoid(x) + sigmoid(-x),
]


@pytest.mark.parametrize(("f", "names"), BY_COSH)
def test_pairs_are_written_by_cosh(f: Function, names: str) -> None:
    assert operations(written(sg.trace(f, **SPECS))) == names.split()


@pytest.mark.parametrize("f", KEPT)
def test_other_products_stay(f: Function) -> None:
    graph = sg.trace(f, **SPECS)
    assert written(graph) == list(graph.dag.outputs)


def test_in_single_precision() -> None:
    graph = sg.trace(lambda n: sigmoid(n) * sigmoid(-n), n=SPECS["n"])
    found = with_logistic_densities(graph.dag.outputs, lambda new, old: False)
    assert_same(found, graph, {"n": AT["n"]}, rtol=1e-6)
    assert operations(found) == ["cosh", "divide", "divide", "multiply"]


def test_two_pairs_of_one_product() -> None:
    graph = sg.trace(lambda x, y, n: sigmoid(x) * sigmoid(y) * sigmoid(-x) * sigmoid(-y), **SPECS)
    assert operations(graph.simplify().dag.outputs).count("cosh") == 2


def test_what_loses_stays() -> None:
    graph = sg.trace(BY_COSH[0][0], **SPECS)
    assert written(graph, loses=True) == list(graph.dag.outputs)


@pytest.mark.parametrize("first", [False, True])
def test_slopes_have_their_digits_in_both_tails(first: bool) -> None:
    """First and second slope of the sigmoid beside 60 digits; simplified in between, or not."""
    x = np.array([-700.0, -300.0, -40.0, -1.0, 1e-9, 3.0, 37.0, 690.0])
    slope = sg.trace(lambda x: np.sum(1 / (1 + np.exp(-x))), x=sg.spec(8)).gradient(
        "x", value=False
    )
    whole = sg.trace(lambda x: np.sum(sigmoid(x) * sigmoid(-x)), x=sg.spec(8))
    second = (whole.simplify() if first else whole).gradient("x", value=False)
    for graph, right in ((slope, density), (second, density_slope)):
        small = graph.simplify()
        assert "cosh" in operations(small.dag.outputs)
        with mpmath.workdps(60):
            expected = [float(right(mpmath.mpf(each))) for each in x]
        np.testing.assert_allclose(small.evaluate(x=x), expected, rtol=1e-13)


def density(x: Any) -> Any:
    return 1 / (2 + mpmath.exp(x) + mpmath.exp(-x))


def density_slope(x: Any) -> Any:
    return (mpmath.exp(-x) - mpmath.exp(x)) / (2 + mpmath.exp(x) + mpmath.exp(-x)) ** 2
