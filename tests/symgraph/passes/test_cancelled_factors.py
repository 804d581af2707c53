"""A factor goes with a divisor of the same product, and all else stays in its order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from passedgraphs import assert_same, operations

import symgraph as sg
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.node import Node
from symgraph.passes.cancelled_factors import with_factors_cancelled

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SPECS = {
    "x": sg.spec(5, assume=sg.positive),
    "y": sg.spec(5),
    "a": sg.spec("", assume=sg.positive),
    "n": sg.spec(5, "int64", assume=sg.positive),
}
AT = {
    "x": np.array([0.5, 1.25, 2.0, 3.5, 0.75]),
    "y": np.array([1.5, 0.25, -2.0, 3.5, 1.0]),
    "a": np.array(1.75),
    "n": np.array([3, 1, 2, 5, 4]),
}

Function = Callable[[Any, Any, Any, Any], Any]


def cancelled(
    graph: sg.Graph, loses: Callable[[Node, Node], bool] = lambda new, old: False
) -> list[Node]:
    """The outputs with factors cancelled: valid, with nearly the same values, for good."""
    found = with_factors_cancelled(graph.dag.outputs, Knowledge(), loses)
    assert with_factors_cancelled(found, Knowledge(), loses) == found
    assert_same(found, graph, AT, rtol=1e-12, atol=1e-13)
    return found


CANCELLED: list[tuple[Function, str]] = [
    (lambda x, y, a, n: 1 / a * np.exp(y) * x * (a * np.sin(y)), "exp multiply multiply sin"),
    (lambda x, y, a, n: x * (y / (np.exp(y) * x)), "divide exp"),
    (lambda x, y, a, n: y / (a / (-(a * x) * np.exp(y))), "divide divide exp multiply negative"),
    (lambda x, y, a, n: (x * y).reshape(5, 1) / (x * a).reshape(5, 1), "divide"),
    # Another user needs x a, and the quotient does not.
    (lambda x, y, a, n: ((p := x * a) + y, np.exp(y) * p / a), "add exp multiply multiply"),
    # The widest factor goes, in front of a reshape and at the end.
    (lambda x, y, a, n: (x * a).reshape(1, 5) / (x * 3.0).reshape(1, 5) * y, "divide multiply"),
    (lambda x, y, a, n: np.exp(a) * x / x, "exp"),
    (lambda x, y, a, n: x * a * (y / a) / x, ""),
    # y may be 0. The product is infinite or NaN there, with y and without it.
    (lambda x, y, a, n: y / np.exp(y) * (x / (y * y)), "divide divide exp multiply"),
    (lambda x, y, a, n: y / (y * x) / y + 1, "add divide divide"),
    # y @ y may be 0, and all that is made of the product is divided by it or its root.
    (
        lambda x, y, a, n: (a - x[0] * ((b := y @ y) / (d := b * a))) / np.sqrt(d),
        "divide divide matmul multiply sqrt subtract",
    ),
    (
        lambda x, y, a, n: (x - np.tanh(a * (b := y @ y) / (b * x[1])) * x) / b,
        "divide divide matmul multiply subtract tanh",
    ),
    (
        lambda x, y, a, n: (
            (x - (q := a / (d := (b := y @ y) * (c := y[1:] @ x[1:]))) * b * y) / (r := np.sqrt(d)),
            (y - q * c * x) / r,
        ),
        "divide divide divide divide matmul matmul multiply multiply multiply sqrt subtract "
        "subtract",
    ),
    (lambda x, y, a, n: (x - a * y / (y * x)) / y, "divide divide subtract"),
]

KEPT: list[Function] = [
    # y may be 0, and y / y is NaN there.
    lambda x, y, a, n: y * np.exp(x) / y,
    lambda x, y, a, n: a * y + x / a,
    # At y = 0 the hyperbolic tangent of infinity is a number.
    lambda x, y, a, n: np.tanh(y / (y * x) / y),
    # At y = 0 the logarithm is infinite, and its reciprocal is 0.
    lambda x, y, a, n: (z := np.log(y)) / (z * x) / z + 1,
    # At y = 0 the product is read as it is, beside the quotient.
    lambda x, y, a, n: ((p := x[0] * (b := y @ y) / (b * a)), (a - p) / b),
    # At y @ y = 0 the hyperbolic tangent of infinity is a number.
    lambda x, y, a, n: np.tanh((a - x[0] * (b := y @ y) / (b * x[1])) / b),
    # Elements are moved away from those of y, of which only one may be 0.
    lambda x, y, a, n: (x - (a * y / (y * x))[::-1]) / y,
    # A sum is no product.
    lambda x, y, a, n: (a * x + a) / a,
    # The quotient is as long, for both products have other users.
    lambda x, y, a, n: ((p := np.exp(y) * x) + 1, (q := x * a) + y, p / q),
    # Of a float and an integer the product is another number than the float.
    lambda x, y, a, n: (n * np.float32(2)).astype("float32") / n.astype("float32"),
]


@pytest.mark.parametrize(("f", "wanted"), CANCELLED)
def test_what_is_divided_by_again_goes(f: Function, wanted: str) -> None:
    assert operations(cancelled(sg.trace(f, **SPECS))) == wanted.split()


@pytest.mark.parametrize("f", KEPT)
def test_what_may_be_zero_or_saves_nothing_stays(f: Function) -> None:
    graph = sg.trace(f, **SPECS)
    assert cancelled(graph) == list(graph.dag.outputs)


def test_the_judge_is_asked() -> None:
    graph = sg.trace(CANCELLED[0][0], **SPECS)
    assert cancelled(graph, lambda new, old: True) == list(graph.dag.outputs)


def test_long_products_end_the_search() -> None:
    def f(x: Any, y: Any, a: Any, n: Any) -> Any:
        found = a * y
        for _ in range(2_000):
            found = found * np.exp(y)
        return found / a

    graph = sg.trace(f, **SPECS)
    assert with_factors_cancelled(graph.dag.outputs, Knowledge(), lambda new, old: False) == list(
        graph.dag.outputs
    )


def test_a_price_index_has_no_factor_that_it_is_divided_by() -> None:
    """The judge refuses each product that the algebra would write; this order it takes."""

    def index(p: Any, a: Any, s: Any) -> Any:
        return np.sum(a * p ** (1 - s)) ** (1 / (1 - s))

    goods = sg.spec(5, assume=sg.positive)
    graph = sg.trace(index, p=goods, a=goods, s=sg.spec("", assume=sg.interval(2.0, 4.0)))
    small = graph.gradient("p", value=False).simplify()
    at = {"p": AT["x"], "a": AT["x"][::-1], "s": np.array(2.5)}
    above = np.sum(at["a"] * at["p"] ** -1.5) ** (1 / -1.5 - 1)
    np.testing.assert_allclose(small.evaluate(**at), at["a"] * at["p"] ** -2.5 * above, rtol=1e-12)
    assert small.op_count() <= 8
