"""Networks that memory is planned for: layers, attention, convolutions, an unrolled LSTM."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg
import symgraph.numpy as snp

__all__ = ["convolutions", "lstm", "mlp", "residual", "stacked", "transformer"]


def _closed(inputs: dict[str, sg.Array], loss: Any) -> sg.Graph:
    weights = [each for name, each in inputs.items() if not name.startswith("x")]
    return sg.graph(loss, *sg.grad(loss, weights))


def mlp(layers: int = 64, batch: int = 256, width: int = 128) -> sg.Graph:
    """Layers of tanh and a sum of squares."""
    inputs = {"x": sg.input("x", (batch, width), "float32")}
    h: Any = inputs["x"]
    for layer in range(layers):
        inputs[f"w{layer}"] = sg.input(f"w{layer}", (width, width), "float32")
        h = np.tanh(h @ inputs[f"w{layer}"])
    return _closed(inputs, np.sum(h * h))


def stacked(layers: int = 64, batch: int = 256, width: int = 128) -> sg.Graph:
    """The same with the weights of all layers in one array."""
    x = sg.input("x", (batch, width), "float32")
    w = sg.input("w", (layers, width, width), "float32")
    h: Any = x
    for layer in range(layers):
        h = np.tanh(h @ w[layer])
    return _closed({"x": x, "w": w}, np.sum(h * h))


def residual(blocks: int = 1000, batch: int = 64, width: int = 16) -> sg.Graph:
    """Residual layers of tanh: some 12 nodes a block."""
    inputs = {"x": sg.input("x", (batch, width))}
    h: Any = inputs["x"]
    for block in range(blocks):
        inputs[f"w{block}"] = sg.input(f"w{block}", (width, width))
        h = h + np.tanh(h @ inputs[f"w{block}"])
    return _closed(inputs, np.sum(h * h))


def transformer(blocks: int = 12, length: int = 192, width: int = 32) -> sg.Graph:
    """Blocks of attention, softmax written out, and a two-layer perceptron."""
    inputs = {"x": sg.input("x", (length, width), "float32")}

    def weight(name: str, rows: int, columns: int) -> sg.Array:
        inputs[name] = sg.input(name, (rows, columns), "float32")
        return inputs[name]

    h: Any = inputs["x"]
    for block in range(blocks):
        q, k, v = [h @ weight(f"{name}{block}", width, width) for name in "qkv"]
        scores = q @ k.T / np.float32(np.sqrt(width))
        e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        h = h + (e / np.sum(e, axis=-1, keepdims=True)) @ v
        up = np.tanh(h @ weight(f"u{block}", width, 4 * width))
        h = h + up @ weight(f"d{block}", 4 * width, width)
    return _closed(inputs, np.sum(h * h))


def convolutions(layers: int = 8, batch: int = 8, size: int = 16, channels: int = 8) -> sg.Graph:
    """Convolutions of width 3 with relu."""
    inputs = {"x": sg.input("x", (batch, channels, size, size), "float32")}
    h: Any = inputs["x"]
    for layer in range(layers):
        w = inputs[f"w{layer}"] = sg.input(f"w{layer}", (channels, channels, 3, 3), "float32")
        h = np.maximum(snp.conv2d(h, w, padding=1), 0)
    return _closed(inputs, np.sum(h * h))


def lstm(steps: int = 50, batch: int = 32, width: int = 32) -> sg.Graph:
    """An LSTM written out in time."""
    inputs = {"xs": sg.input("xs", (steps, batch, width), "float32")}
    w = inputs["w"] = sg.input("w", (width, 4 * width), "float32")
    u = inputs["u"] = sg.input("u", (width, 4 * width), "float32")
    b = inputs["b"] = sg.input("b", (4 * width,), "float32")
    h: Any = np.zeros((batch, width), np.float32)
    c: Any = np.zeros((batch, width), np.float32)
    for step in range(steps):
        z = inputs["xs"][step] @ w + b + h @ u
        i, f, o, g = [z[:, gate * width : (gate + 1) * width] for gate in range(4)]
        c = snp.sigmoid(f) * c + snp.sigmoid(i) * np.tanh(g)
        h = snp.sigmoid(o) * np.tanh(c)
    return _closed(inputs, np.sum(h * h))
