"""Operations, one family a file; each record holds an operation's whole meaning."""

from __future__ import annotations

from . import (
    comparison,
    contraction,
    control,
    creation,
    elementwise,
    exponential,
    indexing,
    movement,
    reduction,
    softmax,
    special,
    trigonometric,
)

__all__ = [
    "comparison",
    "contraction",
    "control",
    "creation",
    "elementwise",
    "exponential",
    "indexing",
    "movement",
    "reduction",
    "softmax",
    "special",
    "trigonometric",
]
