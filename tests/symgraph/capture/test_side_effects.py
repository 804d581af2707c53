"""State that a traced function changes itself is told: it changes at the trace alone."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

X = np.arange(12.0).reshape(4, 3)
W = np.ones(3)


def batches() -> Any:
    yield from itertools.cycle([X[:2], X[2:]])


def next_of(iterator: Any) -> Callable[[Any], Any]:
    return lambda w: np.sum(next(iterator) * w)


ITERATORS = {
    "generator": lambda: batches(),
    "cycle": lambda: itertools.cycle([1.0, 2.0]),
    "count": lambda: itertools.count(1),
    "iterator of a list": lambda: iter([1.0, 2.0, 3.0]),
    "map": lambda: map(float, [1, 2, 3]),
    "reversed": lambda: reversed([1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("kind", ITERATORS)
def test_an_iterator_that_is_read_is_told(kind: str) -> None:
    plain, traced = next_of(ITERATORS[kind]()), sg.grad(next_of(ITERATORS[kind]()))
    assert plain(W) != plain(W)  # with numbers each call takes another one
    with pytest.warns(
        sg.SideEffectWarning, match="takes values from the iterator iterator"
    ) as told:
        first = traced(W)
    assert told[0].filename == __file__
    np.testing.assert_array_equal(traced(W), first)  # Once is enough.


@pytest.mark.parametrize("kind", ["count", "iterator of a list", "reversed"])
def test_what_is_left_as_it_was_is_not(kind: str) -> None:
    """Most others do not tell how far they are."""
    iterator = ITERATORS[kind]()

    def named() -> str:
        return f"layer {next(iterator)}"

    def loss(w: Any, name: Any = None) -> Any:
        return np.sum(w) if name is None else np.sum(w) * len(name or named())

    np.testing.assert_array_equal(sg.grad(loss)(W), [1, 1, 1])


def test_an_iterator_of_the_function_s_own_is_no_matter() -> None:
    def loss(w: Any) -> Any:
        ones = iter([1.0, 2.0])
        return sum(a * b for a, b in zip(ones, w, strict=False)) + next(ones, 0.0)

    np.testing.assert_array_equal(sg.grad(loss)(W), [1, 2, 0])


def rotates(w: Any, queue: Any = deque([1.0, 2.0])) -> Any:  # noqa: B006
    queue.rotate()
    return np.sum(w) * queue[0]


def pops(w: Any, stack: Any = [1.0, 2.0, 3.0]) -> Any:  # noqa: B006
    return np.sum(w) * stack.pop()


def exchanges(w: Any, pair: Any = [1.0, 2.0]) -> Any:  # noqa: B006
    pair[:] = pair[::-1]
    return np.sum(w) * pair[0]


def counts(w: Any, steps: Any = np.zeros(1)) -> Any:  # noqa: B008
    steps += 1
    return np.sum(w) * steps[0]


CHANGED = [(rotates, "queue"), (pops, "stack"), (exchanges, "pair"), (counts, "steps")]


@pytest.mark.parametrize(("f", "what"), CHANGED)
def test_a_container_that_is_read_and_changed_is_told(f: Callable[[Any], Any], what: str) -> None:
    with pytest.warns(sg.SideEffectWarning, match=rf"changes {what}[,\[]"):
        sg.grad(f)(W)


class Model:
    def __init__(self) -> None:
        self.losses: list[Any] = []
        self.log: dict[str, Any] = {}
        self.hidden: Any = np.zeros(3)
        self.table: dict[int, Any] = {}
        self.shapes: list[Any] = []

    def appends(self, w: Any) -> Any:
        self.losses.append(np.sum(w))
        return np.sum(w)

    def enters(self, w: Any) -> Any:
        self.log["loss"] = np.sum(w)
        return np.sum(w)

    def carries(self, w: Any) -> Any:
        self.hidden = np.tanh(self.hidden + w)
        return np.sum(self.hidden)

    def remembers(self, w: Any) -> Any:
        if 3 not in self.table:
            self.table[3] = np.arange(3.0)
        return np.sum(self.table[3] * w)

    def records(self, w: Any) -> Any:
        self.shapes.append(w.shape)
        return np.sum(w)

    def writes_again(self, w: Any) -> Any:
        self.hidden[:] = 0.0
        return np.sum(self.hidden + w)

    def keeps(self, w: Any) -> Any:
        self.input = w
        return np.sum(self.input)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("appends", r"stores symbols in self\.losses"),
        ("enters", r"stores symbols in self\.log"),
        ("carries", r"changes self\.hidden, which it reads"),
    ],
)
def test_symbols_that_stay_in_an_object_are_told(name: str, told: str) -> None:
    with pytest.warns(sg.SideEffectWarning, match=told):
        sg.grad(getattr(Model(), name))(W)


@pytest.mark.parametrize("name", ["remembers", "records", "keeps", "writes_again"])
def test_what_means_the_same_at_each_call_is_not(name: str) -> None:
    g = sg.grad(getattr(Model(), name))
    np.testing.assert_array_equal(g(W), g(2 * W))
