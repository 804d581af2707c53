"""The derivatives of Petersen and Pedersen's *Matrix Cookbook* (15 November 2012), chapter 2.

Each row names the equation. The gradient of its left side, by symgraph, is held against its right
side, evaluated in NumPy; values that are no numbers are weighted and summed, so that every element
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.autodiff.reverse import vjp
from symgraph.testing.gradients import numbers

N, M = 3, 4
W33 = np.random.default_rng(5).uniform(-1, 1, (N, N))
RISING = np.arange(1.0, N + 1)
inv, det, trace = np.linalg.inv, np.linalg.det, np.trace
power = np.linalg.matrix_power
eye = np.eye(N)


def uniform(*shape: int) -> Callable[[np.random.Generator], Any]:
    return lambda rng: rng.uniform(-1, 1, shape)


def regular(rng: np.random.Generator) -> Any:
    return rng.uniform(-1, 1, (N, N)) + 2.5 * eye


def symmetric(n: int) -> Callable[[np.random.Generator], Any]:
    def draw(rng: np.random.Generator) -> Any:
        x = rng.uniform(-1, 1, (n, n))
        return x + x.T + 4 * np.eye(n)

    return draw


# What letters stand for: square matrices, Z taller than wide, S and T and W symmetric, vectors.
VALUES: dict[str, Callable[[np.random.Generator], Any]] = {
    **dict.fromkeys("XABCD", regular),
    **dict.fromkeys("xabcds", uniform(N)),
    "Z": uniform(M, N),
    "E": uniform(M, M),
    "S": symmetric(M),
    "T": symmetric(M),
    "W": symmetric(N),
    "t": uniform(2 * N - 1),
    "u": uniform(),
}


def drawn(letters: str) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {name: np.asarray(VALUES[name](rng)) for name in letters}


@dataclass(frozen=True)
class Row:
    """An equation: `f` of the letters `takes`, its derivative by `wrt`."""

    number: str
    wrt: str
    takes: str
    f: Callable[..., Any]
    derivative: Callable[..., Any]
    assume: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __str__(self) -> str:
        return f"({self.number})"


def summed(terms: Any) -> Any:
    return reduce(np.add, list(terms))


def in_line(A: Any, u: Any) -> Any:
    """A matrix that depends on a number: Y(u) = A + u B + u^2 C."""
    return A + u * W33 + u * u * W33.T


def slope(u: Any) -> Any:
    return W33 + 2 * u * W33.T


DETERMINANTS = (
    Row(
        "46",
        "u",
        "uA",
        lambda u, A: det(in_line(A, u)),
        lambda u, A: det(in_line(A, u)) * trace(inv(in_line(A, u)) @ slope(u)),
    ),
    Row("49", "X", "X", lambda X: det(X), lambda X: det(X) * inv(X).T),
    Row(
        "51",
        "X",
        "XAB",
        lambda X, A, B: det(A @ X @ B),
        lambda X, A, B: det(A @ X @ B) * inv(X).T,
    ),
    Row(
        "52",
        "X",
        "XA",
        lambda X, A: det(X.T @ A @ X),
        lambda X, A: 2 * det(X.T @ A @ X) * inv(X).T,
    ),
    Row(
        "53",
        "Z",
        "ZS",
        lambda Z, S: det(Z.T @ S @ Z),
        lambda Z, S: 2 * det(Z.T @ S @ Z) * S @ Z @ inv(Z.T @ S @ Z),
        {"S": sg.symmetric},
    ),
    Row(
        "54",
        "Z",
        "ZE",
        lambda Z, E: det(Z.T @ E @ Z),
        lambda Z, E: det(Z.T @ E @ Z) * (E @ Z @ inv(Z.T @ E @ Z) + E.T @ Z @ inv(Z.T @ E.T @ Z)),
    ),
    Row(
        "55",
        "Z",
        "Z",
        lambda Z: np.log(det(Z.T @ Z)),
        lambda Z: 2 * np.linalg.pinv(Z).T,
    ),
    Row(
        "56",
        "Z",
        "Z",
        # By the pseudoinverse: Z stands for it, and its own is the X of the equation.
        lambda Z: np.log(det(np.linalg.pinv(Z) @ np.linalg.pinv(Z).T)),
        lambda Z: -2 * np.linalg.pinv(Z).T,
    ),
    Row("57", "X", "X", lambda X: np.linalg.slogdet(X)[1], lambda X: inv(X).T),
    Row(
        "58",
        "X",
        "X",
        lambda X: det(power(X, 3)),
        lambda X: 3 * det(power(X, 3)) * inv(X).T,
    ),
)

INVERSES = (
    Row(
        "59",
        "u",
        "uA",
        lambda u, A: np.sum(W33 * inv(in_line(A, u))),
        lambda u, A: -np.sum(W33 * (inv(in_line(A, u)) @ slope(u) @ inv(in_line(A, u)))),
    ),
    Row(
        "60",
        "X",
        "X",
        lambda X: np.sum(W33 * inv(X)),
        lambda X: -np.einsum("kl,ki,jl->ij", W33, inv(X), inv(X)),
    ),
    Row(
        "61",
        "X",
        "Xab",
        lambda X, a, b: a @ inv(X) @ b,
        lambda X, a, b: -inv(X).T @ np.outer(a, b) @ inv(X).T,
    ),
    Row("62", "X", "X", lambda X: det(inv(X)), lambda X: -det(inv(X)) * inv(X).T),
    Row(
        "63",
        "X",
        "XAB",
        lambda X, A, B: trace(A @ inv(X) @ B),
        lambda X, A, B: -(inv(X) @ B @ A @ inv(X)).T,
    ),
    Row(
        "64",
        "X",
        "XA",
        lambda X, A: trace(inv(X + A)),
        lambda X, A: -(inv(X + A) @ inv(X + A)).T,
    ),
)

EIGENVALUES = (
    Row(
        "65",
        "W",
        "W",
        lambda W: np.sum(np.linalg.eigvalsh(W)),
        lambda W: eye,
    ),
    Row(
        "66",
        "W",
        "W",
        lambda W: np.prod(np.linalg.eigvalsh(W)),
        lambda W: det(W) * inv(W).T,
    ),
    Row(
        "67",
        "u",
        "uW",
        lambda u, W: np.linalg.eigvalsh(W + u * (W33 + W33.T)) @ RISING,
        lambda u, W: np.einsum("ki,kl,li,i->", v(u, W), W33 + W33.T, v(u, W), RISING),
    ),
    Row(
        "68",
        "u",
        "uW",
        lambda u, W: np.sum(W33 * v(u, W)),
        lambda u, W: np.sum(W33 * turned(u, W)),
    ),
)


def v(u: Any, W: Any) -> Any:
    return np.linalg.eigh(W + u * (W33 + W33.T))[1]


def turned(u: Any, W: Any) -> Any:
    """The derivative of each eigenvector v: (lambda - A)^+ dA v."""
    at = W + u * (W33 + W33.T)
    values, vectors = np.linalg.eigh(at)
    columns = [
        np.linalg.pinv(values[i] * eye - at, 1e-9) @ (W33 + W33.T) @ vectors[:, i] for i in range(N)
    ]
    return np.stack(columns, axis=1)


FORMS = (
    Row("69", "x", "xa", lambda x, a: x @ a, lambda x, a: a),
    Row("70", "X", "Xab", lambda X, a, b: a @ X @ b, lambda X, a, b: np.outer(a, b)),
    Row("71", "X", "Xab", lambda X, a, b: a @ X.T @ b, lambda X, a, b: np.outer(b, a)),
    Row("72", "X", "Xa", lambda X, a: a @ X @ a, lambda X, a: np.outer(a, a)),
    Row("73", "X", "X", lambda X: X[0, 1], lambda X: np.outer(eye[0], eye[1])),
    Row("74", "X", "XA", lambda X, A: (X @ A)[1, 2], lambda X, A: np.outer(eye[1], A[:, 2])),
    Row("75", "X", "XA", lambda X, A: (X.T @ A)[1, 2], lambda X, A: np.outer(A[:, 2], eye[1])),
    Row(
        "76",
        "X",
        "X",
        lambda X: np.einsum("kl,mn->", X, X),
        lambda X: 2 * np.sum(X) * np.ones((N, N)),
    ),
    Row(
        "77",
        "X",
        "Xbc",
        lambda X, b, c: b @ X.T @ X @ c,
        lambda X, b, c: X @ (np.outer(b, c) + np.outer(c, b)),
    ),
    Row(
        "78",
        "x",
        "xBCDbd",
        lambda x, B, C, D, b, d: (B @ x + b) @ C @ (D @ x + d),
        lambda x, B, C, D, b, d: B.T @ C @ (D @ x + d) + D.T @ C.T @ (B @ x + b),
    ),
    Row(
        "79",
        "X",
        "XB",
        lambda X, B: (X.T @ B @ X)[0, 2],
        lambda X, B: np.outer((X.T @ B)[0], eye[2]) + np.outer((B @ X)[:, 2], eye[0]),
    ),
    Row(
        "80",
        "X",
        "XB",
        lambda X, B: np.sum(W33 * (X.T @ B @ X)),
        lambda X, B: B.T @ X @ W33 + B @ X @ W33.T,
    ),
    Row("81", "x", "xB", lambda x, B: x @ B @ x, lambda x, B: (B + B.T) @ x),
    Row(
        "82",
        "X",
        "XDbc",
        lambda X, D, b, c: b @ X.T @ D @ X @ c,
        lambda X, D, b, c: D.T @ X @ np.outer(b, c) + D @ X @ np.outer(c, b),
    ),
    Row(
        "83",
        "X",
        "XDbc",
        lambda X, D, b, c: (X @ b + c) @ D @ (X @ b + c),
        lambda X, D, b, c: np.outer((D + D.T) @ (X @ b + c), b),
    ),
    Row(
        "84",
        "s",
        "sxAW",
        lambda s, x, A, W: (x - A @ s) @ W @ (x - A @ s),
        lambda s, x, A, W: -2 * A.T @ W @ (x - A @ s),
        {"W": sg.symmetric},
    ),
    Row(
        "85",
        "x",
        "sxW",
        lambda s, x, W: (x - s) @ W @ (x - s),
        lambda s, x, W: 2 * W @ (x - s),
    ),
    Row(
        "86",
        "s",
        "sxW",
        lambda s, x, W: (x - s) @ W @ (x - s),
        lambda s, x, W: -2 * W @ (x - s),
    ),
    Row(
        "87",
        "x",
        "sxAW",
        lambda s, x, A, W: (x - A @ s) @ W @ (x - A @ s),
        lambda s, x, A, W: 2 * W @ (x - A @ s),
    ),
    Row(
        "88",
        "A",
        "sxAW",
        lambda s, x, A, W: (x - A @ s) @ W @ (x - A @ s),
        lambda s, x, A, W: -2 * np.outer(W @ (x - A @ s), s),
    ),
    Row(
        "90",
        "X",
        "X",
        lambda X: power(X, 4)[0, 2],
        lambda X: summed(np.outer(power(X, r)[0], power(X, 3 - r)[:, 2]) for r in range(4)),
    ),
    Row(
        "91",
        "X",
        "Xab",
        lambda X, a, b: a @ power(X, 4) @ b,
        lambda X, a, b: summed(
            power(X, r).T @ np.outer(a, b) @ power(X, 3 - r).T for r in range(4)
        ),
    ),
    Row(
        "92",
        "X",
        "Xab",
        lambda X, a, b: a @ power(X, 3).T @ power(X, 3) @ b,
        lambda X, a, b: summed(
            (power(X, 2 - r) @ np.outer(a, b) @ power(X, 3).T @ power(X, r)).T
            + power(X, r).T @ power(X, 3) @ np.outer(a, b) @ power(X, 2 - r).T
            for r in range(3)
        ),
    ),
    Row(
        "93",
        "x",
        "xA",
        lambda x, A: np.sin(x) @ A @ np.exp(x),
        lambda x, A: np.cos(x) * (A @ np.exp(x)) + np.exp(x) * (A.T @ np.sin(x)),
    ),
    Row(
        "95",
        "x",
        "xAB",
        lambda x, A, B: ((A @ x) @ (A @ x)) / ((B @ x) @ (B @ x)),
        lambda x, A, B: (
            2 * A.T @ A @ x / (x @ B.T @ B @ x)
            - 2 * (x @ A.T @ A @ x) * (B.T @ B @ x) / (x @ B.T @ B @ x) ** 2
        ),
    ),
    Row("97", "x", "xAb", lambda x, A, b: x @ A @ x + b @ x, lambda x, A, b: (A + A.T) @ x + b),
)

TRACES = (
    Row("99", "X", "X", lambda X: trace(X), lambda X: eye),
    Row("100", "X", "XA", lambda X, A: trace(X @ A), lambda X, A: A.T),
    Row("101", "X", "XAB", lambda X, A, B: trace(A @ X @ B), lambda X, A, B: A.T @ B.T),
    Row("102", "X", "XAB", lambda X, A, B: trace(A @ X.T @ B), lambda X, A, B: B @ A),
    Row("103", "X", "XA", lambda X, A: trace(X.T @ A), lambda X, A: A),
    Row("104", "X", "XA", lambda X, A: trace(A @ X.T), lambda X, A: A),
    Row("105", "X", "XA", lambda X, A: trace(np.kron(A, X)), lambda X, A: trace(A) * eye),
    Row("106", "X", "X", lambda X: trace(X @ X), lambda X: 2 * X.T),
    Row("107", "X", "XB", lambda X, B: trace(X @ X @ B), lambda X, B: (X @ B + B @ X).T),
    Row("108", "X", "XB", lambda X, B: trace(X.T @ B @ X), lambda X, B: B @ X + B.T @ X),
    Row("109", "X", "XB", lambda X, B: trace(B @ X @ X.T), lambda X, B: B @ X + B.T @ X),
    Row("110", "X", "XB", lambda X, B: trace(X @ X.T @ B), lambda X, B: B @ X + B.T @ X),
    Row("111", "X", "XB", lambda X, B: trace(X @ B @ X.T), lambda X, B: X @ B.T + X @ B),
    Row("112", "X", "XB", lambda X, B: trace(B @ X.T @ X), lambda X, B: X @ B.T + X @ B),
    Row("113", "X", "XB", lambda X, B: trace(X.T @ X @ B), lambda X, B: X @ B.T + X @ B),
    Row(
        "114",
        "X",
        "XAB",
        lambda X, A, B: trace(A @ X @ B @ X),
        lambda X, A, B: A.T @ X.T @ B.T + B.T @ X.T @ A.T,
    ),
    Row("115", "Z", "Z", lambda Z: trace(Z.T @ Z), lambda Z: 2 * Z),
    Row(
        "116",
        "X",
        "XBC",
        lambda X, B, C: trace(B.T @ X.T @ C @ X @ B),
        lambda X, B, C: C.T @ X @ B @ B.T + C @ X @ B @ B.T,
    ),
    Row(
        "117",
        "X",
        "XBC",
        lambda X, B, C: trace(X.T @ B @ X @ C),
        lambda X, B, C: B @ X @ C + B.T @ X @ C.T,
    ),
    Row(
        "118",
        "X",
        "XABC",
        lambda X, A, B, C: trace(A @ X @ B @ X.T @ C),
        lambda X, A, B, C: A.T @ C.T @ X @ B.T + C @ A @ X @ B,
    ),
    Row(
        "119",
        "X",
        "XABC",
        lambda X, A, B, C: trace((A @ X @ B + C) @ (A @ X @ B + C).T),
        lambda X, A, B, C: 2 * A.T @ (A @ X @ B + C) @ B.T,
    ),
    Row("120", "X", "X", lambda X: trace(np.kron(X, X)), lambda X: 2 * trace(X) * eye),
    Row("121", "X", "X", lambda X: trace(power(X, 5)), lambda X: 5 * power(X, 4).T),
    Row(
        "122",
        "X",
        "XA",
        lambda X, A: trace(A @ power(X, 4)),
        lambda X, A: summed((power(X, r) @ A @ power(X, 3 - r)).T for r in range(4)),
    ),
    Row(
        "123",
        "X",
        "XBC",
        lambda X, B, C: trace(B.T @ X.T @ C @ X @ X.T @ C @ X @ B),
        lambda X, B, C: (
            C @ X @ X.T @ C @ X @ B @ B.T
            + C.T @ X @ B @ B.T @ X.T @ C.T @ X
            + C @ X @ B @ B.T @ X.T @ C @ X
            + C.T @ X @ X.T @ C.T @ X @ B @ B.T
        ),
    ),
    Row(
        "124",
        "X",
        "XAB",
        lambda X, A, B: trace(A @ inv(X) @ B),
        lambda X, A, B: -inv(X).T @ A.T @ B.T @ inv(X).T,
    ),
    Row(
        "125",
        "Z",
        "ZSA",
        lambda Z, S, A: trace(inv(Z.T @ S @ Z) @ A),
        lambda Z, S, A: -(S @ Z @ inv(Z.T @ S @ Z)) @ (A + A.T) @ inv(Z.T @ S @ Z),
        {"S": sg.symmetric},
    ),
    Row(
        "126",
        "Z",
        "ZST",
        lambda Z, S, T: trace(inv(Z.T @ S @ Z) @ (Z.T @ T @ Z)),
        lambda Z, S, T: (
            -2 * S @ Z @ inv(Z.T @ S @ Z) @ Z.T @ T @ Z @ inv(Z.T @ S @ Z)
            + 2 * T @ Z @ inv(Z.T @ S @ Z)
        ),
        {"S": sg.symmetric, "T": sg.symmetric},
    ),
    Row(
        "127",
        "Z",
        "ZSTW",
        lambda Z, S, T, W: trace(inv(W + Z.T @ S @ Z) @ (Z.T @ T @ Z)),
        lambda Z, S, T, W: (
            -2 * S @ Z @ inv(W + Z.T @ S @ Z) @ Z.T @ T @ Z @ inv(W + Z.T @ S @ Z)
            + 2 * T @ Z @ inv(W + Z.T @ S @ Z)
        ),
    ),
    # Of a function of matrices, here the exponential: tr f(X) has the derivative f'(X).T.
    Row("128", "X", "X", lambda X: trace(snp.expm(X)), lambda X: exponential(X).T),
)


def exponential(x: Any) -> Any:
    """The matrix exponential of numbers, from eigenvalues."""
    values, vectors = np.linalg.eig(x)
    return np.real(vectors @ np.diag(np.exp(values)) @ np.linalg.inv(vectors))


NORMS = (
    Row(
        "129",
        "x",
        "xa",
        lambda x, a: np.linalg.norm(x - a),
        lambda x, a: (x - a) / np.linalg.norm(x - a),
    ),
    Row(
        "130",
        "x",
        "xab",
        lambda x, a, b: ((x - a) / np.linalg.norm(x - a)) @ b,
        lambda x, a, b: (
            (eye / np.linalg.norm(x - a) - np.outer(x - a, x - a) / np.linalg.norm(x - a) ** 3) @ b
        ),
    ),
    Row("131", "x", "x", lambda x: np.linalg.norm(x) ** 2, lambda x: 2 * x),
    Row("132", "Z", "Z", lambda Z: np.linalg.norm(Z, "fro") ** 2, lambda Z: 2 * Z),
)


def folded(full: Any) -> Any:
    """(138), of what may be chosen: the lower triangle; the upper one is its copy."""
    return np.tril(full + full.T - np.diag(np.diag(full)))


def toeplitz(t: Any) -> Any:
    row, column = np.indices((N, N))
    return t[(column - row) + N - 1]


STRUCTURED = (
    Row(
        "137",
        "X",
        "XA",
        lambda X, A: np.sum(np.sin(X @ A @ X)),
        lambda X, A: np.cos(X @ A @ X) @ (A @ X).T + (X @ A).T @ np.cos(X @ A @ X),
    ),
    Row(
        "138",
        "X",
        "XA",
        lambda X, A: trace(inv(snp.copied_lower(X)) @ A),
        lambda X, A: folded(-(inv(whole(X)) @ A @ inv(whole(X))).T),
    ),
    Row(
        "139",
        "X",
        "XA",
        lambda X, A: trace(A @ snp.copied_lower(X)),
        lambda X, A: np.tril(A + A.T - A * eye),
    ),
    Row(
        "140",
        "X",
        "X",
        lambda X: det(snp.copied_lower(X)),
        lambda X: np.tril(det(whole(X)) * (2 * inv(whole(X)) - inv(whole(X)) * eye)),
    ),
    Row(
        "141",
        "X",
        "X",
        lambda X: np.linalg.slogdet(snp.copied_lower(X))[1],
        lambda X: np.tril(2 * inv(whole(X)) - inv(whole(X)) * eye),
    ),
    Row("142", "a", "aA", lambda a, A: trace(A @ np.diag(a)), lambda a, A: np.diag(A * eye)),
    Row(
        "143",
        "t",
        "tA",
        lambda t, A: trace(A @ toeplitz(t)),
        lambda t, A: np.array([trace(A.T, k) for k in range(1 - N, N)]),
    ),
    Row(
        "145",
        "a",
        "aA",
        lambda a, A: trace(A @ toeplitz(np.concatenate([a[:0:-1], a]))),
        lambda a, A: np.array([trace(A), *[trace(A, k) + trace(A, -k) for k in range(1, N)]]),
    ),
)


def whole(x: Any) -> Any:
    return np.tril(x) + np.tril(x, -1).T


ROWS = (
    *DETERMINANTS,
    *INVERSES,
    *EIGENVALUES,
    *FORMS,
    *TRACES,
    *NORMS,
    *STRUCTURED,
)


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_gradient_is_the_cookbooks(row: Row) -> None:
    at = drawn(row.takes)
    specs = {
        name: sg.spec(value.shape, assume=row.assume.get(name, ())) for name, value in at.items()
    }
    graph = sg.trace(lambda **letters: row.f(*[letters[name] for name in row.takes]), **specs)
    gradient = graph.gradient(row.wrt, value=False)
    expected = row.derivative(*at.values())
    assert np.shape(expected) == at[row.wrt].shape
    for each in (gradient, gradient.simplify()):
        np.testing.assert_allclose(each.evaluate(**at), expected, rtol=1e-9, atol=1e-9)


# -- equations of another shape --------------------------------------------------------------------
def test_47_the_gradient_of_a_determinant_times_the_matrix() -> None:
    at = drawn("X")
    gradient = sg.trace(lambda X: det(X), X=(N, N)).gradient("X", value=False).evaluate(**at)
    np.testing.assert_allclose(gradient @ at["X"].T, det(at["X"]) * eye, atol=1e-12)


def test_48_the_second_derivative_of_a_determinant() -> None:
    A, u = drawn("Au").values()
    value = sg.trace(lambda u: det(in_line(A, u)), u="")
    twice = value.gradient("u", value=False).gradient("u", value=False)
    Y, dY, ddY = in_line(A, u), slope(u), 2 * W33.T
    expected = det(Y) * (
        trace(inv(Y) @ ddY) + trace(inv(Y) @ dY) ** 2 - trace(inv(Y) @ dY @ inv(Y) @ dY)
    )
    np.testing.assert_allclose(twice.evaluate(u=u), expected, rtol=1e-9)


def test_98_the_hessian_of_a_quadratic_form() -> None:
    A, b, x = drawn("Abx").values()
    symbol = sg.input("x", (N,))
    (gradient,) = vjp(symbol @ A @ symbol + b @ symbol, [symbol], sg.constant(1.0))
    assert gradient is not None
    (hessian,) = vjp(gradient, [symbol], sg.constant(np.eye(N)))
    assert hessian is not None
    np.testing.assert_allclose(numbers([hessian], [(symbol, x)])[0], A + A.T, rtol=1e-12)


def test_no_number_stands_twice() -> None:
    assert len({row.number for row in ROWS}) == len(ROWS) >= 80
