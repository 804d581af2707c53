"""Choosing among several, tables, sequences and polynomials are NumPy's; what cannot be is said."""

from __future__ import annotations

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import DTypeError, ShapeError, TraceError

RNG = np.random.default_rng(3)
X = RNG.normal(size=(3, 4))
NUMBERS = np.array([[2, 0, 1, 1], [0, 0, 2, 1], [1, 2, 2, 0]])
ROUGH = np.array([1.0, np.nan, np.inf, -np.inf, -2.0])

CHOICES = [
    lambda x, i: np.select([x < -0.5, x < 0.5], [x * x, 2.0], default=-1),
    lambda x, i: np.select([x[0] > 0, x > 0], [1, 2]),
    lambda x, i: np.select([x > 0], [x.astype("float32")], default=np.arange(4)),
    lambda x, i: np.select([x > 0, x < 0], [x]),
    lambda x, i: np.select([i], [x]),
    lambda x, i: np.choose(i, [x, x * 2, 1.5]),
    lambda x, i: np.choose(i[0], [x, x[0], x[1]]),
    lambda x, i: np.choose(i - 1, [x, -x], mode="clip"),
    lambda x, i: np.choose(i + 2, [x, -x], mode="wrap"),
    lambda x, i: np.piecewise(x, [x < 0, x > 1], [lambda x: -x, 3]),
    lambda x, i: np.piecewise(x, [x < 0, x > -1], [lambda x: -x, lambda x: x * x]),
    lambda x, i: np.piecewise(x, x < 0, [lambda x: -x, lambda x: x * x]),
    lambda x, i: np.piecewise(x, [x < 0], [lambda x, k, m: k * x + m, 9], 2.0, m=1.0),
    lambda x, i: np.piecewise(x, [x < 0], [1, 2, 3]),
    lambda x, i: np.take(x, i * 3 - 2, axis=1, mode="wrap"),
    lambda x, i: np.take(x, i * 3 - 2, axis=1, mode="clip"),
    lambda x, i: np.take(x, i * 3 - 2, mode="clip"),
    lambda x, i: np.compress([True, False, True], x, axis=0),
    lambda x, i: np.compress([False, True], x),
    lambda x, i: np.extract(X > 0, x),
    lambda x, i: x.compress([True, False], axis=1),
    lambda x, i: np.nan_to_num(x),
]

OF_NUMBERS = [
    lambda i: np.choose(i * 0, [7]),
    lambda i: i.choose([X, X, 1]),
    lambda i: np.piecewise(i, [i < 1], [lambda i: i + 0.5, 2.7]),
    lambda i: np.piecewise(i[0], i[0] < 1, [lambda i: i + 2, 3]),
    lambda i: np.nan_to_num(i),
]


@pytest.mark.parametrize("f", OF_NUMBERS)
def test_choosing_of_integers_is_numpys(agrees, f):
    agrees(f, NUMBERS)


@pytest.mark.parametrize("f", CHOICES)
def test_choosing_is_numpys(agrees, f):
    agrees(f, X, NUMBERS)
    agrees(f, X.astype("float16"), NUMBERS.astype("uint8"))
    agrees(lambda x: f(x, NUMBERS), X)


@pytest.mark.parametrize("f", [*CHOICES[:2], *CHOICES[7:9], *CHOICES[10:12], *CHOICES[15:17]])
def test_choosing_in_named_dimensions(agrees, f):
    agrees(f, X, NUMBERS, dims={3: "n", 4: "m"})


def test_a_number_that_is_out_of_range():
    x, i = sg.input("x", (2,)), sg.input("i", (2,), "int64")
    with pytest.raises(ShapeError, match="out of range"):
        np.choose(np.array([0, 2]), [x, x])
    f = sg.trace(lambda x, i: np.choose(i, [x, -x]), x=sg.spec((2,)), i=sg.spec((2,), "int64"))
    for wrong in ([0, 2], [-1, 0]):
        with pytest.raises(IndexError):
            f.lower()(x=np.ones(2), i=np.array(wrong))
    with pytest.raises(DTypeError, match="integers"):
        np.choose(x, [x, x])
    with pytest.raises(TraceError, match="mode"):
        np.choose(i, [x, x], mode="best")


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_branches_not_taken_do_not_poison(backend):
    if backend == "jax":
        pytest.importorskip("jax")

    def f(x):
        a = np.select([x > 0, x < 0], [np.log(x), np.sqrt(-x)], default=0.0)
        b = np.piecewise(x, [x > 0], [np.log, lambda x: x * x])
        return np.sum(a + b)

    graph = sg.trace(f, x=sg.spec((3,))).gradient("x").simplify()
    _, got = graph.lower(backend)(x=np.array([2.0, 0.0, -4.0]))
    np.testing.assert_allclose(got, [0.5 + 0.5, 0, -0.25 - 8])


@pytest.mark.parametrize(
    "keywords",
    [{}, {"nan": 7.0}, {"posinf": 1.0, "neginf": 2.0}, {"nan": np.array([1.0, 2, 3, 4, 5])}],
    ids=str,
)
def test_nan_to_num(agrees, keywords):
    agrees(lambda x: np.nan_to_num(x, **keywords), ROUGH)
    agrees(lambda x: np.nan_to_num(x, **keywords), ROUGH.astype("float32"))


# -- along a table ---------------------------------------------------------------------------------
XS, FS = np.array([0.0, 1.0, 2.5, 4.0]), np.array([1.0, -1.0, 3.0, 2.0])
AT = np.array([[-1.0, 0.0, 0.3, 1.0], [2.5, 4.0, 4.5, np.nan]])


def test_interpolation_is_numpys(agrees):
    agrees(lambda x: np.interp(x, XS, FS), AT)
    agrees(lambda x: np.interp(x, XS, FS, left=-9, right=9), AT)
    agrees(lambda x: np.interp(x, XS[[3, 0, 2, 1]] * 2, FS, period=3.0), AT)
    agrees(lambda x: np.interp(x, XS[:1], FS[:1]), AT)
    agrees(lambda x: np.interp(x, [0.0, 1.0, 1.0, 2.0], FS), np.array([0.5, 1.5, -1.0]))
    agrees(lambda x, xs, fs: np.interp(x, xs, fs), AT, XS, FS)
    agrees(lambda x, xs, fs: np.interp(x, xs, fs, period=3), AT, XS + 0.1, FS)
    agrees(lambda x, xs, fs: np.interp(x, xs, fs), AT[:, :3], XS, FS, dims={4: "n"})
    agrees(lambda fs: np.interp(1.7, XS, fs), FS)
    agrees(lambda x: np.interp(x, XS, FS), np.array([0, 1, 3]))
    agrees(lambda x: np.interp(x, XS, FS[:3]), AT)
    agrees(lambda x: np.interp(x, [], []), AT)


def test_the_slope_of_a_broken_line():
    graph = sg.trace(lambda x: np.sum(np.interp(x, XS, FS)), x=sg.spec((6,)))
    _, got = graph.gradient("x").lower()(x=np.array([-1.0, 0.0, 1.0, 2.0, 4.0, 5.0]))
    np.testing.assert_allclose(got, [0, -2, 8 / 3, 8 / 3, -2 / 3, 0])


@pytest.mark.parametrize(
    "f",
    [
        lambda p: np.unwrap(p),
        lambda p: np.unwrap(p, axis=0),
        lambda p: np.unwrap(p, period=4),
        lambda p: np.unwrap(p, discont=5.0),
    ],
)
def test_unwrapping(agrees, f):
    agrees(f, 5 * X)
    agrees(f, np.array([[0, 1, 2, -1], [0, 3, 5, 9]]))
    agrees(f, 5 * X, dims={3: "n"})


# -- sequences -------------------------------------------------------------------------------------
@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("f", [np.convolve, np.correlate])
@pytest.mark.parametrize("sizes", [(5, 3), (3, 5), (4, 4), (6, 1), (2, 5), (5, 4)], ids=str)
def test_convolution_is_numpys(agrees, f, mode, sizes):
    x, v = RNG.normal(size=sizes[0]), RNG.normal(size=sizes[1])
    agrees(lambda x, v: f(x, v, mode), x, v)
    agrees(lambda x: f(x, v, mode), x)
    agrees(lambda x, v: f(x, v, mode), np.arange(sizes[0]), np.arange(sizes[1]) - 2)


def test_convolution_of_named_lengths(agrees):
    x, v = RNG.normal(size=6), RNG.normal(size=3)
    for mode in ("full", "same", "valid"):
        agrees(lambda x, m=mode: np.convolve(x, v, m), x, dims={6: "n"})
    agrees(lambda x, v: np.convolve(x, v), x, v, dims={6: "n", 3: "k"})
    with pytest.raises(ShapeError, match="full"):
        np.convolve(sg.input("x", ("n",)), sg.input("v", ("k",)), "same")
    agrees(lambda x: np.convolve(x, x[:0]), x)
    agrees(lambda x: np.convolve(x[None], x), x)
    agrees(lambda x: np.convolve(x, x, "most"), x)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.polyval([2.0, 0.0, -1.0], x),
        lambda x: np.polyval(x[0], 3.0),
        lambda x: np.polyval(x[0], x),
        lambda x: np.polyval([2], x),
        lambda x: np.poly(x[0]),
        lambda x: np.polyadd(x[0], [1.0, 2.0]),
        lambda x: np.polysub(3.0, x[0]),
        lambda x: np.polymul(x[0] + 1, x[:, 1] + 2),
        lambda x: np.polyder(x[0]),
        lambda x: np.polyder(x[0], 3),
        lambda x: np.polyder(x[0], 0),
        lambda x: np.polyint(x[0]),
        lambda x: np.polyint(x[0], 2, k=[3.0, 1.0]),
        lambda x: np.polyint(x[0], 2, k=3.0),
        lambda x: np.polyint(x[0], 2, k=[3.0, 1.0, 2.0]),
        lambda x: np.polyint(x[0], 3, k=[3.0, 1.0]),
        lambda x: np.polyder(x[0], -1),
        lambda x: np.vander(x[0]),
        lambda x: np.vander(x[0], 3),
        lambda x: np.vander(x[0], 5, increasing=True),
        lambda x: np.vander(x[0], 0),
        lambda x: np.vander(x),
    ],
)
def test_polynomials_are_numpys(agrees, f):
    agrees(f, X)
    agrees(f, NUMBERS)


def test_fitted_polynomials(agrees):
    x, y, w = np.linspace(0, 2, 7), RNG.normal(size=7), np.linspace(1, 2, 7)

    def close(x, y):
        return np.round(np.polyfit(x, y, 2), 9)

    agrees(close, x, y)
    agrees(lambda x, y: np.round(np.polyfit(x, y, 3, w=w), 8), x, y)
    agrees(lambda x, y: np.round(np.polyfit(x, y[:, None] * [1.0, 2.0], 1), 9), x, y)
    agrees(lambda y: np.round(np.polyfit(x, y, 0), 9), y)
    with pytest.raises(TraceError, match="full"):
        np.polyfit(sg.input("x", (3,)), np.ones(3), 1, full=True)
    f = sg.trace(lambda y: np.polyfit(x, y, 1)[0], y=sg.spec((7,))).gradient("y").simplify()
    centred = x - x.mean()
    np.testing.assert_allclose(f.lower()(y=y)[1], centred / (centred @ centred), atol=1e-12)


def test_counts(agrees):
    i, w = np.array([1, 3, 1, 0]), RNG.normal(size=4)
    agrees(lambda w: np.bincount(i, w), w)
    agrees(lambda w: np.bincount(i, w, minlength=6), w)
    agrees(lambda w, i: np.bincount(i, w, minlength=4), w, i)
    agrees(lambda i: np.bincount(i, minlength=5), i)
    agrees(lambda w, i: np.bincount(i, w, minlength=5), w, i, dims={4: "n"})
    with pytest.raises(TraceError, match="minlength"):
        np.bincount(sg.input("i", (3,), "int64"))
    with pytest.raises(DTypeError, match="integers"):
        np.bincount(sg.input("i", (3,)), minlength=3)
    f = sg.trace(lambda i: np.bincount(i, minlength=3), i=sg.spec((2,), "int64")).lower()
    for wrong in ([0, 3], [-1, 0]):
        with pytest.raises(IndexError):
            f(i=np.array(wrong))


# -- what no graph can hold ------------------------------------------------------------------------
REFUSED = [
    (lambda x: np.unique(x), "np.sort"),
    (lambda x: snp.unique(x), "np.sort"),
    (lambda x: np.unique_counts(x), "np.bincount"),
    (lambda x: np.intersect1d(x, x), "np.sort"),
    (lambda x: np.nonzero(x), "np.where"),
    (lambda x: x.nonzero(), "np.where"),
    (lambda x: np.where(x > 0), "np.where"),
    (lambda x: np.argwhere(x), "np.where"),
    (lambda x: x[x > 0], "np.where"),
    (lambda x: np.compress(x > 0, x), "np.where"),
    (lambda x: np.delete(x, np.argmax(x)), "constant positions"),
    (lambda x: np.histogram2d(x, x), "np.bincount"),
    (lambda x: np.vectorize(lambda v: v + 1)(x), "functions of numpy"),
    (lambda x: x.item(), "evaluate"),
    (lambda x: x.tolist(), "evaluate"),
]


@pytest.mark.parametrize(("f", "advice"), REFUSED)
def test_refused_with_advice(f, advice):
    with pytest.raises(TraceError) as caught:
        f(sg.input("x", (3,)))
    assert advice in str(caught.value)
    assert "test_selection.py" in str(caught.value)
