"""A - A' was taken for symmetric, like A + A': with a rule that uses it, a wrong number."""

from __future__ import annotations

import numpy as np

import symgraph as sg


def test_it_is_antisymmetric() -> None:
    graph = sg.trace(lambda a: (a - a.T).T @ a, a=(3, 3))
    a = np.arange(9.0).reshape(3, 3) ** 2
    np.testing.assert_allclose(graph.simplify().evaluate(a=a), (a - a.T).T @ a)
    assert sg.trace(lambda a: a - a.T, a=(3, 3)).simplify().op_count() == 1
    assert sg.trace(lambda a: (a + a.T).T, a=(3, 3)).simplify().op_count() == 1
