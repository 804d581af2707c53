"""Normalisation layers, in all their operands."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg
from textbook import Row, row

__all__ = ["NORMALISED"]

FIXED = {"x": "6, 5", "g": "6, 5"}
NAMED = {"x": "n, 5", "g": "n, 5"}


def normalised(x: Any, axis: Any = -1) -> Any:
    c = x - np.mean(x, axis=axis, keepdims=True)
    return c / np.sqrt(np.mean(c**2, axis=axis, keepdims=True) + 1e-5)


def normalised_by_var(x: Any, axis: Any = -1) -> Any:
    mean, variance = np.mean(x, axis=axis, keepdims=True), np.var(x, axis=axis, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5)


def normalised_back(x: Any, g: Any, axis: Any = -1) -> Any:
    c = x - np.mean(x, axis=axis, keepdims=True)
    s = np.sqrt(np.mean(np.square(c), axis=axis, keepdims=True) + 1e-5)
    h = c / s
    means = [np.mean(v, axis=axis, keepdims=True) for v in (g, g * h)]
    return (g - means[0] - h * means[1]) / s


def rms(x: Any) -> Any:
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-5)


def rms_back(x: Any, g: Any) -> Any:
    r = np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + 1e-5)
    h = x / r
    return (g - h * np.mean(g * h, axis=-1, keepdims=True)) / r


def unit(x: Any) -> Any:
    return x / np.sqrt(np.sum(x**2, axis=-1, keepdims=True))


def unit_back(x: Any, g: Any) -> Any:
    n = np.sqrt(np.sum(np.square(x), axis=-1, keepdims=True))
    h = x / n
    return (g - h * np.sum(g * h, axis=-1, keepdims=True)) / n


NORMALISED: list[Row] = [
    row("layer norm", lambda x, g: np.sum(g * normalised(x)), "x", normalised_back, **FIXED),
    row(
        "layer norm, named rows",
        lambda x, g: np.sum(g * normalised(x)),
        "x",
        normalised_back,
        **NAMED,
    ),
    row(
        "layer norm by np.var",
        lambda x, g: np.sum(g * normalised_by_var(x)),
        "x",
        normalised_back,
        **FIXED,
    ),
    row(
        "layer norm with gain and bias",
        lambda x, g, a, b: np.sum(g * (a * normalised(x) + b)),
        "x",
        lambda x, g, a, b: normalised_back(x, g * a),
        **FIXED,
        a="5",
        b="5",
    ),
    row(
        "layer norm, gain",
        lambda x, g, a, b: np.sum(g * (a * normalised(x) + b)),
        "a",
        lambda x, g, a, b: np.sum(g * normalised(x), axis=0),
        **FIXED,
        a="5",
        b="5",
    ),
    row(
        "layer norm, bias",
        lambda x, g, a, b: np.sum(g * (a * normalised(x) + b)),
        "b",
        lambda x, g, a, b: np.sum(g, axis=0),
        **FIXED,
        a="5",
        b="5",
    ),
    row(
        "layer norm of one vector",
        lambda x, g: g @ normalised(x),
        "x",
        normalised_back,
        x="5",
        g="5",
    ),
    row(
        "batch norm",
        lambda x, g: np.sum(g * normalised(x, 0)),
        "x",
        lambda x, g: normalised_back(x, g, 0),
        **FIXED,
    ),
    row(
        "batch norm by np.var",
        lambda x, g: np.sum(g * normalised_by_var(x, 0)),
        "x",
        lambda x, g: normalised_back(x, g, 0),
        **FIXED,
    ),
    row(
        "batch norm, gain",
        lambda x, g, a: np.sum(g * (a * normalised(x, 0))),
        "a",
        lambda x, g, a: np.sum(g * normalised(x, 0), axis=0),
        **FIXED,
        a="5",
    ),
    row(
        "batch norm, squared, gain",
        lambda x, a: np.sum((a * normalised(x, 0)) ** 2),
        "a",
        lambda x, a: (
            2 * a * (q := np.sum(np.square(x - np.mean(x, axis=0)), axis=0)) / (q / 6 + 1e-5)
        ),
        x="6, 5",
        a="5",
    ),
    row(
        "batch norm, statistics fixed",
        lambda x, g, m, v: np.sum(g * (x - m) / np.sqrt(v + 1e-5)),
        "x",
        lambda x, g, m, v: g / np.sqrt(v + 1e-5),
        **FIXED,
        m="5",
        v=sg.spec("5", assume=sg.positive),
    ),
    row(
        "instance norm",
        lambda x, g: np.sum(g * normalised(x, (1, 2))),
        "x",
        lambda x, g: normalised_back(x, g, (1, 2)),
        x="3, 4, 5",
        g="3, 4, 5",
    ),
    row(
        "group norm",
        lambda x, g: np.sum(g * normalised(x.reshape(6, 2, 4)).reshape(6, 8)),
        "x",
        lambda x, g: normalised_back(x.reshape(6, 2, 4), g.reshape(6, 2, 4)).reshape(6, 8),
        x="6, 8",
        g="6, 8",
    ),
    row("RMS norm", lambda x, g: np.sum(g * rms(x)), "x", rms_back, **FIXED),
    row("RMS norm, named rows", lambda x, g: np.sum(g * rms(x)), "x", rms_back, **NAMED),
    row(
        "RMS norm with gain",
        lambda x, g, a: np.sum(g * (a * rms(x))),
        "x",
        lambda x, g, a: rms_back(x, g * a),
        **FIXED,
        a="5",
    ),
    row(
        "RMS norm, gain",
        lambda x, g, a: np.sum(g * (a * rms(x))),
        "a",
        lambda x, g, a: np.sum(g * rms(x), axis=0),
        **FIXED,
        a="5",
    ),
    row("rows of length 1", lambda x, g: np.sum(g * unit(x)), "x", unit_back, **FIXED),
    row("rows of length 1, named rows", lambda x, g: np.sum(g * unit(x)), "x", unit_back, **NAMED),
    row(
        "rows of sum 1",
        lambda x, g: np.sum(g * (x / np.sum(x, axis=-1, keepdims=True))),
        "x",
        lambda x, g: (
            (g - np.sum(g * x, axis=-1, keepdims=True) / (s := np.sum(x, axis=-1, keepdims=True)))
            / s
        ),
        x=sg.spec("6, 5", assume=sg.positive),
        g="6, 5",
    ),
    row(
        "cosine similarities of two batches",
        lambda X, Y, G: np.sum(G * (unit(X) @ unit(Y).T)),
        "X",
        lambda X, Y, G: unit_back(X, G @ unit(Y)),
        X="6, 5",
        Y="4, 5",
        G="6, 4",
    ),
    row(
        "layer norm before a linear layer, weights",
        lambda x, W, g: np.sum(g * (normalised(x) @ W)),
        "W",
        lambda x, W, g: normalised(x).T @ g,
        x="6, 5",
        W="5, 3",
        g="6, 3",
    ),
    row(
        "RMS norm before a linear layer, input",
        lambda x, W, g: np.sum(g * (rms(x) @ W)),
        "x",
        lambda x, W, g: rms_back(x, g @ W.T),
        x="6, 5",
        W="5, 3",
        g="6, 3",
    ),
    row(
        "centred rows",
        lambda x, g: np.sum(g * (x - np.mean(x, axis=-1, keepdims=True))),
        "x",
        lambda x, g: g - np.mean(g, axis=-1, keepdims=True),
        **FIXED,
    ),
]
