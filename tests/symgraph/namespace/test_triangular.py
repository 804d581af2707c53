"""Triangular systems by LAPACK's function: SciPy's bits, memory layout and errors."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import linalg

from symgraph.namespace import NUMPY


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


@pytest.mark.parametrize("shape", [(0, 2), (3, 0)])
def test_empty_systems(shape: tuple[int, int]) -> None:
    a = np.eye(shape[0])
    found = NUMPY.solve_triangular(a, np.ones(shape), lower=True, trans=0, unit_diagonal=False)
    assert found.shape == shape


@pytest.mark.parametrize("dtypes", [("float64", "float64"), ("float32", "float64")])
def test_a_zero_on_the_diagonal_is_an_error(dtypes: tuple[str, str]) -> None:
    a, b = np.diag([1, 0, 2]).astype(dtypes[0]), np.ones((3, 1), dtypes[1])
    with pytest.raises(np.linalg.LinAlgError, match="at diagonal 1"):
        NUMPY.solve_triangular(a, b, lower=True, trans=0, unit_diagonal=False)
