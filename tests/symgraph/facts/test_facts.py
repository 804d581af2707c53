"""Facts: what follows from what, what contradicts, and that whatever is propagated is true."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from gradientrows import ROWS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import symgraph as sg
import symgraph.facts as f
import symgraph.numpy as snp
from symgraph.array import FUNCTIONS, Array
from symgraph.errors import FactError
from symgraph.facts import Fact, holds_on
from symgraph.ir.fact_inference import Knowledge, Known
from symgraph.ir.node import Node, reachable
from symgraph.ops.creation import input
from symgraph.testing import GradientCase, random_values
from symgraph.testing.gradients import numbers

RNG = np.random.default_rng(0)
SIGNS = (f.positive, f.nonnegative, f.negative, f.nonpositive, f.nonzero)
ELEMENTWISE = [
    (),
    *[(sign,) for sign in SIGNS],
    (f.interval(-1, 1),),
    (f.interval(0, 1),),
    (f.interval(1, 1.5),),
    (f.interval(-3, -2), f.finite),
    (f.finite,),
    (f.integer_valued,),
    (f.integer_valued, f.nonnegative, f.finite),
]
MATRICES = [
    (f.simplex(-1),),
    (f.simplex(-2),),
    (f.one_hot(-1),),
    (f.unit_norm(-1),),
    (f.symmetric,),
    (f.positive_definite,),
    (f.orthogonal,),
    (f.diagonal,),
    (f.triangular("lower"),),
    (f.triangular("upper"), f.nonnegative),
]


def known(array: Array) -> Known:
    return Knowledge().of(array.node)


def untrue(array: Array, at: list[tuple[Array, Any]]) -> list[str]:
    """Facts of nodes on the way to `array` that do not hold of their numbers, where defined."""
    knowledge = Knowledge()
    nodes = [node for node in reachable([array.node]) if len(node.results) == 1]
    values = dict(zip(nodes, numbers([Array(node) for node in nodes], at), strict=True))
    defined: dict[Node, Any] = {}
    wrong: list[str] = []
    for node, value in values.items():
        value = np.asarray(value)
        defined[node] = moderate(value) & everywhere(node, defined, value.shape)
        everything = bool(np.all(defined[node]))
        for fact in map(widened, knowledge.of(node).facts):
            if fact.name in ("finite", "total"):
                sound = everything or holds_on(fact, value) or not all_moderate(node, defined)
            elif everything:
                sound = holds_on(fact, value, 1e-9)
            else:
                # A fact that ties elements together says nothing where some are undefined.
                sound = not fact.is_open or holds_on(fact, value[defined[node]])
            if not sound:
                wrong.append(f"{fact} of {node!r}: {value!r}")
    return wrong


def widened(fact: Fact) -> Fact:
    """An interval with room for rounding, as of the elements of an orthogonal matrix."""
    if fact.name != "interval":
        return fact
    low, high = fact.args
    return f.interval(low - 1e-12 * max(1.0, abs(low)), high + 1e-12 * max(1.0, abs(high)))


def moderate(value: Any) -> Any:
    """Far from overflow and underflow, where facts of exact arithmetic do not show."""
    size = np.abs(value.astype(float))
    return (value == 0) | ((size > 1e-10) & (size < 30))


def everywhere(node: Node, defined: dict[Node, Any], shape: tuple[int, ...]) -> Any:
    """Where all that an element is made of is defined: its own position, or else every one."""
    masks = [defined.get(operand, np.False_) for operand in node.operands]
    shapes = [np.shape(mask) for mask in masks]
    if all(size == shape[len(shape) - len(size) :] for size in shapes):
        return np.logical_and.reduce([np.broadcast_to(mask, shape) for mask in masks], axis=0)
    return all(np.all(mask) for mask in masks)


def all_moderate(node: Node, defined: dict[Node, Any]) -> bool:
    return all(np.all(defined[operand]) for operand in node.operands if operand in defined)


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
    assert known(input("x", (3, 3), assume=given_facts)).has(follows)


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


def test_of_what_is_nowhere_defined_nothing_is_said() -> None:
    x = input("x", (3,))
    assert not known(np.reciprocal(x - x)).facts


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


# -- propagation -----------------------------------------------------------------------------------
@pytest.mark.sampled(one_in=24)
@pytest.mark.parametrize("case", ROWS, ids=str)
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_whatever_is_propagated_is_true(case: GradientCase, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    symbols: list[Array] = []
    at: list[tuple[Array, Any]] = []
    for i, operand in enumerate(case.operands):
        shape = (3, 3) if operand.shape is None else operand.shape
        square = len(shape) > 1 and shape[-1] == shape[-2]
        choices = [*ELEMENTWISE, *MATRICES] if square and 0 not in shape else ELEMENTWISE
        facts = operand.facts or data.draw(st.sampled_from(choices))
        symbols.append(input(f"x{i}", shape, assume=facts))
        at.append((symbols[-1], random_values(shape, "float64", facts, rng)))
    assert not untrue(case.call(*symbols), at)


UNARY = """
    absolute arctan ceil cos exp expm1 floor log log1p negative reciprocal sigmoid sign sin softplus
    sqrt square tanh trunc arcsinh log1mexp cosh
"""
BINARY = """
    add subtract multiply divide maximum minimum power hypot remainder floor_divide copysign fmax
    logaddexp fmod
"""


@st.composite
def programs(draw: st.DrawFn) -> tuple[Array, list[tuple[Array, Any]]]:
    """A random expression of elementwise functions in three inputs with facts."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    at: list[tuple[Array, Any]] = []
    for i in range(3):
        facts = draw(st.sampled_from(ELEMENTWISE))
        x = input(f"x{i}", (5,), assume=facts)
        at.append((x, random_values((5,), "float64", facts, rng)))
    values = [x for x, _ in at]
    for _ in range(draw(st.integers(1, 6))):
        pick = st.sampled_from(values)
        kind = draw(st.integers(0, 4))
        if kind < 2:
            values.append(FUNCTIONS[draw(st.sampled_from(UNARY.split()))](draw(pick)))
        elif kind < 4:
            other = draw(pick | st.sampled_from([0.0, 1.0, -2.0, 0.5, 2.0]))
            values.append(FUNCTIONS[draw(st.sampled_from(BINARY.split()))](draw(pick), other))
        else:
            x, c = draw(pick), draw(st.sampled_from([0.0, 1.0]))
            condition = draw(st.sampled_from([x > c, x == c, x <= c, x != c]))
            values.append(np.where(condition, draw(pick), draw(pick)))
    return values[-1], at


@pytest.mark.whole
@settings(max_examples=250, deadline=None)
@given(programs())
def test_no_expression_is_given_a_wrong_fact(program: tuple[Array, Any]) -> None:
    assert not untrue(*program)


@pytest.mark.fuzz
@settings(max_examples=20_000, deadline=None)
@given(programs())
def test_no_expression_is_given_a_wrong_fact_at_length(program: tuple[Array, Any]) -> None:
    assert not untrue(*program)


# -- what rules rely on ----------------------------------------------------------------------------
x = input("x", (3,))
positive = input("positive", (3,), assume=f.positive)
unit = input("unit", (3,), assume=f.interval(0, 1))
square = input("square", (3, 3))
counts = input("counts", (3,), "uint8")
tall = input("tall", (3, 2))
even = input("even", (3, 3), assume=f.symmetric)
pair = input("pair", (2, 2), assume=f.symmetric)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize(
    ("value", "fact"),
    [
        (np.exp(x), f.positive),
        (x * x, f.nonnegative),
        (positive * positive, f.positive),
        (x**2 + 1, f.positive),
        (x * x * np.exp(x) + positive, f.positive),
        (np.sqrt(x * x + 1), f.total),
        (np.log(positive + 1), f.nonnegative),
        (FUNCTIONS["sigmoid"](x), f.interval(0, 1)),
        (FUNCTIONS["sigmoid"](unit), f.finite),
        (np.log(unit * 0.5 + 0.25), f.finite),
        (1 / (1 + np.exp(-x)), f.positive),
        (1 / (1 + np.exp(-x)), f.total),
        (np.where(x == 0, 1.0, x), f.nonzero),
        (np.where(x > 0, x, 1.0), f.positive),
        (np.where(x < 1, 1.0, 2.0), f.interval(1, 2)),
        (np.maximum(x, 0), f.nonnegative),
        (np.clip(x, -1, 1), f.interval(-1, 1)),
        (np.floor(x), f.integer_valued),
        (square + square.T, f.symmetric),
        (square * square.T, f.symmetric),
        (tall.T @ even @ tall, f.symmetric),
        (tall.T @ (even @ tall), f.symmetric),
        (np.linalg.inv(tall.T @ even @ tall), f.symmetric),
        (tall.T @ square.T @ even @ square @ tall, f.symmetric),
        (tall.T @ square.T @ (square @ tall), f.symmetric),
        (even @ square @ square.T @ even, f.symmetric),
        (np.kron(even, pair), f.symmetric),
        (square - square.T, f.antisymmetric),
        (x[:, None] - x, f.antisymmetric),
        (x - x[:, None], f.antisymmetric),
        (np.sin(x[:, None] - x[None, :]), f.antisymmetric),
        (2 * (x[:, None] - x).T / (1 + np.cos(x - x[:, None])), f.antisymmetric),
        (np.cos(x[:, None] - x), f.symmetric),
        (np.square(x[:, None] - x) * np.abs(square - square.T), f.symmetric),
        ((x[:, None] - x) * (square - square.T), f.symmetric),
        (x[:, None] * x, f.symmetric),
        (x[:, None] + x, f.symmetric),
        (np.kron(np.kron(pair, tall.T @ tall), even), f.symmetric),
        ((x > 0).astype("float64"), f.interval(0, 1)),
        (unit - unit, f.interval(0, 0)),
        (positive > 0, f.interval(1, 1)),
        (unit + 1 < 0.5, f.interval(0, 0)),
    ],
    ids=str,
)
def test_what_is_known(value: Array, fact: Fact) -> None:
    assert known(value).has(fact)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize(
    ("value", "fact"),
    [
        (x, f.finite),
        (np.exp(unit * 1e6), f.finite),
        (np.log(x), f.total),
        (np.sqrt(x), f.total),
        (1 / x, f.total),
        (x / x, f.total),
        (np.log(positive), f.finite),
        (np.sum(x) * 0, f.finite),
        (counts - 1, f.interval(-1, 254)),
        (np.negative(np.negative(counts) + 3), f.nonpositive),
        (np.exp(-np.exp(x)) > 0, f.interval(1, 1)),
        (np.isnan(x), f.interval(0, 0)),
        (x == x, f.interval(1, 1)),
        (np.where(x <= 0, 1.0, x), f.positive),
        (np.copysign(1.0, np.maximum(x, 0)), f.nonnegative),
        (square + x, f.symmetric),
        (tall.T @ square @ tall, f.symmetric),
        (even @ square, f.symmetric),
        (x[:, None] - positive, f.antisymmetric),
        (x[:, None] - x[::-1], f.antisymmetric),
        (x[:, None] - x + 1, f.antisymmetric),
        (x[:, None] + x, f.antisymmetric),
        (np.exp(x[:, None] - x), f.symmetric),
        ((x[:, None] - x) * square, f.antisymmetric),
        ((x[:, None] - x) * x, f.antisymmetric),
        (counts[:, None] - counts, f.antisymmetric),
        (x[:, None] - 2 * x, f.antisymmetric),
        (even @ (square @ square.T), f.symmetric),
        (tall.T @ even @ square @ tall, f.symmetric),
        (x @ even, f.symmetric),
        (np.kron(even, square), f.symmetric),
        (np.kron(even, x[:, None]), f.symmetric),
        (np.reshape(np.reshape(even, (3, 1, 3, 1)) * np.ones((2, 1, 1)), (6, 3)), f.symmetric),
        (np.reshape(np.reshape(even, (1, 3, 1, 3)), (1, 9)), f.symmetric),
    ],
    ids=str,
)
def test_what_is_not_known(value: Array, fact: Fact) -> None:
    assert not known(value).has(fact)


def test_false_true_and_unknown() -> None:
    knowledge = Knowledge()
    assert knowledge.holds(np.exp(x).node, f.positive) is True
    assert knowledge.holds(np.exp(x).node, f.nonpositive) is False
    assert knowledge.holds(x.node, f.positive) is None
    assert knowledge.holds((unit + 2).node, f.interval(0, 1)) is False
    assert knowledge.holds((unit - unit).node, f.nonzero) is False


def test_only_open_facts_before_differentiating() -> None:
    p = input("p", (3,), assume=(f.simplex(-1), f.positive))
    assert known(p).has(f.simplex(-1))
    before = Knowledge(only_open=True).of(p.node)
    assert before.has(f.positive)
    assert not before.has(f.simplex(-1))


def test_why_leads_back_to_what_was_stated() -> None:
    lines = Knowledge().why(np.log(positive * positive + 1).node, f.total).splitlines()
    assert lines[0].startswith("total: <log")
    assert any("by multiply" in line for line in lines)
    assert any("stated of input 'positive'" in line for line in lines)
    assert all("test_facts.py" in line for line in lines)
    assert len(lines) == len(set(lines))


def test_why_says_what_is_missing() -> None:
    assert "not known" in Knowledge().why(np.log(x).node, f.total)


def test_why_names_bounds() -> None:
    text = Knowledge().why((unit - 2).node, f.negative)
    assert "interval(-2.0, -1.0)" in text
    assert "stated of input 'unit'" in text


def test_why_goes_below_the_operands() -> None:
    text = Knowledge().why((tall.T @ even @ tall).node, f.symmetric)
    assert "stated of input 'even'" in text


def test_a_long_chain_is_no_recursion() -> None:
    y = x
    for _ in range(5000):
        y = np.tanh(y) + 1
    assert known(y).has(f.nonnegative)


def test_equal_facts_are_one_object_that_does_not_change() -> None:
    assert Fact("simplex", (-1,)) is f.simplex(-1)
    assert pickle.loads(pickle.dumps(f.interval(0, 1))) is f.interval(0, 1)
    assert copy.deepcopy(f.positive) is f.positive
    with pytest.raises(AttributeError, match="cannot be changed"):
        f.positive.name = "negative"


def test_a_product_of_nonzero_values_is_nonzero() -> None:
    one, other = input("a", (3,), assume=f.nonzero), input("b", (3,), assume=f.nonzero)
    assert known(one * other).has(f.nonzero)
    assert known(one / other).has(f.nonzero)
    assert not known(one + other).has(f.nonzero)


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


STATED = [
    (f.positive, lambda x: np.exp(x) * np.exp(-x)),
    (f.nonnegative, lambda x: np.square(x)),
    (f.negative, lambda x: -np.exp(x)),
    (f.nonpositive, lambda x: -np.abs(x)),
    (f.nonzero, lambda x: -(np.exp(x) + 1)),
    (f.interval(-1, 1), lambda x: np.tanh(x)),
    (f.integer_valued, lambda x: np.floor(x)),
    (f.simplex(-1), lambda x: snp.softmax(x)),
    (f.one_hot(-1), lambda x: snp.one_hot(np.argmax(x, axis=-1), 3)),
    (f.symmetric, lambda x: x @ x.T),
    (f.antisymmetric, lambda x: np.sin(x[0][:, None] - x[0])),
    (f.diagonal, lambda x: np.diag(x[0])),
    (f.triangular("lower"), lambda x: np.tril(x)),
    (f.triangular("upper"), lambda x: np.triu(x)),
    (f.orthogonal, lambda x: np.linalg.qr(x)[0].T),
    (f.positive_definite, lambda x: snp.linalg.expm(x + x.T)),
    (f.unique, lambda x: np.argsort(x[0])[::-1].reshape(3, 1).T),
]


@pytest.mark.parametrize(
    ("fact", "function"), STATED, ids=[f"{place} {fact}" for place, (fact, _) in enumerate(STATED)]
)
def test_every_fact_is_found_and_explained(fact: Fact, function: Any) -> None:
    """On a value made by an operation that states it, `why` names the operation and the line."""
    graph = sg.trace(function, x=sg.spec((3, 3)))
    told = graph.why("out", fact)
    assert "not known" not in told
    assert ": by " in told or "constant" in told


@pytest.mark.parametrize(
    "fact", [*SIGNS, f.finite, f.integer_valued, f.unique, *sum(MATRICES, ())], ids=str
)
def test_every_fact_stated_of_an_input_is_explained_by_the_statement(fact: Fact) -> None:
    graph = sg.trace(lambda x: x.T.T, x=sg.spec((3, 3), assume=fact))
    assert "stated of input 'x'" in graph.why("x", fact)
    assert "stated of input 'x'" in graph.why("out", fact)


@pytest.mark.parametrize(
    "facts",
    [(f.positive, f.nonpositive), (f.interval(1, 2), f.negative), (f.simplex(-1), f.negative)],
    ids=str,
)
def test_a_contradiction_names_both(facts: tuple[Fact, ...]) -> None:
    with pytest.raises(FactError) as raised:
        sg.trace(lambda x: x, x=sg.spec((3,), assume=facts))
    assert all(str(fact) in str(raised.value) for fact in facts)


def test_why_names_all_that_a_fact_rests_on_and_nothing_else() -> None:
    positive = sg.spec("n", assume=(sg.positive, sg.finite, sg.integer_valued))
    graph = sg.trace(lambda x, y: x * np.exp(y), x=positive, y=sg.spec("n", assume=sg.finite))
    told = graph.why("out", f.nonnegative)
    assert "stated of input 'x'" in told
    assert "by exp" in told
    assert "stated of input 'y'" not in told
    assert "finite" not in told


def test_antisymmetric_matrices_can_be_stated() -> None:
    spec = sg.spec((3, 3), "float64", (sg.antisymmetric, sg.finite))
    assert sg.trace(lambda a: a + a.T, a=spec).simplify().op_count() == 0
    assert sg.trace(lambda a: a - a.T, a=spec).simplify().op_count() == 1
    with pytest.raises(sg.FactError, match="square"):
        sg.input("a", (3, 2), assume=sg.antisymmetric)
