"""Matrices without elements are simplified like others.

The numbers that stand for a positive definite matrix were scaled by its largest element.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import symgraph as sg


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.linalg.inv(x @ x.T),
        lambda x: np.linalg.eigvalsh(x.T @ x),
        lambda x: np.linalg.qr(x)[1],
    ],
)
@pytest.mark.parametrize("shape", [(0, 0), (0, 2)])
def test_there_is_a_gradient_of_nothing(
    f: Callable[[sg.Array], sg.Array], shape: tuple[int, int]
) -> None:
    graph = sg.trace(lambda x: np.sum(f(x) ** 2), x=sg.spec(shape)).gradient("x").simplify()
    _, slope = graph.lower()(x=np.zeros(shape))
    assert slope.shape == shape
