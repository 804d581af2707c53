"""Costs against formulas counted by hand (design: elementwise 1, transcendental 10, 2mnk, ...)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sympy import Rational, Symbol

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.cost import node_bytes, node_flops

N = Symbol("n", integer=True, nonnegative=True)
M = Symbol("m", integer=True, nonnegative=True)


def traced(f: Any, **shapes: Any) -> sg.Graph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sg.UnusedInputWarning)
        return sg.trace(f, **{name: sg.spec(shape) for name, shape in shapes.items()})


HAND = [
    (lambda x, y: x * y, "n, m", "n, m", N * M, 24 * N * M),
    (lambda x, y: np.exp(x) + y, "n", "n", 11 * N, 16 * N + 24 * N),
    (lambda x, y: np.sum(x) * y, "n, m", "", N * M + 1, 8 * N * M + 8 + 24),
    (lambda x, y: x @ y, "n, m", "m, 3", 6 * N * M, 8 * (N * M + 3 * M + 3 * N)),
    (lambda x, y: x.T @ y, "n, m", "n", 2 * N * M, 8 * (N * M + N + M)),
    (lambda x, y: np.linalg.inv(x) + y, "n, n", "n, n", 2 * N**3 + N**2, 40 * N**2),
    (
        lambda x, y: np.linalg.solve(x, y),
        "n, n",
        "n, m",
        Rational(2, 3) * N**3 + 2 * N**2 * M,
        8 * (N**2 + 2 * N * M),
    ),
    (lambda x, y: np.linalg.cholesky(x), "n, n", "n", Rational(1, 3) * N**3, 16 * N**2),
    # A broadcast operand is read in the size it has in memory; the same operand twice, once.
    (lambda x, y: np.broadcast_to(y, x.shape) * x, "n, m", "m", N * M, 16 * N * M + 8 * M),
    (lambda x, y: x * x, "n", "n", N, 16 * N),
]


@pytest.mark.parametrize(("f", "x", "y", "flops", "moved"), HAND)
def test_formulas_counted_by_hand(f: Any, x: str, y: str, flops: Any, moved: Any) -> None:
    graph = traced(f, x=x, y=y)
    assert (graph.flops() - flops).expand() == 0
    assert (graph.bytes_moved() - moved).expand() == 0
    sizes = {str(name): size for name, size in ((N, 6), (M, 5)) if name in moved.free_symbols}
    assert graph.flops(**sizes) == int(flops.subs({N: 6, M: 5}))
    assert graph.bytes_moved(**sizes) == int(moved.subs({N: 6, M: 5}))


def regression() -> sg.Graph:
    def loss(X: Any, y: Any, w: Any) -> Any:
        return np.sum((X @ w - y) ** 2) / 2

    return traced(loss, X="n, 7", y="n", w="7").gradient("w", value=False).simplify()


def test_the_least_squares_gradient_costs_two_products_and_a_difference() -> None:
    graph = regression()
    assert graph.op_count() == 3
    assert graph.flops() == 2 * 7 * N + N + 2 * 7 * N
    assert graph.flops(n=100) == 2900


def test_parts_add_up_to_the_whole() -> None:
    graph = traced(
        lambda x, y: snp.logsumexp(x @ y) + np.sum(np.tanh(y) * 2), x="n, m", y="m"
    ).gradient("y")
    for cost in (graph.cost(), graph.cost(n=9, m=4), graph.cost(m=4)):
        shares = list(cost.by_node.values())
        assert sum(each.operations for each in shares) == cost.operations == graph.op_count()
        assert sum(each.flops for each in shares) - cost.flops == 0
        assert sum(each.bytes for each in cost.by_op.values()) - cost.bytes == 0
    assert isinstance(graph.cost(n=9, m=4).flops, int)
    assert graph.cost(m=4).flops.free_symbols == {N}
    assert graph.cost(n=9, m=4).flops == graph.flops(n=9, m=4)


def test_a_cost_prints_as_a_table() -> None:
    cost = regression().cost(n=100)
    lines = str(cost).splitlines()
    assert lines[0].split() == ["operation", "nodes", "operations", "flops", "bytes"]
    assert [line.split()[0] for line in lines[1:]] == ["matmul", "subtract", "total"]
    assert lines[-1].split()[2:4] == ["3", "2900"]
    assert repr(cost) == str(cost)
    assert cost.intensity == 2900 / cost.bytes


def test_views_and_constants_are_free() -> None:
    graph = traced(lambda x: x.T.reshape(-1)[1:] * (np.ones(3) * 2).sum(), x=(3, 4))
    assert graph.op_count() == 1
    assert graph.flops() == 11
    assert graph.bytes_moved() == 11 * 8 * 2 + 8
    node = next(each for each in graph.nodes if each.op.name == "transpose")
    assert node_flops(node) == node_bytes(node) == 0


def test_sizes_that_cannot_be_are_refused() -> None:
    graph = traced(lambda x, unused: x * 2, x="n", unused="k")
    assert graph.flops(n=3, k=5) == 3
    with pytest.raises(sg.InputError, match=r"No dimension is named 'z'.*\n.*n, k|n"):
        graph.flops(z=3)
    with pytest.raises(sg.InputError, match="negative"):
        graph.cost(n=-1)
