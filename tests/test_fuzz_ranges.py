"""Random expressions of exps far out: what is finite as derived is finite simplified, and as right.

Where the two differ, numbers of 30,000 binary digits judge between them. A value may be as wrong as
the derived graph is when each of its steps is rounded a little differently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.evaluate import run
from symgraph.nodes import Node
from symgraph.rewriting.precise import precise_values

SCALES = (1.0, 30.0, 1000.0)
SIZE = 4
BITS = 30_000
SHORT = range(60)
LONG = [range(start, start + 250) for start in range(1000, 9000, 250)]

ONE: list[Callable[[Any], Any]] = [
    np.exp,
    lambda t: np.exp(-t),
    lambda t: np.log(1 + np.exp(t)),
    snp.sigmoid,
    np.tanh,
    np.cosh,
    lambda t: np.sqrt(1 + t**2),
    np.log1p,
    lambda t: np.log(t * t + 1),
    lambda t: 1 / (1 + np.exp(-t)),
    lambda t: t**2,
    lambda t: -t,
    np.abs,
    snp.softmax,
    lambda t: np.exp(t) / np.sum(np.exp(t)),
    lambda t: np.log(np.sum(np.exp(t))) + 0 * t,
    lambda t: np.sum(t) * t,
    lambda t: np.maximum(t, 0),
    lambda t: np.where(t > 0, t, np.exp(t) - 1),
    np.arctan,
    np.sinh,
]
TWO: list[Callable[[Any, Any, Any], Any]] = [
    lambda a, b, p: a * b,
    lambda a, b, p: a / (1 + b**2),
    lambda a, b, p: a / p,
    lambda a, b, p: a - b,
    lambda a, b, p: a + b,
]


def expression(rng: np.random.Generator, x: Any, y: Any, p: Any) -> Any:
    """A sum over values made of one another."""
    pool = [x, y, p, x - y, 2.0 * x, -y, np.log(p)]

    def pick(options: list[Any]) -> Any:
        return options[rng.integers(len(options))]

    for _ in range(rng.integers(2, 6)):
        if rng.random() < 0.5:
            pool.append(pick(ONE)(pick(pool)))
        else:
            pool.append(pick(TWO)(pick(pool), pick(pool), p))
    return np.sum(pool[-1] + pool[-2] * pick(pool))


def graph_of(seed: int) -> sg.Graph:
    """The expression of a seed with its gradient, as derived."""
    positive = sg.spec((SIZE,), assume=sg.positive)
    f = lambda x, y, p: expression(np.random.default_rng(seed), x, y, p)  # noqa: E731
    return sg.trace(f, x=sg.spec((SIZE,)), y=sg.spec((SIZE,)), p=positive).gradient("x", "y")


def inputs(seed: int) -> Iterator[dict[str, np.ndarray[Any, Any]]]:
    rng = np.random.default_rng(seed + 7)
    for scale in SCALES:
        x, y = scale * rng.standard_normal((2, SIZE))
        size = scale if rng.random() < 0.5 else 1 / scale
        yield {"x": x, "y": y, "p": (0.1 + rng.random(SIZE)) * size}


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
    """How far the values of the derived graph are from the truth when it is shaken."""
    rng = np.random.default_rng(0)
    runs = [shaken(graph, at, rng) for _ in range(5)]
    found = [
        flat([run[graph.dag.outputs[0]], [run[each] for each in graph.dag.outputs[1:]]])
        for run in runs
    ]
    with np.errstate(all="ignore"):
        return np.max(np.abs(np.array(found) - truth), axis=0)


def nears_overflow(graph: sg.Graph, at: dict[str, Any]) -> bool:
    """Whether a value on the way is such that factors in another order may overflow."""
    values = shaken(graph, at, np.random.default_rng(0)).values()
    sizes = np.concatenate([np.ravel(np.abs(each)) for each in values])
    return bool(np.any((sizes > 1e290) & np.isfinite(sizes)))


def check(seed: int) -> None:
    graph = graph_of(seed)
    simple = graph.simplify()
    for at in inputs(seed):
        with np.errstate(all="ignore"):
            written, found = flat(graph.evaluate(**at)), flat(simple.evaluate(**at))
        finite = np.isfinite(written)
        size = max(1.0, float(np.max(np.abs(written[finite]), initial=0)))
        with np.errstate(all="ignore"):
            if np.all((np.abs(found - written) <= 1e-9 * size)[finite]):
                continue
            truth = exact(graph, at)
            right = np.abs(written - truth) <= 1e-9 * size
        if not np.all(np.isfinite(found[right])):
            assert nears_overflow(graph, at), (seed, at, simple)
            continue
        allowed = 1e-9 * size + 100 * noise(graph, at, truth)
        wrong = np.abs(found[right] - truth[right])
        assert np.all(wrong <= allowed[right]), (seed, at, simple)


@pytest.mark.filterwarnings("ignore::symgraph.tracing.UnusedInputWarning")
@pytest.mark.parametrize("seed", SHORT)
def test_random_expressions_far_out(seed: int) -> None:
    check(seed)


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore::symgraph.tracing.UnusedInputWarning")
@pytest.mark.parametrize("seeds", LONG, ids=lambda seeds: f"{seeds.start}")
def test_random_expressions_far_out_at_length(seeds: range) -> None:
    for seed in seeds:
        check(seed)


QUOTIENTS: dict[str, Callable[..., Any]] = {
    "exp over its square": lambda x, p: np.exp(x) / (p + np.exp(x) ** 2),
    "of exps of a multiple": lambda x, p: np.exp(-x / 2) / (p + np.exp(-x)),
    "cosh over its square": lambda x, p: p + np.cosh(x) / (1 + np.cosh(x) ** 2),
    "sinh over its square": lambda x, p: np.sinh(x) / (p + np.sinh(x) ** 2),
    "a log in front": lambda x, p: np.log(p) / (1 + np.cosh(x) ** 2) * np.cosh(x),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", QUOTIENTS)
def test_no_derivative_stands_over_the_square_of_what_overflows(name: str, dtype: str) -> None:
    """Over the square it would be NaN from half or a quarter of the x on where it is now."""
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
