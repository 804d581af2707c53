"""x·x (x·x)⁻¹ is not 1 where x may be 0: gathering and opening that sum took turns for ever."""

from __future__ import annotations

import numpy as np
import pytest

import symgraph as sg

A = np.arange(1.0, 9.0).reshape(4, 2)
X = np.array([0.5, -1.0, 2.0, 0.25])


@pytest.mark.timeout(60)
def test_a_product_divided_and_multiplied_ends() -> None:
    joint = sg.trace(
        lambda a, x: np.sum(np.sin(np.reshape(a, (2, 4)) / np.dot(x, x) * np.dot(x, x))),
        a="4, 2",
        x="4",
    ).gradient("a", "x")
    small = joint.simplify()
    value, (da, dx) = small.lower()(a=A, x=X)
    wanted = joint.evaluate(a=A, x=X)
    np.testing.assert_allclose(value, wanted[0], rtol=1e-12)
    np.testing.assert_allclose(da, wanted[1][0], rtol=1e-10)
    np.testing.assert_allclose(dx, wanted[1][1], rtol=1e-10, atol=1e-10)


@pytest.mark.timeout(60)
def test_a_zero_divisor_stays_one() -> None:
    small = sg.trace(lambda a, x: a / np.dot(x, x) * np.dot(x, x), a="2", x="4").simplify()
    assert np.all(np.isnan(small.evaluate(a=np.ones(2), x=np.zeros(4))))
