"""Numbers to try a program at: ordinary, in tails, tiny, huge, mixed, nearly equal, at kinks."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from randomgraphs.program import Program

__all__ = ["MAGNITUDES", "numbers"]

Numbers: TypeAlias = np.ndarray[Any, Any]
Draw: TypeAlias = Callable[[np.random.Generator, tuple[int, ...], float, Numbers], Numbers]
"""`draw(rng, shape, limit, base)`: `limit` is the exponent of ten of the dtype's range, `base` the
same numbers near 1 for all inputs of a program."""

_KINKS = (0.0, 0.0, 0.0, -0.0, 1.0, 1.0, -1.0, 0.5, 2.0)


def _signed(rng: np.random.Generator, sizes: Numbers) -> Numbers:
    return sizes * rng.choice([-1.0, 1.0], sizes.shape)


def _decades(rng: np.random.Generator, shape: tuple[int, ...], low: float, high: float) -> Numbers:
    """Numbers within about a decade of a common size."""
    return _signed(rng, 10.0 ** (rng.uniform(low, high) + rng.uniform(-0.5, 0.5, shape)))


MAGNITUDES: dict[str, Draw] = {
    "ordinary": lambda rng, shape, limit, base: rng.standard_normal(shape),
    "tails": lambda rng, shape, limit, base: (
        rng.choice([10.0, 30.0, 100.0, 800.0]) * rng.standard_normal(shape)
    ),
    "tiny": lambda rng, shape, limit, base: _decades(rng, shape, -0.9 * limit, -3),
    "huge": lambda rng, shape, limit, base: _decades(rng, shape, 3, 0.9 * limit),
    "mixed": lambda rng, shape, limit, base: _signed(
        rng, 10.0 ** rng.uniform(-0.5 * limit, 0.5 * limit, shape)
    ),
    "near": lambda rng, shape, limit, base: (
        np.resize(base, shape) * (1 + 10.0 ** -rng.integers(3, 9) * rng.standard_normal(shape))
    ),
    "kinks": lambda rng, shape, limit, base: rng.choice(_KINKS, shape),
}


def numbers(program: Program, magnitude: str, dtype: str) -> dict[str, Numbers]:
    """One array for each input, the same at every call."""
    rng = np.random.default_rng([program.seed, zlib.crc32(f"{magnitude} {dtype}".encode())])
    limit = 38 if dtype == "float32" else 308
    base = rng.choice([1.0, 30.0, 3000.0]) * (1 + rng.random(6))
    found: dict[str, Numbers] = {}
    for each in program.inputs:
        value = MAGNITUDES[magnitude](rng, each.value.shape, limit, base)
        if each.assume:
            value = np.where(value == 0, 1.0, np.abs(value))
        found[each.name] = np.asarray(value, dtype=dtype)
    return found
