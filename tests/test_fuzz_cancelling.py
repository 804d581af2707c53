"""Random products that are divided by what they hold already keep their values.

x y / x is y, x**y z / x needs a power less, and log(x) / log(x) is NaN where x is negative: factors
go from places that several passes look at. Functions of part of the line stand in them, so that few
probes are numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

NAMES = ("x", "y", "z")
UNARY: tuple[Callable[[Any], Any], ...] = (
    np.log,
    np.sqrt,
    np.exp,
    np.log1p,
    np.square,
    lambda v: v**1.5,
    lambda v: 1 / v,
)
BINARY: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a * b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    lambda a, b: a / b,
    lambda a, b: a + b,
    lambda a, b: a - b,
)
CANCELLED: tuple[Callable[[Any, Any, Any], Any], ...] = (
    lambda t, u, x: t * u / t,
    lambda t, u, x: u / t * t,
    lambda t, u, x: t - u + u * t / t,
    lambda t, u, x: t * u / (t * x),
    lambda t, u, x: (t + u * t) / t,
    lambda t, u, x: u * (x / (t * x)),
    lambda t, u, x: t**x * u / t,
    lambda t, u, x: np.exp(t) * u / np.exp(t),
)


def cancelling(seed: int) -> Callable[..., Any]:
    """A function of three vectors of one number."""

    def built(draw: random.Random, values: list[Any], depth: int) -> Any:
        if depth == 0:
            return draw.choice(values)
        below = built(draw, values, depth - 1)
        if draw.random() < 0.45:
            return draw.choice(UNARY)(below)
        return draw.choice(BINARY)(below, built(draw, values, draw.randint(0, depth - 1)))

    def function(x: Any, y: Any, z: Any) -> Any:
        draw = random.Random(seed)
        t, u = built(draw, [x, y, z], 3), built(draw, [x, y, z], 2)
        return np.sum(draw.choice(CANCELLED)(t, u, x))

    return function


def flat(found: Any) -> Any:
    """All numbers of a value and its gradients."""
    return np.concatenate([np.ravel(each) for each in (found[0], *found[1])])


def faults(seeds: range) -> list[str]:
    """The programs with other numbers than as derived, at ordinary arguments."""
    found: list[str] = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = sg.trace(cancelling(seed), x=(1,), y=(1,), z=(1,)).gradient("x", "y")
        small = graph.simplify()
        for size in (0.3, 0.3, 2.0, 2.0, 5.0):
            at: dict[str, Any] = {name: size * rng.normal(size=1) for name in NAMES}
            with np.errstate(all="ignore"):
                old, new = flat(graph.evaluate(**at)), flat(small.evaluate(**at))
                both = np.isfinite(old) & np.isfinite(new) & (np.abs(old) < 1e6)
                apart = np.abs(new - old) > 1e-5 * (np.abs(old) + 1)
            if np.any(both & apart):
                found.append(f"{seed}: {small.formula()} at {at}: {new}, derived {old}")
                break
    return found


@pytest.mark.parametrize("seeds", [range(k, k + 10) for k in (80, 230)], ids=str)
def test_random_quotients_keep_their_values(seeds: range) -> None:
    assert not faults(seeds)


@pytest.mark.fuzz
@pytest.mark.parametrize("seeds", [range(k, k + 100) for k in range(1000, 3000, 100)], ids=str)
def test_many_random_quotients_keep_their_values(seeds: range) -> None:
    assert not faults(seeds)
