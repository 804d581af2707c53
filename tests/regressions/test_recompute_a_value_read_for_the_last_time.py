"""A value chosen to be recomputed may be locked while it is read for the last time."""

from __future__ import annotations

from itertools import combinations

import numpy as np

import symgraph as sg


def loss(x: np.ndarray) -> np.ndarray:
    square = np.square(x) + 0.3
    larger = np.maximum(np.arccosh(square + 1), square)
    return larger * np.log(larger)


def test_any_two_forward_values_may_be_chosen() -> None:
    forward = sg.trace(loss, x="")
    joint = forward.gradient("x")
    computed = [node for node in forward.nodes if node.operands]
    for pair in combinations(computed, 2):
        tight = joint.checkpoint(recompute=pair)
        assert tight.evaluate(x=1.25) == joint.evaluate(x=1.25)
