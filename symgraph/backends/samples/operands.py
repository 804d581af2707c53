"""Fresh symbolic operands for the samples of operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import numpy as snp
from ...array import FUNCTIONS, Array
from ...ops.creation import input

__all__ = ["definite", "fresh", "function", "indices", "square"]

_names = iter(range(10**9))


def fresh(*shape: int | str, dtype: str = "float64") -> Array:
    """A new input with a unique name."""
    return input(f"x{next(_names)}", shape, dtype)


def indices(*shape: int | str) -> Array:
    """An input of integers, which `conformance` draws from 0 to 3."""
    return fresh(*shape, dtype="int64")


def square(*shape: int | str, dtype: str = "float64") -> Array:
    """Well-conditioned matrices."""
    x = fresh(*shape, shape[-1], dtype=dtype)
    return x + 4 * snp.eye(x.shape[-1], dtype=dtype)


def definite(x: Array) -> Array:
    """A symmetric matrix that is positive definite."""
    return x @ x.mT + snp.eye(x.shape[-1])


def function(name: str) -> Callable[..., Any]:
    """The function with this NumPy name."""
    return FUNCTIONS[name]
