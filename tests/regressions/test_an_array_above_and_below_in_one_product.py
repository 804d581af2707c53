"""y * y**-1 stays two factors where y may be 0; a product found again must not lose one of them."""

from __future__ import annotations

import numpy as np

import symgraph as sg


def f(x, y):
    return np.sum(np.sin(np.log(y / (1 + x * x)))) * 2


def test_both_factors_stay() -> None:
    graph = sg.trace(f, x=sg.spec("", assume=sg.interval(0, 1)), y=sg.spec("2")).gradient("x")
    at = {"x": np.array(0.57638121), "y": np.array([0.50949128, 0.49050872])}
    t = 1 + at["x"] ** 2
    wanted = np.sum(np.cos(np.log(at["y"] / t)) * -2 * at["x"] / t) * 2
    _, found = graph.simplify().evaluate(**at)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
