"""Scalar calculus: exponentials, logarithms, circular and hyperbolic functions."""

from __future__ import annotations

import numpy as np

import symgraph as sg
from symgraph.numpy import sigmoid
from textbook import POSITIVE, PROBABILITY, SCALE, Row, row

__all__ = ["TRANSCENDENTAL"]

TWIXT = sg.spec("5", assume=sg.interval(-0.95, 0.95))
ACUTE = sg.spec("5", assume=sg.interval(-1.5, 1.5))
ANGLE = sg.spec("5", assume=sg.interval(0.1, 3))
OVER_ONE = sg.spec("5", assume=sg.interval(1.1, 4))

EXPONENTIALS: list[Row] = [
    row(
        "exp(ax)",
        lambda x, a: np.sum(np.exp(a * x)),
        "x",
        lambda x, a: a * np.exp(a * x),
        x="5",
        a="",
    ),
    row("x exp x", lambda x: np.sum(x * np.exp(x)), "x", lambda x: (1 + x) * np.exp(x), x="5"),
    row("x exp(-x)", lambda x: np.sum(x * np.exp(-x)), "x", lambda x: (1 - x) * np.exp(-x), x="5"),
    row(
        "x^2 exp(-x)",
        lambda x: np.sum(x**2 * np.exp(-x)),
        "x",
        lambda x: x * (2 - x) * np.exp(-x),
        x="5",
    ),
    row(
        "exp(-x^2/2)",
        lambda x: np.sum(np.exp(-(x**2) / 2)),
        "x",
        lambda x: -(x * np.exp(np.square(x) / -2)),
        x="5",
    ),
    row(
        "x exp(-x^2/2)",
        lambda x: np.sum(x * np.exp(-(x**2) / 2)),
        "x",
        lambda x: (1 - (q := np.square(x))) * np.exp(q / -2),
        x="5",
    ),
    row(
        "exp(-1/x)",
        lambda x: np.sum(np.exp(-1 / x)),
        "x",
        lambda x: np.exp(-1 / x) / np.square(x),
        x=POSITIVE,
    ),
    row(
        "exp sin x",
        lambda x: np.sum(np.exp(np.sin(x))),
        "x",
        lambda x: np.cos(x) * np.exp(np.sin(x)),
        x="5",
    ),
    row(
        "exp exp x",
        lambda x: np.sum(np.exp(np.exp(x))),
        "x",
        lambda x: np.exp(x + np.exp(x)),
        x="5",
    ),
    row("2^x", lambda x: np.sum(2**x), "x", lambda x: np.log(2) * 2**x, x="5"),
    row("a^x", lambda x, a: np.sum(a**x), "x", lambda x, a: np.log(a) * a**x, x="5", a=SCALE),
    row(
        "exp x, 1 taken away",
        lambda x: np.sum(np.exp(x) - 1 - x),
        "x",
        lambda x: np.expm1(x),
        x="5",
    ),
    row(
        "product of exponentials",
        lambda x, y: np.sum(np.exp(x) * np.exp(y)),
        "x",
        lambda x, y: np.exp(x + y),
        x="5",
        y="5",
    ),
    row(
        "quotient of exponentials",
        lambda x, y: np.sum(np.exp(x) / np.exp(y)),
        "y",
        lambda x, y: -np.exp(x - y),
        x="5",
        y="5",
    ),
    row(
        "Gompertz",
        lambda x, b: np.sum(np.exp(-b * np.exp(-x))),
        "x",
        lambda x, b: b * np.exp(-x - b * np.exp(-x)),
        x="5",
        b=SCALE,
    ),
    row(
        "damped cosine",
        lambda x: np.sum(np.exp(-x) * np.cos(x)),
        "x",
        lambda x: -(np.exp(-x) * (np.sin(x) + np.cos(x))),
        x="5",
    ),
]

LOGARITHMS: list[Row] = [
    row("log x", lambda x: np.sum(np.log(x)), "x", lambda x: 1 / x, x=POSITIVE),
    row("x log x", lambda x: np.sum(x * np.log(x)), "x", lambda x: np.log(x) + 1, x=POSITIVE),
    row("x log x - x", lambda x: np.sum(x * np.log(x) - x), "x", lambda x: np.log(x), x=POSITIVE),
    row(
        "log x / x",
        lambda x: np.sum(np.log(x) / x),
        "x",
        lambda x: (1 - np.log(x)) / np.square(x),
        x=POSITIVE,
    ),
    row("log^2 x", lambda x: np.sum(np.log(x) ** 2), "x", lambda x: 2 * np.log(x) / x, x=POSITIVE),
    row(
        "log log x",
        lambda x: np.sum(np.log(np.log(x))),
        "x",
        lambda x: 1 / (x * np.log(x)),
        x=OVER_ONE,
    ),
    row(
        "log(xy)",
        lambda x, y: np.sum(np.log(x * y)),
        "x",
        lambda x, y: 1 / x,
        x=POSITIVE,
        y=POSITIVE,
    ),
    row(
        "log(x/y) in y",
        lambda x, y: np.sum(np.log(x / y)),
        "y",
        lambda x, y: -1 / y,
        x=POSITIVE,
        y=POSITIVE,
    ),
    row("log(x^3)", lambda x: np.sum(np.log(x**3)), "x", lambda x: 3 / x, x=POSITIVE),
    row("log sqrt x", lambda x: np.sum(np.log(np.sqrt(x))), "x", lambda x: 0.5 / x, x=POSITIVE),
    row(
        "log(1 + x^2)",
        lambda x: np.sum(np.log(1 + x**2)),
        "x",
        lambda x: 2 * x / (1 + np.square(x)),
        x="5",
    ),
    row(
        "log((1 + x)/(1 - x))",
        lambda x: np.sum(np.log((1 + x) / (1 - x))),
        "x",
        lambda x: 2 / (1 - np.square(x)),
        x=TWIXT,
    ),
    row("log10 x", lambda x: np.sum(np.log10(x)), "x", lambda x: (1 / np.log(10)) / x, x=POSITIVE),
    row(
        "logit",
        lambda x: np.sum(np.log(x / (1 - x))),
        "x",
        lambda x: 1 / (x * (1 - x)),
        x=PROBABILITY,
    ),
    row(
        "log(exp x + exp y)",
        lambda x, y: np.sum(np.log(np.exp(x) + np.exp(y))),
        "y",
        lambda x, y: sigmoid(y - x),
        x="5",
        y="5",
    ),
    row(
        "log of a sum",
        lambda x, a: np.log(np.sum(a * x)),
        "x",
        lambda x, a: a / np.sum(a * x),
        x=POSITIVE,
        a=POSITIVE,
    ),
    row("log of a product of all", lambda x: np.log(np.prod(x)), "x", lambda x: 1 / x, x=POSITIVE),
]

CIRCULAR: list[Row] = [
    row(
        "sin x^2",
        lambda x: np.sum(np.sin(x**2)),
        "x",
        lambda x: 2 * x * np.cos(np.square(x)),
        x="5",
    ),
    row("sin^2 x", lambda x: np.sum(np.sin(x) ** 2), "x", lambda x: np.sin(2 * x), x="5"),
    row("cos^2 x", lambda x: np.sum(np.cos(x) ** 2), "x", lambda x: -np.sin(2 * x), x="5"),
    row(
        "sin x cos x", lambda x: np.sum(np.sin(x) * np.cos(x)), "x", lambda x: np.cos(2 * x), x="5"
    ),
    row(
        "sin^2 + cos^2 and a line",
        lambda x: np.sum(np.sin(x) ** 2 + np.cos(x) ** 2 + 3 * x),
        "x",
        lambda x: 3.0,
        x="5",
    ),
    row(
        "sin^3 x",
        lambda x: np.sum(np.sin(x) ** 3),
        "x",
        lambda x: 3 * np.square(np.sin(x)) * np.cos(x),
        x="5",
    ),
    row(
        "sin(ax + b)",
        lambda x, a, b: np.sum(np.sin(a * x + b)),
        "x",
        lambda x, a, b: a * np.cos(a * x + b),
        x="5",
        a="",
        b="",
    ),
    row(
        "cos sin x",
        lambda x: np.sum(np.cos(np.sin(x))),
        "x",
        lambda x: -(np.sin(np.sin(x)) * np.cos(x)),
        x="5",
    ),
    row(
        "x sin x", lambda x: np.sum(x * np.sin(x)), "x", lambda x: np.sin(x) + x * np.cos(x), x="5"
    ),
    row("tan x", lambda x: np.sum(np.tan(x)), "x", lambda x: 1 + np.square(np.tan(x)), x=ACUTE),
    row(
        "sin x / cos x",
        lambda x: np.sum(np.sin(x) / np.cos(x)),
        "x",
        lambda x: 1 / np.square(np.cos(x)),
        x=ACUTE,
    ),
    row(
        "1 / cos x", lambda x: np.sum(1 / np.cos(x)), "x", lambda x: np.tan(x) / np.cos(x), x=ACUTE
    ),
    row("log sin x", lambda x: np.sum(np.log(np.sin(x))), "x", lambda x: 1 / np.tan(x), x=ANGLE),
    row("log cos x", lambda x: np.sum(np.log(np.cos(x))), "x", lambda x: -np.tan(x), x=ACUTE),
    row(
        "log tan x",
        lambda x: np.sum(np.log(np.tan(x))),
        "x",
        lambda x: 2 / np.sin(2 * x),
        x=sg.spec("5", assume=sg.interval(0.1, 1.4)),
    ),
    row(
        "sin x / x",
        lambda x: np.sum(np.sin(x) / x),
        "x",
        lambda x: (np.cos(x) - np.sin(x) / x) / x,
        x=POSITIVE,
    ),
    row(
        "arcsin x",
        lambda x: np.sum(np.arcsin(x)),
        "x",
        lambda x: 1 / np.sqrt(1 - np.square(x)),
        x=TWIXT,
    ),
    row(
        "arccos x",
        lambda x: np.sum(np.arccos(x)),
        "x",
        lambda x: -1 / np.sqrt(1 - np.square(x)),
        x=TWIXT,
    ),
    row("arctan x", lambda x: np.sum(np.arctan(x)), "x", lambda x: 1 / (1 + np.square(x)), x="5"),
    row(
        "arctan(x/a)",
        lambda x, a: np.sum(np.arctan(x / a)),
        "x",
        lambda x, a: a / (np.square(a) + np.square(x)),
        x="5",
        a=SCALE,
    ),
    row(
        "arctan2(y, x)",
        lambda x, y: np.sum(np.arctan2(y, x)),
        "x",
        lambda x, y: -y / (np.square(x) + np.square(y)),
        x=POSITIVE,
        y="5",
    ),
    row(
        "x arctan x - log(1 + x^2)/2",
        lambda x: np.sum(x * np.arctan(x) - 0.5 * np.log(1 + x**2)),
        "x",
        lambda x: np.arctan(x),
        x="5",
    ),
    row(
        "x arcsin x + sqrt(1 - x^2)",
        lambda x: np.sum(x * np.arcsin(x) + np.sqrt(1 - x**2)),
        "x",
        lambda x: np.arcsin(x),
        x=TWIXT,
    ),
]

HYPERBOLIC: list[Row] = [
    row("sinh x", lambda x: np.sum(np.sinh(x)), "x", lambda x: np.cosh(x), x="5"),
    row("tanh x", lambda x: np.sum(np.tanh(x)), "x", lambda x: 1 - np.square(np.tanh(x)), x="5"),
    row(
        "tanh^2 x",
        lambda x: np.sum(np.tanh(x) ** 2),
        "x",
        lambda x: 2 * (t := np.tanh(x)) * (1 - np.square(t)),
        x="5",
    ),
    row(
        "cosh by exponentials",
        lambda x: np.sum((np.exp(x) + np.exp(-x)) / 2),
        "x",
        lambda x: np.sinh(x),
        x="5",
    ),
    row(
        "tanh by exponentials",
        lambda x: np.sum((np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))),
        "x",
        lambda x: 1 - np.square(np.tanh(x)),
        x="5",
    ),
    row("log cosh x", lambda x: np.sum(np.log(np.cosh(x))), "x", lambda x: np.tanh(x), x="5"),
    row(
        "log sinh x",
        lambda x: np.sum(np.log(np.sinh(x))),
        "x",
        lambda x: 1 / np.tanh(x),
        x=POSITIVE,
    ),
    row(
        "1 / cosh x",
        lambda x: np.sum(1 / np.cosh(x)),
        "x",
        lambda x: -np.tanh(x) / np.cosh(x),
        x="5",
    ),
    row(
        "cosh^2 - sinh^2 and a line",
        lambda x: np.sum(np.cosh(x) ** 2 - np.sinh(x) ** 2 + 3 * x),
        "x",
        lambda x: 3.0,
        x="5",
    ),
    row(
        "sinh x cosh x",
        lambda x: np.sum(np.sinh(x) * np.cosh(x)),
        "x",
        lambda x: np.cosh(2 * x),
        x="5",
    ),
    row(
        "arcsinh x",
        lambda x: np.sum(np.arcsinh(x)),
        "x",
        lambda x: 1 / np.sqrt(1 + np.square(x)),
        x="5",
    ),
    row(
        "arcsinh by a logarithm",
        lambda x: np.sum(np.log(x + np.sqrt(1 + x**2))),
        "x",
        lambda x: 1 / np.sqrt(1 + np.square(x)),
        x="5",
    ),
    row(
        "arctanh x", lambda x: np.sum(np.arctanh(x)), "x", lambda x: 1 / (1 - np.square(x)), x=TWIXT
    ),
    row(
        "arccosh x",
        lambda x: np.sum(np.arccosh(x)),
        "x",
        lambda x: 1 / np.sqrt(np.square(x) - 1),
        x=OVER_ONE,
    ),
]

TRANSCENDENTAL = [*EXPONENTIALS, *LOGARITHMS, *CIRCULAR, *HYPERBOLIC]
