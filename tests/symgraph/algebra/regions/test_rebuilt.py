"""What a layer shares with the gradient is found in the walk that writes the layers below anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.algebra import normalized
from symgraph.ir.cost import op_count
from symgraph.ir.fact_inference import Knowledge

WEIGHTS = np.random.default_rng(0).standard_normal((3, 3, 3))


def layers(x: Any) -> Any:
    """Three layers, each with the GELU of a normalised input."""
    for w in WEIGHTS:
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)
        h = x @ w
        x = x + 0.5 * h * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3)))
    return np.mean(x**2)


@pytest.mark.whole
def test_half_of_one_plus_tanh_is_shared_in_all_layers_at_once() -> None:
    gradient = sg.trace(layers, np.ones((2, 3))).gradient("x")
    knowledge = Knowledge()
    outputs = normalized(list(gradient.dag.outputs), knowledge)
    outputs = normalized(outputs, knowledge)
    assert op_count(outputs) == gradient.simplify().op_count()  # It was one more.
