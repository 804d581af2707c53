"""Complex arguments of transformed functions, of loops and of branches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.pytrees import tree_map

RNG = np.random.default_rng(5)
Complex = np.ndarray[Any, np.dtype[np.complex128]]


def drawn(*shape: int) -> Complex:
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


A = drawn(3, 3)
Z, V = drawn(3), drawn(3)


def power(z: Any) -> Any:
    return np.sum(np.abs(A @ np.exp(z)) ** 2)


def phase_retrieval(z: Any) -> Any:
    return np.sum((np.abs(np.fft.fft(z)) ** 2 - np.arange(3)) ** 2)


def overlap(z: Any) -> Any:
    return np.abs(np.vdot(z, A @ z)) / np.vdot(z, z).real


def solved(z: Any) -> Any:
    return np.sum(np.angle(np.linalg.solve(A + np.diag(z), V)))


PROGRAMS = [power, phase_retrieval, overlap, solved]


def by_parts(f: Callable[[Any], Any], z: Any, step: float = 1e-6) -> Any:
    """∂f/∂x + i ∂f/∂y by central differences, for z = x + iy."""
    units = np.eye(len(z))
    found = [
        (f(z + step * unit * e) - f(z - step * unit * e)) / (2 * step)
        for unit in (1, 1j)
        for e in units
    ]
    return np.array(found[: len(z)]) + 1j * np.array(found[len(z) :])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_have_the_derivatives_by_both_parts(f: Callable[[Any], Any]) -> None:
    value, gradient = sg.value_and_grad(f)(Z)
    np.testing.assert_allclose(value, f(Z), rtol=1e-12)
    np.testing.assert_allclose(gradient, by_parts(f, Z), rtol=1e-6, atol=1e-7)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_hessian_vector_products(f: Callable[[Any], Any]) -> None:
    gradient, step = sg.grad(f), 1e-6
    modes: tuple[Literal["reverse", "forward"], ...] = ("reverse", "forward")
    want = (gradient(Z + step * V) - gradient(Z - step * V)) / (2 * step)
    for mode in modes:
        np.testing.assert_allclose(sg.hvp(f, mode=mode)(Z, v=V), want, rtol=1e-5, atol=1e-5)


def test_a_step_against_the_gradient_descends() -> None:
    z, before = Z, phase_retrieval(Z)
    for _ in range(20):
        z = z - 1e-3 * sg.grad(phase_retrieval)(z)
    assert phase_retrieval(z) < before


def test_directions_of_a_holomorphic_function() -> None:
    def f(z: Any) -> Any:
        return A @ np.sin(z)

    value, tangent = sg.jvp(f)(Z, tangent=V)
    np.testing.assert_allclose(value, f(Z))
    np.testing.assert_allclose(tangent, A @ (np.cos(Z) * V))
    _, cotangent = sg.vjp(f)(Z, cotangent=V)
    np.testing.assert_allclose(cotangent, np.conj(np.cos(Z)) * (A.conj().T @ V))


def test_jacobians_with_one_complex_side() -> None:
    rows = sg.jacobian(lambda z: np.abs(A @ z))(Z)
    want = [by_parts(lambda z, i=i: np.abs(A @ z)[i], Z) for i in range(3)]
    np.testing.assert_allclose(rows, want, rtol=1e-6, atol=1e-8)
    found = sg.jacobian(lambda p: np.exp(1j * p["a"]) * p["b"])({"a": np.ones(2), "b": 2.0})
    np.testing.assert_allclose(found["a"], np.diag(2j * np.exp(1j * np.ones(2))))
    np.testing.assert_allclose(found["b"], np.exp(1j * np.ones(2)))
    pair = sg.jacobian(lambda a, b: np.exp(1j * a) * b, wrt=("a", "b"))(np.ones(2), 2.0)
    np.testing.assert_allclose(pair[0], found["a"])


@pytest.mark.parametrize("transform", [sg.hessian, sg.jacobian])
def test_blocks_of_parts_by_parts_are_refused(transform: Any) -> None:
    f = power if transform is sg.hessian else lambda z: A @ z
    with pytest.raises(sg.InputError, match=r"(?s)block for each part.*wrt=\(0, 1\)"):
        transform(f)(Z)
    by_re = transform(lambda re, im: f(re + 1j * im), wrt=(0, 1))(Z.real, Z.imag)
    assert np.shape(by_re[0][0]) in ((3,), (3, 3))


@dataclass
class Wave:
    amplitude: Any
    frequency: Any


def test_containers_numbers_and_dtypes() -> None:
    def f(wave: Any) -> Any:
        return np.sum(np.abs(wave.amplitude * np.exp(1j * wave.frequency) - 1) ** 2)

    wave = Wave(Z, np.ones(3))
    found = sg.grad(f)(wave)
    np.testing.assert_allclose(
        found.amplitude, by_parts(lambda z: f(Wave(z, wave.frequency)), Z), rtol=1e-6
    )
    assert found.frequency.dtype == np.float64
    single = sg.grad(power)(Z.astype(np.complex64))
    assert single.dtype == np.complex64
    assert sg.grad(lambda z: abs(2 * z) ** 2)(1 + 2j) == 8 + 16j
    mixed = sg.vmap(lambda x, z: x * z, in_axes=(0, None))(np.ones(2, np.float32), 1 + 2j)
    np.testing.assert_array_equal(mixed, [1 + 2j] * 2)
    assert mixed.dtype == np.complex64


def test_infinite_parts_come_back_as_they_are() -> None:
    found = sg.vmap(lambda x: 1 + 1j * x)(np.array([np.inf, -np.inf, 2.0]))
    np.testing.assert_array_equal(found.real, 1.0)
    np.testing.assert_array_equal(found.imag, [np.inf, -np.inf, 2.0])


def test_batches_inside_and_outside() -> None:
    rows = np.stack([Z, V, Z + V])
    each = sg.vmap(sg.grad(overlap))(rows)
    np.testing.assert_allclose(each, [sg.grad(overlap)(z) for z in rows], rtol=1e-9)
    whole = sg.grad(lambda rows: np.sum(sg.vmap(overlap)(rows)))(rows)
    np.testing.assert_allclose(whole, each, rtol=1e-9)


def test_loops_carry_complex_numbers() -> None:
    def turned(c: Any, t: Any) -> Any:
        return c * np.exp(1j * t), np.abs(c)

    times = np.array([0.1, 0.2, 0.3])
    last, sizes = sg.scan(turned, 1 + 1j, times)
    np.testing.assert_allclose(last, (1 + 1j) * np.exp(0.6j))
    np.testing.assert_allclose(sizes, np.sqrt(2))
    slope = sg.grad(lambda t: np.real(sg.scan(turned, 1 + 1j, t)[0]))(times)
    np.testing.assert_allclose(slope, np.real(1j * (1 + 1j) * np.exp(0.6j)) * np.ones(3))
    assert sg.while_loop(lambda c: np.abs(c) < 10, lambda c: c * (1 + 1j), 1 + 0j) == 8 - 8j
    assert sg.fori_loop(3, lambda i, c: c * c + i * Z[0], 0j) == (Z[0] ** 2) + 2 * Z[0]
    with pytest.raises(sg.TraceError, match=r"init \+ 0j"):
        sg.grad(lambda t: np.real(sg.scan(turned, 1.0, t)[0]))(times)


def test_branches_of_complex_numbers() -> None:
    def f(z: Any) -> Any:
        return np.abs(sg.cond(z.real > 0, lambda z: z * z, lambda z: 1j * z, z))

    for z in (2 + 1j, -2 + 1j):
        want = by_parts(lambda v: np.abs(v[0] ** 2 if v[0].real > 0 else v[0]), np.array([z]))
        np.testing.assert_allclose(sg.grad(f)(z), want[0], rtol=1e-6)


def test_functions_of_symgraph_take_pairs_and_leave_numbers_to_numpy() -> None:
    found = sg.vmap(lambda z: snp.linalg.solve(A, snp.exp(z)))(Z[None])[0]
    np.testing.assert_allclose(found, np.linalg.solve(A, np.exp(Z)))
    np.testing.assert_array_equal(snp.exp(A), np.exp(A))
    np.testing.assert_array_equal(snp.linalg.inv(A), np.linalg.inv(A))
    with pytest.raises(sg.DTypeError, match="complex"):
        snp.softmax(A)


def test_a_model_of_complex_numbers_runs_without_a_graph() -> None:
    def layers(d: Any) -> Any:  # thin films by their characteristic matrices
        found = snp.eye(2, dtype="complex128")
        for k, n in enumerate((1.38, 2.1, 1.6)):
            c, s = np.cos(n * d[k]), np.sin(n * d[k])
            found = found @ snp.array([[c, 1j * s / n], [1j * n * s, c]])
        b, c = found @ np.array([1.0, 1.52])
        return np.abs((b - c) / (b + c)) ** 2

    d = np.array([0.9, 0.6, 1.1])
    value, slope = sg.value_and_grad(layers)(d)
    np.testing.assert_allclose(value, layers(d), rtol=1e-14)
    steps = 1e-5 * np.eye(3)
    differences = [(layers(d + step) - layers(d - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(slope, differences, rtol=1e-8)
    for made in (snp.zeros(2, complex), snp.full((2,), 0j), snp.zeros_like(d[:2], np.complex128)):
        made[0] = 1j
        np.testing.assert_array_equal(made, [1j, 0])


def test_complex_values_are_joined_and_not_written() -> None:
    def written(into: Any) -> Any:
        def f(x: Any) -> Any:
            made = into()
            made[0] = np.sum(x) * 1j
            return np.sum(np.abs(made))

        return f

    for into in (lambda: snp.zeros(2), lambda: snp.zeros(2, complex), lambda: np.zeros(2)):
        with pytest.raises(sg.SymgraphError, match=r"(?s)test_arguments.*[Jj]oin complex values"):
            sg.grad(written(into))(np.ones(3))


def test_an_objective_of_complex_parameters() -> None:
    objective = sg.flat_objective(phase_retrieval, Z)
    assert objective.x0.dtype == np.float64
    assert objective.x0.shape == (6,)
    value, gradient = objective(objective.x0)
    np.testing.assert_allclose(value, phase_retrieval(Z))
    np.testing.assert_allclose(objective.unflatten(gradient), sg.grad(phase_retrieval)(Z))
    hessian = objective.hessian(objective.x0)
    want = [objective.hessp(objective.x0, row) for row in np.eye(6)]
    np.testing.assert_allclose(hessian, want, atol=1e-9)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(sg.InputError, match=r"tangent=v \+ 0j"):
        sg.jvp(lambda z: A @ z)(Z, tangent=np.ones(3))
    with pytest.raises(sg.InputError, match=r"z\.real or z\.imag"):
        sg.grad(power, assume={"z": sg.positive})(Z)
    found = sg.grad(power, assume={"z.real": sg.positive})(np.abs(Z) + 1j)
    np.testing.assert_allclose(found, sg.grad(power)(np.abs(Z) + 1j))
    with pytest.raises(sg.DTypeError, match=r"sg\.grad and its kin take complex"):
        sg.trace(power, Z)


def test_functions_are_cached_by_their_parts() -> None:
    gradient = sg.grad(power)
    gradient(Z)
    gradient(V)
    assert gradient.cached == ["z.real: float64[3], z.imag: float64[3]"]
    assert gradient.cache_info().hits == 1


def test_leaves_of_maps_are_whole_and_norms_are_of_both_parts() -> None:
    tree = {"z": Z, "x": np.ones(2)}
    assert tree_map(np.abs, tree)["z"].shape == (3,)
    np.testing.assert_array_equal(tree_map(np.abs, tree)["z"], np.abs(Z))
    assert tree_map(abs, [3 + 4j, np.complex64(3 + 4j)]) == [5, 5]
    stepped = tree_map(lambda p, g: p - 0.1 * g, tree, sg.grad(lambda t: power(t["z"]))(tree))
    np.testing.assert_allclose(stepped["z"], Z - 0.1 * sg.grad(power)(Z))
    np.testing.assert_allclose(sg.global_norm([Z]), np.linalg.norm(Z))
    np.testing.assert_allclose(np.linalg.norm(sg.clip_by_norm(Z, 0.5)), 0.5)
    clipped = sg.clip_by_value(Z, -0.1, 0.1)
    np.testing.assert_array_equal(clipped.imag, np.clip(Z.imag, -0.1, 0.1))
