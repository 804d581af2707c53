"""Where the mathematics has no number, or none that a float holds, nothing is made up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

SIGNED = np.array([-2.0, 3.0])


def simplified(f: Callable[..., Any], **at: np.ndarray[Any, Any]) -> Any:
    shapes = {name: value.shape for name, value in at.items()}
    return sg.trace(f, **shapes).simplify().evaluate(**at)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, p: (x**3) ** (1 / 3) * p,
        lambda x, p: (x**1.5) ** (2 / 3) * p,
        lambda x, p: (x**3 * np.exp(p)) ** (1 / 3),
    ],
)
def test_a_root_of_a_power_is_not_taken_of_what_is_negative(f: Any) -> None:
    with np.errstate(invalid="ignore"):
        found, wanted = simplified(f, x=SIGNED, p=SIGNED), f(SIGNED, SIGNED)
    assert np.isnan(wanted[0])
    np.testing.assert_allclose(found, wanted)


def test_a_row_divided_by_that_of_the_identity_is_infinite() -> None:
    def f(x, y):
        return np.sum(x * y / np.eye(2), axis=1)

    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(simplified(f, x=SIGNED, y=SIGNED), [np.inf, np.inf])


def test_a_mask_stays_over_what_may_overflow() -> None:
    def f(u, w):
        return np.where(u > 0, np.maximum(u, 0) * np.exp(w), 0)

    with np.errstate(over="ignore", invalid="ignore"):
        found = simplified(f, u=SIGNED, w=np.array([1000.0, 1.0]))
    np.testing.assert_allclose(found, [0, 3 * np.e])


@pytest.mark.parametrize(
    "moved",
    [
        lambda x: np.max(x, axis=0, keepdims=True).T,
        lambda x: np.max(x, axis=0)[0],
        lambda x: np.max(x, axis=0)[::-1],
    ],
)
def test_the_number_of_ties_with_another_columns_maximum_may_be_0(moved: Any) -> None:
    def f(x, y):
        ties = np.sum((x == moved(x)).astype("float64"), axis=0)
        return y / ties * ties

    at = {"x": np.array([[1.0, 2.0], [3.0, 4.0]]), "y": np.ones(2)}
    with np.errstate(divide="ignore", invalid="ignore"):
        found, wanted = simplified(f, **at), f(**at)
    assert np.isnan(wanted).any()
    np.testing.assert_array_equal(found, wanted)


def test_an_empty_sum_of_positive_numbers_is_not_positive() -> None:
    def f(x, y):
        return y / np.sum(np.exp(x)) * np.sum(np.exp(x))

    with np.errstate(divide="ignore", invalid="ignore"):
        assert np.isnan(simplified(f, x=np.zeros(0), y=np.array(2.0)))


@pytest.mark.parametrize("trust", ["rounding", "domain"])
@pytest.mark.parametrize(
    ("f", "at"),
    [
        (lambda x: (1e6 * x) ** 64 * 3, 1e-6),
        (lambda x: (1e-6 * x) ** 64 * 3, 1e6),
        (lambda x: (1e-200 * x) * (1e-200 * np.abs(x)), 1e200),
        (lambda x: (1e200 * x) * (1e200 * x) + (1e200 * x) * (1e200 * x), 1e-200),
        (lambda x: np.sin(1e-160 * x) * (1e-160 * x), 1e160),
    ],
)
def test_a_number_that_no_float_holds_is_not_gathered(f: Any, at: float, trust: Any) -> None:
    x = np.array([at, 2 * at])
    graph = sg.trace(lambda x: np.sum(f(x)), x=(2,)).gradient("x")
    wanted = graph.evaluate(x=x)
    assert np.all(np.isfinite(wanted[1]))
    assert np.all(wanted[1] != 0)
    found = graph.simplify(trust=trust).evaluate(x=x)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-12)


def test_what_is_steady_is_not_written_over_exps() -> None:
    def f(x, y):
        p = snp.softmax(y, axis=-1)
        return np.sum((p * x) ** 2 / (1 + p**2))

    at = {"x": np.ones((3, 3)), "y": np.array([[900.0, -900.0, 0.0]])}
    graph = sg.trace(f, x=(3, 3), y=(1, 3)).gradient("y")
    value, slope = graph.simplify().evaluate(**at)
    np.testing.assert_allclose(value, 1.5, rtol=1e-12)
    np.testing.assert_array_equal(slope, np.zeros((1, 3)))


def test_an_exp_stays_with_the_sum_it_is_divided_by() -> None:
    """y sigmoid(a) is not exp(a) times y sigmoid(-a), although that is computed anyway."""

    def f(y, a):
        shared = y * snp.sigmoid(-a)
        return np.sum(np.sin(shared)) + np.sum(np.cos(shared)) + np.sum(y * snp.sigmoid(a))

    at = {"y": np.array([1.0, 2.0]), "a": np.array([800.0, -800.0])}
    graph = sg.trace(f, y=(2,), a=(2,))
    np.testing.assert_allclose(graph.simplify().evaluate(**at), graph.evaluate(**at))


@pytest.mark.parametrize("g", [lambda x: np.exp(np.log(x)), lambda x: np.exp(np.sqrt(x)) + 1])
def test_what_is_no_number_does_not_cancel(g: Any) -> None:
    def f(x, y):
        return y * g(x) / g(x)

    with np.errstate(invalid="ignore"):
        found = simplified(f, x=SIGNED, y=np.ones(2))
    np.testing.assert_allclose(found, [np.nan, 1])


def test_a_number_that_float32_holds_to_a_digit_is_not_gathered() -> None:
    def f(x, y):
        return (np.float32(1e-30) * x) * (np.float32(1e-14) * y)

    at = {"x": np.array([3e29], "float32"), "y": np.array([3e8], "float32")}
    graph = sg.trace(f, x=sg.spec((1,), "float32"), y=sg.spec((1,), "float32"))
    np.testing.assert_allclose(graph.simplify().evaluate(**at), 9e-7, rtol=1e-5)


def test_a_join_of_what_is_repeated_along_its_axis_stays() -> None:
    """x twice and y never is not x and y, though both are two long."""

    def f(x: Any, y: Any) -> Any:
        return np.concatenate([snp.broadcast_to(x, (2,)), snp.broadcast_to(y, (0,))])

    graph = sg.trace(f, x=np.array([1.0]), y=np.array([2.0]))
    found = graph.simplify().evaluate(x=np.array([1.0]), y=np.array([2.0]))
    np.testing.assert_array_equal(found, [1.0, 1.0])
