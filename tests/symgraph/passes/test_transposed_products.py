"""Matrices are turned where fewer transposes are read by something else than a product."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.cost import op_count
from symgraph.ir.interpreter import evaluate
from symgraph.ir.node import Node
from symgraph.ir.walks import reachable
from symgraph.ops.matmul import MATMUL
from symgraph.ops.movement import TRANSPOSE
from symgraph.passes.transposed_products import with_matrices_turned
from symgraph.scipy.special import softmax

SHAPES: dict[str, Any] = {"a": (3, 4), "b": (4, 5), "c": (5, 3), "d": (3,)}
RNG = np.random.default_rng(0)
VALUES = {name: RNG.normal(size=shape) for name, shape in SHAPES.items()}
SAVED = {
    "results": lambda a, b, c, d: snp.tanh(b.T @ a.T).T,
    "operands": lambda a, b, c, d: ((c @ a).T * snp.exp(a.T @ (a @ b))) @ c,
    "softmaxes": lambda a, b, c, d: (softmax(b.T @ a.T, axis=0).T * (a @ b)) @ c,
    "rows of vectors": lambda a, b, c, d: (b.T @ a.T + d).T * (a @ b),
    "sums": lambda a, b, c, d: (
        (b.T @ a.T) / snp.sum(b.T @ a.T, axis=0, keepdims=True)
    ).T * (a @ b),
    "stacks": lambda a, b, c, d: snp.exp(snp.stack([b, b]).swapaxes(-1, -2) @ a.T).swapaxes(-1, -2),
    "both sides": lambda a, b, c, d: ((a @ b - (b.T @ a.T).T) * (c @ (a @ b)).sum()).T @ a,
}  # fmt: skip
LEFT = {
    "inputs": lambda a, b, c, d: c.T + a @ b,
    "other operations": lambda a, b, c, d: snp.cumsum(b.T @ a.T, axis=0).T * (a @ b),
    "results that are there": lambda a, b, c, d: (b.T @ a.T, (b.T @ a.T).T * (a @ b)),
    "a transposed result": lambda a, b, c, d: (a @ b).T,
    "products alone": lambda a, b, c, d: (b.T @ a.T) @ (a @ b),
}  # fmt: skip


def traced(function: Any) -> Any:
    def using_all(**given: Any) -> Any:
        found = function(**given)
        parts = found if isinstance(found, tuple) else (found,)
        return (*parts, *[each * 2 for each in given.values()])

    return sg.trace(using_all, **{name: sg.spec(shape) for name, shape in SHAPES.items()})


def read_across(outputs: Any) -> int:
    """How often a transposed matrix is a result, or read by something else than a product."""
    nodes = reachable(outputs)
    read = [each for node in nodes if node.op is not MATMUL for each in node.operands]
    return sum(each.op is TRANSPOSE and 1 not in each.shape for each in [*read, *outputs])


def assert_equal(graph: Any, new: list[Node]) -> None:
    for one, two in zip(
        evaluate(graph.dag, VALUES), evaluate(graph.dag.with_outputs(new), VALUES), strict=True
    ):
        assert np.shape(one) == np.shape(two)
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SAVED)
def test_transposes_are_saved(name: str) -> None:
    graph = traced(SAVED[name])
    new = with_matrices_turned(graph.dag.outputs)
    assert read_across(new) < read_across(graph.dag.outputs)
    assert op_count(new) <= op_count(graph.dag.outputs)
    assert_equal(graph, new)


@pytest.mark.parametrize("name", LEFT)
def test_transposes_are_left(name: str) -> None:
    outputs = list(traced(LEFT[name]).dag.outputs)
    assert with_matrices_turned(outputs) == outputs


def test_a_kept_value_is_not_turned() -> None:
    graph = sg.trace(
        lambda a, b, c: sg.name(b.T @ a.T, "q").T * c.T,
        a=sg.spec((3, 4)), b=sg.spec((4, 5)), c=sg.spec((5, 3)),
    )  # fmt: skip
    for shape, found in (((5, 3), graph.simplify(keep="q")), ((3, 5), graph.simplify())):
        assert [each.shape for each in found.nodes if each.op is MATMUL] == [shape]


def grown(rng: np.random.Generator) -> Any:
    """A random program of products, transposes, sums and arithmetic on matrices."""
    choices = rng.integers(0, 8, 12), rng.integers(0, 10**6, (12, 2)), rng.integers(0, 2, 12)

    def program(a: Any, b: Any, c: Any, d: Any) -> Any:
        pool = [a, b, c, a.T, b.T, c.T, d[:, None], d, a @ b, b.T @ a.T]
        for kind, places, axis in zip(*choices, strict=True):
            x, y = [pool[place % len(pool)] for place in places]
            matrices = x.ndim == 2 == y.ndim
            if kind <= 1 and matrices and x.shape[1] == y.shape[0]:
                pool.append(x @ y)
            elif kind == 2 and x.ndim == 2:
                pool.append(x.T)
            elif kind == 3 and x.ndim == 2:
                pool.append(softmax(x, axis=int(axis)))
            elif kind == 4 and x.ndim == 2:
                pool.append(snp.sum(x, axis=int(axis), keepdims=True))
            elif kind == 5:
                pool.append(snp.tanh(x))
            elif all(m == n or 1 in (m, n) for m, n in zip(x.shape[::-1], y.shape[::-1])):  # noqa: B905
                pool.append(x * y if kind == 6 else x - y)
        return tuple(pool[-3:])

    return program


@pytest.mark.parametrize(
    "seeds", [range(90), pytest.param(range(90, 300), marks=pytest.mark.whole)], ids=str
)
def test_random_programs_keep_their_values(seeds: range) -> None:
    turned = 0
    for seed in seeds:
        graph = traced(grown(np.random.default_rng(seed)))
        outputs = list(graph.dag.outputs)
        new = with_matrices_turned(outputs)
        assert_equal(graph, new)
        assert read_across(new) <= read_across(outputs)
        assert op_count(new) <= op_count(outputs)
        turned += new != outputs
    assert turned > len(seeds) / 15


def test_the_product_of_a_hessian_is_written_as_in_the_book() -> None:
    def network(X: Any, W: Any, V: Any) -> Any:
        return snp.sum((snp.tanh(X @ W) @ V) ** 2)

    given = {"X": sg.spec((6, 5)), "W": sg.spec((5, 4)), "V": sg.spec((4, 3))}
    along = [np.ones((5, 4)), np.ones((4, 3))]
    graph = sg.trace(network, **given).hvp(["W", "V"], along, value=False).simplify()
    assert read_across(graph.dag.outputs) == 0
