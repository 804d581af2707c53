"""Rows of the mission that are about derivatives, each from the public API and named.

GBC is chapter 6.5 of *Deep Learning* (Goodfellow, Bengio and Courville), FCV chapter 14 of
*Foundations of Computer Vision* (Torralba, Isola and Freeman), AM the note on back-propagation by
Arora and Ma, CN a short course note on graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.linalg
from randomgraphs import random_function
from sklearn.datasets import load_diabetes

import symgraph as sg
from symgraph import numpy as snp
from symgraph.ir.origins import origins

RNG = np.random.default_rng(0)


# -- M07: scalar algorithms ------------------------------------------------------------------------
def doubling(depth: int) -> sg.Graph:
    """y = y · y + sin y again and again: 2^depth paths over few edges."""

    def f(x: Any) -> Any:
        for _ in range(depth):
            x = 0.1 * x * x + np.sin(x)
        return x

    return sg.trace(f, x=())


def test_m07_the_grad_table_is_the_gradient() -> None:
    """M07: GBC algorithms 6.1 and 6.2 on numbers agree with the symbolic gradient."""

    def f(x: Any, y: Any) -> Any:
        return np.exp(x * y) / (1 + x**2) + np.log(y) * x

    graph = sg.trace(f, x=(), y=())
    tables = graph.scalar_derivatives(x=0.7, y=1.9)
    table = tables.grad_table()
    value, (dx, dy) = graph.gradient("x", "y").evaluate(x=0.7, y=1.9)
    assert tables.values[graph.outputs["out"].node] == value
    np.testing.assert_allclose(table[graph.inputs["x"].node], dx, rtol=1e-14)
    np.testing.assert_allclose(table[graph.inputs["y"].node], dy, rtol=1e-14)
    for node, derivative in tables.naive_table().items():
        np.testing.assert_allclose(derivative, table[node], rtol=1e-12, atol=1e-15)


def test_m07_cost_is_the_number_of_edges_where_the_naive_way_takes_ve() -> None:
    """M07: edges visited, counted; the naive algorithm of AM visits all of them for each node."""
    for depth in (5, 10, 20, 40):
        graph = doubling(depth)
        edges = sum(len(node.operands) for node in graph.nodes)
        tables = graph.scalar_derivatives(x=0.3)
        table = tables.grad_table()
        assert tables.edges == edges
        naive = tables.naive_table()
        assert tables.edges == edges * len(graph)
        assert all(np.isclose(naive[node], table[node], rtol=1e-10) for node in graph.nodes)


# -- M08: symbol to symbol -------------------------------------------------------------------------
def test_m08_the_gradient_is_appended_to_the_same_dag() -> None:
    """M08: GBC algorithms 6.5 and 6.6: ancestors of the output and descendants of the targets."""

    def f(x: Any, y: Any) -> Any:
        beside = np.exp(np.sin(y))
        return np.sum(np.tanh(x) * beside)

    graph = sg.trace(f, x=(3,), y=(3,))
    joint = graph.gradient("x")
    assert set(graph.nodes) <= set(joint.nodes)
    x, out = joint.inputs["x"].node, joint.outputs["out"].node
    between = (nx.descendants(joint.nx, x) | {x}) & (nx.ancestors(joint.nx, out) | {out})
    new = set(joint.nodes) - set(graph.nodes)
    known = origins(joint.nodes)
    owners = {known[node].adjoint_of for node in new} - {None}
    assert owners <= between
    assert new
    assert not {"cos"} & {node.op.name for node in new}
    both = graph.gradient("x", "y")
    assert "cos" in {node.op.name for node in both.nodes}


def test_m08_depth_is_bounded_by_memory_only() -> None:
    """M08: iterative, forward and reverse, to any order: a chain of 3,000 nodes."""
    graph = sg.trace(lambda x: chained(x, 3_000), x=())
    for joint in (graph.gradient("x"), graph.jvp({"x": 1.0}), graph.hvp("x", 1.0)):
        assert len(joint) > len(graph)
    slope = graph.gradient("x", value=False).evaluate(x=0.5)
    np.testing.assert_allclose(graph.jvp({"x": 1.0}, value=False).evaluate(x=0.5), slope)


def chained(x: Any, length: int) -> Any:
    for _ in range(length // 2):
        x = np.sin(x + 0.25)
    return x


# -- M12: minibatches ------------------------------------------------------------------------------
def test_m12_the_minibatch_gradient_is_the_mean_of_the_gradients_of_examples() -> None:
    """M12: FCV 14.11; the gradients of all examples come at once as a diagonal Jacobian."""
    features, targets = load_diabetes(return_X_y=True)
    x, y = features[:32], targets[:32] / 100
    weights = {"w": RNG.normal(size=(10, 5)), "v": RNG.normal(size=5)}

    def losses(w: Any, v: Any, x: Any, y: Any) -> Any:
        return (np.tanh(x @ w) @ v - y) ** 2

    def loss(w: Any, v: Any, x: Any, y: Any) -> Any:
        return np.mean(losses(w, v, x, y))

    of_batch = sg.grad(loss, wrt=("w", "v"))(**weights, x=x, y=y)
    of_one = sg.grad(loss, wrt=("w", "v"))
    singly = [of_one(**weights, x=x[i : i + 1], y=y[i : i + 1]) for i in range(len(x))]
    for k in range(2):
        np.testing.assert_allclose(
            of_batch[k], np.mean([each[k] for each in singly], axis=0), rtol=1e-12, atol=1e-13
        )
    together = sg.jacobian(losses, wrt="v")(**weights, x=x, y=y)
    np.testing.assert_allclose(together, np.stack([each[1] for each in singly]), rtol=1e-12)


# -- M14: Jacobians and products -------------------------------------------------------------------
def test_m14_jacobian_of_a_tensor_valued_output() -> None:
    """M14: shape (*output, *input), in either mode the same."""
    graph = sg.trace(lambda x, a: np.einsum("ij,jkl->ikl", x, a) ** 2, x=(2, 3), a=(3, 4, 2))
    at = {name: RNG.normal(size=each.shape) for name, each in graph.inputs.items()}
    found = [
        graph.jacobian("x", value=False, mode=mode).simplify().evaluate(**at)
        for mode in ("reverse", "forward", None)
    ]
    assert found[0].shape == (2, 4, 2, 2, 3)
    product = np.einsum("ij,jkl->ikl", at["x"], at["a"])
    wanted = np.einsum("ikl,im,jkl->iklmj", 2 * product, np.eye(2), at["a"])
    for each in found:
        np.testing.assert_allclose(each, wanted, rtol=1e-12, atol=1e-13)


def test_m14_products_are_multiplied_in_the_cheapest_order() -> None:
    """M14: GBC 6.58: A B C D v needs matrix-vector products only, whichever way it is written."""
    n = 50

    def f(x: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        return a @ b @ c @ d @ x

    shapes: dict[str, Any] = dict.fromkeys("abcd", (n, n))
    pushed = sg.trace(f, x=(n,), **shapes).jvp({"x": "v"}, value=False).simplify()
    assert pushed.flops() == 4 * 2 * n * n
    at = {name: RNG.normal(size=(n, n)) for name in "abcd"}
    x, v = RNG.normal(size=n), RNG.normal(size=n)
    wanted = at["a"] @ (at["b"] @ (at["c"] @ (at["d"] @ v)))
    np.testing.assert_allclose(pushed.lower()(x=x, v=v, **at), wanted, rtol=1e-10)


# -- M15: higher order -----------------------------------------------------------------------------
def forward_and_product_sizes(graph: sg.Graph, name: str, mode: Any) -> tuple[int, int]:
    return len(graph), len(graph.hvp(name, "v", mode=mode))


@pytest.mark.parametrize(
    ("mode", "most"),
    [
        ("reverse", 2_000),
        pytest.param("reverse", 10_000, marks=pytest.mark.whole),
        pytest.param("forward", 10_000, marks=pytest.mark.whole),
    ],
)
def test_m15_the_hessian_vector_product_is_linear_in_the_graph(mode: Any, most: int) -> None:
    """M15: GBC 6.59 and AM, a network of size O(V + E): node counts up to 10,000 forward nodes."""
    sizes = [
        forward_and_product_sizes(sg.trace(lambda x, n=n: tower(x, n), x=()), "x", mode)
        for n in (100, 500, 1_000, most)
    ]
    (v0, p0), (v1, p1), (v2, p2), (v3, p3) = sizes
    assert v3 >= most
    slope = (p1 - p0) / (v1 - v0)
    assert slope <= 12
    assert (p2 - p1) / (v2 - v1) == pytest.approx(slope, rel=1e-3)
    assert (p3 - p2) / (v3 - v2) == pytest.approx(slope, rel=1e-3)


def tower(x: Any, nodes: int) -> Any:
    """Products and sines of shared values: each step has two uses of the last."""
    for _ in range(nodes // 3):
        x = np.sin(x) * x + 0.5
    return x


@pytest.mark.parametrize("nodes", [500, pytest.param(2_000, marks=pytest.mark.whole)])
def test_m15_and_so_it_is_for_a_random_graph_of_arrays(nodes: int) -> None:
    """M15: at most a fixed multiple of nodes and edges, whatever the operations are."""
    graph = sg.trace(random_function(nodes), x="4, 3", w="3, 3")
    edges = sum(len(node.operands) for node in graph.nodes)
    product = graph.hvp("x", "v")
    assert len(product) <= 12 * (len(graph) + edges)


def regression() -> tuple[sg.Graph, dict[str, np.ndarray]]:
    """Logistic loss of a linear score on real data, with weight decay: a convex function."""
    features, targets = load_diabetes(return_X_y=True)
    x, y = features[:200] * 20, np.where(targets[:200] > np.median(targets[:200]), 1.0, -1.0)

    def loss(w: Any, x: Any, y: Any) -> Any:
        return np.mean(np.log(1 + np.exp(-y * (x @ w)))) + 0.05 * np.sum(w**2)

    return sg.trace(loss, w=(10,), x=x, y=y), {"x": x, "y": y}


def conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray], b: np.ndarray, tolerance: float = 1e-12
) -> tuple[np.ndarray, int]:
    """Solve A s = b by Hestenes and Stiefel (1952), given products with A; and the steps taken."""
    s, r = np.zeros_like(b), b.copy()
    p, rr = r.copy(), r @ r
    for steps in range(1, 10 * len(b)):
        ap = product(p)
        alpha = rr / (p @ ap)
        s, r = s + alpha * p, r - alpha * ap
        new = r @ r
        if np.sqrt(new) <= tolerance * np.linalg.norm(b):
            return s, steps
        p, rr = r + (new / rr) * p, new
    return s, 10 * len(b)


def test_m15_conjugate_gradients_on_hessian_vector_products() -> None:
    """M15: a Krylov method solves H s = -∇f without H; Newton's method made of it converges."""
    graph, data = regression()
    gradient = graph.gradient("w").simplify().lower()
    product = graph.hvp("w", "v", value=False).simplify().lower()
    hessian = graph.hessian("w", value=False).simplify().lower()
    w = np.zeros(10)
    _, g = gradient(w=w, **data)
    step, taken = conjugate_gradients(lambda p: product(w=w, v=p, **data), -g)
    assert taken <= 12
    np.testing.assert_allclose(step, np.linalg.solve(hessian(w=w, **data), -g), rtol=1e-9)
    operator = scipy.sparse.linalg.LinearOperator(
        (10, 10), matvec=lambda p: product(w=w, v=np.ravel(p), **data), dtype=float
    )
    found, info = scipy.sparse.linalg.cg(operator, -g, rtol=1e-12)
    assert info == 0
    np.testing.assert_allclose(found, step, rtol=1e-8)
    norms = []
    for _ in range(7):
        _, g = gradient(w=w, **data)
        norms.append(np.linalg.norm(g))
        w = w + conjugate_gradients(lambda p, w=w: product(w=w, v=p, **data), -g)[0]
    assert norms[-1] < 1e-12
    assert norms[-1] < 1e-9 * norms[0]


def test_m15_the_hessian_column_by_column_and_in_closed_form() -> None:
    """M15: columns are products with unit vectors; the closed form is Xᵀ diag(q (1 - q)) X / n."""
    graph, data = regression()
    w = RNG.normal(size=10)
    hessian = graph.hessian("w", value=False).simplify()
    closed = hessian.lower()(w=w, **data)
    product = graph.hvp("w", "v", value=False).simplify().lower()
    columns = np.stack([product(w=w, v=unit, **data) for unit in np.eye(10)], axis=1)
    np.testing.assert_allclose(columns, closed, rtol=1e-10, atol=1e-13)
    x, y = data["x"], data["y"]
    q = 1 / (1 + np.exp(-y * (x @ w)))
    wanted = (x.T * (q * (1 - q))) @ x / len(x) + 0.1 * np.eye(10)
    np.testing.assert_allclose(closed, wanted, rtol=1e-9, atol=1e-12)
    # The work is that of one product Xᵀ (d X), not of ten passes through the graph.
    assert hessian.flops() < 2 * 2 * 200 * 10 * 10 + 50 * 200 * 10


def test_m15_v_is_not_differentiated_through() -> None:
    """M15: with v = ∇f itself, a symbol of the graph, H v comes out and no third derivatives."""
    graph = sg.trace(lambda x: np.sum(np.exp(x) * x), x=(3,))
    v = graph.gradient("x", value=False).outputs["grad_x"]
    x = RNG.normal(size=3)
    found = graph.hvp("x", v, value=False).evaluate(x=x)
    np.testing.assert_allclose(found, np.exp(x) * (2 + x) * np.exp(x) * (1 + x), rtol=1e-12)


# -- M20: forward and reverse side by side ---------------------------------------------------------
def test_m20_the_toy_forward_and_reverse_side_by_side() -> None:
    """M20: C = θ1 θ2 + tanh θ1 of CN, with the table of intermediate derivatives."""

    def cost(theta1: Any, theta2: Any) -> Any:
        return theta1 * theta2 + np.tanh(theta1)

    one, two = 0.5, 2.0
    graph = sg.trace(cost, theta1=(), theta2=())
    tables = graph.scalar_derivatives(theta1=one, theta2=two)
    by = {node.op.name: node for node in graph.nodes if not node.is_input}
    product, tanh, total = by["multiply"], by["tanh"], by["add"]
    slope = 1 - np.tanh(one) ** 2
    first, second = tables.tangents("theta1"), tables.tangents("theta2")
    assert (first[product], second[product]) == (two, one)
    assert (first[tanh], second[tanh]) == (pytest.approx(slope), 0.0)
    assert (first[total], second[total]) == (pytest.approx(two + slope), one)
    adjoint = tables.grad_table()
    assert adjoint[total] == adjoint[product] == adjoint[tanh] == 1.0
    theta1, theta2 = (graph.inputs[name].node for name in ("theta1", "theta2"))
    assert (adjoint[theta1], adjoint[theta2]) == (pytest.approx(two + slope), one)

    # Two forward sweeps or one reverse sweep: the same derivatives of the output.
    _, (d1, d2) = graph.gradient("theta1", "theta2").evaluate(theta1=one, theta2=two)
    forward = [
        graph.jvp({"theta1": a, "theta2": b}, value=False).evaluate(theta1=one, theta2=two)
        for a, b in ((1.0, 0.0), (0.0, 1.0))
    ]
    assert [float(each) for each in forward] == pytest.approx([float(d1), float(d2)])

    shown = tables.side_by_side("theta1", "theta2")
    assert str(tables) == shown
    assert shown.splitlines()[0].split() == ["node", "value", "d/dtheta1", "d/dtheta2", "adjoint"]
    rows = {line.split("  ")[0]: line.split()[-4:] for line in shown.splitlines()[1:]}
    assert rows["u1 = multiply(theta1, theta2)"] == ["1", "2", "0.5", "1"]
    assert [float(each) for each in rows["theta1"]] == pytest.approx(
        [one, 1.0, 0.0, two + slope], abs=1e-5
    )


def test_m20_tables_of_arrays_are_refused() -> None:
    graph = sg.trace(lambda x: snp.sum(x), x=(3,))
    with pytest.raises(sg.ShapeError, match="is not a scalar"):
        graph.scalar_derivatives(x=np.ones(3))
