"""Programs with complex numbers: gradients, transforms, other engines, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

RNG = np.random.default_rng(3)
C = RNG.normal(size=(4, 4)) + 1j * RNG.normal(size=(4, 4))
W = RNG.normal(size=4) + 1j * RNG.normal(size=4)
X = RNG.uniform(0.2, 1.2, 4)


def spectrum(x: Any) -> Any:
    return np.sum(np.abs(np.fft.fft(x)) ** 2 * np.arange(4))


def filtered(x: Any) -> Any:
    return np.sum(np.fft.irfft(np.fft.rfft(x) * np.array([1, 2j, 3])) ** 3)


def image(x: Any) -> Any:
    return np.sum(np.abs(np.fft.ifft2(np.fft.fft2(np.outer(x, x**2)) * C)))


def impedance(x: Any) -> Any:
    """The gain of a resistor behind a coil and a capacitor, in decibels."""
    s = 2j * np.pi * np.array([1.0, 2.0, 3.0])
    gain = x[3] / (x[0] + s * x[1] + 1 / (s * x[2]) + x[3])
    return np.sum(20 * np.log10(np.abs(gain)))


def energy(x: Any) -> Any:
    """Of a state with amplitudes and phases, by a Hermitian matrix."""
    psi = np.exp(-(x**2) + 1j * x)
    psi = psi / np.sqrt(np.sum(np.abs(psi) ** 2))
    return (psi.conj() @ (C + C.conj().T) @ psi).real


def iterated(x: Any) -> Any:
    z = 0j
    for k in range(3):
        z = z * z + (x[k] + 1j * x[3]) * 0.3
    return abs(z)


def elementary(x: Any) -> Any:
    z = x + 0.5j
    many = np.sin(z) + np.cos(z) * np.tan(z) + np.tanh(z) * np.sinh(z) - np.cosh(z) + np.sqrt(z)
    return np.real((many + np.log(z) + z**0.7 + 2 ** (1j * x) + np.expm1(z)) * W).sum()


def solved(x: Any) -> Any:
    a = np.diag(x) + C
    return np.abs(np.linalg.solve(a, W)).sum() + np.abs(np.linalg.inv(a)[0, 1])


PROGRAMS = [spectrum, filtered, image, impedance, energy, iterated, elementary, solved]


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f: Callable[[Any], Any]) -> None:
    value, gradient = sg.value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-13)
    step = 1e-6
    want = [(f(X + step * e) - f(X - step * e)) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(gradient, want, rtol=1e-6, atol=1e-8)


def test_second_derivatives_and_batches() -> None:
    hessian = sg.hessian(spectrum)(X)
    np.testing.assert_allclose(hessian, sg.jacobian(sg.grad(spectrum))(X), atol=1e-12)
    rows = np.stack([X, 2 * X])
    np.testing.assert_allclose(
        sg.vmap(sg.grad(filtered))(rows), [sg.grad(filtered)(each) for each in rows], rtol=1e-12
    )
    ahead = sg.jacobian(lambda x: np.abs(np.fft.fft(x)), mode="forward")(X)
    np.testing.assert_allclose(ahead, sg.jacobian(lambda x: np.abs(np.fft.fft(x)))(X), atol=1e-13)


def test_the_gradient_of_a_power_spectrum_is_one_transform_back() -> None:
    graph = sg.trace(spectrum, x=4).gradient("x").simplify()
    assert [node.op.name for node in graph.nodes].count("fourier") == 2
    assert graph.op_count() <= 7


def test_loops_carry_pairs() -> None:
    def turned(x: Any) -> Any:
        last, _ = sg.scan(lambda z, t: (z * np.exp(1j * t), z), 1j * x[0], x)
        chosen = sg.cond(x[0] > 0, lambda z: z * 1j, lambda z: z + 1, last)
        return chosen.real

    np.testing.assert_allclose(
        sg.value_and_grad(turned)(X)[0], (1j * 1j * X[0] * np.exp(1j * X.sum())).real
    )


@pytest.mark.parametrize(
    ("backend", "package"),
    [
        ("native", "llvmlite"),
        pytest.param("jax", "jax", marks=pytest.mark.oracle),
        pytest.param("torch", "torch", marks=pytest.mark.oracle),
    ],
)
def test_other_engines(backend: str, package: str) -> None:
    pytest.importorskip(package)
    graph = sg.trace(spectrum, x=4).gradient("x").simplify()
    for found, want in zip(graph.lower(backend)(x=X), graph.lower()(x=X), strict=True):
        np.testing.assert_allclose(np.asarray(found), want, rtol=1e-12)


def test_source_that_is_written_runs() -> None:
    namespace: dict[str, Any] = {}
    exec(sg.trace(spectrum, x=4).to_python(), namespace)
    np.testing.assert_allclose(namespace["function"](np, x=X), spectrum(X))


# -- results ---------------------------------------------------------------------------------------
def test_a_graph_has_the_parts_as_results() -> None:
    graph = sg.trace(lambda x: np.exp(1j * x), x=4)
    assert list(graph.outputs) == ["real", "imag"]
    np.testing.assert_array_equal(graph.lower()(x=X)["imag"], np.sin(X))


def test_transformed_functions_give_complex_numbers() -> None:
    found = sg.vmap(lambda x: np.fft.fft(x))(np.stack([X, X]))
    np.testing.assert_allclose(found, np.fft.fft(np.stack([X, X])))


# -- values, not memory ----------------------------------------------------------------------------
def test_a_pair_keeps_its_values_when_an_array_is_written() -> None:
    def f(x: Any) -> Any:
        y = x * 1
        z = y + 1j * x
        y[0] = 5.0
        return np.real(z) + 0 * y

    np.testing.assert_array_equal(sg.trace(f, x=4).lower()(x=X), X)


def _written(x: Any) -> Any:
    z = x + 1j * x
    z.real[0] = 1.0
    return z.real


def _in_place(x: Any) -> Any:
    z = x + 1j * x
    z *= 2
    return z.real


def _into_real(x: Any) -> Any:
    y = x * 1
    y *= 1j
    return y


def _into_numbers(x: Any) -> Any:
    z = np.zeros(4, complex)
    z[0] = x[0]
    return z


REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (_written, "part of a complex array"),
    (_in_place, r"z = z \* w"),
    (_into_real, "cannot hold complex"),
    (_into_numbers, "np.stack"),
    (lambda x: (1j * x).__setitem__(0, 1), "np.where"),
    (lambda x: np.max(1j * x), "np.max"),
    (lambda x: (1j * x).max(), "z.max"),
    (lambda x: 1j * x < 2, "np.less"),
    (lambda x: np.floor(1j * x), "np.floor"),
    (lambda x: float(1j * x[0]), "z.real"),
    (lambda x: x if 1j * x[0] else 0, "np.where"),
    (lambda x: np.array([1j * x[0], x[1]]), "np.stack"),
    (lambda x: (1j * x).astype(float), "z.real or z.imag"),
    (lambda x: np.linalg.norm(np.outer(x, 1j * x), 2), "order 2"),
    (lambda x: np.linalg.det(np.diag(1j * x)), "np.det"),
    (lambda x: np.einsum(x, [0], 1j * x, [0]), "as a text"),
    (lambda x: np.fft.fft(x, norm="all"), "backward"),
    (lambda x: np.fft.fft(x[0]), "needs an axis"),
    (lambda x: np.fft.fft(x, axis=2), "needs an axis"),
    (lambda x: np.fft.irfft(x[:1]), "has none"),
    (lambda x: np.add.reduce(1j * x), "np.add.reduce"),
    (lambda x: np.sum(1j * x, initial=5.0), "initial="),
    (lambda x: (1j * x).sum(0, None, None, False, 5.0), "initial="),
    (lambda x: np.diff(1j * x, prepend=1.0), "prepend="),
    (lambda x: np.diff(1j * x, 1, 0, 1.0), "prepend="),
    (lambda x: np.pad(1j * x, 1, constant_values=5), "constant_values="),
    (lambda x: np.pad(1j * x, 1, mode="maximum"), "mode='maximum'"),
    (lambda x: np.fft.fft(1j * x, out=np.zeros(4, complex)), "out="),
    (lambda x: np.fft.fft(x, 0), "has none"),
    (lambda x: snp.sigmoid(1j * x), "sigmoid of complex numbers"),
]


@pytest.mark.parametrize(("f", "told"), REFUSED)
def test_what_pairs_have_no_meaning_for_is_refused(f: Callable[[Any], Any], told: str) -> None:
    with pytest.raises(sg.SymgraphError, match=told):
        sg.trace(f, x=4)


def test_results_of_gradients_are_real_and_errors_say_what_to_do() -> None:
    with pytest.raises(sg.SymgraphError, match=r"np\.abs\(z\)"):
        sg.grad(lambda x: np.sum(np.exp(1j * x)))(X)


def test_numbers_count_up_in_place() -> None:
    def f(x: Any) -> Any:
        total = x[0] * 1j
        for k in range(3):
            total += x[k] * 2
        return total.real

    np.testing.assert_allclose(sg.trace(f, x=4).lower()(x=X), 2 * X[:3].sum())


def test_functions_of_symgraph_take_pairs_too() -> None:
    def f(x: Any) -> Any:
        return snp.sum(snp.stack([1j * x, x])).imag + snp.array([1j * x[0], x[1]])[0].imag

    graph = sg.trace(f, x=4)
    np.testing.assert_allclose(graph.lower()(x=X), X.sum() + X[0])
