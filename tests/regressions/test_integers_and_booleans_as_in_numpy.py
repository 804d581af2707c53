"""Dtypes, refusals and comparisons of integers and booleans, as NumPy has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

BOOLS = np.array([True, False])
POWERS: dict[str, Callable[[Any], Any]] = {
    "square": lambda b: b**2,
    "cube": lambda b: b**3,
    "zeroth": lambda b: b**0,
    "float": lambda b: b**2.0,
    "of a scalar": lambda b: b ** np.int64(2),
    "function": lambda b: np.power(b, 2),
    "of itself": lambda b: b**b,
    "np.square": lambda b: np.square(b),
}


@pytest.mark.parametrize("name", POWERS)
def test_powers_of_booleans_have_numpys_dtype(name: str) -> None:
    graph = sg.trace(POWERS[name], b=sg.spec((2,), "bool"))
    wanted = POWERS[name](BOOLS)
    for each in (graph, graph.simplify()):
        found = each.evaluate(b=BOOLS)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def test_plus_of_booleans_is_refused() -> None:
    with pytest.raises(TypeError):
        +BOOLS
    with pytest.raises(sg.DTypeError, match=r"positive.*bool") as raised:
        sg.trace(lambda b: +b, b=sg.spec((2,), "bool"))
    assert isinstance(raised.value, TypeError)
    assert "astype" in str(raised.value)


COMPARED: dict[str, Callable[[Any], Any]] = {
    "at most": lambda y: y / y <= 1,
    "less": lambda y: y / y < 2,
    "greater": lambda y: np.where(y / y > 0, 1, 2),
    "of magnitudes": lambda y: np.abs(y) / np.abs(y) <= 1,
    "not at most": lambda y: ~(y / y <= 1),
}


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("name", COMPARED)
def test_a_comparison_is_not_decided_where_there_may_be_nan(name: str, dtype: str) -> None:
    y = np.array([0, 1, 2], dtype)
    simple = sg.trace(COMPARED[name], y=sg.spec((3,), dtype)).simplify()
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(simple.evaluate(y=y), COMPARED[name](y))


def test_bits_are_counted_and_packing_is_refused() -> None:
    bits = sg.trace(lambda u: np.bitwise_count(u), u=sg.spec((3,), "uint8"))
    u = np.array([0, 5, 255], "uint8")
    np.testing.assert_array_equal(bits.simplify().evaluate(u=u), np.bitwise_count(u))
    with pytest.raises(sg.TraceError, match="bitwise_count"):
        sg.trace(lambda u: np.packbits(u), u=sg.spec((3,), "uint8"))


@pytest.mark.parametrize("dtype", ["uint8", "bool"])
def test_a_sign_that_the_dtype_has_not_is_refused_where_it_is_stated(dtype: str) -> None:
    """Not in a rule later on."""
    with pytest.raises(sg.FactError, match=f"dtype {dtype}"):
        sg.trace(lambda x: x >= 0, x=sg.spec((3,), dtype, assume=sg.negative))


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 1e300])
@pytest.mark.parametrize("compare", [np.less, np.less_equal, np.greater, np.equal, np.not_equal])
def test_integers_against_numbers_that_are_none(compare: Any, number: float) -> None:
    x = np.array([0, 1, 1])
    spec = sg.spec((3,), "int64", assume=sg.interval(0, 1))
    found = sg.trace(lambda x: compare(x, number), x=spec).simplify().evaluate(x=x)
    np.testing.assert_array_equal(found, compare(x, number))
