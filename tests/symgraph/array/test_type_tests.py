"""Questions about the type of a symbol, which numbers would answer otherwise, are told."""

from __future__ import annotations

import copy
import numbers
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import symgraph as sg

REAL = (int, float)


def matched(x: Any) -> Any:
    match x:
        case float():
            return x
        case _:
            return 100 * x


def with_numbers(x: Any) -> Any:
    return x if isinstance(x, numbers.Real) else 100 * x


TOLD: list[tuple[Callable[[Any], Any], Any, str]] = [
    (lambda x: isinstance(x, np.ndarray) and x, 3, r"isinstance\(x, np.ndarray\).* array"),
    (lambda x: isinstance(x, float) and x, "", r"isinstance\(x, float\).* number"),
    (lambda x: isinstance(x, REAL) and x, "", r"isinstance\(x, REAL\)"),
    (lambda x: isinstance(x, int | np.floating) and x, "", "floating"),
    (lambda x: isinstance(np.sum(x), (str, np.float64)) and x, 3, "sum"),
    (lambda x: np.isscalar(x) and x, "", r"np.isscalar\(x\)"),
    (with_numbers, "", r"numbers\.Real"),
    (matched, "", r"float\(\)"),
]


@pytest.mark.parametrize(("f", "shape", "words"), TOLD)
def test_another_answer_than_that_of_numbers_is_told(f: Any, shape: Any, words: str) -> None:
    with pytest.warns(sg.TypeTestWarning, match=words) as found:
        sg.trace(lambda x: np.sum(f(x) + x), x=sg.spec(shape))
    assert found[0].filename == __file__


QUIET: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda x: isinstance(x, (list, tuple, dict, str)), 3),
    (lambda x: isinstance(x, (np.ndarray, sg.Array)), 3),
    (lambda x: isinstance(x, Sequence), 3),
    (lambda x: isinstance(x, float), 3),
    (lambda x: isinstance(x, np.ndarray), ""),
    (lambda x: isinstance(x, int), ""),
    (lambda x: np.isscalar(x), 3),
    (lambda x: x.__class__.__name__ == "Array", 3),
    (lambda x: copy.deepcopy(x), 3),
]


@pytest.mark.parametrize(("f", "shape"), QUIET)
def test_the_same_answer_is_not_told(f: Any, shape: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sg.trace(lambda x: np.sum(f(x) + x), x=sg.spec(shape))


def test_outside_of_a_trace_nothing_is_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not isinstance(sg.input("x", 3), np.ndarray)


def test_a_library_that_asks_is_named_at_the_user_s_line() -> None:
    def f(x: Any) -> Any:
        return x * Fraction(1, 3)  # fractions asks for numbers.Real

    with (
        pytest.warns(sg.TypeTestWarning, match="fractions asks whether a symbol") as found,
        pytest.raises(TypeError, match="Fraction"),
    ):
        sg.trace(f, x=())
    # One text at one line, so that Python shows it once.
    told = {(str(each.message), each.filename, each.lineno) for each in found}
    assert [place for _, *place in told] == [[__file__, f.__code__.co_firstlineno + 1]]
