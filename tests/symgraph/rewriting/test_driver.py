"""The greedy driver: to a fixpoint, in linear time, with origins, a log, and named loops."""

from __future__ import annotations

import gc
import sys
from typing import Any

import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import RewriteError, RewriteLoopError, RuleError
from symgraph.ir.node import Node
from symgraph.ir.walks import reachable
from symgraph.rewriting import Array, Real, RulePack, rule
from symgraph.rewriting.driver import rewrite
from symgraph.rewriting.index import RuleSet
from symgraph.rewriting.log import Log


@rule(sound="exact")
def times_one(x: Array):
    """The unit."""
    return x * 1, x


@rule(sound="exact")
def double_negation(x: Array):
    """Twice is not at all."""
    return snp.negative(-x), x


@rule(sound="rounding")
def log_of_exp(x: Real):
    """The inverse pair."""
    return snp.log(snp.exp(x)), x


RULES = RuleSet([times_one, double_negation, log_of_exp])


def chain(length: int, every: int = 1) -> Node:
    """Tanh after tanh, with something to remove from `every` so many."""
    y = sg.input("x", ())
    for i in range(length):
        y = snp.tanh(y if i % every else snp.negative(-(y * 1.0)))
    return y.node


def test_rules_fire_until_none_fits() -> None:
    x = sg.input("x", (3,))
    inner = snp.log(snp.exp(x * 1)) * 1
    assert rewrite([snp.log(snp.exp(snp.negative(-inner))).node], RULES) == [x.node]


def test_all_outputs_are_rewritten_together() -> None:
    x = sg.input("x", (3,))
    outputs = [(x * 1).node, snp.sin(x * 1).node, x.node]
    assert rewrite(outputs, RULES) == [x.node, snp.sin(x).node, x.node]


@pytest.mark.parametrize("trust", ["exact", "rounding", "domain"])
def test_trust_says_which_rules_may_fire(trust: Any) -> None:
    @rule(sound="domain")
    def quotient(x: Real):
        return x / x, 1

    x = sg.input("x", (3,))
    outputs = [(x * 1).node, snp.log(snp.exp(x)).node, (x / x).node]
    log = Log()
    rewrite(outputs, RuleSet([*RULES, quotient]), trust=trust, log=log)
    grades = ("exact", "rounding", "domain")
    assert [step.sound for step in log.steps] == list(grades[: grades.index(trust) + 1])


# -- size ------------------------------------------------------------------------------------------
@pytest.mark.whole
def test_a_chain_of_100_000_nodes() -> None:
    before = sys.getrecursionlimit()
    deep = chain(100_000, every=50)
    (small,) = rewrite([deep], RULES)
    assert len(reachable([small])) == 100_001
    assert sys.getrecursionlimit() == before


def test_each_node_is_tried_once_however_many_use_it() -> None:
    x = sg.input("x", (3,))
    y = snp.log(snp.exp(x))
    total = y * 2.0
    for k in range(3, 60):
        total = total + y * float(k)
    log = Log()
    rewrite([total.node], RULES, log=log)
    assert log.fired == {"log_of_exp": 1}


def test_work_grows_with_the_graph_and_not_faster() -> None:
    tried: list[int] = []
    for length in (100, 1000):
        log = Log()
        rewrite([chain(length)], RULES, log=log)
        tried.append(sum(log.tried.values()))
    assert tried[1] <= 10 * tried[0] + 10


def test_the_garbage_collector_is_left_as_it_was() -> None:
    assert gc.isenabled()
    rewrite([chain(3)], RULES)
    assert gc.isenabled()


# -- provenance ------------------------------------------------------------------------------------
def test_the_log_tells_rule_place_before_and_after() -> None:
    x = sg.input("x", (3,))
    y = snp.log(snp.exp(x))
    log = Log()
    rewrite([(y + 1).node], RULES, log=log)
    (step,) = log.steps
    assert (step.rule, step.before, step.after) == ("log_of_exp", y.node, x.node)
    assert "test_driver.py" in str(step)
    assert "log_of_exp" in log.profile()
    assert log.leading_to([x.node]) == [step]
    assert log.leading_to([sg.input("z", ()).node]) == []


def test_what_a_rule_makes_keeps_the_users_line_and_names_the_rule() -> None:
    @rule(sound="rounding")
    def square_of_exp(x: Real):
        return snp.square(snp.exp(x)), snp.exp(2 * x)

    value = snp.square(snp.exp(sg.input("x", (3,))))
    (small,) = rewrite([value.node], RuleSet([square_of_exp]))
    assert small.origin.rule == "square_of_exp"
    assert small.origin.frames == value.node.origin.frames


def test_gradient_nodes_stay_gradient_nodes() -> None:
    x = sg.input("x", (3,))
    loss = snp.sum(snp.sin(x) * 1)
    (gradient,) = sg.grad(loss, [x])
    (small,) = rewrite([gradient.node], RuleSet([times_one]))
    assert small.origin.adjoint_of is not None


# -- faults ----------------------------------------------------------------------------------------
@rule(sound="rounding")
def there(x: Real):
    """One way."""
    return snp.sin(x) + snp.cos(x), snp.cos(x) * snp.sin(x)


@rule(sound="rounding")
def back(x: Real):
    """And back."""
    return snp.cos(x) * snp.sin(x), snp.sin(x) + snp.cos(x)


def test_rules_that_undo_one_another_are_named_with_the_users_line() -> None:
    x = sg.input("x", (3,))
    value = snp.exp(snp.sin(x) + snp.cos(x))
    with pytest.raises(RewriteLoopError, match="there -> back -> there") as caught:
        rewrite([value.node], RuleSet([there, back]))
    assert "test_driver.py" in str(caught.value)


def test_a_rule_that_contains_its_own_match_is_named() -> None:
    @rule(sound="rounding")
    def grows(x: Real):
        return snp.exp(x), snp.exp(x) * 1.5

    with pytest.raises(RewriteLoopError, match="grows"):
        rewrite([snp.exp(sg.input("x", (3,))).node], RuleSet([grows]))


@pytest.mark.whole
def test_a_rule_that_never_repeats_itself_runs_out_of_fuel() -> None:
    @rule(sound="rounding")
    def creeps(x: Real):
        return snp.exp(x), snp.exp(x + 1e-30)  # All digits stay: a rule that loses some is refused.

    with pytest.raises(RewriteLoopError, match="creeps -> creeps"):
        rewrite([snp.exp(sg.input("x", ())).node], RuleSet([creeps]))


def test_a_rule_that_fails_is_named_and_changes_nothing() -> None:
    @rule(sound="rounding")
    def fails(x: Real):
        return snp.exp(x), snp.sum(x, axis=-9)

    x = sg.input("x", (3,))
    with pytest.raises(RewriteError, match="fails cannot build its right side"):
        rewrite([snp.exp(x).node], RuleSet([fails]))
    assert gc.isenabled()


# -- sets of rules ---------------------------------------------------------------------------------
def test_two_packs_that_claim_one_name_are_both_named() -> None:
    @rule(sound="exact")
    def times_one(x: Array):
        return x * 1.0, x

    other = RulePack("other", (times_one,))
    with pytest.raises(RuleError, match=r"'mine'.*'other'"):
        RuleSet([RulePack("mine", tuple(RULES)), other])


def test_rules_are_left_out_and_picked_by_name() -> None:
    assert [each.name for each in RULES.only("times_one")] == ["times_one"]
    assert "times_one" not in [each.name for each in RULES.without("times_one")]
    assert RULES["log_of_exp"] is log_of_exp
    with pytest.raises(RuleError, match="no rule named 'nothing'"):
        RULES.without("nothing")


def test_larger_left_sides_and_higher_priorities_come_first() -> None:
    @rule(sound="rounding", priority=1)
    def urgent(x: Real):
        return snp.log(x), x

    @rule(sound="rounding")
    def small(x: Real):
        return snp.log(x), x + 1

    names = [each.name for each in RuleSet([small, log_of_exp, urgent])]
    assert names == ["urgent", "log_of_exp", "small"]


def test_only_rules_that_can_start_at_a_node_are_tried() -> None:
    x = sg.input("x", (3,))
    assert [each.name for each in RULES.candidates(snp.log(snp.exp(x)).node)] == ["log_of_exp"]
    assert RULES.candidates(snp.log(x).node) == ()
    assert [each.name for each in RULES.candidates((x * 2.0).node)] == ["times_one"]
    assert RULES.candidates((x * x).node) == ()
