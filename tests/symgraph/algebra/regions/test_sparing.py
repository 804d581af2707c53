"""Large graphs in which no structure repeats: less is tried, and the result means the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from randomgraphs import random_function, random_program, traced_program
from randomgraphs.compare import TOLERANCE, Reference, difference, flat
from textbook import Row, numbers, traced
from textbook.catalogue import CATALOGUE

import symgraph as sg
from symgraph.algebra.expression.atoms import AtomTable
from symgraph.algebra.expression.leaf_terms import leaf_expr
from symgraph.algebra.expression.term import Expr
from symgraph.algebra.lifting.lifting import Lifter
from symgraph.algebra.regions import region_pass, templates, walks
from symgraph.algebra.regions.lower_bound import least_count, plain_count
from symgraph.algebra.regions.node_forms import NodeForms
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.node import Node, make, on_operands
from symgraph.ir.op import OPS
from symgraph.ops.creation import input as symbol
from symgraph.passes import simplify as rounds

SIZES = {"n": 6}


@pytest.fixture
def spared(monkeypatch: pytest.MonkeyPatch) -> list[Expr]:
    """Graphs of any size are looked at as large ones; the expressions not written for length."""
    found: list[Expr] = []

    def told(expr: Expr, computed: Any) -> int:
        count = plain_count(expr, computed)
        found.append(expr)
        return count

    monkeypatch.setattr(rounds, "THOROUGH_UP_TO", 0)
    monkeypatch.setattr(templates.RegionStructures, "pays", False)
    monkeypatch.setattr(region_pass, "plain_count", told)
    return found


def leaves(value: Any) -> list[Any]:
    return [each for v in value for each in leaves(v)] if isinstance(value, tuple) else [value]


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=() if place % 5 == 0 else pytest.mark.fuzz, id=row.name)
        for place, row in enumerate(CATALOGUE)
    ],
)
def test_gradients_of_the_catalogue_are_right(row: Row, spared: list[Expr]) -> None:
    graph, at = traced(row.f, row.specs).gradient(*row.wrt), numbers(row, SIZES)
    with np.errstate(all="ignore"):
        wanted, found = (
            leaves(graph.evaluate(**at)),
            leaves(graph.simplify(effort="high").evaluate(**at)),
        )
    for one, other in zip(wanted, found, strict=True):
        ok = np.isfinite(one)  # As typed, the softmax of a row that is masked throughout is 0 / 0.
        size = float(np.max(np.abs(one[ok]), initial=1e-3))
        np.testing.assert_allclose(other[ok], one[ok], rtol=1e-7, atol=1e-7 * size)


@pytest.mark.sampled(one_in=24)
@pytest.mark.parametrize(
    "seed",
    [*range(40), *[pytest.param(seed, marks=pytest.mark.fuzz) for seed in range(40, 1_000)]],
)
def test_random_programs_are_right(seed: int, spared: list[Expr]) -> None:
    program = random_program(seed)
    joint = traced_program(program).gradient(*program.targets)
    at = program.values
    wanted, found = flat(joint.evaluate(**at)), flat(joint.simplify(effort="high").evaluate(**at))
    bound = 10 * TOLERANCE["float64"] * Reference.of(program).scale
    assert not difference(found, wanted, bound), program


@pytest.mark.whole
def test_less_is_written_and_nearly_as_much_found(spared: list[Expr]) -> None:
    """A random graph: within a twentieth of the operations that all patience gives."""
    joint = sg.trace(random_function(400), x="4, 3", w="3, 3").gradient("x", "w")
    small = joint.simplify(effort="high")
    assert spared
    assert small.op_count() < joint.op_count()
    with pytest.MonkeyPatch.context() as patient:
        patient.setattr(rounds, "THOROUGH_UP_TO", 10**9)
        best = joint.simplify(effort="high").op_count()
    assert best <= small.op_count() <= 1.05 * best


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("seed", [0, 3, 5])
def test_the_second_walk_looks_only_at_what_the_first_one_split(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    walk, form = region_pass.RegionPass.run, NodeForms.form

    def walked(each: region_pass.RegionPass) -> list[Node]:
        looks.append(0)
        return walk(each)

    def formed(forms: NodeForms, node: Node) -> Expr | None:
        looks[-1] += 1
        return form(forms, node)

    for module in (region_pass, walks):
        monkeypatch.setattr(module, "PATIENT_UP_TO", 0)
    monkeypatch.setattr(region_pass.RegionPass, "run", walked)
    monkeypatch.setattr(NodeForms, "form", formed)
    joint = sg.trace(random_function(300, seed), x="4, 3", w="3, 3").gradient("x", "w")
    found = walks.normalized(list(joint.dag.outputs), Knowledge(), thorough=False)
    first, second = looks
    assert 0 < second < first / 20
    at = {"x": np.linspace(-1, 1, 12).reshape(4, 3), "w": 0.3 * np.eye(3)}
    wanted, small = joint.evaluate(**at), sg.Graph(joint.dag.with_outputs(found)).evaluate(**at)
    for one, other in zip(flat(wanted), flat(small), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-9)


# -- how many operations an expression has ---------------------------------------------------------
def expression(array: sg.Array) -> Expr:
    """A value over the inputs."""
    lifter = Lifter(AtomTable(Knowledge()), at_kinks=True)

    def of(node: Node) -> Expr:
        if node.is_input or node.is_constant:
            return leaf_expr(lifter.atoms, node)
        found = lifter.form(node, [of(each) for each in node.operands])
        assert found is not None
        return found

    return of(array.node)


def never(_head: object) -> bool:
    return False


X, Y, Z = (symbol(name, (3, 4)) for name in "xyz")

COUNTS: list[tuple[str, sg.Array, int]] = [
    ("a product and another", X * Y + X * Z, 3),
    ("the negative of a product", -(X * Y), 2),
    ("a difference turned round", -((X - Y) * Z), 2),
    ("an inverse", 1 / (X * Y), 2),
    ("a number twice", 3 * X * Y + 3 * Z, 3),
    ("a square twice", X**2 * Y + X**2 * Z, 4),
    ("a mean taken away", X - np.mean(X, axis=0), 3),
    ("a product of matrices", X @ Y.T, 1),
    ("an inner product of each row", np.sum(X * Y, axis=1), 2),
    ("a sigmoid", 1 / (1 + np.exp(-X)), 4),
    ("a softmax", np.exp(X) / np.sum(np.exp(X), axis=1, keepdims=True), 5),
]


@pytest.mark.parametrize(("name", "array", "count"), COUNTS, ids=[each[0] for each in COUNTS])
def test_operations_of_an_expression_as_it_stands(name: str, array: sg.Array, count: int) -> None:
    expr = expression(array)
    assert plain_count(expr, never) == count
    assert least_count(expr, never) <= count


def test_what_is_computed_anyway_costs_nothing() -> None:
    expr = expression(1 / (1 + np.exp(-X)))
    assert plain_count(expr, lambda _head: True) < plain_count(expr, never)


# -- what is not found out twice -------------------------------------------------------------------
def test_on_operands_alike_nothing_is_inferred_again() -> None:
    total = (X * Y).node
    again = on_operands(total, (Y.node, Z.node))
    assert again.results is total.results
    row = symbol("row", (4,)).node
    wide = on_operands((row_sum := make(OPS["add"], (row, row))), (row, X.node))
    assert wide.shape == (3, 4) != row_sum.shape
    single = symbol("single", (3, 4), "float32").node
    assert on_operands(total, (single, single)).dtype == np.float32
