"""`reduceat` of ufuncs: NumPy's values, dtypes and shapes, and its errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg

UFUNCS = [
    *(np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin),
    *(np.logaddexp, np.logical_and, np.logical_or),
]
INDICES = [[0, 2, 5], [3, 1, 1, 8], [8], [0, 0, 0], []]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool"])
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda each: each.__name__)
def test_segments_are_reduced_as_in_numpy(ufunc: Any, dtype: str) -> None:
    if (ufunc, dtype) == (np.logaddexp, "bool"):
        pytest.skip("NumPy has no logaddexp of truth values")
    rng = np.random.default_rng(0)
    for shape, axis in (((9,), 0), ((9, 3), 0), ((2, 9), -1)):
        x = (3 * rng.normal(size=shape)).astype(dtype)
        for indices in INDICES:
            at = np.array(indices, dtype=int)
            wanted = ufunc.reduceat(x, at, axis=axis)

            def f(x: Any, at: Any = at, axis: int = axis) -> Any:
                return ufunc.reduceat(x, at, axis=axis)

            found = sg.trace(f, x=sg.spec(shape, dtype)).evaluate(x=x)
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_its_gradient() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.add.reduceat(x, [0, 2, 5]) ** 2)

    x = np.arange(8.0)
    np.testing.assert_array_equal(sg.grad(f)(x), [2, 2, 18, 18, 18, 36, 36, 36])


def test_what_is_out_of_range_or_not_known_is_refused() -> None:
    with pytest.raises(sg.ShapeError, match="Index 9 is out of range"):
        sg.trace(lambda x: np.add.reduceat(x, [0, 9]), x="9")
    with pytest.raises(sg.ShapeError, match="not known"):
        sg.trace(lambda x: np.add.reduceat(x, [0]), x="n")
    with pytest.raises(sg.TraceError, match="scatter_add"):
        sg.trace(lambda x, i: np.add.reduceat(x, i), x="9", i=sg.spec("2", "int64"))


def test_places_that_are_no_whole_numbers_are_refused() -> None:
    for indices, error in (([0.5, 2.0], sg.errors.DTypeError), ([[0, 1]], sg.errors.ShapeError)):
        with pytest.raises(error, match=r"(?i)segments start"):
            sg.trace(lambda x, at=indices: np.add.reduceat(x, at), x="5")
