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


@pytest.mark.timeout(60)
def test_a_mean_multiplied_and_divided_in_a_quotient_ends() -> None:
    def loss(a: np.ndarray, x: np.ndarray) -> np.ndarray:
        mean = np.mean(np.sin(x) * 1.5, axis=-1)
        gate = np.exp(-a) / (1 + np.exp(-a))
        return np.sum(gate / (x * mean / mean))

    joint = sg.trace(loss, a="1, 1", x="2").gradient("a", "x")
    given = {"a": np.array([[0.5]]), "x": np.array([0.5, -1.5])}
    found, wanted = joint.simplify().evaluate(**given), joint.evaluate(**given)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)
    for one, other in zip(found[1], wanted[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
