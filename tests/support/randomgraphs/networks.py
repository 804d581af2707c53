"""Networks of many layers, as users write them: scalar functions of data and shared weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["NETWORKS", "attending", "normalised", "residual"]

Network = Callable[[Any, Any, Any], Any]


def residual(layers: int) -> Network:
    """Residual layers of tanh."""

    def network(x: Any, w: Any, v: Any) -> Any:
        for _ in range(layers):
            x = x + 0.1 * np.tanh(x @ w + v[0])
        return np.mean(x**2)

    return network


def normalised(layers: int) -> Network:
    """Residual layers that are normalised first, and rectified."""

    def network(x: Any, w: Any, v: Any) -> Any:
        for _ in range(layers):
            centred = x - np.mean(x, axis=-1, keepdims=True)
            spread = np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + 1e-5)
            x = x + np.maximum(centred / spread @ w + v[0], 0)
        return np.mean(x**2)

    return network


def attending(layers: int) -> Network:
    """Layers of attention over the rows, each divided by its root mean square."""

    def network(x: Any, w: Any, v: Any) -> Any:
        for _ in range(layers):
            scores = x @ w @ x.T / np.sqrt(3.0)
            e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
            x = x + e / np.sum(e, axis=-1, keepdims=True) @ (x @ v)
            x = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5)
        return np.sum(x * x * v[0])

    return network


NETWORKS: dict[str, tuple[Callable[[int], Network], int]] = {
    "residual": (residual, 720),
    "normalised": (normalised, 272),
    "attending": (attending, 160),
}
"""Each kind, with the layers whose gradient graph has about 10,000 nodes."""
