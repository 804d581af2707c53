"""Activations: sigmoids, rectifiers, and what is made of them."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.numpy import sigmoid
from textbook import Row, plain_sigmoid, row

__all__ = ["ACTIVATIONS"]

ROOT_2, ROOT_2_PI = np.sqrt(2), np.sqrt(2 * np.pi)
ROOT_2_OVER_PI = np.sqrt(2 / np.pi)

SIGMOIDS: list[Row] = [
    row(
        "sigmoid",
        lambda x: np.sum(plain_sigmoid(x)),
        "x",
        lambda x: (s := sigmoid(x)) * (1 - s),
        x="5",
    ),
    row(
        "sigmoid by exp x / (1 + exp x)",
        lambda x: np.sum(np.exp(x) / (1 + np.exp(x))),
        "x",
        lambda x: (s := sigmoid(x)) * (1 - s),
        x="5",
    ),
    row(
        "sigmoid times its complement",
        lambda x: np.sum(plain_sigmoid(x) * (1 - plain_sigmoid(x))),
        "x",
        lambda x: (s := sigmoid(x)) * (u := 1 - s) * (u - s),
        x="5",
    ),
    row(
        "sigmoid squared",
        lambda x: np.sum(plain_sigmoid(x) ** 2),
        "x",
        lambda x: 2 * np.square(s := sigmoid(x)) * (1 - s),
        x="5",
    ),
    row(
        "sigmoid of a scaled input, in the scale",
        lambda x, b: np.sum(plain_sigmoid(b * x)),
        "b",
        lambda x, b: np.sum(x * ((s := sigmoid(b * x)) * (1 - s))),
        x="5",
        b="",
    ),
    row(
        "log of sigmoid",
        lambda x: np.sum(np.log(plain_sigmoid(x))),
        "x",
        lambda x: sigmoid(-x),
        x="5",
    ),
    row(
        "log of 1 minus sigmoid",
        lambda x: np.sum(np.log(1 - plain_sigmoid(x))),
        "x",
        lambda x: -sigmoid(x),
        x="5",
    ),
    row(
        "tanh by sigmoid",
        lambda x: np.sum(2 * plain_sigmoid(2 * x) - 1),
        "x",
        lambda x: 1 - np.square(np.tanh(x)),
        x="5",
    ),
    row(
        "softsign",
        lambda x: np.sum(x / (1 + np.abs(x))),
        "x",
        lambda x: 1 / np.square(1 + np.abs(x)),
        x="5",
    ),
    row("softplus", lambda x: np.sum(np.log(1 + np.exp(x))), "x", lambda x: sigmoid(x), x="5"),
    row(
        "softplus by log1p", lambda x: np.sum(np.log1p(np.exp(x))), "x", lambda x: sigmoid(x), x="5"
    ),
    row(
        "softplus, safe spelling",
        lambda x: np.sum(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))),
        "x",
        lambda x: sigmoid(x),
        x="5",
    ),
    row(
        "softplus, sharpened",
        lambda x, b: np.sum(np.log(1 + np.exp(b * x)) / b),
        "x",
        lambda x, b: sigmoid(b * x),
        x="5",
        b=sg.spec("", assume=sg.positive),
    ),
    row(
        "softplus squared",
        lambda x: 0.5 * np.sum(np.log(1 + np.exp(x)) ** 2),
        "x",
        lambda x: snp.softplus(x) * sigmoid(x),
        x="5",
    ),
    row(
        "silu",
        lambda x: np.sum(x * plain_sigmoid(x)),
        "x",
        lambda x: (s := sigmoid(x)) * (1 + x * (1 - s)),
        x="5",
    ),
    row(
        "silu by division",
        lambda x: np.sum(x / (1 + np.exp(-x))),
        "x",
        lambda x: (s := sigmoid(x)) * (1 + x * (1 - s)),
        x="5",
    ),
    row(
        "swish with slope",
        lambda x, b: np.sum(x * plain_sigmoid(b * x)),
        "x",
        lambda x, b: (s := sigmoid(z := b * x)) * (1 + z * (1 - s)),
        x="5",
        b="",
    ),
    row(
        "swish with slope, in the slope",
        lambda x, b: np.sum(x * plain_sigmoid(b * x)),
        "b",
        lambda x, b: np.sum(np.square(x) * (s := sigmoid(b * x)) * (1 - s)),
        x="5",
        b="",
    ),
    row(
        "mish",
        lambda x: np.sum(x * np.tanh(np.log(1 + np.exp(x)))),
        "x",
        lambda x: (t := np.tanh(snp.softplus(x))) + x * (1 - np.square(t)) * sigmoid(x),
        x="5",
    ),
    row(
        "gelu",
        lambda x: np.sum(0.5 * x * (1 + snp.erf(x / ROOT_2))),
        "x",
        lambda x: 0.5 * (1 + snp.erf(x / ROOT_2)) + x * np.exp(np.square(x) / -2) / ROOT_2_PI,
        x="5",
    ),
    row(
        "gelu by tanh",
        lambda x: np.sum(0.5 * x * (1 + np.tanh(ROOT_2_OVER_PI * (x + 0.044715 * x**3)))),
        "x",
        lambda x: (
            0.5
            * (
                (
                    t := np.tanh(
                        x * (ROOT_2_OVER_PI + 0.044715 * ROOT_2_OVER_PI * (q := np.square(x)))
                    )
                )
                + 1
                + x * (1 - np.square(t)) * (ROOT_2_OVER_PI + 3 * 0.044715 * ROOT_2_OVER_PI * q)
            )
        ),
        x="5",
    ),
    row(
        "gelu by sigmoid",
        lambda x: np.sum(x * plain_sigmoid(1.702 * x)),
        "x",
        lambda x: (s := sigmoid(z := 1.702 * x)) * (1 + z * (1 - s)),
        x="5",
    ),
    row(
        "error function",
        lambda x: np.sum(snp.erf(x)),
        "x",
        lambda x: (2 / np.sqrt(np.pi)) * np.exp(-np.square(x)),
        x="5",
    ),
    row(
        "normal distribution function",
        lambda x: np.sum(0.5 * (1 + snp.erf(x / ROOT_2))),
        "x",
        lambda x: np.exp(np.square(x) / -2) / ROOT_2_PI,
        x="5",
    ),
    row(
        "scaled tanh",
        lambda x: np.sum(1.7159 * np.tanh(2 * x / 3)),
        "x",
        lambda x: (1.7159 * 2 / 3) * (1 - np.square(np.tanh(2 / 3 * x))),
        x="5",
    ),
    row(
        "tanhshrink", lambda x: np.sum(x - np.tanh(x)), "x", lambda x: np.square(np.tanh(x)), x="5"
    ),
]

RECTIFIERS: list[Row] = [
    row(
        "relu", lambda x: np.sum(np.maximum(x, 0)), "x", lambda x: np.where(x > 0, 1.0, 0.0), x="5"
    ),
    row(
        "relu by where",
        lambda x: np.sum(np.where(x > 0, x, 0)),
        "x",
        lambda x: np.where(x > 0, 1.0, 0.0),
        x="5",
    ),
    row(
        "relu, weighted",
        lambda x, g: np.sum(g * np.maximum(x, 0)),
        "x",
        lambda x, g: np.where(x > 0, g, 0),
        x="5",
        g="5",
    ),
    row(
        "relu by absolute value",
        lambda x: np.sum(0.5 * (x + np.abs(x))),
        "x",
        lambda x: 0.5 + 0.5 * np.sign(x),
        x="5",
    ),
    row(
        "relu squared",
        lambda x: np.sum(np.maximum(x, 0) ** 2),
        "x",
        lambda x: 2 * np.maximum(x, 0),
        x="5",
    ),
    row(
        "relu cubed",
        lambda x: np.sum(np.maximum(x, 0) ** 3),
        "x",
        lambda x: 3 * np.square(np.maximum(x, 0)),
        x="5",
    ),
    row(
        "leaky relu",
        lambda x: np.sum(np.where(x > 0, x, 0.01 * x)),
        "x",
        lambda x: np.where(x > 0, 1, 0.01),
        x="5",
    ),
    row(
        "leaky relu by maximum",
        lambda x: np.sum(np.maximum(x, 0.01 * x)),
        "x",
        lambda x: np.where(x > 0, 1, 0.01),
        x="5",
    ),
    row(
        "parametric relu, slope",
        lambda x, a: np.sum(np.where(x > 0, x, a * x)),
        "a",
        lambda x, a: np.sum(np.minimum(x, 0)),
        x="5",
        a="",
    ),
    row(
        "elu",
        lambda x: np.sum(np.where(x > 0, x, np.exp(x) - 1)),
        "x",
        lambda x: np.where(x > 0, 1, np.exp(x)),
        x="5",
    ),
    row(
        "elu by expm1 of the negative part",
        lambda x: np.sum(np.maximum(x, 0) + np.expm1(np.minimum(x, 0))),
        "x",
        lambda x: np.exp(np.minimum(x, 0)),
        x="5",
    ),
    row(
        "selu",
        lambda x: 1.0507 * np.sum(np.where(x > 0, x, 1.67326 * (np.exp(x) - 1))),
        "x",
        lambda x: np.where(x > 0, 1.0507, 1.0507 * 1.67326 * np.exp(x)),
        x="5",
    ),
    row(
        "relu6",
        lambda x: np.sum(np.clip(x, 0, 6)),
        "x",
        lambda x: np.where((x > 0) & (x < 6), 1.0, 0.0),
        x="5",
    ),
    row(
        "hard sigmoid",
        lambda x: np.sum(np.clip(x / 6 + 0.5, 0, 1)),
        "x",
        lambda x: np.where(np.abs(x) < 3, 1 / 6, 0),
        x="5",
    ),
    row(
        "hard swish",
        lambda x: np.sum(x * np.clip(x + 3, 0, 6) / 6),
        "x",
        lambda x: np.clip(x / 6 + 0.5, 0, 1) + np.where(np.abs(x) < 3, x / 6, 0),
        x="5",
    ),
    row(
        "soft shrinkage",
        lambda x: np.sum(np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
        "x",
        lambda x: np.where(np.abs(x) > 0.5, 1.0, 0.0),
        x="5",
    ),
    row(
        "hard shrinkage",
        lambda x: np.sum(np.where(np.abs(x) > 0.5, x, 0)),
        "x",
        lambda x: np.where(np.abs(x) > 0.5, 1.0, 0.0),
        x="5",
    ),
    row(
        "hinge of a distance from 1",
        lambda x: 0.5 * np.sum(np.maximum(np.abs(x) - 1, 0) ** 2),
        "x",
        lambda x: np.sign(x) * np.maximum(np.abs(x) - 1, 0),
        x="5",
    ),
]

ACTIVATIONS = [*SIGMOIDS, *RECTIFIERS]
