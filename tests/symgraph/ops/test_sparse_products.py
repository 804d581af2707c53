"""Products with sparse matrices of SciPy's: values, derivatives, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import symgraph as sg
from symgraph.errors import DTypeError, InputError, ShapeError, TraceError

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(5, 4)) * (RNG.uniform(size=(5, 4)) < 0.5)
KINDS = ["csr_matrix", "csc_matrix", "coo_matrix", "lil_matrix", "csr_array", "dia_array"]
KINDS += ["bsr_array", "dok_array", "coo_array"]
PRODUCTS = [
    (lambda A, x: A @ x, (4,)),
    (lambda A, x: A @ x, (4, 3)),
    (lambda A, x: x @ A, (5,)),
    (lambda A, x: x @ A, (3, 5)),
    (lambda A, x: A.T @ np.sin(x), (5,)),
]


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("product", "shape"), PRODUCTS)
def test_a_product_and_its_gradient_are_those_of_the_array(
    kind: str, product: Any, shape: tuple[int, ...]
) -> None:
    A = getattr(sp, kind)(DENSE)
    x = RNG.normal(size=shape)
    weights = RNG.normal(size=product(DENSE, x).shape)
    value = sg.trace(lambda x: product(A, x), x=shape).evaluate(x=x)
    np.testing.assert_allclose(value, product(A, x), rtol=1e-14)
    slope = sg.grad(lambda x: np.sum(weights * product(A, x) ** 2))(x)
    whole = sg.grad(lambda x: np.sum(weights * product(DENSE, x) ** 2))(x)
    np.testing.assert_allclose(slope, whole, rtol=1e-12)


def test_the_star_of_a_matrix_is_a_product_and_that_of_a_sparse_array_is_refused() -> None:
    x, y = RNG.normal(size=4), RNG.normal(size=5)
    A = sp.csr_matrix(DENSE)
    for f, at in ((lambda x: A * x, x), (lambda x: x * A, y)):
        value = sg.trace(f, x=at.shape).evaluate(x=at)
        np.testing.assert_allclose(value, f(at), rtol=1e-14)
    with pytest.raises(TraceError, match=r"A @ x and c \* \(A @ x\) are traced"):
        sg.trace(lambda x: sp.csr_array(DENSE) * x, x=(4,))
    with pytest.raises(TraceError, match=r"c \* \(A @ x\)"):
        sg.trace(lambda c: c * A @ x, c=())


def test_entries_that_are_not_stored_do_not_count() -> None:
    """As in SciPy: zero times infinity would be NaN."""
    A = sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0]]))
    value = sg.trace(lambda x: A @ x, x=(2,)).evaluate(x=np.array([3.0, np.inf]))
    np.testing.assert_array_equal(value, [3.0, np.inf])


def test_entries_stored_twice_add_up() -> None:
    A = sp.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    value = sg.trace(lambda x: A @ x, x=(2,)).evaluate(x=np.array([1.0, 10.0]))
    np.testing.assert_array_equal(value, [30.0, 4.0])


@pytest.mark.parametrize(
    ("numbers", "of_x", "result"),
    [
        ("float32", "float32", "float32"),
        ("float64", "float32", "float64"),
        ("int64", "float64", "float64"),
        ("bool", "float32", "float32"),
    ],
)
def test_the_dtype_is_that_of_numpy(numbers: str, of_x: str, result: str) -> None:
    A = sp.csr_array(DENSE.astype(numbers))
    assert sg.trace(lambda x: A @ x, x=sg.spec(4, of_x)).outputs["out"].dtype == result


def test_a_matrix_that_changes_is_noticed() -> None:
    A = sp.csr_array(np.diag([1.0, 2.0]))
    f = sg.grad(lambda x: np.sum(A @ x))
    np.testing.assert_array_equal(f(np.ones(2)), [1, 2])
    A.data[0] = 5.0
    np.testing.assert_array_equal(f(np.ones(2)), [5, 2])


def test_batches_columns_of_any_number_and_a_solver() -> None:
    A = sp.csr_array(np.array([[4.0, 1.0], [1.0, 3.0]]))
    rows = RNG.normal(size=(3, 2))
    np.testing.assert_allclose(sg.vmap(lambda x: A @ x)(rows), rows @ A.toarray().T)
    graph = sg.trace(lambda X: A @ X, X="2, k")
    np.testing.assert_allclose(graph.evaluate(X=rows.T), A @ rows.T)
    slope = sg.grad(lambda b: b @ sg.cg(lambda v: A @ v, b))(np.ones(2))
    np.testing.assert_allclose(slope, 2 * np.linalg.solve(A.toarray(), np.ones(2)), rtol=1e-9)


def test_what_has_no_product_is_told() -> None:
    A = sp.csr_array(DENSE)
    with pytest.raises(ShapeError, match=r"shape \(5, 4\) and \[5\] do not multiply"):
        sg.trace(lambda x: A @ x, x=(5,))
    with pytest.raises(DTypeError, match="complex"):
        sg.trace(lambda x: (1j * A) @ x, x=(4,))
    with pytest.raises(InputError, match="Let the function read it"):
        sg.grad(lambda x, A: np.sum(A @ x))(np.ones(4), A)
