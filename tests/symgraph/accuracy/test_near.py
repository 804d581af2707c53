"""Spellings compared over the arrays that they share: low effort's judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.accuracy import judge_of, judged_nearby
from symgraph.accuracy.near import _verdicts  # pyright: ignore[reportPrivateUsage]
from symgraph.ir.fact_inference import Knowledge

X, Y = sg.input("x", (4, 3)), sg.input("y", (4, 3))
P = sg.input("p", 3, assume=sg.simplex(-1))
S = snp.sigmoid(X)


@pytest.fixture(autouse=True)
def nothing_is_known() -> Iterator[None]:
    _verdicts.clear()
    yield
    _verdicts.clear()


def loses(new: Any, old: Any) -> bool:
    knowledge = Knowledge()
    return judge_of(judged_nearby(knowledge)).loses(new.node, old.node)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ((X - 2 * Y) + X, 2 * (X - Y)),
        (S * (1 - S), S * snp.sigmoid(-X)),
        (X**2 / Y**2, (X / Y) ** 2),
        (snp.sum(X * X) - 2 * snp.sum(X * Y) + snp.sum(Y * Y), snp.sum((X - Y) ** 2)),
    ],
    ids=["cancellation", "a tail", "overflow", "a square multiplied out"],
)
def test_what_loses_digits_or_range_is_refused(new: Any, old: Any) -> None:
    assert loses(new, old)
    assert not loses(old, new)


def test_values_below_do_not_matter_unless_they_are_related() -> None:
    deep = snp.tanh(X) @ snp.ones((3, 3))
    assert not loses(Y * deep + deep, (Y + 1) * deep)
    # Over exp(x) and softmax(x) as two arrays, these would differ; one is computed from the other.
    grown, other = snp.exp(deep), snp.log1p(snp.exp(deep))
    assert not loses(snp.log1p(grown) * Y + other * grown, other * (Y + grown))


def test_what_is_not_equal_is_refused() -> None:
    assert loses(X * Y, X * Y + X)
    assert loses(snp.cos(X), snp.sin(X))


def test_facts_of_the_shared_arrays_count() -> None:
    shifted = P - snp.sum(P)
    assert not loses(P - 1, shifted)
    assert loses(Y - 1, Y - snp.sum(Y))


def test_a_pair_of_spellings_is_judged_once_wherever_it_stands() -> None:
    deep = snp.tanh(X @ snp.ones((3, 3)))
    assert not loses(X * Y + X, X * (Y + 1))
    known = len(_verdicts)
    assert not loses(deep * Y + deep, deep * (Y + 1)) or len(_verdicts) > known
    assert not loses(Y * X + Y, Y * (X + 1))
    assert len(_verdicts) <= known + 1


def test_low_effort_gives_the_same_graph_whatever_was_simplified_before() -> None:
    def f(x: Any, w: Any) -> Any:
        h = np.tanh(x @ w)
        return np.sum(np.log(1 + np.exp(h)) * h + h)

    at = {"x": np.ones((4, 3)), "w": np.eye(3)}
    first = str(sg.trace(f, **at).gradient("w").simplify(effort="low").formula())
    sg.trace(lambda x: np.sum(np.exp(x) / (1 + np.exp(x))), x=at["x"]).gradient("x").simplify(
        effort="low"
    )
    sg.cache.clear()
    assert str(sg.trace(f, **at).gradient("w").simplify(effort="low").formula()) == first
