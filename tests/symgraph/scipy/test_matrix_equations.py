"""SciPy's matrix equations on symbols: values, derivatives, other engines, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import symgraph as sg
from symgraph.scipy import linalg
from symgraph.testing import check_grads

pytestmark = pytest.mark.usefixtures("drawn_anew")

RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 2))
E, S = np.eye(3) + 0.1 * A, 0.1 * B
Q, R = np.diag([1.0, 2.0, 3.0]), np.array([[2.0, 0.5], [0.5, 1.0]])
RICCATI = ["solve_continuous_are", "solve_discrete_are"]
DESCRIPTORS = [(None, None), (E, None), (None, S), (E, S)]


@pytest.mark.parametrize("name", RICCATI)
@pytest.mark.parametrize(("e", "s"), DESCRIPTORS)
def test_riccatis_equations_are_scipys(name: str, e: Any, s: Any) -> None:
    found = getattr(linalg, name)(A, B, Q, R, e, s)
    wanted = getattr(scipy.linalg, name)(A, B, Q, R, e, s)
    np.testing.assert_allclose(found, wanted, rtol=1e-11)


@pytest.mark.parametrize("name", RICCATI)
@pytest.mark.parametrize(("e", "s"), DESCRIPTORS)
def test_every_matrix_of_riccatis_equations_has_a_derivative(name: str, e: Any, s: Any) -> None:
    a = A / 9 - (np.eye(3) if "continuous" in name else 0)
    given = [a, B + np.eye(3, 2), Q, R, *[each for each in (e, s) if each is not None]]

    def cost(a: Any, b: Any, q: Any, r: Any, *rest: Any) -> Any:
        others = iter(rest)
        more = [None if each is None else next(others) for each in (e, s)]
        return np.sum(np.sin(getattr(linalg, name)(a, b, q, r, *more) / 9))

    check_grads(cost, *given, order=2 if e is None else 1, analytic=False, tolerance=1e-6)


def test_the_gain_of_a_regulator_is_differentiated_through() -> None:
    """The cost of the optimal feedback has the slopes that perturbed systems give."""

    def cost(b: Any) -> Any:
        x = linalg.solve_discrete_are(A, b, Q, R)
        gain = np.linalg.solve(R + b.T @ x @ b, b.T @ x @ A)
        return np.sum(gain**2)

    (slope,), step = sg.trace(cost, b=sg.spec("3, 2")).gradient("b").evaluate(b=B)[1:], 1e-6
    for place in np.ndindex(B.shape):
        moved = np.zeros(B.shape)
        moved[place] = step
        difference = (cost(B + moved) - cost(B - moved)) / (2 * step)
        assert slope[place] == pytest.approx(difference, rel=1e-6, abs=1e-7)


def test_the_trace_of_a_root_has_half_the_inverse_root_for_a_slope() -> None:
    x = A @ A.T + np.eye(3)
    slope = sg.grad(lambda x: np.trace(linalg.sqrtm(x)))(x)
    np.testing.assert_allclose(slope, np.linalg.inv(scipy.linalg.sqrtm(x)) / 2, rtol=1e-12)


def test_equal_eigenvalues_do_no_harm_to_a_root() -> None:
    slope = sg.grad(lambda x: np.sum(linalg.sqrtm(x)))(4 * np.eye(3))
    np.testing.assert_allclose(slope, np.full((3, 3), 0.25), rtol=1e-14)


def test_a_root_that_is_not_real_has_nan_slopes() -> None:
    slope = sg.grad(lambda x: np.sum(linalg.sqrtm(x)))(np.diag([1.0, -1.0]))
    assert np.isnan(slope).all()


PROGRAMS: dict[str, Callable[..., Any]] = {
    "sqrtm": lambda a, b: linalg.sqrtm(a @ a.T + np.eye(3)) @ b,
    "solve_sylvester": lambda a, b: linalg.solve_sylvester(a, 3 * np.eye(2), b),
    "solve_continuous_lyapunov": lambda a, b: linalg.solve_continuous_lyapunov(a, b @ b.T),
    "solve_discrete_lyapunov": lambda a, b: linalg.solve_discrete_lyapunov(a / 9, b @ b.T),
    "solve_continuous_are": lambda a, b: linalg.solve_continuous_are(a, b, Q, R),
    "solve_discrete_are": lambda a, b: linalg.solve_discrete_are(a, b, Q, R),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("backend", ["jax", "torch", "native"])
def test_other_engines_give_the_same_gradient(name: str, backend: Any) -> None:
    pytest.importorskip({"native": "numba"}.get(backend, backend))
    graph = sg.trace(
        lambda a, b: np.sum(np.sin(PROGRAMS[name](a, b))), a=sg.spec("3, 3"), b=sg.spec("3, 2")
    ).gradient("a", "b")
    wanted = graph.evaluate(a=A, b=B)
    found = graph.lower(backend)(a=A, b=B)
    for one, other in zip((found[0], *found[1]), (wanted[0], *wanted[1]), strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9, atol=1e-12)


def test_a_compiled_program_gives_nan_where_there_is_no_solution() -> None:
    pytest.importorskip("jax")
    graph = sg.trace(lambda b: linalg.solve_continuous_are(2 * Q, b, Q, R), b=sg.spec("3, 2"))
    with pytest.raises(np.linalg.LinAlgError, match="finite solution"):
        graph.lower()(b=0 * B)
    assert np.isnan(graph.lower("jax")(b=0 * B)).all()


def test_a_batch_is_solved_for_each() -> None:
    stack = RNG.normal(size=(4, 3, 2))
    each = sg.vmap(lambda b: linalg.solve_continuous_are(A, b, Q, R))
    found = sg.trace(each, b=sg.spec("n, 3, 2")).evaluate(b=stack)
    for one, b in zip(found, stack, strict=True):
        np.testing.assert_allclose(one, scipy.linalg.solve_continuous_are(A, b, Q, R), rtol=1e-10)
    np.testing.assert_allclose(linalg.solve_continuous_are(A, stack, Q, R), found, rtol=1e-12)


@pytest.mark.parametrize("name", RICCATI)
def test_shapes_that_do_not_fit_are_told(name: str) -> None:
    with pytest.raises(sg.ShapeError, match=r"a, b, q and r of shapes \[3, 3\], \[2, 3\]"):
        getattr(linalg, name)(A, B.T, Q, R)
    with pytest.raises(sg.ShapeError, match=r"has shape \[3, 2\], not \[2, 3\]"):
        linalg.solve_sylvester(A, np.eye(2), B.T)
    with pytest.raises(sg.ShapeError, match="square"):
        linalg.sqrtm(B)
