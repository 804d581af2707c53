"""Static numbers: traced once for all values where that is safe, else a warning."""

from __future__ import annotations

import warnings
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.capture.retraces import MANY_SHAPES
from symgraph.transforms.unknown_int import LARGEST

X = np.array([1.0, 2.0])


def test_an_int_that_is_not_read_is_traced_once_for_all_values() -> None:
    # users.md, "Silent differences", 4: objective(params, it) took 0.44 s a step.
    g = sg.grad(lambda params, it: np.sum(params**2))
    for it in range(50):
        np.testing.assert_array_equal(g(X, it), 2 * X)
    assert g.cache_info().misses == 3


ARITHMETIC: list[Any] = [
    lambda x, n: np.sum(x * n),
    lambda x, n: np.sum(n * x**2) / 2,
    lambda x, n: np.sum(x**2 / (1 + 0.5 * n)),
    lambda x, n: np.sum(x**2) * (3 - n) + np.sum(x + n),
    lambda x, n: np.sum(x**2 - (2 * n - 1) / 4),
    lambda x, n: np.sum(x * -n),
    lambda x, n: np.sum((n / 10) * x),
]


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("place", range(len(ARITHMETIC)))
def test_an_int_used_in_arithmetic_with_floats_is_an_input(place: int, dtype: str) -> None:
    f = ARITHMETIC[place]
    x = np.array([1.5, -2.25, 0.1], dtype)
    g = sg.value_and_grad(f)
    for n in (0, 1, 5, -3, 16_777_217, LARGEST - 1):
        value, slope = g(x, n)
        if n in (0, 1):
            continue
        _, wanted = sg.value_and_grad(f)(x, n)
        assert value.dtype == slope.dtype == np.dtype(dtype) == f(x, n).dtype
        np.testing.assert_allclose(value, f(x, n), rtol=1e-5 if dtype == "float32" else 1e-12)
        np.testing.assert_allclose(slope, wanted, rtol=1e-5 if dtype == "float32" else 1e-12)
    assert g.cache_info().misses == 3


VALUE_NEEDED: list[Any] = [
    lambda x, n: np.sum(x) if isinstance(n, int) else np.sum(-x),
    lambda x, n: np.sum(x) if type(n) is int else np.sum(-x),
    lambda x, n: np.sum(x) if not callable(n) and hasattr(n, "bit_length") else np.sum(-x),
    lambda x, n: np.sum(x) * timedelta(seconds=n).total_seconds(),
    lambda x, n: np.sum(x) if n % 2 == 0 else np.sum(-x),
    lambda x, n: np.sum(x * 2**n),
    lambda x, n: np.sum(x**n),
    lambda x, n: np.sum(x) / np.sqrt(n + 1.0),
    lambda x, n: np.sum(x[: n % 3]),
    lambda x, n: np.sum(x) * (1 / (n + 1)),
    lambda x, n: np.sum(np.full(2, n) * x[:2]),
    lambda x, n: sum([x[0]] * n, x[1]),
    lambda x, n: np.sum(x) * {0: 1.0}.get(n, 2.0),
    lambda x, n: np.sum(np.multiply(x, n)),
    lambda x, n: np.sum(x) * (np.float64(2) * n),
    lambda x, n: np.sum(x) * float(f"{n}"),
    lambda x, n: np.sum(x) * (n * n * n * n),
    lambda x, n: np.sum(x.reshape(-1, 1)) * max(n, 2),
]


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("place", range(len(VALUE_NEEDED)))
def test_an_int_whose_value_is_needed_stays_static_and_warns_at_the_third_retrace(
    place: int,
) -> None:
    f = VALUE_NEEDED[place]
    x = np.array([1.5, 2.25, 0.5])
    g = sg.grad(f)
    for n in (0, 1, 2):
        np.testing.assert_allclose(g(x, n), sg.grad(f)(x, n))
    with pytest.warns(sg.RetraceWarning, match=r"each value of n \(0, 1, 2, 3") as told:
        np.testing.assert_allclose(g(x, 3), sg.grad(f)(x, 3))
    assert told[0].filename == __file__
    assert "float(n)" in str(told[0].message)
    np.testing.assert_allclose(g(x, 4), sg.grad(f)(x, 4))  # Told once.


def test_an_exception_that_is_swallowed_does_not_hide_that_the_value_was_asked_for() -> None:
    def f(x, n):
        try:
            even = n % 2 == 0
        except BaseException:
            even = False
        return np.sum(x) if even else np.sum(-x)

    g = sg.grad(f)
    assert [g(1.0, n) for n in (1, 3, 2)] == [-1.0, -1.0, 1.0]


def test_ints_that_are_too_large_to_be_exact_are_static() -> None:
    g = sg.grad(lambda x, n: np.sum(x * n))
    for n in (1, 2, 3, 2**60 + 1):
        np.testing.assert_array_equal(g(X, n), np.full(2, float(n)))
    assert g.cache_info().misses == 4


def test_one_of_two_ints_may_be_static() -> None:
    def f(x, n, m):
        return np.sum(x[:n]) * m

    g = sg.grad(f)
    for n, m in ((1, 1), (2, 2), (1, 3), (2, 4), (1, 5), (2, 6)):
        np.testing.assert_array_equal(g(X, n, m), m * np.array([1.0, float(n > 1)]))
    assert g.cache_info().misses < 6


def test_numbers_declared_static_are_traced_for_each_value_without_a_warning() -> None:
    g = sg.grad(lambda x, k: np.sum(x * k), static="k")
    for k in (1.0, 2.0, 3.0, 4.0, 5.0):
        np.testing.assert_array_equal(g(X, k), np.full(2, k))
    assert g.cache_info().misses == 5


def test_flags_and_text_do_not_warn() -> None:
    g = sg.grad(lambda x, kind, flag: np.sum(x))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in "abcdef":
            g(X, kind, kind > "b")


def test_what_a_function_stores_of_such_an_int_says_what_it_is() -> None:
    kept: list[Any] = []

    def f(x, n):
        kept.append(n)
        return np.sum(x * n)

    g = sg.grad(f)
    for n in (1, 2, 3):
        g(X, n)
    assert kept[:2] == [1, 2]
    with pytest.raises(sg.TraceError, match="every value of n in a trace that is over"):
        kept[2] + 1


def test_outputs_beside_the_value_may_hold_the_int() -> None:
    g = sg.grad(lambda x, n: (np.sum(x), {"n": n}), has_aux=True)
    assert [g(X, n)[1]["n"] for n in (1, 2, 3)] == [1, 2, 3]
    with pytest.warns(sg.RetraceWarning):
        assert g(X, 4)[1]["n"] == 4


class Adam:
    def __init__(self) -> None:
        self.t = 0
        self.calls = 0

    def loss(self, w):
        self.t += 1
        self.calls += 1
        return np.sum(w) / self.t


def test_a_number_that_the_function_reads_and_changes_itself_warns() -> None:
    adam = Adam()
    g = sg.grad(adam.loss)
    with pytest.warns(sg.SideEffectWarning, match=r"changes self\.t, which it reads") as told:
        np.testing.assert_array_equal(g(X), [1, 1])
    assert told[0].filename == __file__
    g(X)


COUNTER = 0


def counting(w):
    global COUNTER
    COUNTER += 1
    return np.sum(w)


def test_what_only_counts_calls_is_no_matter() -> None:
    calls = 0

    def f(w):
        nonlocal calls
        calls += 1
        return np.sum(w)

    for each in (f, counting):
        g = sg.grad(each)
        for _ in range(5):
            g(X)
            each(X)
        assert g.cache_info().misses == 1
    assert (calls, COUNTER) == (6, 6)


def test_many_shapes_are_told_once() -> None:
    g = sg.grad(lambda x, y: np.sum(x * y))
    for n in range(1, MANY_SHAPES):
        g(np.ones(n), 2.0)
        g(np.ones(n), 3.0)
    with pytest.warns(sg.RetraceWarning, match=r"<lambda> .*32 shapes(.|\n)*named sizes"):
        g(np.ones(MANY_SHAPES), 2.0)
    g(np.ones(MANY_SHAPES + 1), 2.0)
    named = sg.trace(lambda x: np.sum(x * x), x=sg.spec("n, 3")).gradient("x").simplify().lower()
    for n in range(5):
        np.testing.assert_array_equal(named(np.ones((n, 3)))[1], np.full((n, 3), 2.0))


def test_other_kinds_of_arguments_are_not_counted_as_shapes() -> None:
    g = sg.grad(lambda x, y: np.sum(x) * y)
    for n in range(1, MANY_SHAPES // 2 + 1):
        g(np.ones(n), 2.0)
        g(np.ones((n, 2)), 2.0)
