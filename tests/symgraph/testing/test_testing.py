"""The checks for others: each finds what it is there to find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph.facts as f
from symgraph.array import Array, apply
from symgraph.errors import DTypeError, FactError, InputError, NotDifferentiable
from symgraph.ir.dag import Dag
from symgraph.ir.differentiation import undefined
from symgraph.ir.op import Op
from symgraph.ops.creation import input
from symgraph.testing import (
    Operand,
    assert_same_graph,
    check_grads,
    check_stacked,
    random_values,
)
from symgraph.testing.gradients import numbers

POINT = np.array([0.3, 0.7, 1.1])


def made(vjp: Callable[..., Any] | Any) -> Callable[[Any], Any]:
    """A square with the given derivative, outside the table of operations."""
    op = Op("test_square", lambda x: x, lambda xp, x: x * x, (vjp,))
    return lambda x: apply(op, x)


RIGHT = made(lambda ct, out, x: ct * 2 * x)


@pytest.mark.parametrize("analytic", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_right_derivatives_pass(dtype: str, analytic: bool) -> None:
    check_grads(RIGHT, POINT.astype(dtype), analytic=analytic)


@pytest.mark.parametrize("analytic", [True, False])
@pytest.mark.parametrize(
    "wrong",
    [
        lambda ct, out, x: ct * x,
        lambda ct, out, x: -ct * 2 * x,
        lambda ct, out, x: ct * 2 * x + 1e-5,
        lambda ct, out, x: ct * 2 * x[::-1],
        None,
    ],
)
def test_a_wrong_derivative_is_found(wrong: Any, analytic: bool) -> None:
    with pytest.raises(AssertionError, match="order 1"):
        check_grads(made(wrong), POINT, analytic=analytic)


def test_a_wrong_second_derivative_is_found() -> None:
    same = Op("test_same", lambda x: x, lambda xp, x: x * 1, (lambda ct, out, x: ct * 3,))
    once = made(lambda ct, out, x: ct * 2 * apply(same, x))
    check_grads(once, POINT, order=1)
    with pytest.raises(AssertionError, match="order 2"):
        check_grads(once, POINT)


def test_a_derivative_that_loses_digits_is_found() -> None:
    halved = made(lambda ct, out, x: (ct * 2 * x).astype("float16").astype("float32"))
    with pytest.raises(AssertionError, match="order 1"):
        check_grads(halved, POINT.astype("float32"), order=1, tolerance=1e-6)


def test_a_derivative_deaf_to_leading_axes_is_found() -> None:
    deaf = made(lambda ct, out, x: (ct.sum(axis=0, keepdims=True) if ct.ndim > 1 else ct) * 2 * x)
    check_grads(deaf, POINT)
    with pytest.raises(AssertionError):
        check_stacked(deaf, POINT)
    check_stacked(RIGHT, POINT)


def test_what_has_no_derivative_says_so() -> None:
    with pytest.raises(NotDifferentiable, match="by choice"):
        check_grads(made(undefined("by choice")), POINT)
    with pytest.raises(DTypeError, match="nothing to differentiate"):
        check_grads(RIGHT, np.array([1, 2]))


def test_numbers_are_asked_for() -> None:
    with pytest.raises(InputError, match="'x'"):
        numbers([np.exp(input("x"))], [])


# -- graphs ----------------------------------------------------------------------------------------
def expression(power: float = 2.0, **options: Any) -> Array:
    x, y = input("x", (3,), **options), input("y", (3,))
    return np.exp(x) * y + x**power


def test_equal_graphs_are_the_same_whatever_their_inputs_identity() -> None:
    assert_same_graph(expression(), expression())
    assert_same_graph([expression()], [expression()])
    x, again = input("x"), input("x")
    assert_same_graph(Dag({"x": x.node}, [(x + 1).node]), again + 1)


@pytest.mark.parametrize(
    "other",
    [
        lambda: expression(3.0),
        lambda: expression(assume=f.positive),
        lambda: expression(dtype="float32"),
        lambda: expression() + 1,
        lambda: [expression(), expression()],
        lambda: input("z", (3,)),
    ],
)
def test_different_graphs_are_told_apart(other: Callable[[], Any]) -> None:
    with pytest.raises(AssertionError, match="differ"):
        assert_same_graph(expression(), other())


def test_a_long_chain_is_compared_without_recursion() -> None:
    def chain() -> Array:
        x = input("x")
        for _ in range(5000):
            x = np.sin(x)
        return x

    assert_same_graph(chain(), chain())


# -- values ----------------------------------------------------------------------------------------
def test_operands_are_drawn_inside_their_bounds() -> None:
    drawn = Operand(1.0, 3.0).draw(np.random.default_rng(0), (50,), "float32")
    assert drawn.dtype == np.float32
    assert drawn.min() > 1
    assert drawn.max() < 3


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool", "float16"])
def test_random_values_have_the_dtype(dtype: str) -> None:
    x = random_values((20,), dtype, (), np.random.default_rng(0))
    assert x.dtype == dtype
    assert len(np.unique(x)) > 1


def test_facts_that_contradict_have_no_values() -> None:
    with pytest.raises(FactError):
        random_values((3,), "float64", (f.positive, f.negative))
    with pytest.raises(FactError, match="No method is known"):
        random_values((3,), "float64", (f.one_hot(-1), f.nonzero))
