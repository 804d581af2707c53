"""Kernels of matrix equations: residuals, both algorithms, stacks, and what has no solution."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import linalg

from symgraph.namespace import NUMPY
from symgraph.namespace.matrix_equations import riccati, root, stein, sylvester

pytestmark = pytest.mark.usefixtures("drawn_anew")

RNG = np.random.default_rng(3)
LARGE = 9
"""Rows of matrices whose equations are solved by LAPACK; those of up to six rows are one system."""


def _regular(*shape: int) -> Any:
    return RNG.normal(size=(*shape, shape[-1])) / shape[-1] ** 0.5 + 3 * np.eye(shape[-1])


def _definite(*shape: int) -> Any:
    x = RNG.normal(size=(*shape, shape[-1]))
    return x @ x.mT / shape[-1] + np.eye(shape[-1])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 2), (6, 6), (7, 6), (LARGE, LARGE), (40, 3)])
def test_what_is_found_solves_the_equation(m: int, n: int, dtype: str) -> None:
    a, b, q = (
        each.astype(dtype)
        for each in (_regular(2, 1, m), _regular(3, n), RNG.normal(size=(2, 3, m, n)))
    )
    rounding = 30 * np.finfo(dtype).eps
    found = sylvester(NUMPY, a, b, q)
    assert (found.dtype, found.shape) == (q.dtype, q.shape)
    atol = rounding * np.linalg.norm(found) * np.linalg.norm(a)
    np.testing.assert_allclose(a @ found + found @ b, q, rtol=0, atol=atol)
    found = stein(NUMPY, a / 9, b, q)
    assert (found.dtype, found.shape) == (q.dtype, q.shape)
    atol = rounding * np.linalg.norm(found) * np.linalg.norm(a) * np.linalg.norm(b)
    np.testing.assert_allclose(a / 9 @ found @ b + q, found, rtol=0, atol=atol)


def test_many_small_equations_are_solved_in_parts() -> None:
    a, q = _regular(200, 6), RNG.normal(size=(200, 6, 6))
    for function in (sylvester, stein):
        found = function(NUMPY, a / 9, a.mT, q)
        one = function(NUMPY, a[150] / 9, a[150].T, q[150])
        np.testing.assert_allclose(found[150], one, rtol=1e-13)


@pytest.mark.parametrize("values", [(-1.0, 0.5), (-1 + 1e-9, 0.5), (1.0, 0.5), (-1.0, 1.0)])
def test_eigenvalues_near_one_cost_no_digits(values: tuple[float, float]) -> None:
    """A bilinear map has a pole at -1 or at 1."""
    turn = RNG.normal(size=(7, 7)) + 3 * np.eye(7)
    a = turn @ np.diag([*values, 0.3, 0.2, 0.1, 0.6, 0.7]) @ np.linalg.inv(turn)
    b, q = RNG.normal(size=(7, 7)) / 8, RNG.normal(size=(7, 7))
    found = stein(NUMPY, a, b, q)
    np.testing.assert_allclose(found - a @ found @ b, q, atol=1e-12 * np.abs(found).max())


@pytest.mark.parametrize("size", [3, LARGE])
def test_shared_eigenvalues_have_no_solution(size: int) -> None:
    one = np.eye(size)
    with pytest.raises(np.linalg.LinAlgError, match=r"[Ss]ingular"):
        sylvester(NUMPY, one, -one, one)
    with pytest.raises(np.linalg.LinAlgError, match=r"[Ss]ingular"):
        stein(NUMPY, one, one, one)


@pytest.mark.parametrize("size", [3, LARGE])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_nan_stays_in_its_matrix(size: int, bad: float) -> None:
    a, q = np.stack([_regular(size)] * 2), RNG.normal(size=(2, size, size))
    a[0, 1, 1] = bad
    with np.errstate(all="ignore"):
        for found in (sylvester(NUMPY, a, a, q), stein(NUMPY, a / 9, a, q), root(a)):
            assert not np.isfinite(found[0]).all()
            assert np.isfinite(found[1]).all()


# -- square roots ----------------------------------------------------------------------------------
def _by_mpmath(x: Any) -> Any:
    with mpmath.workdps(50):
        found = mpmath.sqrtm(mpmath.matrix(x.tolist()))
        return np.array([[float(mpmath.re(each)) for each in row] for row in found.tolist()])


@pytest.mark.parametrize("size", [1, 2, 3, 6])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_root_is_the_principal_one(size: int, dtype: str) -> None:
    eps = np.finfo(dtype).eps
    for x in (*_regular(5, size), *_definite(5, size), *np.triu(_regular(3, size))):
        x = x.astype(dtype)
        found, wanted = root(x), _by_mpmath(x)
        assert found.dtype == x.dtype
        np.testing.assert_allclose(found, wanted, rtol=0, atol=200 * eps * np.abs(wanted).max())


def test_a_root_of_a_symmetric_matrix_is_symmetric_to_the_bit() -> None:
    found = root(_definite(7, 5))
    np.testing.assert_array_equal(found, found.mT)


NO_ROOT = {
    "negative": [[-1.0]],
    "one negative": [[1.0, 0.0], [0.0, -1e-10]],
    "one negative, not symmetric": [[1.0, 1.0], [0.0, -1e-10]],
    "of real ones, none is principal": [[-1.0, 0.0], [0.0, -1.0]],
    "nilpotent": [[0.0, 1.0], [0.0, 0.0]],
    "in part nilpotent": [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    "NaN": [[np.nan, 0.0], [0.0, 1.0]],
    "infinite": [[np.inf, 0.0], [0.0, 1.0]],
}


@pytest.mark.parametrize("name", NO_ROOT)
def test_where_there_is_no_real_root_there_is_nan(name: str) -> None:
    x = np.array(NO_ROOT[name])
    found = root(np.stack([x, np.eye(len(x))]))
    assert np.isnan(found[0]).all()
    np.testing.assert_array_equal(found[1], np.eye(len(x)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_eigenvalue_that_is_negative_by_rounding_counts_as_zero(dtype: str) -> None:
    """Of covariances of few samples, and of their products, where SciPy's root is complex."""
    eps = np.finfo(dtype).eps
    for _ in range(20):
        one, other = RNG.normal(size=(2, 6, 3))
        for x in (one @ one.T, one @ one.T @ other @ other.T):
            x = x.astype(dtype)
            found = root(x).astype(float)
            size = np.linalg.norm(found) ** 2
            np.testing.assert_allclose(found @ found, x, rtol=0, atol=100 * eps * size)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_a_root_at_the_ends_of_the_range(scale: float) -> None:
    for x in (_regular(4), _definite(4)):
        np.testing.assert_allclose(root(scale * x), scale**0.5 * root(x), rtol=1e-12)


# -- Riccati's equations ---------------------------------------------------------------------------
@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 2), (6, 1)])
def test_the_solution_stabilizes(n: int, m: int, discrete: bool) -> None:
    a, b = RNG.normal(size=(n, n)), RNG.normal(size=(n, m))
    q, r = _definite(n), _definite(m)
    x = riccati(a, b, q, r, discrete=discrete)
    np.testing.assert_array_equal(x, x.T)
    if discrete:
        gain = np.linalg.solve(r + b.T @ x @ b, b.T @ x @ a)
        rest = a.T @ x @ a - a.T @ x @ b @ gain + q - x
        assert np.abs(np.linalg.eigvals(a - b @ gain)).max() < 1
    else:
        gain = np.linalg.solve(r, b.T @ x)
        rest = a.T @ x + x @ a - x @ b @ gain + q
        assert np.linalg.eigvals(a - b @ gain).real.max() < 0
    np.testing.assert_allclose(rest, 0, atol=1e-10 * np.abs(x).max())


@pytest.mark.parametrize("discrete", [False, True])
def test_only_symmetric_parts_of_weights_count(discrete: bool) -> None:
    a, b, q, r = _regular(3), RNG.normal(size=(3, 2)), _definite(3), _definite(2)
    solver = linalg.solve_discrete_are if discrete else linalg.solve_continuous_are
    odd = np.triu(np.ones((3, 3)), 1)
    found = riccati(a, b, q + odd - odd.T, r, discrete=discrete)
    wanted = solver(a, b, q, r)
    np.testing.assert_allclose(found, wanted, atol=1e-10 * np.abs(wanted).max())
    single = [each.astype("float32") for each in (a, b, q, r)]
    found = riccati(*single, discrete=discrete)
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, solver(a, b, q, r), rtol=1e-4)


@pytest.mark.parametrize("discrete", [False, True])
def test_a_system_that_no_control_reaches(discrete: bool) -> None:
    one = np.array([[2.0]])
    with pytest.raises(np.linalg.LinAlgError, match="finite solution"):
        riccati(one, 0 * one, one, one, discrete=discrete)
    stack = np.stack([one, one * np.nan])
    found = riccati(one, one, stack, one, discrete=discrete)
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1]).all()
