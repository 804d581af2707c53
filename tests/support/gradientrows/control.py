"""Rows of loops, choices and derivatives that a user gives."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.testing import GradientCase, Operand


def of(*shape: int, low: float = -1.0, high: float = 1.0) -> Operand:
    return Operand(low, high, shape)


def step(w: Any) -> Any:
    def recurrence(h: Any, x: Any) -> Any:
        after = snp.tanh(h @ w + x)
        return after, after * x

    return recurrence


def both(carry: Any, stacked: Any) -> Any:
    return snp.sum(carry * carry) + stacked


@sg.custom_vjp
def custom(x: Any, y: Any) -> Any:
    return snp.sin(x) * y


@custom.backward
def _(ct: Any, out: Any, x: Any, y: Any) -> Any:
    return ct * snp.cos(x) * y, ct * snp.sin(x)


def squared(carry: Any, _: Any) -> Any:
    return custom(carry, carry), None


def least(x: Any) -> float:
    return 4 * float(np.finfo(x.dtype).eps)


LOOP = (of(3, 3), of(3), of(4, 3))

ROWS: tuple[GradientCase, ...] = (
    GradientCase("scan", lambda w, h, xs: both(*sg.scan(step(w), h, xs)), LOOP, order=3),
    GradientCase(
        "scan", lambda w, h, xs: sg.scan(step(w), h, xs, reverse=True)[1], LOOP, note="reverse"
    ),
    GradientCase(
        "scan",
        lambda x: sg.fori_loop(3, lambda i, c: c * x + i.astype(x.dtype), x),
        (of(2),),
        note="fori",
    ),
    GradientCase(
        "scan",
        lambda a, xs: sg.scan(
            lambda c, x: ((c[1], c[0] * a), sg.scan(lambda s, y: (s + y * a, s * y), c[1], x)),
            (a, snp.zeros((), a.dtype)),
            xs,
        )[1][1],
        (of(), of(3, 2)),
        note="nested",
    ),
    GradientCase(
        "cond",
        lambda p, x, w: snp.sum(
            snp.stack(sg.cond(p > 0, lambda: (x * w, snp.sin(w)), lambda: (snp.exp(x), w * w)))
        ),
        (of(low=0.5), of(3), of(3)),
        order=3,
    ),
    GradientCase(
        "cond",
        lambda xs: sg.scan(
            lambda c, x: (sg.cond(x > 0, lambda c: c * x, lambda c: c - x * x, c), c * c), xs[0], xs
        )[1],
        (of(4),),
        note="in a loop",
    ),
    # Where nothing is clipped: a clipped gradient is no derivative.
    GradientCase(
        "clip_gradient", lambda x: snp.sin(snp.clip_gradient(x, -9.0, 9.0, norm=9.0)), (of(3),)
    ),
    GradientCase("custom_vjp", custom, (of(3), of(3))),
    GradientCase("custom_vjp", lambda x: sg.scan(squared, x, None, 3)[0], (of(2),), note="loop"),
    # An iteration ends sooner or later with the numbers: no kernel of complex ones. Both contract
    # whatever the operands are.
    GradientCase(
        "implicit",
        lambda w, b: sg.fixed_point(
            lambda x: snp.tanh(snp.sin(w) @ x / 3 + b) / 2,
            snp.zeros(2, b.dtype),
            tolerance=least(b),
        ),
        (of(2, 2), of(2)),
        analytic=False,
        note="fixed_point",
    ),
    GradientCase(
        "linear_solution",
        lambda a, b: sg.cg(lambda x: a.T @ (a @ x) + 3 * x, b, tolerance=least(b)),
        (of(3, 2), of(2)),
        analytic=False,
        note="cg",
    ),
    GradientCase(
        "converged",
        lambda a, b: sum(
            sg.fixed_point(
                lambda x: (snp.sin(x[1] + a) / 2, snp.cos(x[0] * snp.sin(b)) / 2),
                (a, b),
                tolerance=least(a),
            )
        ),
        (of(), of()),
        analytic=False,
        note="a pair",
    ),
    GradientCase(
        "while_loop",
        lambda x: sg.while_loop(lambda c: snp.sum(c) < 40, lambda c: c * x + 1, x, max_steps=12),
        (of(2, low=1.5, high=2.5),),
        note="bounded",
    ),
)
