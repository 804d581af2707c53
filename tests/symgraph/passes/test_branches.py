"""Choices whose branches are one function compute it once, of the operand that is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from passedgraphs import assert_same, operations

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.node import Node
from symgraph.passes.branches import with_branches_joined

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SPECS = {"x": sg.spec(9), "y": sg.spec(9), "a": sg.spec("")}
AT = {
    "x": np.array([-3.0, -1, 0.0, 1, 1.5, 2, np.nan, np.inf, -np.inf]),
    "y": np.array([0.25, np.nan, -2, 1, 3, np.inf, 7, 0.5, -1.5]),
    "a": np.array(1.75),
}

Function = Callable[[Any, Any, Any], Any]
where = snp.where


def never(new: Node, old: Node) -> bool:
    """A judge to whom no order of factors loses anything."""
    return False


def joined(graph: sg.Graph) -> list[Node]:
    """The outputs with branches joined: valid, with the same numbers."""
    found = with_branches_joined(graph.dag.outputs, never, at_kinks=True)
    assert_same(found, graph, AT, rtol=1e-15)
    return found


JOINED: dict[str, tuple[Function, str]] = {
    "a factor": (lambda x, y, a: where(x > 1, x * y, a * y), "greater multiply where"),
    "the other factor": (lambda x, y, a: where(x > y, y * x, x * a), "greater multiply where"),
    "a divisor": (lambda x, y, a: where(x > 1, x / a, y / a), "divide greater where"),
    "a dividend": (lambda x, y, a: where(x > 1, a / x, a / y), "divide greater where"),
    "one operand": (lambda x, y, a: where(x > 1, np.exp(x), np.exp(a)), "exp greater where"),
    "a number of all branches": (
        lambda x, y, a: where(x > a, 2 * x, where(x < 0, 2 * y, 0.0)),
        "greater less multiply where where",
    ),
    "a number beside a number": (
        lambda x, y, a: where(x > a, 3.0, where(x < 0, 2 * y, 2 * x)),
        "greater less multiply where where",
    ),
    "a factor of all branches": (
        lambda x, y, a: where(x > a, y * x, where(x < 0, x * a, np.exp(y) * x)),
        "exp greater less multiply where where",
    ),
    "a factor within a product": (
        lambda x, y, a: where(x > 1, x * y, (y * a) * np.exp(x)),
        "exp greater multiply multiply where",
    ),
    "a lower bound": (
        lambda x, y, a: where(x <= 0, -1.0, x - 1) * y, "maximum multiply subtract",
    ),
    "an upper bound": (lambda x, y, a: where(x > 2, 4.0, x * x), "minimum multiply"),
    "the bound first": (
        lambda x, y, a: where(np.less(2, x), -3.0, 1 - 2 * x), "minimum multiply subtract",
    ),
    "within another bound": (
        lambda x, y, a: where(x >= 1, 0.0, snp.maximum(x, 0) - 1), "maximum minimum subtract",
    ),
    "nearly a number": (lambda x, y, a: where(x > 2, 0.2 * 3, 0.3 * x), "minimum multiply"),
}  # fmt: skip

KEPT: dict[str, Function] = {
    # One product of arrays becomes two, as the other uses stay.
    "another use": lambda x, y, a: (where(x > 1, p := x * y, a * y), p + y, a * y - x),
    # Where the factor is no number, 0 would be none.
    "a factor beside 0": lambda x, y, a: where(x > a, y * x, where(x < 0, x * a, 0.0)),
    "another number of a branch": lambda x, y, a: where(x > a, 2 * x, where(x < 0, 3 * y, 0.0)),
    "a number that is no multiple": lambda x, y, a: (
        where(x > a, 49 * x, where(x < 0, 49 * y, 1.0))
    ),
    "two operands differ": lambda x, y, a: where(x > 1, x / y, y / x),
    "of scalars": lambda x, y, a: where(x > 1, np.exp(a), np.exp(a * a)),
    # Where x is no number, the branch beyond the bound is taken.
    "the other way round": lambda x, y, a: where(x > 0, x - 1, -1.0),
    "another number": lambda x, y, a: where(x <= 0, -2.0, x - 1),
    "another variable": lambda x, y, a: where(x <= 0, -1.0, y - 1),
    "another use of the condition": lambda x, y, a: (
        where(c := x <= 0, -1.0, x - 1), where(c, y, a),
    ),
    "nearly zero": lambda x, y, a: where(x > 0.1, 0.0, x * 3 - 0.3),
}  # fmt: skip


@pytest.mark.parametrize("case", JOINED)
def test_branches_that_are_joined(case: str) -> None:
    f, wanted = JOINED[case]
    assert operations(joined(sg.trace(f, **SPECS))) == wanted.split()


@pytest.mark.parametrize("case", KEPT)
def test_branches_that_stay(case: str) -> None:
    graph = sg.trace(KEPT[case], **SPECS)
    assert joined(graph) == list(graph.dag.outputs)


def test_factors_stay_in_an_order_that_keeps_the_range() -> None:
    graph = sg.trace(lambda x, y, a: where(x > 1, x * y, (y * a) * np.exp(x)), **SPECS)
    given = graph.dag.outputs
    assert with_branches_joined(given, lambda new, old: True, at_kinks=True) == list(given)


@pytest.mark.parametrize("beyond_first", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_huber_and_smooth_l1_of_any_width(*, beyond_first: bool, weighted: bool) -> None:
    def loss(r: Any, w: Any, b: Any, y: Any) -> Any:
        small, large = 0.5 * r**2, b * (np.abs(r) - 0.5 * b)
        if beyond_first:
            huber = np.where(np.abs(r) > b, large, small)
        else:
            huber = np.where(np.abs(r) < b, small, large)
        return np.sum((w if weighted else y) * huber)

    width = sg.spec("", assume=sg.positive)
    graph = sg.trace(loss, r="6", w="6", b=width, y="").gradient("r", value=False)
    small = graph.simplify()
    assert operations(small.dag.outputs) == ["clip", "multiply", "negative"]
    at: dict[str, Any] = {
        "r": np.array([-3, -1, 0.25, 1, 3, np.nan]),
        "w": np.arange(6.0),
        "b": 1.0,
        "y": 2.0,
    }
    np.testing.assert_allclose(small.evaluate(**at), graph.evaluate(**at), rtol=1e-15)


def test_the_slope_at_a_bound_stays_before_differentiating() -> None:
    graph = sg.trace(lambda x, y, a: where(x < 0, -1.0, x - 1), **SPECS)
    given = graph.dag.outputs
    assert with_branches_joined(given, never, at_kinks=False) == list(given)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_smoothed_hinge(bad: float) -> None:
    def loss(m: Any) -> Any:
        return np.sum(np.where(m >= 1, 0, np.where(m <= 0, 0.5 - m, 0.5 * (1 - m) ** 2)))

    small = sg.trace(loss, m="6").gradient("m", value=False).simplify()
    assert small.op_count() == 2
    m = np.array([-2, 0, 0.25, 1, 3, bad])
    wanted = np.clip(m, 0, 1) - 1
    np.testing.assert_array_equal(small.evaluate(m=m), wanted)
    plain = sg.trace(loss, m="6").gradient("m", value=False)
    np.testing.assert_array_equal(plain.evaluate(m=m), wanted)


def test_quantile_huber() -> None:
    def loss(u: Any, t: Any) -> Any:
        huber = np.where(np.abs(u) <= 1, 0.5 * u**2, np.abs(u) - 0.5)
        return np.sum(np.where(u < 0, 1 - t, t) * huber)

    joint = sg.trace(loss, u="9", t="").gradient("u", value=False)
    assert joint.simplify().op_count() == 5
    found = joint.simplify().evaluate(u=AT["x"], t=0.25)
    np.testing.assert_array_equal(found, joint.evaluate(u=AT["x"], t=0.25))
