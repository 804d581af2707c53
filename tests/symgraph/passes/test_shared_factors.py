"""What several products share is multiplied once, where that takes fewer operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from passedgraphs import AT, assert_same, operations

import symgraph as sg
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import evaluate
from symgraph.ir.node import Node
from symgraph.passes.shared_factors import with_factors_shared

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SPECS = {"x": sg.spec(4), "y": sg.spec(4), "z": sg.spec(4), "a": sg.spec(""), "b": sg.spec("")}

Function = Callable[[Any, Any, Any, Any, Any], Any]


def shared(graph: sg.Graph) -> list[Node]:
    """The outputs with factors shared: valid, with nearly the same values, shared for good."""
    found = with_factors_shared(graph.dag.outputs, lambda new, old: False)
    assert with_factors_shared(found, lambda new, old: False) == found
    assert_same(found, graph, AT, rtol=1e-14)
    return found


SHARED: dict[str, tuple[Function, str]] = {
    "a pair": (lambda x, y, z, a, b: (x * y * z, np.sin(x * z)), "multiply multiply sin"),
    "a pair apart": (
        lambda x, y, z, a, b: (x * z * y, z * np.exp(y) * x), "exp multiply multiply multiply",
    ),
    "a pair above divisors": (
        lambda x, y, z, a, b: (x / z * y, y * np.exp(x), x * a * y / b),
        "divide divide exp multiply multiply multiply",
    ),
    "three of three": (
        lambda x, y, z, a, b: (x * y * z * a, z * (a * x), (z * x) * y),
        "multiply multiply multiply multiply",
    ),
    "signs": (lambda x, y, z, a, b: (-(x * y), -(z * x)), "multiply multiply negative"),
    "a sign that is there": (
        lambda x, y, z, a, b: (-(x * y) / z, -x, np.exp(-(x * z))),
        "divide exp multiply multiply negative",
    ),
    "signs above entries": (
        lambda x, y, z, a, b: np.stack([np.reshape(-a * b, (1,)), -np.reshape(a * x[0], (1,))]),
        "multiply multiply negative",
    ),
    "a half": (
        lambda x, y, z, a, b: (np.sin(x / 2), np.cos(0.5 * a * x)), "cos multiply multiply sin",
    ),
    "a negative quarter": (
        lambda x, y, z, a, b: (x / -4 * y, np.cos(y * -0.25)), "cos multiply multiply",
    ),
    "a number": (lambda x, y, z, a, b: (2 * x * y, np.exp(y * 2)), "exp multiply multiply"),
    "a divisor that is a factor, too": (
        lambda x, y, z, a, b: (x * y / x, z * y / x), "divide multiply multiply",
    ),
    "a divisor and its square": (
        lambda x, y, z, a, b: (x / z, y * x / np.square(z)), "divide divide multiply",
    ),
    "a divisor that is a product": (
        lambda x, y, z, a, b: (x * np.exp(y) / z, np.exp(y) * y / (z * x)),
        "divide divide exp multiply multiply",
    ),
    "a factor that is squared": (
        lambda x, y, z, a, b: (np.square(x) * y, 2 * x * y * z),
        "multiply multiply multiply multiply",
    ),
    "two factors that are squared": (
        lambda x, y, z, a, b: (a * np.square(x) * np.square(y), np.exp(x * y)),
        "exp multiply multiply multiply",
    ),
    "inner products": (
        lambda x, y, z, a, b: ((x * z) @ y, (z * np.exp(y)) @ (x * a)),
        "exp matmul matmul multiply multiply",
    ),
    "inner products with divisors": (
        lambda x, y, z, a, b: (-(x / z) @ y, (x * np.exp(y)) @ (y / z)),
        "divide exp matmul multiply negative sum",
    ),
    "a vector and a number": (
        lambda x, y, z, a, b: (a * x * z, np.exp(x * a)), "exp multiply multiply",
    ),
    "inner products over a number": (
        lambda x, y, z, a, b: (z / a, (z @ y) / a, b * ((x / a) @ z)),
        "divide matmul matmul multiply",
    ),
    "inner products times numbers": (
        lambda x, y, z, a, b: (-(a * x), b * (np.exp(x) @ x) * a / b),
        "divide exp matmul multiply multiply negative",
    ),
    "inner products of elements": (
        lambda x, y, z, a, b: ((x * x[:1]) @ (x * y), x * y), "matmul multiply multiply",
    ),
}  # fmt: skip

KEPT: dict[str, Function] = {
    "one factor in common": lambda x, y, z, a, b: (x * y, x * z),
    "other uses": lambda x, y, z, a, b: ((p := x * z) * y, (q := np.exp(x) * z) * x, p, q),
    "a square with another use": lambda x, y, z, a, b: (
        x / z,
        y * x / (s := np.square(z)),
        np.exp(s),
    ),
    "a divisor in common": lambda x, y, z, a, b: (x / z, y / z),
    "one vector in common": lambda x, y, z, a, b: (x @ y, x @ z),
    "squares of vectors": lambda x, y, z, a, b: (x @ x, np.exp(x) @ x),
    "a square of a pair": lambda x, y, z, a, b: (np.square(x) * y, np.square(x) * z),
    "squares": lambda x, y, z, a, b: (x * x * y, x * x * z),
    "one sign": lambda x, y, z, a, b: (-(x * y), x * z),
}


@pytest.mark.parametrize("case", SHARED)
def test_factors_that_are_shared(case: str) -> None:
    f, wanted = SHARED[case]
    assert operations(shared(sg.trace(f, **SPECS))) == sorted(wanted.split())


@pytest.mark.parametrize("case", KEPT)
def test_factors_that_stay(case: str) -> None:
    graph = sg.trace(KEPT[case], **SPECS)
    assert shared(graph) == list(graph.dag.outputs)


def test_what_loses_range_is_not_taken() -> None:
    graph = sg.trace(SHARED["a pair apart"][0], **SPECS)
    found = with_factors_shared(graph.dag.outputs, lambda new, old: True)
    assert found == list(graph.dag.outputs)


@pytest.mark.parametrize("seed", range(60))
def test_random_products_keep_their_numbers_and_get_no_longer(seed: int) -> None:
    drawn = iter(np.random.default_rng(seed).integers(1 << 20, size=60).tolist())

    def any_of(found: list[Any]) -> Any:
        return found[next(drawn) % len(found)]

    def f(x: Any, y: Any, z: Any, a: Any, b: Any) -> Any:
        values = [x, y, z, a, b, 2.0, x[0]] if seed % 2 else [x, y]
        for _ in range(12):
            one, other = any_of(values), any_of(values)
            values.append(any_of([one * other, one / other, -(one * other), one * -other]))
        return tuple([np.sum(each) for each in values[-3:]])

    graph = sg.trace(f, **SPECS)
    found = with_factors_shared(graph.dag.outputs, lambda new, old: False)
    assert len(operations(found)) <= graph.op_count()
    moved = Dag(graph.dag.inputs, found)
    with np.errstate(all="ignore"):
        for new, old in zip(evaluate(moved, AT), evaluate(graph.dag, AT), strict=True):
            np.testing.assert_allclose(new, old, rtol=1e-12)


def test_spherical_coordinates_are_as_short_as_the_book() -> None:
    def point(q: Any) -> Any:
        r, u, v = q[0], q[1], q[2]
        across = r * np.sin(u)
        return np.stack([across * np.cos(v), across * np.sin(v), r * np.cos(u)])

    joint = sg.trace(point, q="3").jacobian("q", value=False)
    small = joint.simplify()
    assert small.op_count() == 13
    assert small.simplify().op_count() == 13
    assert "factors shared" in str(small.explain())
    q = np.array([1.5, 0.4, -2.0])
    np.testing.assert_allclose(small.evaluate(q=q), joint.evaluate(q=q), rtol=1e-14, atol=1e-15)
