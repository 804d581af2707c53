"""Operations, one family a file; each record holds an operation's whole meaning."""

from __future__ import annotations

from . import (
    choice,
    comparison,
    contraction,
    control,
    creation,
    diagonals,
    elementwise,
    exponential,
    extrema,
    gather,
    indexing,
    joining,
    linalg,
    movement,
    reduction,
    rounding,
    softmax,
    special,
    statistics,
    trigonometric,
)

__all__ = [
    "choice",
    "comparison",
    "contraction",
    "control",
    "creation",
    "diagonals",
    "elementwise",
    "exponential",
    "extrema",
    "gather",
    "indexing",
    "joining",
    "linalg",
    "movement",
    "reduction",
    "rounding",
    "softmax",
    "special",
    "statistics",
    "trigonometric",
]
