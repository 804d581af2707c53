"""Triangular systems by LAPACK's and BLAS's functions: SciPy's bits, memory layout and errors."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import linalg

import symgraph as sg
from symgraph.namespace import NUMPY, triangular
from symgraph.namespace.triangular import solved


@pytest.mark.sampled(one_in=16)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_one_system_has_scipys_bits(dtype: str, size: int) -> None:
    rng = np.random.default_rng(size)
    whole = (rng.normal(size=(size, size)) / size + np.eye(size)).astype(dtype)
    sides = rng.normal(size=(size, 3)).astype(dtype)
    rows, columns = np.ascontiguousarray(whole), np.asfortranarray(whole)
    for a, lower, trans, unit in product(
        (rows, columns, rows[::-1, ::-1]), (False, True), (0, 1), (False, True)
    ):
        how: Any = {"lower": lower, "trans": trans, "unit_diagonal": unit}
        for b in (sides, np.asfortranarray(sides), sides[:, 0]):
            want = linalg.solve_triangular(a, b, check_finite=False, **how)
            found = NUMPY.solve_triangular(a, b, **how)
            np.testing.assert_array_equal(found, want)
            assert (found.dtype, found.strides) == (want.dtype, want.strides)


def test_stacked_systems_are_solved_one_by_one() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(2, 3, 4, 4)) + 4 * np.eye(4)
    b = rng.normal(size=(3, 4, 2))
    found = NUMPY.solve_triangular(a, b, lower=True, trans=0, unit_diagonal=False)
    for i, j in np.ndindex(2, 3):
        want = linalg.solve_triangular(a[i, j], b[j], lower=True)
        np.testing.assert_array_equal(found[i, j], want)


@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 1), (1, 3)), ((), (2, 3)), ((2, 1), (3,)), ((1, 3), (2, 1)), ((3,), ())],
)
def test_right_sides_of_one_matrix_are_solved_together(
    left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(*left, 4, 4)) + 4 * np.eye(4)
    b = rng.normal(size=(*right, 4, 2))
    found = NUMPY.solve_triangular(a, b, lower=True, trans=1, unit_diagonal=False)
    lead = np.broadcast_shapes(left, right)
    matrices, sides = np.broadcast_to(a, (*lead, 4, 4)), np.broadcast_to(b, (*lead, 4, 2))
    assert found.shape == sides.shape
    for place in np.ndindex(*lead):
        want = linalg.solve_triangular(matrices[place], sides[place], lower=True, trans=1)
        np.testing.assert_allclose(found[place], want, rtol=1e-14)


def test_several_right_sides_are_solved_by_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    """LAPACK of OpenBLAS wakes its threads for the smallest system with several right sides."""
    lapack, blas = triangular.functions_of(np.dtype("float64"))
    sides: list[int] = []

    def counted(a: Any, b: Any, *how: Any) -> Any:
        sides.append(b.shape[1])
        return lapack(a, b, *how)

    monkeypatch.setattr(triangular, "functions_of", lambda _dtype: (counted, blas))
    for count in (1, 2, 5):
        solved(2 * np.eye(3), np.ones((3, count)), lower=True, trans=0, unit_diagonal=False)
    assert sides == [1]


@pytest.mark.parametrize("shape", [(0, 2), (3, 0)])
def test_empty_systems(shape: tuple[int, int]) -> None:
    a = np.eye(shape[0])
    found = NUMPY.solve_triangular(a, np.ones(shape), lower=True, trans=0, unit_diagonal=False)
    assert found.shape == shape


@pytest.mark.parametrize("dtypes", [("float64", "float64"), ("float32", "float64")])
@pytest.mark.parametrize("count", [1, 2])
def test_a_zero_on_the_diagonal_is_an_error(count: int, dtypes: tuple[str, str]) -> None:
    a, b = np.diag([1, 0, 2]).astype(dtypes[0]), np.ones((3, count), dtypes[1])
    with pytest.raises(np.linalg.LinAlgError, match="at diagonal 1"):
        NUMPY.solve_triangular(a, b, lower=True, trans=0, unit_diagonal=False)


@pytest.mark.parametrize("rows", [1, 5])
def test_rows_that_do_not_fit_are_refused_before_lapack_tells_of_them(
    rows: int, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match=f"3 rows .* {rows} right sides"):
        solved(np.eye(3), np.ones((rows, 2)), lower=True, trans=0, unit_diagonal=False)
    assert capfd.readouterr().err == ""


def test_simplifying_solves_of_a_cholesky_factor_prints_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    x = np.linspace(-1, 1, 12)[:, None]

    def nll(scale: Any) -> Any:
        distances = np.sum(((x[:, None] - x[None]) / np.exp(scale)) ** 2, -1)
        factor = np.linalg.cholesky(np.exp(-distances / 2) + 0.1 * np.eye(12))
        a = np.linalg.solve(factor, x[:, 0])
        return 0.5 * a @ a + np.sum(np.log(np.diag(factor)))

    sg.trace(nll, scale=1).gradient("scale").simplify()
    told = capfd.readouterr()
    assert told.out == told.err == ""
