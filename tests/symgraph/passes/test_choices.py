"""Sums of values behind masks are choices by one condition each, where that is shorter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from passedgraphs import assert_same, operations

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.node import Node
from symgraph.passes.choices import with_choices_joined

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SPECS = {"x": sg.spec(9), "y": sg.spec(9), "a": sg.spec("")}
AT = {
    "x": np.array([-3.0, -1, 0.5, 1, 1.5, 2, np.nan, np.inf, -np.inf]),
    "y": np.array([0.25, np.nan, -2, 1, 3, np.inf, 7, 0.5, -1.5]),
    "a": np.array(1.75),
}

Function = Callable[[Any, Any, Any], Any]
where = snp.where


def joined(graph: sg.Graph) -> list[Node]:
    """The outputs with choices joined: valid, with the same numbers."""
    found = with_choices_joined(graph.dag.outputs)
    assert_same(found, graph, AT, rtol=1e-15)
    return found


def masked(x: Any, y: Any, a: Any) -> Any:
    """The gradient of a choice of three, as reverse mode writes it."""
    low, high = x < -1, x > 1
    middle = where(low | high, 0, x * y)
    return middle + where(~low & high, a, 0) + where(low, -a, 0)


JOINED: dict[str, tuple[Function, str]] = {
    "three": (masked, "greater less multiply negative where where"),
    "with a sign": (
        lambda x, y, a: where(x > 1, y, 0) - where(~(x > 1) & (y > 0), x, 0),
        "greater greater negative where where",
    ),
    "all negative": (
        lambda x, y, a: -where(x > 1, y, 0) - where(~(x > 1) & (y > 0), x, 0),
        "greater greater negative where where",
    ),
    "beside another term": (
        lambda x, y, a: a * x - where(x > 1, y, 0) + y * y - where(x > 1, 0, x),
        "add greater multiply multiply subtract where",
    ),
    "two at a time": (
        lambda x, y, a: where(x > 1, y, x * x) + where(x > 1, x, 0),
        "add greater multiply where",
    ),
    "one never": (
        lambda x, y, a: where((x > 1) & ~(x > 1), y, 0) + where(x > 1, 0, x),
        "greater where",
    ),
    "a choice alone": (
        lambda x, y, a: where(~(x > 1) & (y > 0), x, 0), "greater greater where where",
    ),
    "numbers that are added": (
        lambda x, y, a: where(x > 1, 0.5, -1.0) + where(x > 1, 0.0, 2.5), "greater where",
    ),
    "comparisons that exclude one another": (
        lambda x, y, a: where(x > y, a, 0) + where(x == y, y, 0) + where(x >= y, 0, x),
        "equal greater where where",
    ),
    "comparisons that imply one another": (
        lambda x, y, a: (
            where(x < 1, y, 0) + where(x < 2, 0, a) + where(x >= 1, where(x < 2, x, 0), 0)
        ),
        "less less where where",
    ),
    "shares of ties": (
        lambda x, y, a: (
            (s := where(x == y, 0.5, 1.0)), where(x >= y, s * a, 0) + where(x > y, 0, s * y),
        )[1],
        "add equal greater_equal multiply multiply where where",
    ),
    "a number for all": (
        lambda x, y, a: (
            (s := where(x == y, 0.1, 0.2)), where(x >= y, s * x, 0) + where(x > y, 0, s * a),
        )[1],
        "add equal greater_equal multiply multiply multiply where where",
    ),
    "one value in all outcomes": (
        lambda x, y, a: (
            (s := where(x == y, 0.5, 1.0)), where(x >= y, s * a, 0) + where(x > y, 0, s * a),
        )[1],
        "",
    ),
    "what is multiplied by 0, which may be NaN": (
        lambda x, y, a: (
            where(x > 1, where(y > 1, 1.0, 0) * x, 0) + where(x > 1, where(y > 1, 0, 1.0) * y, 0)
        ),
        "add greater greater multiply multiply where where where",
    ),
    "numbers": (
        lambda x, y, a: where(x > 1, 2.0, 0) - where(x > 1, 0, where(y > 0, 3.0, 0)),
        "greater greater where where",
    ),
}  # fmt: skip


def many(x: Any, y: Any, a: Any) -> Any:
    """Choices of seven conditions, each behind the one before."""
    total: Any = 0
    mask = x > 3
    for at in range(6):
        total = total + where(mask & (y > at), x, 0)
        mask = mask & (y < at)
    return total


KEPT: dict[str, Function] = {
    "another use of a term": lambda x, y, a: (
        (t := where(x > 1, y, 0)) + where(x > 1, 0, x), t * (x * y), where(x > 1, 0, x) - y,
    ),
    "nothing shared": lambda x, y, a: where(x > 1, y, 0) + where(y > 1, x, 0),
    "one choice": lambda x, y, a: where(x > 1, y, 0) + x,
    "too many conditions": many,
}  # fmt: skip


@pytest.mark.parametrize("case", JOINED)
def test_choices_that_are_joined(case: str) -> None:
    f, wanted = JOINED[case]
    found = joined(sg.trace(f, **SPECS))
    assert operations(found) == wanted.split()
    assert with_choices_joined(found) == found


@pytest.mark.parametrize("case", KEPT)
def test_choices_that_stay(case: str) -> None:
    graph = sg.trace(KEPT[case], **SPECS)
    assert joined(graph) == list(graph.dag.outputs)


@pytest.mark.parametrize("seed", range(20))
def test_random_sums_keep_their_numbers_and_get_no_longer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = iter(rng.integers(1 << 20, size=50).tolist())

    def any_of(found: list[Any]) -> Any:
        return found[next(drawn) % len(found)]

    def f(x: Any, y: Any, a: Any) -> Any:
        masks = [x > 1, y > 0, x < y][: any_of([1, 2, 3])]
        for _ in range(3):
            one, other = any_of(masks), any_of(masks)
            masks.append(any_of([one & other, one | other, ~one]))
        values = [x, y, 0.0, 2.0, x * y]
        total: Any = 0
        for _ in range(4):
            term = where(any_of(masks), any_of(values), any_of(values))
            values.append(where(any_of(masks), 0, term))
            total = total + term if any_of([True, True, False]) else total - term
        return total

    graph = sg.trace(f, **SPECS)
    assert len(operations(joined(graph))) <= graph.op_count()


def test_the_gradient_of_select_has_a_choice_for_each_condition() -> None:
    def tax(x: Any) -> Any:
        rates = [0.1 * x, 0.1 + 0.2 * (x - 1), 0.3 + 0.3 * (x - 2)]
        return np.sum(np.select([x < 1, x < 2, x < 4], rates, 0.9 + 0.4 * (x - 4)))

    small = sg.trace(tax, x="9").gradient("x", value=False).simplify()
    assert small.op_count() == 6
    assert "choices joined" in str(small.explain())
    x = np.array([0.5, 1, 1.5, 2, 3, 4, 5, np.nan, -np.inf])
    wanted = [0.1, 0.2, 0.2, 0.3, 0.3, 0.4, 0.4, 0.4, 0.1]
    np.testing.assert_array_equal(small.evaluate(x=x), wanted)


SLOPES: dict[str, tuple[Callable[..., Any], int]] = {
    "leaky relu": (lambda x, y: np.maximum(0.01 * x, x), 5),
    "pinball": (lambda x, y: np.maximum(0.9 * x, -0.1 * x), 6),
    "pinball, level": (lambda x, y: np.maximum(y * x, (y - 1) * x), 9),
    "larger of two functions": (lambda x, y: np.maximum(x * x, y * x), 9),
    "elu": (lambda x, y: np.maximum(x, 0) + np.expm1(np.minimum(x, 0)), 6),
    "clipped ratio": (lambda x, y: np.minimum(x * y, np.clip(x, 0.8, 1.2) * y), 12),
    "both": (lambda x, y: 2 * np.maximum(x, y) + np.minimum(x, y), 4),
}


@pytest.mark.parametrize("case", SLOPES)
def test_slopes_of_extrema_choose_once(case: str) -> None:
    f, count = SLOPES[case]
    ends = np.array([-2.0, -1, -0.5, 0, 0.5, 1, 1.2, 2])
    x, y = (each.ravel() for each in np.meshgrid(ends, ends))
    plain = sg.trace(lambda x, y: np.sum(f(x, y)), x="64", y="64").gradient("x", value=False)
    small = plain.simplify()
    assert small.op_count() <= count
    np.testing.assert_allclose(small.evaluate(x=x, y=y), plain.evaluate(x=x, y=y), rtol=1e-14)


def test_nan_takes_no_branch_of_what_the_user_wrote() -> None:
    """Neither condition holds; only in slopes of maximum and minimum NaN is nothing to ask for."""
    graph = sg.trace(lambda x: where(x > 1, 0.5, 0.0) + where(x <= 1, 2.0, 0.0), x="3")
    x = np.array([2.0, 1.0, np.nan])
    np.testing.assert_array_equal(graph.simplify().evaluate(x=x), [0.5, 2.0, 0.0])


def test_a_mask_of_the_user_keeps_nan_in_a_gradient() -> None:
    """The product with a mask of numbers is NaN where log x is, and so is its slope."""

    def f(x: Any) -> Any:
        mask = where(x > 1, 1.0, 0.0)
        return np.sum(mask * np.log(x) * 2 + where(x > 1, x * x, 3 * x))

    x = np.array([2.0, 0.5, 0.0, -1.0])
    plain = sg.trace(f, x="4").gradient("x", value=False)
    small = plain.simplify()
    np.testing.assert_allclose(small.evaluate(x=x), plain.evaluate(x=x), rtol=1e-14)
    assert np.isnan(small.evaluate(x=x)[2])


def test_long_sums_and_deep_masks_stay_and_take_no_recursion() -> None:
    def f(x: Any, y: Any, a: Any) -> Any:
        total: Any = 0
        mask = x > 1
        for at in range(3_000):
            total = total + where(mask, y, 0)
            mask = ~mask if at % 2 else mask | (y > 0)
        return total

    graph = sg.trace(f, **SPECS)
    assert with_choices_joined(graph.dag.outputs) == list(graph.dag.outputs)


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("seed", range(16))
def test_gradients_of_random_pieces_are_as_derived(seed: int) -> None:
    drawn = iter(np.random.default_rng(seed).integers(1 << 20, size=2_000).tolist())

    def any_of(found: list[Any]) -> Any:
        return found[next(drawn) % len(found)]

    def smooth(x: Any, y: Any, depth: int) -> Any:
        if not depth:
            return any_of([x, y, x, 2.0, -1.0])
        one, other = smooth(x, y, depth - 1), smooth(x, y, depth - 1)
        return any_of([one * other, one + other, one - other, 2.0 * one])

    def condition(x: Any, y: Any) -> Any:
        bound = any_of([-1.0, 0.0, 1.0])
        return any_of([x > bound, x <= bound, np.abs(x) < 1.5, y < bound, x > y])

    def pieces(x: Any, y: Any, depth: int) -> Any:
        if not depth:
            return smooth(x, y, 2) + 0 * x
        parts = [pieces(x, y, depth - 1) for _ in range(3)]
        conditions = [condition(x, y) for _ in range(2)]
        chosen = np.select(conditions, parts[:2], parts[2])
        return any_of([chosen, chosen * snp.where(condition(x, y), 2.0, -1.0)])

    def f(x: Any, y: Any) -> Any:
        return np.sum(pieces(x, y, 2))

    ends = [-2.0, -1.5, -1, -0.25, 0, 0.5, 1, 1.5, 3]
    x, y = (each.ravel() for each in np.meshgrid(ends, ends))
    plain = sg.trace(f, x=str(x.size), y=str(x.size)).gradient("x", "y", value=False)
    small = plain.simplify()
    assert small.op_count() <= plain.op_count()
    for found, wanted in zip(small.evaluate(x=x, y=y), plain.evaluate(x=x, y=y), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
