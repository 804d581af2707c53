"""Random programs against PyTorch and JAX, which share no code with us or with autograd."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from randomgraphs import JAX, TORCH, random_program
from randomgraphs.compare import TOLERANCE, Reference, difference, flat, traced

pytestmark = pytest.mark.oracle


def compare(oracle: Any, seeds: range, dtype: str) -> int:
    """Compare every program the oracle can run; how many those were."""
    count = 0
    for seed in seeds:
        program = random_program(seed).astype(dtype)
        if not oracle.can_run(program):
            continue
        count += 1
        value, gradients = oracle.value_and_gradients(program.astype("float64"))
        theirs = (np.asarray(value), *gradients)
        reference = Reference.of(program)
        graph = traced(program).gradient(*program.targets)
        for label, made in (("as derived", graph), ("simplified", graph.simplify())):
            ours = flat(made.lower()(**program.values))
            wrong = difference(ours, theirs, TOLERANCE[dtype] * reference.scale, reference.dtypes)
            assert not wrong, f"{label}: {wrong}\n{program.script(wrong)}"
    return count


SEEDS = [range(s, s + 100) for s in range(10_000, 12_000, 100)]
LONG = [pytest.param(seeds, marks=pytest.mark.fuzz) for seeds in SEEDS[5:]]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("seeds", [*SEEDS[:5], *LONG], ids=str)
def test_torch(seeds: range, dtype: str) -> None:
    pytest.importorskip("torch", reason="PyTorch comes with the oracles extra")
    assert compare(TORCH, seeds, dtype) > 60


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("seeds", [range(s, s + 10) for s in range(20_000, 20_040, 10)], ids=str)
def test_jax(seeds: range) -> None:
    pytest.importorskip("jax", reason="JAX comes with the oracles extra")
    assert compare(JAX, seeds, "float64") > 5
