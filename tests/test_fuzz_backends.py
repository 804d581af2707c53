"""Random programs and their gradients on each backend, against the interpreter.

Every second graph is simplified. Each backend takes 2,000 programs in both precisions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from randomgraphs import random_program
from randomgraphs.compare import difference, flat, traced

import symgraph as sg
from symgraph.backends.standard import StandardBackend, StandardNamespace
from symgraph.errors import BackendError

pytestmark = pytest.mark.timeout(3600)

COUNT = 2000
BLOCKS = [range(start, start + 100) for start in range(0, COUNT, 100)]
NEEDS = {"native": "llvmlite", "jax": "jax", "torch": "torch", "strict": "array_api_strict"}
NAMES = ["numpy", "native", "jax", "torch", "strict"]
NEAR = {"float64": 1e-9, "float32": 1e-3}
"""The largest difference, in units of the largest result."""


def backend_of(name: str) -> Any:
    if name in NEEDS:
        module = pytest.importorskip(NEEDS[name], reason=f"the extra for {name} is not installed")
        if name == "strict":
            return StandardBackend("strict", StandardNamespace(module))
    return name


def joint_of(seed: int, dtype: str, dims: dict[int, str] | None = None) -> tuple[sg.Graph, Any]:
    """A program beside its gradients, and the numbers of its inputs."""
    program = random_program(seed).astype(dtype)
    joint = traced(program, dims).gradient(*program.targets)
    return joint.simplify() if seed % 2 else joint, program.values


def agrees(found: Any, wanted: Any, dtype: str) -> str:
    scale = max(1.0, *[float(np.max(np.abs(each), initial=0)) for each in flat(wanted)])
    return difference(flat(found), flat(wanted), NEAR[dtype] * scale)


def problems(backend: Any, seeds: range, dtype: str, **options: Any) -> Iterator[str]:
    for seed in seeds:
        joint, values = joint_of(seed, dtype)
        wrong = agrees(joint.lower(backend, **options)(**values), joint.evaluate(**values), dtype)
        if wrong:
            yield f"program {seed} in {dtype}: {wrong}"


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
