"""Random expressions: what is finite as derived is finite simplified, and as right.

Where the two differ, numbers of 30,000 binary digits judge between them. A value may be as wrong as
the derived graph is when each of its steps is rounded a little differently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from randomgraphs.expressions import KINDS

import symgraph as sg
from symgraph.ir.interpreter import run
from symgraph.ir.node import Node
from symgraph.verification.high_precision import precise_values
from symgraph.verification.real_functions import TooLarge

BITS = 30_000
SHORT = range(40)
LONG = [range(start, start + 250) for start in range(1000, 6000, 250)]


def flat(values: Any) -> np.ndarray[Any, Any]:
    return np.concatenate([np.ravel(each) for each in (values[0], *values[1])]).astype(float)


def exact(graph: sg.Graph, at: dict[str, Any]) -> np.ndarray[Any, Any]:
    """The values without rounding."""
    given = {graph.dag.inputs[name]: value for name, value in at.items()}
    with np.errstate(all="ignore"):
        found = precise_values(graph.dag.outputs, given, {}, BITS)
        return np.concatenate([np.ravel(each) for each in found]).astype(float)


def shaken(graph: sg.Graph, at: dict[str, Any], rng: np.random.Generator) -> dict[Node, Any]:
    """The value of each node, where each step is wrong by up to an ulp."""
    values: dict[Node, Any] = {}
    with np.errstate(all="ignore"):
        for node in graph.dag.nodes:
            if node.is_input:
                values[node] = at[node.params["name"]]
                continue
            found = run(node, [values[each] for each in node.operands], {})
            by = 1 if node.is_constant else 1 + 2e-16 * rng.uniform(-1, 1, np.shape(found))
            values[node] = found * by if node.dtype.kind == "f" else found
    return values


def noise(graph: sg.Graph, at: dict[str, Any], truth: Any) -> Any:
    """How far the values of the derived graph are from the truth when it is shaken; inf for NaN."""
    rng = np.random.default_rng(0)
    runs = [shaken(graph, at, rng) for _ in range(5)]
    value, *slopes = graph.dag.outputs
    found = [flat([run[value], [run[each] for each in slopes]]) for run in runs]
    off = np.max(np.abs(np.array(found) - truth), axis=0)
    return np.where(np.isnan(off), np.inf, off)


def nears_overflow(graph: sg.Graph, at: dict[str, Any]) -> bool:
    """Whether a value on the way is such that factors in another order may overflow."""
    values = shaken(graph, at, np.random.default_rng(0)).values()
    sizes = np.concatenate([np.ravel(np.abs(each)) for each in values])
    return bool(np.any((sizes > 1e290) & np.isfinite(sizes)))


@np.errstate(all="ignore")
def check(kind: str, seed: int) -> None:
    graph = KINDS[kind].graph(seed)
    simple = graph.simplify()
    for at in KINDS[kind].inputs(graph, seed):
        written, found = flat(graph.evaluate(**at)), flat(simple.evaluate(**at))
        finite = np.isfinite(written)
        size = max(1.0, float(np.max(np.abs(written[finite]), initial=0)))
        if np.all((np.abs(found - written) <= 1e-9 * size)[finite]):
            continue
        try:
            truth = exact(graph, at)
        except TooLarge:  # the exp of an exp: nothing judges
            continue
        right = np.abs(written - truth) <= 1e-9 * size
        if not np.all(np.isfinite(found[right])):
            assert nears_overflow(graph, at), (kind, seed, at, simple)
            continue
        allowed = 1e-9 * size + 100 * noise(graph, at, truth)
        wrong = np.abs(found - truth)
        assert np.all((wrong <= allowed)[right]), (kind, seed, at, simple)


@pytest.mark.sampled(one_in=24)
@pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")
@pytest.mark.parametrize("seed", SHORT)
@pytest.mark.parametrize("kind", KINDS)
def test_random_expressions(kind: str, seed: int) -> None:
    check(kind, seed)


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")
@pytest.mark.parametrize("seeds", LONG, ids=lambda seeds: f"{seeds.start}")
@pytest.mark.parametrize("kind", KINDS)
def test_random_expressions_at_length(kind: str, seeds: range) -> None:
    for seed in seeds:
        check(kind, seed)


QUOTIENTS: dict[str, Callable[..., Any]] = {
    "exp over its square": lambda x, p: np.exp(x) / (p + np.exp(x) ** 2),
    "of exps of a multiple": lambda x, p: np.exp(-x / 2) / (p + np.exp(-x)),
    "cosh over its square": lambda x, p: p + np.cosh(x) / (1 + np.cosh(x) ** 2),
    "sinh over its square": lambda x, p: np.sinh(x) / (p + np.sinh(x) ** 2),
    "normalised exps": lambda x, p: p * np.exp(x) / np.sqrt(np.sum(np.exp(x) ** 2) + 1e-5),
    "a log in front": lambda x, p: np.log(p) / (1 + np.cosh(x) ** 2) * np.cosh(x),
}


@pytest.mark.sampled(one_in=16)
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.whole)])
@pytest.mark.parametrize("name", QUOTIENTS)
def test_no_derivative_stands_over_the_square_of_what_overflows(name: str, dtype: str) -> None:
    """Over the square it would be NaN from a third of the x on where it is now."""
    f = QUOTIENTS[name]
    p = sg.spec((5,), dtype, assume=sg.positive)
    graph = sg.trace(lambda x, p: np.sum(f(x, p)), x=sg.spec((5,), dtype), p=p)
    slopes = graph.gradient("x", value=False).simplify()
    last = np.log(np.finfo(dtype).max) - 3  # where exp and cosh are finite yet
    at: dict[str, Any] = {
        "x": np.array([0.3, 0.2, 0.4, 0.6, 1]) * last,
        "p": np.array([1.5, 2, 3, 4, 5]),
    }
    found = slopes.evaluate(**{name: value.astype(dtype) for name, value in at.items()})
    truth = exact(graph.gradient("x", value=False), at)
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-6)
