"""Every rule of every installed pack is what it says, and the set of them is well behaved."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.cost import flops, op_count
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import evaluate
from symgraph.ir.node import Node
from symgraph.ir.walks import reachable
from symgraph.rewriting import Rule
from symgraph.rewriting.driver import rewrite
from symgraph.rewriting.index import RuleSet
from symgraph.rewriting.log import Log
from symgraph.rewriting.packs import every_rule, load_packs
from symgraph.verification.instance_maker import SIZES, Instance
from symgraph.verification.instances import instances
from symgraph.verification.samples import values_for
from symgraph.verification.verifier import verify_rule

RULES = every_rule()
BRIEF = 12
"""Instances among which the brief test looks for one that has numbers."""


@pytest.mark.sampled(one_in=48)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rule_is_as_sound_as_it_says(rule: Rule) -> None:
    report = verify_rule(rule)
    assert report.ok, "\n".join(report.failures)
    assert report.instances >= 4


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rule_is_as_sound_as_it_says_at_length(rule: Rule, seed: int) -> None:
    report = verify_rule(rule, seed=seed, wanted=60, attempts=1500, thorough=seed == 1)
    assert report.ok, "\n".join(report.failures)


def _at_ordinary_numbers(each: Instance, seed: int) -> list[Any]:
    """The values of both sides."""
    rng = np.random.default_rng(seed)
    given = values_for(each, rng, 0.0, SIZES, matrices="definite")
    dag = Dag({node.params["name"]: node for node in each.inputs}, [each.lhs, each.rhs])
    with np.errstate(all="ignore"):
        return evaluate(dag, {node.params["name"]: value for node, value in given.items()})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rule_in_brief(rule: Rule) -> None:
    """It says what it is, fires, and keeps ordinary numbers: every rule, in milliseconds each."""
    assert rule.doc.endswith(".")
    assert "→" in str(rule)
    assert rule.name.isidentifier()
    empty = False
    tried = instances(rule, rule.sound, {}, np.random.default_rng(0), BRIEF, 100)
    for seed, each in enumerate(tried):
        try:
            left, right = _at_ordinary_numbers(each, seed)
        except (IndexError, np.linalg.LinAlgError):
            continue  # no place of the array, or no Cholesky factor: the numbers do not fit
        assert left.shape == right.shape
        assert left.dtype == right.dtype
        there = np.isfinite(left)
        if there.any():
            digits = float(np.finfo(left.dtype).eps) ** 0.6 if left.dtype.kind == "f" else 0.0
            size = max(1.0, float(np.max(np.abs(left[there]))))
            np.testing.assert_allclose(
                right[there].astype("float64"), left[there], rtol=0, atol=digits * size
            )
            return
        empty |= not left.size
    assert empty, "no instance has a number on its left side"


def _sizes(node: Node) -> dict[str, int]:
    # A number that fills a shape has the dimension, though no input names it.
    return {name: 3 for each in reachable([node]) if each.is_input for name in each.aval.dim_names}


@pytest.mark.sampled(one_in=24)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rule_lowers_something(rule: Rule) -> None:
    """Operations, then FLOPs, then nodes; or what it states; rules for digits answer to no cost."""
    if rule.measure or rule.stable:
        return
    for grade, guards in {rule.sound: {}, **rule.earned}.items():
        for each in instances(rule, grade, guards, np.random.default_rng(0), 4, 100):
            before, after = (
                (op_count([node]), flops([node], _sizes(node)), len(reachable([node])))
                for node in (each.lhs, each.rhs)
            )
            assert after < before, str(each)


# -- together --------------------------------------------------------------------------------------
UNARY: list[Callable[[Any], Any]] = [
    *(snp.exp, snp.log, snp.sin, snp.cos, snp.tanh, snp.sigmoid, snp.softplus, snp.sqrt),
    *(snp.square, snp.negative, snp.absolute, snp.log1p, snp.expm1, snp.sinh, snp.cosh),
    *(snp.softmax, snp.log_softmax, snp.transpose),
    *(lambda x: 1 + x, lambda x: 1 - x, lambda x: x - 1, lambda x: 1 / x, lambda x: x * 1),
    *(lambda x: x + 0.0, lambda x: x * 0.0, lambda x: x**2, lambda x: x**0.5, lambda x: 2 * x),
    lambda x: snp.sum(x, axis=-1, keepdims=True),
    lambda x: snp.sum(x, axis=0, keepdims=True),
    lambda x: snp.max(x, axis=-1, keepdims=True),
    lambda x: snp.logsumexp(x, axis=-1, keepdims=True),
    lambda x: snp.maximum(x, 0),
    lambda x: snp.reshape(x, x.shape[::-1]),
]
BINARY: list[Callable[[Any, Any], Any]] = [
    *(lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y),
    *(snp.maximum, lambda x, y: snp.where(x > 0, x, y), lambda x, y: snp.where(x > y, x, 0)),
]


def random_outputs(seed: int) -> list[Node]:
    """An expression of a dozen random operations."""
    rng = random.Random(seed)
    pool = [sg.input("x", (2, 3)), sg.input("y", (2, 3), assume=sg.positive)]
    while len(pool) < 14:
        try:
            if rng.random() < 0.65:
                pool.append(rng.choice(UNARY)(rng.choice(pool[-4:])))
            else:
                pool.append(rng.choice(BINARY)(rng.choice(pool[-4:]), rng.choice(pool)))
        except sg.ShapeError:
            continue
    return [pool[-1].node, pool[-2].node]


@pytest.mark.whole
def test_fifty_orders_of_the_rules_give_one_result() -> None:
    graphs = [random_outputs(seed) for seed in range(30)]
    ordered = RuleSet(RULES)
    expected = [rewrite(outputs, ordered) for outputs in graphs]
    for seed in range(50):
        shuffled = list(RULES)
        random.Random(seed).shuffle(shuffled)
        rules = RuleSet(shuffled)
        for outputs, result in zip(graphs, expected, strict=True):
            assert rewrite(outputs, rules) == result


@pytest.mark.parametrize("trust", ["exact", "rounding", "domain"])
def test_one_sweep_is_a_fixpoint(trust: Any) -> None:
    rules = RuleSet(RULES)
    log = Log()
    for seed in range(60):
        once = rewrite(random_outputs(seed), rules, trust=trust, log=log)
        assert rewrite(once, rules, trust=trust) == once
    assert log


AWKWARD = {
    "x": np.array([[0.0, -0.0, np.nan], [np.inf, -np.inf, -2.5]]),
    "y": np.array([[1.0, 5e-324, 3.0], [1e308, 0.5, 7.0]]),
}


def numbers(outputs: list[Node]) -> list[Any]:
    graph = sg.graph(*[sg.Array(node) for node in outputs])
    return list(graph.evaluate(**{name: AWKWARD[name] for name in graph.inputs}))


def test_exact_trust_keeps_every_bit() -> None:
    rules = RuleSet(RULES)
    log = Log()
    for seed in range(80):
        outputs = random_outputs(seed)
        small = rewrite(outputs, rules, trust="exact", log=log)
        for one, other in zip(numbers(outputs), numbers(small), strict=True):
            np.testing.assert_array_equal(one, other)
            assert np.all((np.signbit(one) == np.signbit(other)) | np.isnan(one))
    assert {step.sound for step in log.steps} == {"exact"}


def test_every_name_is_taken_once() -> None:
    names = [rule.name for rule in RULES]
    assert len(names) == len(set(names))
    assert load_packs()[0].name == "standard"
