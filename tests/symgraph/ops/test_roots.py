"""Norms written out have the derivative of a norm, at the origin too; the root has its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from installed import BACKENDS

import symgraph as sg
from symgraph.testing import check_gradient

SPELLINGS: dict[str, Any] = {
    "sum of x * x": lambda x: np.sqrt(np.sum(x * x)),
    "sum of powers": lambda x: np.sqrt(np.sum(x**2)),
    "sum of squares, the power 0.5": lambda x: np.sum(np.square(x)) ** 0.5,
    "einsum": lambda x: np.sqrt(np.einsum("ij,ij->", x, x)),
    "dot": lambda x: np.sqrt(np.dot(x.ravel(), x.ravel())),
    "vdot": lambda x: np.sqrt(np.vdot(x, x)),
    "rows": lambda x: np.sum(np.sqrt(np.sum(x**2, axis=1))),
    "rows by einsum": lambda x: np.sum(np.sqrt(np.einsum("ij,ij->i", x, x))),
    "columns, kept": lambda x: np.sum(np.sqrt(np.sum(x * x, axis=0, keepdims=True))),
    "root mean square": lambda x: np.sqrt(np.mean(x**2)),
    "half the sum": lambda x: np.sqrt(0.5 * np.sum(x**2)),
    "elements added": lambda x: np.sum(np.sqrt(x[0] ** 2 + x[1] ** 2)),
    "two parts": lambda x: np.sqrt(np.sum(x[0] ** 2) + np.sum(x[1] * x[1])),
    "a root of a square": lambda x: np.sum(np.sqrt(x**2)),
    "in a sum with others": lambda x: 3 * np.sqrt(np.sum(x * x)) + np.sum(x * x),
    "squared again": lambda x: (np.sqrt(np.sum(x * x)) - 1) ** 2,
    "norm": lambda x: np.linalg.norm(x),
    "a product of sums": lambda x: np.sqrt(np.sum(x * x) * np.mean(x[0] ** 2)),
    "times a square": lambda x: np.sqrt(2 * x[0, 2] ** 2 * np.sum(x * x)),
    "multiples of squares": lambda x: np.sum(np.sqrt(x[0] ** 2 + 3 * x[1] ** 2 / 2)),
    "weighted": lambda x: np.sqrt(np.sum(WEIGHTS.astype(x.dtype) * x**2)),
    "weighted, by a product": lambda x: np.sqrt(WEIGHTS.astype(x.dtype) @ np.square(x[0])),
    "averages": lambda x: np.sum(
        np.sqrt(np.average(x**2, weights=WEIGHTS.astype(x.dtype), axis=1))
    ),
    "chosen": lambda x: np.sqrt(np.sum(np.where(x < 5, x**2, 0.0))),
    "counted": lambda x: np.sqrt(np.sum((x < 5) * x**2)),
    "or nothing": lambda x: np.sum(np.sqrt(np.where(x < 5, 3 * x**2, 0.0))),
    "some of them": lambda x: np.sqrt(np.mean(x**2, where=WEIGHTS < 2)),
    "of x times a maximum": lambda x: np.sqrt(np.sum((x * np.max(x * np.sum(x * x))) ** 2)),
}
WEIGHTS = np.array([1.0, 0.5, 2.0])
ZERO = np.zeros((2, 3))
AWAY = np.array([[0.3, -1.2, 0.7], [2.0, 0.1, -0.4]])


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_derivative_at_0_is_0_in_both_modes_and_of_order_two(name: str, dtype: str) -> None:
    f = SPELLINGS[name]
    graph = sg.trace(f, x=sg.spec((2, 3), dtype))
    zero = ZERO.astype(dtype)
    plain = graph.gradient("x", value=False)
    for found in (plain, plain.simplify()):
        np.testing.assert_array_equal(found.evaluate(zero), zero)
    moved = graph.jvp({"x": np.ones((2, 3), dtype)}, value=False)
    assert moved.evaluate(zero) == 0
    hessian = graph.hessian("x", value=False).evaluate(zero)
    assert np.all(np.isfinite(hessian))
    if dtype == "float64":
        check_gradient(f, AWAY, tolerance=1e-6)
        check_gradient(lambda x: sg.grad(f(x), x), AWAY, tolerance=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_same_on_every_backend(backend: str) -> None:
    f = SPELLINGS["rows"]
    x = np.array([[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]])
    lowered = sg.trace(f, x=x).gradient("x", value=False).simplify().lower(backend)
    np.testing.assert_allclose(lowered(x), [[0, 0, 0], [0.6, 0.8, 0]], rtol=1e-15)


def test_a_standard_deviation_of_equal_numbers() -> None:
    for f in (np.std, lambda x: np.sqrt(np.var(x)), lambda x: np.std(x, ddof=1)):
        graph = sg.trace(lambda x, f=f: f(x), x=(4,)).gradient("x", value=False)
        for found in (graph, graph.simplify()):
            np.testing.assert_array_equal(found.evaluate(np.full(4, 2.5)), np.zeros(4))


def test_a_standard_deviation_of_equal_numbers_and_nan() -> None:
    """It leaves NaN out, and rows without numbers have no slope."""
    rows = np.array([[2.0, np.nan, 2.0, 2.0], [np.nan] * 4, [1.0, 2.0, np.nan, 4.0]])
    graph = sg.trace(lambda x: np.nansum(np.nanstd(x, axis=1)), x=(3, 4)).gradient("x", value=False)
    for found in (graph, graph.simplify()):
        slopes = found.evaluate(rows)
        np.testing.assert_array_equal(slopes[:2], 0.0)
        wanted = (rows[2] - np.nanmean(rows[2])) / (3 * np.nanstd(rows[2]))
        np.testing.assert_allclose(slopes[2], np.where(np.isnan(rows[2]), 0.0, wanted), rtol=1e-14)


def test_weights_that_may_be_negative_keep_the_chain_rule() -> None:
    """The root of x**2 - y**2 has no slope at 0, nor where x = y."""
    weights = np.array([1.0, -1.0])
    graph = sg.trace(lambda x: np.sqrt(np.sum(weights * x**2)), x=(2,)).gradient("x", value=False)
    for each in (graph, graph.simplify()):
        np.testing.assert_array_equal(each.evaluate(np.ones(2)), [np.inf, -np.inf])
        assert np.all(np.isnan(each.evaluate(np.zeros(2))))


def test_a_direction_behind_a_mask() -> None:
    """The untaken branch does not poison: x / |x|, and 0 at the origin."""

    def f(x: Any) -> Any:
        size = np.sqrt(np.sum(x * x))
        return np.sum(np.where(size > 0, x / np.where(size > 0, size, 1.0), 0.0) * np.arange(3.0))

    graph = sg.trace(f, x=(3,)).gradient("x", value=False)
    for found in (graph, graph.simplify()):
        np.testing.assert_array_equal(found.evaluate(np.zeros(3)), np.zeros(3))
    check_gradient(f, np.array([0.3, -0.2, 1.0]))


def test_the_root_itself_keeps_its_infinite_slope() -> None:
    """No lie: by what is under the root, and by what is no sum of squares."""
    x = sg.input("x", (3,))
    under = np.sum(x * x)
    root = np.sqrt(under)
    slope = sg.graph(sg.grad(root, under))
    with np.errstate(divide="ignore"):
        assert slope.evaluate(np.zeros(3)) == np.inf
        assert sg.grad(lambda s: np.sqrt(s))(0.0) == np.inf
        assert (
            sg.graph(root).jvp([(under, np.array(1.0))], value=False).evaluate(np.zeros(3))
            == np.inf
        )
    shifted = sg.trace(lambda x: np.sqrt(np.sum(x * x) + 1e-6), x=(3,)).gradient("x", value=False)
    np.testing.assert_array_equal(shifted.evaluate(np.zeros(3)), np.zeros(3))


def test_jacobians_of_what_a_norm_scales() -> None:
    def f(x: Any) -> Any:
        return np.arange(1.0, 5.0) * np.sqrt(np.sum(x * x))

    for mode in (None, "reverse", "forward", "mixed"):
        found = sg.jacobian(f, mode=mode)(np.zeros(5))
        np.testing.assert_array_equal(found, np.zeros((4, 5)))


def test_unlike_factors_and_other_sums_are_left_alone() -> None:
    x, y = np.array([0.5, 2.0]), np.array([1.5, 0.25])
    for f in (
        lambda x, y: np.sqrt(np.sum(x * y)),
        lambda x, y: np.sqrt(x @ y),
        lambda x, y: np.sqrt(np.sum(x**3) + np.sum(y**2)),
        lambda x, y: np.sum(np.sqrt(np.einsum("i,j->ij", x, x))) + np.sum(y),
        lambda x, y: np.sum(np.sqrt(x[:, None] ** 2 + y**2)),
        lambda x, y: 1 / np.sqrt(np.sum(x * x)) + np.sum(y / np.sqrt(np.sum(y * y))),
    ):
        check_gradient(f, x, y, tolerance=1e-6)


def test_written_as_a_quotient() -> None:
    graph = sg.trace(lambda x: np.sqrt(np.sum(x * x)), x=(5,)).gradient("x", value=False)
    assert r"\frac{1}{\sqrt{x^\top x}} \, x" in graph.simplify().to_latex()
