"""What the standard rules make of what people write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ops.creation import ones
from symgraph.rewriting.driver import rewrite
from symgraph.rewriting.packs import default_rules
from symgraph.scipy import stats

X = sg.input("x", (2, 3))
Y = sg.input("y", (2, 3))
P = sg.input("p", (2, 3), assume=sg.positive)
V = sg.input("v", ("n", 3))


def simplified(value: sg.Array) -> sg.Array:
    (node,) = rewrite([value.node], default_rules())
    return sg.Array(node)


WRITTEN: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
    # units, signs, choices
    ("units", lambda: (X * 1 + 0) / 1 - 0, lambda: X),
    ("signs", lambda: snp.negative(-X) - (-Y), lambda: X + Y),
    ("negative constant", lambda: X + -2.0, lambda: X - 2.0),
    ("difference", lambda: -(X - Y), lambda: Y - X),
    ("absolute", lambda: abs(abs(-X)), lambda: abs(X)),
    ("positive", lambda: abs(P), lambda: P),
    ("extremum", lambda: snp.maximum(snp.maximum(X, Y), Y), lambda: snp.maximum(X, Y)),
    ("choice", lambda: snp.where(X > 0, snp.where(X > 0, X, Y), P), lambda: snp.where(X > 0, X, P)),
    ("negative of positive", lambda: snp.where(-P == 0, X, Y), lambda: Y),
    ("root of positive", lambda: snp.where(-snp.sqrt(P) >= 0, X, Y), lambda: Y),
    (
        "may underflow",
        lambda: snp.where(P * P == 0, X, Y),
        lambda: snp.where(snp.square(P) == 0, X, Y),
    ),
    # exponentials and powers
    ("log of exp", lambda: snp.log(snp.exp(X)), lambda: X),
    ("exp of log", lambda: snp.exp(snp.log(P)), lambda: P),
    ("power", lambda: X**2, lambda: snp.square(X)),
    ("root", lambda: P**0.5, lambda: snp.sqrt(P)),
    # stability
    ("log1p", lambda: snp.log(1 + X), lambda: snp.log1p(X)),
    ("log of 1 - x", lambda: snp.log(1 - X), lambda: snp.log1p(-X)),
    ("expm1", lambda: snp.exp(X) - 1, lambda: snp.expm1(X)),
    ("expm1, added", lambda: snp.exp(X) + (-1.0), lambda: snp.expm1(X)),
    ("softplus", lambda: snp.log(1 + snp.exp(X)), lambda: snp.softplus(X)),
    ("log1mexp", lambda: snp.log(1 - snp.exp(X)), lambda: snp.log1mexp(X)),
    ("sigmoid", lambda: 1 / (1 + snp.exp(-X)), lambda: snp.sigmoid(X)),
    ("sigmoid of -x", lambda: 1 / (1 + snp.exp(X)), lambda: snp.sigmoid(-X)),
    ("odds", lambda: snp.exp(X) / (1 + snp.exp(X)), lambda: snp.sigmoid(X)),
    ("log sigmoid", lambda: snp.log(1 / (1 + snp.exp(-X))), lambda: -snp.softplus(-X)),
    ("log(1 - sigmoid)", lambda: snp.log(1 - snp.sigmoid(X)), lambda: -snp.softplus(X)),
    ("log of tanh", lambda: snp.log(0.5 * (1 + snp.tanh(X))), lambda: -snp.softplus(-2 * X)),
    ("log of -tanh", lambda: snp.log((1 - snp.tanh(X)) / 2), lambda: -snp.softplus(2 * X)),
    ("logaddexp", lambda: snp.log(snp.exp(X) + snp.exp(Y)), lambda: snp.logaddexp(X, Y)),
    # double angles
    (
        "sech of double",
        lambda: (1 - snp.tanh(X) ** 2) / (1 + snp.tanh(X) ** 2),
        lambda: 1 / snp.cosh(2 * X),
    ),
    (
        "tanh of double",
        lambda: 2 * snp.tanh(X) / (1 + snp.tanh(X) ** 2),
        lambda: snp.tanh(2 * X),
    ),
    (
        "squared half sine in an exponent",
        lambda: snp.exp(-2 * snp.sin(X / 2) ** 2),
        lambda: 1 / np.e * snp.exp(snp.cos(X)),
    ),
    # softmax
    ("log of softmax", lambda: snp.log(snp.softmax(X)), lambda: snp.log_softmax(X)),
    (
        "log softmax, written out",
        lambda: snp.log(snp.exp(V) / snp.sum(snp.exp(V), axis=-1, keepdims=True)),
        lambda: snp.log_softmax(V),
    ),
    (
        "log softmax by logarithms",
        lambda: V - snp.log(snp.sum(snp.exp(V), axis=-1, keepdims=True)),
        lambda: snp.log_softmax(V),
    ),
    (
        "softmax, shifted",
        lambda: snp.softmax(V - snp.max(V, axis=-1, keepdims=True)),
        lambda: snp.softmax(V),
    ),
    ("logsumexp", lambda: snp.log(snp.sum(snp.exp(X), axis=0)), lambda: snp.logsumexp(X, axis=0)),
    # circular and hyperbolic
    ("tanh", lambda: (snp.exp(X) - snp.exp(-X)) / (snp.exp(X) + snp.exp(-X)), lambda: snp.tanh(X)),
    ("tan", lambda: snp.sin(X) / snp.cos(X), lambda: snp.tan(X)),
    ("Pythagoras", lambda: snp.sin(X) ** 2 + snp.cos(X) ** 2, lambda: ones((2, 3))),
    # reductions
    ("sums", lambda: snp.sum(snp.sum(X, axis=0), axis=0), lambda: snp.sum(X)),
    ("kept sums", lambda: snp.sum(snp.sum(X, axis=0, keepdims=True)), lambda: snp.sum(X)),
    ("maxima", lambda: snp.max(snp.max(X, axis=1)), lambda: snp.max(X)),
    ("sum of negatives", lambda: snp.sum(-X), lambda: -snp.sum(X)),
    ("one element", lambda: snp.max(snp.reshape(X, (2, 3, 1)), axis=-1), lambda: X),
    # movement
    ("transposes", lambda: X.T.T, lambda: X),
    ("reshapes", lambda: X.reshape(6).reshape(3, 2).reshape(2, 3), lambda: X),
    ("casts", lambda: X.astype("float64"), lambda: X),
    (
        "broadcasts",
        lambda: snp.broadcast_to(snp.broadcast_to(X, (2, 3)), (4, 2, 3)),
        lambda: snp.broadcast_to(X, (4, 2, 3)),
    ),
    ("slice of everything", lambda: X[:, :], lambda: X),
    # gradients' leftovers
    (
        "sum of axes of length one, broadcast",
        lambda: snp.sum(snp.broadcast_to(X[:1], (7, 3)), axis=0),
        lambda: X[0] * sg.constant(7.0),
    ),
    (
        "sum of repeated",
        lambda: snp.sum(snp.broadcast_to(snp.sum(X), (7,))),
        lambda: snp.sum(X) * sg.constant(7.0),
    ),
    ("product of transposes", lambda: X.T @ sg.input("w", (4, 2)).T, None),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize(
    ("written", "expected"), [row[1:] for row in WRITTEN], ids=[row[0] for row in WRITTEN]
)
def test_what_is_written_becomes_what_is_meant(written: Any, expected: Any) -> None:
    if expected is None:
        result = simplified(written())
        assert result.node.op.name == "transpose"
        assert {each.op.name for each in result.node.operands} == {"matmul"}
    else:
        assert simplified(written()).node is expected().node


def test_softmax_of_large_numbers_is_finite() -> None:
    value = snp.exp(X) / snp.sum(snp.exp(X), axis=-1, keepdims=True)
    at = np.array([[1000.0, 0.0, -1000.0], [1e4, 1e4, 0.0]])
    result = sg.graph(simplified(value)).evaluate(x=at)
    np.testing.assert_allclose(result, [[1, 0, 0], [0.5, 0.5, 0]], atol=1e-300)


@pytest.mark.parametrize(
    ("f", "formula"),
    [
        (lambda x: np.minimum(1, np.maximum(-1, x)), "clip(x, -1, 1)"),
        (lambda x: np.maximum(-1, np.minimum(1, x)), "clip(x, -1, 1)"),
        (lambda x: np.maximum(0, np.exp(x)), "exp(x)"),
        (lambda x: np.maximum(0, np.maximum(0, x)), "maximum(x, 0)"),
        (lambda x: np.maximum(0, x) + np.log1p(np.exp(-np.abs(x))), "softplus(x)"),
        (lambda x: np.maximum(-np.inf, x) + np.minimum(np.inf, x), "x + x"),
        (lambda x: np.minimum(x, np.inf) - np.maximum(x, -np.inf) * 0.5, "0.5 * x"),
        (lambda x: np.where((x != 0) | (x != x), np.log(x), 0.0), "where(x != 0, log(x), 0)"),
        (lambda x: np.where((x > 0) & np.True_ | np.False_, x, 1.0), "where(x > 0, x, 1)"),
    ],
)
def test_bounds_are_found_in_front_as_behind(f, formula):
    """NumPy's users write np.maximum(0, x); the rules knew np.maximum(x, 0)."""
    assert sg.trace(f, x="n").simplify().formula().text == formula


@pytest.mark.parametrize("shape", ["n", "n, m", "7"])
def test_a_sum_of_ones_is_their_number(shape: str) -> None:
    # Constants are folded first, so what was broadcast is no number but an array of one element.
    f = sg.trace(lambda k, x: np.sum(np.log(x) + k), k="", x=shape).gradient("k", value=False)
    assert str(f.simplify().formula()) == {"n": "n", "n, m": "m*n", "7": "7"}[shape]


@pytest.mark.parametrize("at", [-1e4, -40.0, -3.0, 2.0, 30.0])
@pytest.mark.parametrize("tail", ["cdf", "sf"])
def test_a_normal_density_over_its_integral_is_a_number_far_out(tail: str, at: float) -> None:
    """The inverse Mills ratio of truncated and censored models was 0 / 0, and its slope NaN."""
    sign = 1 if tail == "cdf" else -1
    f = sg.trace(lambda x: stats.norm.pdf(x) / getattr(stats.norm, tail)(x), x="")
    with mpmath.workdps(60):
        x = mpmath.mpf(sign * at)
        ratio = mpmath.npdf(x) / (mpmath.erfc(-x / mpmath.sqrt(2)) / 2)
        wanted = float(ratio), float(-sign * ratio * (x + ratio))
    found = f.gradient("x").simplify().evaluate(x=at)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
