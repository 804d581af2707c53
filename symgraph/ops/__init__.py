"""Operations, one family a file; each record holds an operation's whole meaning."""

from __future__ import annotations

from . import (
    choice,
    comparison,
    contraction,
    control,
    creation,
    elementwise,
    exponential,
    indexing,
    linalg,
    movement,
    reduction,
    rounding,
    softmax,
    special,
    trigonometric,
)

__all__ = [
    "choice",
    "comparison",
    "contraction",
    "control",
    "creation",
    "elementwise",
    "exponential",
    "indexing",
    "linalg",
    "movement",
    "reduction",
    "rounding",
    "softmax",
    "special",
    "trigonometric",
]
