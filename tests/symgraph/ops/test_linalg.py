"""Linear algebra: NumPy's and SciPy's values, what is known of results, and singular points."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import Array
from symgraph.autodiff.reverse import cotangents, vjp
from symgraph.errors import DTypeError, InputError, NotDifferentiable, ShapeError, TraceError
from symgraph.facts import holds_on
from symgraph.ir.fact_inference import Knowledge
from symgraph.ops.creation import input, ones
from symgraph.testing import check_grads, random_values
from symgraph.testing.gradients import numbers

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
STACK = RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3)
DEFINITE = STACK @ STACK.swapaxes(-1, -2)
TALL, VECTOR, SIDES = RNG.normal(size=(5, 3)), RNG.normal(size=3), RNG.normal(size=(3, 2))


def gradient(f: Callable[[Any], Any], at: Any, simplify: bool = False) -> Any:
    at = np.asarray(at)
    graph = sg.trace(lambda x: f(x), x=sg.spec(at.shape, at.dtype))
    graph = graph.gradient("x", value=False)
    return (graph.simplify() if simplify else graph).evaluate(x=at)


CUTS = [lambda x: np.linalg.pinv(x, 0.5), lambda x: np.linalg.lstsq(x, np.eye(len(x)), 0.5)[0]]


@pytest.mark.parametrize("f", CUTS)
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5)])
def test_singular_values_that_are_cut_off_still_turn_the_others(f, shape):
    """Golub and Pereyra's derivative takes them for 0."""
    x = np.linspace(-1, 2, shape[0])[:, None] ** np.arange(shape[1]) + np.eye(*shape)
    assert np.linalg.matrix_rank(x, rtol=0.5) < 3
    check_grads(f, x, analytic=False)


def second(f: Callable[[Array], Array], at: Any) -> Any:
    """All second derivatives of a number: of each element of the gradient by all elements."""
    x = input("x", np.shape(at))
    (first,) = cotangents([(f(x), ones(()))], [x])
    assert first is not None
    seeds = sg.constant(np.eye(x.size).reshape(x.size, *x.shape))
    (rows,) = vjp(first, [x], seeds)
    assert rows is not None
    return numbers([rows], [(x, at)])[0].reshape(*x.shape, *x.shape)


# -- values ----------------------------------------------------------------------------------------
OF_ONE = [
    np.linalg.inv,
    np.linalg.det,
    np.linalg.slogdet,
    np.linalg.qr,
    lambda x: np.linalg.qr(x, mode="r"),
    np.linalg.pinv,
    lambda x: np.linalg.pinv(x, 0.5),
    lambda x: np.linalg.pinv(x, rtol=0.5),
    np.linalg.svdvals,
    lambda x: np.linalg.svd(x, compute_uv=False),
    lambda x: np.linalg.svd(x, full_matrices=False)[1],
    np.linalg.matrix_rank,
    lambda x: np.linalg.matrix_rank(x, 2.0),
    lambda x: np.linalg.matrix_rank(x, rtol=0.4),
    np.linalg.cond,
    *[lambda x, p=p: np.linalg.cond(x, p) for p in (2, -2, 1, -1, np.inf, "fro", "nuc")],
    lambda x: np.linalg.matrix_power(x, -2),
    lambda x: np.linalg.norm(x, "nuc", axis=(-1, -2), keepdims=True),
    lambda x: np.linalg.tensorinv(x[..., None], ind=2) if x.ndim == 2 else x,
]


@pytest.mark.parametrize("f", OF_ONE)
def test_functions_of_a_matrix_are_numpys(agrees, f):
    agrees(f, X)
    agrees(f, STACK)
    agrees(f, (X * 4).astype("int32"))
    agrees(f, X.astype("float32"))


@pytest.mark.parametrize(
    "f", [*OF_ONE[3:13], lambda x: np.linalg.inv(x), lambda x: np.linalg.det(x)]
)
def test_functions_of_a_matrix_that_is_not_square(agrees, f):
    agrees(f, TALL)
    agrees(f, TALL.T)


def test_ranks_and_tolerances(agrees):
    agrees(np.linalg.matrix_rank, VECTOR)
    agrees(lambda x: np.linalg.pinv(x, rtol=None), TALL)


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_one_triangle_of_a_symmetric_matrix_is_read(agrees, uplo):
    for x in (DEFINITE, DEFINITE + np.triu(np.ones((3, 3)), 1), DEFINITE[0].astype("float32")):
        agrees(lambda x: np.linalg.eigh(x, uplo)[0], x)
        agrees(lambda x: np.linalg.eigvalsh(x, uplo), x)
        agrees(lambda x: np.linalg.cholesky(x, upper=uplo == "U"), x)
        agrees(lambda x: np.abs(np.linalg.eigh(x, uplo).eigenvectors), x)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (X, VECTOR),
        (X, SIDES),
        (STACK, VECTOR),
        (STACK, SIDES),
        (X, np.stack([SIDES, SIDES])),
        (STACK[:, None], np.stack([SIDES] * 3)),
        (X.astype("float32"), SIDES.astype("float32")),
        (X, np.stack([VECTOR, VECTOR])),
        (X, np.array(1.0)),
        (TALL, VECTOR),
        (np.zeros((0, 0)), np.zeros((0, 2))),
    ],
)
def test_solve_is_numpys(agrees, a, b):
    agrees(lambda a, b: np.linalg.solve(a, b), a, b)


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("trans", [0, 1, "N", "T", "C"])
@pytest.mark.parametrize("unit_diagonal", [False, True])
def test_triangular_solve_is_scipys(agrees, lower, trans, unit_diagonal):
    options = {"lower": lower, "trans": trans, "unit_diagonal": unit_diagonal}
    for b in (VECTOR, SIDES):
        agrees(
            lambda a, b: snp.linalg.solve_triangular(a, b, **options),
            X,
            b,
            like=lambda a, b: scipy.linalg.solve_triangular(a, b, **options),
        )
    a, b = np.stack([X, 2 * X]), np.stack([SIDES, SIDES + 1])
    agrees(
        lambda a, b: snp.linalg.solve_triangular(a, b, **options),
        a,
        b,
        like=lambda a, b: np.stack(
            [scipy.linalg.solve_triangular(*pair, **options) for pair in zip(a, b, strict=True)]
        ),
    )


@pytest.mark.parametrize("lower", [False, True])
def test_cholesky_solves_are_scipys(agrees, lower):
    def solved(linalg: Any, a: Any, b: Any) -> Any:
        return linalg.cho_solve(linalg.cho_factor(a, lower=lower), b)

    for b in (VECTOR, SIDES):
        agrees(
            lambda a, b: solved(snp.linalg, a, b),
            DEFINITE[0],
            b,
            like=lambda a, b: solved(scipy.linalg, a, b),
        )
    both = np.linalg.solve(DEFINITE, VECTOR)
    agrees(lambda a, b: solved(snp.linalg, a, b), DEFINITE, VECTOR, like=lambda a, b: both)


@pytest.mark.parametrize("b", [RNG.normal(size=5), RNG.normal(size=(5, 2))])
@pytest.mark.parametrize("rcond", [None, 0.6])
def test_least_squares_is_numpys(agrees, b, rcond):
    agrees(lambda a, b: np.linalg.lstsq(a, b, rcond)[0], TALL, b)
    agrees(lambda a, b: np.linalg.lstsq(a, b, rcond)[2:], TALL, b)
    agrees(lambda a, b: np.linalg.lstsq(a, b, None), TALL, b)
    agrees(lambda a, b: np.linalg.lstsq(a, b, None), TALL.T, b[:3])
    agrees(lambda a, b: np.linalg.lstsq(a, b, None), TALL, b[:3])


def test_exponentials_are_scipys(agrees):
    for x in (X, STACK, X.astype("float32"), np.zeros((0, 0)), np.zeros((2, 2))):
        agrees(snp.linalg.expm, x, like=scipy.linalg.expm)


def test_tensors_as_matrices_are_numpys(agrees):
    a, b = RNG.normal(size=(2, 3, 6)), RNG.normal(size=(2, 3))
    agrees(np.linalg.tensorsolve, a, b)
    agrees(lambda a, b: np.linalg.tensorsolve(a, b, axes=(0,)), RNG.normal(size=(6, 2, 3)), b)
    agrees(lambda a: np.linalg.tensorinv(a, ind=1), RNG.normal(size=(6, 2, 3)))
    agrees(lambda a: np.linalg.tensorinv(a), RNG.normal(size=(2, 3, 6)))
    agrees(lambda a, b: np.linalg.tensorsolve(a, b), a, b[:, :2])
    agrees(lambda a: np.linalg.tensorinv(a, ind=1), a)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (X, SIDES),
        (VECTOR, SIDES),
        (STACK, VECTOR),
        (VECTOR, VECTOR),
        (np.array(2.0), X),
        (np.arange(3), X),
    ],
)
def test_kronecker_products_are_numpys(agrees, x, y):
    agrees(np.kron, x, y)


def test_kronecker_products_of_named_dimensions(agrees):
    agrees(np.kron, X, SIDES, dims={3: "n"})


def test_cross_products_are_numpys(agrees):
    agrees(np.cross, VECTOR, STACK)
    agrees(lambda x, y: np.cross(x, y, axisa=1, axisb=0, axisc=0), TALL, TALL.T)
    agrees(lambda x, y: np.cross(x, y, axis=0), X, X + 1)
    agrees(np.linalg.cross, VECTOR, X)
    agrees(np.linalg.outer, VECTOR, VECTOR)
    agrees(lambda x, y: np.linalg.outer(x, y), X, VECTOR)
    for wrong in (1, 4):
        with pytest.raises(ShapeError, match="3 elements"):
            np.cross(input("x", (wrong,)), input("y", (wrong,)))


def test_results_have_numpys_names():
    x = input("x", (3, 3))
    assert np.linalg.slogdet(x).logabsdet.shape == ()
    assert np.linalg.qr(x).R.shape == np.linalg.eigh(x).eigenvectors.shape == (3, 3)
    assert np.linalg.svd(x).Vh.shape == (3, 3)


REFUSED = [
    (lambda x: np.linalg.svd(x), TraceError, "full matrices"),
    (lambda x: np.linalg.qr(x, mode="raw"), TraceError, "raw"),
    (lambda x: np.linalg.svd(x, hermitian=True), TraceError, "hermitian"),
    (lambda x: np.linalg.eigh(x[:3], "X"), TraceError, "UPLO"),
    (lambda x: np.linalg.eigh(x), ShapeError, "square"),
    (lambda x: np.linalg.cholesky(x), ShapeError, "square"),
    (lambda x: np.linalg.norm(x, 5), ShapeError, "order of matrices"),
    (lambda x: snp.linalg.solve_triangular(x[:3], x[:3], trans=7), TraceError, "trans"),
    (lambda x: np.linalg.inv(x[:3].astype("float16")), DTypeError, "float16"),
    (lambda x: np.linalg.lstsq(x, x[:3]), ShapeError, "right sides"),
]


@pytest.mark.parametrize(("f", "error", "words"), REFUSED)
def test_what_has_no_meaning_is_refused(f, error, words):
    with pytest.raises(error, match=words) as caught:
        f(input("x", (5, 3)))
    assert "test_linalg.py" in str(caught.value)


# -- named dimensions ------------------------------------------------------------------------------
def test_matrices_of_named_size(agrees):
    agrees(np.linalg.solve, X, VECTOR, dims={3: "n"})
    for f in (np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.svdvals, np.linalg.cond):
        agrees(f, X, dims={3: "n"})
    agrees(lambda x: np.linalg.cholesky(x @ x.mT), X, dims={3: "n"})
    for f in (np.linalg.qr, np.linalg.pinv, np.linalg.matrix_rank, np.linalg.norm):
        agrees(f, TALL, dims={5: "n"})
    agrees(lambda a, b: np.linalg.lstsq(a, b)[0], TALL, TALL[:, 0], dims={5: "n"})


def test_fewer_rows_than_the_graph_was_made_for():
    graph = sg.trace(lambda x: np.linalg.qr(x).R, x=sg.spec("n, 3"))
    assert graph.evaluate(x=TALL).shape == (3, 3)
    for run in (graph.evaluate, graph.lower()):
        with pytest.raises(InputError, match="fewer than 3"):
            run(x=TALL[:2])
    with pytest.raises(ShapeError, match="not known"):
        np.linalg.qr(input("x", "n, m"))


OF_NAMED: list[tuple[Callable[[Any], Any], str, Any]] = [
    (lambda x: np.sin(np.linalg.qr(x)[0]), "n, 3", TALL),
    (lambda x: np.linalg.svd(x, full_matrices=False)[0] ** 2, "n, 3", TALL),
    (lambda x: np.linalg.svd(x, full_matrices=False)[2] ** 2, "3, n", TALL.T),
    (lambda x: np.linalg.lstsq(x, x[:, 0] * x[:, 1])[0], "n, 3", TALL),
    (lambda x: np.linalg.pinv(x) ** 2, "n, 3", TALL),
    (lambda x: np.linalg.inv(x) * np.linalg.det(x) + np.linalg.slogdet(x)[1], "n, n", X),
    (lambda x: np.linalg.cholesky(x @ x.mT), "n, n", X),
    (lambda x: np.linalg.eigh(x @ x.mT)[1] ** 3, "n, n", X),
    (lambda x: snp.expm(x), "n, n", X),
    (lambda x: np.linalg.norm(x, "nuc") + np.linalg.cond(x) + np.linalg.norm(x), "n, 3", TALL),
    (lambda x: np.kron(x, x.T) ** 2, "n, 3", TALL),
    (lambda x: snp.linalg.solve_triangular(x, x + 1)[:, 1:], "n, n", X),
]


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize(("f", "shape", "x"), OF_NAMED)
def test_gradients_of_named_size_are_those_of_numbers(f, shape, x):
    named = sg.trace(lambda x: np.sum(f(x)), x=shape).gradient("x", value=False)
    expected = gradient(lambda x: np.sum(f(x)), x)
    for run in (named.evaluate, named.simplify().lower()):
        np.testing.assert_allclose(run(x=x), expected, rtol=1e-9, atol=1e-9)


def test_no_derivative_of_a_wide_qr_with_columns_of_unknown_number():
    graph = sg.trace(lambda x: np.sum(np.linalg.qr(x).R), x="3, n")
    with pytest.raises(NotDifferentiable, match="number"):
        graph.gradient("x")


# -- what is known of results ----------------------------------------------------------------------
PLAIN, SYMMETRIC, DEFINITE_FACT = (), (sg.symmetric,), (sg.positive_definite,)
OF_FACTS: list[tuple[Callable[[Any], Any], tuple[Any, ...], tuple[str, ...]]] = [
    (np.linalg.inv, DEFINITE_FACT, ("positive_definite", "total")),
    (np.linalg.inv, (sg.triangular("lower"),), ("triangular(lower)",)),
    (np.linalg.inv, (sg.orthogonal,), ("orthogonal",)),
    (np.linalg.pinv, SYMMETRIC, ("symmetric",)),
    (np.linalg.det, DEFINITE_FACT, ("positive",)),
    (np.linalg.det, (sg.orthogonal,), ("nonzero", "interval(-1.0, 1.0)")),
    (lambda x: np.linalg.slogdet(x)[0], DEFINITE_FACT, ("positive", "integer_valued")),
    (lambda x: np.linalg.slogdet(x)[0], PLAIN, ("interval(-1.0, 1.0)",)),
    (np.linalg.cholesky, DEFINITE_FACT, ("triangular(lower)", "total")),
    (lambda x: np.linalg.cholesky(x, upper=True), DEFINITE_FACT, ("triangular(upper)",)),
    (lambda x: np.linalg.qr(x)[0], PLAIN, ("orthogonal",)),
    (lambda x: np.linalg.qr(x[:, :2])[0], PLAIN, ("unit_norm(-2)",)),
    (lambda x: np.linalg.qr(x[:2])[0], PLAIN, ("orthogonal",)),
    (lambda x: np.linalg.qr(x[:2])[1], PLAIN, ("triangular(upper)",)),
    (lambda x: np.linalg.eigh(x)[0], DEFINITE_FACT, ("positive",)),
    (lambda x: np.linalg.eigh(x)[1], SYMMETRIC, ("orthogonal",)),
    (lambda x: np.linalg.svd(x)[0], PLAIN, ("orthogonal",)),
    (lambda x: np.linalg.svd(x[:2], full_matrices=False)[2], PLAIN, ("unit_norm(-1)",)),
    (np.linalg.svdvals, PLAIN, ("nonnegative",)),
    (np.linalg.svdvals, DEFINITE_FACT, ("positive",)),
    (snp.cofactor, DEFINITE_FACT, ("positive_definite",)),
    (snp.copied_lower, PLAIN, ("symmetric",)),
    (snp.expm, SYMMETRIC, ("positive_definite", "total")),
    (snp.expm, (sg.triangular("upper"),), ("triangular(upper)",)),
    (np.linalg.norm, PLAIN, ("nonnegative", "total")),
    (np.linalg.norm, (sg.nonzero,), ("positive",)),
    (lambda x: np.linalg.norm(x, axis=-1), (sg.unit_norm(-1),), ("interval(1.0, 1.0)",)),
]


@pytest.mark.parametrize(("f", "assumed", "names"), OF_FACTS)
def test_facts_are_known_and_true(f, assumed, names):
    x = input("x", (3, 3), assume=assumed)
    found = f(x)
    known = Knowledge().of(found.node)
    facts = {str(fact): fact for fact in known.facts}
    assert set(names) <= set(facts), sorted(facts)
    for seed in range(3):
        at = random_values((3, 3), "float64", assumed, np.random.default_rng(seed))
        value = np.asarray(numbers([found], [(x, at)])[0])
        # Facts but one speak of exact arithmetic: what is zero there is zero to rounding here.
        value = np.where(np.abs(value) < 1e-13, 0.0, value)
        for fact in facts.values():
            assert holds_on(fact, value, 1e-9) or fact.name == "interval", fact
            if fact.name == "interval":
                assert holds_on(sg.interval(*(fact.args + np.array([-1e-9, 1e-9]))), value)


# -- norms at the origin ---------------------------------------------------------------------------
NORMS = [
    np.linalg.norm,
    lambda x: np.sum(np.linalg.norm(x, axis=-1)),
    lambda x: np.linalg.norm(x, "fro"),
    *[
        lambda x, p=p: np.sum(np.linalg.norm(x, p, axis=0))
        for p in (1, 1.5, 3, 0.5, -1, np.inf, -np.inf)
    ],
    *[lambda x, p=p: np.linalg.norm(x, p) for p in (1, 2, -1, -2, "nuc", np.inf, -np.inf)],
    lambda x: np.linalg.norm(x) ** 2,
    lambda x: 3 * np.linalg.norm(x) * np.exp(np.linalg.norm(x)),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("f", NORMS)
@pytest.mark.parametrize("simplify", [False, True])
def test_norms_have_derivative_zero_at_zero(f, simplify):
    np.testing.assert_array_equal(gradient(f, np.zeros((2, 3)), simplify), np.zeros((2, 3)))


def test_only_the_vectors_that_vanish_are_guarded():
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    found = gradient(lambda x: np.sum(np.linalg.norm(x, axis=-1)), x)
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.0, 0.0]])
    hessian = second(lambda x: np.sum(np.linalg.norm(x, axis=-1)), x)
    np.testing.assert_allclose(hessian[0, :, 0], [[0.128, -0.096], [-0.096, 0.072]])
    assert not np.any(hessian[1])
    assert not np.any(hessian[0, :, 1])


def operations(f: Callable[..., Any], wrt: str, **specs: Any) -> list[str]:
    graph = sg.trace(f, **specs).gradient(wrt, value=False).simplify()
    return [node.op.name for node in graph.nodes if node.operands and node.op.count]


@pytest.mark.parametrize("simplify", [False, True])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.linalg.norm(x),
        lambda x: np.sqrt(np.sum(x**2)),
        lambda x: 3 * np.sqrt(x @ x) + np.sum(x),
    ],
)
def test_a_norm_that_overflows_has_no_gradient_of_zero(f, simplify):
    """x / inf would be 0, where the gradient is of length 1."""
    graph = sg.trace(f, x=sg.spec("3")).gradient("x", value=False)
    graph = graph.simplify() if simplify else graph
    with np.errstate(all="ignore"):
        assert np.isnan(graph.evaluate(x=np.array([1e200, -2e200, 3e200]))).all()


def test_squared_norms_leave_no_root_behind():
    specs = {"X": (6, 3), "w": (3,), "y": (6,)}
    found = operations(lambda X, w, y: np.linalg.norm(X @ w - y) ** 2 / 2, "w", **specs)
    assert found == ["matmul", "subtract", "matmul"]
    rows = operations(lambda X: np.mean(np.linalg.norm(X, axis=-1) ** 2), "X", X=(6, 3))
    assert rows == ["multiply"]


CLOSED = [
    (lambda x: np.linalg.norm(x), (), ["p_norm", "divide_or_zero"]),
    (lambda x: np.linalg.slogdet(x)[1], (), ["inv"]),
    (lambda x: np.linalg.slogdet(x)[1], DEFINITE_FACT, ["inv"]),
    (lambda x: np.linalg.det(x), (), ["cofactor"]),
    (lambda x: np.sum(np.linalg.eigvalsh(x) ** 3), SYMMETRIC, None),
]


@pytest.mark.parametrize(("f", "assumed", "expected"), CLOSED)
def test_gradients_are_as_short_as_in_the_book(f, assumed, expected):
    found = operations(f, "x", x=sg.spec((3, 3), assume=assumed))
    assert found == expected if expected else found[0] == "eigh" and found[-1] == "matmul"


# -- singular points -------------------------------------------------------------------------------
def cofactors(x: Any) -> Any:
    """By minors."""
    n = len(x)
    return np.array(
        [
            [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(n)]
            for i in range(n)
        ]
    )


SINGULAR = [
    np.zeros((3, 3)),
    np.eye(3),
    np.diag([1.0, 1.0, 0.0]),
    np.outer(VECTOR, [1.0, 2.0, 3.0]),
    np.arange(9.0).reshape(3, 3),
    X,
]


@pytest.mark.parametrize("x", SINGULAR, ids=lambda x: f"rank {np.linalg.matrix_rank(x)}")
def test_determinants_have_right_derivatives_where_the_matrix_is_singular(x):
    scale = 1 + np.abs(x).max() ** 2
    np.testing.assert_allclose(gradient(np.linalg.det, x), cofactors(x), atol=1e-13 * scale)
    np.testing.assert_allclose(gradient(np.linalg.det, x, True), cofactors(x), atol=1e-13 * scale)
    hessian = second(np.linalg.det, x)
    step = np.eye(9).reshape(3, 3, 3, 3)
    # The determinant is linear in each element: this difference is its derivative, not near it.
    exact = [[(cofactors(x + s) - cofactors(x - s)) / 2 for s in row] for row in step]
    np.testing.assert_allclose(hessian, exact, atol=1e-12 * scale)


def test_determinants_of_small_matrices():
    np.testing.assert_allclose(gradient(np.linalg.det, [[5.0]]), [[1.0]])
    np.testing.assert_allclose(second(np.linalg.det, np.array([[5.0]])), np.zeros((1, 1, 1, 1)))
    np.testing.assert_allclose(gradient(np.linalg.det, [[1.0, 2], [3, 4]]), [[4.0, -3], [-2, 1]])


@pytest.mark.parametrize(
    "f",
    [
        np.linalg.inv,
        lambda x: np.linalg.solve(x, x),
        lambda x: snp.linalg.solve_triangular(x, x),
        np.linalg.cholesky,
        lambda x: gradient_of_logdet(x),
    ],
)
def test_singular_matrices_raise(f):
    x = input("x", (2, 2))
    out = f(x)
    with pytest.raises(np.linalg.LinAlgError):
        numbers([out], [(x, np.zeros((2, 2)))])


def gradient_of_logdet(x: Array) -> Array:
    (found,) = cotangents([(np.linalg.slogdet(x)[1], ones(()))], [x])
    assert found is not None
    return found


def rotated(values: Any, seed: int = 1) -> Any:
    q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values),) * 2))[0]
    return (q * values) @ q.T


@pytest.mark.parametrize("x", [np.eye(3), rotated([2.0, 2.0, 5.0]), np.zeros((3, 3))])
def test_repeated_eigenvalues(x):
    """Values are fine; through vectors that nothing tells apart the derivative is NaN."""
    found = gradient(lambda x: np.sum(np.linalg.eigvalsh(x) ** 2), x)
    np.testing.assert_allclose(found, 2 * x, atol=1e-13)
    weights = np.arange(9.0).reshape(3, 3)
    for f in (
        lambda x: np.sum(weights * np.linalg.eigh(x)[1]),
        lambda x: np.sum(np.linalg.eigh(x)[1] @ np.diag(np.linalg.eigh(x)[0])),
        lambda x: np.sum(weights * np.linalg.svd(x)[0]),
    ):
        assert np.any(np.isnan(gradient(f, x)))


def test_a_gap_above_rounding_is_no_repetition():
    x = rotated([1.0, 1.0 + 1e-9, 3.0])
    w, v = np.linalg.eigh(x)
    found = gradient(lambda x: np.linalg.eigh(x)[1][0, 0] ** 2, x)
    # Of v^2 nothing depends on signs; first-order perturbation theory.
    rest = [2 * v[0, 0] * v[0, j] / (w[0] - w[j]) * np.outer(v[:, j], v[:, 0]) for j in (1, 2)]
    expected = sum((each + each.T) / 2 for each in rest)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4)])
def test_singular_values_that_vanish_have_derivative_zero(shape):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1]))
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    assert s[2] < 1e-14
    # The shortest subgradient of the nuclear norm: only the two directions that are there.
    expected = u[:, :2] @ vh[:2]
    found = gradient(lambda x: np.linalg.norm(x, "nuc"), x)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(gradient(lambda x: np.linalg.norm(x, -2), x), np.zeros(shape))
    np.testing.assert_allclose(
        gradient(lambda x: np.sum(np.linalg.svdvals(x) ** 2), x), 2 * x, atol=1e-12
    )


def test_infinite_derivatives_of_vanishing_singular_values_are_not_zero():
    found = gradient(lambda x: np.sum(np.log(np.linalg.svdvals(x))), np.diag([1.0, 0.0]))
    assert not np.all(np.isfinite(found))


def test_vectors_of_vanishing_singular_values_of_no_square_matrix():
    x = np.zeros((3, 2))
    x[0, 0] = 1.0
    found = gradient(lambda x: np.sum(np.linalg.svd(x, full_matrices=False)[0] ** 3), x)
    assert np.any(np.isnan(found))


def test_gradients_of_triangles_stay_in_the_triangle():
    b = snp.asarray(VECTOR)
    for lower, unit in itertools.product((False, True), (False, True)):
        found = gradient(
            lambda x, lower=lower, unit=unit: np.sum(
                snp.linalg.solve_triangular(x, b, lower=lower, unit_diagonal=unit)
            ),
            X,
        )
        kept = np.tril(found, -unit) if lower else np.triu(found, int(unit))
        np.testing.assert_array_equal(found, kept)
        assert np.any(found)


def test_gradients_of_symmetric_matrices_are_symmetric():
    for f in (np.linalg.cholesky, lambda x: np.linalg.eigh(x)[1]):
        found = gradient(lambda x, f=f: np.sum(np.sin(3 * f(x))), DEFINITE[0])
        np.testing.assert_allclose(found, found.T, rtol=1e-9, atol=1e-12)


def test_third_derivatives_of_the_determinant():
    """Of orders 1 to 3 all elements are polynomials: differences of the second are exact."""
    x = X
    third = (second_along(x, 0.5) - second_along(x, -0.5)) / 1.0
    want = numbers_of_third(x)
    np.testing.assert_allclose(want, third, rtol=1e-9, atol=1e-10)


DIRECTION = np.arange(9.0).reshape(3, 3) / 9


def second_along(x: Any, step: float) -> Any:
    moved = x + step * DIRECTION
    return second(np.linalg.det, moved)


def numbers_of_third(at: Any) -> Any:
    x = input("x", (3, 3))
    (first,) = cotangents([(np.linalg.det(x), ones(()))], [x])
    assert first is not None
    (along,) = vjp(first, [x], sg.constant(DIRECTION))
    assert along is not None
    (rows,) = vjp(along, [x], sg.constant(np.eye(9).reshape(9, 3, 3)))
    assert rows is not None
    return numbers([rows], [(x, at)])[0].reshape(3, 3, 3, 3)


# -- costs -----------------------------------------------------------------------------------------
def test_costs_are_the_designs():
    n, m = 6, 4
    one, both = {"x": (n, n)}, {"x": (n, n), "b": (n, m)}
    assert sg.trace(lambda x: np.linalg.inv(x), **one).flops() == 2 * n**3
    assert sg.trace(lambda x: np.linalg.cholesky(x), **one).flops() == n**3 // 3
    solved = sg.trace(lambda x, b: np.linalg.solve(x, b), **both)
    assert solved.flops() == 2 * n**3 // 3 + 2 * n * n * m
    assert sg.trace(lambda x, b: snp.linalg.solve_triangular(x, b), **both).flops() == n * n * m
    named = sg.trace(lambda x: np.linalg.inv(x), x=sg.spec("2, n, n"))
    assert named.flops(n=10) == 4000


# -- against JAX -----------------------------------------------------------------------------------
THEIRS: list[tuple[Callable[[Any], Any], str, Any]] = [
    (lambda m, x: m.linalg.inv(x), "inv", X),
    (lambda m, x: m.linalg.solve(x, x**2), "solve", STACK),
    (lambda m, x: m.linalg.det(x), "det", STACK),
    (lambda m, x: m.linalg.slogdet(x)[1], "slogdet", STACK),
    (lambda m, x: m.linalg.cholesky(x @ x.mT), "cholesky", STACK),
    (lambda m, x: m.linalg.qr(x)[0] + m.linalg.qr(x)[1] ** 2, "qr", STACK),
    (lambda m, x: m.linalg.qr(x)[0], "qr of tall", TALL),
    (lambda m, x: m.linalg.eigh(x + x.mT)[0] ** 2, "eigh", STACK),
    (lambda m, x: m.linalg.eigh(x + x.mT)[1] ** 2, "eigenvectors", STACK),
    (lambda m, x: m.linalg.svd(x, full_matrices=False)[0] ** 2, "u", TALL),
    (lambda m, x: m.linalg.svd(x, full_matrices=False)[2] ** 2, "vh", TALL.T),
    (lambda m, x: m.linalg.svd(x, full_matrices=False)[1], "s", TALL),
    (lambda m, x: m.linalg.pinv(x), "pinv", TALL),
    (lambda m, x: m.linalg.lstsq(x, x[:, 0] * x[:, 1])[0], "lstsq", TALL),
    (lambda m, x: m.linalg.matrix_power(x, -3), "power", X),
    (lambda m, x: m.linalg.cond(x), "cond", TALL),
    *[
        (lambda m, x, p=p: m.linalg.norm(x, p), f"norm {p}", TALL)
        for p in (None, "fro", "nuc", 1, 2, -2, np.inf)
    ],
    *[(lambda m, x, p=p: m.linalg.norm(x, p, axis=0), f"norm {p}", TALL) for p in (1.5, 3, 4)],
    (lambda m, x: m.kron(x, x[:2]), "kron", TALL),
    (lambda m, x: m.cross(x, x[::-1] ** 2), "cross", TALL),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("f", "name", "x"), THEIRS, ids=lambda each: str(each)[:20])
def test_gradients_are_jaxs(f, name, x):
    jax = pytest.importorskip("jax", reason="JAX comes with the oracles extra")
    weights = np.random.default_rng(1).normal(size=np.shape(f(np, x)))
    with jax.enable_x64(True):
        expected = jax.grad(lambda x: jax.numpy.sum(weights * f(jax.numpy, x)))(x)
        twice = jax.grad(
            lambda x: jax.numpy.sum(
                jax.numpy.sin(jax.grad(lambda x: jax.numpy.sum(weights * f(jax.numpy, x)))(x))
            )
        )(x)
    graph = sg.trace(lambda x: np.sum(weights * f(np, x)), x=x.shape)
    first = graph.gradient("x", value=False)
    np.testing.assert_allclose(first.evaluate(x=x), expected, rtol=1e-8, atol=1e-8)
    second = sg.graph(np.sum(np.sin(next(iter(first.outputs.values()))))).gradient("x", value=False)
    np.testing.assert_allclose(second.evaluate(x=x), twice, rtol=1e-6, atol=1e-6)


# -- several results -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "f"),
    [
        ("slogdet", np.linalg.slogdet),
        ("qr", np.linalg.qr),
        ("eigh", np.linalg.eigh),
        ("svd", np.linalg.svd),
    ],
)
def test_m04_one_computation_gives_all_results_and_serves_their_gradients(name, f):
    """Mission row M04: several outputs are one node, in the gradient too."""
    graph = sg.trace(lambda x: sum(np.sum(np.sin(each)) for each in f(x)), x=(3, 3))
    for each in (graph, graph.gradient("x"), graph.gradient("x").simplify()):
        assert [node.op.name for node in each.nodes].count(name) == 1
    value, found = graph.gradient("x").simplify().lower()(x=X)
    step = 1e-6 * np.cos(np.arange(9.0)).reshape(3, 3)
    if name == "eigh":
        step = step + step.T
    rise = graph.evaluate(x=X + step) - graph.evaluate(x=X - step)
    np.testing.assert_allclose(np.sum(found * step), rise / 2, rtol=1e-5)
    np.testing.assert_allclose(value, graph.evaluate(x=X))


# -- as programs -----------------------------------------------------------------------------------
def test_several_results_have_their_memory_predicted():
    graph = sg.trace(lambda x: np.sum(np.linalg.svd(x)[0] @ np.linalg.qr(x)[1]), x=(3, 3))
    assert graph.gradient("x").memory().peak_bytes > 3 * 3 * 8


@pytest.mark.parametrize(
    "f",
    [
        *[
            lambda x, options=options: snp.linalg.solve_triangular(x, x + 1, **options)
            for options in ({}, {"lower": True, "trans": 1}, {"unit_diagonal": True})
        ],
        snp.expm,
        lambda x: snp.expm(2 * x),
        lambda x: np.linalg.eigh(x)[1] ** 2,
        np.linalg.svdvals,
    ],
)
def test_gradients_as_source_that_needs_nothing_but_numpy(f):
    graph = sg.trace(lambda x: np.sum(X * f(x)), x=(3, 3)).gradient("x", value=False)
    names: dict[str, Any] = {}
    exec(graph.to_python(), names)
    np.testing.assert_allclose(names["function"](np, x=X + 1), graph.evaluate(x=X + 1), rtol=1e-9)


def test_the_gradient_of_a_determinant_that_is_not_finite_is_nan() -> None:
    """LAPACK's singular value decomposition may never end on such a matrix."""
    x = np.stack([np.diag([np.inf, 4.0, 4.0]), np.diag([2.0, 4.0, 4.0])])
    x[0, 0, 2] = np.inf
    with np.errstate(all="ignore"):
        first = sg.grad(lambda x: np.sum(np.linalg.det(x)))(x)
        second = sg.hvp(lambda x: np.sum(np.linalg.det(x)))(x, v=np.ones_like(x))
    assert np.isnan(first[0]).all()
    np.testing.assert_allclose(first[1], np.diag([16.0, 8.0, 8.0]), atol=1e-12)
    assert np.isnan(second[0]).all()
    assert np.isfinite(second[1]).all()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3), (0, 2, 3)])
def test_pseudoinverses_of_empty_matrices_have_empty_gradients(shape: tuple[int, ...]) -> None:
    found = sg.grad(lambda x: np.sum(np.linalg.pinv(x, 0.5) ** 2))(np.ones(shape))
    assert found.shape == shape
