"""Powers and inner products taken from values that are computed anyway."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from randomgraphs import random_program
from randomgraphs.compare import traced

import symgraph as sg
import symgraph.numpy as snp
from symgraph.passes.reuse import with_values_reused

X = np.array([0.5, -1.25, 2.0, 3.5, -0.75])


def after(f: Callable[..., Any], **specs: Any) -> tuple[sg.Graph, sg.Graph]:
    """The graph as traced, and with values reused."""
    graph = sg.trace(f, **specs)
    return graph, sg.trace(f, **specs).simplify()


def names(graph: sg.Graph) -> list[str]:
    return [node.op.name for node in graph.nodes if node.op.count]


@pytest.mark.parametrize(
    ("f", "wanted"),
    [
        (lambda x: (x**2, x**4), ["square", "square"]),
        (lambda x: (x**-6, x**-7), ["power", "divide"]),
        (lambda x: (x**3, x**4, x**5), ["power", "multiply", "multiply"]),
        (lambda x: (x**3, x**6), ["power", "square"]),
        (lambda x: (x**2, x**3, x**5), ["square", "multiply", "multiply"]),
    ],
)
def test_powers_from_lower_ones(f: Callable[..., Any], wanted: list[str]) -> None:
    graph, small = after(f, x="5")
    assert sorted(names(small)) == sorted(wanted)
    for found, right in zip(small.evaluate(x=X), graph.evaluate(x=X), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-14)


def test_a_power_lowered_by_one_keeps_its_range() -> None:
    """x**(a - 1) is no x**a / x: x**a is 0 where x**(a - 1) is a number, or infinite."""
    positive = sg.spec("5", assume=sg.positive)
    _, small = after(lambda x, a: (x**a, x ** (a - 1)), x=positive, a=positive)
    at = {"x": np.array([1e-200, 1e200, 0.5, 2.0, 3.0]), "a": np.array([2.0, 2.0, 3.0, 0.5, 1.0])}
    np.testing.assert_allclose(small.evaluate(**at)[1], at["x"] ** (at["a"] - 1), rtol=1e-14)


def test_a_power_is_had_from_that_below_it() -> None:
    """Of positive numbers, where x**a is a number if x**(a - 1) is."""
    positive = sg.spec("5", assume=sg.positive)
    graph, small = after(lambda x, a: (x**a, x ** (a - 1)), x=positive, a=positive)
    assert sorted(names(small)) == ["multiply", "power", "subtract"]
    at = {
        "x": np.array([1e-300, 1e300, 2e-308, 1.7e308, 3.0]),
        "a": np.array([0.9, 0.9, 1e-9, 1e-9, 4]),
    }
    np.testing.assert_allclose(small.evaluate(**at)[0], graph.evaluate(**at)[0], rtol=1e-13)
    _, unknown = after(lambda x, a: (x**a, x ** (a - 1)), x=positive, a="5")
    assert names(unknown).count("power") == 2


def test_x_times_the_power_below_is_the_power_where_nothing_else_needs_that() -> None:
    positive = sg.spec("5", assume=sg.positive)
    graph, small = after(lambda x, a: x * x ** (a - 1), x=positive, a="5")
    assert names(small) == ["power"]
    at = {"x": np.array([1e-200, 1e200, 0.5, 2.0, 3.0]), "a": np.array([0.0, 1.0, 3.0, -0.5, 1.0])}
    np.testing.assert_allclose(small.evaluate(**at), graph.evaluate(**at), rtol=1e-14)
    _, unknown = after(lambda x, a: x * x ** (a - 1), x="5", a="5")
    assert sorted(names(unknown)) == ["multiply", "power", "subtract"]


def test_a_power_of_what_may_be_no_number_is_no_product() -> None:
    """NaN**0 is 1."""

    def f(x: Any, y: Any, a: Any) -> Any:
        return (z := snp.exp(y) + snp.sqrt(x)) * z ** (a - 1)

    graph, small = after(f, x="", y="", a="")
    at = {"x": -1.0, "y": 1.0, "a": 0.0}
    with np.errstate(invalid="ignore"):
        assert np.isnan(graph.evaluate(**at))
        assert np.isnan(small.evaluate(**at))


@pytest.mark.parametrize(
    ("seed", "dtype"), [pytest.param(2336, "mixed", marks=pytest.mark.whole), (2465, "float64")]
)
def test_powers_one_apart_agree_with_the_algebra(seed: int, dtype: str) -> None:
    """Programs that came out shorter a second time: one step undid another."""
    program = random_program(seed).astype(dtype)
    small = traced(program).gradient(*program.targets).simplify(effort="high")
    assert small.simplify(effort="high").dag.outputs == small.dag.outputs


def test_roots_give_no_whole_powers() -> None:
    """x is the square of its root only where it has one."""
    _, small = after(lambda x: (x**1.5, x**3), x="5")
    np.testing.assert_allclose(small.evaluate(x=X)[1], X**3, rtol=1e-14)


def test_no_higher_power_is_used() -> None:
    """x**8 is infinite where x**7 is a number."""
    at = np.array([1e40, 2.0])
    graph = sg.trace(lambda x: (x**7.5, x**8.5), x="2")
    outputs = with_values_reused(graph.dag.outputs)
    assert outputs[0] is graph.dag.outputs[0]
    assert outputs[1].op.name == "multiply"
    np.testing.assert_allclose(graph.simplify().evaluate(x=at)[0], at**7.5)


def test_an_inner_product_is_the_sum_of_a_product_that_is_there() -> None:
    graph, small = after(lambda p, w: (p * w, p @ w), p="5", w="5")
    assert names(small) == ["multiply", "sum"]
    at = {"p": X, "w": X[::-1] + 1}
    np.testing.assert_allclose(small.evaluate(**at)[1], graph.evaluate(**at)[1], rtol=1e-14)
    _, alone = after(lambda p, w: p @ w, p="5", w="5")
    assert names(alone) == ["matmul"]


def test_rows_times_a_vector() -> None:
    graph, small = after(lambda a, w: (a * w, a @ w), a="3, 5", w="5")
    assert names(small) == ["multiply", "sum"]
    at = {"a": np.outer([1.0, 2.0, -1.0], X), "w": X}
    np.testing.assert_allclose(small.evaluate(**at)[1], graph.evaluate(**at)[1], rtol=1e-14)


def test_values_that_stay_keep_their_nodes() -> None:
    graph = sg.trace(lambda x: (x**3, x @ x), x="5")
    assert with_values_reused(graph.dag.outputs) == list(graph.dag.outputs)


def test_a_product_written_after_its_sum_is_one_node() -> None:
    """The product is rebuilt, for its operand is; the sum reads the new one."""
    _, small = after(lambda x, y: (x**4 @ y, x**2, x**4 * y), x="5", y="5")
    assert sorted(names(small)) == ["multiply", "square", "square", "sum"]


def test_exact_trust_keeps_each_power() -> None:
    """A product of lower powers differs in the last digit."""
    graph = sg.trace(lambda x: (x**2, x**4, x**7, x**6), x="5")
    small = graph.simplify(trust="exact")
    assert sorted(names(small)) == sorted(names(graph))
    for found, right in zip(small.evaluate(x=X), graph.evaluate(x=X), strict=True):
        np.testing.assert_array_equal(found, right)


def test_a_difference_and_its_negative_are_one() -> None:
    """Cotangents of a difference of slices are d and -d, put in at two places."""
    graph, small = after(lambda x, y: (x - y, snp.exp(y) + snp.sum(y - x)), x="5", y="5")
    assert names(small).count("subtract") == 2
    assert "add" not in names(small)
    at = {"x": X, "y": X[::-1] + 1}
    for found, right in zip(small.evaluate(**at), graph.evaluate(**at), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-14)


def test_two_differences_that_are_both_needed_stay() -> None:
    graph, small = after(lambda x, y: (x - y, y - x, snp.exp(y) + (y - x)), x="5", y="5")
    at = {"x": X, "y": X[::-1] + 1}
    for found, right in zip(small.evaluate(**at), graph.evaluate(**at), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-14)


def test_each_of_two_sums_takes_away_the_other_ones_difference_at_most_once() -> None:
    """a - b is written with b - a, or b - a with a - b; not each with the other."""

    def f(x: Any, y: Any) -> Any:
        return snp.exp(x) + snp.sum(x - y), snp.exp(y) + snp.sum(y - x)

    graph, small = after(f, x="5", y="5")
    at = {"x": X, "y": X[::-1] + 1}
    assert small.op_count() <= graph.op_count()
    for found, right in zip(small.evaluate(**at), graph.evaluate(**at), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-14)


def test_elements_of_a_multiple_are_multiples_of_elements() -> None:
    small = sg.trace(lambda x: snp.sum(x * x[::-1]) / 2, x="5").gradient("x", value=False)
    small = small.simplify()
    assert small.op_count() == 0
    np.testing.assert_allclose(small.evaluate(x=X), X[::-1])


def test_a_contraction_has_no_factor_of_one() -> None:
    def f(g: Any, a: Any, b: Any, c: Any) -> Any:
        return snp.einsum("ij,ia,jb,ab->", g, a, b, c)

    small = (
        sg.trace(f, g="4, 3", a="4, 2", b="3, 2", c="2, 2").gradient("c", value=False).simplify()
    )
    (node,) = [node for node in small.nodes if node.op.count]
    assert len(node.operands) == 3


def test_sums_of_a_difference_and_of_its_negative() -> None:
    """One difference, and the sign of the shorter result."""
    graph = sg.trace(lambda x, y: ((x - y).sum(1), (y - x).sum(0)), x="3, 4", y="3, 4")
    outputs = with_values_reused(graph.dag.outputs)
    assert sorted(node.op.name for node in outputs) == ["negative", "sum"]
    small = graph.simplify()
    assert sorted(names(small)) == ["negative", "subtract", "sum", "sum"]
    assert small.simplify().dag.outputs == small.dag.outputs
    x, y = np.arange(12.0).reshape(3, 4) ** 2, np.ones((3, 4))
    x[1, 2] = np.inf
    for found, right in zip(small.evaluate(x=x, y=y), graph.evaluate(x=x, y=y), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-14)


def test_differences_that_others_need_stay() -> None:
    graph = sg.trace(
        lambda x, y: ((d := x - y).sum(1), (e := y - x).sum(0), np.exp(d), np.exp(e)),
        x="3, 4",
        y="3, 4",
    )
    assert with_values_reused(graph.dag.outputs) == list(graph.dag.outputs)
