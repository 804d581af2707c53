"""The algebra pass: what it may do, what it must leave alone, that it comes to rest."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from randomgraphs import random_program, traced_program

import symgraph as sg
from symgraph.algebra import normalized
from symgraph.algebra.expression.atoms import AtomTable
from symgraph.algebra.expression.canonical_indices import canonical_term
from symgraph.algebra.expression.exact_numbers import coefficient
from symgraph.algebra.extraction.contraction_order import PlanOperand, plan
from symgraph.algebra.extraction.use_counts import UseCounts
from symgraph.ir.cost import op_count
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.invariants import verify
from symgraph.ir.node import Node
from symgraph.ops.creation import input as symbol


def settled(*outputs: Any) -> list[Node]:
    """The outputs after as many passes as change anything."""
    nodes = [each.node for each in outputs]
    knowledge = Knowledge()
    for _ in range(8):
        new = normalized(nodes, knowledge)
        if new == nodes:
            return nodes
        nodes = new
    raise AssertionError("the pass does not come to rest")


def names(nodes: list[Node]) -> list[str]:
    return [node.op.name for node in sg.graph(*[sg.Array(n) for n in nodes]).nodes if node.op.count]


def evaluated(nodes: list[Node], **at: Any) -> list[np.ndarray]:
    graph = sg.graph(*[sg.Array(node) for node in nodes])
    found = graph.evaluate(**at)
    return list(found) if isinstance(found, tuple) else [found]


# -- what it does ---------------------------------------------------------------------------------
def test_like_terms_meet() -> None:
    x, y = symbol("x", (3,)), symbol("y", (3,))
    (out,) = settled(2 * x + y - x - y)
    assert out is x.node


def test_a_row_and_a_column_are_one_vector() -> None:
    x = symbol("x", (3,))
    column = x.reshape(3, 1)
    (out,) = settled((column.T @ column).reshape(()) + x @ x)
    assert names([out]) == ["matmul", "multiply"]


def test_the_factor_of_a_sum_is_taken_out_across_the_summed_index() -> None:
    X, a, b = symbol("X", (6, 5)), symbol("a", (6,)), symbol("b", (6,))
    (out,) = settled(X.T @ a - X.T @ b)
    assert names([out]) == ["subtract", "matmul"]


def test_a_chain_of_matrices_is_multiplied_from_the_vector() -> None:
    A, B, v = symbol("A", (50, 50)), symbol("B", (50, 50)), symbol("v", (50,))
    (out,) = settled((A @ B) @ v)
    assert out.operands[0] is A.node
    assert out.operands[1].op.name == "matmul"


def test_symmetry_unites_two_contractions() -> None:
    A = symbol("A", (4, 4), assume=sg.symmetric)
    x = symbol("x", (4,))
    (out,) = settled(A @ x + x @ A)
    assert sorted(names([out])) == ["matmul", "multiply"]


def test_a_closed_array_is_symmetric_if_what_it_is_is() -> None:
    A, B = symbol("A", (4, 4), assume=sg.symmetric), symbol("B", (4, 4), assume=sg.symmetric)
    product = A @ B @ A
    (out,) = settled(np.exp(product) + 3 * product - product.T)
    assert names([out]) == ["matmul", "matmul", "exp", "multiply", "add"]
    other = A @ B
    (out,) = settled(np.exp(other) + 3 * other - other.T)
    assert names([out]) == ["matmul", "exp", "multiply", "add", "subtract"]


def test_what_is_repeated_for_several_users_is_one_number_to_them() -> None:
    X, A = symbol("X", (4, 3)), symbol("A", (4, 4))
    number = np.broadcast_to(np.sum(X * X), (4, 3))
    (out,) = settled(A @ (X * number) + (A @ X) * number)
    assert names([out]).count("matmul") == 1


def test_a_contraction_in_several_terms_is_computed_once_transposed_or_not() -> None:
    X, A, B, C = (
        symbol(n, s) for n, s in [("X", (5, 3)), ("A", (5, 5)), ("B", (3, 3)), ("C", (5, 5))]
    )
    (out,) = settled(C @ (A @ X @ B) + A.T @ (C.T @ X @ B.T))
    assert names([out]).count("matmul") == 5
    (other,) = settled(C @ (A @ X @ B) + A @ (C @ X @ B.T))
    assert names([other]).count("matmul") == 6
    rng = np.random.default_rng(0)
    at = {
        n: rng.normal(size=s)
        for n, s in [("X", (5, 3)), ("A", (5, 5)), ("B", (3, 3)), ("C", (5, 5))]
    }
    (found,) = evaluated([out], **at)
    x, a, b, c = at["X"], at["A"], at["B"], at["C"]
    np.testing.assert_allclose(found, c @ a @ x @ b + a.T @ c.T @ x @ b.T)


def test_a_factor_known_to_be_invertible_cancels_with_its_inverse() -> None:
    P = symbol("P", (4, 4), assume=sg.positive_definite)
    A, b = symbol("A", (4, 4)), symbol("b", (4,))
    solve = np.linalg.solve
    for system in (solve(P @ A, P @ b), solve(P.T @ A, P @ b)):
        assert names(settled(system)) == ["solve"]
    assert names(settled(solve((A @ P).T, P @ b))) == ["solve"]
    assert settled(np.linalg.inv(P) @ (P @ b))[0] is b.node
    # A may be singular, and then the left side is no number; A b is not the first factor.
    for system in (solve(A @ P, A @ b), np.linalg.inv(A) @ (A @ b), solve(A @ P, P @ b)):
        assert len(names(settled(system))) > 1


def test_an_inverse_is_not_formed_to_be_summed() -> None:
    A = symbol("A", (4, 4))
    inverse = np.linalg.inv(A)
    assert names(settled(np.sum(inverse, axis=1) + 1)) == ["solve", "add"]
    (out,) = settled(np.sum(inverse, axis=0) + 1)
    assert names([out]) == ["solve", "add"]
    value = np.random.default_rng(0).normal(size=(4, 4))
    np.testing.assert_allclose(
        evaluated([out], A=value)[0], np.sum(np.linalg.inv(value), axis=0) + 1
    )
    assert "solve" not in names(settled(inverse * inverse + np.sum(inverse, axis=0)))


def test_what_is_odd_of_a_difference_is_the_negative_of_its_transpose() -> None:
    x, y = symbol("x", (4,)), symbol("y", (4,))
    odd = np.sin(x[:, None] - x)
    assert names(settled(np.sum(odd, axis=1) - np.sum(odd, axis=0))) == [
        *["subtract", "sin", "sum", "multiply"]
    ]
    assert names(settled(3 * odd + odd.T)) == ["subtract", "sin", "multiply"]
    apart = np.sin(x[:, None] - y)
    found = names(settled(np.sum(apart, axis=1) - np.sum(apart, axis=0)))
    assert found == ["subtract", "sin", "subtract", "sum"]


def test_simplex_and_unit_norm_sum_to_one() -> None:
    p = symbol("p", (4,), assume=sg.simplex(axis=-1))
    u = symbol("u", (4,), assume=sg.unit_norm(axis=-1))
    s = symbol("s", ())
    assert settled(s * np.sum(p))[0] is s.node
    assert settled(s * np.sum(u * u))[0] is s.node


def test_orthogonal_matrices_leave_the_identity() -> None:
    Q = symbol("Q", (4, 4), assume=sg.orthogonal)
    x = symbol("x", (4,))
    assert settled(Q.T @ (Q @ x))[0] is x.node


def test_float32_stays_float32() -> None:
    x = symbol("x", (3,), "float32")
    (out,) = settled(0.1 * x + 0.2 * x + x / 3)
    assert out.dtype == np.float32
    value = np.array([1, 2, 3], "float32")
    assert evaluated([out], x=value)[0].dtype == np.float32


def test_named_dimensions_are_sizes() -> None:
    x, b = symbol("x", ("n", 3), assume=sg.finite), symbol("b", (3,))
    (out,) = settled(np.sum(x * 0 + b, axis=0))
    assert names([out]) == ["multiply"]
    graph = sg.graph(sg.Array(out), inputs=[x, b])
    found = graph.evaluate(x=np.ones((5, 3)), b=np.arange(3.0))
    np.testing.assert_allclose(found, 5 * np.arange(3.0))


# -- what it must not do --------------------------------------------------------------------------
def is_kept(value: Any) -> bool:
    return settled(value)[0] is value.node


def test_quotients_cancel_only_where_nothing_is_zero() -> None:
    x = symbol("x", (3,))
    y = symbol("y", (3,), assume=sg.nonzero)
    assert is_kept(x / x)
    assert settled(y / y)[0].op.name != "divide"
    at = np.array([0.0, 1.0, -2.0])
    assert np.isnan(evaluated(settled(x * x / x), x=at)[0][0])


def test_zero_swallows_only_what_is_defined() -> None:
    x, y = symbol("x", (3,)), symbol("y", (3,), assume=sg.finite)
    (out,) = settled(0 * np.log(x))
    at = np.array([-1.0, 1.0, 2.0])
    assert np.isnan(evaluated([out], x=at)[0][0])
    assert is_kept(x - x)
    (gone,) = settled(0 * y)
    assert gone.shape == (3,)
    assert gone.op.name == "broadcast_to"


def test_roots_and_powers_keep_signs() -> None:
    x = symbol("x", (2,))
    at = np.array([-3.0, 3.0])
    np.testing.assert_allclose(evaluated(settled(np.sqrt(x * x)), x=at)[0], [3, 3])
    assert np.isnan(evaluated(settled(np.sqrt(x) ** 2), x=at)[0][0])
    assert np.isnan(evaluated(settled(np.sqrt(x) * np.sqrt(x)), x=at)[0][0])
    np.testing.assert_allclose(evaluated(settled(np.log(x * x)), x=at)[0], np.log([9, 9]))
    assert np.isnan(evaluated(settled(np.exp(np.log(x))), x=at)[0][0])


def test_logs_split_only_over_positive_factors() -> None:
    x, y = symbol("x", (2,)), symbol("y", (2,))
    at = {"x": np.array([-1.0, 2.0]), "y": np.array([-4.0, 2.0])}
    np.testing.assert_allclose(
        evaluated(settled(np.log(x * y) + np.log(x * y)), **at)[0], 2 * np.log([4, 4])
    )


def test_a_softmax_without_keepdims_is_none() -> None:
    X = symbol("X", (4, 4))
    (out,) = settled(np.exp(X) / np.exp(X).sum(1))
    at = np.random.default_rng(0).standard_normal((4, 4))
    np.testing.assert_allclose(evaluated([out], X=at)[0], np.exp(at) / np.exp(at).sum(1))
    assert "softmax" not in names([out])


def test_a_product_of_exps_is_one_exp_but_where_they_are_computed_anyway() -> None:
    x, y = symbol("x", (3,)), symbol("y", (3,))
    (small,) = settled(np.exp(x) * np.exp(y))
    assert small is np.exp(x + y).node
    outputs = [np.exp(x), np.exp(x) * np.exp(y)]
    assert settled(*outputs) == [each.node for each in outputs]


def test_exact_trust_and_whole_numbers_are_left_alone() -> None:
    x, k = symbol("x", (3,)), symbol("k", (3,), "int64")
    assert normalized([(x - x).node], Knowledge(), trust="exact") == [(x - x).node]
    assert is_kept(k - k)


def test_open_facts_alone_keep_the_derivative() -> None:
    """Before differentiating, a sum over a simplex is a function of p still."""
    p = symbol("p", (3,), assume=sg.simplex(axis=-1))
    value = np.sum(p)
    assert normalized([value.node], Knowledge(only_open=True)) == [value.node]


def test_constants_that_do_not_fit_the_dtype_leave_the_region_as_it_is() -> None:
    x = symbol("x", (3,), "float32")
    (out,) = settled(x * 1e30 * 1e30)
    assert np.all(np.isinf(evaluated([out], x=np.ones(3, "float32"))[0]))


# -- values, rest, determinism, size --------------------------------------------------------------
@pytest.mark.sampled(one_in=16)
@pytest.mark.parametrize("start", range(0, 60, 5))
def test_random_programs_keep_their_values(start: int) -> None:
    for seed in range(start, start + 5):
        program = random_program(seed)
        joint = traced_program(program).gradient(*program.targets)
        outputs = settled(*joint.outputs.values())
        small = joint.dag.with_outputs(outputs)
        verify(small)
        wanted = _flat(joint.evaluate(**program.values))
        found = _flat(sg.Graph(small).evaluate(**program.values))
        scale = max([1.0, *[float(np.max(np.abs(each))) for each in wanted if each.size]])
        for one, other in zip(found, wanted, strict=True):
            assert one.shape == other.shape
            assert one.dtype == other.dtype
            np.testing.assert_allclose(
                one, other, rtol=0, atol=1e-9 * scale, err_msg=f"seed {seed}\n{program}"
            )


def _flat(results: Any) -> list[np.ndarray]:
    if isinstance(results, tuple | list):
        return [leaf for part in results for leaf in _flat(part)]
    return [np.asarray(results)]


PROGRAM = """
import numpy as np, symgraph as sg
def loss(X, W, p):
    e = np.exp(np.tanh(X @ W))
    return -np.mean(np.sum(p * np.log(e / e.sum(-1, keepdims=True)), axis=-1)) + 0.1 * np.sum(W * W)
graph = sg.trace(loss, X="6, 5", W="5, 4", p=sg.spec("6, 4", assume=sg.simplex(axis=-1)))
print(graph.gradient("W").simplify().to_python())
"""


@pytest.mark.whole
def test_hash_seeds_do_not_matter() -> None:
    texts = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1] != ""


@pytest.mark.whole
def test_long_chains_and_residual_streams() -> None:
    """Nothing here is asserted of time; what is quadratic would not end."""
    x, w = symbol("x", (4,)), symbol("w", (4, 4))
    stream = x
    for _ in range(250):
        stream = stream + np.tanh(w @ stream)
    (value,) = settled(np.sum(stream))
    assert op_count([value]) <= 250 * 3 + 1
    chain = x
    for _ in range(3_000):
        chain = np.sin(chain * 0.5 + 0.25)
    assert op_count(settled(chain)) == 9_000


def test_a_stable_spelling_is_taken_whatever_it_costs() -> None:
    z = symbol("z", (3,))
    at = np.array([1e4, 0.0, -1e4])
    for value, wanted in (
        (np.exp(z) / (1 + np.exp(z)), [1, 0.5, 0]),
        (np.log(1 + np.exp(z)), [1e4, np.log(2), 0]),
        (np.exp(z) / np.sum(np.exp(z)), [1, 0, 0]),
        (np.log(np.sum(np.exp(z))) + 0 * z, [1e4, 1e4, 1e4]),
    ):
        np.testing.assert_allclose(evaluated(settled(value), z=at)[0], wanted)


# -- parts ----------------------------------------------------------------------------------------
def test_bound_indices_have_no_names_of_their_own() -> None:
    atoms = AtomTable(Knowledge())
    A, B = [atoms.leaf(symbol(name, (3, 3)).node) for name in "AB"]
    first = canonical_term([(A, (0, 7), 1), (B, (7, 9), 1), (A, (9, 1), 1)], {7: 3, 9: 3})
    other = canonical_term([(A, (50, 1), 1), (B, (20, 50), 1), (A, (0, 20), 1)], {20: 3, 50: 3})
    turned = canonical_term([(A, (7, 0), 1), (B, (7, 9), 1), (A, (9, 1), 1)], {7: 3, 9: 3})
    assert first == other
    assert first != turned


def test_a_cycle_of_equal_factors_has_one_name() -> None:
    atoms = AtomTable(Knowledge())
    A = atoms.leaf(symbol("A", (3, 3)).node)
    sizes = {5: 3, 6: 3, 7: 3}
    first = canonical_term([(A, (5, 6), 1), (A, (6, 7), 1), (A, (7, 5), 1)], sizes)
    other = canonical_term([(A, (7, 6), 1), (A, (6, 5), 1), (A, (5, 7), 1)], sizes)
    assert first == other


def test_the_plan_avoids_large_intermediates() -> None:
    sizes = {0: 1000.0, 1: 1000.0, 2: 2.0}

    def size(labels: frozenset[int]) -> float:
        return float(np.prod([sizes[label] for label in labels]))

    rows = [frozenset({0, 1}), frozenset({1, 2}), frozenset({2, 0})]
    moves = plan([PlanOperand(row, False) for row in rows], frozenset({0}), size)
    assert moves is not None
    assert max(size(move.result.labels) for move in moves) <= 2000


@pytest.mark.parametrize(
    ("number", "text"), [(0.1, "1/10"), (1 / 3, "1/3"), (2.0, "2"), (np.float32(0.1), "1/10")]
)
def test_numbers_are_read_as_written(number: float, text: str) -> None:
    assert str(coefficient(number)) == text
    assert coefficient(float("nan")) is None


def test_prices_follow_the_cost_model() -> None:
    x, y = symbol("x", (3,)), symbol("y", (3,))
    shared = np.exp(x) * y
    first, second = shared + 1, np.tanh(shared)
    use_counts = UseCounts([first.node])
    assert use_counts.price(second.node)[0] == 1
    spent = use_counts.price(second.node)
    held, added = use_counts.hold([second.node])
    assert added == spent
    assert use_counts.price(second.node) == (0, 0.0, 0)
    use_counts.let_go(held)
    assert use_counts.price(second.node) == spent
    assert use_counts.retain(second.node) == spent
    assert spent[0] == op_count([first.node, second.node]) - op_count([first.node])


# -- nothing left ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: x**3 * (y + 1) - x**3 * y - x**3,
        lambda x, y: np.trace(x @ y) - np.trace(y @ x),
        lambda x, y: np.sum(x.T * y) - np.sum(x * y.T),
    ],
)
def test_sums_and_products_of_finite_numbers_that_cancel_are_zero(f: Any) -> None:
    """Where they overflow, NaN may be what it is in exact arithmetic; where x is infinite, not."""
    shape, known = (3, 3), (sg.finite,)
    spec = sg.spec(shape, "float64", known)
    assert sg.trace(f, x=spec, y=spec).simplify().op_count() == 0
    assert sg.trace(f, x=sg.spec(shape), y=spec).simplify().op_count() > 0


def test_logarithms_of_finite_numbers_that_cancel_stay() -> None:
    spec = sg.spec((3,), "float64", (sg.finite,))
    graph = sg.trace(lambda x: np.log(x) - np.log(x), x=spec).simplify()
    assert np.isnan(graph.evaluate(x=np.zeros(3))).all()
