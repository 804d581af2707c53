"""Rows of one width, each an array beside zeros, need not be blocks on a diagonal.

The rule for their product took them for blocks and raised while it built its right side.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import symgraph as sg


@pytest.mark.parametrize("trust", ["rounding", "domain"])
@pytest.mark.parametrize(("left", "right"), [((2, 1), (1, 1)), ((2, 2), (1, 2)), ((1, 2), (1, 1))])
def test_a_product_keeps_its_value(
    left: tuple[int, int], right: tuple[int, int], trust: Literal["rounding", "domain"]
) -> None:
    def f(a: Any, b: Any, c: Any) -> Any:
        above = np.concatenate([a, np.zeros((left[0], 3 - left[1]))], axis=-1)
        below = np.concatenate([np.zeros((right[0], 3 - right[1])), b], axis=-1)
        return np.concatenate([above, below], axis=-2) @ c

    rng = np.random.default_rng(0)
    at = {"a": rng.normal(size=left), "b": rng.normal(size=right), "c": rng.normal(size=(3, 2))}
    given = {name: sg.spec(value.shape, assume=sg.finite) for name, value in at.items()}
    graph = sg.trace(f, **given)
    small = graph.simplify(trust=trust)
    np.testing.assert_allclose(small.evaluate(**at), f(**at), rtol=1e-12)
    aligned = left[1] + right[1] == 3
    assert ("product_with_blocks" in small.history.fired) == aligned
