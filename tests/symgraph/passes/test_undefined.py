"""A factor that may be 0 is cancelled only where nobody sees it: random programs, with zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.ir.dag import Dag
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.interpreter import evaluate
from symgraph.passes.cancelled import with_factors_cancelled

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SPECS: dict[str, Any] = {"x": sg.spec(3), "y": sg.spec(3), "a": sg.spec(""), "b": sg.spec("")}
POINTS: list[dict[str, Any]] = [
    {"x": x, "y": y, "a": np.array(a), "b": np.array(b)}
    for x in (np.array([0.5, -2.0, 0.0]), np.array([0.0, 1.5, -0.0]), np.array([0.5, 3.0, -0.75]))
    for y in (np.array([0.25, -1.0, 2.0]), np.array([-0.0, 1.25, 0.0]))
    for a in (0.0, 1.5)
    for b in (-0.5, 0.0)
]
STEPS: list[Any] = [
    lambda p, q: p + q,
    lambda p, q: p - q,
    lambda p, q: p * q,
    lambda p, q: p / q,
    lambda p, q: p * (q / p),
    lambda p, q: q / np.square(p),
    lambda p, q: np.sqrt(p) * q,
    lambda p, q: np.log(p) - q,
    lambda p, q: np.sum(p) * q,
    lambda p, q: p @ q if p.ndim and q.ndim else np.abs(p) - q,
    lambda p, q: np.tanh(p) + q,
    lambda p, q: np.maximum(p, q),
    lambda p, q: np.where(p > 0, p, q),
    lambda p, q: p[::-1] * q if p.ndim else q / p,
]
WEIGHTS = [4, 4, 4, 5, 9, 3, 1, 1, 2, 2, 1, 1, 1, 1]


def program(seed: int) -> Any:
    def f(x: Any, y: Any, a: Any, b: Any) -> Any:
        drawn = np.random.default_rng(seed)
        values = [x, y, a, b]
        steps = drawn.choice(len(STEPS), size=7, p=np.array(WEIGHTS) / sum(WEIGHTS))
        for step in steps:
            one, other = drawn.integers(len(values), size=2)
            values.append(STEPS[step](values[one], values[other]))
        return values[-1], values[-2]

    return f


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_what_was_no_number_is_none(start: int) -> None:
    changed = 0
    for seed in range(start, start + 50):
        dag = sg.trace(program(seed), **SPECS).dag
        found = with_factors_cancelled(
            dag.outputs, Knowledge(), lambda new, old: False, is_last=True
        )
        changed += found != list(dag.outputs)
        for at in POINTS:
            with np.errstate(all="ignore"):
                before, after = evaluate(dag, at), evaluate(Dag(dag.inputs, found), at)
            for old, new in zip(before, after, strict=True):
                np.testing.assert_array_equal(np.isfinite(new), np.isfinite(old), str(seed))
    assert changed


@pytest.mark.parametrize(("size", "goes"), [("n", False), (3, True)])
def test_an_empty_sum_is_a_number(size: Any, *, goes: bool) -> None:
    """At a = 0 each element of x / a is infinite, but there need be no element."""
    dag = sg.trace(lambda x, a: np.sum(x / a) + a * np.exp(a) / a, x=(size,), a=()).dag
    found = with_factors_cancelled(dag.outputs, Knowledge(), lambda new, old: False, is_last=True)
    assert (found != list(dag.outputs)) is goes
