"""Steps of random programs that compute element by element."""

from __future__ import annotations

import numpy as np

from .builder import Builder
from .forms import FormTable

form = FormTable()


ANYWHERE = (
    "-{0}",
    "np.negative({0})",
    "np.sin({0})",
    "np.cos({0})",
    "np.tanh({0})",
    "np.arctan({0})",
    "np.arcsinh({0})",
    "np.square({0})",
    "{0} ** 2",
    "{0} ** 3",
    "np.power({0}, 2)",
    "{0} * {0}",
    "{0} + {0}",
    "{0} - {0}",
    "1 / (1 + np.exp(-{0}))",
    "np.exp(-{0}) / (1 + np.exp(-{0}))",
    "sp.sigmoid({0})",
    "np.log(1 + np.exp({0}))",
    "np.logaddexp({0}, 0.0)",
    "np.logaddexp(0, {0})",
    "np.log1p(np.exp(-{0}))",
    "{0} / (1 + np.exp(-{0}))",
    "1 / (1 + {0} * {0})",
    "np.sqrt(1 + {0} ** 2)",
    "np.exp(-{0} ** 2)",
    "np.exp(-0.5 * {0} * {0})",
    "np.log(np.exp({0}))",
    "np.sin({0}) ** 2 + np.cos({0}) ** 2 * {0}",
    "sp.stop_gradient({0}) * {0}",
    "sp.erf({0})",
    "sp.softplus({0})",
    "sp.log_sigmoid({0})",
    "0.5 * {0} * (1 + sp.erf({0} / np.sqrt(2.0)))",
    "np.logaddexp2({0}, 0.5)",
    "np.hypot({0}, 1.0)",
    "np.radians({0})",
    "np.sum({0} * 0 + 1.5)",
    "{0}.astype('float64')",
    "{0}.sum()",
    "{0}.reshape(-1)",
    "-(-{0})",
    "0.5 * ({0} + {0})",
)
SMALL = (
    ("np.exp({0})", 3.0),
    ("np.exp2({0})", 3.0),
    ("np.expm1({0})", 3.0),
    ("np.sinh({0})", 3.0),
    ("np.cosh({0})", 3.0),
    ("np.log(np.cosh({0}))", 3.0),
    ("np.tan({0})", 1.2),
    ("np.arcsin({0})", 0.9),
    ("np.arccos({0})", 0.9),
    ("np.arctanh({0})", 0.9),
    ("np.log1p({0})", 0.8),
    ("np.sqrt(1 - {0} * {0})", 0.9),
    ("np.exp({0}) * np.exp(-{0}) * {0}", 3.0),
)
ABOVE = (
    ("np.log({0})", 0.2),
    ("np.log2({0})", 0.2),
    ("np.log10({0})", 0.2),
    ("np.sqrt({0})", 0.2),
    ("{0} ** 0.5", 0.2),
    ("{0} ** -0.5", 0.3),
    ("{0} ** -1", 0.3),
    ("{0} ** -2", 0.4),
    ("{0} ** 1.5", 0.2),
    ("1 / {0}", 0.3),
    ("1 / np.sqrt({0})", 0.3),
    ("np.reciprocal({0})", 0.3),
    ("np.exp(np.log({0}))", 0.2),
    ("np.sqrt({0}) * np.sqrt({0})", 0.2),
    ("np.sqrt({0} * {0})", 0.2),
    ("np.arccosh({0} + 1)", 0.3),
    ("{0} / {0} * {0}", 0.3),
    ("np.log({0} ** 2)", 0.3),
    ("np.log(1 / {0})", 0.3),
    ("{0} * np.log({0})", 0.2),
)
KINKED = (
    ("np.abs({0})", (0.0,)),
    ("np.maximum({0}, 0)", (0.0,)),
    ("np.maximum(0.0, {0})", (0.0,)),
    ("np.minimum({0}, 1)", (1.0,)),
    ("np.maximum({0}, 0.1 * {0})", (0.0,)),
    ("np.where({0} > 0, {0}, 0.0)", (0.0,)),
    ("np.where({0} > 0, {0}, np.exp({0}) - 1)", (0.0,)),
    ("np.where({0} < 1, {0}, {0} ** 2)", (1.0,)),
    ("({0} > 0) * {0}", (0.0,)),
    ("np.sign({0}) * {0}", (0.0,)),
    ("np.clip({0}, -1, 1)", (-1.0, 1.0)),
    ("np.clip({0}, -0.5, 2.0)", (-0.5, 2.0)),
    ("np.sqrt({0} ** 2)", (0.0,)),
    ("np.fabs({0})", (0.0,)),
    ("sp.cbrt({0})", (-0.1, 0.0, 0.1)),
    ("np.floor({0}) * {0}", (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0)),
    ("{0} - np.round({0})", (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5)),
    ("np.remainder({0}, 2.0)", (-4.0, -2.0, 0.0, 2.0, 4.0)),
    ("np.where({0} > 0, np.sin({0}), np.exp(np.minimum({0}, 0)))", (0.0,)),
    ("(1 - np.sign({0})) * {0} / 2", (0.0,)),
    ("{0} / np.abs({0}) + {0}", (0.0,)),
    ("np.maximum({0}, 0) - np.maximum(-{0}, 0)", (0.0,)),
)


@form(6)
def anywhere(b: Builder) -> int | None:
    x = b.pick()
    text = b.rng.choice(ANYWHERE)
    if x is None or ("np.exp" in text and np.max(np.abs(b.values[x])) > 20):
        return None
    return b.add(text, x)


@form(4)
def small(b: Builder) -> int | None:
    x = b.pick()
    text, bound = b.rng.choice(SMALL)
    x = None if x is None else b.within(x, bound)
    return None if x is None else b.add(text, x)


@form(4)
def above(b: Builder) -> int | None:
    x = b.pick()
    text, low = b.rng.choice(ABOVE)
    x = None if x is None else b.above(x, low)
    return None if x is None else b.add(text, x)


@form(3)
def kinked(b: Builder) -> int | None:
    text, points = b.rng.choice(KINKED)
    x = b.pick()
    if x is None or not b.far_from(x, *points):
        return None
    if ("exp" in text or len(points) > 3) and np.max(np.abs(b.values[x]), initial=0) > 3:
        return None
    return b.add(text, x)


@form(4)
def with_number(b: Builder) -> int | None:
    x = b.pick()
    number = b.number()
    text = b.rng.choice(
        ["{0} + N", "{0} * N", "N * {0}", "{0} - N", "N - {0}", "{0} / N", "np.multiply(N, {0})"]
    )
    return None if x is None else b.add(text.replace("N", number), x)


@form(2)
def with_array(b: Builder) -> int | None:
    x = b.pick()
    if x is None:
        return None
    shape = b.values[x].shape[b.rng.randint(0, b.values[x].ndim) :]
    numbers = np.round(np.array([b.rng.uniform(-2, 2) for _ in range(int(np.prod(shape)))]), 2)
    literal = numbers.reshape(shape).tolist()
    text = b.rng.choice(["{0} * C", "C * {0}", "{0} + C", "C - {0}"])
    return b.add(text.replace("C", f"np.array({literal}, dtype={{0}}.dtype)"), x)


@form(12)
def arithmetic(b: Builder) -> int | None:
    x = b.pick()
    y = None if x is None else b.partner(x)
    if x is None or y is None:
        return None
    return b.add(
        b.rng.choice(
            [
                "{0} + {1}",
                "{0} - {1}",
                "{0} * {1}",
                "{0} * {1} - {1}",
                "{0} * {1} + {0}",
                "np.add({0}, {1})",
                "{0} + 2 * {1}",
                "{0} - ({0} - {1})",
                "({0} + {1}) * ({0} - {1})",
                "({0} - {1}) ** 2",
                "-{0} * -{1}",
                "{0} + (-{1})",
            ]
        ),
        x,
        y,
    )


@form(4)
def quotient(b: Builder) -> int | None:
    x = b.pick()
    y = None if x is None else b.partner(x)
    y = None if y is None else b.above(y, 0.3)
    if x is None or y is None:
        return None
    return b.add(
        b.rng.choice(
            [
                "{0} / {1}",
                "np.divide({0}, {1})",
                "{0} * {1} / {1}",
                "{0} / {1} * {1}",
                "{0} / ({1} * {1})",
                "({0} + {1}) / {1}",
                "{0} * (1 / {1})",
                "{0} * np.log({1})",
                "np.log({1} / (1 + {0} * {0}))",
                "np.arctan2({0}, {1})",
                "np.tanh({0}) / np.sqrt({1})",
            ]
        ),
        x,
        y,
    )


@form(2)
def powers(b: Builder) -> int | None:
    x = b.pick()
    x = None if x is None else b.above(x, 0.3)
    x = None if x is None or np.max(b.values[x]) > 8 else x
    y = None if x is None else b.partner(x)
    y = None if y is None else b.within(y, 1.5)
    if x is None or y is None:
        return None
    return b.add(b.rng.choice(["{0} ** {1}", "np.power({0}, {1})"]), x, y)


@form(3)
def larger(b: Builder) -> int | None:
    x = b.pick()
    y = None if x is None else b.partner(x)
    if x is None or y is None or not b.apart(x, y):
        return None
    return b.add(
        b.rng.choice(
            [
                "np.maximum({0}, {1})",
                "np.minimum({0}, {1})",
                "np.where({0} > {1}, {0}, {1})",
                "np.where({0} <= {1}, {0} * {1}, {1})",
                "({0} < {1}) * {0}",
                "np.where(({0} > {1}) & ({0} > -9), {0}, 0.5)",
            ]
        ),
        x,
        y,
    )


@form(2)
def smooth_pairs(b: Builder) -> int | None:
    x = b.pick()
    y = None if x is None else b.partner(x)
    if x is None or y is None or np.max(np.abs(b.values[x])) > 20:
        return None
    text = b.rng.choice(
        ["np.logaddexp({0}, {1})", "np.sqrt({0} ** 2 + {1} ** 2 + 1)", "np.sin({0}) * {1}"]
    )
    return b.add(text, x, y)
