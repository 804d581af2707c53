"""Losses of overlaps and of probabilities."""

from __future__ import annotations

import numpy as np

import symgraph as sg
from symgraph.numpy import log_sigmoid, sigmoid, softmax
from textbook import POSITIVE, PROBABILITY, Row, plain_sigmoid, plain_softmax, row

__all__ = ["OVERLAP_LOSSES"]


OVERLAPS: list[Row] = [
    row(
        "Dice",
        lambda p, y: 1 - 2 * np.sum(p * y) / (np.sum(p) + np.sum(y)),
        "p",
        lambda p, y: (p @ y / (s := np.sum(p + y)) - y) * (2 / s),
        p=POSITIVE,
        y=POSITIVE,
    ),
    row(
        "Dice, squared sums",
        lambda p, y: 1 - 2 * np.sum(p * y) / (np.sum(p**2) + np.sum(y**2)),
        "p",
        lambda p, y: (p * (2 * (p @ y) / (s := p @ p + y @ y)) - y) * (2 / s),
        p=POSITIVE,
        y=POSITIVE,
    ),
    row(
        "soft Jaccard",
        lambda p, y: 1 - np.sum(p * y) / np.sum(p + y - p * y),
        "p",
        lambda p, y: ((i := np.sum(p * y)) / (u := np.sum(p) + np.sum(y) - i) * (1 - y) - y) / u,
        p=PROBABILITY,
        y=PROBABILITY,
    ),
    row(
        "Tversky",
        lambda p, y: (
            t := np.sum(p * y),
            1 - t / (t + 0.3 * np.sum(p * (1 - y)) + 0.7 * np.sum((1 - p) * y)),
        )[1],
        "p",
        lambda p, y: (0.3 * np.sum(p * y) / (d := 0.3 * np.sum(p) + 0.7 * np.sum(y)) - y) / d,
        p=PROBABILITY,
        y=PROBABILITY,
    ),
    row(
        "F1 surrogate on logits",
        lambda z, y: 1 - 2 * np.sum(plain_sigmoid(z) * y) / (np.sum(plain_sigmoid(z)) + np.sum(y)),
        "z",
        lambda z, y: ((p := sigmoid(z)) @ y / (s := np.sum(p + y)) - y) * (2 / s) * p * (1 - p),
        z="5",
        y=POSITIVE,
    ),
]

PROBABILITIES: list[Row] = [
    row(
        "binary cross-entropy on probabilities",
        lambda p, y: -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p)),
        "p",
        lambda p, y: (p - y) / (p * (1 - p)),
        p=PROBABILITY,
        y="5",
    ),
    row(
        "binary cross-entropy on logits",
        lambda z, y: -np.sum(y * np.log(plain_sigmoid(z)) + (1 - y) * np.log(1 - plain_sigmoid(z))),
        "z",
        lambda z, y: sigmoid(z) - y,
        z="5",
        y="5",
    ),
    row(
        "binary cross-entropy, softplus",
        lambda z, y: np.sum(np.log(1 + np.exp(z)) - y * z),
        "z",
        lambda z, y: sigmoid(z) - y,
        z="5",
        y="5",
    ),
    row(
        "binary cross-entropy, safe spelling",
        lambda z, y: np.sum(np.maximum(z, 0) - z * y + np.log(1 + np.exp(-np.abs(z)))),
        "z",
        lambda z, y: sigmoid(z) - y,
        z="5",
        y="5",
    ),
    row(
        "binary cross-entropy, weight of positives",
        lambda z, y, a: (
            -np.sum(a * y * np.log(plain_sigmoid(z)) + (1 - y) * np.log(1 - plain_sigmoid(z)))
        ),
        "z",
        lambda z, y, a: (1 + (a - 1) * y) * sigmoid(z) - a * y,
        z="5",
        y="5",
        a="",
    ),
    row(
        "binary cross-entropy, mean of weighted",
        lambda z, y, w: np.mean(w * (np.log(1 + np.exp(z)) - y * z)),
        "z",
        lambda z, y, w: w / 5 * (sigmoid(z) - y),
        z="5",
        y="5",
        w="5",
    ),
    row(
        "binary cross-entropy, smoothed",
        lambda z, y: np.sum(np.log(1 + np.exp(z)) - (0.9 * y + 0.05) * z),
        "z",
        lambda z, y: sigmoid(z) - (0.9 * y + 0.05),
        z="5",
        y="5",
    ),
    row(
        "Brier",
        lambda z, y: 0.5 * np.sum((plain_sigmoid(z) - y) ** 2),
        "z",
        lambda z, y: ((p := sigmoid(z)) - y) * p * (1 - p),
        z="5",
        y="5",
    ),
    row(
        "focal, positives",
        lambda z: -np.sum((1 - plain_sigmoid(z)) ** 2 * np.log(plain_sigmoid(z))),
        "z",
        lambda z: np.square(u := 1 - (p := sigmoid(z))) * (2 * p * log_sigmoid(z) - u),
        z="5",
    ),
    row(
        "focal on probabilities",
        lambda p: -np.sum((1 - p) ** 2 * np.log(p)),
        "p",
        lambda p: (u := 1 - p) * (2 * np.log(p) - u / p),
        p=PROBABILITY,
    ),
    row(
        "poly loss",
        lambda z, p: -np.sum(p * np.log(plain_softmax(z))) + 1 - np.sum(p * plain_softmax(z)),
        "z",
        lambda z, p: (q := softmax(z)) * (1 + np.sum(p * q) - p) - p,
        z="5",
        p=sg.spec("5", assume=sg.simplex(axis=-1)),
    ),
    row(
        "generalised cross-entropy",
        lambda p: np.sum((1 - p**0.7) / 0.7),
        "p",
        lambda p: -(p**-0.3),
        p=PROBABILITY,
    ),
    row(
        "GAN discriminator, real",
        lambda z: -np.mean(np.log(plain_sigmoid(z))),
        "z",
        lambda z: sigmoid(-z) / -5,
        z="5",
    ),
    row(
        "least squares GAN",
        lambda z: 0.5 * np.mean((z - 1) ** 2),
        "z",
        lambda z: (z - 1) / 5,
        z="5",
    ),
    row(
        "wake-sleep free energy of an RBM",
        lambda v, W, b, c: -(b @ v) - np.sum(np.log(1 + np.exp(W @ v + c))),
        "W",
        lambda v, W, b, c: np.outer(-sigmoid(W @ v + c), v),
        v="5",
        W="4, 5",
        b="5",
        c="4",
    ),
]

OVERLAP_LOSSES = [*OVERLAPS, *PROBABILITIES]
