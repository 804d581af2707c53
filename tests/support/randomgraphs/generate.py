"""Random programs from a seed: valid by construction, well conditioned where they are tried."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from .builder import Builder
from .namespaces import AUTOGRAD
from .program import Input, Program
from .vocabulary import FORMS

__all__ = ["random_program"]


def _values(rng: random.Random, shape: tuple[int, ...], low: float, high: float) -> Any:
    count = int(np.prod(shape))
    value = np.array([rng.uniform(low, high) for _ in range(count)]).reshape(shape)
    # Representable in float32, so that both dtypes are tried at the same point.
    return value.astype(np.float32).astype(np.float64)


def _random_input(rng: random.Random, name: str, sizes: list[int]) -> Input:
    rank = rng.choice([0, 1, 1, 2, 2, 2, 3])
    shape = tuple(rng.choice(sizes) for _ in range(rank))
    kind = rng.choice(["any", "any", "any", "positive", "interval", "simplex"])
    known = rng.random() < 0.7
    if kind == "positive":
        return Input(name, _values(rng, shape, 0.3, 2.5), "sg.positive" * known)
    if kind == "interval":
        return Input(name, _values(rng, shape, 0.1, 0.9), "sg.interval(0, 1)" * known)
    if kind == "simplex" and rank:
        raw = _values(rng, shape, 0.2, 1.0)
        return Input(name, raw / raw.sum(-1, keepdims=True), "sg.simplex(axis=-1)" * known)
    value = _values(rng, shape, -2, 2)
    return Input(name, np.where(np.abs(value) < 0.1, 0.5, value))


def _attempt(seed: int, salt: int, length: int) -> Program | None:
    rng = random.Random(f"{seed}/{salt}")
    sizes = rng.sample([1, 2, 3, 4], rng.choice([2, 3]))
    inputs = [_random_input(rng, f"x{i}", sizes) for i in range(rng.randint(1, 4))]
    if rng.random() < 0.3:
        labels = np.array([rng.randrange(3) for _ in range(rng.choice(sizes))])
        inputs.append(Input("labels", labels))
    builder = Builder(rng.randrange(2**32), tuple(inputs))
    forms = [form for form, _ in FORMS.values()]
    weights = [weight for _, weight in FORMS.values()]
    wanted = rng.randint(3, length)
    for _ in range(20 * wanted):
        if len(builder.lines) >= wanted:
            break
        rng.choices(forms, weights)[0](builder)
    if not _closed(builder, rng):
        return None
    return Program(seed, tuple(inputs), tuple(builder.lines)).trimmed()


GATHERED = ("np.sum({0})", "np.mean({0})", "np.sum({0} * {0})", "np.sum(np.sin({0}))")


def _closed(b: Builder, rng: random.Random) -> bool:
    """Whether the loose ends could be gathered into one scalar."""
    used = {a for line in b.lines for a in line.args}
    ends = [
        i
        for i in range(len(b.values))
        if i not in used and b.values[i].dtype.kind == "f" and b.values[i].size
    ]
    total: int | None = None
    for end in ends[-5:]:
        weight = rng.choice(["", "", " * 0.5", " * 2", " / 3"])
        text = rng.choice(GATHERED)
        part = b.add(text + weight, end) if b.values[end].ndim else b.add("{0} * 1.5", end)
        if part is None:
            return False
        total = part if total is None else b.add("{0} + {1}", total, part)
        if total is None:
            return False
    return total is not None and b.values[total].ndim == 0 and total == len(b.values) - 1


def _well_conditioned(program: Program) -> bool:
    """Whether the gradient exists, is moderate, and says the same in both precisions."""
    if not program.targets:
        return False
    moved = {
        name: value * (1 + 1e-6) if value.dtype.kind == "f" else value
        for name, value in program.values.items()
    }
    try:
        _, gradients = AUTOGRAD.value_and_gradients(program)
        _, nearby = AUTOGRAD.value_and_gradients(program, moved)
    except TypeError:  # autograd cannot index into the 0-d results of some of its reductions.
        return False
    scale = max((float(np.max(np.abs(g))) for g in gradients if g.size), default=0.0)
    return (
        all(
            bool(np.all(np.isfinite(g))) and bool(np.all(np.abs(g - h) <= 1e-3 * max(scale, 1e-3)))
            for g, h in zip(gradients, nearby, strict=True)
        )
        and 0 < scale < 1e4
    )


def random_program(seed: int, length: int = 14) -> Program:
    """The random program of this seed: the same one on every machine.

    Parameters
    ----------
    seed : int
    length : int
        The most steps before the loose ends are gathered.
    """
    for salt in range(100):
        program = _attempt(seed, salt, length)
        if program is not None and _well_conditioned(program):
            return program
    raise RuntimeError(f"no well conditioned program for seed {seed}")
