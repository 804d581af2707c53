"""A maximum that is subtracted for the range of numbers has no cotangent; any other one has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autograd import grad as autograd_grad
from autograd import numpy as anp

import symgraph as sg
import symgraph.numpy as snp

X = np.random.default_rng(0).standard_normal((4, 4))
Y = np.random.default_rng(1).standard_normal((4, 4))
V = np.random.default_rng(2).standard_normal((4, 3))
T = np.array([[0.5], [1.0], [2.0], [3.0]])


def _rows(np: Any, x: Any) -> Any:
    return np.max(x, axis=1, keepdims=True)


def _flash(np: Any, x: Any) -> Any:
    e = np.exp(x - _rows(np, x))
    return (e @ V) / np.sum(e, axis=1, keepdims=True)


def _logsumexp(np: Any, x: Any) -> Any:
    m = np.max(x, axis=1)
    return m + np.log(np.sum(np.exp(x - m[:, None]), axis=1))


def _in_base_two(np: Any, x: Any) -> Any:
    m = _rows(np, x)
    return np.exp2(x - m) / np.sum(np.exp2(x - m), axis=1, keepdims=True)


def _over(np: Any, e: Any) -> Any:
    return e / np.sum(e, axis=1, keepdims=True)


WITHOUT: dict[str, Callable[..., Any]] = {
    "softmax": lambda np, x: _over(np, np.exp(x - _rows(np, x))),
    "of computed scores": lambda np, x: _over(np, np.exp(x @ Y - _rows(np, x @ Y))),
    "axis added by an index": lambda np, x: _over(np, np.exp(x - np.max(x, axis=1)[:, None])),
    "sum without its axis": lambda np, x: (
        np.exp(x - _rows(np, x)) / np.reshape(np.sum(np.exp(x - _rows(np, x)), axis=1), (4, 1))
    ),
    "largest of all": lambda np, x: _over(np, np.exp(x - np.max(x))),
    "least": lambda np, x: _over(np, np.exp(-(x - np.min(x, axis=1, keepdims=True)))),
    "turned": lambda np, x: _over(np, np.exp((x - np.max(x, axis=0)).T)),
    "divided by a number": lambda np, x: _over(np, np.exp((x - _rows(np, x)) / 0.7)),
    "divided by an array": lambda np, x: _over(np, np.exp((x - _rows(np, x)) / T)),
    "log-softmax": lambda np, x: (
        x - _rows(np, x) - np.log(np.sum(np.exp(x - _rows(np, x)), axis=1, keepdims=True))
    ),
    "logsumexp": _logsumexp,
    "scaled logsumexp": lambda np, x: (
        T * np.log(np.sum(np.exp((x - _rows(np, x)) / T), axis=1, keepdims=True)) + _rows(np, x)
    ),
    "values before the division": _flash,
    "base two": _in_base_two,
    "powers": lambda np, x: (
        np.exp(x - _rows(np, x)) ** 2
        / np.sum(np.sqrt(np.exp(x - _rows(np, x))), axis=1, keepdims=True) ** 4
    ),
    "product and reciprocal": lambda np, x: (
        np.exp(x - _rows(np, x)) * Y * (1 / np.sum(np.exp(x - _rows(np, x)), axis=1, keepdims=True))
    ),
    "two rows of sums": lambda np, x: _over(
        np, np.exp(x - _rows(np, x)) + 2 * np.exp(x - _rows(np, x)) * np.abs(Y)
    ),
}
"""Functions of x that are the same for any number in place of the maximum."""

WITH: dict[str, Callable[..., Any]] = {
    "not divided": lambda np, x: np.exp(x - _rows(np, x)),
    "difference": lambda np, x: x - _rows(np, x),
    "one more": lambda np, x: (
        np.exp(x - _rows(np, x)) / (1 + np.sum(np.exp(x - _rows(np, x)), axis=1, keepdims=True))
    ),
    "summed along the other axis": lambda np, x: (
        np.exp(x - _rows(np, x)) / np.sum(np.exp(x - _rows(np, x)), axis=0, keepdims=True)
    ),
    "subtracted along the other axis": lambda np, x: _over(np, np.exp(x - np.max(x, axis=1))),
    "scaled along the summed axis": lambda np, x: _over(np, np.exp((x - _rows(np, x)) / T[:, 0])),
    "another power": lambda np, x: _over(np, np.exp(x - _rows(np, x))) * np.exp(_rows(np, x)),
    "other units": lambda np, x: (
        np.log(np.sum(np.exp((x - _rows(np, x)) / T), axis=1, keepdims=True)) + _rows(np, x)
    ),
    "divided twice": lambda np, x: (
        T * np.log(np.sum(np.exp((x - _rows(np, x)) / T / T), axis=1, keepdims=True)) + _rows(np, x)
    ),
    "squares that are summed": lambda np, x: (
        np.exp(x - _rows(np, x))
        / np.sqrt(np.sum(np.exp(x - _rows(np, x)) ** 3, axis=1, keepdims=True))
    ),
    "the maximum itself": lambda np, x: _over(np, np.exp(x - _rows(np, x))) + _rows(np, x),
}
"""Functions whose value depends on the maximum."""


def _loss(function: Callable[..., Any], np: Any) -> Callable[[Any], Any]:
    def loss(x: Any) -> Any:
        out = function(np, x)
        return np.sum(np.sin(out) * (Y[:, : out.shape[-1]] if out.ndim == 2 else Y[0]))

    return loss


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", [*WITHOUT, *WITH])
def test_gradients_are_those_of_the_chain_rule(name: str) -> None:
    function = {**WITHOUT, **WITH}[name]
    found = sg.grad(_loss(function, snp))(X)
    wanted = autograd_grad(_loss(function, anp))(X)  # pyright: ignore[reportCallIssue]  # autograd's types
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-13)
    graph = sg.trace(_loss(function, snp), x=sg.spec((4, 4)))
    tangent = graph.jvp("x").lower()(x=X, tangent_x=Y)[1]
    np.testing.assert_allclose(tangent, np.sum(found * Y), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("name", WITHOUT)
def test_no_element_is_looked_for_where_the_maximum_has_no_effect(name: str) -> None:
    graph = sg.trace(_loss(WITHOUT[name], snp), x=sg.spec((4, 4))).gradient("x")
    assert "equal" not in {node.op.name for node in graph.nodes}


@pytest.mark.parametrize("name", WITH)
def test_the_largest_elements_are_looked_for_where_it_has(name: str) -> None:
    graph = sg.trace(_loss(WITH[name], snp), x=sg.spec((4, 4))).gradient("x")
    assert "equal" in {node.op.name for node in graph.nodes}


def test_masked_rows_and_second_derivatives() -> None:
    mask = np.array([[True, True, False, True]] * 4)

    def loss(x: Any) -> Any:
        s = np.where(mask, x, -np.inf)
        e = np.exp(s - np.max(s, axis=1, keepdims=True))
        return np.sum((e / np.sum(e, axis=1, keepdims=True)) * Y)

    gradient = sg.trace(loss, x=sg.spec((4, 4))).gradient("x").simplify()
    assert "equal" not in {node.op.name for node in gradient.nodes}
    found = gradient.lower()(x=X)[1]
    p = np.exp(X) * mask
    p /= p.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, p * (Y - np.sum(p * Y, axis=1, keepdims=True)), rtol=1e-12)

    def plain(x: Any) -> Any:
        e = np.exp(x)
        return np.sum(e / np.sum(e) * Y[0])

    def shifted(x: Any) -> Any:
        e = np.exp(x - np.max(x))
        return np.sum(e / np.sum(e) * Y[0])

    np.testing.assert_allclose(sg.hessian(shifted)(X[0]), sg.hessian(plain)(X[0]), atol=1e-15)


def test_a_stabilised_softmax_of_computed_scores_is_the_textbooks() -> None:
    """It had 19 operations, with the places of the largest scores; named axes had more."""

    def loss(X: Any, W: Any, y: Any) -> Any:
        s = X @ W
        e = np.exp(s - np.max(s, axis=-1, keepdims=True))
        return np.sum(e / np.sum(e, axis=-1, keepdims=True) * y)

    graph = sg.trace(loss, X=sg.spec("n, d"), W=sg.spec("d, k"), y=sg.spec("n, k")).gradient("W")
    small = graph.simplify()
    assert sorted(node.op.name for node in small.nodes if node.op.count) == [
        *("matmul", "matmul", "multiply", "multiply", "softmax", "subtract", "sum", "sum"),
    ]
