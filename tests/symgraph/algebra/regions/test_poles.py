"""Infinity may stand for NaN only where nothing above makes a number of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

KEEPING: dict[str, Callable[[Any], Any]] = {
    "alone": lambda z: z,
    "in a sum": lambda z: np.sum(3 * z + 1),
    "squared": lambda z: z**2,
    "chosen": lambda z: np.where(np.array([True, True, True]), z, 0),
    "above": lambda z: z / 7,
    "its logarithm": lambda z: np.log(np.abs(z)),
}
BOUNDING: dict[str, Callable[[Any], Any]] = {
    "tanh": np.tanh,
    "arctan": np.arctan,
    "exp": lambda z: np.exp(-z),
    "sigmoid": snp.sigmoid,
    "below": lambda z: 5 / (1 + z),
    "minimum": lambda z: np.minimum(z, 4),
    "clip": lambda z: np.clip(z, -1, 1),
    "sign": np.sign,
    "a comparison": lambda z: np.where(z < 1, 2.0, 3.0),
    "a comparison of a sum": lambda z: 2 * z + 1 < 0,
    "softmax": lambda z: snp.softmax(z * 2 - 1),
    "below a root": lambda z: 1 / np.sqrt(1 + z**2),
}
X = np.array([0.0, -0.0, 2.0])
POLES: dict[str, Callable[[Any], Any]] = {
    "a higher power": lambda x: x / x**2,
    "a logarithm beside a quotient": lambda x: 2 * np.log(x) + 3 * (x / x),
    "a pole beside a quotient": lambda x: 2 / x + 3 * (x / x),
    "like terms at a pole": lambda x: 2 / x - 5 / x,
    "terms at one pole": lambda x: np.exp(x) / x - np.cosh(x) / x,
}
HIDDEN: dict[str, Callable[[Any], Any]] = POLES | {
    "a pole in a product": lambda x: 2 * (x / x) - (1 + x) * (1 + 1 / x),
}


def values(graph: sg.Graph) -> np.ndarray[Any, Any]:
    with np.errstate(all="ignore"):
        return np.asarray(graph.evaluate(x=X), float)


@pytest.mark.parametrize("pole", POLES)
@pytest.mark.parametrize("name", KEEPING)
def test_a_pole_that_stays_one_is_shortened(name: str, pole: str) -> None:
    graph = sg.trace(lambda x: KEEPING[name](POLES[pole](x)), x=(3,))
    small = graph.simplify()
    assert small.op_count() < graph.op_count()
    assert np.array_equal(np.isfinite(values(small)), np.isfinite(values(graph)))


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("pole", HIDDEN)
@pytest.mark.parametrize("name", BOUNDING)
def test_no_number_is_made_of_nan(name: str, pole: str) -> None:
    graph = sg.trace(lambda x: BOUNDING[name](HIDDEN[pole](x)), x=(3,))
    np.testing.assert_array_equal(values(graph.simplify()), values(graph))


def test_what_is_known_not_to_vanish_is_shortened_everywhere() -> None:
    graph = sg.trace(lambda x: np.tanh(x / x**2), x=sg.spec((3,), assume=sg.positive))
    assert graph.simplify().op_count() == 2


@pytest.mark.parametrize("pole", HIDDEN)
def test_no_number_is_made_of_nan_in_the_next_step_of_a_loop(pole: str) -> None:
    def step(carry: Any, row: Any) -> tuple[Any, Any]:
        return HIDDEN[pole](row) + 0 * carry, np.exp(-carry)

    graph = sg.trace(lambda x: sg.scan(step, np.zeros(()), x)[1], x=(3,))
    np.testing.assert_array_equal(values(graph.simplify()), values(graph))


def test_a_quotient_stays_beside_the_reciprocal_of_a_pole() -> None:
    """log x is infinite at 0, where 1 / log x is 0 and log x / log x is NaN."""
    graph = sg.trace(lambda x: np.log(x) / np.log(x) + 1 / np.log(x), x=(3,))
    small = values(graph.simplify())
    assert np.array_equal(np.isfinite(small), np.isfinite(values(graph)))
    assert not np.isfinite(small[:2]).any()


@pytest.mark.parametrize("inside", [lambda x: x, lambda x: x * (x - 1.5), np.sin])
def test_what_cancels_beside_its_root_is_still_nan_below_zero(inside: Any) -> None:
    """(1 + s) - s is 1 beside 1 + s, for a root s; beside another value it is NaN where s is."""

    def slope(x: Any) -> Any:
        s = np.sqrt(inside(x))
        return ((1 + s) - s) / (1 + s) ** 2

    def other(x: Any) -> Any:
        s = np.sqrt(inside(x))
        return ((1 + s) - s) / (1 + x) ** 2

    def over_an_array(x: Any) -> Any:
        s, e = np.sqrt(inside(x)), np.exp(x)
        return (e + s) / (1 + s) / e - s / (1 + s) / e

    at: dict[str, Any] = {"x": np.array([0.0, -1.0, 2.0])}
    for f in (slope, other, over_an_array):
        graph = sg.trace(f, x=(3,))
        small = graph.simplify()
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(small.evaluate(**at), graph.evaluate(**at), rtol=1e-14)


def test_a_scale_of_which_nothing_is_known() -> None:
    """What cancels stands over powers of sums and of the scale itself."""
    graph = sg.trace(
        lambda s, a, x: np.sum((1 + a) * np.log(1 + x / s) + np.log(s)), s=(), a=(), x=3
    )
    slope = graph.gradient("s", value=False)
    at: dict[str, Any] = {"s": np.array(1.5), "a": np.array(0.25), "x": np.array([0.5, 2.0, 3.0])}
    np.testing.assert_allclose(slope.simplify().evaluate(**at), slope.evaluate(**at), rtol=1e-12)


LOGARITHMS: dict[str, Callable[[Any, Any], Any]] = {
    "chosen": lambda x, y: np.where(y > 0.5, np.log(x), 5.0),
    "divided or 0": lambda x, y: snp.divide_or_zero(np.log(x), y),
    "less 1": lambda x, y: np.log1p(x) * y,
    "of a part": lambda x, y: np.log(x + y),
    "the reciprocal of what has a pole": lambda x, y: np.log(y) / np.log(y) + 1 / np.log(y),
}


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", LOGARITHMS)
def test_a_quotient_stays_beside_what_may_be_a_number(name: str, *, shared: bool) -> None:
    def function(x: Any, y: Any) -> Any:
        found = LOGARITHMS[name](x, y)
        return (found + x / x, np.exp(found), found * 2) if shared else found + x / x

    graph = sg.trace(function, x=(3,), y=(3,))
    at: dict[str, Any] = {"x": X, "y": np.array([0.25, 0.0, 1.0])}
    with np.errstate(all="ignore"):
        before, after = graph.evaluate(**at), graph.simplify().evaluate(**at)
    first, other = (np.asarray(each[0] if shared else each) for each in (before, after))
    assert np.isnan(first).any()
    assert np.array_equal(np.isfinite(first), np.isfinite(other))
