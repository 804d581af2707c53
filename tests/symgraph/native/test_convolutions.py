"""Convolutions by compiled loops give what products of columns give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.namespace import NUMPY, images

pytest.importorskip("llvmlite", reason="the native extra is not installed")

from symgraph.backends import native_convolutions as native

pytestmark = pytest.mark.oracle


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Loops compute what they can, whether it pays or not."""
    monkeypatch.setattr(native, "_pays", lambda *args: True)
    monkeypatch.setattr(native, "_correlation_pays", lambda *args: True)
    native._compiled.cache_clear()
    yield
    native._compiled.cache_clear()


def some(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray[Any, Any]:
    """Whole numbers, whose sums are exact in any order."""
    return rng.integers(-9, 9, shape).astype(dtype)


def same(name: str, *args: Any) -> np.ndarray[Any, Any]:
    """The result of loops, which is that of products."""
    with np.errstate(all="ignore"):
        got = getattr(native, name)(NUMPY, *args)
        want = getattr(images, name)(NUMPY, *args)
    np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype
    assert got.flags.c_contiguous
    return got


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("register", [16, 32, 64])
@pytest.mark.usefixtures("always")
def test_random_sizes(register: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "vector_bytes", lambda: register)
    rng = np.random.default_rng(register)
    for _ in range(60):
        n, c, o = rng.integers(1, 4), rng.integers(1, 11), rng.integers(1, 15)
        sizes = tuple([int(each) for each in rng.integers(1, 5, 2)])
        dilations = tuple([int(each) for each in rng.integers(1, 3, 2)])
        strides = (int(rng.integers(1, 4)), 1)
        counts = [int(rng.integers(1, 8)), int(rng.integers(1, 40))]
        rows, columns = [
            s * (count - 1) + d * (size - 1) + 1
            for s, count, d, size in zip(strides, counts, dilations, sizes, strict=True)
        ]
        rest = int(rng.integers(strides[0]))
        x = some(rng, dtype, n, c, rows + rest, columns)
        w, y = some(rng, dtype, o, c, *sizes), some(rng, dtype, n, o, *counts)
        assert same("convolution", x, w, strides, dilations, 1).shape == (n, o, *counts)
        assert same("kernel_convolution", x, y, sizes, strides, dilations, 1).shape == w.shape
        y = some(rng, dtype, n, o, rows - dilations[0] * (sizes[0] - 1), counts[1])
        found = same("adjoint_convolution", y, w, (rows, columns), (1, 1), dilations, 1)
        assert found.shape == (n, c, rows, columns)


@pytest.mark.usefixtures("always")
def test_many_images_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_MOST_WIDE", 2**14)
    monkeypatch.setattr(native, "_LONGEST_SUM", 20)
    rng = np.random.default_rng(0)
    x, w, y = [some(rng, "float32", *s) for s in ((7, 3, 9, 21), (5, 3, 3, 3), (7, 5, 7, 19))]
    one = (1, 1)
    same("convolution", x, w, one, one, 1)
    same("adjoint_convolution", y, w, (9, 21), one, one, 1)
    same("kernel_convolution", x, y, (3, 3), one, one, 1)


@pytest.mark.usefixtures("always")
def test_layouts_and_empty_arrays() -> None:
    rng = np.random.default_rng(0)
    one = (1, 1)
    x, w = some(rng, "float64", 2, 3, 9, 20), some(rng, "float64", 4, 3, 2, 3)
    y = some(rng, "float64", 2, 4, 8, 18)
    for turned in (lambda a: a[..., ::-1], lambda a: np.asfortranarray(a), lambda a: a[:, ::-1]):
        same("convolution", turned(x), turned(w), one, one, 1)
        same("adjoint_convolution", turned(y), turned(w), (9, 20), one, one, 1)
        same("kernel_convolution", turned(x), turned(y), (2, 3), one, one, 1)
    same("convolution", x[:0], w, one, one, 1)
    same("convolution", x, w[:0], one, one, 1)
    same("adjoint_convolution", y[:0], w, (9, 20), one, one, 1)
    same("kernel_convolution", x[:0], y[:0], (2, 3), one, one, 1)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_special_numbers(bad: float) -> None:
    """No zero around an image meets an infinite weight."""
    rng = np.random.default_rng(0)
    one = (1, 1)
    x, w = some(rng, "float32", 2, 2, 5, 20), some(rng, "float32", 3, 2, 3, 3)
    y = some(rng, "float32", 2, 3, 3, 18)
    for array in (x, w, y):
        before = array[1, 1, 2, 2]
        array[1, 1, 2, 2] = bad
        same("convolution", x, w, one, one, 1)
        same("adjoint_convolution", y, w, (5, 20), one, one, 1)
        same("kernel_convolution", x, y, (3, 3), one, one, 1)
        array[1, 1, 2, 2] = before


def test_what_loops_are_not_for_goes_to_numpy() -> None:
    rng = np.random.default_rng(0)
    w = some(rng, "float32", 4, 2, 3, 3)
    wide = some(rng, "float32", 3, 4, 9, 30)
    same("convolution", wide, w, (1, 2), (1, 1), 2)
    same("convolution", wide[:, :2], w, (1, 2), (1, 1), 1)
    same("convolution", wide[:, :2].astype("int64"), w.astype("int64"), (1, 1), (1, 1), 1)
    same("convolution", wide[0], some(rng, "float32", 6, 9, 2), (1,), (1,), 1)
    y = some(rng, "float32", 3, 4, 4, 14)
    same("adjoint_convolution", y, w, (9, 29), (2, 2), (1, 1), 1)


def test_gradients_of_a_layer() -> None:
    def layer(x: Any, w: Any) -> Any:
        return np.sum(np.tanh(snp.conv(x, w)) ** 2)

    rng = np.random.default_rng(0)
    given = {"x": rng.normal(size=(3, 8, 18, 34)), "w": 0.1 * rng.normal(size=(16, 8, 3, 3))}
    specs = {name: sg.spec(each.shape) for name, each in given.items()}
    graph = sg.trace(layer, **specs).gradient("x", "w").simplify()
    lowered = graph.lower("native")
    assert "convolution" not in lowered.native_reason
    value, slopes = lowered(**given)
    want, expected = graph.evaluate(**given)
    np.testing.assert_allclose(value, want, rtol=1e-13)
    for one, other in zip(slopes, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def test_results_are_the_same_at_each_call() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(4, 8, 30, 34)), rng.normal(size=(16, 8, 3, 3))
    first = native.convolution(NUMPY, x, w, (1, 1), (1, 1), 1)
    for _ in range(3):
        np.testing.assert_array_equal(native.convolution(NUMPY, x, w, (1, 1), (1, 1), 1), first)
