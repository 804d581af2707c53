"""A condition on a value that cancels to 0 becomes the constant True, which is no number."""

from __future__ import annotations

import numpy as np

import symgraph as sg


def loss(x: np.ndarray) -> np.ndarray:
    squares = np.sum(x * x, axis=-1)
    nothing = squares + (-squares)
    return np.sum(np.where((nothing > np.log(1 + squares) - 9) & (nothing > -9), nothing, 0.5))


def test_a_constant_condition_is_no_number() -> None:
    x = np.arange(1.0, 7.0).reshape(2, 3)
    joint = sg.trace(loss, x="2, 3").gradient("x")
    small = joint.simplify()
    assert small.evaluate(x=x)[0] == joint.evaluate(x=x)[0]
    assert np.array_equal(small.evaluate(x=x)[1], np.zeros((2, 3)))
