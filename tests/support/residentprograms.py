"""Programs of some 10 to 100 MB whose resident memory is measured, and the budgets they get."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import plannednetworks as networks

import symgraph as sg
import symgraph.numpy as snp

__all__ = ["PROGRAMS", "ROWS", "numbers"]


def _gradient(loss: Callable[..., Any], wrt: tuple[str, ...], **specs: Any) -> sg.Graph:
    return sg.trace(loss, **specs).gradient(*wrt).simplify()


def chain() -> sg.Graph:
    """Elementwise operations alone, in double precision."""

    def loss(x: Any) -> Any:
        for _ in range(12):
            x = np.sin(x) + 0.5 * x
        return np.sum(x)

    return _gradient(loss, ("x",), x=sg.spec((2_000_000,)))


def masks() -> sg.Graph:
    """Choices by a mask: relu, clip and where."""

    def loss(x: Any, w: Any) -> Any:
        for _ in range(6):
            y = np.where(x > 0.1, x * w, np.exp(x))
            x = np.clip(y, -1.0, 1.0) + np.maximum(x, 0)
        return np.sum(x * x)

    return _gradient(loss, ("x", "w"), x=sg.spec((1000, 700)), w=sg.spec((700,)))


def pieces() -> sg.Graph:
    """Concatenations, stacks and slices."""

    def loss(x: Any) -> Any:
        for _ in range(5):
            left, right = np.tanh(x[:, :256]), np.sin(x[:, 256:])
            x = np.concatenate([right, left * right], axis=1)
        return np.sum(np.stack([x, x * x]))

    return _gradient(loss, ("x",), x=sg.spec((1024, 512)))


def classifier() -> sg.Graph:
    """Rows of a table by number, two layers, and a softmax cross-entropy."""

    def loss(table: Any, w: Any, v: Any, words: Any, labels: Any) -> Any:
        h = np.tanh(table[words] @ w)
        scores = h @ v
        return snp.mean(-snp.log_softmax(scores, axis=-1)[np.arange(4096), labels])

    numbers = {"words": sg.spec((4096,), "int64"), "labels": sg.spec((4096,), "int64")}
    weights = {"table": sg.spec((2000, 128)), "w": sg.spec((128, 256)), "v": sg.spec((256, 200))}
    return _gradient(loss, ("table", "w", "v"), **weights, **numbers)


def products() -> sg.Graph:
    """Einstein sums and batches of products."""

    def loss(x: Any, w: Any) -> Any:
        for _ in range(4):
            x = np.tanh(np.einsum("bij,jk->bik", x, w)) @ w
        return np.sum(x * x)

    return _gradient(loss, ("x", "w"), x=sg.spec((64, 96, 96)), w=sg.spec((96, 96)))


def norms() -> sg.Graph:
    """Layers that are normalized by mean and variance."""

    def loss(x: Any, w: Any) -> Any:
        for _ in range(5):
            centred = x - np.mean(x, axis=-1, keepdims=True)
            x = centred / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + 1e-5)
            x = x + np.tanh(x @ w)
        return np.sum(x * x)

    return _gradient(
        loss, ("x", "w"), x=sg.spec((2000, 256), "float32"), w=sg.spec((256, 256), "float32")
    )


def casts() -> sg.Graph:
    """Single and double precision in turn."""

    def loss(x: Any) -> Any:
        for _ in range(5):
            x = np.sin(x.astype("float64") * 1.5).astype("float32") + x
        return np.sum(x)

    return _gradient(loss, ("x",), x=sg.spec((4_000_000,), "float32"))


PROGRAMS: dict[str, Callable[[], sg.Graph]] = {
    "mlp": lambda: networks.mlp(16, 2048, 512).simplify(),
    "transformer": lambda: networks.transformer(4, 768, 128).simplify(),
    "convolutions": lambda: networks.convolutions(6, 64, 32, 16).simplify(),
    "lstm": lambda: networks.lstm(20, 512, 128).simplify(),
    "residual": lambda: networks.residual(40, 1024, 128).simplify(),
    "chain": chain,
    "masks": masks,
    "pieces": pieces,
    "classifier": classifier,
    "products": products,
    "norms": norms,
    "casts": casts,
}
ROWS: tuple[tuple[str, float], ...] = (
    *[("mlp", share) for share in (1, 0.8, 0.6)],
    *[("transformer", share) for share in (0.8, 0.5)],
    *[("convolutions", share) for share in (0.9, 0.8)],
    *[("lstm", share) for share in (0.8, 0.6)],
    *[("residual", share) for share in (0.7, 0.4)],
    ("chain", 1),
    *[("masks", share) for share in (0.8, 0.6)],
    *[("pieces", share) for share in (0.8, 0.5)],
    *[("classifier", 0.9), ("products", 0.9), ("norms", 0.5), ("casts", 1)],
)


_PIECE = 2**16


def _empty(node: sg.Node) -> Any:
    return np.empty(node.shape, node.dtype)


def numbers(
    graph: sg.Graph, random: np.random.Generator, empty: Callable[[sg.Node], Any] = _empty
) -> dict[str, Any]:
    """Small numbers for each input; rows are numbered below 200.

    They are drawn by pieces into arrays that `empty` makes. NumPy asks for large pages for arrays
    of 4 MiB, and the system fills those of the heap up in its own time, whatever runs: a process
    that is measured has none there.
    """
    found: dict[str, Any] = {}
    for name, node in graph.dag.inputs.items():
        found[name] = empty(node)
        flat = found[name].reshape(-1)
        for start in range(0, flat.size, _PIECE):
            piece = flat[start : start + _PIECE]
            if node.dtype.kind == "i":
                piece[:] = random.integers(0, 200, piece.size)
            else:
                piece[:] = random.normal(0, 0.1, piece.size)
    return found
