"""Famous gradients print as the book prints them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

SYMMETRIC = sg.spec("n, n", assume=sg.symmetric)
COVARIANCE = sg.spec("d, d", assume=sg.positive_definite)
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
    "energy of the Ising model": (
        lambda J, s: -s @ J @ s / 2,
        {"J": SYMMETRIC, "s": "n"},
        "J",
        r"s \left(-\frac{1}{2} \, s\right)^\top",
    ),
    "least squares": (
        lambda A, x, b: np.sum((A @ x - b) ** 2),
        {"A": "m, n", "x": "n", "b": "m"},
        "x",
        r"2 \, A^\top \left(A x - b\right)",
    ),
    "ridge regression": (
        lambda A, x, b, lam: np.sum((A @ x - b) ** 2) + lam * np.sum(x**2),
        {"A": "m, n", "x": "n", "b": "m", "lam": ()},
        "x",
        r"2 \, \left(\lambda \, x + A^\top \left(A x - b\right)\right)",
    ),
    "softmax regression": (
        lambda X, W, Y: (
            -np.sum(Y * np.log(np.exp(X @ W) / np.sum(np.exp(X @ W), axis=-1, keepdims=True)))
        ),
        {"X": "n, d", "W": "d, k", "Y": sg.spec("n, k", assume=sg.simplex(-1))},
        "W",
        r"X^\top \left(\operatorname{softmax}\left(X W\right) - Y\right)",
    ),
    "quadratic form of a symmetric matrix": (
        lambda x, A: x @ A @ x,
        {"A": SYMMETRIC, "x": "n"},
        "x",
        r"2 \, A x",
    ),
    "quadratic function of a symmetric matrix": (
        lambda x, A, b: x @ A @ x / 2 - b @ x,
        {"A": SYMMETRIC, "x": "n", "b": "n"},
        "x",
        r"A x - b",
    ),
    "log-determinant of a symmetric matrix": (
        lambda X: np.linalg.slogdet(X)[1],
        {"X": sg.spec("n, n", assume=sg.positive_definite)},
        "X",
        r"X^{-1}",
    ),
    "trace of a product of three": (
        lambda A, X, B: np.trace(A @ X @ B),
        {"A": "n, m", "X": "m, k", "B": "k, n"},
        "X",
        r"\left(B A\right)^\top",
    ),
    "squared Frobenius distance": (
        lambda A, X, B: np.sum((A @ X - B) ** 2),
        {"A": "n, m", "X": "m, k", "B": "n, k"},
        "X",
        r"2 \, A^\top \left(A X - B\right)",
    ),
    "Frobenius norm": (
        lambda X: np.linalg.norm(X),
        {"X": "m, n"},
        "X",
        r"\frac{X}{\left\|X\right\|_{F}}",
    ),
    "norm of a vector": (
        lambda x: np.linalg.norm(x),
        {"x": "n"},
        "x",
        r"\frac{x}{\left\|x\right\|_{2}}",
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


def log_likelihood(x: Any, mu: Any, S: Any) -> Any:
    distance = (x - mu) @ np.linalg.inv(S) @ (x - mu)
    return -(distance + np.linalg.slogdet(S)[1]) / 2


def layer_norm(x: Any, c: Any) -> Any:
    return c @ ((x - np.mean(x)) / np.std(x))


def attention(Q: Any, K: Any, V: Any, C: Any) -> Any:
    P = snp.softmax(Q @ K.T, axis=-1)
    return np.sum(C * (P @ V))


WITH_PARTS: dict[str, tuple[Any, dict[str, Any], list[str], list[str]]] = {
    "Gaussian log likelihood": (
        log_likelihood,
        {"x": "d", "mu": "d", "S": COVARIANCE},
        ["mu", "S"],
        [
            r"\frac{\partial f}{\partial \mu} &= S^{-1} \left(x - \mu\right)",
            r"\frac{\partial f}{\partial S} &= \frac{1}{2} \, \left("
            r"\frac{\partial f}{\partial \mu} \left(\frac{\partial f}{\partial \mu}\right)^\top "
            r"- S^{-1}\right)",
        ],
    ),
    "Mahalanobis distance": (
        lambda x, mu, S: np.sqrt((x - mu) @ np.linalg.inv(S) @ (x - mu)),
        {"x": "d", "mu": "d", "S": COVARIANCE},
        ["x"],
        [
            r"t_{1} &= x - \mu",
            r"t_{2} &= S^{-1} t_{1}",
            r"\frac{\partial f}{\partial x} &= \frac{t_{2}}{\sqrt{t_{1}^\top t_{2}}}",
        ],
    ),
    "layer normalisation": (
        layer_norm,
        {"x": "n", "c": "n"},
        ["x"],
        [
            r"t_{1} &= x - \frac{1}{n} \sum_{i} x_{i}",
            r"t_{2} &= \frac{t_{1}^\top t_{1}}{n}",
            r"t_{3} &= \frac{c - \frac{\frac{c^\top t_{1}}{t_{2}} \, t_{1}}{n}}{\sqrt{t_{2}}}",
            r"\frac{\partial f}{\partial x} &= t_{3} - \frac{1}{n} \sum_{i} \left(t_{3}\right)_{i}",
        ],
    ),
    "attention": (
        attention,
        {"Q": "n, d", "K": "m, d", "V": "m, k", "C": "n, k"},
        ["Q", "K", "V"],
        [
            r"P &= \operatorname{softmax}\left(Q K^\top\right)",
            r"\frac{\partial f}{\partial P} &= C V^\top",
            r"t_{1} &= P \odot \left(\frac{\partial f}{\partial P} - \left(\sum_{j} \left("
            r"\frac{\partial f}{\partial P} \odot P\right)_{ij}\right) \mathbf{1}^\top\right)",
            r"\frac{\partial f}{\partial Q} &= t_{1} K",
            r"\frac{\partial f}{\partial K} &= t_{1}^\top Q",
            r"\frac{\partial f}{\partial V} &= P^\top C",
        ],
    ),
}


@pytest.mark.parametrize("name", WITH_PARTS)
def test_a_famous_gradient_with_parts_prints_as_in_the_book(name: str) -> None:
    f, shapes, wrt, lines = WITH_PARTS[name]
    found = sg.trace(f, **shapes).gradient(*wrt, value=False).simplify().to_latex()
    assert found == "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


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


def test_proportional_hazards_read_alike_for_any_number_of_patients() -> None:
    """Sums from the end are sums of a reversed vector, whose gradient reads it backwards again."""

    def cox(r):
        return np.sum(np.log(np.cumsum(np.exp(r)[::-1])[::-1]) - r)

    for n in (5, "n"):
        slope = sg.trace(cox, r=n).gradient("r", value=False).simplify()
        assert slope.formula().text == (
            "cumsum(1 / cumsum(t1[::-1])[::-1]) * t1 - 1 where t1 = exp(r)"
        )


def test_a_gradient_in_the_users_shape_is_no_embedding() -> None:
    shapes = {"k": (3, 3), "image": (5, 5)}
    convolved = sg.trace(
        lambda k, image: np.sum(snp.conv2d(image[None, None], k[None, None])), **shapes
    )
    slope = convolved.gradient("k", value=False).simplify()
    assert "embed" not in slope.formula().text
