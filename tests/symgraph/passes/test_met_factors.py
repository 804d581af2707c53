"""Factors that are one value together meet, though operations stand between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from passedgraphs import assert_same, operations

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.node import Node
from symgraph.passes.met_factors import with_factors_met

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SPECS = {
    "x": sg.spec(7),
    "y": sg.spec(7),
    "q": sg.spec("", assume=sg.positive),
    "n": sg.spec(7, "float32"),
}
AT = {
    "x": np.array([0.5, -1.25, 0.0, -0.0, np.inf, -np.inf, np.nan]),
    "y": np.array([1.5, 0.25, -2.0, 0.0, 3.5, 1.0, 2.0]),
    "q": np.array(1.75),
    "n": np.arange(7, dtype="float32"),
}

Function = Callable[[Any, Any, Any, Any], Any]


def met(
    graph: sg.Graph, loses: Callable[[Node, Node], bool] = lambda new, old: False
) -> list[Node]:
    """The outputs with factors met: valid, with nearly the same values, for good."""
    found = with_factors_met(graph.dag.outputs, Knowledge(), loses)
    assert with_factors_met(found, Knowledge(), loses) == found
    assert_same(found, graph, AT, rtol=1e-12, atol=1e-13)
    return found


def tied(x: Any, y: Any) -> Any:
    return snp.where(x < y, 0.5, snp.where(x == y, 0.25, 0.0))


MET: list[tuple[Function, str]] = [
    (lambda x, y, q, n: np.sign(x) * (np.abs(x) / np.exp(y)), "divide exp"),
    (lambda x, y, q, n: np.sign(x) / q * -(y * np.abs(x)), "divide multiply negative"),
    # The size of x is used again.
    (lambda x, y, q, n: np.sign(x) * ((a := np.abs(x)) / (q + a)), "absolute add divide"),
    (lambda x, y, q, n: (1 / q + y) / np.exp(y) * q, "add divide exp multiply"),
    (lambda x, y, q, n: q * ((x - y / q) / np.exp(y)), "divide exp multiply subtract"),
    (lambda x, y, q, n: x * (1 / np.exp(y)), "divide exp"),
    (lambda x, y, q, n: (1 / (2 + np.exp(y))) * x, "add divide exp"),
    (
        lambda x, y, q, n: ((r := 1 / (s := 2 + np.exp(y))) + x, 1 / (np.sum(r) * s)),
        "add add divide divide exp sum",
    ),
    (lambda x, y, q, n: tied(x, y) * (2 * y), "equal less multiply where where"),
    (lambda x, y, q, n: -4 * (tied(y, q) / np.exp(y)), "divide equal exp less where where"),
]

KEPT: list[Function] = [
    lambda x, y, q, n: np.sign(x) * (np.abs(y) / np.exp(y)),
    lambda x, y, q, n: np.abs(x) / np.sign(x),
    # x may be 0, where the product is NaN.
    lambda x, y, q, n: (1 / x + y) * x,
    lambda x, y, q, n: (1 / q + y) / q,
    # The reciprocal and the choice are used again.
    lambda x, y, q, n: ((r := 1 / np.exp(y)) + 1, x * r),
    lambda x, y, q, n: ((c := tied(x, y)) + y, c * (2 * y)),
    lambda x, y, q, n: x * (2 / np.exp(y)),
    # The other quotient is of another number.
    lambda x, y, q, n: (2 / (s := 2 + np.exp(y)) + x, 1 / (q * s)),
    lambda x, y, q, n: snp.where(x < y, 0.5, y) * (2 * y),
    lambda x, y, q, n: tied(x, y) * (1e300 * y),
    # The sum is as long.
    lambda x, y, q, n: ((s := 1 / q + y) + 1, s * q),
]


@pytest.mark.parametrize(("f", "wanted"), MET)
def test_factors_meet(f: Function, wanted: str) -> None:
    assert operations(met(sg.trace(f, **SPECS))) == wanted.split()


@pytest.mark.parametrize("f", KEPT)
def test_what_saves_nothing_or_may_be_zero_stays(f: Function) -> None:
    graph = sg.trace(f, **SPECS)
    assert met(graph) == list(graph.dag.outputs)


def test_the_judge_is_asked() -> None:
    graph = sg.trace(MET[0][0], **SPECS)
    assert met(graph, lambda new, old: True) == list(graph.dag.outputs)


def test_single_precision_stays_single() -> None:
    def f(x: Any, y: Any, q: Any, n: Any) -> Any:
        half = np.float32(0.5)
        return np.sign(n) * (np.abs(n) / (1 + n)) * (3 * snp.where(n > 3, half, 2 * half))

    (found,) = met(sg.trace(f, **SPECS))
    assert found.dtype == np.float32
    assert operations([found]) == ["add", "divide", "greater", "multiply", "where"]


def test_many_products_and_deep_choices_overflow_no_stack() -> None:
    """Of a large graph few products are tried, and deep choices are left."""
    count = 1_200

    def products(x: Any, y: Any) -> Any:
        return [x[k] * (1 / y[k]) for k in range(count)]

    def choices(x: Any) -> Any:
        chosen: Any = 0.0
        for k in range(count):
            chosen = np.where(x > k, float(k), chosen)
        return 2 * chosen

    many = sg.trace(products, x=f"{count}", y=f"{count}").dag.outputs
    found = with_factors_met(many, Knowledge(), lambda new, old: False)
    assert 0 < sum(new is not old for new, old in zip(found, many, strict=True)) < count
    deep = sg.trace(choices, x="3").dag.outputs
    assert with_factors_met(deep, Knowledge(), lambda new, old: False) == list(deep)
