"""Spellings where each input has a size of its own: which one leaves the range on its way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import symgraph as sg
from symgraph.accuracy import Judge
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.node import Node

Spelling = Callable[..., Any]


def nodes(*spellings: Spelling) -> list[Node]:
    """The outputs of functions of three vectors in single precision, over the same inputs."""
    specs = {name: sg.spec((3,), "float32") for name in "xyz"}
    return list(sg.trace(lambda **at: tuple(f(**at) for f in spellings), **specs).dag.outputs)


def test_the_spelling_that_overflows_between_is_told() -> None:
    good, bad = nodes(lambda x, y, z: x * y * (y * z), lambda x, y, z: x * (y * y) * z)
    judge = Judge(Knowledge())
    assert judge.leaves_range(bad, good)
    assert judge.out_of_range(bad, good) > judge.out_of_range(good, bad)
    assert not judge.leaves_range(good, bad)


def test_a_number_where_there_was_none_is_told_if_it_is_wrong() -> None:
    """z x / (y y) is 0 where y y has overflowed, also where y x / (y y y) z is NaN."""
    none, wrong = nodes(lambda x, y, z: y * x / (y * (y * y)) * z, lambda x, y, z: x / (y * y) * z)
    judge = Judge(Knowledge())
    assert judge.lies(wrong, none) > 0
    assert judge.lies(none, none) == 0


def test_a_careful_judge_refuses_it() -> None:
    good, bad = nodes(lambda x, y, z: x * y * (y * z), lambda x, y, z: x * (y * y) * z)
    knowledge = Knowledge()
    assert Judge(knowledge, careful=True).loses(bad, good)


@pytest.mark.parametrize("name", ["one order for another", "the same"])
def test_orders_that_lose_as_often_are_alike(name: str) -> None:
    other = {
        "one order for another": lambda x, y, z: x * z * y,
        "the same": lambda x, y, z: y * x * z,
    }[name]
    one, two = nodes(lambda x, y, z: x * y * z, other)
    judge = Judge(Knowledge())
    assert not judge.leaves_range(one, two)
    assert not judge.leaves_range(two, one)


def test_constants_and_values_that_are_no_numbers_are_not_asked() -> None:
    one, two = nodes(lambda x, y, z: x > y + z, lambda x, y, z: x >= y + z)
    judge = Judge(Knowledge())
    assert judge.out_of_range(one, two) == 0
