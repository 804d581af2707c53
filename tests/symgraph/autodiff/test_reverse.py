"""Reverse mode: what is visited, what is summed, what is refused, how cost grows."""

from __future__ import annotations

import numpy as np
import pytest

from symgraph.array import Array, constant
from symgraph.autodiff.connectivity import connection
from symgraph.autodiff.differentiate import differentiated
from symgraph.autodiff.reverse import active_nodes, gradients, vjp
from symgraph.errors import DTypeError, InputError, NotDifferentiable, ShapeError
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import evaluate
from symgraph.ir.invariants import verify
from symgraph.ir.node import Node
from symgraph.ir.walks import reachable
from symgraph.ops.creation import input


def value(result: Array, **given: object) -> np.ndarray:
    nodes = [node for node in reachable([result.node]) if node.is_input]
    dag = Dag({node.params["name"]: node for node in nodes}, [result.node])
    verify(dag)
    wanted = {name: given[name] for name in dag.inputs}
    return evaluate(dag, wanted)[0]


def gradient(output: Array, target: Array) -> Array:
    (found,) = gradients(output, [target])
    assert found is not None
    return found


def test_m06_x_times_x_gives_2x() -> None:
    """M06: each operation treats its inputs as distinct, the uses are summed."""
    x = input("x", ())
    assert value(gradient(x * x, x), x=3.0) == 6.0


def test_m06_a_shared_parameter_gets_the_sum_over_its_uses() -> None:
    w = input("w", (3,))
    loss = np.sum(np.exp(w)) + np.sum(w * w) + w[0]
    at = np.array([0.1, -0.2, 0.3])
    np.testing.assert_allclose(
        value(gradient(loss, w), w=at), np.exp(at) + 2 * at + [1, 0, 0], rtol=1e-14
    )


@pytest.mark.parametrize(
    ("small", "large"),
    [
        ((), (2, 3)),
        ((3,), (2, 3)),
        ((2, 1), (2, 3)),
        ((1, 1), (2, 3)),
        ((1,), (0,)),
        ((3,), (4, 2, 3)),
    ],
    ids=str,
)
def test_the_cotangent_of_a_broadcast_operand_is_the_sum_over_its_copies(
    small: tuple[int, ...], large: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(0)
    x, y = input("x", small), input("y", large)
    at, weight = rng.standard_normal(small), rng.standard_normal(large)
    found = value(gradient(np.sum(x * y), x), x=at, y=weight)
    expected = np.broadcast_to(weight, large)
    lead = tuple(range(len(large) - len(small)))
    expected = expected.sum(axis=lead)
    ones = tuple(i for i, size in enumerate(small) if size == 1)
    np.testing.assert_allclose(found, expected.sum(axis=ones, keepdims=True), rtol=1e-14)
    assert found.shape == small


def test_m08_only_nodes_between_target_and_output_are_visited() -> None:
    """M08: ancestors of the output and descendants of a target, nothing else."""
    x, y = input("x", (3,)), input("y", (3,))
    beside = np.exp(np.sin(y))
    loss = np.sum(x * beside)
    active = active_nodes([loss.node], [x.node])
    assert {node.op.name for node in active} == {"input", "multiply", "sum"}
    found = gradient(loss, x)
    new = set(reachable([found.node])) - set(reachable([loss.node]))
    assert not {"sin", "cos", "exp"} & {node.op.name for node in new}


def test_m07_cost_is_linear_in_edges() -> None:
    """M07: nodes appended grow linearly; a doubling graph with 2^n paths stays small."""

    def appended(depth: int) -> int:
        x = input("x", ())
        y = x
        for _ in range(depth):
            y = y * y + y
        before = len(reachable([y.node]))
        return len(reachable([gradient(y, x).node, y.node])) - before

    assert appended(200) - appended(100) == appended(300) - appended(200)

    x = input("x", ())
    y = x
    for _ in range(200):
        y = y + y
    assert value(gradient(y, x), x=1.0) == 2.0**200


@pytest.mark.whole
def test_the_gradient_of_a_chain_of_20_000_needs_no_recursion() -> None:
    x = input("x", ())
    y = x
    for _ in range(20_000):
        y = y * 1.00001
    assert value(gradient(y, x), x=1.0) == pytest.approx(1.00001**20_000, rel=1e-9)


def test_a_gradient_of_a_gradient() -> None:
    x = input("x", (3,))
    first = gradient(np.sum(np.exp(x) * x), x)
    second = gradient(np.sum(first * first), x)
    at = np.array([0.3, -1.0, 2.0])
    e = np.exp(at)
    np.testing.assert_allclose(value(second, x=at), 2 * (e * (1 + at)) * (e * (2 + at)), rtol=1e-13)


def test_gradient_nodes_know_what_they_are_the_adjoint_of() -> None:
    x = input("x", (3,))
    loss = np.sum(np.tanh(x))
    found = gradient(loss, x)
    owners = {node.origin.adjoint_of for node in reachable([found.node])}
    names = {owner.op.name for owner in owners if isinstance(owner, Node)}
    assert {"tanh", "sum"} <= names


def test_intermediate_values_and_the_output_itself_can_be_targets() -> None:
    x = input("x", (2,))
    h = np.exp(x)
    loss = np.sum(h * h)
    np.testing.assert_allclose(value(gradient(loss, h), x=np.zeros(2)), [2.0, 2.0])
    assert value(gradient(loss, loss), x=np.zeros(2)) == 1.0


def test_a_cotangent_may_carry_leading_axes() -> None:
    x = input("x", (3,))
    y = np.exp(x)
    (jacobian,) = vjp(y, [x], constant(np.eye(3)))
    assert jacobian is not None
    at = np.array([0.0, 1.0, 2.0])
    np.testing.assert_allclose(value(jacobian, x=at), np.diag(np.exp(at)), rtol=1e-15)


def test_float32_stays_float32() -> None:
    x = input("x", (3,), "float32")
    found = gradient(np.mean(np.exp(2 * x) / 3), x)
    assert {node.dtype for node in reachable([found.node]) if node.dtype.kind == "f"} == {
        np.dtype("float32")
    }


def test_mixed_dtypes_give_each_operand_its_own() -> None:
    x, y = input("x", (3,), "float32"), input("y", (3,), "float64")
    loss = np.sum(x * y)
    dx, dy = gradients(loss, [x, y])
    assert dx is not None
    assert dy is not None
    assert dx.dtype == np.float32
    assert dy.dtype == np.float64


def test_what_has_no_gradient_is_refused_with_advice() -> None:
    x, labels = input("x", (3,)), input("labels", (3,), "int64")
    with pytest.raises(
        ShapeError, match=r"taken of a scalar; this output has shape \(3,\)"
    ) as error:
        gradients(np.exp(x), [x])
    assert "np.sum" in str(error.value)
    with pytest.raises(DTypeError, match="dtype is int64"):
        gradients(np.sum(x * labels), [labels])
    with pytest.raises(DTypeError, match="floating-point value"):
        gradients(np.sum(labels), [x])
    dag = Dag({"x": x.node}, [np.sum(x).node])
    with pytest.raises(InputError, match="no input 'w'"):
        differentiated(dag, ["w"])
    with pytest.raises(InputError, match="at least one input"):
        differentiated(dag, [])


def test_m16_zero_disconnected_and_undefined_are_told_apart() -> None:
    """M16: and along which path."""
    x, y = input("x", (3,)), input("y", (3,))
    counted = np.sum(np.where(x > 0, 1.0, 0.0)) + np.sum(y)
    assert connection(counted.node, y.node).kind == "connected"
    zero = connection(counted.node, x.node)
    assert zero.kind == "zero"
    assert zero.path[0] is x.node
    assert zero.path[-1] is counted.node
    assert connection(np.sum(y).node, x.node).kind == "disconnected"
    dag = Dag({"x": x.node, "y": y.node}, [np.sum(y * y).node])
    assert evaluate(differentiated(dag, ["x"]), {"x": np.ones(3), "y": np.ones(3)})[1].tolist() == [
        0.0,
        0.0,
        0.0,
    ]
    with pytest.raises(NotDifferentiable, match="disconnected"):
        differentiated(dag, ["x"], disconnected="raise")


def test_the_same_target_twice_gives_the_gradient_twice() -> None:
    x = input("x", (2,))
    dag = differentiated(Dag({"x": x.node}, [np.sum(x * x).node]), ["x", "x"])
    assert dag.names == ("out", "grad_x", "grad_x_2")
    _, (one, other) = dag.regroup(evaluate(dag, {"x": np.ones(2)}))
    assert one.tolist() == other.tolist() == [2.0, 2.0]
