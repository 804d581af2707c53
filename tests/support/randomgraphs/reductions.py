"""Steps of random programs that reduce, accumulate or normalise along an axis."""

from __future__ import annotations

import numpy as np

from .builder import Builder
from .forms import FormTable

form = FormTable()


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
