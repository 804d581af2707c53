"""The table of operators: a function for each, one module for each subject."""

from __future__ import annotations

from . import (
    activations,
    control,
    convolution,
    creation,
    differentiation,
    elementwise,
    frequencies,
    indexing,
    movement,
    normalization,
    optimizers,
    order,
    pooling,
    products,
    recurrent,
    reductions,
    resizing,
    sampling,
    sequences,
)

__all__ = [
    "activations",
    "control",
    "convolution",
    "creation",
    "differentiation",
    "elementwise",
    "frequencies",
    "indexing",
    "movement",
    "normalization",
    "optimizers",
    "order",
    "pooling",
    "products",
    "recurrent",
    "reductions",
    "resizing",
    "sampling",
    "sequences",
]
