"""Released rewrites that gave wrong numbers elsewhere, as tests: none of them happens here.

Each row names what went wrong. The simplified graph, and that of its gradient, must give the
numbers of the plain interpreter at the default trust, and its shapes and dtypes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]])
SQUARE = np.array([[0.3, -1.2, 2.0], [1.1, 0.0, -0.7], [0.4, 0.9, -2.0]])
V = np.array([2.0, -1.0, 0.5])
TWICE = np.array([0, 0, 2])
MASK = np.array([True, False, True])
EVEN = np.arange(12.0).reshape(3, 4)

# What released systems rewrote wrongly; the comment says how.
WRONG_ELSEWHERE: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    # a set and an increment compared by their first index only; masks read as positions 0 and 1
    "writes at different rows": (
        lambda x: snp.index_update(x, (0, slice(None)), x[1] + x[0]),
        {"x": X},
    ),
    "a mask is no list of positions": (lambda x: np.where(MASK, x, 0) + x, {"x": V}),
    # x[i].set(x[i] + y) is an increment only for distinct positions
    "set of read plus, at duplicates": (
        lambda x: snp.index_update(x, TWICE, x[TWICE] + np.array([1.0, 1.0, 1.0])),
        {"x": V},
    ),
    "add at duplicates": (lambda x: snp.index_add(x, TWICE, x), {"x": V}),
    "read of a write at duplicates": (
        lambda x: snp.index_add(x * 0.5, TWICE, x)[TWICE],
        {"x": V},
    ),
    # a sum with a write absorbed although broadcasting changed the shape
    "a row plus a matrix with a write": (
        lambda x, v: v + snp.index_update(x, (0, slice(None)), v),
        {"x": X, "v": V},
    ),
    # prod(a x) over one axis raised a to the size of the array
    "scaled product, one axis": (lambda x: np.prod(x * 3.0, axis=0), {"x": X}),
    "broadcast product, one axis": (lambda x, v: np.prod(x * v, axis=1), {"x": X, "v": V}),
    # chains of different reductions merged as if of one kind
    "sum of products": (lambda x: np.sum(np.prod(x, axis=1)), {"x": X}),
    "product of sums": (lambda x: np.prod(np.sum(x, axis=0)), {"x": X}),
    "maximum of minima": (lambda x: np.max(np.min(x, axis=1)), {"x": X}),
    "sum of maxima": (lambda x: np.sum(np.max(x, axis=0)), {"x": X}),
    # the first element of a constant taken for all of it
    "a constant that is not uniform": (lambda x: x + np.array([-1.0, 2.0, -3.0]), {"x": V}),
    "a constant column": (lambda x: x - np.array([[-1.0], [2.0]]), {"x": X}),
    "shape from a constant alone": (lambda v: v + np.zeros((2, 3)), {"v": V}),
    # max of a softmax returned the max of its argument
    "maximum of softmax": (lambda x: np.max(snp.softmax(x, axis=1), axis=1), {"x": X}),
    "argmax beside max": (
        lambda x: np.max(x, axis=1) + np.argmax(x, axis=1),
        {"x": X},
    ),
    # axes of a transpose ignored by a pattern
    "attention with other axes": (
        lambda x: snp.softmax(np.transpose(x) @ x, axis=0) @ np.transpose(x),
        {"x": SQUARE},
    ),
    "log of a quotient by rows": (lambda x: np.log(np.exp(x) / np.exp(x).sum(0)), {"x": SQUARE}),
    "exp over its sum, no keepdims": (lambda x: np.exp(x) / np.exp(x).sum(1), {"x": SQUARE}),
    # signs
    "x - (a + x)": (lambda x, v: x - (v + x), {"x": X, "v": V}),
    "1 / (2 x)": (lambda v: 1 / (2 * v), {"v": V}),
    # indexing of a transpose
    "element of a transpose": (lambda x: np.transpose(x)[2, 1] * np.transpose(x)[0], {"x": X}),
    "rows of a product": (lambda x: (x @ np.transpose(x))[1:, :1], {"x": X}),
    "steps of steps": (lambda x: x[::-1, 1:][::2, ::2], {"x": EVEN}),
    "negative steps of a part": (lambda x: x[2:0:-1, ::-2], {"x": EVEN}),
    # block with one input
    "concatenation of one": (lambda v: np.concatenate([v]) * 2, {"v": V}),
    "concatenation of none and one": (
        lambda v: np.concatenate([v[:0], v, v[3:]]),
        {"v": V},
    ),
    "sum of a concatenation": (
        lambda v, x: np.sum(np.concatenate([x, v[None]], axis=0), axis=0),
        {"v": V, "x": X},
    ),
    # both branches of a masked quotient
    "mask below a quotient": (lambda v: np.where(v > 0, 0.0, v) / v, {"v": V}),
    "mask above a quotient": (lambda v: np.where(v > 0, v, 0.0) / v, {"v": V}),
    "two masks": (lambda v: np.where(v > 0, v, 0.0) * np.where(v < 1, v, 0.0), {"v": V}),
    # powers
    "powers of negatives": (lambda v: (v**2) ** 0.5 + v**3 * v**-2.0, {"v": V}),
    "even root of an even power": (lambda v: (v**4) ** 0.25, {"v": V}),
}


def _run(graph: Any, arrays: dict[str, Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return graph.evaluate(**arrays)


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("name", WRONG_ELSEWHERE)
def test_numbers_are_those_of_the_plain_graph(name: str) -> None:
    f, arrays = WRONG_ELSEWHERE[name]
    graph = sg.trace(f, **arrays)
    before, after = _run(graph, arrays), _run(graph.simplify(), arrays)
    assert before.shape == after.shape
    assert before.dtype == after.dtype
    np.testing.assert_allclose(after, before, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(before, _plain(f, arrays), rtol=1e-12)
    total = sg.trace(lambda **given: np.sum(f(**given) ** 2), **arrays)
    first = next(iter(arrays))
    slopes = total.gradient(first, value=False)
    np.testing.assert_allclose(
        _run(slopes.simplify(), arrays), _run(slopes, arrays), rtol=1e-11, atol=1e-12
    )


def _plain(f: Callable[..., Any], arrays: dict[str, Any]) -> Any:
    """What NumPy itself gives; of a function that only symgraph has, its own numbers."""
    found = f(**arrays)
    return sg.graph(found).evaluate() if isinstance(found, sg.Array) else found


# -- dtypes ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.where(x > 0, x, 0) * x,
        lambda x: np.where(x > 0, 0, x) / x,
        lambda x: np.sum(x, dtype="float64"),
        lambda x: np.log(1 + np.exp(x)),
        lambda x: np.sqrt(1 + x * x) - 1,
        lambda x: np.log(np.cosh(x)),
        lambda x: np.log(np.mean(np.exp(x))),
    ],
    ids=["where times", "where over", "wide sum", "softplus", "root", "log cosh", "log mean exp"],
)
def test_no_rule_changes_a_dtype(dtype: str, f: Callable[[Any], Any]) -> None:
    x = V.astype(dtype)
    graph = sg.trace(f, x=x)
    assert _run(graph.simplify(), {"x": x}).dtype == _run(graph, {"x": x}).dtype


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_integer_arithmetic_wraps_as_it_is_written(dtype: str) -> None:
    """Distributing products of small integers changes where they overflow."""
    info = np.iinfo(dtype)
    x = np.array([info.max, info.min, 3, 1], dtype=dtype)
    y = np.array([info.max, 2, info.max - 1, info.min], dtype=dtype)
    for f in (
        lambda x, y: x * y + x * y,
        lambda x, y: (x + y) * x - x * x,
        lambda x, y: (x + y) // 2 - x // 2,
        lambda x, y: np.sum(x * y, dtype=dtype),
        lambda x, y: x - (y + x),
    ):
        graph = sg.trace(f, x=x, y=y)
        before, after = (_run(g, {"x": x, "y": y}) for g in (graph, graph.simplify()))
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)


# -- what is infinite, undefined or signed ---------------------------------------------------------
AWKWARD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, -2.0, 0.5, 2.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (-2.0 + 0 * x) ** x * (-2.0 + 0 * x) ** x,
        lambda x: np.abs(x) ** 0.5 * x**0.5,
        lambda x: (x - x) / (x - x),
        lambda x: x * x / x,
        lambda x: np.sum(0 * x) + 0 * x,
        lambda x: 0 / x,
        lambda x: np.minimum(x, x) + np.maximum(x, 0) * 0,
        lambda x: np.where(x == x, 1.0, 2.0),
        lambda x: np.where(x >= x, 1.0, 2.0),
        lambda x: np.where(x < x, 1.0, 2.0),
        lambda x: np.where(x != x, 1.0, 2.0),
        lambda x: np.sqrt(x) ** 2,
        lambda x: snp.sigmoid(np.log(x / (1 - x))),
        lambda x: np.log(x) - np.log(x),
        lambda x: np.log1p(x - 1) + np.log(-x),
        lambda x: x**-1 * x,
        lambda x: np.exp(np.log(x)) + np.expm1(np.log1p(x)),
    ],
)
def test_undefined_stays_undefined(f: Callable[[Any], Any]) -> None:
    graph = sg.trace(f, x=AWKWARD)
    before, after = (_run(g, {"x": AWKWARD}) for g in (graph, graph.simplify()))
    np.testing.assert_array_equal(np.isnan(before), np.isnan(after))
    np.testing.assert_allclose(after, before, rtol=1e-14)


# -- differentiation is linear ---------------------------------------------------------------------
@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda F: np.trace(F.T @ F) - 3, lambda F: 2 * F),
        (lambda F: 0.5 * np.trace(F.T @ F) + 0.5 * np.trace(SQUARE.T @ SQUARE), lambda F: F),
        (lambda F: F[1, 1] * 1.0, lambda F: np.eye(3)[1][:, None] * np.eye(3)[1]),
        (lambda F: np.trace(F @ F @ SQUARE), lambda F: (F @ SQUARE + SQUARE @ F).T),
    ],
    ids=["a constant beside a trace", "two traces", "an element", "tr(X²B)"],
)
def test_matrix_derivatives_that_came_out_as_zero(
    f: Callable[[Any], Any], expected: Callable[[Any], Any]
) -> None:
    F = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0], [2.0, -2.0, 1.0]])
    found = sg.trace(f, F=F).gradient("F", value=False).simplify().evaluate(F=F)
    np.testing.assert_allclose(found, expected(F), rtol=1e-13)


# -- gradients through what is not taken -----------------------------------------------------------
@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: np.where(x > 0, np.sqrt(x), 0.0), [0.0, 0.5, 0.0]),
        (lambda x: np.where(x > 0, np.log(x), 0.0), [0.0, 1.0, 0.0]),
        (lambda x: np.where(x > 0, 1 / x, 0.0), [0.0, -1.0, 0.0]),
        (lambda x: np.where(x == 0, 1.0, np.sin(x) / x), [0.0, np.cos(1) - np.sin(1), None]),
        (lambda x: np.where(x > 0, x**0.5, 0.0)[:, None], [0.0, 0.5, 0.0]),
        (lambda x: np.linalg.norm(x * np.array([1.0, 0.0, 0.0])), [0.0, 0.0, 0.0]),
    ],
    ids=["sqrt", "log", "reciprocal", "sinc", "behind a new axis", "norm at zero"],
)
def test_branches_not_taken_do_not_poison_gradients(
    f: Callable[[Any], Any], expected: list[Any]
) -> None:
    x = np.array([0.0, 1.0, -1.0])
    graph = sg.trace(lambda x: np.sum(f(x)), x=x)
    found = _run(graph.gradient("x", value=False).simplify(), {"x": x})
    for one, wanted in zip(found, expected, strict=True):
        assert np.isfinite(one)
        if wanted is not None:
            np.testing.assert_allclose(one, wanted, rtol=1e-13, atol=1e-15)


def test_simplifying_twice_in_a_row_gives_the_same_numbers() -> None:
    """A graph keeps nothing that a second run could see."""
    graph = sg.trace(lambda x: np.sum(np.exp(x)[TWICE] * x), x=V).gradient("x").simplify()
    run = graph.lower()
    given = V.copy()
    first = [np.array(each) for each in run(x=given)]
    second = run(x=given)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(given, V)
