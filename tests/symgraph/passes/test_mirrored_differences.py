"""Arrays that change sign with an exchange of two axes are their difference's half."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from passedgraphs import assert_same, operations

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.node import Node
from symgraph.passes.mirrored_differences import with_mirrored_differences

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SPECS = {
    "x": sg.spec((4, 3)),
    "m": sg.spec(4),
    "w": sg.spec((4, 4), assume=sg.symmetric),
    "v": sg.spec((4, 4)),
}
_RNG = np.random.default_rng(0)
_ANY = _RNG.normal(size=(4, 4))
AT = {
    "x": _RNG.normal(size=(4, 3)),
    "m": np.array([1.5, np.inf, -2.0, 0.25]),
    "w": _ANY + _ANY.T,
    "v": _ANY,
}

Function = Callable[[Any, Any, Any, Any], Any]


def doubled(
    graph: sg.Graph, loses: Callable[[Node, Node], bool] = lambda new, old: False
) -> list[Node]:
    """The outputs after the pass: valid, with nearly the same values, for good."""
    found = with_mirrored_differences(graph.dag.outputs, Knowledge(), loses)
    assert with_mirrored_differences(found, Knowledge(), loses) == found
    assert_same(found, graph, AT, rtol=1e-12, atol=1e-13)
    return found


def pairs(x: Any) -> Any:
    return x[:, None] - x


def turned(t: Any) -> Any:
    return np.swapaxes(t, 0, 1)


DOUBLED: list[tuple[Function, str]] = [
    (lambda x, m, w, v: (d := pairs(x)) - turned(d), "multiply subtract"),
    (lambda x, m, w, v: turned(d := pairs(x)) - d, "multiply subtract"),
    (lambda x, m, w, v: (d := np.square(pairs(x))) + turned(d), "multiply square subtract"),
    (lambda x, m, w, v: (d := np.sin(pairs(x))) - turned(d), "multiply sin subtract"),
    # Weights of pairs: of squares, of the data, and of two equal vectors.
    (
        lambda x, m, w, v: (
            (t := pairs(x) / np.sum(np.square(pairs(x)), -1, keepdims=True)) - turned(t)
        ),
        "divide multiply square subtract sum",
    ),
    (lambda x, m, w, v: (t := w[..., None] * pairs(x)) - turned(t), "multiply multiply subtract"),
    (
        lambda x, m, w, v: (
            (t := m[:, None, None] * (pairs(x) / (2 + m)[None, :, None] / (2 + m)[:, None, None]))
            * m[:, None]
            - turned(t * m[:, None])
        ),
        "add divide divide multiply multiply multiply subtract",
    ),
    (
        lambda x, m, w, v: (t := (m[:, None] + m)[..., None] * -pairs(x) * 3) - turned(t),
        "add multiply multiply multiply negative subtract",
    ),
]
"""Each with the operations that are left, in which the product with 2 counts."""

KEPT: list[Function] = [
    lambda x, m, w, v: (t := v[..., None] * pairs(x)) - turned(t),
    lambda x, m, w, v: (t := m[:, None, None] * pairs(x)) - turned(t),
    lambda x, m, w, v: (t := np.exp(pairs(x))) - turned(t),
    lambda x, m, w, v: (t := pairs(x) + 1) - turned(t),
    lambda x, m, w, v: (t := x[:, None] - x[::-1]) - turned(t),
    lambda x, m, w, v: (t := np.cumsum(pairs(x), axis=0)) - turned(t),
    lambda x, m, w, v: (t := np.where(m[:, None, None] > 0, pairs(x), 0)) - turned(t),
    # It is 0, and NaN where the array is.
    lambda x, m, w, v: (t := pairs(x)) + turned(t),
    # Three axes in a circle.
    lambda x, m, w, v: (t := pairs(m)[..., None] * m) - np.transpose(t, (1, 2, 0)),
]


@pytest.mark.parametrize(("f", "wanted"), DOUBLED)
def test_one_that_is_the_others_negative_goes(f: Function, wanted: str) -> None:
    assert operations(doubled(sg.trace(f, **SPECS))) == wanted.split()


@pytest.mark.parametrize("f", KEPT)
def test_others_stay(f: Function) -> None:
    graph = sg.trace(f, **SPECS)
    assert doubled(graph) == list(graph.dag.outputs)


def test_the_judge_is_asked() -> None:
    graph = sg.trace(DOUBLED[0][0], **SPECS)
    assert doubled(graph, lambda new, old: True) == list(graph.dag.outputs)


def test_extrema_of_negatives_are_others() -> None:
    """The largest of d and the largest of -d differ, though sums do not."""

    def f(x: Any, m: Any, w: Any, v: Any) -> Any:
        t = np.max(pairs(x), axis=-1)
        return t - t.T

    graph = sg.trace(f, **SPECS)
    assert doubled(graph) == list(graph.dag.outputs)


def test_long_sums_end_the_search() -> None:
    def f(x: Any, m: Any, w: Any, v: Any) -> Any:
        t = pairs(x)
        for _ in range(400):
            t = t + t * snp.sin(t)
        return t - turned(t)

    graph = sg.trace(f, **SPECS)
    assert with_mirrored_differences(
        graph.dag.outputs, Knowledge(), lambda new, old: False
    ) == list(graph.dag.outputs)


def test_forces_of_pairs_are_computed_once() -> None:
    """Multidimensional scaling: the force on a point is a sum over the others."""

    def stress(x: Any, w: Any) -> Any:
        return np.sum((np.sqrt(np.sum(pairs(x) ** 2, axis=-1) + 1) - w) ** 2)

    graph = sg.trace(stress, x=SPECS["x"], w=SPECS["w"])
    small = graph.gradient("x", value=False).simplify()
    d = AT["x"][:, None] - AT["x"]
    r = np.sqrt(np.sum(d**2, axis=-1) + 1)
    wanted = 4 * np.sum(((r - AT["w"]) / r)[..., None] * d, axis=1)
    np.testing.assert_allclose(small.evaluate(x=AT["x"], w=AT["w"]), wanted, rtol=1e-12)
    assert small.op_count() <= 9
    assert not any(node.op.name == "transpose" for node in small.dag.nodes)


def test_constants_are_compared_by_all_of_their_numbers() -> None:
    """A shift and its opposite: cells beside one another, of which each is the other's mirror."""
    right, left = np.array([1.0, 0.0, 2.0]), np.array([-1.0, 0.0, -2.0])

    def difference(other: Any) -> sg.Graph:
        def f(x: Any, m: Any, w: Any, v: Any) -> Any:
            d = np.exp(pairs(x) + right) * np.exp(pairs(x) + other)
            return d - turned(d)

        return sg.trace(f, **SPECS)

    for other in (left, 2 * right):
        assert "multiply" in operations(doubled(difference(other)))


def test_axes_summed_within_one_another_are_told_apart() -> None:
    """The sum over k of a function of the sum over l changes when k and l change places."""

    def f(x: Any, m: Any, w: Any, v: Any) -> Any:
        z = x[:, :, None] * x[:, None, :] + np.arange(3.0)
        one = np.sum(np.exp(np.sum(z, axis=2)), axis=1)
        other = np.sum(np.exp(np.sum(np.swapaxes(z, 1, 2), axis=2)), axis=1)
        d = one[:, None] - other[None, :]
        return d - turned(d)

    graph = sg.trace(f, **SPECS)
    assert doubled(graph) == list(graph.dag.outputs)
