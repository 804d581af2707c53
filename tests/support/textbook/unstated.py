"""Gradients of many fields, as users write them, who state few facts or none.

Half of 48 formulas, written with their closed forms before any was run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.scipy.special import ndtr
from textbook import POSITIVE, SCALE, Row, row
from textbook import plain_sigmoid as sigmoid

__all__ = ["UNSTATED"]

LN10 = float(np.log(10.0))
YEARS = np.arange(1.0, 6.0)


def _turned(o: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The coordinates of a point in axes turned by an angle."""
    c, s = np.cos(o), np.sin(o)
    return c * a + s * b, c * b - s * a


UNSTATED: list[Row] = [
    row(
        "advantage-weighted regression, values and temperature",
        lambda v, b, q, k: -np.sum(np.exp((q - v) / b) * k),
        "v b",
        lambda v, b, q, k: (z := (q - v) / b, w := np.exp(z) * k / b, (w, w @ z))[2],
        v="5",
        b="",
        q="5",
        k="5",
    ),
    row(
        "pseudo-likelihood of spins, couplings and fields",
        lambda J, h, s: np.sum(np.log(1 + np.exp(-2 * s * (J @ s + h)))),
        "J h",
        lambda J, h, s: (
            t := 2 * s,
            g := -t * snp.sigmoid(-t * (J @ s + h)),
            (np.outer(g, s), g),
        )[2],
        J="5, 5",
        h="5",
        s="5",
    ),
    row(
        "thin lens, distance of the object",
        lambda u, f: 1 / (1 / f - 1 / u),
        "u",
        lambda u, f: -np.square(f / (u - f)),
        u=sg.spec("", assume=sg.interval(2.0, 3.0)),
        f=sg.spec("", assume=sg.interval(0.5, 1.0)),
    ),
    row(
        "distance modulus, distances and absolute magnitude",
        lambda d, M, m: 0.5 * np.sum((m - M - 5 * np.log10(d / 10)) ** 2),
        "d M",
        lambda d, M, m: (
            r := m - M - 5 * np.log10(0.1 * d),
            ((-5 / LN10) * r / d, -np.sum(r)),
        )[1],
        d=POSITIVE,
        M="",
        m="5",
    ),
    row(
        "stock and recruits, both coefficients",
        lambda a, b, R, S: 0.5 * np.sum((np.log(R / S) - a + b * S) ** 2),
        "a b",
        lambda a, b, R, S: (r := np.log(R / S) - a + b * S, (-np.sum(r), S @ r))[1],
        a="",
        b="",
        R=POSITIVE,
        S=POSITIVE,
    ),
    row(
        "hyperbolic discounting, rate and determinism",
        lambda k, b, A, D, B: -np.sum(np.log(sigmoid(b * (A / (1 + k * D) - B)))),
        "k b",
        lambda k, b, A, D, B: (
            q := 1 / (1 + k * D),
            V := A * q,
            d := V - B,
            s := snp.sigmoid(-b * d),
            (b * np.sum(s * V * q * D), -(s @ d)),
        )[4],
        k="",
        b="",
        A="5",
        D="5",
        B="5",
    ),
    row(
        "duration, as slope of the logarithm of a price",
        lambda y, c: np.log(np.sum(c * (1 + y) ** -YEARS)),
        "y",
        lambda y, c: (q := 1 + y, w := c * q**-YEARS, -(w @ YEARS) / (q * np.sum(w)))[2],
        y="",
        c=POSITIVE,
    ),
    row(
        "Bachelier's call, forward and volatility",
        lambda F, s, K, T: (
            q := s * np.sqrt(T),
            d := (F - K) / q,
            (F - K) * ndtr(d) + q * np.exp(-(d**2) / 2) / np.sqrt(2 * np.pi),
        )[2],
        "F s",
        lambda F, s, K, T: (
            q := np.sqrt(T),
            d := (F - K) / (s * q),
            (ndtr(d), q * np.exp(-0.5 * d**2) * float(1 / np.sqrt(2 * np.pi))),
        )[2],
        F="",
        s=SCALE,
        K="",
        T=SCALE,
    ),
    row(
        "growth of capital, fractions",
        lambda w, R: np.mean(np.log(1 + R @ w)),
        "w",
        lambda w, R: (0.2 / (1 + R @ w)) @ R,
        w="3",
        R="5, 3",
    ),
    row(
        "two of three, failure rate",
        lambda r, t: (p := np.exp(-r * t), 3 * p**2 - 2 * p**3)[1],
        "r",
        lambda r, t: (p := np.exp(-r * t), 6 * t * np.square(p) * (p - 1))[1],
        r="",
        t="",
    ),
    row(
        "power law of repairs, both parameters",
        lambda r, b, t, T: r * T**b - np.sum(np.log(r * b * t ** (b - 1))),
        "r b",
        lambda r, b, t, T: (
            u := T**b,
            (u - 5 / r, r * u * np.log(T) - 5 / b - np.sum(np.log(t))),
        )[1],
        r=SCALE,
        b=SCALE,
        t=POSITIVE,
        T=SCALE,
    ),
    row(
        "pose in the plane, angle and position",
        lambda o, x, y, a, b, z, w: (
            at := _turned(o, a - x, b - y),
            0.5 * (at[0] - z) ** 2 + 0.5 * (at[1] - w) ** 2,
        )[1],
        "o x y",
        lambda o, x, y, a, b, z, w: (
            c := np.cos(o),
            s := np.sin(o),
            d := a - x,
            e := b - y,
            u := c * d + s * e,
            v := c * e - s * d,
            p := z - u,
            q := w - v,
            (u * w - v * z, c * p - s * q, s * p + c * q),
        )[8],
        **dict.fromkeys(("o", "x", "y", "a", "b", "z", "w"), ""),
    ),
    row(
        "turning points onto others, angle",
        lambda o, a, b, z, w: (
            at := _turned(o, a, b),
            0.5 * np.sum((at[0] - z) ** 2 + (at[1] - w) ** 2),
        )[1],
        "o",
        lambda o, a, b, z, w: (at := _turned(o, a, b), at[0] @ w - at[1] @ z)[1],
        o="",
        a="5",
        b="5",
        z="5",
        w="5",
    ),
    row(
        "distance of quaternions of any length",
        lambda q, p: 1 - (q @ p) ** 2 / ((q @ q) * (p @ p)),
        "q",
        lambda q, p: (
            n := q @ q,
            k := q @ p / n,
            2 * k / (p @ p) * (k * q - p),
        )[2],
        q="4",
        p="4",
    ),
    row(
        "Gaussian process evidence, length scale",
        lambda h, D, y, s: (
            K := np.exp(-D / h) + s * np.eye(4),
            0.5 * y @ np.linalg.inv(K) @ y + 0.5 * np.linalg.slogdet(K)[1],
        )[1],
        "h",
        lambda h, D, y, s: (
            E := np.exp(-D / h),
            A := np.linalg.inv(E + s * np.eye(4)),
            a := A @ y,
            0.5 * np.sum((A - np.outer(a, a)) * E * D) / np.square(h),
        )[3],
        h=SCALE,
        D=sg.spec("4, 4", assume=(sg.symmetric, sg.positive)),
        y="4",
        s=SCALE,
    ),
    row(
        "cosine of two matrices",
        lambda A, B: np.trace(A.T @ B) / (np.linalg.norm(A) * np.linalg.norm(B)),
        "A",
        lambda A, B: (
            n := np.linalg.norm(A),
            b := np.linalg.norm(B),
            (B / b - np.sum(A * B) / (b * np.square(n)) * A) / n,
        )[2],
        A="3, 4",
        B="3, 4",
    ),
    row(
        "extended Debye and Hückel, ionic strength",
        lambda c, A, B, z: -A * z**2 * np.sqrt(c) / (1 + B * np.sqrt(c)),
        "c",
        lambda c, A, B, z: (s := np.sqrt(c), -0.5 * A * z**2 / (s * np.square(1 + B * s)))[1],
        **dict.fromkeys(("c", "A", "B", "z"), ""),
    ),
    row(
        "Margules activity, composition",
        lambda x, A, B: (1 - x) ** 2 * (A + 2 * (B - A) * x),
        "x",
        lambda x, A, B: 2 * (1 - x) * ((B - A) * (1 - 3 * x) - A),
        x="",
        A="",
        B="",
    ),
    row(
        "Flory and Huggins, volume fraction",
        lambda p, N, c: p / N * np.log(p) + (1 - p) * np.log(1 - p) + c * p * (1 - p),
        "p",
        lambda p, N, c: (1 + np.log(p)) / N - np.log(1 - p) - 1 + c * (1 - 2 * p),
        p=sg.spec("", assume=sg.interval(0.1, 0.9)),
        N="",
        c="",
    ),
    row(
        "Colebrook's residual, friction",
        lambda f, e, R: (
            0.5 * (1 / np.sqrt(f) + 2 * np.log10(e / 3.7 + 2.51 / (R * np.sqrt(f)))) ** 2
        ),
        "f",
        lambda f, e, R: (
            s := -1 / np.sqrt(f),
            q := -2.51 / R * s,
            a := e / 3.7 + q,
            (s - 2 * np.log10(a)) * (q / (LN10 * a) - s / 2) / f,
        )[3],
        f=SCALE,
        e=SCALE,
        R="",
    ),
    row(
        "infusion, clearance and volume",
        lambda C, V, R, t, y: y @ (R / C * (1 - np.exp(-C / V * t))),
        "C V",
        lambda C, V, R, t, y: (
            E := np.exp(-C / V * t),
            s := y @ (t * E) / V,
            g := R / C,
            (g * (s - y @ (1 - E) / C), -s * R / V),
        )[3],
        C="",
        V="",
        R="",
        t="5",
        y="5",
    ),
]
