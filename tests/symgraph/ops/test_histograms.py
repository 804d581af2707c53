"""Counts in bins, functions along axes, and places that are computed: numbers against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg

X = np.array([0.3, 1.7, 0.9, 0.9, 2.5, -1.0])
W = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])


def agrees(f: Any, **given: Any) -> None:
    got = sg.trace(f, **given).evaluate(given)
    want = f(**given)
    pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
    for one, other in pairs:
        assert one.shape == np.shape(other)
        assert one.dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bins": 3, "range": (0, 2)},
        {"bins": [0.0, 0.9, 1.0, 2.5]},
        {"bins": 4, "density": True},
        {"bins": 1, "range": (1, 1)},
    ],
    ids=str,
)
def test_counts_and_edges(options: dict[str, Any]) -> None:
    agrees(lambda x: np.histogram(x, **options), x=X)
    agrees(lambda x, w: np.histogram(x, weights=w, **options), x=X, w=W)
    agrees(lambda x: np.histogram(x, **options), x=np.full((2, 2), 0.9))
    agrees(lambda i: np.histogram(i, **options), i=np.array([0, 1, 1, 2]))


def test_what_lies_outside_is_not_counted() -> None:
    graph = sg.trace(lambda x: np.histogram(x, 2, (0, 1))[0], x=sg.spec((3,)))
    assert graph.evaluate(x=[np.nan, np.inf, 0.5]).tolist() == [0, 1]
    agrees(lambda x: np.histogram(x, 2), x=np.zeros(0))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bins": "auto"}, "takes a number of bins"),
        ({"bins": 0}, "not a positive number of bins"),
        ({"bins": [2.0, 1.0]}, "do not ascend"),
        ({"range": (1, 0)}, "does not ascend"),
        ({"weights": np.ones(2)}, "weights for"),
    ],
)
def test_wrong_bins(options: dict[str, Any], words: str) -> None:
    with pytest.raises(sg.SymgraphError, match=words) as refusal:
        np.histogram(sg.input("x", (3,)), **options)
    assert "used at test_histograms.py" in str(refusal.value)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize(
    "f",
    [
        lambda v: v[0],
        lambda v: v * v[0],
        lambda v: np.outer(v[:2], v),
        lambda v: np.cumsum(v)[::-1],
    ],
)
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (40, 3)])
def test_functions_along_an_axis(f: Any, axis: int, shape: Any) -> None:
    x = np.arange(float(np.prod(shape))).reshape(shape)
    agrees(lambda x: np.apply_along_axis(f, axis, x), x=x)


def test_functions_along_an_axis_of_named_length() -> None:
    graph = sg.trace(lambda x: np.apply_along_axis(np.cumsum, 1, x), x=sg.spec("n, m"))
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(graph.evaluate(x=x), np.cumsum(x, 1))


def test_functions_over_axes() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    agrees(lambda x: np.apply_over_axes(np.sum, x, [0, 2]), x=x)
    with pytest.raises(sg.ShapeError, match="reduce one axis"):
        np.apply_over_axes(lambda x, axis: x[0, 0, 0], sg.input("x", (2, 3, 4)), 0)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_rolled_by_a_computed_number(axis: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)
    graph = sg.trace(lambda x, k: np.roll(x, k, axis), x=sg.spec((2, 3)), k=sg.spec((), "int64"))
    for k in (-7, -1, 0, 2, 9):
        np.testing.assert_array_equal(graph.evaluate(x=x, k=k), np.roll(x, k, axis))
    with pytest.raises(sg.DTypeError, match="not an integer scalar"):
        np.roll(sg.input("x", (3,)), sg.input("k"))


def test_halves_exchanged() -> None:
    for shape in ((5,), (4, 3)):
        x = np.random.default_rng(0).normal(size=shape)
        agrees(lambda x: np.fft.fftshift(x), x=x)
        agrees(lambda x: np.fft.ifftshift(x, axes=0), x=x)


def test_joined_in_another_dtype() -> None:
    x = np.arange(3.0)
    for join in (np.concatenate, np.stack, np.vstack, np.hstack):
        agrees(lambda x, join=join: join([x, x], dtype="float32"), x=x)
        with pytest.raises(sg.DTypeError, match="does not become int64"):
            join([sg.input("x", (3,))] * 2, dtype="int64")
        agrees(lambda x, join=join: join([x, x], dtype="int64", casting="unsafe"), x=x)


@pytest.mark.parametrize("name", ["flags", "strides", "tobytes", "nothing_of_the_kind"])
def test_attributes_that_only_numbers_have(name: str) -> None:
    x = sg.input("x", (3,))
    assert not hasattr(x, name)
    with pytest.raises(sg.TraceError, match=name) as refusal:
        getattr(x, name)
    assert refusal.value.mend
    assert (x.itemsize, x.nbytes) == (8, 24)
