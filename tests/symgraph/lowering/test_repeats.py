"""Small arrays are repeated by a product with ones, and keep their bits."""

from __future__ import annotations

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
@pytest.mark.parametrize("shape", [(3, 4), (0, 4), (200, 4)])
def test_repeated_arrays_have_the_bits_of_the_operand(dtype: str, shape: tuple[int, ...]) -> None:
    f = sg.trace(lambda x: snp.broadcast_to(x, shape), x=sg.spec((4,), dtype)).lower()
    x = np.array([0.0, 1.0, 2.0, 3.0]).astype(dtype)
    if dtype.startswith("float"):
        x = np.array([-0.0, np.inf, np.nan, np.finfo(dtype).smallest_subnormal], dtype)
    got = f(x)
    assert got.dtype == x.dtype
    assert got.flags.writeable
    assert got.tobytes() == np.broadcast_to(x, shape).tobytes()
    assert ("np.multiply" in f.source) == (dtype[:3] in ("flo", "int") and shape[0] < 200)


def test_no_rows_of_a_named_length() -> None:
    """An axis of length 0 hides the names of the others in the size of an array."""
    graph = sg.trace(lambda x: np.repeat(x, 0, axis=0), x="1, n")
    assert graph.lower()(x=np.ones((1, 3))).shape == (0, 3)
