"""Parts and joins of multiples: adjoints of roll, pad and differences, with the sign outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

X = np.random.default_rng(0).normal(size=(5, 4))
Y = np.random.default_rng(1).normal(size=(5, 4))


def ops(graph: Any) -> list[str]:
    return [node.op.name for node in graph.nodes if node.op.count]


def gradient(f: Callable[..., Any], **arrays: Any) -> Any:
    """Simplified; it gives what it gives before that."""
    plain = sg.trace(f, **arrays).gradient("x", value=False)
    graph = plain.simplify()
    np.testing.assert_allclose(graph.evaluate(**arrays), plain.evaluate(**arrays), rtol=1e-12)
    assert graph.simplify().dag.outputs == graph.dag.outputs
    return graph


GRADIENTS: dict[str, tuple[Callable[[Any, Any], Any], list[str]]] = {
    "rolled and not": (lambda x, y: np.sum(np.roll(x, 2, axis=0) * y - x * y), ["subtract"]),
    "taken away": (lambda x, y: np.sum(x * y - np.roll(x, -1, axis=1) * y), ["subtract"]),
    "rolled both ways": (
        lambda x, y: np.sum(x * (np.roll(y, 1, axis=0) - np.roll(y, -1, axis=0))),
        ["subtract"],
    ),
    "half of it": (
        lambda x, y: 0.5 * np.sum(x * y - np.roll(x, 1, axis=0) * y),
        ["subtract", "multiply"],
    ),
    "rolled along two axes": (
        lambda x, y: np.sum(x * y - np.roll(np.roll(x, 1, axis=0), 1, axis=1) * y),
        ["subtract"],
    ),
    "neighbours": (
        lambda x, y: np.sum((x[1:] - x[:-1]) * y[1:]),
        ["embed", "embed", "subtract"],
    ),
    "columns and their negatives": (
        lambda x, y: np.sum(x[:, :2] * -y[:, 2:]) - np.sum(x[:, 2:] * y[:, :2]),
        ["negative"],
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_the_number_stands_outside(name: str) -> None:
    f, wanted = GRADIENTS[name]
    assert sorted(ops(gradient(f, x=X, y=Y))) == sorted(wanted)


def test_a_number_is_taken_out_of_a_sum_that_is_moved() -> None:
    def f(x: Any, y: Any) -> Any:
        p, q = x[1:, :-1] - x[:-1, :-1], x[:-1, 1:] - x[:-1, :-1]
        return np.sum(np.exp(p) + np.exp(q)) + 0 * np.sum(y)

    assert "negative" not in ops(gradient(f, x=X, y=Y))


def test_what_others_use_is_not_computed_twice() -> None:
    """The multiple is there: two parts of it cost nothing, two multiples of parts would."""
    graph = sg.trace(lambda x: np.exp(-x) + np.sin((-x)[::-1]) * np.cos((-x)[::-1]), x=X)
    small = graph.simplify()
    assert len(ops(small)) <= len(ops(graph))
    np.testing.assert_allclose(small.evaluate(x=X), graph.evaluate(x=X), rtol=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (-x)[1:] + x[1:],
        lambda x: (2 * x)[1:] - 2 * x[1:],
        lambda x: np.concatenate([-x[2:], -x[:2]]) + np.roll(x, -2),
        lambda x: np.pad(-x, 1) + np.pad(x, 1),
        lambda x: np.concatenate([-x, x]),
        lambda x: np.pad(1e300 * x, 1) * 1e-300,
    ],
)
def test_no_number_where_there_is_none(f: Callable[[Any], Any]) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0, -2.5, 1e300])
    graph = sg.trace(f, x=x)
    with np.errstate(all="ignore"):
        wanted, found = graph.evaluate(x=x), graph.simplify().evaluate(x=x)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    finite = np.isfinite(wanted)
    np.testing.assert_allclose(found[finite], wanted[finite], rtol=1e-12)


ONE_ELEMENT: dict[str, tuple[Callable[[Any], Any], int]] = {
    "exp": (lambda s: np.sum(np.exp(s[[0, 0]])), 18),
    "tanh": (lambda s: np.sum(np.tanh(s[[-1, 0, 0]])) + np.sum(s), 22),
    "softplus": (lambda s: np.sum(np.log1p(np.exp(s[[-1, 0, 0, 0]]))) + 0.6 * np.sum(s), 27),
}


@pytest.mark.parametrize("name", ONE_ELEMENT)
def test_what_is_computed_for_the_number_outside_alone_counts(name: str) -> None:
    """0.9 / r + s inside was 0.9 (1 / r + s / 0.9), as if the new sum were computed anyway."""
    other, most = ONE_ELEMENT[name]

    def loss(x: Any) -> Any:
        s = 0.9 * np.sin(x[:, 2])
        return np.sum(np.arcsin(s)) + other(s) + 3 * x[0, 2]

    graph = sg.trace(loss, x=(1, 3)).gradient("x").simplify()
    counts = [each.graph.op_count() for each in graph.history.graphs()]
    assert counts[-1] <= most
    assert counts[-1] == min(counts[counts.index(max(counts)) :])
    assert graph.simplify().dag.outputs == graph.dag.outputs
