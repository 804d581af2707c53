"""What rows on small matrices are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgraph.testing import GradientCase, Operand

__all__ = ["MATRIX", "VECTOR", "apart", "of", "row", "zeroed"]


def of(shape: tuple[int, ...], low: float = -2.0, high: float = 2.0) -> Operand:
    return Operand(low, high, shape)


MATRIX = of((2, 3))
VECTOR = of((3,))


def row(
    op: str,
    call: Callable[..., Any],
    *operands: Operand,
    analytic: bool = True,
    note: str = "",
) -> GradientCase:
    return GradientCase(op, call, operands or (MATRIX,), analytic, note=note)


def apart(x: Any) -> Any:
    """Elements at least 1 apart, so that no difference crosses a tie."""
    return x / 8 + np.arange(6.0).reshape(2, 3) * np.array([1.0, -1.0, 2.0])


def zeroed(x: Any) -> Any:
    return x * np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 2.0]])
