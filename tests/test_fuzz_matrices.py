"""Random expressions of matrices with facts: simplified they give the numbers that they gave.

Where numbers change by a ten-thousandth when each input changes by a ten-thousand-millionth, a
matrix that is inverted is singular, and there is nothing to compare.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from randomgraphs.matrices import At, graph_of, values_of, written

import symgraph as sg

SHORT = range(40)
LONG = [range(start, start + 250) for start in range(1_000, 9_000, 250)]

Values = list[np.ndarray[Any, Any]]


def flat(graph: sg.Graph, at: At) -> Values:
    value, slopes = graph.evaluate(**at)
    return [
        np.asarray(each) for each in (value, *(slopes if isinstance(slopes, tuple) else (slopes,)))
    ]


def size_of(values: Values) -> float:
    return max(1e-3, *[float(np.max(np.abs(each))) for each in values])


def apart(values: Values, others: Values) -> float:
    return max(
        float(np.max(np.abs(one - other))) for one, other in zip(values, others, strict=True)
    )


def wanted(graph: sg.Graph, at: At) -> tuple[Values, float] | None:
    """What the graph gives as derived, and how far it moves with its inputs; None if singular."""
    rng = np.random.default_rng(0)
    near = {name: value * (1 + 1e-10 * rng.uniform(-1, 1)) for name, value in at.items()}
    try:
        values, others = flat(graph, at), flat(graph, near)
    except np.linalg.LinAlgError:
        return None
    moved = apart(values, others)
    return (values, moved) if moved < 1e-4 * size_of(values) else None


@np.errstate(all="ignore")
def check(seed: int) -> bool:
    """Whether there was anything to compare."""
    text, wrt = written(seed)
    graph = graph_of(text, wrt)
    at = values_of(graph, seed)
    found = wanted(graph, at)
    small = graph.simplify()
    assert small.simplify().op_count() == small.op_count(), text
    if found is None:
        return False
    values, moved = found
    assert apart(flat(small, at), values) <= 1e-8 * size_of(values) + 0.01 * moved, (text, wrt)
    return True


@pytest.mark.sampled(one_in=16)
@pytest.mark.parametrize("seed", SHORT)
def test_a_random_expression_of_matrices(seed: int) -> None:
    check(seed)


@pytest.mark.whole
def test_most_are_compared() -> None:
    assert sum(map(check, range(40, 60))) > 0.8 * 20


@pytest.mark.fuzz
@pytest.mark.parametrize("seeds", LONG, ids=lambda seeds: str(seeds.start))
def test_random_expressions_of_matrices_at_length(seeds: range) -> None:
    assert sum(map(check, seeds)) > 0.8 * len(seeds)
