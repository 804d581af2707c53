"""Regions written over the values in them that have other users, roots, and powers one apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

RNG = np.random.default_rng(5)
UNIT = sg.spec("5", assume=sg.interval(0.05, 0.95))
POSITIVE = sg.spec("5", assume=sg.positive)
NUMBER = sg.spec("", assume=sg.positive)


def names(graph: sg.Graph) -> list[str]:
    return sorted(node.op.name for node in graph.nodes if node.op.count)


def test_a_sum_with_two_users_is_not_opened_where_that_is_longer() -> None:
    """t = 0.9 y + 0.02 is subtracted and summed: opened, it would be written twice."""

    def f(z: Any, y: Any) -> Any:
        return -np.sum((0.9 * y + 0.02) * snp.log_softmax(z))

    graph = sg.trace(f, z="5", y="5").gradient("z", value=False)
    small = graph.simplify()
    assert names(small) == ["add", "multiply", "multiply", "softmax", "subtract", "sum"]
    at = {"z": RNG.standard_normal(5), "y": RNG.random(5)}
    np.testing.assert_allclose(small.evaluate(**at), graph.evaluate(**at), rtol=1e-13)


def test_a_product_that_is_there_is_a_factor_also_if_one_of_its_factors_is_a_number() -> None:
    within = sg.interval(-100, 100)
    specs = {"x": sg.spec("5", assume=within), "b": sg.spec("", assume=within)}
    graph = sg.trace(lambda x, b: np.sum(x * snp.sigmoid(b * x)), **specs)
    small = graph.gradient("x", value=False).simplify()
    assert small.op_count() == 9
    # Without bounds b x may be infinite where 1 - sigmoid(b x) is 0: it is no factor of the two.
    wide = sg.trace(lambda x, b: np.sum(x * snp.sigmoid(b * x)), x="5", b="")
    assert wide.gradient("x", value=False).simplify().op_count() == 10
    at = {"x": RNG.standard_normal(5), "b": np.array(1.5)}
    s = 1 / (1 + np.exp(-1.5 * at["x"]))
    want = s * (1 + 1.5 * at["x"] * (1 - s))
    np.testing.assert_allclose(small.evaluate(**at), want, rtol=1e-13)


def test_a_value_and_a_multiple_of_it_that_is_there() -> None:
    """Written over both, -v / 2 - (-v / 2) has no term left."""

    def f(x: Any) -> Any:
        v = np.prod(x**2 + 0.8, axis=-1)
        angle = np.arctan2(-0.5 * v, v)
        return np.sum((angle * angle - angle + v) * (angle * angle - angle - v))

    spec = sg.spec((4, 3, 4), assume=sg.interval(0, 1))
    graph = sg.trace(f, x=spec).gradient("x", value=False)
    x = RNG.random((4, 3, 4))
    want = graph.evaluate(x=x)
    np.testing.assert_allclose(graph.simplify().evaluate(x=x), want, rtol=1e-11)


def test_a_sum_over_the_root_of_its_negative() -> None:
    """x^2 - 1 over the root of 1 - x^2, where an interval says that this is positive."""

    def f(x: Any) -> Any:
        return np.sum(x * np.sqrt(1 - x**2) + np.arcsin(x))

    small = sg.trace(f, x=UNIT).gradient("x", value=False).simplify()
    assert names(small) == ["multiply", "sqrt", "square", "subtract"]
    x = np.array([0.05, 0.2, 0.5, 0.9, 0.95])
    np.testing.assert_allclose(small.evaluate(x=x), 2 * np.sqrt(1 - x**2), rtol=1e-13)
    # At x = 1 the quotient is no number, and stays none.
    loose = sg.trace(lambda x: (x**2 - 1) / np.sqrt(1 - x**2) + np.sqrt(1 - x**2), x="2").simplify()
    with np.errstate(invalid="ignore", divide="ignore"):
        assert np.isnan(loose.evaluate(x=np.array([1.0, -1.0]))).all()


def test_bounds_of_products_and_powers() -> None:
    """Whether a denominator vanishes is told by the bounds of what is in it."""

    def f(x: Any, y: Any) -> Any:
        bottom = 2 - x * y - y**2 / 2
        return x * bottom / bottom

    small = sg.trace(f, x=UNIT, y=UNIT).simplify()
    assert small.op_count() == 0
    assert sg.trace(f, x="5", y="5").simplify().op_count() > 0


def test_a_power_with_a_factor_between() -> None:
    """u (b u**(b - 1)) is b u**b, and 0 at u = 0 where the product would be NaN for b < 1."""

    def f(x: Any, a: Any, b: Any) -> Any:
        return np.sum((np.abs(x) / a) ** b + np.log(2 * a))

    graph = sg.trace(f, x="5", a=NUMBER, b=NUMBER).gradient("a", value=False)
    small = graph.simplify()
    assert names(small).count("power") == 1
    assert "subtract" in names(small)
    at = {"x": RNG.standard_normal(5), "a": np.array(0.7), "b": np.array(0.5)}
    np.testing.assert_allclose(small.evaluate(**at), graph.evaluate(**at), rtol=1e-12)
    at["x"][2] = 0.0
    assert np.isfinite(small.evaluate(**at))


def test_a_power_that_is_needed_for_itself_is_no_reason_for_another() -> None:
    def f(p: Any, a: Any) -> Any:
        return np.log(np.sum(p**a)) / (1 - a)

    small = sg.trace(f, p=POSITIVE, a=NUMBER).gradient("p", value=False).simplify()
    assert names(small).count("power") == 1


def likelihood_by_a_filter(F: Any, H: Any, y: Any, steps: int) -> Any:
    """The log-likelihood of observations, by the Kalman filter as textbooks write it."""
    m, C, total = np.zeros(3), np.eye(3), 0.0
    for t in range(steps):
        m, C = F @ m, F @ C @ F.T + np.eye(3)
        S, r = H @ C @ H.T + np.eye(2), y[t] - H @ m
        K = np.linalg.solve(S, H @ C).T
        total = total - 0.5 * (r @ np.linalg.solve(S, r) + np.linalg.slogdet(S)[1])
        m, C = m + K @ r, C - K @ H @ C
    return total


@pytest.mark.parametrize("steps", [1, pytest.param(2, marks=pytest.mark.whole)])
def test_a_matrix_has_one_spelling_in_its_determinant_and_its_systems(steps: int) -> None:
    at = {"F": 0.3 * RNG.standard_normal((3, 3)), "H": RNG.standard_normal((2, 3))}
    at["y"] = RNG.standard_normal((2, 2))
    graph = sg.trace(lambda F, H, y: likelihood_by_a_filter(F, H, y, steps), **at)
    assert names(graph.simplify()).count("slogdet") == steps
    matrices = {
        each.operands[0] if each.op.name == "transpose" else each
        for node in graph.simplify().nodes
        if node.op.name in ("solve", "slogdet")
        for each in node.operands[:1]
    }
    assert len(matrices) == steps
    joint = graph.gradient(*at)
    small = joint.simplify()
    assert small.op_count() < joint.op_count()
    assert small.flops() < joint.flops()
    for got, want in zip(small.evaluate(**at)[1], joint.evaluate(**at)[1], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("g", [np.log, np.log1p, np.exp, np.sin])
def test_a_function_that_is_computed_anyway_is_read_out_of_a_sum(g: Any) -> None:
    """(g - x) + x is g, also where g - x has another user."""

    def f(x: Any) -> Any:
        less = g(x) - x
        return less @ x, less + x

    graph = sg.trace(f, x="5")
    small = graph.simplify()
    assert small.op_count() == 3
    at = {"x": 0.1 + RNG.random(5)}
    for got, want in zip(small.evaluate(**at), graph.evaluate(**at), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)
