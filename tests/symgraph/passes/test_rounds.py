"""Rounds of rules and algebra come to an end where both would go on for ever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.cost import op_count
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.node import Node
from symgraph.passes import simplify
from symgraph.passes.oscillation import Oscillation

STEPS = 5


def log_likelihood(F: Any, H: Any, q: Any, r: Any, ys: Any) -> Any:
    """Of a Kalman filter, up to a constant, whose steps form an inverse and solve beside it."""
    x, cov, found = np.zeros(2), np.eye(2), 0.0
    for t in range(STEPS):
        x, cov = F @ x, F @ cov @ F.T + q @ q.T
        S, e = H @ cov @ H.T + r @ r.T, ys[t] - H @ x
        K = cov @ H.T @ np.linalg.inv(S)
        found = found + np.linalg.slogdet(S)[1] + e @ np.linalg.solve(S, e)
        x, cov = x + K @ e, (np.eye(2) - K @ H) @ cov
    return found


@pytest.mark.whole
def test_rules_and_algebra_do_not_swing_to_and_fro(monkeypatch: pytest.MonkeyPatch) -> None:
    walks: list[int] = []
    walk = simplify.normalized

    def counted(outputs: Sequence[Node], *args: Any, **how: Any) -> list[Node]:
        walks.append(len(outputs))
        return walk(outputs, *args, **how)

    monkeypatch.setattr(simplify, "normalized", counted)
    given = sg.trace(log_likelihood, F=(2, 2), H=(2, 2), q=(2, 2), r=(2, 2), ys=(STEPS, 2))
    derived = given.gradient("H", value=False)
    found = derived.simplify()
    assert len(walks) < 9
    assert found.op_count() < derived.op_count()
    assert found.simplify().op_count() == found.op_count()
    rng = np.random.default_rng(0)
    at: dict[str, Any] = {
        name: rng.normal(size=tuple(map(int, each.shape))) for name, each in given.inputs.items()
    }
    assert_allclose(found.evaluate(**at), derived.evaluate(**at), rtol=1e-9)


def of_length(count: int, first: float) -> list[Node]:
    """A graph of so many operations, another one for each first number."""
    value: Any = sg.input("x", (), np.float64)
    for step in range(count):
        value = value * (first + step)
    return [value.node]


def test_swings_need_not_come_back_to_the_same_length() -> None:
    start = of_length(10, 2.0)
    swings = Oscillation(start)
    before = start
    for longer, after in [(14, 11), (15, 10)]:
        assert not swings.are_enough
        rewritten, outputs = of_length(longer, 3.0), of_length(after, 4.0)
        swings.note(before, rewritten, outputs)
        swings.measure(outputs)
        before = outputs
    assert swings.are_enough
    assert swings.shortest is start
    shorter = of_length(9, 5.0)
    swings.measure(shorter)
    assert not swings.are_enough
    assert swings.shortest is shorter


def test_rounds_that_gain_an_operation_or_two_creep() -> None:
    current = of_length(20, 2.0)
    swings = Oscillation(current)
    told: list[bool] = []
    for length in [18, 17, 12, 10, 10]:
        after = of_length(length, 2.0)
        swings.note(current, current, after)
        swings.measure(after)
        told.append(swings.creep)
        current = after
    assert told == [False, True, False, False, False]


def extended(q: Any, r: Any, steps: int) -> Any:
    """The likelihood of an extended Kalman filter of a pendulum's angle, up to a constant."""
    x, cov, found = snp.array([0.5, 0.1]), np.eye(2), 0.0
    for t in range(steps):
        x = np.stack([x[0] + 0.1 * x[1], x[1] - 0.1 * np.sin(x[0])])
        F = np.array([[1.0, 0.1], [0.0, 1.0]]) - np.array([[0, 0], [0.1, 0]]) * np.cos(x[0])
        cov = F @ cov @ F.T + q * np.eye(2)
        H = np.array([[1.0, 0.0]]) * np.cos(x[0])
        S, e = H @ cov @ H.T + r, np.sin(0.3 * t) - np.sin(x[0])
        K = cov @ H.T @ np.linalg.inv(S)
        x, cov = x + K[:, 0] * e, cov - K @ H @ cov
        found = found + e * e / S[0, 0] + np.log(S[0, 0])
    return found


@pytest.mark.parametrize("steps", [3, 9])
def test_a_longer_loop_takes_no_more_rounds(steps: int) -> None:
    """A sign moves one step of it a round; to follow that to the end took a round a step."""
    given = sg.trace(lambda q, r: extended(q, r, steps), q=(), r=())
    rounds: list[list[Node]] = []
    simplify.simplified(given.dag.outputs, Knowledge(), last=False, reached=rounds.append)
    assert len(rounds) <= 3


def test_a_graph_at_rest_gets_one_more_round() -> None:
    """Rules lengthen this one again and again, and the algebra shortens it to what it was."""
    given = sg.trace(lambda q, r: extended(q, r, 7), q=(), r=()).gradient("q", "r")
    lengths: list[int] = []

    def reached(outputs: list[Node]) -> None:
        lengths.append(op_count(outputs))

    found, _ = simplify.simplified(given.dag.outputs, Knowledge(), reached=reached)
    assert op_count(found) == min(lengths)
    assert len(lengths) <= 4
