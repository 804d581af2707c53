"""Sizes of named dimensions in the user's code: numbers where they can be, errors elsewhere."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
import sympy

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array.named_sizes import NamedSize
from symgraph.errors import TraceError

X = np.random.default_rng(0).standard_normal((4, 3))

NUMBERS: dict[str, Callable[[Any], Any]] = {
    "ufunc": lambda x: x / np.sqrt(x.shape[-1]),
    "ufunc of arithmetic": lambda x: x * np.sqrt(2 / x.shape[1]),
    "log": lambda x: x + np.log(x.shape[0]),
    "exp": lambda x: x * np.exp(-x.shape[1]),
    "power": lambda x: x * np.power(x.shape[1], -0.5),
    "exponent": lambda x: x * x.shape[0] ** (-1 / (x.shape[1] + 4)),
    "maximum": lambda x: x / np.maximum(x.shape[0] - 1, 1),
    "below zero": lambda x: x * np.maximum(x.shape[0] - 7, 0) + np.abs(x.shape[0] - 9),
    "number of NumPy's": lambda x: x * (np.int64(3) * x.shape[0] + np.float64(0.5) * x.shape[1]),
    "array of numbers": lambda x: x * (np.arange(3.0) * x.shape[0]),
    "product of a shape": lambda x: x / np.prod(x.shape),
    "size": lambda x: x / x.size,
    "function size": lambda x: x * np.size(x, 0) / np.shape(x)[1],
    "half": lambda x: x[: x.shape[0] // 2],
    "rounded": lambda x: x * math.floor(x.shape[0] / 3) * math.ceil(x.shape[0] / 3),
    "list": lambda x: x * snp.array([x.shape[0], 1, 2.5]),
    "array of sizes": lambda x: x * np.array([x.shape[0], 1, 2]),
    "equal": lambda x: x if x.shape == x.shape and x.shape[0] == x.shape[0] else -x,
    "known": lambda x: x if x.shape[0] >= 0 and x.shape[0] + 1 > x.shape[0] else -x,
    "unequal": lambda x: -x if x.shape[0] == x.shape[0] + 1 or x.shape[0] == -1 else x,
    "text": lambda x: x if f"{x.shape[0]:>3}" else -x,
}


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", NUMBERS)
def test_sizes_are_numbers_in_arithmetic(name: str) -> None:
    def f(x: Any) -> Any:
        return np.sum(NUMBERS[name](x) ** 2)

    graph = sg.trace(f, x=sg.spec("n, d" if name not in _THREE else "n, 3")).gradient("x")
    fixed = sg.trace(f, x=sg.spec((4, 3))).gradient("x")
    value, slope = fixed.lower()(x=X)
    np.testing.assert_allclose(value, f(X), rtol=1e-14)
    for each in (graph, graph.simplify()):
        found = each.lower()(x=X)
        np.testing.assert_allclose(found[0], value, rtol=1e-14)
        np.testing.assert_allclose(found[1], slope, rtol=1e-14)


_THREE = ("array of numbers", "list", "array of sizes")

QUESTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "n == 1": lambda n, x: n == 1,
    "n == 3": lambda n, x: n != 3,
    "n != 0": lambda n, x: not n,
    "Mod(n, 2) == 0": lambda n, x: n % 2 == 0,
    "3*n == 0": lambda n, x: x.size == 0,
    "n == 4": lambda n, x: x.shape == (4, 3),
    "n == 2": lambda n, x: n in (2, 5),
    "n > 1": lambda n, x: n > 1,
    "n - 1 < 1": lambda n, x: max(n - 1, 1),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_that_only_the_size_answers_is_an_error(question: str) -> None:
    """SymPy answers False, so the program of n = 1 would run the branch of all other sizes."""
    x = sg.input("x", "n, 3")
    with pytest.raises(TraceError) as caught:
        QUESTIONS[question](x.shape[0], x)
    assert question in str(caught.value)
    assert "test_named_sizes.py" in str(caught.value)


def test_two_names_may_be_one_size() -> None:
    x, y = sg.input("x", "n"), sg.input("y", "m")
    with pytest.raises(TraceError, match="Sizes that are equal have one name"):
        assert x.shape[0] == y.shape[0]


def test_where_a_number_is_needed_the_error_names_the_function() -> None:
    x = sg.input("x", "n, 3")
    with pytest.raises(TraceError, match=r"the size n of a named dimension.*\n.*\n.*np\.sqrt"):
        math.sqrt(x.shape[0])
    with pytest.raises(TraceError, match=r"np\.sqrt\(x\.shape\[0\]\)"):
        float(x.shape[0])
    with pytest.raises(TraceError, match=r"snp\.arange"):
        np.arange(cast("Any", x.shape[0]))
    with pytest.raises(TraceError, match=r"np\.maximum"):
        max(x.shape[0] - 1, 1)
    with pytest.raises(TraceError, match=r"snp\.zeros"):
        sg.trace(lambda x: x + np.zeros(x.shape[0]), x=sg.spec("n"))


def test_sizes_are_values_like_others() -> None:
    x = sg.input("x", "n, 3")
    n: Any = x.shape[0]
    assert type(n) is NamedSize
    again: Any = x.shape[0]
    assert {n: 1}[again] == 1
    assert copy.deepcopy(n) == n
    assert pickle.loads(pickle.dumps(n)) == n
    assert (n == "n") is False
    assert n - n == 0
    assert type(n - n) is int
    assert divmod(n, 2)[0] == n // 2
    assert (n + sympy.Symbol("q")) - n == sympy.Symbol("q")
    assert sympy.sqrt(n) == sympy.sqrt(n.expr)
    assert snp.zeros((n, 2 * n)).shape == (n, 2 * n)
    assert x.reshape(n * 3).shape == (3 * n,)


def test_quotients_are_floats_and_zero_divides_nothing() -> None:
    x, k = sg.input("x", "n, 3"), sg.input("k", "4", "int64")
    n: Any = x.shape[0]
    assert type(2 * n / n) is float
    assert (k * (x.size / 3)).dtype == np.dtype("float64")
    assert (k * n).dtype == np.dtype("int64")
    for divide in (lambda: n / 0, lambda: n // 0, lambda: n % 0, lambda: 1 / (n - n)):
        with pytest.raises(ZeroDivisionError):
            divide()


def test_our_own_code_sees_expressions() -> None:
    x = sg.input("x", "n, 3")
    assert not isinstance(x.node.aval.shape[0], NamedSize)
    graph = sg.trace(lambda x: snp.zeros((x.shape[0], 2)) + np.sum(x) * x.size, x=sg.spec("n, 3"))
    sizes = [value for node in graph.nodes for value in node.params.values()]
    assert sizes
    assert not [each for value in sizes for each in np.ravel(value) if type(each) is NamedSize]


def test_a_size_minus_a_number_may_be_negative() -> None:
    """abs(n - 5) came out as n - 5: of 2 rows as -3."""
    for f in (
        lambda x: snp.abs(x.shape[0] - 5) * np.sum(x),
        lambda x: snp.maximum(x.shape[0] - 5, 0) * np.sum(x),
        lambda x: snp.sqrt((x.shape[0] - 5.0) ** 2) * np.sum(x),
        lambda x: snp.where(snp.asarray(x.shape[0] - 5) < 0, 7.0, 1.0) * np.sum(x),
    ):
        graph = sg.trace(f, x=sg.spec("n"))
        for rows in (2, 5, 8):
            x = np.ones(rows)
            assert graph.simplify().lower()(x=x) == graph.lower()(x=x) == f(x)
