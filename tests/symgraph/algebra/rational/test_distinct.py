"""Values that are known to differ, so that what is divided by their difference cancels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.algebra.rational.distinct import order
from symgraph.ir.fact_inference import Knowledge

SPECS = {
    "t": sg.spec("5"),
    "a": sg.spec("5", assume=sg.interval(-2, -1)),
    "b": sg.spec("5", assume=sg.interval(1, 2)),
    "c": sg.spec("5", assume=sg.interval(1.5, 3)),
    "k": sg.spec("", assume=sg.interval(1, 2)),
    "s": sg.spec("5", assume=sg.positive),
    "n": sg.spec("5", assume=sg.negative),
}

Pair = Callable[..., tuple[Any, Any]]

DISTINCT: dict[str, Pair] = {
    "bounds": lambda t, a, b, c, k, s, n: (a, b),
    "sigmoids of shifts": lambda t, a, b, c, k, s, n: (snp.sigmoid(t - a), snp.sigmoid(t - b)),
    "turned round": lambda t, a, b, c, k, s, n: (snp.sigmoid(a - t), snp.sigmoid(b - t)),
    "tanh": lambda t, a, b, c, k, s, n: (np.tanh(t + a + c), np.tanh(t + c + 1)),
    "exp of a function": lambda t, a, b, c, k, s, n: (
        np.exp(np.sin(t) - k), np.exp(np.sin(t) + b),
    ),
    "function of a function": lambda t, a, b, c, k, s, n: (
        np.exp(snp.sigmoid(t - a)), np.exp(snp.sigmoid(t - b)),
    ),
    "a number": lambda t, a, b, c, k, s, n: (snp.softplus(t), snp.softplus(t + 1)),
    "a positive number": lambda t, a, b, c, k, s, n: (np.exp(t - s), np.exp(t)),
    "positive numbers": lambda t, a, b, c, k, s, n: (snp.sigmoid(t + s), snp.sigmoid(t - s)),
    "over a positive number": lambda t, a, b, c, k, s, n: ((t - a) / s, (t - b) / s),
    "times a negative number": lambda t, a, b, c, k, s, n: (
        np.tanh((t - a) * n), np.tanh(n * (t - b)),
    ),
    "turned round over a number": lambda t, a, b, c, k, s, n: (-((a - t) / s), (t - b) / s),
}  # fmt: skip

PERHAPS_EQUAL: dict[str, Pair] = {
    "bounds that overlap": lambda t, a, b, c, k, s, n: (snp.sigmoid(t - b), snp.sigmoid(t - c)),
    "bounds that touch": lambda t, a, b, c, k, s, n: (np.exp(t + a + 2), np.exp(t + b - 1)),
    "the same": lambda t, a, b, c, k, s, n: (np.exp(t), np.exp(t)),
    "a function that rises and falls": lambda t, a, b, c, k, s, n: (np.sin(t - a), np.sin(t - b)),
    "another function": lambda t, a, b, c, k, s, n: (np.exp(t - a), snp.sigmoid(t - b)),
    "signs of both kinds": lambda t, a, b, c, k, s, n: (np.exp(t + s), np.exp(t - n - s)),
    "over another number": lambda t, a, b, c, k, s, n: ((t - a) / s, (t - b) / k),
    "a divisor of any sign": lambda t, a, b, c, k, s, n: ((c - a) / t, (c - b) / t),
    "below the line": lambda t, a, b, c, k, s, n: (s / b, s / (b + 1)),
    "terms of another multiple": lambda t, a, b, c, k, s, n: (np.exp(t + t - a), np.exp(t - b)),
}


def told(pair: Pair) -> bool:
    """Whether the larger one is known; it is the same one in numbers."""
    graph = sg.trace(lambda **at: pair(**at), **SPECS)
    (x, y), knowledge = graph.dag.outputs, Knowledge()
    found = order(x, y, knowledge)
    assert order(y, x, knowledge) == -found
    ends = {"a": (-2, -1), "b": (1, 2), "c": (1.5, 3), "k": (1, 2), "s": (0.5, 2), "n": (-2, -0.5)}
    rng = np.random.default_rng(0)
    at = {name: rng.uniform(*ends.get(name, (-2, 2)), 5) for name in SPECS}
    at["k"] = np.array(1.5)
    more, less = graph.evaluate(**at)
    assert found in (0, *np.unique(np.sign(more - less)))
    return bool(found)


@pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")
@pytest.mark.parametrize("case", DISTINCT)
def test_values_that_differ(case: str) -> None:
    assert told(DISTINCT[case])


@pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")
@pytest.mark.parametrize("case", PERHAPS_EQUAL)
def test_values_that_may_be_equal(case: str) -> None:
    assert not told(PERHAPS_EQUAL[case])


@pytest.mark.parametrize("apart", [True, False])
def test_a_difference_of_sigmoids_cancels_where_it_is_not_0(*, apart: bool) -> None:
    def slope(t: Any, a: Any, b: Any) -> Any:
        p, q = snp.sigmoid(t - a), snp.sigmoid(t - b)
        return (p * (1 - p) - q * (1 - q)) / (p - q)

    ends = [sg.interval(-2, -1), sg.interval(1, 2)] if apart else [sg.finite, sg.finite]
    specs = {name: sg.spec("3", assume=fact) for name, fact in zip("ab", ends, strict=True)}
    graph = sg.trace(slope, t="", **specs)
    small = graph.simplify()
    assert any(node.op.name == "divide" for node in small.nodes) is not apart
    a, b = np.array([-1.0, -1.5, -2.0]), np.array([1.0, 2.0, 1.5])
    for t in (-3.0, 0.0, 2.0):
        at: dict[str, Any] = {"t": t, "a": a, "b": b}
        np.testing.assert_allclose(small.evaluate(**at), graph.evaluate(**at), rtol=1e-12)
