"""Rewrites that others ship and that are wrong: none of them fires here.

At the default trust a simplified graph equals the original wherever that is finite, and gives no
number where that gives NaN; at "exact" it is equal bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

SPECIAL = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 5e-324, 1e308, -1e308]
)

ALONE: dict[str, Callable[[Any], Any]] = {
    "sqrt(x*x)": lambda x: np.sqrt(x * x),
    "sqrt(x)**2": lambda x: np.sqrt(x) ** 2,
    "x**.5 * x**.5": lambda x: x**0.5 * x**0.5,
    "exp(log x)": lambda x: np.exp(np.log(x)),
    "x/x": lambda x: x / x,
    "x * (1/x)": lambda x: x * (1 / x),
    "x*x/x": lambda x: x * x / x,
    "x*exp(x)/x": lambda x: x * np.exp(x) / x,
    "0/x": lambda x: 0 / x,
    "x*0": lambda x: x * 0,
    "sum of x*0": lambda x: np.sum(x * 0) + x,
    "x-x": lambda x: x - x,
    "x+0": lambda x: x + 0,
    "0-x": lambda x: 0 - x,
    "log(x**2)": lambda x: np.log(x**2),
    "log(x*x) - log(x)": lambda x: np.log(x * x) - np.log(x),
    "log(x + exp x)": lambda x: np.log(x + np.exp(x)),
    "log(1 + x exp x)": lambda x: np.log(1 + x * np.exp(x)),
    "x**0": lambda x: x**0,
    "arccosh(cosh x)": lambda x: np.arccosh(np.cosh(x)),
    "cosh(arccosh x)": lambda x: np.cosh(np.arccosh(x)),
    "tanh(arctanh x)": lambda x: np.tanh(np.arctanh(x)),
    "arcsin(sin x)": lambda x: np.arcsin(np.sin(x)),
    "sin(arcsin x)": lambda x: np.sin(np.arcsin(x)),
    "sigmoid(logit x)": lambda x: snp.sigmoid(np.log(x / (1 - x))),
    "x == x": lambda x: np.where(x == x, 1.0, 0.0),
    "x <= x": lambda x: np.where(x <= x, 1.0, 0.0),
    "maximum(x, x)": lambda x: np.maximum(x, x),
    "where(x > 0, log x, 0)": lambda x: np.where(x > 0, np.log(x), 0.0),
    "|x| * |x|": lambda x: np.abs(x) * np.abs(x),
    "exp x * exp -x": lambda x: np.exp(x) * np.exp(-x),
    "(1/x)/(1/x)": lambda x: (1 / x) / (1 / x),
    "log(exp x)": lambda x: np.log(np.exp(x)),
    "1 - log x/(1 + log x)": lambda x: 1 - np.log(x) / (1 + np.log(x)),
    "1/(1 + log x) - log x/(1 + log x)**2": lambda x: (
        1 / (1 + np.log(x)) - np.log(x) / (1 + np.log(x)) ** 2
    ),
}


def both(f: Callable[..., Any], trust: str, **arrays: np.ndarray) -> tuple[Any, Any]:
    graph = sg.trace(f, **arrays)
    return graph.evaluate(**arrays), graph.simplify(trust=trust).evaluate(**arrays)  # type: ignore[arg-type]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", ALONE)
def test_default_trust_invents_no_number(name: str) -> None:
    before, after = both(ALONE[name], "rounding", x=SPECIAL)
    finite_inputs = np.isfinite(SPECIAL)
    good = np.isfinite(before)
    np.testing.assert_allclose(after[good], before[good], rtol=1e-12, atol=1e-300)
    # What overflows on the way (exp(1e308)) may come out finite; what is undefined may not.
    undefined = np.isnan(before) & (finite_inputs | np.isnan(SPECIAL))
    overflows = name in ("exp x * exp -x", "log(exp x)", "arccosh(cosh x)", "(1/x)/(1/x)")
    if not overflows:
        assert np.all(np.isnan(after[undefined])), after


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", ALONE)
def test_exact_trust_changes_no_bit(name: str) -> None:
    before, after = both(ALONE[name], "exact", x=SPECIAL)
    assert before.tobytes() == after.tobytes()


def test_a_quotient_along_the_wrong_axis_is_no_softmax() -> None:
    """Without keepdims the sum broadcasts along the other axis: released systems get this wrong."""
    X = np.array([[0.3, -1.2], [2.0, 1.1]])
    for f in (
        lambda X: np.exp(X) / np.exp(X).sum(1),
        lambda X: np.exp(X) / np.sum(np.exp(X), axis=0)[:, None],
        lambda X: np.log(np.exp(X) / np.exp(X).sum(1)),
    ):
        before, after = both(f, "rounding", X=X)
        np.testing.assert_allclose(after, before, rtol=1e-13)
    graph = sg.trace(lambda X: np.exp(X) / np.exp(X).sum(1), X=X).simplify()
    assert "softmax" not in {node.op.name for node in graph.nodes}


def test_equality_facts_are_not_used_before_differentiating() -> None:
    A = np.array([[2.0, 0.5], [0.5, 1.0]])
    for fact in (sg.symmetric, sg.positive_definite):
        graph = sg.trace(
            lambda A: np.sum(A.T * [[1.0, 2.0], [3.0, 4.0]]), A=sg.spec("2, 2", assume=fact)
        )
        found = graph.simplify().gradient("A", value=False).simplify().evaluate(A=A)
        np.testing.assert_array_equal(found, [[1.0, 3.0], [2.0, 4.0]])


def test_duplicate_positions_of_a_scatter_add_up() -> None:
    x = np.array([1.0, 2.0, 3.0])
    graph = sg.trace(lambda x: np.sum(x[np.array([0, 0, 2])] ** 2), x=x)
    expected = [4.0, 0.0, 6.0]
    gradient = graph.gradient("x", value=False)
    np.testing.assert_array_equal(gradient.evaluate(x=x), expected)
    np.testing.assert_array_equal(gradient.simplify().evaluate(x=x), expected)


def test_product_of_a_scaled_array_counts_only_the_axes_reduced() -> None:
    X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    before, after = both(lambda X: np.prod(3 * X, axis=1), "rounding", X=X)
    np.testing.assert_allclose(after, before, rtol=1e-14)


@pytest.mark.parametrize("scale", [1.0, 1e2, 1e4])
def test_softmax_cross_entropy_is_finite_and_right_at_any_scale(scale: float) -> None:
    z = scale * np.array([1.0, -1.0, 0.3, 0.0])
    p = np.array([0.1, 0.2, 0.3, 0.4])
    graph = sg.trace(
        lambda z, p: -np.sum(p * np.log(np.exp(z) / np.sum(np.exp(z)))),
        z=sg.spec("4"),
        p=sg.spec("4", assume=sg.simplex(axis=-1)),
    )
    value, gradient = graph.gradient("z").simplify().lower()(z=z, p=p)
    shifted = z - z.max()
    q = np.exp(shifted) / np.exp(shifted).sum()
    np.testing.assert_allclose(value, -(p @ shifted) + np.log(np.exp(shifted).sum()), rtol=1e-12)
    np.testing.assert_allclose(gradient, q - p, rtol=1e-12, atol=1e-15)
