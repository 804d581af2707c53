"""The workloads at sizes that fill a GPU, in single precision.

A table: by name the workload of `workloads` and its data, given what makes the length of a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .workloads import WORKLOADS, Workload, attention

__all__ = ["large"]

Rows = Callable[[int], int]
Data = dict[str, Any]


def _normal(*shape: int, scale: float = 1.0) -> Any:
    found = np.random.default_rng(list(shape)).standard_normal(shape, "float32")
    return found * np.float32(scale)


def _labels(n: int, classes: int) -> Any:
    """One-hot rows."""
    found = np.zeros((n, classes), "float32")
    found[np.arange(n), np.random.default_rng(0).integers(classes, size=n)] = 1
    return found


def _repeated(name: str, times: int) -> Callable[[Rows], Data]:
    """The data of a workload on the CPU, one copy behind the other."""

    def data(rows: Rows) -> Data:
        given = WORKLOADS[name].data()
        count = len(next(iter(given.values())))
        copies = max(1, rows(times * count) // count)
        return {n: np.concatenate([x.astype("float32")] * copies) for n, x in given.items()}

    return data


def _logistic(rows: Rows) -> Data:
    n = rows(2_000_000)
    return {"X": _normal(n, 100), "y": _labels(n, 2)[:, 0], "w": _normal(100, scale=0.1)}


def _network(rows: Rows) -> Data:
    n = rows(16_384)
    return {
        "X": _normal(n, 784), "y": _labels(n, 10),
        "W1": _normal(784, 2048, scale=0.03), "b1": _normal(2048, scale=0.1),
        "W2": _normal(2048, 10, scale=0.02), "b2": _normal(10, scale=0.1),
    }  # fmt: skip


def _smooth_network(rows: Rows) -> Data:
    n = rows(16_384)
    return {
        "X": _normal(n, 1024), "y": _normal(n, 10),
        "W1": _normal(1024, 1024, scale=0.03), "W2": _normal(1024, 10, scale=0.03),
    }  # fmt: skip


def _cross_entropy(rows: Rows) -> Data:
    n = rows(65_536)
    p = np.abs(_normal(n, 1000)) + np.float32(0.1)
    return {"z": _normal(n, 1000), "p": p / p.sum(-1, keepdims=True)}


def _mixture(rows: Rows) -> Data:
    return {
        "x": _normal(rows(200_000), 10), "weights": _normal(25, scale=0.1),
        "means": _normal(25, 10),
        "factors": np.eye(10, dtype="float32") + _normal(25, 10, 10, scale=0.1),
    }  # fmt: skip


def _lstm(rows: Rows) -> Data:
    n = rows(4096)
    return {
        "x": _normal(50, n, 64), "W": _normal(64, 512, scale=0.1),
        "U": _normal(128, 512, scale=0.1), "b": _normal(512, scale=0.1),
        "start": np.zeros((n, 128), "float32"),
    }  # fmt: skip


def _attention(rows: Rows) -> Data:
    weights = zip(("Wq", "Wk", "Wv", "Wo"), _normal(4, 512, 512, scale=0.04), strict=True)
    return {"x": _normal(rows(64), 256, 512), **dict(weights)}


def _convolution(rows: Rows) -> Data:
    return {
        "x": _normal(rows(512), 16, 62, 62), "w": _normal(32, 16, 3, 3, scale=0.1),
        "b": _normal(32, scale=0.1),
    }  # fmt: skip


_GREEKS = "Black-Scholes, five sensitivities"
_TABLE: dict[str, tuple[str, Callable[[Rows], Data]]] = {
    "logistic regression": ("logistic regression, big", _logistic),
    "MLP": ("MLP", _network),
    "MLP, HVP": ("MLP, HVP", _smooth_network),
    "softmax cross-entropy, naive": ("softmax cross-entropy, naive", _cross_entropy),
    "Black-Scholes": (_GREEKS, _repeated(_GREEKS, 20)),
    "bundle adjustment": ("bundle adjustment", _repeated("bundle adjustment", 100)),
    "Gaussian mixture": ("Gaussian mixture", _mixture),
    "LSTM": ("LSTM", _lstm),
    "attention": ("attention", _attention),
    "convolution": ("convolution", _convolution),
}


def large(size: float) -> dict[str, Workload]:
    """The workloads, with batches of `size` times what fills a large GPU."""

    def rows(n: int) -> int:
        return max(16, int(n * size))

    found = {
        name: replace(WORKLOADS[known], data=partial(data, rows))
        for name, (known, data) in _TABLE.items()
    }
    heads = partial(attention, batch=rows(64))
    found["attention"] = replace(found["attention"], f=heads)
    return found
