"""Multiples of sigmoids that are written as one quotient, and those that are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.node import Node
from symgraph.ir.walks import reachable
from symgraph.ops.exponential import sigmoid
from symgraph.passes.logistic_quotients import with_quotients

NEAR = np.linspace(-2.0, 3.0, 11)
FAR = np.array([-1000.0, -40.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 40.0, 708.0, 720.0, 1000.0])

SHORT: dict[str, tuple[Callable[[Any], Any], int]] = {
    "-sigmoid(-x)": (lambda x: -snp.sigmoid(-x), 3),
    "-0.2/(1 + exp x)": (lambda x: -0.2 / (1 + np.exp(x)), 3),
    "a sum, its sign further up": (lambda x: -np.sum(x * (1 / (1 + np.exp(x)))), 4),
    "a product, its sign further up": (lambda x: -(np.sqrt(3 + x**2) @ snp.sigmoid(-x)), 7),
    "x sigmoid(-x)": (lambda x: x * snp.sigmoid(-x), 3),
    "-x sigmoid(-x)": (lambda x: x * -snp.sigmoid(-x), 3),
    "-x sum(x) sigmoid(-x)": (lambda x: np.sum(x) * (-snp.sigmoid(-x) * x), 5),
    "-sigmoid of a difference": (lambda x: -snp.sigmoid(np.cos(x) - x), 5),
    "x sigmoid of a difference": (lambda x: x * snp.sigmoid(3 * (np.cos(x) - x)), 6),
    "a sigmoid of a multiple of a sigmoid": (lambda x: snp.sigmoid(-2 * snp.sigmoid(-x)), 7),
}
KEPT: dict[str, tuple[Callable[[Any], Any], int]] = {
    "no multiple": (lambda x: snp.sigmoid(-x), 5),
    "no sign": (lambda x: 2 * snp.sigmoid(x), 5),
    "an array without a sign": (lambda x: x * snp.sigmoid(x), 5),
    "below a quotient": (lambda x: -(np.cos(x) / (1 + snp.sigmoid(-x))), 9),
    "a difference below": (lambda x: -snp.sigmoid(x / (np.cos(x) - 1)), 9),
    "a difference used again": (lambda x: (d := np.cos(x) - x) * snp.sigmoid(d), 7),
    "used again": (lambda x: (s := snp.sigmoid(-x)) * np.sum(-s), 8),
}


@pytest.mark.parametrize("name", SHORT | KEPT)
def test_count_and_numbers_far_out(name: str) -> None:
    f, most = (SHORT | KEPT)[name]
    graph = sg.trace(f, x=sg.spec("11"))
    small = graph.simplify()
    assert small.op_count() <= most, small
    assert ("exp" in {node.op.name for node in small.nodes}) == (name in SHORT)
    assert small.simplify().dag.outputs == small.dag.outputs
    with np.errstate(all="ignore"):
        found, expected = small.evaluate(x=FAR), graph.evaluate(x=FAR)
    # From 709.8 on exp overflows, and a quotient of c is 0 where 6e-309 c is left; c is x sum(x).
    tiny, lost = 4 * np.finfo(float).tiny, 6e-309 * np.abs(FAR * np.sum(FAR))
    apart = np.abs(found - expected) - 1e-14 * np.abs(expected)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    assert not np.any(apart > np.where(FAR > 709.7, np.maximum(tiny, lost), tiny))


@pytest.mark.parametrize("c", [1e300, -1e300])
def test_a_huge_multiple_keeps_its_numbers(c: float) -> None:
    graph = sg.trace(lambda x: c * snp.sigmoid(-x), x=sg.spec(2)).simplify()
    x = np.array([720.0, 740.0])
    np.testing.assert_allclose(graph.evaluate(x=x), c * np.exp(-x), rtol=1e-9)
    np.testing.assert_allclose(graph.lower()(x), c * np.exp(-x), rtol=1e-9)


@pytest.mark.sampled(one_in=5)
@pytest.mark.parametrize("name", SHORT)
def test_the_gradient_is_that_of_the_sigmoid(name: str) -> None:
    """A quotient would have the slope exp(x) / (1 + exp(x))**2 there: infinite over infinite."""
    f, _ = SHORT[name]
    graph = sg.trace(lambda x: np.sum(f(x)), x=sg.spec("11"))
    slopes = graph.simplify().gradient("x", value=False).simplify().evaluate(x=FAR)
    assert np.all(np.isfinite(slopes))
    other = graph.gradient("x", value=False).simplify().evaluate(x=FAR)
    np.testing.assert_array_equal(slopes, other)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: snp.sigmoid(-x) * snp.sigmoid(-y),
        lambda x, y: -snp.sigmoid(-x) * snp.sigmoid(-y),
        lambda x, y: snp.sigmoid(np.cos(x) - y) * snp.sigmoid(-y),
    ],
)
def test_of_two_sigmoids_one_is_the_multiple_of_the_other(f: Callable[..., Any]) -> None:
    at = {"x": np.linspace(-2, 2, 5), "y": np.linspace(1, 3, 5)}
    small = sg.trace(f, x="5", y="5").simplify()
    np.testing.assert_allclose(small.evaluate(**at), sg.trace(f, **at).evaluate(**at), rtol=1e-14)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: y - snp.sigmoid(x - y) * -snp.sigmoid(x) * snp.sigmoid(y - x),
        lambda x, y: y + snp.sigmoid(x - y) * -snp.sigmoid(x) * snp.sigmoid(-x),
        lambda x, y: np.sum(-snp.sigmoid(x - y) * np.cos(y) * np.exp(-y)) - x,
        lambda x, y: np.sum(x) * np.sum((s := snp.sigmoid(-x)) / (2 + s**2)) - y,
    ],
)
def test_exps_of_several_sigmoids_are_not_made_one(f: Callable[..., Any]) -> None:
    """exp(2 x - y) is infinite where what it is multiplied with is 0."""
    at = {"x": np.array([-900.0, 500.0, 900.0]), "y": np.array([0.1, 0.5, 0.9])}
    small = sg.trace(f, x="3", y="3").simplify()
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(small.evaluate(**at), sg.trace(f, **at).evaluate(**at))


def test_numbers_agree_in_single_precision() -> None:
    x = np.array([-90.0, -3.0, 0.0, 3.0, 80.0], np.float32)
    small = sg.trace(lambda x: -snp.sigmoid(-x), x=x).simplify()
    found = small.evaluate(x=x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, -1 / (1 + np.exp(x.astype(float))), rtol=1e-6)


@pytest.mark.parametrize("name", SHORT)
def test_each_quotient_is_judged_with_all_else_as_it_was(name: str) -> None:
    outputs = sg.trace(SHORT[name][0], x=sg.spec("11")).simplify(trust="exact").dag.outputs
    asked: list[tuple[Node, Node]] = []

    def refused(new: Node, old: Node) -> bool:
        asked.append((new, old))
        return False

    before = [node for node in reachable(outputs) if node.op is sigmoid.op]
    assert with_quotients(outputs, refused) == list(outputs)
    for new, old in asked:
        assert new.origin.frames == old.origin.frames
        # The quotient itself, and only it, is new: it takes the place of one sigmoid.
        left = [node for node in reachable([new]) if node.op is sigmoid.op]
        assert len(left) < len(before)
        found, expected = (sg.graph(sg.Array(each)).evaluate(x=NEAR) for each in (new, old))
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert bool(asked) == (with_quotients(outputs) != list(outputs))


# -- random multiples, products and sums of them ---------------------------------------------------
def random_expression(rng: np.random.Generator, x: Any, y: Any) -> Any:
    """A sum of products of sigmoids, numbers, arrays and signs."""
    inside = [x, -x, y - x, x - y, -2 * y, np.cos(x) - y, x * y, -(x + y) / 3, np.sin(y)]
    factors = [x, np.cos(y), -y, 2.0, -0.5, np.sum(x), np.exp(-y)]
    factors += [snp.softmax(x), snp.softmax(x - y), snp.softplus(y - x), snp.logsumexp(x)]
    seen: list[Any] = []

    def pick(choices: list[Any]) -> Any:
        return choices[rng.integers(len(choices))]

    def factor() -> Any:
        if seen and rng.random() < 0.2:
            return pick(seen)
        if rng.random() < 0.5:
            found = snp.sigmoid(pick(inside))
            seen.append(found)
            return -found if rng.random() < 0.4 else found
        return pick(factors)

    total = np.cos(x) - y
    for _ in range(rng.integers(1, 4)):
        product = factor()
        for _ in range(rng.integers(0, 3)):
            product = product / (2 + factor() ** 2) if rng.random() < 0.15 else product * factor()
        product = np.sum(product) if rng.random() < 0.2 else product
        total = total - product if rng.random() < 0.5 else total + product
    return total


# exp(-y) softmax(x - y) overflows where exp of a difference does not: so many operations more.
RESCUED = {45: 1, 365: 2, 978: 2}


def check_random(seed: int) -> None:
    def f(x: Any, y: Any) -> Any:
        return random_expression(np.random.default_rng(seed), x, y)

    graph = sg.trace(f, x="4", y="4")
    small = graph.simplify()
    assert small.op_count() <= graph.op_count() + RESCUED.get(seed, 0), small
    assert small.simplify().dag.outputs == small.dag.outputs, small
    rng = np.random.default_rng(seed + 1)
    for scale in (1.0, 1000.0):
        at = {"x": scale * rng.standard_normal(4), "y": rng.random(4)}
        with np.errstate(all="ignore"):
            found, expected = small.evaluate(**at), graph.evaluate(**at)
        size = np.max(np.abs(expected), initial=1.0)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * size)


@pytest.mark.sampled(one_in=24)
@pytest.mark.parametrize("seed", range(60))
def test_random_multiples(seed: int) -> None:
    check_random(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(100, 1600, 100))
def test_many_random_multiples(start: int) -> None:
    for seed in range(start, start + 100):
        check_random(seed)
