"""A memory plan of a program in which a later turn reads a value that an earlier one does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp


def f(x: Any, scale: Any, y: Any) -> Any:
    rows = np.concatenate([y, y], axis=1)
    entropy = -np.sum(rows * snp.log_softmax(rows, axis=0), axis=0)
    return scale * 1.5 + np.sum(entropy) + np.sum(np.matmul(rows, x)[::2])


@pytest.mark.whole
def test_every_budget_gives_a_plan_of_the_same_values() -> None:
    x, scale, y = np.array([[-1.5], [1.25]]), np.array(0.25), np.array([[-0.5], [-0.75]])
    joint = sg.trace(f, x=x, scale=scale, y=y).gradient("x", "scale", "y")
    with pytest.raises(sg.MemoryBudgetError) as told:
        joint.checkpoint(1)
    wanted = joint.lower()(x, scale, y)
    for budget in range(told.value.least_bytes, joint.memory().peak_bytes + 1, 4):
        tight = joint.checkpoint(budget)
        assert tight.memory().peak_bytes <= budget
        found = tight.lower()(x, scale, y)
        np.testing.assert_array_equal(found[0], wanted[0])
        for new, old in zip(found[1], wanted[1], strict=True):
            np.testing.assert_array_equal(new, old)
