"""softplus(-|x|) beside max(x, 0) is not softplus(x) - max(x, 0), which cancels to nothing."""

from __future__ import annotations

import numpy as np

import symgraph as sg


def f(x):
    return np.maximum(x, 0) * 3, np.log(1 + np.exp(-np.abs(x))) * 1.0


def test_the_small_part_survives_beside_the_large_one() -> None:
    _, small = sg.trace(f, x=()).simplify().evaluate(x=np.array(50.0))
    np.testing.assert_allclose(small, np.log1p(np.exp(-50.0)), rtol=1e-12)
