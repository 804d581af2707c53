"""Loops of machine code in the bodies of loops and choices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg

pytest.importorskip("llvmlite", reason="the native extra is not installed")

pytestmark = pytest.mark.oracle


def recurrence(x: Any, w: Any, start: Any) -> Any:
    def step(h: Any, each: Any) -> Any:
        h = np.tanh(h @ w + each) * 0.9 + np.exp(-h * h)
        return h, np.sum(h)

    last, sums = sg.scan(step, start, x)
    return np.sum(last * last) + np.sum(sums)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [7, "d"])
def test_steps_of_a_recurrence(size: Any, dtype: str) -> None:
    specs = {
        "x": sg.spec((5, size), dtype),
        "w": sg.spec((size, size), dtype),
        "start": sg.spec((size,), dtype),
    }
    graph = sg.trace(recurrence, **specs).gradient("x", "w", "start").simplify()
    lowered = graph.lower("native")
    assert "b0_n0(" in lowered.source
    assert lowered._compiled.direct is None
    rng = np.random.default_rng(0)
    given = {
        name: (0.3 * rng.normal(size=shape)).astype(dtype)
        for name, shape in (("x", (5, 7)), ("w", (7, 7)), ("start", (7,)))
    }
    far = 1e-12 if dtype == "float64" else 2e-4
    value, slopes = lowered(**given)
    want, expected = graph.evaluate(**given)
    np.testing.assert_allclose(value, want, rtol=far)
    for one, other in zip(slopes, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=far, atol=far)
        assert one.dtype == other.dtype
    table = lowered.profile(**given)
    assert table.seconds > 0


def test_numbers_and_choices() -> None:
    def function(a: Any, n: Any) -> Any:
        def step(carry: Any, k: Any) -> Any:
            x, count = carry
            x = sg.cond(x > 1, lambda: np.sin(x) * np.cos(x) + k, lambda: np.exp(x) * 0.5 + x)
            return (x, count + 2 * count * n), x * x + count

        (x, count), squares = sg.scan(step, (a, n), np.arange(4.0))
        return x, count, squares

    graph = sg.trace(function, a=sg.spec(()), n=sg.spec((), "int64"))
    lowered = graph.lower("native")
    for a, n in ((0.3, 2), (5.0, -1), (np.nan, 0)):
        for got, want in zip(lowered(a, n), graph.evaluate(a=a, n=n), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-14)
            assert got.dtype == want.dtype
            assert got.shape == want.shape


def test_a_loop_within_a_loop() -> None:
    def function(x: Any) -> Any:
        def inner(h: Any, _: Any) -> Any:
            return np.tanh(h) * x + 0.1 * h, None

        def outer(h: Any, _: Any) -> Any:
            return sg.scan(inner, np.sin(h) + h * h, None, 3)[0], np.sum(h)

        return sg.scan(outer, x, None, 4)

    graph = sg.trace(function, x=sg.spec((6,)))
    lowered = graph.lower("native")
    x = np.linspace(-1, 2, 6)
    for got, want in zip(lowered(x), graph.evaluate(x=x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)


def test_inputs_of_steps_in_any_layout() -> None:
    graph = sg.trace(
        lambda x: sg.scan(lambda h, each: (h * 0.5 + np.exp(each), h * h), x[0], x.T),
        x=sg.spec((6, 6)),
    )
    lowered = graph.lower("native")
    for x in (np.eye(6), np.asfortranarray(np.arange(36.0).reshape(6, 6) / 36), np.eye(6)[::-1]):
        for got, want in zip(lowered(x), graph.evaluate(x=x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-14)


def test_threads_do_not_change_steps() -> None:
    graph = sg.trace(recurrence, x=(5, 9), w=(9, 9), start=(9,))
    rng = np.random.default_rng(0)
    given = [0.3 * rng.normal(size=shape) for shape in ((5, 9), (9, 9), (9,))]
    alone, shared = graph.lower("native"), graph.lower("native", threads=2)
    np.testing.assert_array_equal(alone(*given), shared(*given))


def test_beside_a_user_s_kernel_steps_are_numpy_s() -> None:
    """Its shape and dtype are the user's word, which a loop would trust."""
    lying = sg.custom_op(
        lambda x: np.asarray(x, "float32")[:1], infer=lambda x: x, name="shorter_than_it_says"
    )

    def function(x: Any) -> Any:
        def step(h: Any, _: Any) -> Any:
            return np.tanh(h) * 2 + np.exp(-h), None

        return sg.scan(step, lying(x), None, 3)[0]

    lowered = sg.trace(function, x=sg.spec((6,))).lower("native")
    assert "b0_n0(" not in lowered.source
