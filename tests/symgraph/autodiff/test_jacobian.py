"""Jacobians, Hessians and products with them: numbers, structure, the choice of mode, cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph import numpy as snp

RNG = np.random.default_rng(0)
MODES = ("reverse", "forward", None)


def steps(f: Any, x: np.ndarray) -> np.ndarray:
    """The Jacobian of a NumPy function by the complex step: (*f.shape, *x.shape)."""
    columns = []
    for i in range(x.size):
        moved = x.astype(complex).ravel()
        moved[i] += 1e-30j
        columns.append(np.imag(f(moved.reshape(x.shape))) / 1e-30)
    return np.stack(columns, axis=-1).reshape((*np.shape(f(x)), *x.shape))


W = RNG.normal(size=(4, 3))
FUNCTIONS = {
    "vector": (lambda x: np.tanh(W @ x) * np.sum(x), (3,)),
    "elementwise": (lambda x: np.exp(x) * np.sin(x), (3, 2)),
    "rows": (lambda x: np.tanh(x @ W) * np.sum(x, axis=1, keepdims=True), (5, 4)),
    "columns": (lambda x: np.exp(W @ x), (3, 2)),
    "transposed": (lambda x: np.sin(x.T) * 2, (3, 2)),
    "to scalar": (lambda x: np.sum(x * x), (2, 3)),
    "of scalar": (lambda x: np.stack([np.sin(x), x * x]), ()),
    "scalar": (lambda x: np.sin(x) * x, ()),
    "reduced": (lambda x: np.sum(x**3, axis=0), (3, 2)),
    "mixing": (lambda x: x @ x.T, (3, 2)),
    "one diagonal": (lambda x: np.diagonal(x) ** 2, (3, 3)),
    "no elements": (lambda x: np.exp(x), (0, 2)),
    "disconnected": (lambda x: W + 0 * np.ones(3), (3,)),
    "batched quadratic": (lambda x: np.einsum("bi,ij,bj->b", x, W[:3], x), (4, 3)),
    "parts": (lambda x: np.stack([x[0] * x[1], np.sin(x[2]), 3 * x[1]]), (3,)),
    "parts of a matrix": (lambda x: np.stack([np.stack([x[0], x[1] ** 2]), x[:2]]), (3,)),
    "parts of rows": (lambda x: np.stack([x[:, 0] * x[:, 1], np.sin(x[:, 2])], -1), (5, 3)),
    "parts of unlike size": (lambda x: np.concatenate([np.sin(x), np.sum(x)[None], x[1:]]), (3,)),
    "a function of parts": (
        lambda x: np.exp(x + 0.1 * np.stack([x[1] * x[2], x[0], x[0] * x[1]])) * x,
        (3,),
    ),
    "parts in place": (lambda x: np.append(x[:2] ** 2, 0 * x[0]) + np.append(x[2:], x[:2]), (3,)),
    "parts that share all": (lambda x: np.stack([s := np.sum(np.sin(W @ x)), s * s, s**3]), (3,)),
}


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")
def test_jacobians_are_those_of_the_complex_step(name: str, mode: Any) -> None:
    f, shape = FUNCTIONS[name]
    x = RNG.normal(size=shape)
    graph = sg.trace(lambda x: f(x) if name != "disconnected" else snp.asarray(f(x)), x=x)
    wanted = (
        steps(f, x) if name != "disconnected" and x.size else np.zeros((*np.shape(f(x)), *shape))
    )
    joint = graph.jacobian("x", mode=mode)
    for each in (joint, joint.simplify(), graph.simplify().jacobian("x", mode=mode)):
        value, found = each.evaluate(x=x)
        np.testing.assert_allclose(value, f(x), rtol=1e-12)
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(each.lower()(x=x)[1], wanted, rtol=1e-10, atol=1e-12)
    assert joint.outputs["jacobian_x"].shape == (*np.shape(f(x)), *shape)


def test_m14_the_mode_is_chosen_by_cost_and_can_be_forced() -> None:
    """M14: wide maps go back, tall ones forward, waisted ones through the waist; it is said so."""
    wide = sg.trace(lambda x, A: np.tanh(A @ x), x=(50,), A=(3, 50))
    tall = sg.trace(lambda x, A: np.tanh(A @ x), x=(3,), A=(50, 3))
    waist = sg.trace(lambda x, A, B: np.sin(B @ np.tanh(A @ x)), x=(50,), A=(2, 50), B=(40, 2))
    for graph, mode in ((wide, "reverse"), (tall, "forward"), (waist, "mixed")):
        joint = graph.jacobian("x", value=False)
        assert f"jacobian by {mode} mode" in joint.history.steps[0].rule
        assert f"jacobian by {mode} mode" in joint.simplify().explain()
        inputs = {k: RNG.normal(size=v.shape) for k, v in graph.inputs.items()}
        found = joint.simplify().evaluate(**inputs)
        for forced in ("reverse", "forward"):
            other = graph.jacobian("x", value=False, mode=forced)
            assert f"by {forced} mode" in other.history.steps[0].rule
            np.testing.assert_allclose(other.evaluate(**inputs), found, rtol=1e-10, atol=1e-13)
            assert other.flops() >= joint.flops()
    with pytest.raises(sg.InputError, match="No value narrower"):
        wide.jacobian("x", mode="mixed")
    with pytest.raises(sg.InputError, match="no mode 'sideways'"):
        wide.jacobian("x", mode="sideways")  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [10, 100, pytest.param(1_000, marks=pytest.mark.whole)])
def test_the_jacobian_of_an_elementwise_map_costs_what_the_map_does(n: int) -> None:
    """O(n): one seed, whatever n; only filling the matrix touches n² numbers."""
    graph = sg.trace(lambda x: np.exp(x) * np.tanh(x) + x**2, x=(n,))
    compact = graph.jacobian("x", value=False, diagonal=True)
    whole = graph.jacobian("x", value=False)
    assert compact.outputs["jacobian_x"].shape == (n,)
    assert compact.flops() <= 60 * n
    assert compact.simplify().flops() <= 60 * n
    assert whole.flops() == compact.flops()
    assert whole.simplify().flops() <= compact.simplify().flops() + n * n
    x = RNG.normal(size=n)
    e, t = np.exp(x), np.tanh(x)
    slope = e * t + e * (1 - t * t) + 2 * x
    np.testing.assert_allclose(compact.simplify().lower()(x=x), slope, rtol=1e-12)
    np.testing.assert_allclose(whole.simplify().lower()(x=x), np.diag(slope), rtol=1e-12)


def test_a_batched_map_costs_a_seed_an_output_of_one_row() -> None:
    graph = sg.trace(lambda x, A: np.tanh(x @ A), x="n, 4", A=(4, 3))
    joint = graph.jacobian("x", value=False)
    assert "3 seeds" in joint.history.steps[0].rule
    assert "diagonal along axes -2 of the output with -2" in joint.history.steps[0].rule
    compact = graph.jacobian("x", value=False, diagonal=True)
    assert [str(dim) for dim in compact.outputs["jacobian_x"].shape] == ["n", "3", "4"]
    assert compact.flops(n=2_000) == 2 * compact.flops(n=1_000)
    x, a = RNG.normal(size=(5, 4)), RNG.normal(size=(4, 3))
    rows = np.einsum("bk,jk->bkj", 1 - np.tanh(x @ a) ** 2, a)
    np.testing.assert_allclose(compact.simplify().evaluate(x=x, A=a), rows, rtol=1e-12)
    dense = joint.simplify().evaluate(x=x, A=a)
    for i in range(5):
        for j in range(5):
            expected = rows[i] if i == j else np.zeros((3, 4))
            np.testing.assert_allclose(dense[i, :, j, :], expected, rtol=1e-12)


def test_no_diagonal_is_refused_with_the_operation_that_mixes() -> None:
    graph = sg.trace(lambda x, A: A @ np.tanh(x), x=(4,), A=(4, 4))
    with pytest.raises(sg.InputError, match="no diagonal") as error:
        graph.jacobian("x", diagonal=True)
    assert "matmul" in str(error.value)
    assert "test_jacobian.py" in str(error.value)


def test_several_outputs_and_targets_are_grouped() -> None:
    graph = sg.trace(lambda x, y: {"sum": x + np.sum(y), "dot": np.sum(x) * y}, x=(2,), y=(3,))
    joint = graph.jacobian("x", "y")
    value, found = joint.evaluate(x=np.ones(2), y=np.arange(3.0))
    assert set(value) == set(found) == {"sum", "dot"}
    np.testing.assert_allclose(found["sum"][0], np.eye(2))
    np.testing.assert_allclose(found["sum"][1], np.ones((2, 3)))
    np.testing.assert_allclose(found["dot"][0], np.outer(np.arange(3.0), np.ones(2)))
    np.testing.assert_allclose(found["dot"][1], 2 * np.eye(3))
    one = graph.jacobian("y", of="dot", value=False)
    np.testing.assert_allclose(one.evaluate(x=np.ones(2), y=np.arange(3.0)), 2 * np.eye(3))
    assert list(joint.outputs)[:2] == ["sum", "dot"]


def test_a_jacobian_of_integers_is_refused() -> None:
    graph = sg.trace(lambda x: np.argmax(x, axis=0), x=(3, 2))
    with pytest.raises(sg.DTypeError, match="floating"):
        graph.jacobian("x")


# -- products with it ----------------------------------------------------------------------------
def test_jvp_and_vjp_with_names_numbers_and_symbols() -> None:
    graph = sg.trace(lambda x, W: np.tanh(W @ x), x=(3,), W=(4, 3))
    x, w, v, u = (RNG.normal(size=s) for s in ((3,), (4, 3), (3,), (4,)))
    jacobian = graph.jacobian("x", value=False).evaluate(x=x, W=w)
    value, forward = graph.jvp({"x": "v"}).simplify().evaluate(x=x, W=w, v=v)
    np.testing.assert_allclose(value, np.tanh(w @ x))
    np.testing.assert_allclose(forward, jacobian @ v)
    np.testing.assert_allclose(graph.jvp({"x": v}, value=False).evaluate(x=x, W=w), jacobian @ v)
    inner = graph.inputs["x"]
    np.testing.assert_allclose(
        graph.jvp({"x": inner}, value=False).evaluate(x=x, W=w), jacobian @ x
    )
    _, back = graph.vjp("x", cotangent="u").simplify().evaluate(x=x, W=w, u=u)
    np.testing.assert_allclose(back, u @ jacobian)
    np.testing.assert_allclose(
        graph.vjp("x", cotangent=u, value=False).evaluate(x=x, W=w), u @ jacobian
    )
    stacked = graph.vjp("x", cotangent=np.eye(4), value=False).evaluate(x=x, W=w)
    np.testing.assert_allclose(stacked, jacobian)
    both = graph.jvp(["x", "W"], value=False)
    assert list(both.inputs) == ["x", "W", "tangent_x", "tangent_W"]
    dw = RNG.normal(size=(4, 3))
    got = both.evaluate(x=x, W=w, tangent_x=v, tangent_W=dw)
    np.testing.assert_allclose(got, (1 - np.tanh(w @ x) ** 2) * (w @ v + dw @ x))


def test_products_of_several_outputs_are_grouped_as_they_are() -> None:
    graph = sg.trace(lambda x: (np.sum(x), {"sin": np.sin(x), "sign": x > 0}), x=(3,))
    x, v = np.array([0.1, -0.2, 0.3]), np.ones(3)
    value, tangent = graph.jvp({"x": v}).evaluate(x=x)
    assert value[1]["sign"].tolist() == [True, False, True]
    assert tangent[0] == 3.0
    np.testing.assert_allclose(tangent[1]["sin"], np.cos(x))
    assert tangent[1]["sign"].tolist() == [0.0, 0.0, 0.0]
    names = list(graph.outputs)
    joint = graph.vjp("x", cotangent={names[0]: 2.0, names[1]: "u"}, value=False)
    np.testing.assert_allclose(joint.evaluate(x=x, u=v), 2 + np.cos(x))
    with pytest.raises(sg.InputError, match="outputs"):
        graph.vjp("x", cotangent=1.0)


def test_directions_that_do_not_fit_are_refused() -> None:
    graph = sg.trace(lambda x, y: np.sum(x * y), x=(3,), y=(3,))
    with pytest.raises(sg.InputError, match="new input 'y'"):
        graph.jvp({"x": "y"})
    with pytest.raises(sg.ShapeError, match="tangent has shape"):
        graph.jvp({"x": np.ones(4)})
    with pytest.raises(sg.InputError, match="no input 'z'"):
        graph.jvp({"z": "v"})
    with pytest.raises(sg.InputError, match="leading axes"):
        graph.jvp({"x": np.ones(3), "y": np.ones((2, 3))})
    with pytest.raises(sg.InputError, match="no output"):
        graph.vjp("x", cotangent={"nothing": 1.0})


def test_intermediate_values_may_be_targets() -> None:
    x = sg.input("x", (3,))
    h = np.exp(x)
    graph = sg.graph(np.sum(h**3))
    at = np.array([0.0, 0.5, 1.0])
    slope = 3 * np.exp(at) ** 2
    np.testing.assert_allclose(
        graph.jvp([(h, np.ones(3))], value=False).evaluate(x=at), np.sum(slope)
    )
    np.testing.assert_allclose(
        graph.jvp({h.node: np.ones(3)}, value=False).evaluate(x=at), np.sum(slope)
    )
    np.testing.assert_allclose(graph.vjp(h, cotangent=2.0, value=False).evaluate(x=at), 2 * slope)
    np.testing.assert_allclose(
        graph.hessian(h, value=False).evaluate(x=at), np.diag(6 * np.exp(at))
    )
    np.testing.assert_allclose(
        graph.hvp(h, np.ones(3), value=False).simplify().evaluate(x=at), 6 * np.exp(at)
    )


def test_what_cannot_go_back_goes_forward() -> None:
    """A loop of unknown length has no reverse mode; its Jacobian is found forward."""

    def f(x: Any) -> Any:
        return sg.while_loop(lambda c: np.sum(c) < 10.0, lambda c: c * x, x + 1.0)

    graph = sg.trace(f, x=(2,)).jacobian("x", value=False)
    assert "by forward mode" in graph.history.steps[0].rule
    x = np.array([1.5, 2.0])
    np.testing.assert_allclose(graph.evaluate(x=x), np.diag(2 * (x + 1) * x + x * x))
    with pytest.raises(sg.NotDifferentiable, match="while_loop"):
        sg.trace(f, x=(2,)).jacobian("x", mode="reverse")


def test_simplifying_before_and_after_meet_with_facts_that_tie_elements() -> None:
    """The Hessian of softmax cross-entropy is diag(q) - qqᵀ where the labels sum to one."""

    def loss(z: Any, p: Any) -> Any:
        return -np.sum(p * np.log(np.exp(z) / np.sum(np.exp(z))))

    graph = sg.trace(loss, z=(4,), p=sg.spec((4,), assume=sg.simplex(axis=-1)))
    after = graph.hessian("z", value=False).simplify()
    before = graph.simplify().hessian("z", value=False).simplify()
    assert after.dag.outputs == before.dag.outputs
    z, p = np.array([1000.0, 999.0, 0.0, 1.0]), np.array([0.1, 0.2, 0.3, 0.4])
    q = np.exp(z - 1000) / np.sum(np.exp(z - 1000))
    np.testing.assert_allclose(after.lower()(z=z, p=p), np.diag(q) - np.outer(q, q), atol=1e-15)


# -- second order --------------------------------------------------------------------------------
def energy(x: Any, k: Any) -> Any:
    return np.sum(np.exp(k * x)) + np.sum(x[1:] * x[:-1]) ** 2


def test_hessians_are_nested_by_target() -> None:
    graph = sg.trace(energy, x=(3,), k=())
    x, k = RNG.normal(size=3), 0.7
    value, ((xx, xk), (kx, kk)) = graph.hessian("x", "k").simplify().evaluate(x=x, k=k)
    np.testing.assert_allclose(value, energy(x, k))
    gradient = graph.gradient("x", "k", value=False)

    def of_x(moved: np.ndarray) -> Any:
        tridiagonal = np.zeros(3, complex)
        tridiagonal[1:] += moved[:-1]
        tridiagonal[:-1] += moved[1:]
        return k * np.exp(k * moved) + 2 * np.sum(moved[1:] * moved[:-1]) * tridiagonal

    np.testing.assert_allclose(gradient.evaluate(x=x, k=k)[0], of_x(x).real, rtol=1e-12)
    np.testing.assert_allclose(xx, steps(of_x, x), rtol=1e-11)
    np.testing.assert_allclose(xk, np.exp(k * x) * (1 + k * x), rtol=1e-12)
    np.testing.assert_allclose(kx, xk, rtol=1e-12)
    np.testing.assert_allclose(kk, np.sum(x * x * np.exp(k * x)), rtol=1e-12)
    single = graph.hessian("x", value=False)
    np.testing.assert_allclose(single.evaluate(x=x, k=k), xx, rtol=1e-12)
    for mode in ("forward", "reverse"):
        forced = graph.hessian("x", value=False, mode=mode)
        np.testing.assert_allclose(forced.evaluate(x=x, k=k), xx, rtol=1e-12)


def test_the_hessian_of_a_separable_function_is_diagonal() -> None:
    graph = sg.trace(lambda x: np.sum(np.exp(x) + x**4), x=(200,))
    compact = graph.hessian("x", value=False, diagonal=True)
    assert compact.flops() <= 60 * 200
    x = RNG.normal(size=200)
    np.testing.assert_allclose(compact.simplify().lower()(x=x), np.exp(x) + 12 * x**2)
    np.testing.assert_allclose(
        graph.hessian("x", value=False).simplify().lower()(x=x), np.diag(np.exp(x) + 12 * x**2)
    )


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_hessian_vector_products(mode: Any) -> None:
    graph = sg.trace(energy, x=(3,), k=())
    x, k, v = RNG.normal(size=3), 0.7, RNG.normal(size=3)
    hessian = graph.hessian("x", value=False).evaluate(x=x, k=k)
    value, product = graph.hvp("x", "v", mode=mode).simplify().evaluate(x=x, k=k, v=v)
    np.testing.assert_allclose(value, energy(x, k))
    np.testing.assert_allclose(product, hessian @ v, rtol=1e-12)
    ((xx, xk), (kx, kk)) = graph.hessian("x", "k", value=False).evaluate(x=x, k=k)
    joint = graph.hvp(["x", "k"], "v", value=False, mode=mode)
    on_x, on_k = joint.evaluate(x=x, k=k, v_0=v, v_1=0.3)
    np.testing.assert_allclose(on_x, xx @ v + 0.3 * xk, rtol=1e-12)
    np.testing.assert_allclose(on_k, kx @ v + 0.3 * kk, rtol=1e-12)
    stack = graph.hvp("x", np.eye(3), value=False, mode=mode).evaluate(x=x, k=k)
    np.testing.assert_allclose(stack, hessian, rtol=1e-12)


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_the_vector_is_not_differentiated_through(mode: Any) -> None:
    """With v = x, ∇(∇f·v) is H x, not H x + ∇f."""
    graph = sg.trace(lambda x: np.sum(x**3), x=(3,))
    x = np.array([1.0, 2.0, -1.0])
    product = graph.hvp("x", graph.inputs["x"], value=False, mode=mode)
    np.testing.assert_allclose(product.evaluate(x=x), 6 * x * x)


def test_hessians_of_arrays_that_are_not_scalars_are_refused() -> None:
    graph = sg.trace(lambda x: np.exp(x), x=(3,))
    for attempt in (lambda: graph.hessian("x"), lambda: graph.hvp("x")):
        with pytest.raises(sg.ShapeError, match="scalar"):
            attempt()
    with pytest.raises(sg.InputError, match="no mode"):
        sg.trace(lambda x: np.sum(x), x=(3,)).hvp("x", mode="up")  # type: ignore[arg-type]


def test_closed_forms_of_second_order() -> None:
    """The Hessian of a quadratic is its matrix, of logsumexp diag(q) - qqᵀ in either order."""
    symmetric = sg.spec("n, n", assume=sg.symmetric)
    graph = sg.trace(lambda x, A: 0.5 * x @ A @ x, x="n", A=symmetric)
    small = graph.hessian("x", value=False).simplify()
    assert small.dag.outputs == (small.dag.inputs["A"],)
    product = graph.hvp("x", "v", value=False).simplify()
    assert product.op_count() == 1
    written = sg.trace(lambda x: np.log(np.sum(np.exp(x))), x=(5,))
    one = written.hessian("x", value=False).simplify()
    other = written.simplify().hessian("x", value=False).simplify()
    assert one.dag.outputs == other.dag.outputs
    assert one.op_count() <= 7
    x = np.array([1000.0, 999.0, 0.0, -5.0, 998.0])
    q = np.exp(x - x.max()) / np.sum(np.exp(x - x.max()))
    np.testing.assert_allclose(one.lower()(x=x), np.diag(q) - np.outer(q, q), atol=1e-15)


@pytest.mark.parametrize(
    ("f", "derivative"),
    [
        (lambda x: np.sin(x), lambda x: np.cos(x)),
        (lambda x: np.exp(2 * x), lambda x: 32 * np.exp(2 * x)),
        (lambda x: x**7 / 42, lambda x: 60 * x**2),
        (lambda x: 1 / x, lambda x: -120 / x**6),
        (lambda x: x * np.log(x), lambda x: -6 / x**4),
    ],
    ids=["sin", "exp", "power", "reciprocal", "x log x"],
)
def test_m15_gradients_of_gradients_to_order_five(f: Any, derivative: Any) -> None:
    """M15: a gradient graph is differentiated like any other, simplified between or not."""
    plain = stepwise = sg.trace(f, x=())
    for _ in range(5):
        plain = plain.gradient("x", value=False)
        stepwise = stepwise.gradient("x", value=False).simplify()
    at = 1.3
    for graph in (plain, plain.simplify(), stepwise):
        np.testing.assert_allclose(graph.evaluate(x=at), derivative(at), rtol=1e-9)
    assert len(stepwise) <= 20


# -- nothing that depends on anything --------------------------------------------------------------
@pytest.mark.parametrize(
    "f",
    [
        lambda x: -np.sign(x),
        lambda x: np.floor(x) * 2.0,
        lambda x: np.ones(3),
        lambda x: np.sum(np.sign(x)) * np.ones(3),
    ],
)
def test_the_diagonal_of_a_jacobian_of_zeros_is_zeros(f: Any) -> None:
    found = sg.jacobian(f, diagonal=True)(np.array([1.0, -2.0, 3.0]))
    np.testing.assert_array_equal(found, np.zeros(3))
    dense = sg.jacobian(f)(np.array([1.0, -2.0, 3.0]))
    np.testing.assert_array_equal(dense, np.zeros((3, 3)))


def test_the_diagonal_where_one_of_two_arguments_has_no_part() -> None:
    x = np.array([1.0, 2.0])
    found = sg.jacobian(lambda x, y: x**2, wrt=(0, 1), diagonal=True)(x, x)
    np.testing.assert_array_equal(found[0], 2 * x)
    np.testing.assert_array_equal(found[1], np.zeros(2))


def test_the_diagonal_of_zeros_keeps_the_axes_that_are_not_tied() -> None:
    rows = sg.jacobian(lambda x: np.sum(np.sign(x), axis=1), diagonal=True)(np.ones((3, 2)))
    np.testing.assert_array_equal(rows, np.zeros((3, 2)))
    whole = sg.jacobian(lambda x: np.sum(np.sign(x)), diagonal=True)(np.ones((3, 2)))
    np.testing.assert_array_equal(whole, np.zeros((3, 2)))


@pytest.mark.parametrize("f", [lambda x: np.sum(3 * x), lambda x: np.sum(np.floor(x)), np.max])
def test_the_diagonal_of_a_hessian_of_zeros_is_zeros(f: Any) -> None:
    found = sg.hessian(f, diagonal=True)(np.array([1.0, 2.5, 3.0]))
    np.testing.assert_array_equal(found, np.zeros(3))


def test_zeros_of_other_lengths_have_no_diagonal() -> None:
    with pytest.raises(sg.InputError, match="no diagonal"):
        sg.jacobian(lambda x: np.ones(4), diagonal=True)(np.ones(3))


def test_parts_are_differentiated_one_by_one_unless_they_share_their_work() -> None:
    def steps(name: str) -> str:
        f, shape = FUNCTIONS[name]
        return str(sg.trace(f, x=np.zeros(shape)).jacobian("x").explain())

    assert "jacobian by 3 parts, 16 flops (reverse mode, 3 seeds" in steps("parts")
    assert "parts" not in steps("parts that share all")


def packed(p: Any, t: Any) -> Any:
    a, b, c, *_ = p
    return a * np.exp(-b * t) + c * np.sum(p[4:]) * t**2


def test_a_vector_that_is_read_in_pieces_is_differentiated_piece_by_piece() -> None:
    p, t = np.array([1.5, 0.7, -0.3, 9.0, 2.0, 0.5]), np.linspace(0, 2, 30)
    graph = sg.trace(packed, p=p, t=t).jacobian("p")
    assert "jacobian by 5 pieces" in str(graph.explain())
    fast, rise = np.exp(-p[1] * t), t**2
    columns = [fast, -p[0] * t * fast, p[4:].sum() * rise, 0 * t, p[2] * rise, p[2] * rise]
    for each in (graph, graph.simplify()):
        np.testing.assert_allclose(each.lower()(p, t)[1], np.stack(columns, -1), atol=1e-15)
    # No other column meets what overflows in one of them.
    with np.errstate(all="ignore"):
        found = sg.jacobian(lambda p: p[0] * np.exp(p[1] * t) + p[2] * t)(np.array([1, 1e6, 2.0]))
    np.testing.assert_array_equal(found[:, 2], t)
    assert np.isinf(found[-1]).tolist() == [True, True, False]


@pytest.mark.parametrize(
    "f",
    [
        lambda p: np.sin(p[0]) + p,  # All of it is read, too.
        lambda p: np.stack([p[0] * p[1], p[1] ** 2, p[2]]) * p[:2].sum(),  # Pieces overlap.
        lambda p: np.outer(p[::2], np.ones(3)) * p[1],  # A slice with steps.
    ],
)
def test_a_vector_that_is_read_otherwise_is_taken_as_a_whole(f: Any) -> None:
    p = np.array([0.3, 1.2, -0.7])
    graph = sg.trace(f, p=p).jacobian("p")
    assert "pieces" not in str(graph.explain())
    steps = np.stack([(f(p + h) - f(p - h)) / 2e-6 for h in 1e-6 * np.eye(3)], -1)
    np.testing.assert_allclose(graph.lower()(p)[1], steps, atol=1e-8)


def test_a_slope_of_a_sum_by_a_number_is_ones_without_an_identity() -> None:
    slope = sg.jacobian(lambda c, t: c + np.exp(t))
    assert "= ones(50)" in str(slope.graph(1.0, np.ones(50)))
    np.testing.assert_array_equal(slope(1.0, np.ones(50)), np.ones(50))
