"""Cumulative operations and differences are NumPy's; recurrences too, on every backend."""

from __future__ import annotations

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import ShapeError

RNG = np.random.default_rng(3)
X = RNG.normal(size=(3, 4))
CUBE = RNG.normal(size=(2, 3, 4))
WHOLE = np.array([[2, 0, 1], [3, 1, 2]])
WITH_NAN = np.array([[1.0, 3.0, np.nan, 5.0], [2.0, 2.0, -np.inf, 2.0]])

CALLS = [
    lambda x: np.cumprod(x),
    lambda x: np.cumprod(x, axis=0),
    lambda x: np.cumprod(x, axis=-1, dtype="float32"),
    lambda x: np.multiply.accumulate(x, axis=1),
    lambda x: np.maximum.accumulate(x, axis=1),
    lambda x: np.minimum.accumulate(x),
    lambda x: np.cumulative_sum(x, axis=0),
    lambda x: np.cumulative_sum(x, axis=1, include_initial=True),
    lambda x: np.cumulative_prod(x, axis=-1, include_initial=True),
    lambda x: np.diff(x),
    lambda x: np.diff(x, n=2, axis=0),
    lambda x: np.diff(x, n=0),
    lambda x: np.diff(x, prepend=0, append=x[:, :1]),
    lambda x: np.diff(x > 0),
    lambda x: np.ediff1d(x),
    lambda x: np.ediff1d(x, to_begin=0, to_end=[1, 2]),
    lambda x: np.trapezoid(x),
    lambda x: np.trapezoid(x, dx=0.5, axis=0),
    lambda x: np.trapezoid(x, x=[0.0, 1.0, 4.0], axis=0),
]


@pytest.mark.parametrize("f", CALLS)
def test_cumulative_functions_are_numpys(agrees, f):
    agrees(f, X)
    agrees(f, X.astype("float32"))


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("f", CALLS)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16"])
def test_cumulative_functions_of_other_dtypes_are_numpys(agrees, f, dtype):
    agrees(f, np.abs(WHOLE[[0, 1, 1]]).astype(dtype))


@pytest.mark.parametrize("f", CALLS[:-1])
def test_cumulative_functions_of_integers_are_numpys(agrees, f):
    agrees(f, WHOLE)


@pytest.mark.parametrize("f", [f for i, f in enumerate(CALLS) if i not in (0, 14, 15, 18)])
def test_cumulative_functions_of_named_dimensions(agrees, f):
    agrees(f, X, dims={3: "n"})
    agrees(f, X, dims={4: "n"})


@pytest.mark.parametrize(
    "f", [np.maximum.accumulate, np.minimum.accumulate, lambda x: np.maximum.accumulate(x, axis=1)]
)
def test_a_nan_stays(agrees, f):
    agrees(f, WITH_NAN)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.diff(x, n=-1),
        lambda x: np.diff(x[0, 0]),
        lambda x: np.diff(x, axis=2),
        lambda x: np.cumprod(x, axis=5),
        lambda x: np.cumulative_sum(x),
        lambda x: np.gradient(x, 1.0, 2.0, 3.0),
        lambda x: np.gradient(x, [1.0, 2.0], axis=1),
        lambda x: np.gradient(x, edge_order=3),
        lambda x: np.gradient(x[:1]),
        lambda x: np.gradient(x[:2], edge_order=2, axis=0),
        lambda x: np.gradient(x > 0, axis=1),
        lambda x: np.diff(x, axis=None),
        lambda x: np.cumsum(x, axis=(0, 1)),
        lambda x: np.sort(x, axis=(0, 1)),
        lambda x: np.trapezoid(x, axis=None),
    ],
)
def test_what_numpy_refuses_is_refused(agrees, f):
    agrees(f, X)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.gradient(x, axis=1),
        lambda x: np.gradient(x),
        lambda x: np.gradient(x, 0.5),
        lambda x: np.gradient(x, 0.5, 2.0),
        lambda x: np.gradient(x, [0.0, 1.0, 3.0], 2.0, edge_order=2),
        lambda x: np.gradient(x, np.array([0.0, 1.0, 1.5, 4.0]), axis=-1),
        lambda x: np.gradient(x, np.array([0.0, 1.0, 1.5, 4.0]), axis=-1, edge_order=2),
        lambda x: np.gradient(x, axis=(1, 0), edge_order=2),
        lambda x: np.gradient(x[:, :2], axis=1),
    ],
)
def test_gradients_of_samples_are_numpys(agrees, f):
    agrees(f, X)
    agrees(f, X.astype("float32"))
    agrees(f, WHOLE[:, [0, 1, 2, 0]].repeat(2, axis=0)[:3])


def test_the_coordinates_may_be_symbolic(agrees):
    agrees(lambda f, x: np.gradient(f, x, axis=1), X, np.array([0.0, 1.0, 1.5, 4.0]))
    agrees(lambda y, x: np.trapezoid(y, x), X, np.array([0.0, 1.0, 1.5, 4.0]))
    agrees(lambda y, x: np.trapezoid(y, x, axis=0), X, np.cumsum(X**2, axis=0))


def test_logcumsumexp_overflows_nowhere(agrees):
    x = np.array([-np.inf, -np.inf, 1000.0, -1000.0, 999.0, -np.inf])
    agrees(snp.logcumsumexp, x, like=np.logaddexp.accumulate)
    agrees(lambda x: np.logaddexp.accumulate(x, axis=1), CUBE)
    w = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    graph = sg.trace(lambda x: np.sum(w[2:] * snp.logcumsumexp(x)[2:]), x=sg.spec((6,)))
    _, got = graph.gradient("x").lower()(x=x)
    share = np.exp(-1.0) / (1 + np.exp(-1.0))
    np.testing.assert_allclose(got, [0, 0, 7 + 11 * (1 - share), 0, 11 * share, 0], rtol=1e-12)


def slowly(a, b):
    a, b = np.broadcast_arrays(a, b)
    found = np.array(b)
    for k in range(1, b.shape[-1]):
        found[..., k] = a[..., k] * found[..., k - 1] + b[..., k]
    return found


@pytest.mark.parametrize(
    "shapes",
    [
        ((4,), (4,)),
        ((2, 4), (2, 4)),
        ((4,), (3, 2, 4)),
        ((2, 1), (2, 5)),
        ((1, 0), (0,)),
        ((), (3,)),
    ],
    ids=str,
)
def test_recurrences(agrees, shapes):
    a, b = (RNG.normal(size=shape) for shape in shapes)
    agrees(snp.linear_recurrence, a, b, like=slowly)


def test_a_recurrence_needs_an_axis():
    with pytest.raises(ShapeError, match="last axis"):
        snp.linear_recurrence(sg.input("a", ()), sg.input("b", ()))


def test_ties_of_cumulative_extrema_split_equally():
    w = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    graph = sg.trace(lambda x: np.sum(w * np.maximum.accumulate(x)), x=sg.spec((5,)))
    f = graph.gradient("x").simplify().lower()
    _, got = f(x=np.array([1.0, 1.0, 0.0, 1.0, 2.0]))
    third = 8 / 3
    np.testing.assert_allclose(got, [1 + 1 + 2 + third, 1 + 2 + third, 0, third, 16])


def test_a_cumulative_product_differentiates_through_zeros():
    x = np.array([2.0, 0.0, 3.0, 0.0, 5.0])
    _, got = sg.trace(lambda x: np.sum(np.cumprod(x)), x=sg.spec((5,))).gradient("x").lower()(x=x)
    np.testing.assert_allclose(got, [1.0, 2 + 6, 0, 0, 0])


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_backends_agree(backend):
    if backend == "jax":
        pytest.importorskip("jax")

    def f(x):
        y = np.cumprod(x, axis=0) + np.maximum.accumulate(x, axis=1)
        return np.sum(y * snp.logcumsumexp(x, axis=1))

    graph = sg.trace(f, x=sg.spec((3, 4)))
    got = graph.gradient("x").simplify().lower(backend)(x=X)
    want = graph.gradient("x").evaluate(x=X)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_the_source_stands_alone():
    def f(x):
        y = np.cumprod(x, axis=1) + np.logaddexp.accumulate(x, axis=1)
        return np.sum(np.maximum.accumulate(y, axis=0))

    graph = sg.trace(f, x=sg.spec((3, 4))).gradient("x")
    names: dict = {}
    exec(graph.to_python(), names)
    for got, want in zip(names["function"](np, x=X), graph.evaluate(x=X), strict=True):
        np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("f", [np.cumsum, np.cumprod])
def test_a_cumulative_value_of_positive_numbers_cancels(f):
    x = sg.spec(5, assume=sg.positive)
    small = sg.trace(lambda x: f(x[::-1]) / x / f(x[::-1]), x=x).simplify()
    assert small.op_count() == 1
    at = np.array([0.5, 3.0, 1e-3, 7.0, 2.0])
    np.testing.assert_allclose(small.evaluate(x=at), 1 / at)


def test_a_cumulative_sum_that_may_be_zero_does_not_cancel():
    graph = sg.trace(lambda x, y: np.cumsum(x) / y / np.cumsum(x), x=3, y=3)
    found = graph.simplify().evaluate(x=np.array([1.0, -1.0, 2.0]), y=np.ones(3))
    assert np.isnan(found).tolist() == [False, True, False]


def test_a_plackett_luce_likelihood_has_a_cumulative_sum_of_inverses():
    def f(w):
        return -np.sum(np.log(w / np.cumsum(w[::-1])[::-1]))

    graph = sg.trace(f, w=sg.spec(5, assume=sg.positive)).gradient("w", value=False)
    assert graph.simplify().op_count() <= 5
