"""Instances of a rule on operands of many shapes and dtypes that its guards admit.

An `Instance` is a rule's left side, built on symbolic inputs of chosen shapes and dtypes, and the
right side that the rule made from it. `samples` then draws numbers for the inputs that the facts of
the guards admit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..rewriting.guards import Guard
from ..rewriting.rule import Rule, Soundness
from .equal_axes_maker import SmallInstanceMaker
from .instance_maker import SHAPES, Instance, InstanceMaker

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

    Besides them there are, in this order:

    - first, for each dtype, an instance with room for every awkward value;
    - with `every_shape`, instances of all ranks up to 4 with lengths from 0 to 3;
    - for rules about axes, instances with lengths 1 and 2 only: no shape then reveals that one axis
      was taken for another;
    - last, an instance on 0-d operands, where the rule has one.

    Eight times as many tries are made while there are fewer than four instances. `extra` holds the
    further guards that earn the grade `sound`.
    """
    maker = InstanceMaker(rule, sound, extra, rng)
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
        uniform = attempt % 3 == 0 or (maker.prefers_uniform and attempt % 5 > 0)
        made = maker.attempt(dtype, shape, uniform=uniform)
        if made is not None and made.kind not in seen:
            seen.add(made.kind)
            yield made
    if every_shape:
        yield from maker.of_every_shape(seen)
    if maker.has_axes or maker.has_constants:
        (apart,) = rng.spawn(1)
        yield from SmallInstanceMaker(rule, sound, extra, apart).of_small_shapes(seen)
    # Shapes drawn at random may miss 0-d operands.
    (last,) = rng.spawn(1)
    scalars = InstanceMaker(rule, sound, extra, last).attempt(kinds[0], (), uniform=True)
    if scalars is not None and scalars.kind not in seen:
        yield scalars
