"""Products, variances, polynomials, determinants and spectra of complex arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

RNG = np.random.default_rng(11)
Z = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))
WIDE = Z[:2]
POINT = 0.5 + 0.2j

FUNCTIONS: list[tuple[str, Callable[[Any], Any], Any]] = [
    *[
        (f"prod {axis} {keepdims}", lambda z, a=axis, k=keepdims: np.prod(z, a, keepdims=k), WIDE)
        for axis in (None, 0, 1, -1, (0, 1))
        for keepdims in (False, True)
    ],
    *[(f"cumprod {axis}", lambda z, a=axis: np.cumprod(z, a), WIDE) for axis in (None, 0, -1)],
    *[(f"var {axis}", lambda z, a=axis: np.var(z, a, ddof=1), WIDE) for axis in (None, 0, 1)],
    ("std", lambda z: np.std(z, axis=1, keepdims=True), WIDE),
    ("methods", lambda z: z.var() + z.std() + z.prod() + z.cumprod()[-1], WIDE),
    ("polyval, place", lambda z: np.polyval(np.array([1, 2j, -1, 0.5]), z), Z[0]),
    ("polyval, coefficients", lambda p: np.polyval(p, POINT), Z[0]),
    *[
        (f"det {n}", lambda z, n=n: np.linalg.det(z[:n, :n]) + np.linalg.det(z[3 - n :, :n]), Z)
        for n in (2, 3)
    ],
    ("det of one", lambda z: np.linalg.det(z[:, None, None]), Z[0]),
    ("eigvalsh", lambda z: np.linalg.eigvalsh(z) * np.arange(3), Z),
    ("eigvalsh, upper", lambda z: np.linalg.eigvalsh(z, "U") * np.arange(3), Z),
    ("eigvalsh, u", lambda z: np.linalg.eigvalsh(z, "u"), Z),
    ("singular values", lambda z: np.linalg.svdvals(z) * np.arange(2), WIDE),
    ("singular values, tall", lambda z: np.linalg.svdvals(z.T) * np.arange(2), WIDE),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize(("f", "z"), [row[1:] for row in FUNCTIONS], ids=[r[0] for r in FUNCTIONS])
def test_values_and_gradients(f: Callable[[Any], Any], z: Any) -> None:
    found = sg.vmap(lambda z: f(z))(z[None])[0]
    np.testing.assert_allclose(found, f(z), rtol=1e-12, atol=1e-12)

    def size(z: Any) -> Any:
        return np.sum(np.abs(f(z)) ** 2)

    step = 1e-6
    direction = RNG.normal(size=z.shape) + 1j * RNG.normal(size=z.shape)
    want = (size(z + step * direction) - size(z - step * direction)) / (2 * step)
    gradient = sg.grad(size)(z)
    np.testing.assert_allclose(np.sum(np.real(np.conj(gradient) * direction)), want, rtol=1e-6)


def test_nothing_to_multiply() -> None:
    graph = sg.trace(lambda x: np.prod(1j * x, axis=0).real + np.sum(x), x=(0, 2))
    np.testing.assert_array_equal(graph.lower()(x=np.ones((0, 2))), [1.0, 1.0])


def test_nested_lists_of_symbols_and_numbers() -> None:
    def f(x: Any) -> Any:
        return snp.array([[1, 1j * x[0]], [0, x[1]]])

    found = sg.vmap(f)(np.array([[2.0, 3.0]]))[0]
    np.testing.assert_array_equal(found, [[1, 2j], [0, 3]])
    single = sg.vmap(lambda x: snp.array([1j * x, x], dtype="complex64"))(np.ones(2))
    assert single.dtype == np.complex64
    np.testing.assert_array_equal(sg.vmap(lambda x: snp.asarray(1j * x))(np.ones(2)), [1j, 1j])
    with pytest.raises(sg.TraceError, match=r"snp\.array"):
        sg.vmap(lambda x: np.array([1j * x]))(np.ones(2))


@pytest.mark.parametrize(
    ("f", "told"),
    [
        (lambda z: np.linalg.det(np.eye(4) * z[0]), "more than three rows"),
        (lambda z: np.prod(z, dtype=complex), "dtype="),
        (lambda z: np.var(z, mean=0.0), "mean="),
        (lambda z: np.prod(z, axis=1), "axis 1"),
        (lambda z: np.cumprod(z, axis=-2), "axis -2"),
        (lambda z: np.linalg.eigvalsh(z[:, None] * z, "X"), "UPLO"),
        (lambda z: snp.array([z, 1j * z], copy=True, ndmin=3), "more than a dtype"),
    ],
)
def test_what_is_refused(f: Callable[[Any], Any], told: str) -> None:
    with pytest.raises(sg.SymgraphError, match=told):
        sg.grad(lambda z: np.sum(np.abs(f(z))))(Z[0])


def test_products_need_known_sizes() -> None:
    with pytest.raises(sg.TraceError, match="fixed sizes"):
        sg.trace(lambda x: np.prod(1j * x).real, x="n")
