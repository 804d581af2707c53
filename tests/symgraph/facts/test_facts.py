"""Facts: which follow from which, which contradict each other, and checks of them on numbers."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from stated_facts import ELEMENTWISE, MATRICES, SIGNS

import symgraph as sg
import symgraph.facts as f
from symgraph.errors import FactError
from symgraph.facts import Fact, holds_on
from symgraph.ir.fact_inference import Knowledge
from symgraph.ops.creation import input
from symgraph.testing import random_values

RNG = np.random.default_rng(0)


# -- the vocabulary --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("given_facts", "follows"),
    [
        ((f.positive,), f.nonzero),
        ((f.positive,), f.nonnegative),
        ((f.interval(1, 2),), f.positive),
        ((f.interval(-2, -1),), f.nonzero),
        ((f.nonnegative, f.nonzero), f.positive),
        ((f.nonpositive, f.nonzero), f.negative),
        ((f.one_hot(-1),), f.simplex(-1)),
        ((f.one_hot(-1),), f.integer_valued),
        ((f.simplex(-1),), f.interval(0, 1)),
        ((f.positive_definite,), f.symmetric),
        ((f.diagonal,), f.triangular("lower")),
        ((f.finite,), f.total),
        ((f.symmetric, f.triangular("lower")), f.diagonal),
        ((f.interval(0, 3), f.interval(1, 5)), f.interval(1, 3)),
        ((f.nonnegative, f.interval(-1, 1)), f.interval(0, 1)),
    ],
    ids=str,
)
def test_what_follows(given_facts: tuple[Fact, ...], follows: Fact) -> None:
    assert Knowledge().of(input("x", (3, 3), assume=given_facts).node).has(follows)


@pytest.mark.parametrize(
    "facts",
    [
        (f.positive, f.negative),
        (f.positive, f.nonpositive),
        (f.negative, f.nonnegative),
        (f.interval(0, 1), f.interval(2, 3)),
        (f.interval(1, 2), f.negative),
        (f.interval(0, 0), f.nonzero),
        (f.simplex(-1), f.negative),
        (f.simplex(-1), f.interval(2, 3)),
        (f.positive, f.interval(-1, 0)),
    ],
    ids=str,
)
def test_contradictions_are_refused(facts: tuple[Fact, ...]) -> None:
    with pytest.raises(FactError, match=r"cannot be|no number in common"):
        input("x", (3,), assume=facts)


def test_a_fact_that_contradicts_the_dtype_is_refused() -> None:
    with pytest.raises(FactError, match="dtype uint8"):
        input("x", (3,), "uint8", assume=f.negative)


def test_statements_without_meaning_are_refused() -> None:
    with pytest.raises(FactError, match="empty"):
        f.interval(1, 0)
    with pytest.raises(FactError, match="lower"):
        f.triangular("left")  # pyright: ignore[reportArgumentType]
    with pytest.raises(FactError, match="axis"):
        input("x", (3,), assume=f.simplex(1))
    with pytest.raises(FactError, match="square"):
        input("x", (2, 3), assume=f.symmetric)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("facts", [*ELEMENTWISE, *MATRICES], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_random_values_satisfy_their_facts(facts: tuple[Fact, ...], dtype: str) -> None:
    x = random_values((4, 4), dtype, facts, np.random.default_rng(0))
    assert x.dtype == dtype
    assert all(holds_on(fact, x, 1e-5) for fact in f.implied(facts))


@pytest.mark.parametrize(
    ("fact", "numbers_without"),
    [
        (f.positive, [0.0]),
        (f.nonnegative, [-1e-300]),
        (f.negative, [0.0]),
        (f.nonpositive, [1e-300]),
        (f.nonzero, [-0.0]),
        (f.finite, [np.inf]),
        (f.total, [np.nan]),
        (f.integer_valued, [0.5]),
        (f.interval(0, 1), [1.5]),
        (f.simplex(-1), [0.5, 0.6]),
        (f.one_hot(-1), [1.0, 1.0]),
        (f.unit_norm(-1), [1.0, 1.0]),
        (f.symmetric, [[1.0, 2.0], [3.0, 4.0]]),
        (f.positive_definite, [[1.0, 2.0], [2.0, 1.0]]),
        (f.orthogonal, [[1.0, 0.0], [1.0, 1.0]]),
        (f.diagonal, [[1.0, 2.0], [0.0, 1.0]]),
        (f.triangular("lower"), [[1.0, 2.0], [0.0, 1.0]]),
    ],
    ids=str,
)
def test_what_is_not_true_is_found_out(fact: Fact, numbers_without: Any) -> None:
    assert not holds_on(fact, np.array(numbers_without))


@pytest.mark.parametrize("fact", [*SIGNS[:4], f.finite, f.interval(-1, 1)], ids=str)
def test_nan_has_no_sign_and_no_bounds(fact: Fact) -> None:
    assert not holds_on(fact, np.array([np.nan]))


def test_equal_facts_are_one_object_that_does_not_change() -> None:
    assert Fact("simplex", (-1,)) is f.simplex(-1)
    assert pickle.loads(pickle.dumps(f.interval(0, 1))) is f.interval(0, 1)
    assert copy.deepcopy(f.positive) is f.positive
    with pytest.raises(AttributeError, match="cannot be changed"):
        f.positive.name = "negative"


@pytest.mark.parametrize(
    "facts",
    [(f.positive, f.nonpositive), (f.interval(1, 2), f.negative), (f.simplex(-1), f.negative)],
    ids=str,
)
def test_a_contradiction_names_both(facts: tuple[Fact, ...]) -> None:
    with pytest.raises(FactError) as raised:
        sg.trace(lambda x: x, x=sg.spec((3,), assume=facts))
    assert all(str(fact) in str(raised.value) for fact in facts)


def test_antisymmetric_matrices_can_be_stated() -> None:
    spec = sg.spec((3, 3), "float64", (sg.antisymmetric, sg.finite))
    assert sg.trace(lambda a: a + a.T, a=spec).simplify().op_count() == 0
    assert sg.trace(lambda a: a - a.T, a=spec).simplify().op_count() == 1
    with pytest.raises(sg.FactError, match="square"):
        sg.input("a", (3, 2), assume=sg.antisymmetric)


# -- checks on numbers ----------------------------------------------------------------------------
BROKEN = [
    (f.positive, [1.0, 0.0], "x[1] = 0.0"),
    (f.nonnegative, [1.0, -2.0], "x[1] = -2.0"),
    (f.negative, [-1.0, 0.0], "x[1] = 0.0"),
    (f.nonpositive, [-1.0, 2.0], "x[1] = 2.0"),
    (f.nonzero, [1.0, 0.0], "x[1] = 0.0"),
    (f.finite, [1.0, np.inf], "x[1] = inf"),
    (f.integer_valued, [1.0, 2.5], "x[1] = 2.5"),
    (f.interval(0, 1), [0.5, 1.5], "x[1] = 1.5"),
    (f.interval(0, 1), [0.5, np.nan], "x[1] = nan"),
    (f.simplex(-1), [[0.5, 0.5], [0.5, 0.6]], "x: sum along axis -1, [1] = 1.1"),
    (f.simplex(-1), [[1.5, -0.5]], "x[0, 1] = -0.5"),
    (f.one_hot(-1), [[0.0, 1.0], [1.0, 1.0]], "x: sum along axis -1, [1] = 2.0"),
    (f.one_hot(-1), [[0.5, 0.5]], "x[0, 0] = 0.5"),
    (f.unit_norm(-1), [[0.6, 0.8], [3.0, 0.0]], "x: sum of squares along axis -1, [1] = 9.0"),
    (f.symmetric, [[1.0, 2.0], [3.0, 1.0]], "x[0, 1] = 2.0"),
    (f.positive_definite, [[1.0, 2.0], [2.0, 1.0]], "x: smallest eigenvalue = -1.0"),
    (f.positive_definite, [[1.0, np.nan], [2.0, 1.0]], "x[0, 1] = nan"),
    (f.orthogonal, [[2.0, 0.0], [0.0, 1.0]], "x: X Xᵀ[0, 0] = 4.0"),
    (f.diagonal, [[1.0, 0.0], [2.0, 1.0]], "x[1, 0] = 2.0"),
    (f.triangular("lower"), [[1.0, 2.0], [2.0, 1.0]], "x[0, 1] = 2.0"),
    (f.triangular("upper"), [[1.0, 2.0], [2.0, 1.0]], "x[1, 0] = 2.0"),
    (f.unique, [3, 1, 2, 1], "x holds 1.0 twice"),
]


@pytest.mark.parametrize(("fact", "numbers_given", "told"), BROKEN, ids=str)
def test_numbers_that_break_a_fact_are_named(fact: Fact, numbers_given: Any, told: str) -> None:
    """Input, fact, offending value and the line that stated it; on both ways to run a graph."""
    x = np.asarray(numbers_given)
    graph = sg.trace(lambda x: x * 2, x=sg.spec(x.shape, assume=fact))
    for run in (graph.lower(check_facts=True), partial(graph.evaluate, check_facts=True)):
        with pytest.raises(FactError) as raised:
            run(x=x)
        message = str(raised.value)
        assert f"Input 'x' is not {fact}, as was stated of it." in message
        assert f"  {told}" in message
        assert "stated at test_facts.py" in message
    np.testing.assert_array_equal(graph.lower()(x=x), graph.evaluate(x=x))


TRUE = [
    (f.triangular("upper"), np.triu(np.ones((2, 4)))),
    (f.triangular("lower"), np.tril(np.ones((4, 2)))),
    (f.triangular("lower"), np.tril(np.ones((3, 4, 4)))),
    (f.simplex(-2), np.full((3, 4), 1 / 3, "float32")),
    (f.orthogonal, np.linalg.qr(RNG.normal(size=(40, 40)).astype("float32"))[0]),
    (f.positive_definite, np.eye(0)),
    (f.positive_definite, np.eye(3, dtype="float16") * 2),
    (f.unit_norm(-1), np.full((2, 100), 0.1, "float16")),
]


@pytest.mark.parametrize(("fact", "value"), TRUE, ids=str)
def test_numbers_that_satisfy_a_fact_pass(fact: Fact, value: Any) -> None:
    assert holds_on(fact, value)
