"""A power of NaN by exponents that cancel was 1: `product_of_powers` asked only for a sign."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp


def test_it_stays_nan() -> None:
    v, x, y = (sg.input(name, ()) for name in "vxy")
    base = snp.cosh(snp.arcsin(v))
    graph = sg.graph(base**x * base**y)
    for each in (graph, graph.simplify()):
        assert np.isnan(each.evaluate(v=2.0, x=3.0, y=-3.0))
        np.testing.assert_allclose(each.evaluate(v=0.5, x=3.0, y=-3.0), 1.0)


def test_of_a_positive_input_powers_are_one() -> None:
    a, x, y = sg.input("a", (), assume=sg.positive), sg.input("x", ()), sg.input("y", ())
    assert "by product_of_powers" in str(sg.graph(a**x * a**y).simplify())
