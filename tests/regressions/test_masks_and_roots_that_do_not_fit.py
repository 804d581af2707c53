"""What looks like a mask or a product that is known already, and is not."""

from __future__ import annotations

import numpy as np
import pytest

import symgraph as sg

U = np.array([-1.0, 2.0, -3.0])


def test_a_rectified_column_does_not_replace_a_mask_of_rows() -> None:
    def f(u):
        return np.where(u > 0, np.maximum(u, 0)[:, None] * 2, 0)

    found = sg.trace(f, u=(3,)).simplify().evaluate(u=U)
    np.testing.assert_array_equal(found, f(U))


@pytest.mark.parametrize("y", [-2.0, 3.0])
def test_a_number_is_no_product_of_roots_that_do_not_exist(y: float) -> None:
    def f(y, z):
        shared = np.sqrt(y) * z
        return np.sin(shared), np.cos(shared), y * z * 2

    at = {"y": np.array(y), "z": np.array(1.5)}
    *_, found = sg.trace(f, y=(), z=()).simplify().evaluate(**at)
    np.testing.assert_allclose(found, 3 * y)
