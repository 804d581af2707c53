"""The parts of saturation that need no egglog: its equalities, extraction, and proofs."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import SymgraphError
from symgraph.ir.dag import Dag
from symgraph.ir.dims import resolve
from symgraph.ir.interpreter import evaluate
from symgraph.ir.walks import reachable
from symgraph.rewriting import Rule, default_rules
from symgraph.saturation.axioms import AXIOMS
from symgraph.saturation.choices import Choices, ENode
from symgraph.saturation.directions import backwards
from symgraph.saturation.extract import extracted
from symgraph.saturation.integer_program import solved
from symgraph.saturation.matched_instances import Equality
from symgraph.saturation.proof import Closure
from symgraph.verification.instance_maker import SIZES
from symgraph.verification.instances import instances
from symgraph.verification.verifier import verify_rule

BACKWARDS = [found for rule in default_rules() if (found := backwards(rule)) is not None]

OVERFLOWING = {
    "square_of_sum",
    "products_associate",
    "product_with_quotient",
    "quotient_of_quotient",
    "quotient_by_product",
    "quotient_by_quotient",
    "common_factor",
    "common_denominator",
    "common_denominator_of_difference",
    "product_distributes",
    "product_distributes_over_difference",
    "product_of_roots",
    "quotient_of_roots",
    "quotient_of_product",
    "sine_of_sum",
    "sine_of_difference",
    "common_left_matrix",
    "cosine_of_sum",
    "cosine_of_difference",
}
"""Equal in exact arithmetic, but near the ends of the range one side may overflow alone."""


@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize(
    "rule", [rule for rule in AXIOMS if rule.name not in OVERFLOWING], ids=lambda rule: rule.name
)
def test_axioms_are_verified(rule: Rule) -> None:
    report = verify_rule(rule)
    assert report.ok, report


@pytest.mark.parametrize("name", sorted(OVERFLOWING))
def test_axioms_are_equal_where_nothing_overflows(name: str) -> None:
    rule = next(rule for rule in AXIOMS if rule.name == name)
    rng = np.random.default_rng(0)
    tried = 0
    for instance in instances(rule, "rounding", rule.earned.get("rounding", {}), rng, 12, 300):
        inputs = {node.params["name"]: node for node in instance.inputs}
        at = {
            name: (1 + rng.random(resolve(node.shape, SIZES))).astype(node.dtype)
            for name, node in inputs.items()
        }
        left, right = evaluate(Dag(inputs, [instance.lhs, instance.rhs]), at, SIZES)
        tolerance = {2: 3e-2, 4: 1e-5, 8: 1e-13}[np.asarray(left).dtype.itemsize]
        np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance)
        tried += 1
    assert tried


@pytest.mark.sampled(one_in=60)
@pytest.mark.parametrize("rule", BACKWARDS, ids=lambda rule: rule.name)
def test_rules_that_are_read_backwards_are_verified(rule: Rule) -> None:
    assert rule.sound == "exact"
    report = verify_rule(rule)
    assert report.ok, report


def test_some_rules_are_read_backwards_and_most_are_not() -> None:
    assert 3 <= len(BACKWARDS) < len(default_rules()) / 4
    assert not any(rule.stable for rule in BACKWARDS)


def test_without_egglog_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "egglog.bindings", None)
    graph = sg.trace(lambda x: np.sin(x) + x, x=(3,))
    with pytest.raises(SymgraphError, match="egglog") as caught:
        graph.simplify(strategy="saturate")
    assert 'pip install "symgraph[saturate]"' in str(caught.value)
    assert graph.simplify().op_count() == 2


def test_an_unknown_strategy_is_refused() -> None:
    graph = sg.trace(np.sin, x=(3,))
    with pytest.raises(SymgraphError, match="no strategy 'magic'"):
        graph.simplify(strategy="magic")  # type: ignore[arg-type]


# -- extraction ------------------------------------------------------------------------------------
def enodes(table: dict[int, list[tuple[float, tuple[int, ...]]]]) -> Choices:
    """Classes of nodes that are nothing but their weights and what they need."""
    node = sg.input("x", (2,)).node
    ways = [
        ENode(node, own, below, weight) for own, all_of in table.items() for weight, below in all_of
    ]
    choices = Choices(ways, [0])
    choices.chosen = {own: found[0] for own, found in choices.ways.items()}
    return choices


# The root needs both of two classes. Each is cheapest alone as 3, but 4 + (nothing) together: both
# may share class 3.
SHARED = {
    0: [(1.0, (1, 2))],
    1: [(3.0, ()), (0.5, (3,))],
    2: [(3.0, ()), (0.5, (3,))],
    3: [(4.0, ())],
}
CIRCLE = {0: [(5.0, ()), (1.0, (1,))], 1: [(9.0, ()), (1.0, (0,))]}


def test_shared_nodes_are_paid_once() -> None:
    choices = enodes(SHARED)
    assert choices.total(choices.chosen) == 7
    found = solved(choices.ways, choices.roots, 7)
    assert found is not None
    assert choices.total(found) == 6


def test_nothing_is_chosen_that_needs_itself() -> None:
    choices = enodes(CIRCLE)
    both = {0: choices.ways[0][1], 1: choices.ways[1][1]}
    assert choices.total(both) == float("inf")
    assert solved(choices.ways, choices.roots, 4.9) is None
    found = solved(choices.ways, choices.roots, 20)
    assert found is not None
    assert choices.total(found) == 5


def test_a_tie_keeps_the_first_way() -> None:
    x, y = sg.input("x", (2,)).node, sg.input("y", (2,)).node
    choices = Choices([ENode(x, 0, (), 1.0), ENode(y, 0, (), 1.0)], [0])
    choices.chosen = {0: choices.ways[0][0]}
    assert extracted(choices, exact_below=10) == [x]


# -- proofs ----------------------------------------------------------------------------------------
def test_equal_operands_make_equal_values_and_the_reason_is_kept() -> None:
    x, y = sg.input("x", (2,)), sg.input("y", (2,))
    a, b = snp.exp(snp.sin(x) * y).node, snp.exp(y * snp.cos(x)).node
    rule = next(iter(AXIOMS))
    said = Equality(rule, snp.sin(x).node, snp.cos(x).node, "rounding")
    closure = Closure(lambda node: not node.operands)
    closure.add(reachable([a, b]))
    assert not closure.equal(a, b)
    closure.merge(said)
    assert closure.equal(a, b)
    assert closure.steps(a, b) == [(said.left, said.right, said)]
    assert closure.steps(b, a) == [(said.right, said.left, said)]


def test_a_proof_is_a_chain_of_what_was_said() -> None:
    xs = [sg.input(f"x{i}", (2,)).node for i in range(6)]
    said = [Equality(None, xs[i], xs[j], "exact") for i, j in ((0, 3), (4, 3), (5, 4), (1, 2))]
    closure = Closure(lambda node: not node.operands)
    closure.add(xs)
    for each in said:
        closure.merge(each)
    steps = closure.steps(xs[0], xs[5])
    assert [(a, b) for a, b, _ in steps] == [(xs[0], xs[3]), (xs[3], xs[4]), (xs[4], xs[5])]
    assert not closure.equal(xs[0], xs[1])
