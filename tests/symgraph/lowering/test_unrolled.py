"""Programs of small arrays on Python's floats: the numbers of NumPy, whatever the inputs are."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.backends.lowered import Lowered

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "parts": lambda x, s: np.stack([x[0] * s, x[1] - x[2], s]),
    "a matrix": lambda x, s: np.stack([np.stack([x[0], s * s]), np.stack([x[1] * x[2], -x[0]])]),
    "broadcast": lambda x, s: (x * s + 1)[:, None] * np.exp(x)[None, :],
    "a choice": lambda x, s: np.where(x > s, x**2, -x) * np.where(s > 0, 1.0, 2.0),
    "places": lambda x, s: np.concatenate([x[::-1], x[1:] * s, np.zeros(2)]),
    "of truth values": lambda x, s: np.where(x * s > s, x, s) > x - s,
    "in columns": lambda x, s: (x.reshape(3, 1) * np.array([[1.0, -2.0]])).T + s,
    "negative numbers": lambda x, s: np.stack([-2.0 - x[0], x[1] * -3.0, s - -1.5]) ** 2,
    "quotients": lambda x, s: np.stack([x[0] / x[1], np.log(x[2]), np.sqrt(s), np.exp(x[0])]),
    "the same": lambda x, s: np.stack([x[0] * x[1], x[:2][0] * x[1], x[0] * x[1] + s]),
    "two results": lambda x, s: (x[0] * s, np.stack([x[1], x[2] * 2])),
    "a sum": lambda x, s: np.stack([np.sum(x * x) * s, x[0] * x[1], s + x[2], x[0] - s]),
    "inner products": lambda x, s: np.stack(
        [x @ x * s - x[1], x @ np.stack([s * s, x[0] / s, 2 * s]), x[1] / s - 1, x[2] * x[0] + s]
    ),
    "extremes": lambda x, s: np.stack([np.max(x) - s, np.min(x, keepdims=True)[0], x[1] * s + 2]),
    "an input": lambda x, s: (x, np.stack([x[0] + s, x[1]])),
}


def lowered(f: Callable[..., Any], **options: Any) -> Lowered:
    return sg.trace(f, x=sg.spec("3"), s=sg.spec("")).lower(**options)


def assert_same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other)
        return
    assert type(found) is np.ndarray
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(found, wanted)
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(np.signbit(found[finite]), np.signbit(wanted[finite]))


NUMBERS = [0.0, -0.0, 1.5, -2.0, 1e308, -1e-310, np.inf, -np.inf, np.nan, 800.0]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_are_those_of_numpy(name: str) -> None:
    quick, plain = lowered(FUNCTIONS[name]), lowered(FUNCTIONS[name], floats=False)
    assert "def floats(" in quick.source
    assert "def floats(" not in plain.source
    rng = np.random.default_rng(0)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        for _ in range(100):
            x, s = rng.choice(NUMBERS, 3), np.array(rng.choice(NUMBERS))
            wanted = plain(x, s)
            assert_same(quick(x, s), wanted)
            assert_same(quick(x, float(s)), wanted)
            assert_same(quick(x=x, s=s), wanted)


def _big_endian(x: Any) -> Any:
    return x.astype(">f8")


def _read_only(x: Any) -> Any:
    x.flags.writeable = False
    return x


class Kind(np.ndarray[Any, Any]):
    """An array of another class."""


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "strided": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "big-endian": _big_endian,
    "read-only": _read_only,
    "a list": list,
    "another class": lambda x: x.view(Kind),
    "single precision": lambda x: x.astype(np.float32),
}


@pytest.mark.parametrize("name", ["a matrix", "inner products"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_taken(layout: str, name: str) -> None:
    f = FUNCTIONS[name]
    x = np.array([0.5, -1.0, 3.0])
    wanted = lowered(f, floats=False)(x, 2.0)
    assert_same(lowered(f)(LAYOUTS[layout](x), 2.0), wanted)


def test_bad_inputs_are_refused_as_ever() -> None:
    quick = lowered(FUNCTIONS["parts"])
    with pytest.raises(sg.InputError, match="shape"):
        quick(np.zeros(4), 1.0)
    with pytest.raises(sg.InputError):
        quick(np.zeros(3))
    with pytest.raises(sg.InputError):
        quick(np.zeros(3, complex), 1.0)


def test_a_vector_with_gaps_has_the_bits_of_one_with_gaps() -> None:
    """BLAS adds up the products of neighbours in another order."""

    def f(x: Any) -> Any:
        found, total = x, 0.0
        for _ in range(6):
            total = total + found @ x
            found = np.stack([x[0] * total, *[x[i] - total for i in range(1, 40)]])
        return total

    graph = sg.trace(f, x="40")
    quick, plain = graph.lower(), graph.lower(floats=False)
    assert "c_contiguous" in quick.source
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=80)
        assert_same(quick(x[::2]), plain(x[::2]))
        assert_same(quick(x[:40]), plain(x[:40]))


def test_results_are_the_callers() -> None:
    quick = lowered(FUNCTIONS["an input"])
    x = np.array([1.0, 2.0, 3.0])
    same, _ = quick(x, 1.0)
    same[0] = 7.0
    assert x[0] == 1.0
    assert pickle.loads(pickle.dumps(quick))(x, 1.0)[1][0] == 2.0


@pytest.mark.parametrize(
    ("f", "spec"),
    [
        (lambda x: np.stack([x[0], x[1]]) @ np.ones((2, 2)), sg.spec("3")),
        (lambda x: np.cumsum(x[:3]), sg.spec("3")),
        (lambda x: np.stack([np.median(x[:3]), x[0], x[1] + 1]), sg.spec("3")),
        (lambda x: np.stack([np.sort(x)[0], np.max(x[:1]), x[1] + 1]), sg.spec("3")),
        (lambda x: np.stack([x[0] * 2, x[1]]), sg.spec("3", "float32")),
        (lambda x: np.stack([x[0] * 2, x[1]]), sg.spec("n")),
        (lambda x: np.exp(x) * 2, sg.spec("1000")),
        (lambda x: np.exp(x), sg.spec("100")),
    ],
    ids=[
        "a product",
        "a running sum",
        "a median",
        "an order",
        "float32",
        "a named size",
        "long",
        "one call of NumPy",
    ],
)
def test_what_needs_arrays_or_is_faster_by_them_has_none(
    f: Callable[..., Any], spec: sg.Spec
) -> None:
    assert "def floats(" not in sg.trace(f, x=spec).lower().source


def test_a_line_an_element_that_is_computed() -> None:
    source = lowered(FUNCTIONS["the same"]).source
    body = source[source.index("def floats(") : source.index("def program(")]
    assert body.count(" * ") == 1  # x[0] x[1] once
    assert "array([" in body


def test_a_long_recursion_is_on_floats() -> None:
    """Of some thousand lines; for what only arrays can do the search ends early."""

    def f(p: Any, y: Any) -> Any:
        error, total = 0.0, 0.0
        for t in range(1, 60):
            error = y[t] - p[0] * y[t - 1] - p[1] * error
            total = total + error**2 * np.exp(-p[2]) + p[2]
        return total

    graph = sg.trace(f, p="3", y="60").gradient("p")
    quick, plain = graph.lower(), graph.lower(floats=False)
    assert "def floats(" in quick.source
    y = np.random.default_rng(0).normal(size=60)
    assert_same(quick(np.array([0.5, -0.2, 0.1]), y), plain(np.array([0.5, -0.2, 0.1]), y))
