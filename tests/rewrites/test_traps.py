"""Identities that look right and are not: none fires where it would be wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.rewriting.driver import rewrite
from symgraph.rewriting.packs import default_rules

AWKWARD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, -2.0, 2.0, 0.5, 1e300, 5e-324])


def simplified(value: sg.Array, trust: Any = "rounding") -> sg.Array:
    (node,) = rewrite([value.node], default_rules(), trust=trust)
    return sg.Array(node)


def numbers(value: sg.Array, **given: Any) -> Any:
    return sg.graph(value).evaluate(**given)


def same(one: sg.Array, other: sg.Array) -> bool:
    return one.node is other.node


def test_exp_over_its_sum_without_keepdims_is_no_softmax() -> None:
    x = sg.input("x", (3, 3))
    value = snp.exp(x) / snp.sum(snp.exp(x), axis=1)
    assert same(simplified(value), value)
    at = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(numbers(simplified(value), x=at), np.exp(at) / np.exp(at).sum(1))


@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
def test_a_softmax_is_one_along_the_axes_of_its_sum(axis: Any) -> None:
    x = sg.input("x", (3, 3))
    value = snp.exp(x) / snp.sum(snp.exp(x), axis=axis, keepdims=True)
    assert same(simplified(value), snp.softmax(x, axis=axis))


def test_two_different_axes_are_no_softmax() -> None:
    x = sg.input("x", (3, 3))
    value = snp.exp(x) / snp.sum(snp.exp(x.T), axis=1, keepdims=True)
    small = simplified(value)
    assert "softmax" not in [node.op.name for node in sg.graph(small).nodes]
    at = np.arange(9.0).reshape(3, 3)
    wanted = np.exp(at) / np.sum(np.exp(at.T), axis=1, keepdims=True)
    np.testing.assert_allclose(numbers(small, x=at), wanted, rtol=1e-14)


def test_root_of_a_square_is_the_absolute_value() -> None:
    x = sg.input("x", (10,))
    for value in (snp.sqrt(x * x), snp.sqrt(x**2)):
        assert same(simplified(value), snp.absolute(x))
    p = sg.input("p", (3,), assume=sg.positive)
    assert same(simplified(snp.sqrt(p * p)), p)


STAY: dict[str, Callable[[Any], Any]] = {
    "exp(log x)": lambda x: snp.exp(snp.log(x)),
    "x / x": lambda x: x / x,
    "x * 0": lambda x: x * 0,
    "x - x": lambda x: x - x,
    "0 / x": lambda x: 0 / x,
    "square(sqrt x)": lambda x: snp.square(snp.sqrt(x)),
    "sigmoid(log(x / (1 - x)))": lambda x: snp.sigmoid(snp.log(x / (1 - x))),
    "tanh(arctanh x)": lambda x: snp.tanh(snp.arctanh(x)),
    "cosh(arccosh x)": lambda x: snp.cosh(snp.arccosh(x)),
    "x == x": lambda x: x == x,
    "x <= x": lambda x: x <= x,
    "log(x ** 2)": lambda x: snp.log(x**2),
    "arcsin(sin x)": lambda x: snp.arcsin(snp.sin(x)),
}


@pytest.mark.parametrize("name", STAY)
def test_no_number_appears_where_there_is_none_at_the_default_trust(name: str) -> None:
    x = sg.input("x", (len(AWKWARD),))
    value = STAY[name](x)
    before, after = numbers(value, x=AWKWARD), numbers(simplified(value), x=AWKWARD)
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("name", ["exp(log x)", "x / x", "x * 0", "x - x", "square(sqrt x)"])
def test_a_user_may_ask_for_more(name: str) -> None:
    x = sg.input("x", (10,))
    value = STAY[name](x)
    assert not same(simplified(value, "domain"), value)


def test_arccosh_of_cosh_forgets_the_sign() -> None:
    x = sg.input("x", ())
    value = snp.arccosh(snp.cosh(x))
    assert numbers(simplified(value), x=-2.0) == 2.0


def test_negative_zero_survives_exact_trust() -> None:
    x = sg.input("x", ())
    assert same(simplified(x + 0, "exact"), x + 0)
    assert same(simplified(x + -0.0, "exact"), x)
    assert same(simplified(x - 0, "exact"), x)
    assert same(simplified(x * 1, "exact"), x)
    assert same(simplified(x + 0), x)


def test_duplicate_indices_add_up() -> None:
    x = sg.input("x", (3,))
    index = np.array([1, 1, 2])
    value = snp.take(x, index) * 1
    (gradient,) = sg.grad(snp.sum(value * value), [x])
    at = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(numbers(simplified(gradient), x=at), [0.0, 8.0, 6.0])


def test_a_partial_sum_of_repeated_elements_counts_that_axis_only() -> None:
    x = sg.input("x", (1, 3))
    value = snp.sum(snp.broadcast_to(x, (5, 3)), axis=0, keepdims=True)
    np.testing.assert_array_equal(numbers(simplified(value), x=np.ones((1, 3))), np.full((1, 3), 5))
    whole = snp.sum(snp.broadcast_to(x, (5, 3)))
    assert numbers(simplified(whole), x=np.ones((1, 3))) == 15


def test_casts_that_lose_digits_stay() -> None:
    x = sg.input("x", (3,))
    narrow = x.astype("float32").astype("float64")
    assert same(simplified(narrow), narrow)
    whole = sg.input("i", (3,), "int64")
    there = whole.astype("float64").astype("int64")
    assert same(simplified(there), there)
    small = sg.input("j", (3,), "int16")
    assert same(simplified(small.astype("float32").astype("int16")), small)


def test_a_nan_of_the_branch_not_taken_is_not_multiplied() -> None:
    x = sg.input("x", (4,))
    value = snp.sum(snp.where(x > 0, snp.log(x), 0))
    (gradient,) = sg.grad(value, [x])
    at = np.array([2.0, 0.0, -1.0, 0.5])
    np.testing.assert_allclose(numbers(simplified(gradient), x=at), [0.5, 0.0, 0.0, 2.0])


@pytest.mark.parametrize(
    ("others", "right"),
    [
        (lambda b, w: w * (np.exp(b) + np.exp(b - 1)), 1 / (1 + 2 * (1 + np.exp(-1)))),
        (lambda b, w: w * np.sum(np.exp(b * np.ones(3))), 1 / 7),
        (lambda b, w: np.mean(np.exp(b * np.ones(3))), 1 / 2),
        (lambda b, w: w * np.cosh(b), 1 / 2),
        (lambda b, w: (1 + np.exp(b)) ** (w - 1), 1 / 2),
        (lambda b, w: w * np.exp(b), 1 / 3),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::symgraph.UnusedInputWarning")
def test_a_share_of_what_overflows_is_right_or_no_number(
    others: Callable[[Any, Any], Any], right: float
) -> None:
    """The slope of log(exp a + y) in a was 0 where y had overflowed and log y was infinite."""
    positive = sg.spec("", assume=sg.positive)
    graph = sg.trace(lambda a, b, w: np.log(np.exp(a) + others(b, w)), a="", b="", w=positive)
    slope = graph.gradient("a", value=False).simplify()
    np.testing.assert_allclose(slope.evaluate(a=2.0, b=2.0, w=2.0), graph_slope(others), rtol=1e-12)
    found = slope.evaluate(a=900.0, b=900.0, w=2.0)
    assert np.isnan(found) or np.isclose(found, right)


def graph_slope(others: Callable[[Any, Any], Any]) -> float:
    """The share of exp a at a = b = w = 2."""
    return float(np.exp(2.0) / (np.exp(2.0) + others(2.0, 2.0)))
