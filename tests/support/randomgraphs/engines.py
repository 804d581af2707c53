"""Programs and their gradients on a backend, against the interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import symgraph as sg

from .compare import difference, flat, traced
from .generate import random_program

__all__ = ["NEAR", "agrees", "joint_of", "problems"]

NEAR = {"float64": 1e-9, "float32": 1e-3}
"""The largest difference, in units of the largest result."""


def joint_of(seed: int, dtype: str, dims: dict[int, str] | None = None) -> tuple[sg.Graph, Any]:
    """A program beside its gradients, and the numbers of its inputs; every second is simplified."""
    program = random_program(seed).astype(dtype)
    joint = traced(program, dims).gradient(*program.targets)
    return joint.simplify() if seed % 2 else joint, program.values


def agrees(found: Any, wanted: Any, dtype: str) -> str:
    """What is wrong with results; empty if nothing is."""
    scale = max(1.0, *[float(np.max(np.abs(each), initial=0)) for each in flat(wanted)])
    return difference(flat(found), flat(wanted), NEAR[dtype] * scale)


def problems(backend: Any, seeds: range, dtype: str, **options: Any) -> Iterator[str]:
    """The programs whose results differ, in words."""
    for seed in seeds:
        joint, values = joint_of(seed, dtype)
        wrong = agrees(joint.lower(backend, **options)(**values), joint.evaluate(**values), dtype)
        if wrong:
            yield f"program {seed} in {dtype}: {wrong}"
