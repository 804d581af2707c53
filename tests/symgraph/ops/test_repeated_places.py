"""`at` of ufuncs at places that are met twice: NumPy's values, and gradients that split ties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

UFUNCS = [
    *(np.multiply, np.maximum, np.minimum, np.fmax, np.fmin),
    *(np.logaddexp, np.logical_and, np.logical_or),
]
INDICES: list[Any] = [
    np.array([0, 2, 2, 1, 0, 2]),
    np.array([[0, 0], [-1, 0]]),
    ([0, 2, 2, 1], [1, 1, 1, 0]),
    ([0, 0, 1], slice(None, 2)),
    (..., [1, 1]),
    (None, [0, 0]),
    [0] * 9 + [1, 2, 3],  # one place is met far more often than the others
]


def at(ufunc: Any, index: Any) -> Callable[[Any, Any], Any]:
    def f(x: Any, v: Any) -> Any:
        y = x.copy()
        ufunc.at(y, index, v)
        return y

    return f


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float64", "int64", "bool"])
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda each: each.__name__)
def test_what_is_written_is_numpys(ufunc: Any, dtype: str) -> None:
    if ufunc is np.logaddexp and dtype != "float64":
        pytest.skip("it gives floats")
    rng = np.random.default_rng(0)
    for index in INDICES:
        x = (2 * rng.normal(size=(4, 3))).astype(dtype)
        v = (2 * rng.normal(size=x[index].shape)).astype(dtype)
        if dtype == "float64":
            v.flat[0] = np.nan
        f = at(ufunc, index)
        found = sg.trace(f, x=sg.spec(x.shape, dtype), v=sg.spec(v.shape, dtype)).evaluate(x=x, v=v)
        np.testing.assert_allclose(found, f(x, v), rtol=1e-14, strict=True)


def test_a_number_is_written_everywhere() -> None:
    f = at(np.multiply, [0, 0, 1])
    np.testing.assert_array_equal(sg.trace(f, x=3, v=()).evaluate(x=np.ones(3), v=2.0), [4, 2, 1])


def test_the_largest_of_each_segment_gets_the_gradient_and_ties_share_it() -> None:
    def f(v: Any) -> Any:
        largest = snp.full(3, -np.inf)
        np.maximum.at(largest, [0, 0, 0, 1, 2, 2], v)
        return largest @ np.array([1.0, 2.0, 3.0])

    found = sg.grad(f)(np.array([1.0, 1.0, 0.5, -1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(found, [0.5, 0.5, 0, 2, 0, 3])


def test_floats_do_not_go_into_whole_numbers() -> None:
    with pytest.raises(sg.DTypeError, match="does not go into an array of int64"):
        sg.trace(at(np.maximum, [0, 0]), x=sg.spec(3, "int64"), v=2)


def test_places_that_are_computed_are_refused() -> None:
    with pytest.raises(sg.TraceError, match="Give the places as an array of numbers"):
        sg.trace(lambda x, v, i: at(np.maximum, i)(x, v), x=3, v=2, i=sg.spec(2, "int64"))
    with pytest.raises(sg.TraceError, match="sizes to the dimensions"):
        sg.trace(at(np.maximum, [0, 0]), x="n", v=2)
