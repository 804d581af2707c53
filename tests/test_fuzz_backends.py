"""Random programs and their gradients on each backend, against the interpreter.

Every second graph is simplified. Each backend takes 2,000 programs in both precisions.
"""

from __future__ import annotations

from typing import Any

import pytest
from randomgraphs import random_program
from randomgraphs.engines import NEAR, agrees, joint_of, problems

import symgraph as sg
from symgraph.backends.standard import StandardBackend, StandardNamespace
from symgraph.errors import BackendError

pytestmark = pytest.mark.timeout(3600)

COUNT = 2000
BLOCKS = [range(start, start + 100) for start in range(0, COUNT, 100)]
NEEDS = {"native": "llvmlite", "jax": "jax", "torch": "torch", "strict": "array_api_strict"}
NAMES = ["numpy", "native", "jax", "torch", "strict"]


def backend_of(name: str) -> Any:
    if name in NEEDS:
        module = pytest.importorskip(NEEDS[name], reason=f"the extra for {name} is not installed")
        if name == "strict":
            return StandardBackend("strict", StandardNamespace(module))
    return name


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", ["numpy", "strict"])
@pytest.mark.parametrize("dtype", NEAR)
def test_some_programs(name: str, dtype: str) -> None:
    assert list(problems(backend_of(name), range(5), dtype)) == []


@pytest.mark.fuzz
@pytest.mark.parametrize("seeds", BLOCKS, ids=lambda seeds: f"{seeds.start}")
@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize("name", NAMES)
def test_programs(name: str, dtype: str, seeds: range) -> None:
    assert list(problems(backend_of(name), seeds, dtype)) == []


@pytest.mark.fuzz
@pytest.mark.parametrize("dtype", NEAR)
def test_programs_in_chunks_or_refused(dtype: str) -> None:
    """One size of each program is named and is the batch; most programs mix its rows."""
    dask = pytest.importorskip("dask", reason="the dask extra is not installed")
    da = pytest.importorskip("dask.array")
    wrong, ran = list[str](), 0
    with dask.config.set(scheduler="synchronous"):
        for seed in range(COUNT):
            sizes = {size for each in random_program(seed).inputs for size in each.value.shape}
            for size in sorted(sizes - {1}):
                try:
                    joint, values = joint_of(seed, dtype, {size: "n"})
                    run = joint.lower("dask", batch="n")
                except (sg.errors.SymgraphError, BackendError):
                    continue
                given = {
                    name: da.from_array(value, chunks=1)
                    if any(str(dim) == "n" for dim in joint.inputs[name].shape)
                    else value
                    for name, value in values.items()
                }
                problem = agrees(run(**given), joint.evaluate(**values), dtype)
                wrong += [f"program {seed}: {problem}"] * bool(problem)
                ran += 1
    assert wrong == []
    assert ran > 100
