"""Each identity of the algebra, by a value that it shortens: its name is in the log.

The table has a row for each named identity. What it gives is as short as the textbook's form, has
the same value, and `explain` tells the identity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
from textbook import Row, numbers, traced
from textbook.catalogue import CATALOGUE

import symgraph as sg
import symgraph.numpy as snp
from symgraph.algebra.expression.applied import EQUATIONS, named

VECTOR, MATRIX, NUMBER = sg.spec("3"), sg.spec("3, 3"), sg.spec("")
POSITIVE = sg.spec("3", assume=sg.positive)
DEFINITE = sg.spec("3, 3", assume=sg.positive_definite)
ROWS = {row.name: row for row in CATALOGUE}


class Case(NamedTuple):
    """A value, its textbook form, and what is known of the inputs."""

    before: Callable[..., Any]
    after: Callable[..., Any]
    specs: Mapping[str, sg.Spec]
    trust: Any = "rounding"


def case(before: Any, after: Any, /, trust: str = "rounding", **specs: sg.Spec) -> Case:
    names = before.__code__.co_varnames[: before.__code__.co_argcount]
    return Case(before, after, {name: specs.get(name, VECTOR) for name in names}, trust)


CASES: dict[str, Case] = {
    "antisymmetric_turned": case(
        lambda a, y: y @ a - a @ y,
        lambda a, y: 2 * (y @ a),
        a=sg.spec("3, 3", assume=sg.facts.antisymmetric),
    ),
    "sign_times_value": case(lambda x, y: np.sign(x) * y * x, lambda x, y: np.abs(x) * y),
    "sign_over_magnitude": case(lambda x, y: np.sign(x) * y / np.abs(x), lambda x, y: y / x),
    "cofactors_over_determinant": case(
        lambda a, b: b * snp.cofactor(a) / np.linalg.det(a),
        lambda a, b: b * np.linalg.inv(a).T,
        a=MATRIX,
        b=MATRIX,
    ),
    "factor_out_of_sum_of_exps": case(
        lambda x, m: np.sum(np.exp(x - m)) * np.exp(m), lambda x, m: np.sum(np.exp(x)), m=NUMBER
    ),
    "product_of_exps": case(lambda x, y: np.exp(x) * np.exp(y - x), lambda x, y: np.exp(y)),
    "fraction_cleared": case(
        lambda x: (1 - 1 / x) / (1 - x),
        lambda x: -1 / x,
        x=sg.spec("3", assume=sg.interval(2, 3)),
    ),
    "fraction_in_denominator": case(
        lambda r, w: 1 / w / (1 + r / w), lambda r, w: 1 / (w + r), r=POSITIVE, w=POSITIVE
    ),
    "sum_and_its_root": case(
        lambda x: (x - 1) / np.sqrt(1 - x),
        lambda x: -np.sqrt(1 - x),
        x=sg.spec("3", assume=sg.interval(-2, 0)),
    ),
    "diagonal_of_identity": case(lambda x: np.diagonal(np.diag(x)), lambda x: x),
    "sum_with_identity": case(lambda x, y: np.diag(x) @ y, lambda x, y: x * y),
    "sum_of_constant": case(
        lambda x, y: np.sum(y * np.broadcast_to(x, (3,))) / 3,
        lambda x, y: x * y,
        x=NUMBER,
        y=NUMBER,
    ),
    "sum_of_unit_vector": case(
        lambda p, y: y * np.sum(p), lambda p, y: y, p=sg.spec("3", assume=sg.simplex(-1))
    ),
    "orthogonal_rows": case(
        lambda q, x: q.T @ q @ x, lambda q, x: x, q=sg.spec("3, 3", assume=sg.orthogonal)
    ),
    "matrix_times_inverse": case(
        lambda a, x: a @ (np.linalg.inv(a) @ x),
        lambda a, x: x,
        a=sg.spec("3, 3", assume=sg.positive_definite),
    ),
    "spectral_theorem": case(
        lambda a: (e := np.linalg.eigh(a), (e[1] * (e[0] + e[0])) @ e[1].T)[1],
        lambda a: 2 * a,
        a=sg.spec("3, 3", assume=sg.symmetric),
    ),
    "matrix_times_eigenvectors": case(
        lambda a: (e := np.linalg.eigh(a), a @ e[1] / e[0])[1],
        lambda a: np.linalg.eigh(a)[1],
        a=sg.spec("3, 3", assume=sg.positive_definite),
    ),
    "product_distributed": case(lambda x, y: x * (1 / x + y), lambda x, y: 1 + x * y, x=POSITIVE),
    "common_denominator": case(lambda x: 1 / x + 1 / (1 - x), lambda x: 1 / (x * (1 - x))),
    "logistic_and_complement": case(
        lambda x, y: y * snp.sigmoid(x) + y * snp.sigmoid(-x), lambda x, y: y
    ),
    "sine_times_cosine": case(
        lambda x, y: np.sin(x) * np.cos(x) * y * 2, lambda x, y: np.sin(2 * x) * y
    ),
    "sine_over_cosine": case(lambda x, y: y * np.sin(x) / np.cos(x), lambda x, y: y * np.tan(x)),
    "product_written_inside": case(
        lambda x, u, z: x * (u - x / z) / z**2, lambda x, u, z: (u - (x / z)) * (x / z) / z
    ),
    "power_raised_by_one": case(
        lambda x, a, y: y * x * x ** (a - 1), lambda x, a, y: y * x**a, x=POSITIVE
    ),
    "powers_joined": case(
        lambda x, y, z: x**y * x**z, lambda x, y, z: x ** (y + z), "domain", x=POSITIVE
    ),
    "quotient_beside_logarithm": case(
        lambda x, y: np.log(x) * y + x / x, lambda x, y: np.log(x) * y + 1
    ),
    "quotient_beside_pole": case(lambda x, y: y / x + x / x, lambda x, y: y / x + 1),
    "power_over_higher_power": case(lambda x, y: x * y / x**2, lambda x, y: y / x),
    "roots_joined": case(
        lambda x, y: (np.sqrt(x) * np.sqrt(y) * y, np.sqrt(x * y)),
        lambda x, y: (np.sqrt(x * y) * y, np.sqrt(x * y)),
        x=POSITIVE,
        y=POSITIVE,
    ),
    "sum_of_sums": case(lambda x, y: np.sum(x) + np.sum(y), lambda x, y: np.sum(x + y)),
    "number_factored": case(
        lambda x, y, z: 0.3 * x + 0.3 * y + z, lambda x, y, z: 0.3 * (x + y) + z
    ),
    # (a + c) * e + a - b has no digits left where a and b are large and near one another.
    "differences_first": case(
        lambda a, b, c, e: (a - b) + e * a + e * c, lambda a, b, c, e: (a + c) * e + (a - b)
    ),
    "cosine_of_double_angle": case(
        lambda x: np.cos(x) ** 2 - np.sin(x) ** 2, lambda x: np.cos(2 * x)
    ),
    "sum_written_once": case(
        lambda x, y: x - y - np.mean(x) + np.mean(y), lambda x, y: (x - y) - np.mean(x - y)
    ),
    "exp_over_another": case(
        lambda x, y: (
            np.exp(-((np.log(x) / y - y / 2) ** 2) / 2)
            + x * np.exp(-((np.log(x) / y + y / 2) ** 2) / 2)
        ),
        lambda x, y: 2 * np.exp((y - 2 * (np.log(x) / y)) ** 2 / -8),
        x=POSITIVE,
        y=POSITIVE,
    ),
    "power_of_quotient": case(
        lambda x, y, z, a: z * x**a * y ** (1 - a),
        lambda x, y, z, a: z * y * (x / y) ** a,
        x=POSITIVE,
        y=POSITIVE,
        a=sg.spec("", assume=sg.interval(0.1, 0.9)),
    ),
    "power_as_quotient": case(
        lambda x, y, z, a: y * x ** (a - 1) / (1 + x**a) - z / x,
        lambda x, y, z, a: (y * (p := x**a) / (1 + p) - z) / x,
        x=POSITIVE,
        a=sg.spec("", assume=sg.positive),
    ),
    "number_out_of_inverse": case(
        lambda A, B, x: np.linalg.solve((A + B) / 2, x) / 4,
        lambda A, B, x: np.linalg.solve(A + B, x) / 2,
        A=DEFINITE,
        B=DEFINITE,
    ),
    "like_terms_at_pole": case(lambda x, y: 2 * y / x - 5 * y / x, lambda x, y: -3 * y / x),
    "factor_taken_out": case(lambda x, y, z: x * y + x * z, lambda x, y, z: x * (y + z)),
    "product_written_once": case(
        lambda x, p, q: p * q - x * np.sum(x * p * q), lambda x, p, q: p * q - x * (x @ (p * q))
    ),
}

BY_ROW = {
    "sum_of_one_term": "entropy of normalised weights",
    "power_of_sum": "categorical, unnormalised",
    "product_computed_anyway": "gated linear unit, values and gates",
    "first_turned": "focal, positives",
    "common_product_taken_out": "cross-entropy, padding masked",
    "contraction_written_once": "trace of (X'CX)^-1 A",
}
"""Gradients of the catalogue that show an identity."""


def inputs(name: str, case: Case) -> dict[str, Any]:
    """Numbers that the facts hold of."""
    matrix = np.random.default_rng(0).normal(size=(3, 3))
    made = {"antisymmetric": matrix - matrix.T, "orthogonal": np.linalg.qr(matrix)[0]}
    facts = {
        key: fact.name
        for key, each in case.specs.items()
        for fact in each.assume  # one at most
    }
    given = {key: made[fact] for key, fact in facts.items() if fact in made}
    rest = {key: each for key, each in case.specs.items() if key not in given}
    return numbers(Row(name, case.before, (), case.after, rest), {}) | given


def identities(graph: sg.Graph) -> set[str]:
    """Those that led to the graph."""
    return {name for step in graph.history for name in step.identities}


def agree(one: sg.Graph, other: sg.Graph, at: Mapping[str, Any]) -> None:
    pairs = zip(flat(one.evaluate(**at)), flat(other.evaluate(**at)), strict=True)
    for found, wanted in pairs:
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def flat(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def test_every_identity_has_a_row_and_an_equation() -> None:
    others = {"product_cancelled"}  # it has a test of its own below
    assert CASES.keys() | BY_ROW.keys() | others == EQUATIONS.keys()
    assert not [name for name, equation in EQUATIONS.items() if equation.count("$") < 2]


@pytest.mark.parametrize("name", CASES)
def test_the_identity_shortens_and_is_told(name: str) -> None:
    before, after, specs, trust = CASES[name]
    graph, closed = traced(before, specs), traced(after, specs)
    small = graph.simplify(rules=(), trust=trust)  # the algebra alone
    assert name in identities(small)
    assert small.op_count() == closed.op_count() < graph.op_count()
    assert name in small.explain()
    agree(small, closed, inputs(name, CASES[name]))


@pytest.mark.parametrize("name", BY_ROW)
def test_a_gradient_by_the_identity(name: str) -> None:
    row = ROWS[BY_ROW[name]]
    plain = traced(row.f, row.specs).gradient(*row.wrt)
    small = plain.simplify()
    assert name in identities(small)
    assert small.op_count() < plain.op_count()
    agree(small, plain, numbers(row, {"n": 6}))


def test_a_product_is_cancelled_against_itself() -> None:
    def f(x: Any, y: Any) -> Any:
        return (x @ y) / np.sqrt((x @ x) * (y @ y))

    plain = sg.trace(f, x="5", y="5").gradient("x", value=False)
    small = plain.simplify()
    assert "product_cancelled" in identities(small)
    rng = np.random.default_rng(0)
    agree(small, plain, {"x": rng.normal(size=5), "y": rng.normal(size=5)})


def test_nothing_is_told_where_nothing_was_applied() -> None:
    graph = sg.trace(lambda x, y: np.sin(x) - np.exp(y), x="3", y="3").simplify()
    assert identities(graph) == set()


def test_two_identities_of_one_name_are_refused() -> None:
    def sign_times_value() -> None:
        """$x = x$."""

    with pytest.raises(ValueError, match="two identities are called sign_times_value"):
        named(sign_times_value)


def test_spectral_functions() -> None:
    """Gradients of sums of squared eigenvalues and of their logarithms."""
    symmetric = sg.spec("4, 4", assume=sg.symmetric)
    definite = sg.spec("4, 4", assume=sg.positive_definite)
    x = np.random.default_rng(0).normal(size=(4, 4))
    a = x @ x.T + np.eye(4)
    squares = sg.trace(lambda a: np.sum(np.linalg.eigvalsh(a) ** 2), a=symmetric)
    logs = sg.trace(lambda a: np.sum(np.log(np.linalg.eigvalsh(a))), a=definite)
    for graph, wanted in ((squares, 2 * a), (logs, np.linalg.inv(a))):
        small = graph.gradient("a", value=False).simplify()
        assert small.op_count() == 1
        np.testing.assert_allclose(small.evaluate(a=a), wanted, rtol=1e-12)
    free = sg.trace(lambda a: np.sum(np.linalg.eigvalsh(a) ** 2), a="4, 4")
    assert free.gradient("a", value=False).simplify().op_count() > 1  # reads the lower triangle
