"""Histories: every graph on the way has the same values, and a wrong step is found and named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from randomgraphs import random_program, traced_program

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import VerifyError
from symgraph.rewriting import Real, rule

RNG = np.random.default_rng(0)


def cross_entropy(X: Any, y: Any, W: Any) -> Any:
    z = X @ W
    q = np.exp(z) / np.sum(np.exp(z), axis=-1, keepdims=True)
    return -np.mean(np.sum(y * np.log(q), axis=-1))


def forward() -> sg.Graph:
    simplex = sg.spec("n, 3", assume=sg.simplex(axis=-1))
    return sg.trace(cross_entropy, X=sg.spec("n, 4"), y=simplex, W=sg.spec("4, 3"))


def numbers(n: int = 5) -> dict[str, Any]:
    y = np.eye(3)[RNG.integers(3, size=n)]
    return {"X": RNG.normal(size=(n, 4)), "y": y, "W": RNG.normal(size=(4, 3))}


def test_a_history_is_a_sequence_of_steps() -> None:
    small = forward().gradient("W").simplify()
    history = small.history
    assert len(history) == len(list(history)) > 0
    assert history[0].rule == "softmax_written_out"
    assert history[0].by is not None
    assert history[0].by.name == history[0].rule
    assert history[-1].grain == "region"
    assert history[:2] == history.steps[:2]
    assert history.fired["softmax_written_out"] == 1


def test_every_graph_on_the_way_is_a_graph_of_the_same_values() -> None:
    at = numbers()
    joint = forward().gradient("W")
    value, dW = joint.evaluate(**at)
    moments = list(joint.simplify().history.graphs())
    assert [moment.step is None for moment in moments].count(False) >= 4
    for moment in moments:
        moment.graph.verify()
        found = moment.graph.evaluate(**at)
        if len(moment.graph.dag.outputs) == 1:  # not yet differentiated
            np.testing.assert_allclose(found, value, rtol=1e-12)
        else:
            np.testing.assert_allclose(found[0], value, rtol=1e-12)
            np.testing.assert_allclose(found[1], dW, rtol=1e-10, atol=1e-14)
    assert moments[-1].graph.dag.outputs == joint.simplify().dag.outputs


def test_the_graph_after_a_step_holds_what_the_step_made() -> None:
    history = forward().gradient("W").simplify().history
    for index, step in enumerate(history):
        assert step.after in history.graph(index).nodes
    assert history[0].before not in history.graph(0).nodes
    with pytest.raises(IndexError):
        history.graph(len(history))


def test_all_steps_agree_on_numbers() -> None:
    verdict = forward().gradient("W").simplify().history.check(**numbers())
    assert verdict.steps >= 4
    assert verdict.passes >= 2
    assert verdict.worst < 1e-12
    assert str(verdict).startswith(f"{verdict.steps} steps and {verdict.passes} passes agree")


@rule(sound="rounding")
def a_small_angle(x: Real) -> Any:
    """Wrong but near zero."""
    return snp.sin(x), x


def test_a_wrong_step_is_found_and_named() -> None:
    graph = sg.trace(lambda x: np.sum(np.sin(x) * 2), x=sg.spec("n"))
    wrong = graph.simplify(rules=[a_small_angle])
    with pytest.raises(VerifyError, match=r"Step 0, a_small_angle .*\n.*sin\(x\) → x") as raised:
        wrong.history.check(x=np.array([1.0, 2.0]))
    assert "test_history.py" in str(raised.value)
    assert wrong.history.check(x=np.zeros(2)).worst == 0.0


@rule(sound="exact")
def a_sum_without_its_zero(x: Real) -> Any:
    """Not exact: -0.0 + 0 is +0.0."""
    return x - (-x), x * 2.0


def test_exact_steps_are_compared_bit_by_bit() -> None:
    graph = sg.trace(lambda x: np.cos(x - (-x)), x=sg.spec("n"))
    exact = graph.simplify("exact", rules=[a_sum_without_its_zero])
    assert exact.history.check(x=np.array([0.1, np.nan, np.inf, -0.0])).steps == 1


def test_inputs_that_break_a_stated_fact_are_refused() -> None:
    at = numbers()
    small = forward().gradient("W").simplify()
    with pytest.raises(sg.FactError, match="'y' is not simplex"):
        small.history.check(**{**at, "y": at["y"] * 2})
    with pytest.raises(sg.InputError, match="missing W"):
        small.history.check(X=at["X"], y=at["y"])
    with pytest.raises(sg.InputError, match="unknown q"):
        small.history.check(**at, q=1)


def test_modes_of_jacobians_are_choices_and_not_compared() -> None:
    graph = sg.trace(lambda x: np.exp(np.tanh(x) * 2), x=sg.spec(3)).jacobian("x")
    assert [step.grain for step in graph.history] == ["choice"]
    assert graph.history.check(x=np.ones(3)).steps == 0
    small = graph.simplify()
    assert small.history.check(x=np.ones(3)).passes > 0


def test_where_the_left_overflows_the_right_may_be_finite() -> None:
    graph = sg.trace(lambda x: np.log(np.sum(np.exp(x))), x=sg.spec(3))
    small = graph.simplify()
    assert len(small.history)
    small.history.check(x=np.array([1e4, -1e4, 0.0]))


def test_an_unchanged_graph_has_an_empty_history() -> None:
    graph = sg.trace(lambda x: x * 2, x=sg.spec(3))
    assert len(graph.history) == 0
    assert list(graph.history.graphs()) == []
    assert repr(graph.history) == "<history of 0 steps>"
    assert graph.simplify().history.check(x=np.ones(3)).worst == 0.0


def test_the_profile_tells_rules_apart() -> None:
    profile = forward().gradient("W").simplify().history.profile()
    assert "softmax_written_out" in profile
    row = next(row for row in profile if row.rule == "softmax_written_out")
    assert row.fired == 1
    assert row.tried >= 1
    assert profile.seconds >= row.seconds > 0.0
    assert [each.seconds for each in profile] == sorted(
        (each.seconds for each in profile), reverse=True
    )
    assert str(profile).splitlines()[0].split() == ["rule", "fired", "tried", "ms"]
    algebra = next(row for row in profile if row.rule == "algebra")
    assert algebra.fired > 0.0 < algebra.seconds
    assert next(line for line in str(profile).splitlines() if "algebra" in line).split()[2] == "-"


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("seed", range(12))
def test_histories_of_random_programs_agree(seed: int) -> None:
    program = random_program(seed)
    graph = traced_program(program)
    history = graph.gradient(*program.targets).simplify().history
    history.check(**{each.name: each.value for each in program.inputs})
    for moment in history.graphs():
        moment.graph.verify()


def test_a_history_shows_itself_in_a_notebook() -> None:
    small = sg.trace(lambda x: np.log(np.exp(x)), x="n").simplify()
    bundle = small.history._repr_mimebundle_()
    assert bundle["text/plain"] == small.explain()
    assert bundle["text/markdown"] == small.explain(format="markdown")
    assert "log_of_exp" in bundle["text/markdown"]
