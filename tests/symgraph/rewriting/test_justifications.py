"""Why a step was allowed: guards, conditions between parameters, and grades that facts earn."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.fact_inference import Knowledge
from symgraph.rewriting import Axes, Identity, Nonzero, Real, holds, provided, rule
from symgraph.rewriting.justifications import licences


@rule(sound="rounding")
def sum_of_a_simplex(x: Real, axis: Axes) -> Identity:
    """A condition whose fact has an axis."""
    provided(axis == (-1,))
    holds(x, sg.simplex, axis[0])
    return snp.sum(x, axis=axis), 1


@rule(sound="domain", earned={"rounding": {"x": Nonzero}})
def over_itself(x: Real) -> Identity:
    """A grade that a fact earns."""
    return x / x, 1.0


def only_step(f: Any, the_rule: Any, spec: Any, trust: Any = "rounding") -> Any:
    small = sg.trace(f, x=spec).simplify(trust, rules=[the_rule])
    return next(step for step in small.history if step.by is the_rule)


def test_a_condition_is_told_with_its_parameters() -> None:
    spec = sg.spec((4, 3), assume=sg.simplex(-1))
    step = only_step(lambda x: np.sum(x, axis=-1), sum_of_a_simplex, spec)
    (licence,) = licences(step, Knowledge())
    assert licence.guard == "x: simplex(-1)"
    assert licence.of.is_input
    assert "stated of input 'x'" in licence.why[0]


def test_a_grade_is_told_with_the_fact_that_earned_it() -> None:
    spec = sg.spec(3, assume=sg.positive)
    step = only_step(lambda x: x / x, over_itself, spec)
    assert step.sound == "rounding"
    (licence,) = licences(step, Knowledge())
    assert licence.guard == "x: nonzero"
    assert "(from positive)" in licence.why[0]


def test_a_grade_that_nothing_earned_needs_no_licence() -> None:
    step = only_step(lambda x: x / x, over_itself, sg.spec(3), "domain")
    assert step.sound == "domain"
    assert licences(step, Knowledge()) == []


def test_a_region_lists_facts_that_tie_elements() -> None:
    def loss(z: Any, p: Any) -> Any:
        return -np.sum(p * snp.log_softmax(z))

    graph = sg.trace(loss, z=sg.spec(3), p=sg.spec(3, assume=sg.simplex(-1))).gradient("z")
    step = graph.simplify().history[-1]
    assert step.grain == "region"
    assert {each.guard for each in licences(step, Knowledge())} == {"simplex(-1)"}
    assert licences(step, Knowledge(), ties=False) == []
