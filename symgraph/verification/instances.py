"""Operands for a rule, made from its guards: shapes, dtypes, axes, and values, awkward ones too.

An `Instance` is a rule's left side built on symbolic inputs of chosen shapes and dtypes, together
with what the rule made of it; `values` then draws numbers for the inputs, as the facts of the
guards allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..rewriting.guards import Guard
from ..rewriting.rule import Rule, Soundness
from .maker import SHAPES, Instance, Maker
from .small_maker import SmallMaker

__all__ = ["instances"]


def instances(
    rule: Rule,
    sound: Soundness,
    extra: Mapping[str, tuple[Guard, ...]],
    rng: np.random.Generator,
    wanted: int,
    attempts: int,
    *,
    every_shape: bool = False,
) -> Iterator[Instance]:
    """Up to `wanted` instances of `rule` on different operands, found in `attempts` tries.

    Those of each dtype that have room for every awkward value come first, and are more.
    Eight times as many tries are made while there are fewer than four instances. The last is on
    0-d operands, where the rule has one.
    `extra` are the further guards that earn the grade `sound`. With `every_shape`, all ranks up to
    4 with lengths from 0 to 3 follow. For rules about axes there are then some on which all lengths
    are 1 or 2, so that no shape betrays an axis that was taken for another.
    """
    maker = Maker(rule, sound, extra, rng)
    seen: set[Any] = set()
    for made in maker.wide():
        if made.kind not in seen:
            seen.add(made.kind)
            yield made
    wanted *= 1 + len(rule.statics)
    attempts *= 1 + len(rule.statics)
    kinds = maker.dtypes()
    for attempt in range(8 * attempts):
        if len(seen) >= wanted or (attempt >= attempts and len(seen) >= 4):
            break
        dtype = kinds[0] if attempt % 2 else kinds[attempt // 2 % len(kinds)]
        shape = maker.pick(SHAPES[:6] if rule.statics and attempt % 2 else SHAPES)
        uniform = attempt % 3 == 0 or (maker.rooms and attempt % 5 > 0)
        made = maker.attempt(dtype, shape, uniform=uniform)
        if made is not None and made.kind not in seen:
            seen.add(made.kind)
            yield made
    if every_shape:
        yield from maker.of_every_shape(seen)
    if maker.has_axes or maker.has_constants:
        (apart,) = rng.spawn(1)
        yield from SmallMaker(rule, sound, extra, apart).of_small_shapes(seen)
    # Drawn by chance alone, shapes may miss the one on which nothing has an axis.
    (last,) = rng.spawn(1)
    scalars = Maker(rule, sound, extra, last).attempt(kinds[0], (), uniform=True)
    if scalars is not None and scalars.kind not in seen:
        yield scalars
