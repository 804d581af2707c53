"""A buffer that lies in another order than the result would: sums of it round differently."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg

W = np.cos(np.arange(16.0)).reshape(4, 4)


def _contracted(x: Any, y: Any) -> Any:
    product = np.einsum("...j,jk->...k", x, W) * 1.5
    return np.sum(np.minimum(y, product - 0.5) ** 2.0)


def _transposed(x: Any, y: Any) -> Any:
    turned = np.exp(np.transpose(x, (2, 1, 0)))
    return np.sum(np.minimum(np.transpose(turned - 0.5, (2, 1, 0)) + 0.0, y) ** 2.0)


def _one_transposed(x: Any, y: Any) -> Any:
    return np.sum((np.exp(np.transpose(x[:13, :13], (1, 0, 2))) + y[:13, :13]) ** 2.0)


@pytest.mark.parametrize("f", [_contracted, _transposed, _one_transposed])
@pytest.mark.parametrize("seed", range(4))
def test_a_program_computes_the_bits_of_the_interpreter(f: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 17, 13, 4))
    graph = sg.trace(f, x=x.shape, y=y.shape)
    assert float(graph.lower()(x=x, y=y)).hex() == float(graph.evaluate(x=x, y=y)).hex()
