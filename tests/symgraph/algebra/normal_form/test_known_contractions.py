"""Arrays that are computed anyway take the place of their expressions only where they are equal."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp

A = np.random.default_rng(3).normal(size=(4, 4))


def test_a_diagonal_does_not_take_the_place_of_the_matrix() -> None:
    """c A[i, i] is computed anyway, and is not found in c A[j, i]."""

    def function(c, A, q):
        scaled = np.diagonal(c * A)
        return np.sum(scaled * np.sin(scaled)), A.T @ (snp.diag(q) * c)

    graph = sg.trace(function, c=(), A=(4, 4), q=(4,))
    at = {"c": 1.3, "A": A, "q": A[0]}
    for small, given in zip(graph.simplify().evaluate(**at), graph.evaluate(**at), strict=True):
        np.testing.assert_allclose(small, given, rtol=1e-12)
