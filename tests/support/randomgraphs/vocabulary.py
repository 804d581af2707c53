"""The steps of random programs: each form chooses operands and parameters and adds its line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .builder import Builder

__all__ = ["FORMS", "Form"]

Form: TypeAlias = Callable[[Builder], "int | None"]

FORMS: dict[str, tuple[Form, float]] = {}
"""Each form with how often it is tried."""


def form(weight: float) -> Callable[[Form], Form]:
    def enter(function: Form) -> Form:
        FORMS[function.__name__] = (function, weight)
        return function

    return enter


# -- elementwise ----------------------------------------------------------------------------------
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


# -- reductions -----------------------------------------------------------------------------------
@form(8)
def sums(b: Builder) -> int | None:
    x = b.pick()
    if x is None or not b.values[x].size:
        return None
    keep = b.rng.choice([", keepdims=True", ", keepdims=True", ""])
    name = b.rng.choice(["sum", "sum", "mean"])
    return b.add(f"np.{name}({{0}}, axis={b.axes(x)}{keep})", x)


@form(2)
def moments(b: Builder) -> int | None:
    x = b.pick()
    if x is None or not b.values[x].size:
        return None
    axes = b.axes(x)
    if np.min(np.var(b.values[x], axis=axes)) < 0.05:
        return None
    keep = b.rng.choice([", keepdims=True", ""])
    return b.add(f"np.{b.rng.choice(['var', 'std'])}({{0}}, axis={axes}{keep})", x)


@form(2)
def extremes(b: Builder) -> int | None:
    x = b.pick(lambda value: bool(value.size))
    if x is None:
        return None
    axis = b.axis(x) if b.rng.random() < 0.8 else None
    value = b.values[x].reshape(-1) if axis is None else b.values[x]
    along = -1 if axis is None else axis
    gaps = np.diff(np.sort(value, axis=along), axis=along)
    if gaps.size and np.min(gaps) < 0.02:
        return None
    name, keep = b.rng.choice(["max", "min"]), b.rng.choice([", keepdims=True", ""])
    return b.add(f"np.{name}({{0}}, axis={axis}{keep})", x)


@form(1.5)
def positions(b: Builder) -> int | None:
    """Values picked where another is largest."""
    x = b.pick(lambda value: value.ndim > 0 and bool(value.size))
    if x is None:
        return None
    axis = b.axis(x)
    ordered = np.sort(b.values[x], axis=axis)
    kept = [":"] * (b.values[x].ndim - 1)
    added = ", ".join([*kept[: axis % b.values[x].ndim], "None", *kept[axis % b.values[x].ndim :]])
    if ordered.shape[axis] > 1 and np.min(np.diff(ordered, axis=axis)) < 0.02:
        return None
    return b.add(
        b.rng.choice(
            [
                f"np.take_along_axis({{0}}, np.argmax({{0}}, {axis})[{added}], {axis})",
                f"np.sum(np.where({{0}} == np.max({{0}}, axis={axis}, keepdims=True), {{0}}, 0.0))",
                f"np.ptp({{0}}, axis={axis})",
                f"{{0}} - np.min({{0}}, axis={axis}, keepdims=True)",
            ]
        ),
        x,
    )


@form(1.5)
def running(b: Builder) -> int | None:
    x = b.pick(lambda value: bool(value.size) and value.ndim > 0)
    if x is None:
        return None
    name = b.rng.choice(["cumsum", "cumsum", "prod"])
    if name == "prod" and not (b.far_from(x, 0.0) and np.max(np.abs(b.values[x])) < 4):
        return None
    return b.add(f"np.{name}({{0}}, axis={b.axis(x)})", x)


@form(5)
def normalized(b: Builder) -> int | None:
    """Softmax, log-softmax and logsumexp in their spellings."""
    x = b.pick(lambda value: value.ndim > 0 and bool(value.size) and np.max(np.abs(value)) < 20)
    if x is None:
        return None
    a = f"axis={b.axis(x)}"
    k = f"{a}, keepdims=True"
    text = b.rng.choice(
        [
            f"np.exp({{0}}) / np.sum(np.exp({{0}}), {k})",
            f"np.log(np.exp({{0}}) / np.sum(np.exp({{0}}), {k}))",
            f"np.exp({{0}} - np.max({{0}}, {k})) / np.sum(np.exp({{0}} - np.max({{0}}, {k})), {k})",
            f"{{0}} - np.log(np.sum(np.exp({{0}}), {k}))",
            f"np.log(np.sum(np.exp({{0}}), {a}))",
            f"sp.softmax({{0}}, {a})",
            f"sp.log_softmax({{0}}, {a})",
            f"sp.logsumexp({{0}}, {k})",
            f"np.exp(sp.log_softmax({{0}}, {a}))",
            f"({{0}} - np.mean({{0}}, {k})) / np.sqrt(np.var({{0}}, {k}) + 0.1)",
            f"{{0}} / np.sqrt(np.sum({{0}} * {{0}}, {k}) + 0.1)",
            f"{{0}} - np.mean({{0}}, {k})",
        ]
    )
    if "max" in text and not b.rng.random() < 0.5:
        return None
    return b.add(text, x)


@form(3)
def cross_entropy(b: Builder) -> int | None:
    """A weighting of log-probabilities: where closed forms appear."""
    x = b.pick(lambda value: value.ndim > 0 and bool(value.size) and np.max(np.abs(value)) < 20)
    y = None if x is None else b.pick(lambda value: value.shape == b.values[x].shape)
    if x is None or y is None:
        return None
    a = f"axis={b.axis(x)}"
    k = f"{a}, keepdims=True"
    text = b.rng.choice(
        [
            f"-np.sum({{1}} * np.log(np.exp({{0}}) / np.sum(np.exp({{0}}), {k})), {a})",
            f"-np.sum({{1}} * sp.log_softmax({{0}}, {a}), {a})",
            f"sp.logsumexp({{0}}, {a}) - np.sum({{1}} * {{0}}, {a})",
            f"-np.mean(np.sum({{1}} * ({{0}} - np.log(np.sum(np.exp({{0}}), {k}))), {a}))",
            "-({1} * np.log(sp.sigmoid({0})) + (1 - {1}) * np.log(1 - sp.sigmoid({0})))",
            "-({1} * np.log(1 / (1 + np.exp(-{0}))) + (1 - {1}) * np.log(1 / (1 + np.exp({0}))))",
            "np.log(1 + np.exp({0})) - {0} * {1}",
            "np.mean(({0} - {1}) ** 2)",
        ]
    )
    return b.add(text, x, y)


# -- movement -------------------------------------------------------------------------------------
def _factored(b: Builder, size: int) -> tuple[int, ...]:
    shape: list[int] = []
    while size > 1 and len(shape) < 3:
        factors = [n for n in range(2, size + 1) if size % n == 0]
        chosen = b.rng.choice(factors)
        shape.append(chosen)
        size //= chosen
    if size > 1:
        shape.append(size)
    for _ in range(b.rng.choice([0, 0, 1])):
        shape.insert(b.rng.randint(0, len(shape)), 1)
    return tuple(shape)


@form(4)
def reshaped(b: Builder) -> int | None:
    x = b.pick(lambda value: bool(value.size))
    if x is None:
        return None
    shape = list(_factored(b, b.values[x].size))
    if shape and b.rng.random() < 0.4:
        shape[b.rng.randrange(len(shape))] = -1
    return b.add(f"np.reshape({{0}}, {tuple(shape)})", x)


@form(4)
def transposed(b: Builder) -> int | None:
    x = b.shaped(2, 3, 4)
    if x is None:
        return None
    ndim = b.values[x].ndim
    order = b.rng.sample(range(ndim), ndim)
    one, other = b.rng.randrange(-ndim, ndim), b.rng.randrange(-ndim, ndim)
    return b.add(
        b.rng.choice(
            [
                "np.transpose({0})",
                f"np.transpose({{0}}, {tuple(order)})",
                f"np.swapaxes({{0}}, {one}, {other})",
                f"np.moveaxis({{0}}, {one}, {other})",
                "{0}.T",
                f"np.transpose(np.transpose({{0}}, {tuple(order)}), {tuple(order)})",
            ]
        ),
        x,
    )


@form(4)
def resized(b: Builder) -> int | None:
    x = b.pick(lambda value: value.ndim < 4)
    if x is None:
        return None
    shape = b.values[x].shape
    wider = tuple(b.rng.choice([2, 3]) if dim == 1 else dim for dim in shape)
    unit = [axis for axis, dim in enumerate(shape) if dim == 1]
    choices = [
        f"np.expand_dims({{0}}, {b.rng.randint(-len(shape) - 1, len(shape))})",
        f"np.broadcast_to({{0}}, {(b.rng.choice([1, 2, 3]), *wider)})",
        f"np.broadcast_to({{0}}, {wider})",
        "{0}[None]",
        "{0}[..., None]",
    ]
    if unit:
        axis = b.rng.choice(unit)
        choices += [f"np.squeeze({{0}}, {axis})", f"np.squeeze({{0}}, {axis - len(shape)})"]
    return b.add(b.rng.choice(choices), x)


@form(4)
def joined(b: Builder) -> int | None:
    x = b.pick(lambda value: value.ndim > 0)
    if x is None:
        return None
    axis = b.axis(x)
    shape = list(b.values[x].shape)
    del shape[axis]  # pyright: ignore[reportArgumentType]

    def fits(value: Any) -> bool:
        other = list(value.shape)
        if len(other) != len(shape) + 1:
            return False
        del other[axis]  # pyright: ignore[reportArgumentType]
        return other == shape

    y = b.pick(fits)
    same = b.pick(lambda value: value.shape == b.values[x].shape)
    if y is None or same is None:
        return None
    if b.rng.random() < 0.6:
        return b.add(f"np.concatenate([{{0}}, {{1}}], axis={axis})", x, y)
    return b.add(f"np.stack([{{0}}, {{1}}], axis={axis})", x, same)


@form(2)
def repeated(b: Builder) -> int | None:
    x = b.pick(lambda value: value.ndim > 0)
    if x is None:
        return None
    axis = b.axis(x)
    return b.add(
        b.rng.choice(
            [
                f"np.repeat({{0}}, 2, axis={axis})",
                f"np.roll({{0}}, {b.rng.choice([-1, 1, 2])}, axis={axis})",
                f"np.flip({{0}}, ({axis},))",
                "np.tile({0}, (2, 1))" if b.values[x].ndim == 2 else f"np.flip({{0}}, ({axis},))",
                "np.hstack([{0}, {0} * 2])",
                "np.vstack([{0}, 1 - {0}])",
                f"np.split({{0}}, [1], axis={axis})[0]",
            ]
        ),
        x,
    )


# -- indexing -------------------------------------------------------------------------------------
@form(5)
def sliced(b: Builder) -> int | None:
    x = b.pick(lambda value: value.ndim > 0 and bool(value.size))
    if x is None:
        return None
    parts = [_index(b, dim) for dim in b.values[x].shape]
    kept = b.rng.randint(1, len(parts))
    parts = ["...", *parts[-kept:]] if b.rng.random() < 0.3 else parts[:kept]
    if b.rng.random() < 0.2:
        parts.insert(b.rng.randint(0, len(parts)), "None")
    return b.add(f"{{0}}[{', '.join(parts)}]", x)


def _index(b: Builder, dim: int) -> str:
    start, stop = sorted((b.rng.randint(0, dim), b.rng.randint(0, dim)))
    choices = [":", ":", str(b.rng.randrange(-dim, dim)), "::2", "::-1"]
    if stop > start:
        choices += [f"{start}:{stop}", f"{start - dim}:", f":{stop - dim or dim}"]
    return b.rng.choice([each for each in choices if each != f":{-dim}"])


@form(3)
def gathered(b: Builder) -> int | None:
    x = b.pick(lambda value: value.ndim > 0 and bool(value.size))
    if x is None:
        return None
    shape = b.values[x].shape
    axis = b.rng.randrange(len(shape))
    count = b.rng.randint(1, 4)
    index = [b.rng.randrange(-shape[axis], shape[axis]) for _ in range(count)]
    if b.rng.random() < 0.6:
        return b.add(f"np.take({{0}}, np.array({index}), axis={axis})", x)
    if len(shape) > 1 and b.rng.random() < 0.4:
        other = [b.rng.randrange(shape[1]) for _ in range(count)]
        first = [b.rng.randrange(shape[0]) for _ in range(count)]
        return b.add(f"{{0}}[{first}, {other}]", x)
    return b.add(f"{{0}}[{':, ' * axis}{index}]", x)


@form(3)
def selected(b: Builder) -> int | None:
    """Rows chosen by an integer input."""
    labels = [i for i, value in enumerate(b.values) if value.dtype.kind == "i" and value.ndim == 1]
    x = b.pick(lambda value: value.ndim > 0 and value.shape[0] >= 3)
    if not labels or x is None:
        return None
    text = ["{0}[{1}]", "np.take({0}, {1}, axis=0)"]
    label = b.rng.choice(labels)
    if b.values[x].ndim < 3 and b.values[x].shape[-1] == 3:
        text += ["sp.one_hot({1}, 3) @ np.reshape({0}, (-1, 3)).T", "sp.one_hot({1}, 3) + {0}[:1]"]
    shape = b.values[x].shape
    if len(shape) == 2 and shape[0] == len(b.values[label]) and shape[1] >= 3:
        text += ["{0}[np.arange(len({1})), {1}]"] * 3
        text += ["-sp.log_softmax({0}, axis=-1)[np.arange(len({1})), {1}]"] * 3
    return b.add(b.rng.choice(text), x, label)


# -- contractions ---------------------------------------------------------------------------------
@form(8)
def product(b: Builder) -> int | None:
    x = b.pick(lambda value: value.ndim > 0)
    if x is None:
        return None
    shape = b.values[x].shape
    y = b.pick(lambda value: value.ndim > 0 and value.shape[-2:][0] == shape[-1])
    if y is None:
        return None
    try:
        np.matmul(b.values[x], b.values[y])
    except ValueError:
        return None
    small_ranks = len(shape) < 3 and b.values[y].ndim < 3
    text = ["{0} @ {1}", "{0} @ {1}", "np.matmul({0}, {1})", *(["np.dot({0}, {1})"] * small_ranks)]
    return b.add(b.rng.choice(text), x, y)


@form(4)
def by_itself(b: Builder) -> int | None:
    x = b.shaped(1, 2, 3)
    if x is None:
        return None
    ndim = b.values[x].ndim
    text = {
        1: ["{0} @ {0}", "np.outer({0}, {0})", "np.dot({0}, {0})", "np.einsum('i,i->', {0}, {0})"],
        2: [
            "{0}.T @ {0}",
            "{0} @ {0}.T",
            "np.einsum('ij,ij->i', {0}, {0})",
            "np.einsum('ij,kj->ik', {0}, {0})",
            "np.einsum('ij->ji', {0})",
            "np.einsum('ij->', {0})",
            "np.tensordot({0}, {0}, axes=2)",
        ],
        3: [
            "np.einsum('ijk->kij', {0})",
            "np.einsum('ijk,ijk->jk', {0}, {0})",
            "np.einsum('ijk->j', {0})",
        ],
    }[ndim]
    return b.add(b.rng.choice(text), x)


@form(3)
def contracted(b: Builder) -> int | None:
    x = b.shaped(2, 3)
    if x is None:
        return None
    shape = b.values[x].shape
    y = b.pick(lambda value: value.ndim == 2 and value.shape[0] == shape[-1])
    z = b.pick(lambda value: value.shape == shape)
    v = b.pick(lambda value: value.ndim == 1 and value.shape[0] == shape[-1])
    if y is not None and b.rng.random() < 0.4:
        text = ["np.tensordot({0}, {1}, axes=1)", "np.einsum('...j,jk->...k', {0}, {1})"]
        if len(shape) == 2:
            text += ["np.einsum('ij,jk->ik', {0}, {1})", "np.einsum('ij,jk->ki', {0}, {1})"]
        return b.add(b.rng.choice(text), x, y)
    if v is not None and b.rng.random() < 0.5:
        return b.add(b.rng.choice(["np.einsum('...j,j->...', {0}, {1})", "{0} @ {1}"]), x, v)
    if z is None:
        return None
    text = ["np.einsum('...ij,...ij->...', {0}, {1})", "np.sum({0} * {1}, axis=-1)"]
    if len(shape) == 2:
        text += ["np.trace({0} @ {1}.T)", "np.tensordot({0}, {1}, axes=2)", "np.inner({0}, {1})"]
    return b.add(b.rng.choice(text), x, z)


@form(2)
def square_matrix(b: Builder) -> int | None:
    x = b.pick(lambda value: value.ndim == 2 and value.shape[0] == value.shape[1])
    if x is None:
        return None
    return b.add(
        b.rng.choice(
            [
                "np.trace({0})",
                "np.diagonal({0})",
                "np.einsum('ii->i', {0})",
                "np.einsum('ii->', {0})",
                "{0} @ {0}",
                "{0} + {0}.T",
                "np.trace({0} @ {0})",
                "np.diag(np.diagonal({0}))",
                "np.diag({0})",
            ]
        ),
        x,
    )
