"""Inference of facts: every propagated fact is true, the expected ones are found and explained."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradientrows import ROWS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stated_facts import ELEMENTWISE, MATRICES, SIGNS

import symgraph as sg
import symgraph.facts as f
import symgraph.numpy as snp
from symgraph.array import FUNCTIONS, Array
from symgraph.facts import Fact, holds_on
from symgraph.ir.fact_inference import Knowledge, Known
from symgraph.ir.node import Node
from symgraph.ir.walks import reachable
from symgraph.ops.creation import input
from symgraph.testing import GradientCase, random_values
from symgraph.testing.gradients import numbers


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


# -- propagation -----------------------------------------------------------------------------------
@pytest.mark.sampled(one_in=48)
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
        (tall.T @ (x[:, None] * tall), f.symmetric),
        ((tall / x[:, None]).T @ tall, f.symmetric),
        ((tall * 2.0) @ tall.T, f.symmetric),
        ((tall * pair[0]) @ tall.T, f.symmetric),
        ((x * (square / x[:, None])).T @ even @ (square / x[:, None] * x), f.symmetric),
        (square.T @ (x[:, None] * (positive[:, None] * square)), f.symmetric),
        (square.T @ (x[:, None] * even * x) @ square, f.symmetric),
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
        (square.T @ (x * square), f.symmetric),
        ((x[:, None] * square) @ square.T, f.symmetric),
        (square.T @ (square * square), f.symmetric),
        (square.T @ (x[:, None] / square), f.symmetric),
        (square.T @ (x[:, None] * positive[:, None] @ x[None] * square), f.symmetric),
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
    assert all("test_fact_inference.py" in line for line in lines)
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


def test_a_value_that_is_nowhere_defined_has_no_facts() -> None:
    x = input("x", (3,))
    assert not known(np.reciprocal(x - x)).facts


def test_a_product_of_nonzero_values_is_nonzero() -> None:
    one, other = input("a", (3,), assume=f.nonzero), input("b", (3,), assume=f.nonzero)
    assert known(one * other).has(f.nonzero)
    assert known(one / other).has(f.nonzero)
    assert not known(one + other).has(f.nonzero)


# -- why -------------------------------------------------------------------------------------------
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


def test_why_names_all_that_a_fact_rests_on_and_nothing_else() -> None:
    positive = sg.spec("n", assume=(sg.positive, sg.finite, sg.integer_valued))
    graph = sg.trace(lambda x, y: x * np.exp(y), x=positive, y=sg.spec("n", assume=sg.finite))
    told = graph.why("out", f.nonnegative)
    assert "stated of input 'x'" in told
    assert "by exp" in told
    assert "stated of input 'y'" not in told
    assert "finite" not in told
