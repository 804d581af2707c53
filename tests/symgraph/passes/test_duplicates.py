"""One value for what differs in the order of operands or in axes of length one only."""

from __future__ import annotations

import numpy as np
import pytest

import symgraph as sg
from symgraph.array import FUNCTIONS, Array
from symgraph.ir.node import make
from symgraph.passes.duplicates import with_duplicates_merged

X = np.random.default_rng(0).normal(size=(5, 8))


def standardized(x: sg.Array) -> sg.Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def names(graph: sg.Graph) -> list[str]:
    return [node.op.name for node in graph.nodes if node.op.count]


def test_a_column_and_the_same_numbers_as_a_vector() -> None:
    """Both are computed once, in whichever order the sum is written."""

    def f(x: sg.Array) -> tuple[sg.Array, sg.Array]:
        column = np.max(x, axis=1, keepdims=True)
        return np.sqrt(np.exp(column) + 1.0), np.sqrt(1.0 + np.exp(column.reshape(5)))

    graph = sg.trace(f, x=(5, 8))
    one, other = with_duplicates_merged(graph.dag.outputs)
    assert other.op.name == "reshape"
    assert other.operands == (one,)
    small = graph.simplify()
    assert sorted(names(small)) == ["add", "exp", "max", "sqrt"]
    for found, wanted in zip(small.evaluate(x=X), graph.evaluate(x=X), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_rows_and_columns_stay_apart() -> None:
    """The same operands meet as an outer sum where one is a column and one a row."""

    def f(x: sg.Array) -> tuple[sg.Array, sg.Array]:
        return x[:, None] + x[None, :], x + x

    outer, twice = with_duplicates_merged(sg.trace(f, x=(5,)).dag.outputs)
    assert outer.shape == (5, 5)
    assert twice.op.name == "add"


def test_what_is_computed_again_on_purpose_stays() -> None:
    """A copy equals no other value: neither does what is computed of it."""
    (x,) = sg.trace(lambda x: x, x=(5, 1)).dag.outputs
    sine = FUNCTIONS["sin"](Array(x)).node
    again = make(sine.op, sine.operands, sine.params, copy=1)
    vector = FUNCTIONS["sin"](FUNCTIONS["reshape"](Array(x), (5,))).node
    one, other, flat = with_duplicates_merged([sine, again, vector])
    assert one is sine
    assert other is again
    assert flat.operands == (sine,)


def test_several_results_of_a_column_and_of_a_vector() -> None:
    def f(x: sg.Array) -> tuple[sg.Array, sg.Array]:
        mantissa, _ = np.frexp(x)
        column, exponent = np.frexp(x.reshape(5, 1))
        return mantissa + column[:, 0], exponent

    x = np.arange(1.0, 6.0)
    found = sg.trace(f, x=(5,)).simplify().evaluate(x=x)
    for value, right in zip(found, f(x), strict=True):
        np.testing.assert_array_equal(value, right)


def test_normalised_rows_in_a_network() -> None:
    """(g - mean(g) - y mean(g y)) / s, with y and s of the forward pass, and a residual added."""

    def f(x: sg.Array, c: sg.Array) -> sg.Array:
        return np.sum(c * (x + np.tanh(standardized(x))))

    def by_hand(x: sg.Array, c: sg.Array) -> sg.Array:
        centred = x - np.mean(x, axis=-1, keepdims=True)
        s = np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + 1e-5)
        y = centred / s
        g = c * (1 - np.tanh(y) ** 2)
        mean = np.mean(g, axis=-1, keepdims=True)
        return c + (g - mean - y * np.mean(g * y, axis=-1, keepdims=True)) / s

    specs = {"x": sg.spec((5, 8)), "c": sg.spec((5, 8))}
    small = sg.trace(f, **specs).gradient("x", value=False).simplify()
    hand = sg.trace(by_hand, **specs)
    assert small.op_count() <= hand.op_count()
    given = {"x": X, "c": np.cos(X)}
    np.testing.assert_allclose(small.evaluate(**given), hand.evaluate(**given), rtol=1e-9)


@pytest.mark.whole
def test_deep_networks_settle_at_once() -> None:
    """One layer more is as many nodes more, and simplifying again changes nothing."""

    def network(depth: int) -> sg.Graph:
        def f(x: sg.Array, w: sg.Array) -> sg.Array:
            for layer in range(depth):
                x = x + np.tanh(standardized(x) @ w[layer])
            return np.sum(x * x)

        return sg.trace(f, x=(5, 8), w=(depth, 8, 8)).gradient("x", "w").simplify()

    sizes = [network(depth).op_count() for depth in (3, 4, 5, 16)]
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0]
    assert sizes[3] - sizes[2] == 11 * (sizes[1] - sizes[0])
    deep = network(16)
    assert deep.simplify().dag.outputs == deep.dag.outputs
