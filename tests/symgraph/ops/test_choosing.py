"""Choices by bits: what `np.where` gives, to the bit."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.ir.interpreter import evaluate
from symgraph.namespace import NUMPY, bitwise_where

SPECIAL = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, -np.nan, 5e-324, 1e-45, 3e38]


def numbers(dtype: str, n: int) -> np.ndarray[Any, Any]:
    found = np.random.default_rng(0).normal(size=n).astype(dtype)
    found[: len(SPECIAL) * 2] = np.repeat(np.array(SPECIAL), 2).astype(dtype)
    found[-1:].view(f"i{found.itemsize}")[:] = (
        np.array(np.nan, dtype).view(f"i{found.itemsize}") + 5
    )
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [30, 5000, 70_000])
def test_bits_are_those_of_where(dtype: str, n: int) -> None:
    x, condition = numbers(dtype, n), np.arange(n) % 2 == 0
    for y in (*np.array([0.0, -0.0, 1.0, np.nan], dtype), x[::-1], np.ascontiguousarray(x[::-1])):
        for c, a in ((condition, x), (condition[::-1], x), (condition, x[::-1])):
            for given in ((c, a, y), (c, y, a), (c, np.asarray(y), a)):
                want = np.where(*given)
                for out in (None, np.empty(n, dtype), np.empty(2 * n, dtype)[::2]):
                    got = NUMPY.chosen(*given, out=out)
                    assert out is None or got is out
                    assert (got.dtype, got.shape) == (want.dtype, want.shape)
                    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize(
    ("condition", "x", "y"),
    [
        ((50, 60), (60,), ()),
        ((60,), (50, 60), ()),
        ((50, 60), (50, 60), (60,)),
        ((3000,), (1, 3000), ()),
    ],
)
def test_what_is_broadcast_is_left_to_where(condition: Any, x: Any, y: Any) -> None:
    rng = np.random.default_rng(0)
    given = rng.random(condition) > 0.5, rng.normal(size=x), np.zeros(y)
    assert not bitwise_where._fit(*given, None)
    np.testing.assert_array_equal(NUMPY.chosen(*given), np.where(*given))


def test_other_dtypes_are_left_to_where() -> None:
    x = np.arange(3000)
    assert NUMPY.chosen(x > 7, x, np.zeros((), int)).dtype == x.dtype
    assert not bitwise_where._fit(x > 7, x * 1.0, np.zeros((), "float32"), None)
    assert not bitwise_where._fit(x, x * 1.0, np.zeros(()), None)
    assert not bitwise_where._fit(x > 7, x * 1.0, np.zeros(()), np.zeros(3000, "float32"))


def test_a_relu_asks_no_element() -> None:
    specs = {"x": sg.spec((40, 60)), "g": sg.spec((40, 60))}
    graph = sg.trace(lambda x, g: np.where(x > 0, g, 0.0), **specs)
    f = graph.lower()
    assert "xp.chosen(" in f.source
    assert "np.where(" not in f.source
    rng = np.random.default_rng(0)
    x, g = rng.normal(size=(2, 40, 60))
    g[0, :5] = np.nan, np.inf, -0.0, 0.0, -np.inf
    for order in ("C", "F"):
        got = f(np.asarray(x, order=order), np.asarray(g, order=order))
        assert got.tobytes() == np.where(x > 0, g, 0.0).tobytes()
        assert got.tobytes() == evaluate(f.dag, {"x": x, "g": g})[0].tobytes()


@pytest.mark.parametrize("layout", ["a part", "turned", "broadcast"])
def test_what_is_chosen_of_other_layouts_takes_no_room_of_its_size(layout: str) -> None:
    rng = np.random.default_rng(0)
    x = {
        "a part": rng.normal(size=(64, 100, 102))[..., 1:-1],
        "turned": rng.normal(size=(100, 100, 64)).transpose(2, 0, 1),
        "broadcast": rng.normal(size=(1, 100, 100)),
    }[layout]
    condition, out = rng.random((64, 100, 100)) > 0.5, np.empty((64, 100, 100))
    tracemalloc.start()
    found = NUMPY.chosen(condition, x, np.float64(0.0), out=out)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found is out
    assert peak < out.nbytes / 8
    np.testing.assert_array_equal(out, np.where(condition, x, 0.0))


def test_a_result_in_the_memory_of_an_operand() -> None:
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(80, 100, 100))
    condition = rng.random((64, 100, 100)) > 0.5
    x, out = whole[:64].transpose(0, 2, 1), whole[:64].transpose(0, 2, 1)
    wanted = np.where(condition, x, 2.0)
    np.testing.assert_array_equal(NUMPY.chosen(condition, x, 2.0, out=out), wanted)
    shifted, out = whole[2:66], whole[:64]
    wanted = np.where(condition, 2.0, shifted)
    np.testing.assert_array_equal(NUMPY.chosen(condition, 2.0, shifted, out=out), wanted)
