"""Rows added in blocks have the bits of `np.add.at`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symgraph.namespace.added_rows import added_rows
from symgraph.namespace.namespace import NUMPY, added_at

SHAPES = [(40, 30, 12), (7, 300, 3, 2), (1, 400, 1), (50, 9000, 2), (300, 4, 1000)]
"""The length of the array, the number of rows that are added, and the shape of a row."""


def index_of(rows: Any, ndim: int) -> tuple[Any, ...]:
    return (Ellipsis, rows, *[slice(None)] * (ndim - 1))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("places", ["int64", "int32", "uint8"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_each_element_meets_its_summands_in_the_same_order(
    shape: tuple[int, ...], places: str, dtype: str
) -> None:
    rng = np.random.default_rng(len(shape))
    length, count, *row = shape
    x: Any = (rng.standard_normal((length, *row)) * 1e3).astype(dtype)
    values: Any = (rng.standard_normal((count, *row)) * 1e3).astype(dtype)
    low = 0 if places == "uint8" else -length
    rows: Any = rng.integers(low, min(length, 255), count).astype(places)
    right = x.copy()
    np.add.at(right, rows, values)
    found = x.copy()
    assert added_rows(found, index_of(rows, x.ndim), values)
    assert found.tobytes() == right.tobytes()


def test_values_are_broadcast() -> None:
    x, rows = np.ones((20, 30)), np.arange(40) % 20 - 20
    for values in (np.array(2.5), np.arange(30.0), np.arange(40.0)[:, None]):
        right = x.copy()
        np.add.at(right, rows, values)
        found = x.copy()
        assert added_rows(found, index_of(rows, 2), values)
        np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize("place", [20, -21])
def test_a_place_out_of_range_raises_as_in_numpy(place: int) -> None:
    rows = np.zeros(40, int)
    rows[-1] = place
    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 20"):
        added_at(np, np.ones((20, 30)), index_of(rows, 2), np.ones((40, 30)))


def test_what_is_left_to_numpy() -> None:
    x = np.zeros((20, 30))
    rows, values = np.zeros(40, int), np.ones((40, 30))
    assert not added_rows(x.T, index_of(rows, 2), np.ones((40, 20)))  # not contiguous
    assert not added_rows(x, index_of(rows.reshape(8, 5), 2), values.reshape(8, 5, 30))
    assert not added_rows(x, index_of(rows[:3], 2), values[:3])  # few
    assert not added_rows(x, index_of(rows, 2), values.astype("float32"))  # mixed
    assert not added_rows(np.zeros((0, 30)), index_of(rows, 2), values)
    assert not x.any()
    assert NUMPY.scatter_add(x, index_of(rows, 2), values)[0].tolist() == [40.0] * 30
