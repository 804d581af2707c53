"""Passes that move sums, products and choices keep whole numbers to the last bit."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import evaluate
from symgraph.ir.invariants import verify
from symgraph.ir.node import Node
from symgraph.passes.contracted_sums import with_sums_contracted
from symgraph.passes.joined_operations import with_operations_joined
from symgraph.passes.known_branches import with_branches_known
from symgraph.passes.shared_factors import with_factors_shared
from symgraph.passes.shared_sums import with_terms_shared

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SHAPES = {"x": (4,), "y": (4,), "z": (4,), "a": ()}


def never(new: Node, old: Node) -> bool:
    """A judge that refuses nothing: whole numbers have no rounding."""
    return False


PASSES: dict[str, Callable[[Sequence[Node]], list[Node]]] = {
    "terms shared": lambda outputs: with_terms_shared(outputs, never),
    "factors shared": lambda outputs: with_factors_shared(outputs, never),
    "sums contracted": lambda outputs: with_sums_contracted(outputs, never),
    "branches known": with_branches_known,
    "operations joined": with_operations_joined,
}


KINDS: list[Callable[[Any, Any, Any, Any], Any]] = [
    lambda p, q, c, a: p + q,
    lambda p, q, c, a: p - q,
    lambda p, q, c, a: -p * q,
    lambda p, q, c, a: np.where(c, p, q),
    lambda p, q, c, a: np.sum(p * q),
    lambda p, q, c, a: p @ q if p.ndim and q.ndim else p - q - a,
    lambda p, q, c, a: np.concatenate([p[:2] * a, q[2:] * a]) if p.ndim and q.ndim else p,
]


def program(seed: int) -> Callable[..., tuple[Any, ...]]:
    """A random function of few operations on the same values again and again."""
    draw = random.Random(seed)
    steps = [
        (kind, draw.randrange(4 + at), draw.randrange(4 + at), draw.random() < 0.2)
        for at, kind in enumerate(draw.choices(KINDS, [5, 5, 3, 6, 2, 2, 1], k=6 + seed % 14))
    ]

    def f(x: Any, y: Any, z: Any, a: Any) -> tuple[Any, ...]:
        values, conditions = [x, y, z, a], [x > y, z > 0]
        for kind, p, q, condition in steps:
            values.append(kind(values[p], values[q], conditions[condition], a))
        return tuple(values[-3:])

    return f


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", PASSES)
def test_whole_numbers_stay(name: str) -> None:
    changed = 0
    for seed in range(60):
        graph = sg.trace(program(seed), **SHAPES)
        rng = np.random.default_rng(seed)
        at = {key: rng.integers(-3, 4, shape).astype(float) for key, shape in SHAPES.items()}
        found = PASSES[name](graph.dag.outputs)
        moved = Dag(graph.dag.inputs, found)
        verify(moved)
        for new, old in zip(evaluate(moved, at), evaluate(graph.dag, at), strict=True):
            np.testing.assert_array_equal(new, old)
        changed += found != list(graph.dag.outputs)
    assert changed
