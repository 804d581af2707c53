"""Steps of random programs that move, join or select elements."""

from __future__ import annotations

from typing import Any

from .builder import Builder
from .forms import FormTable

form = FormTable()


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
