"""Famous gradients print as the book prints them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

FAMOUS: dict[str, tuple[Any, dict[str, Any], str, str]] = {
    "quadratic form": (
        lambda x, A: x @ A @ x,
        {"A": "n, n", "x": "n"},
        "x",
        r"\left(A + A^\top\right) x",
    ),
    "log-determinant": (
        lambda X: np.linalg.slogdet(X)[1],
        {"X": (3, 3)},
        "X",
        r"\left(X^{-1}\right)^\top",
    ),
    "trace of a product": (
        lambda A, X: np.trace(A @ X),
        {"A": "n, n", "X": "n, n"},
        "X",
        r"A^\top",
    ),
    "squared Frobenius norm": (lambda X: np.trace(X.T @ X), {"X": "n, n"}, "X", r"2 \, X"),
    "logsumexp": (
        lambda z: snp.logsumexp(z),
        {"z": "n"},
        "z",
        r"\operatorname{softmax}\left(z\right)",
    ),
    "logistic regression": (
        lambda X, w, y: (
            -np.mean(y * np.log(snp.sigmoid(X @ w)) + (1 - y) * np.log(1 - snp.sigmoid(X @ w)))
        ),
        {"X": "n, d", "w": "d", "y": "n"},
        "w",
        r"\frac{X^\top \left(\sigma\left(X w\right) - y\right)}{n}",
    ),
    "sum": (lambda x: np.sum(x), {"x": "n"}, "x", r"\mathbf{1}"),
    "sum of exponentials of a matrix": (
        lambda X: np.sum(np.exp(X)),
        {"X": "m, n"},
        "X",
        r"\exp_{\odot}\left(X\right)",
    ),
    "sum of cubes of a matrix": (
        lambda X: np.sum(X**3),
        {"X": "m, n"},
        "X",
        r"3 \, X^{\circ 2}",
    ),
    "sum of logarithms of a matrix": (
        lambda X: np.sum(np.log(X)),
        {"X": "m, n"},
        "X",
        r"X^{\circ -1}",
    ),
}


@pytest.mark.parametrize("name", FAMOUS)
def test_a_famous_gradient_prints_as_in_the_book(name: str) -> None:
    f, shapes, wrt, formula = FAMOUS[name]
    graph = sg.trace(f, **shapes).gradient(wrt, value=False).simplify()
    assert graph.to_latex() == rf"\frac{{\partial f}}{{\partial {wrt}}} = {formula}"


def test_a_factor_of_a_vector_stands_before_the_matrix() -> None:
    graph = sg.trace(lambda A, x: A.T @ (2.0 * (A @ x)), A="m, n", x="n")
    assert graph.to_latex() == r"f = 2 \, A^\top A x"


def test_parts_have_the_users_names() -> None:
    def f(x: Any, w: Any) -> Any:
        z = x @ w
        hidden = np.tanh(z)
        return np.sum(hidden * hidden * z)

    lines = sg.trace(f, x="n, d", w="d").to_latex().splitlines()
    assert lines[1].startswith("z &= x w")
    assert lines[2].startswith(r"\mathrm{hidden} &= ")


def test_numbers_that_are_repeated_read_as_numbers() -> None:
    graph = sg.trace(lambda x: np.sum(x), x="n").gradient("x", value=False).simplify()
    assert str(graph.formula()) == "ones(n)"
    assert str(sg.trace(lambda x: x * np.array([2.0]), x="n").formula()) == "x * 2"
    assert str(sg.trace(lambda x: x * np.array([2.0]), x=()).formula()) == "x * [2]"
