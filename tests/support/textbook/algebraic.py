"""Scalar calculus: powers, polynomials, rational functions, roots."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any

import numpy as np

import symgraph as sg
from textbook import POSITIVE, SCALE, Row, row

__all__ = ["ALGEBRAIC"]

TWIXT = sg.spec("5", assume=sg.interval(-0.95, 0.95))
NONZERO = sg.spec("5", assume=sg.nonzero)


def horner(x: Any, coefficients: Sequence[float]) -> Any:
    """The polynomial with these coefficients, the constant one first."""
    *rest, value = coefficients
    for coefficient in reversed(rest):
        value = value * x + coefficient
    return value


POWERS: list[Row] = [
    row("x^2", lambda x: np.sum(x**2), "x", lambda x: 2 * x, x="5"),
    row("x^3", lambda x: np.sum(x**3), "x", lambda x: 3 * np.square(x), x="5"),
    row("x^4", lambda x: np.sum(x**4), "x", lambda x: 4 * x**3, x="5"),
    row("x^2 by x * x, halved", lambda x: np.sum(0.5 * x * x), "x", lambda x: x, x="5"),
    row("1/x", lambda x: np.sum(1 / x), "x", lambda x: -1 / np.square(x), x=NONZERO),
    row("1/x^2", lambda x: np.sum(x**-2), "x", lambda x: -2 / x**3, x=POSITIVE),
    row("sqrt x", lambda x: np.sum(np.sqrt(x)), "x", lambda x: 0.5 / np.sqrt(x), x=POSITIVE),
    row("1/sqrt x", lambda x: np.sum(1 / np.sqrt(x)), "x", lambda x: -0.5 * x**-1.5, x=POSITIVE),
    row("x sqrt x", lambda x: np.sum(x * np.sqrt(x)), "x", lambda x: 1.5 * np.sqrt(x), x=POSITIVE),
    row("cube root", lambda x: np.sum(x ** (1 / 3)), "x", lambda x: x ** (-2 / 3) / 3, x=POSITIVE),
    row("x^a", lambda x, a: np.sum(x**a), "x", lambda x, a: a * x ** (a - 1), x=POSITIVE, a=""),
    row(
        "x^a in a", lambda x, a: np.sum(x**a), "a", lambda x, a: np.log(x) * x**a, x=POSITIVE, a="5"
    ),
    row("x^x", lambda x: np.sum(x**x), "x", lambda x: (1 + np.log(x)) * x**x, x=POSITIVE),
    row("(x + 1)^3", lambda x: np.sum((x + 1) ** 3), "x", lambda x: 3 * np.square(x + 1), x="5"),
    row(
        "(ax + b)^2",
        lambda x, a, b: np.sum((a * x + b) ** 2),
        "x",
        lambda x, a, b: 2 * a * (a * x + b),
        x="5",
        a="",
        b="",
    ),
    row(
        "(ax + b)^2 in a",
        lambda x, a, b: np.sum((a * x + b) ** 2),
        "a",
        lambda x, a, b: 2 * np.sum(x * (a * x + b)),
        x="5",
        a="",
        b="",
    ),
    row("square of a sum", lambda x: np.sum(x) ** 2, "x", lambda x: 2 * np.sum(x), x="5"),
    row(
        "product of sums",
        lambda x, y: np.sum(x) * np.sum(x * y),
        "x",
        lambda x, y: np.sum(x * y) + y * np.sum(x),
        x="5",
        y="5",
    ),
]

POLYNOMIALS: list[Row] = [
    row(
        "x^4 - 2x^2",
        lambda x: np.sum(x**4 - 2 * x**2),
        "x",
        lambda x: 4 * x * (np.square(x) - 1),
        x="5",
    ),
    row(
        "x^4 - 3x^2 + 2x - 1",
        lambda x: np.sum(x**4 - 3 * x**2 + 2 * x - 1),
        "x",
        lambda x: 2 + x * (4 * np.square(x) - 6),
        x="5",
    ),
    row(
        "(x^2 - 1)^2",
        lambda x: np.sum((x**2 - 1) ** 2),
        "x",
        lambda x: 4 * x * (np.square(x) - 1),
        x="5",
    ),
    row(
        "cubic by Horner",
        lambda x, a, b, c: np.sum(((a * x + b) * x + c) * x),
        "x",
        lambda x, a, b, c: (3 * a * x + 2 * b) * x + c,
        x="5",
        a="",
        b="",
        c="",
    ),
    row(
        "quadratic with coefficients",
        lambda x, a, b, c: np.sum(a * x**2 + b * x + c),
        "x",
        lambda x, a, b, c: 2 * a * x + b,
        x="5",
        a="",
        b="",
        c="",
    ),
    row(
        "Taylor polynomial of exp, degree 8",
        lambda x: np.sum(1 + sum(x**k / factorial(k) for k in range(1, 9))),
        "x",
        lambda x: horner(x, [1 / factorial(k) for k in range(8)]),
        x="5",
    ),
    row(
        "Taylor polynomial of log(1 + x), degree 7",
        lambda x: np.sum(sum((-1) ** (k + 1) * x**k / k for k in range(1, 8))),
        "x",
        lambda x: horner(x, [1, -1, 1, -1, 1, -1, 1]),
        x="5",
    ),
    row(
        "degree 7 by Horner",
        lambda x: np.sum(horner(x, [3, -2, 5, 7, -1, 4, 2, 6])),
        "x",
        lambda x: horner(x, [-2, 10, 21, -4, 20, 12, 42]),
        x="5",
    ),
    row(
        "degree 8, in powers",
        lambda x: np.sum(sum(c * x**k for k, c in enumerate([3, -2, 5, 7, -1, 4, 2, 6, 9]))),
        "x",
        lambda x: horner(x, [-2, 10, 21, -4, 20, 12, 42, 72]),
        x="5",
    ),
    row(
        "smootherstep",
        lambda x: np.sum(6 * x**5 - 15 * x**4 + 10 * x**3),
        "x",
        lambda x: 30 * np.square(x * (x - 1)),
        x="5",
    ),
    row(
        "smootherstep by Horner",
        lambda x: np.sum(((6 * x - 15) * x + 10) * x**3),
        "x",
        lambda x: 30 * np.square(x * (x - 1)),
        x="5",
    ),
    row("x (1 - x)", lambda x: np.sum(x * (1 - x)), "x", lambda x: 1 - 2 * x, x="5"),
    row("x^2 (1 - x)", lambda x: np.sum(x**2 * (1 - x)), "x", lambda x: x * (2 - 3 * x), x="5"),
    row(
        "x^3 (1 - x)^2",
        lambda x: np.sum(x**3 * (1 - x) ** 2),
        "x",
        lambda x: (u := 1 - x) * np.square(x) * (3 * u - 2 * x),
        x="5",
    ),
    row("smoothstep", lambda x: np.sum(3 * x**2 - 2 * x**3), "x", lambda x: 6 * x * (1 - x), x="5"),
    row(
        "Chebyshev T3",
        lambda x: np.sum(4 * x**3 - 3 * x),
        "x",
        lambda x: 12 * np.square(x) - 3,
        x="5",
    ),
    row(
        "Legendre P4",
        lambda x: np.sum((35 * x**4 - 30 * x**2 + 3) / 8),
        "x",
        lambda x: x * (17.5 * np.square(x) - 7.5),
        x="5",
    ),
    row(
        "Rosenbrock in x",
        lambda x, y: np.sum((1 - x) ** 2 + 100 * (y - x**2) ** 2),
        "x",
        lambda x, y: 2 * (x - 1) - 400 * x * (y - np.square(x)),
        x="5",
        y="5",
    ),
    row(
        "Rosenbrock in y",
        lambda x, y: np.sum((1 - x) ** 2 + 100 * (y - x**2) ** 2),
        "y",
        lambda x, y: 200 * (y - np.square(x)),
        x="5",
        y="5",
    ),
    row(
        "Himmelblau",
        lambda x, y: np.sum((x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2),
        "x",
        lambda x, y: 4 * x * (np.square(x) + y - 11) + 2 * (x + np.square(y) - 7),
        x="5",
        y="5",
    ),
]

RATIONAL: list[Row] = [
    row(
        "Padé approximant of exp",
        lambda x: np.sum((12 + 6 * x + x**2) / (12 - 6 * x + x**2)),
        "x",
        lambda x: (144 - 12 * np.square(x)) / np.square(12 + x * (x - 6)),
        x="5",
    ),
    row(
        "Padé approximant of log(1 + x)",
        lambda x: np.sum((x + x**2 / 2) / (1 + x + x**2 / 6)),
        "x",
        lambda x: 12 * ((x + 3) * x + 3) / np.square((x + 6) * x + 6),
        x=POSITIVE,
    ),
    row(
        "quotient of cubics",
        lambda x: np.sum((1 + x**3) / (2 + x**3)),
        "x",
        lambda x: 3 * np.square(x) / np.square(2 + x**3),
        x=POSITIVE,
    ),
    row(
        "1/(1 + x)", lambda x: np.sum(1 / (1 + x)), "x", lambda x: -1 / np.square(1 + x), x=POSITIVE
    ),
    row(
        "x/(1 + x)", lambda x: np.sum(x / (1 + x)), "x", lambda x: 1 / np.square(1 + x), x=POSITIVE
    ),
    row(
        "x/(1 + x^2)",
        lambda x: np.sum(x / (1 + x**2)),
        "x",
        lambda x: (1 - (q := np.square(x))) / np.square(1 + q),
        x="5",
    ),
    row(
        "1/(1 + x^2)",
        lambda x: np.sum(1 / (1 + x**2)),
        "x",
        lambda x: -2 * x / np.square(1 + np.square(x)),
        x="5",
    ),
    row(
        "x^2/(1 + x^2)",
        lambda x: np.sum(x**2 / (1 + x**2)),
        "x",
        lambda x: 2 * x / np.square(1 + np.square(x)),
        x="5",
    ),
    row(
        "(1 - x)/(1 + x)",
        lambda x: np.sum((1 - x) / (1 + x)),
        "x",
        lambda x: -2 / np.square(1 + x),
        x=POSITIVE,
    ),
    row(
        "(1 + x^2)/x",
        lambda x: np.sum((1 + x**2) / x),
        "x",
        lambda x: 1 - 1 / np.square(x),
        x=NONZERO,
    ),
    row("x + 1/x", lambda x: np.sum(x + 1 / x), "x", lambda x: 1 - 1 / np.square(x), x=NONZERO),
    row(
        "x/y in y",
        lambda x, y: np.sum(x / y),
        "y",
        lambda x, y: -x / np.square(y),
        x="5",
        y=NONZERO,
    ),
    row(
        "xy/(x + y)",
        lambda x, y: np.sum(x * y / (x + y)),
        "x",
        lambda x, y: np.square(y / (x + y)),
        x=POSITIVE,
        y=POSITIVE,
    ),
    row(
        "(x - y)/(x + y)",
        lambda x, y: np.sum((x - y) / (x + y)),
        "x",
        lambda x, y: 2 * y / np.square(x + y),
        x=POSITIVE,
        y=POSITIVE,
    ),
    row(
        "Hill function",
        lambda x, k: np.sum(x**2 / (k**2 + x**2)),
        "x",
        lambda x, k: 2 * x * np.square(k / (np.square(k) + np.square(x))),
        x=POSITIVE,
        k=SCALE,
    ),
    row(
        "Michaelis-Menten in K",
        lambda s, v, k: np.sum(v * s / (k + s)),
        "k",
        lambda s, v, k: -np.sum(v * s / np.square(k + s)),
        s=POSITIVE,
        v="",
        k=SCALE,
    ),
]

ROOTS: list[Row] = [
    row(
        "sqrt(1 + x^2)",
        lambda x: np.sum(np.sqrt(1 + x**2)),
        "x",
        lambda x: x / np.sqrt(1 + np.square(x)),
        x="5",
    ),
    row(
        "sqrt(1 - x^2)",
        lambda x: np.sum(np.sqrt(1 - x**2)),
        "x",
        lambda x: -x / np.sqrt(1 - np.square(x)),
        x=TWIXT,
    ),
    row(
        "1/sqrt(1 + x^2)",
        lambda x: np.sum(1 / np.sqrt(1 + x**2)),
        "x",
        lambda x: -x * (1 + np.square(x)) ** -1.5,
        x="5",
    ),
    row(
        "x/sqrt(1 + x^2)",
        lambda x: np.sum(x / np.sqrt(1 + x**2)),
        "x",
        lambda x: (1 + np.square(x)) ** -1.5,
        x="5",
    ),
    row(
        "sqrt(x^2 + y^2)",
        lambda x, y: np.sum(np.sqrt(x**2 + y**2)),
        "x",
        lambda x, y: x / np.sqrt(np.square(x) + np.square(y)),
        x="5",
        y="5",
    ),
    row(
        "sqrt(xy)",
        lambda x, y: np.sum(np.sqrt(x * y)),
        "x",
        lambda x, y: 0.5 * np.sqrt(y / x),
        x=POSITIVE,
        y=POSITIVE,
    ),
    row(
        "sqrt x + sqrt y, squared",
        lambda x, y: np.sum((np.sqrt(x) + np.sqrt(y)) ** 2),
        "x",
        lambda x, y: 1 + np.sqrt(y / x),
        x=POSITIVE,
        y=POSITIVE,
    ),
    row(
        "exp(-sqrt x)",
        lambda x: np.sum(np.exp(-np.sqrt(x))),
        "x",
        lambda x: -0.5 * np.exp(-(s := np.sqrt(x))) / s,
        x=POSITIVE,
    ),
    row("absolute value", lambda x: np.sum(np.abs(x)), "x", lambda x: np.sign(x), x="5"),
    row("x |x|", lambda x: np.sum(x * np.abs(x)), "x", lambda x: 2 * np.abs(x), x="5"),
    row("log |x|", lambda x: np.sum(np.log(np.abs(x))), "x", lambda x: 1 / x, x=NONZERO),
    row("sqrt of a square", lambda x: np.sum(np.sqrt(x**2)), "x", lambda x: np.sign(x), x=NONZERO),
]

ALGEBRAIC = [*POWERS, *POLYNOMIALS, *RATIONAL, *ROOTS]
