"""Random programs to second order: forward against reverse, simplified against as derived."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from randomgraphs import random_program
from randomgraphs.compare import traced

SEEDS = [
    *range(6),
    *[pytest.param(seed, marks=pytest.mark.fuzz) for seed in range(6, 300)],
]


def agree(found: Any, wanted: Any, rtol: float) -> None:
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-2 * rtol * scale)


@pytest.mark.sampled(one_in=32)
@pytest.mark.parametrize("seed", SEEDS)
def test_modes_and_orders_agree(seed: int) -> None:
    program = random_program(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # inputs that a program leaves unused
        graph = traced(program)
    values, targets = program.values, list(program.targets)
    rng = np.random.default_rng(seed)
    directions = {name: rng.normal(size=np.shape(values[name])) for name in targets}

    gradients = graph.gradient(*targets, value=False).evaluate(**values)
    parts = gradients if len(targets) > 1 else (gradients,)
    slope = sum(np.sum(g * directions[name]) for g, name in zip(parts, targets, strict=True))
    pushed = graph.jvp(directions, value=False)
    for each in (pushed, pushed.simplify()):
        agree(each.evaluate(**values), slope, 1e-7)

    vectors = [directions[name] for name in targets]
    reverse = graph.hvp(targets, vectors, value=False)
    forward = graph.hvp(targets, vectors, value=False, mode="forward")
    wanted = reverse.evaluate(**values)
    for each in (forward, reverse.simplify(), forward.simplify()):
        for found, expected in zip(each.evaluate(**values), wanted, strict=True):
            agree(found, expected, 1e-5)

    first = targets[0]
    if np.size(values[first]) <= 12:
        hessian = graph.hessian(first, value=False)
        product = graph.hvp(first, directions[first], value=False).evaluate(**values)
        for each in (hessian, hessian.simplify()):
            block = each.evaluate(**values)
            found = np.tensordot(block, directions[first], directions[first].ndim)
            agree(found, product, 1e-5)
