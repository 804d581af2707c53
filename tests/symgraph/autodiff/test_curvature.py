"""Hessians by halves, Jacobians of clipped gradients, and both through operations of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

RNG = np.random.default_rng(5)
A, B, C = RNG.normal(size=(2, 3)), RNG.normal(size=3), RNG.normal()


def three(a: Any, b: Any, c: Any) -> Any:
    return np.sum(np.tanh(a * b + c)) * np.sum(b**2) + np.exp(c) * np.sum(np.sin(a))


def numeric(f: Any, x: np.ndarray[Any, Any], step: float = 1e-4) -> Any:
    """The Jacobian by central differences of fourth order."""
    columns = []
    for index in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[index] = step
        near = np.asarray(f(x + e) - f(x - e))
        far = np.asarray(f(x + 2 * e) - f(x - 2 * e))
        columns.append((8 * near - far) / (12 * step))
    found = np.moveaxis(np.array(columns), 0, -1)
    return found.reshape((*np.shape(columns[0]), *x.shape))


def test_blocks_beside_the_diagonal_are_transposes() -> None:
    given = {"a": A, "b": B, "c": np.array(C)}
    graph = sg.trace(three, a=(2, 3), b=(3,), c=())
    hessian = graph.hessian("a", "b", "c", value=False)
    blocks = hessian.evaluate(given)
    gradient = graph.gradient("a", "b", "c", value=False).lower()
    for i, one in enumerate(given):
        for j, other in enumerate(given):
            want = numeric(lambda x, o=other, i=i: gradient(**{**given, o: x})[i], given[other])
            np.testing.assert_allclose(blocks[i][j], want, rtol=1e-7, atol=1e-8)
            assert blocks[i][j].shape == (*given[one].shape, *given[other].shape)
    outputs = hessian.dag.outputs
    assert outputs[3].operands == (outputs[1],)
    assert outputs[6] is outputs[2]  # The transpose of a row of numbers is the row.
    assert outputs[7] is outputs[5]
    said = [entry for entry in str(hessian.explain()).splitlines() if "symmetry" in entry]
    assert len(said) == 3


def test_derivatives_of_users_are_not_taken_for_symmetric() -> None:
    @sg.custom_vjp
    def product(x: Any, y: Any) -> Any:
        return x * y

    @product.backward
    def _(ct: Any, out: Any, x: Any, y: Any) -> Any:
        return ct * 2 * y, ct * x

    graph = sg.trace(lambda x, y: product(x, y), x=(), y=()).hessian("x", "y", value=False)
    (_, upper), (lower, _) = graph.evaluate(x=1.0, y=1.0)
    assert (upper, lower) == (2.0, 1.0)


def test_clipped_gradients_are_clipped_in_every_jacobian() -> None:
    graph = sg.trace(lambda x: np.sum(snp.clip_gradient(3 * x, high=0.5)) + 0 * x[:1], x=(4,))
    for mode in (None, "reverse"):
        jacobian = graph.jacobian("x", value=False, mode=mode).evaluate(x=np.ones(4))
        np.testing.assert_allclose(jacobian, np.full((1, 4), 1.5))
    forward = graph.jacobian("x", value=False, mode="forward").evaluate(x=np.ones(4))
    np.testing.assert_allclose(forward, np.full((1, 4), 3.0))


# -- through operations that work on windows, systems and loops ------------------------------------
KERNEL = RNG.normal(size=(2, 2, 2))


def by_scan(x: Any) -> Any:
    return sg.scan(lambda c, row: (np.tanh(c + row), c * row), x[0], x)[1]


def by_while(x: Any) -> Any:
    return sg.while_loop(lambda c: c[1] < 3, lambda c: (np.sin(c[0]), c[1] + 1), (x, 0))[0]


def by_cond(x: Any) -> Any:
    return sg.cond(np.sum(x) > -100, lambda x: x**3, lambda x: x, x)


FUNCTIONS = {
    "convolution": (lambda x: snp.conv1d(x[None], KERNEL), (2, 4)),
    "stride": (lambda x: snp.conv1d(x[None], KERNEL, stride=2, padding=1), (2, 4)),
    "max_pool": (lambda x: snp.max_pool1d(x, 2, ceil_mode=True) ** 2, (2, 3)),
    "avg_pool": (lambda x: snp.avg_pool1d(x, 2, ceil_mode=True) ** 2, (2, 3)),
    "convolve": (lambda x: np.convolve(x, x[:2]), (4,)),
    "solve": (lambda x: np.linalg.solve(x + 3 * np.eye(3), x[0]), (3, 3)),
    "triangular": (lambda x: snp.linalg.solve_triangular(x + 3 * np.eye(3), x), (3, 3)),
    "cross": (lambda x: np.cross(x, x[::-1] ** 2), (2, 3)),
    "scan": (by_scan, (3, 2)),
    "while": (by_while, (3,)),
    "cond": (by_cond, (3,)),
    "fixed_point": (lambda x: sg.fixed_point(lambda z: np.cos(z + x) / 3, x), (3,)),
    "root": (lambda x: sg.root(lambda z: z**3 + z - x, x), (3,)),
    "cg": (lambda x: sg.cg(lambda v: v * (2 + x * x) + np.sum(x * v) * x, np.sin(x)), (3,)),
}


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobians_and_hessians(name: str) -> None:
    f, shape = FUNCTIONS[name]
    x = RNG.normal(size=shape)
    graph = sg.trace(lambda x: f(x), x=sg.spec(shape))
    run = graph.lower()
    modes = ("forward",) if name == "while" else ("reverse", "forward")
    want = numeric(lambda x: run(x=x), x)
    for mode in (None, *modes):
        found = graph.jacobian("x", value=False, mode=mode).lower()(x=x)
        np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-8)
    if name == "while":
        return
    total = sg.trace(lambda x: np.sum(np.sin(f(x))), x=sg.spec(shape))
    gradient = total.gradient("x", value=False).lower()
    hessian = total.hessian("x", value=False).lower()(x=x)
    np.testing.assert_allclose(hessian, numeric(lambda x: gradient(x=x), x), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        hessian.reshape(x.size, x.size), hessian.reshape(x.size, x.size).T, atol=1e-9
    )


@pytest.mark.parametrize("name", ["convolution", "max_pool", "avg_pool", "cross", "solve"])
def test_batches_are_kept_apart(name: str) -> None:
    """The Jacobian of a batched map is diagonal along the batch: no seeds for it."""
    f, shape = FUNCTIONS[name]
    if name == "convolution":
        f, shape = (lambda x: snp.conv1d(x, KERNEL)), (2, 4)
    matrices = np.stack([np.eye(3) * (k + 1) for k in range(5)])
    if name == "solve":
        f, shape = (lambda x: np.linalg.solve(matrices, x)), (3, 2)
    graph = sg.trace(lambda x: f(x), x=sg.spec((5, *shape))).jacobian("x", value=False)
    assert "diagonal along axes" in str(graph.explain())
    x = RNG.normal(size=(5, *shape))
    one = sg.trace(lambda x: f(x), x=sg.spec((5, *shape))).lower()
    np.testing.assert_allclose(
        graph.lower()(x=x), numeric(lambda x: one(x=x), x), rtol=1e-6, atol=1e-8
    )
