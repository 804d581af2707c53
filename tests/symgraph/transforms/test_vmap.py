"""`sg.vmap`: a function of each of a batch, against a loop over the batch."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.dag import Dag
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.interpreter import evaluate
from symgraph.pytrees import flatten, tree_map, unflatten

RNG = np.random.default_rng(5)


def once(f: Callable[..., Any], *args: Any) -> Any:
    """`f` of arrays, traced and run node by node; no batch has a part in it."""
    leaves, tree = flatten(args)
    symbols = [sg.input(f"x{i}", np.shape(x), np.asarray(x).dtype) for i, x in enumerate(leaves)]
    results, out = flatten(f(*unflatten(tree, symbols)))
    nodes = [x.node if isinstance(x, sg.Array) else sg.constant(x).node for x in results]
    dag = Dag({f"x{i}": x.node for i, x in enumerate(symbols)}, nodes)
    return unflatten(out, evaluate(dag, {f"x{i}": np.asarray(x) for i, x in enumerate(leaves)}))


def looped(f: Callable[..., Any], *args: Any, axes: Any = 0) -> Any:
    """What `sg.vmap(f, axes)` gives, one example after the other."""
    entries = axes if isinstance(axes, tuple) else (axes,) * len(args)
    sizes = [
        np.shape(leaf)[a]
        for arg, a in zip(args, entries, strict=True)
        if a is not None
        for leaf in flatten(arg)[0]
    ]
    rows = [
        once(
            f,
            *[
                tree_map(lambda x, a=a, i=i: np.take(x, i, a), arg) if a is not None else arg
                for arg, a in zip(args, entries, strict=True)
            ],
        )
        for i in range(sizes[0])
    ]
    return tree_map(lambda *parts: np.stack(parts), *rows)


def assert_same(found: Any, wanted: Any, tolerance: float = 1e-10) -> None:
    got, tree = flatten(found)
    want, other = flatten(wanted)
    assert tree == other
    for one, two in zip(got, want, strict=True):
        assert one.shape == two.shape
        assert one.dtype == two.dtype
        np.testing.assert_allclose(one, two, rtol=tolerance, atol=tolerance)


def numbers(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


# -- axes ------------------------------------------------------------------------------------------
def test_each_example_by_itself() -> None:
    x, w = numbers(5, 3), numbers(3, 3)
    found = sg.vmap(lambda w, x: np.tanh(w @ x), in_axes=(None, 0))(w, x)
    np.testing.assert_allclose(found, np.tanh(x @ w.T))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_any_axis_of_an_argument(axis: int) -> None:
    x = numbers(4, 3, 2)
    found = sg.vmap(lambda x: np.cumsum(x, axis=0), in_axes=axis)(x)
    rows = [np.cumsum(np.take(x, i, axis), axis=0) for i in range(x.shape[axis])]
    np.testing.assert_allclose(found, np.stack(rows))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_any_axis_of_a_result(axis: int) -> None:
    x = numbers(4, 3, 2)
    found = sg.vmap(lambda x: x * 2, out_axes=axis)(x)
    np.testing.assert_array_equal(found, np.stack(list(x * 2), axis))


def test_axes_for_each_part_of_an_argument_and_of_a_result() -> None:
    params, x = {"w": numbers(3, 4), "b": numbers(4)}, numbers(5, 3)
    found = sg.vmap(
        lambda p, x: {"y": x @ p["w"] + p["b"], "w": p["b"]},
        in_axes=({"w": None, "b": None}, 0),
        out_axes={"y": 1, "w": None},
    )(params, x)
    np.testing.assert_allclose(found["y"], (x @ params["w"] + params["b"]).T)
    np.testing.assert_array_equal(found["w"], params["b"])


def test_arguments_by_name_and_keywords() -> None:
    def f(w: Any, x: Any, *, shift: Any = 0.0) -> Any:
        return w * x + shift

    x, s = numbers(4), numbers(4)
    np.testing.assert_allclose(sg.vmap(f, in_axes=(None, 0))(2.0, x=x, shift=s), 2 * x + s)
    np.testing.assert_allclose(sg.vmap(f, in_axes=(None, 0))(x=x, w=2.0), 2 * x)
    by_name = sg.vmap(f, in_axes={"w": None, "x": 0, "shift": None})
    np.testing.assert_allclose(by_name(2.0, x, shift=1.0), 2 * x + 1)


def test_values_that_are_no_arrays_stay_as_they_are() -> None:
    found = sg.vmap(lambda x, how: getattr(np, how)(x), in_axes=0)(np.ones((2, 3)), "sum")
    np.testing.assert_array_equal(found, [3.0, 3.0])
    powers = sg.vmap(lambda x, k: x**k, in_axes=(0, None))
    np.testing.assert_array_equal(powers(np.arange(3.0), 2), [0.0, 1.0, 4.0])


def test_a_result_that_is_the_same_for_all_is_repeated() -> None:
    found = sg.vmap(lambda x: (x, np.ones(2), 3.0))(np.zeros(4))
    assert [each.shape for each in found] == [(4,), (4, 2), (4,)]


def test_the_size_alone_makes_a_batch() -> None:
    found = sg.vmap(lambda x: x + 1, in_axes=None, axis_size=3)(np.zeros(2))
    np.testing.assert_array_equal(found, np.ones((3, 2)))


@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_batch_of_any_size(size: int) -> None:
    x = numbers(size, 3)
    found = sg.vmap(lambda x: (np.sum(x), np.outer(x, x), np.sort(x)[0]))(x)
    assert [each.shape for each in found] == [(size,), (size, 3, 3), (size,)]
    np.testing.assert_allclose(found[0], x.sum(1))


@pytest.mark.parametrize("dtype", ["float32", "int64", "int8", "bool"])
def test_dtypes_are_those_of_one_example(dtype: str) -> None:
    x = np.array([[0, 1, 2], [3, 0, 1]]).astype(dtype)
    found = sg.vmap(lambda x: (x, x == 1, np.sum(x)))(x)
    assert_same(found, (x, x == 1, np.sum(x, axis=1)))


def test_numbers_take_the_dtype_of_arrays() -> None:
    assert sg.vmap(lambda x, c: x * c, in_axes=(0, None))(np.ones(2, "float32"), 2.0).dtype == "f4"


def test_a_named_batch() -> None:
    traced = sg.trace(sg.vmap(lambda x: np.sum(x**2)), x=sg.spec("n, 3"))
    for n in (0, 1, 4):
        x = numbers(n, 3)
        np.testing.assert_allclose(traced.lower()(x), (x**2).sum(1))


def test_named_dimensions_within_the_batch() -> None:
    g = sg.trace(sg.vmap(lambda x: np.sum(x) * x), x=sg.spec("b, n"))
    x = numbers(2, 3)
    np.testing.assert_allclose(g.lower()(x), x.sum(1, keepdims=True) * x)


@dataclass
class Layer:
    w: Any
    b: Any


def test_dataclasses_in_and_out() -> None:
    found = sg.vmap(lambda p, x: Layer(p.w @ x, p.b), in_axes=(Layer(0, None), None))(
        Layer(numbers(4, 2, 3), 1.0), np.ones(3)
    )
    assert isinstance(found, Layer)
    assert found.w.shape == (4, 2)
    np.testing.assert_array_equal(found.b, np.ones(4))


nested = st.recursive(
    st.sampled_from([(), (2,), (2, 3)]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=2),
    ),
    max_leaves=5,
).filter(lambda tree: not isinstance(tree, tuple) or not all(isinstance(x, int) for x in tree))


@settings(max_examples=25)
@given(tree=nested, size=st.integers(0, 3), axis=st.sampled_from([0, -1]))
def test_nested_arguments_and_results(tree: Any, size: int, axis: int) -> None:
    def made(shape: Any) -> Any:
        if isinstance(shape, dict):
            return {key: made(each) for key, each in shape.items()}
        if isinstance(shape, list):
            return [made(each) for each in shape]
        if shape and not all(isinstance(each, int) for each in shape):
            return tuple(made(each) for each in shape)
        return np.moveaxis(np.ones((size, *shape)) * 2, 0, axis)

    given_values = made(tree)
    found = sg.vmap(lambda t: tree_map(lambda x: x * 3, t), in_axes=axis, out_axes=axis)(
        given_values
    )
    assert_same(found, tree_map(lambda x: x * 3, given_values))


# -- refusals --------------------------------------------------------------------------------------
def test_sizes_that_differ_are_named() -> None:
    with pytest.raises(sg.ShapeError, match="sizes of the batch differ: 3 and 4") as error:
        sg.vmap(lambda params, x: params["w"] * x)({"w": np.ones(3)}, np.ones((4, 2)))
    assert "axis 0 of params['w'] (shape [3]): 3" in str(error.value)
    assert "axis 0 of x (shape [4, 2]): 4" in str(error.value)


def test_a_size_that_is_not_that_of_the_arrays() -> None:
    with pytest.raises(sg.ShapeError, match="differ: 2 and 3"):
        sg.vmap(lambda x: x, axis_size=2)(np.ones(3))


def test_nothing_to_map_over() -> None:
    with pytest.raises(sg.InputError, match="No argument is batched"):
        sg.vmap(lambda x: x, in_axes=None)(np.ones(3))


@pytest.mark.parametrize("axis", [2, -3])
def test_an_axis_that_is_not_there(axis: int) -> None:
    with pytest.raises(sg.ShapeError, match=r"x has shape \[3, 2\], and no axis"):
        sg.vmap(lambda x: x, in_axes=axis)(np.ones((3, 2)))
    with pytest.raises(sg.ShapeError, match="result has 2 dimensions with the batch"):
        sg.vmap(lambda x: x, out_axes=axis)(np.ones((3, 2)))


@pytest.mark.parametrize("value", [2.0, 2, True])
def test_a_number_has_no_axis(value: Any) -> None:
    with pytest.raises(sg.ShapeError, match=r"k .*no axis 0") as error:
        sg.vmap(lambda x, k: x * k)(np.ones(3), value)
    assert "None for k" in str(error.value)


@pytest.mark.parametrize("axes", [(0,), (0, 0, 0), {"x": 0}, {"x": 0, "y": 0, "z": 0}])
def test_axes_for_other_arguments(axes: Any) -> None:
    with pytest.raises(sg.InputError, match="in_axes"):
        sg.vmap(lambda x, y: x + y, in_axes=axes)(np.ones(3), np.ones(3))


def test_axes_nested_otherwise() -> None:
    with pytest.raises(sg.InputError, match="not nested as p is"):
        sg.vmap(lambda p: p["w"], in_axes=({"v": 0},))({"w": np.ones(3)})
    with pytest.raises(sg.InputError, match="not nested as the result is"):
        sg.vmap(lambda x: (x, x), out_axes=(0, 0, 0))(np.ones(3))
    with pytest.raises(sg.InputError, match="is no axis"):
        sg.vmap(lambda x: x, in_axes="0")
    with pytest.raises(sg.InputError, match="is no axis"):
        sg.vmap(lambda x: x, out_axes=True)


def test_a_result_said_to_be_shared_that_differs() -> None:
    with pytest.raises(sg.InputError, match="differs within the batch"):
        sg.vmap(lambda x: x, out_axes=None)(np.ones(3))


def test_a_result_that_is_no_array() -> None:
    with pytest.raises(sg.TraceError, match="no array"):
        sg.vmap(lambda x: "three")(np.ones(3))


def test_options_of_derivatives_are_refused() -> None:
    with pytest.raises(sg.InputError, match="takes no wrt"):
        sg.vmap(lambda x: x, wrt=0)


# -- with other transforms -------------------------------------------------------------------------
def loss(w: Any, x: Any, y: Any) -> Any:
    return np.sum((np.tanh(w @ x) - y) ** 2)


def test_gradients_of_each_example() -> None:
    w, x, y = numbers(2, 3), numbers(5, 3), numbers(5, 2)
    found = sg.vmap(sg.grad(loss), in_axes=(None, 0, 0))(w, x, y)
    one = sg.grad(loss)
    np.testing.assert_allclose(found, np.stack([one(w, x[i], y[i]) for i in range(5)]))


def test_the_gradient_of_a_batch() -> None:
    w, x, y = numbers(2, 3), numbers(5, 3), numbers(5, 2)
    whole = sg.grad(lambda w: np.sum(sg.vmap(loss, in_axes=(None, 0, 0))(w, x, y)))
    one = sg.grad(loss)
    np.testing.assert_allclose(whole(w), sum(one(w, x[i], y[i]) for i in range(5)))


def curved(x: Any) -> Any:
    return np.sum(np.sin(x) * x[::-1] ** 2) * x[0]


DERIVATIVES: dict[str, Callable[[Any, Any], Any]] = {
    "value_and_grad": lambda x, v: sg.value_and_grad(curved)(x),
    "jacobian": lambda x, v: sg.jacobian(lambda x: np.tanh(x) * x[0])(x),
    "forward": lambda x, v: sg.jacobian(lambda x: np.tanh(x) * x[0], mode="forward")(x),
    "hessian": lambda x, v: sg.hessian(curved)(x),
    "hvp": lambda x, v: sg.hvp(curved)(x, v=v),
    "jvp": lambda x, v: sg.jvp(np.tanh)(x, tangent=v),
    "vjp": lambda x, v: sg.vjp(np.tanh)(x, cotangent=v),
    "third": lambda x, v: sg.grad(lambda x: np.sum(sg.hessian(curved)(x) * v))(x),
}


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_of_each_example(name: str) -> None:
    f = DERIVATIVES[name]
    x, v = numbers(4, 3), numbers(4, 3)
    assert_same(sg.vmap(f)(x, v), looped(f, x, v))


def test_a_direction_by_name() -> None:
    x, v = numbers(4, 3), numbers(4, 3)
    value, moved = sg.vmap(sg.jvp(np.sin))(x, tangent=v)
    np.testing.assert_allclose(value, np.sin(x))
    np.testing.assert_allclose(moved, np.cos(x) * v)


def test_second_derivatives_of_a_batch() -> None:
    x = numbers(4, 3)

    def total(x: Any) -> Any:
        return np.sum(sg.vmap(curved)(x))

    blocks = sg.hessian(total)(x)
    each = looped(lambda x: sg.hessian(curved)(x), x)
    for i in range(4):
        np.testing.assert_allclose(blocks[i, :, i], each[i], atol=1e-12)
    np.testing.assert_allclose(
        sg.jacobian(sg.vmap(curved), diagonal=True)(x), looped(lambda x: sg.grad(curved)(x), x)
    )


def test_a_batch_of_batches() -> None:
    a, b = numbers(4, 3), numbers(5, 3)
    kernel = sg.vmap(sg.vmap(lambda x, y: np.exp(-np.sum((x - y) ** 2)), (None, 0)), (0, None))
    wanted = np.exp(-((a[:, None] - b[None]) ** 2).sum(-1))
    np.testing.assert_allclose(kernel(a, b), wanted)
    found = sg.grad(lambda a: np.sum(kernel(a, b) ** 2))(a)
    plain = sg.grad(lambda a: np.sum(np.exp(-np.sum((a[:, None] - b) ** 2, axis=-1)) ** 2))(a)
    np.testing.assert_allclose(found, plain)


def test_what_is_enclosed_is_shared() -> None:
    x = numbers(4, 3)

    def total(w: Any) -> Any:
        return np.sum(sg.vmap(lambda x: np.tanh(w @ x))(x))

    np.testing.assert_allclose(sg.grad(total)(np.ones(3)), (1 - np.tanh(x.sum(1)) ** 2) @ x)


# -- loops and branches ----------------------------------------------------------------------------
def test_a_loop_for_each() -> None:
    def f(c: Any, xs: Any, w: Any) -> Any:
        def step(state: Any, x: Any) -> Any:
            h, count = state
            h = np.tanh(w @ h + x)
            return (h, count + 1), np.sum(h)

        return sg.scan(step, (c, 0.0), xs)

    c, xs, w = numbers(4, 2), numbers(4, 5, 2), numbers(2, 2)
    assert_same(sg.vmap(f, in_axes=(0, 0, None))(c, xs, w), looped(f, c, xs, w, axes=(0, 0, None)))
    many = numbers(4, 2, 2)
    assert_same(
        sg.vmap(f, in_axes=(None, None, 0))(c[0], xs[0], many),
        looped(f, c[0], xs[0], many, axes=(None, None, 0)),
    )

    def g(c: Any, xs: Any, w: Any) -> Any:
        return sg.grad(lambda w: np.sum(f(c, xs, w)[0][0]) + np.sum(f(c, xs, w)[1]))(w)

    assert_same(sg.vmap(g, in_axes=(0, 0, None))(c, xs, w), looped(g, c, xs, w, axes=(0, 0, None)))
    total = sg.grad(lambda w: np.sum(sg.vmap(f, in_axes=(0, 0, None))(c, xs, w)[1]))(w)
    each = looped(lambda c, xs: sg.grad(lambda w: np.sum(f(c, xs, w)[1]))(w), c, xs)
    np.testing.assert_allclose(total, each.sum(0))


def test_what_no_example_changes_in_a_loop_is_carried_once() -> None:
    x = sg.input("x", (4,))

    def f(x: Any) -> Any:
        return sg.scan(lambda c, _: ((c[0] * x, c[1] + 1.0), c[1]), (1.0, 0.0), None, 3)

    (product, count), counts = sg.vmap(f)(x)
    assert product.shape == count.shape == (4,)
    scan = next(n for n in sg.graph(product, count, counts).dag.nodes if n.op.name == "scan")
    assert [aval.shape for aval in scan.results][:2] == [(4,), ()]


def test_a_batch_within_a_loop() -> None:
    w, x = numbers(3, 3), numbers(4, 3)

    def f(w: Any) -> Any:
        def step(h: Any, _: Any) -> Any:
            return sg.vmap(lambda h: np.tanh(w @ h))(h), None

        return np.sum(sg.scan(step, x, None, 3)[0])

    def plain(w: Any) -> Any:
        h = x
        for _ in range(3):
            h = np.tanh(h @ w.T)
        return np.sum(h)

    np.testing.assert_allclose(sg.grad(f)(w), sg.grad(plain)(w))


def branching(x: Any, y: Any) -> Any:
    return sg.cond(x > 0, lambda: (np.log(x) * y, np.sum(y)), lambda: (y / 2, -x))


def test_a_branch_for_each() -> None:
    x, y = np.array([1.0, -2.0, 0.0, 3.0]), numbers(4, 3)
    with np.errstate(all="ignore"):
        assert_same(sg.vmap(branching)(x, y), looped(branching, x, y))
        shared = sg.vmap(branching, in_axes=(0, None))(x, y[0])
    assert_same(shared, looped(branching, x, y[0], axes=(0, None)))


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_branch_that_is_not_taken_poisons_no_derivative(order: int) -> None:
    def f(w: Any, x: Any) -> Any:
        poles = lambda: np.sum(np.log(x + 0 * w)) + np.sqrt(np.prod(x) * w)  # noqa: E731
        return sg.cond(x[0] > 0, poles, lambda: np.sum(x**2) * w**3)

    def derived(f: Any) -> Any:
        for _ in range(order):
            f = sg.grad(f)
        return f

    x = np.array([[1.0, 2.0], [-1.0, 0.0], [0.0, 0.0], [3.0, 0.5]])
    each = derived(f)
    wanted = np.stack([each(2.0, row) for row in x])
    assert np.all(np.isfinite(wanted))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(sg.vmap(each, in_axes=(None, 0))(2.0, x), wanted)
        total = derived(lambda w: np.sum(sg.vmap(f, in_axes=(None, 0))(w, x)))(2.0)
    np.testing.assert_allclose(total, wanted.sum())


def test_a_condition_of_all_stays_a_branch() -> None:
    x = sg.input("x", (4, 3))
    c = sg.input("c")
    found = sg.vmap(lambda x: sg.cond(c > 0, lambda: x, lambda: c * 2 + x * 0))(x)
    names = [node.op.name for node in sg.graph(found).dag.nodes]
    assert "cond" in names
    assert "where" not in names


def test_a_branch_that_may_raise_is_not_run_for_others() -> None:
    table, x = np.arange(3.0), np.array([1, 7, 2])

    def f(i: Any) -> Any:
        return sg.cond(i < 3, lambda: snp.take(table, i, axis=0), lambda: -1.0)

    np.testing.assert_array_equal(sg.vmap(f)(x), [1.0, -1.0, 2.0])

    def root(a: Any) -> Any:
        return sg.cond(a[0, 0] > 0, lambda: np.linalg.cholesky(a)[1, 1], lambda: np.sum(a))

    a = np.array([np.diag([4.0, 9.0]), -np.eye(2)])
    np.testing.assert_array_equal(sg.vmap(root)(a), [3.0, -2.0])
    np.testing.assert_allclose(
        sg.grad(lambda a: np.sum(sg.vmap(root)(a)))(a), looped(lambda a: sg.grad(root)(a), a)
    )


def counted(x: Any, limit: Any) -> Any:
    return sg.while_loop(lambda c: c[0] < limit, lambda c: (c[0] * 2 + 1, c[1] + 1), (x, 0))


def test_a_loop_that_ends_for_each_in_its_own_time() -> None:
    x, limit = np.array([1.0, 20.0, 0.5, 9.0]), np.array([10.0, 10.0, 1000.0, 10.0])
    assert_same(sg.vmap(counted)(x, limit), looped(counted, x, limit))
    assert_same(
        sg.vmap(counted, in_axes=(0, None))(x, 50.0), looped(counted, x, 50.0, axes=(0, None))
    )
    assert_same(
        sg.vmap(counted, in_axes=(None, 0))(1.0, limit), looped(counted, 1.0, limit, axes=(None, 0))
    )
    f = lambda x, v: sg.jvp(lambda x: counted(x, 50.0)[0])(x, tangent=v)  # noqa: E731
    assert_same(sg.vmap(f)(x, np.ones(4)), looped(f, x, np.ones(4)))
    assert sg.vmap(counted)(x[:0], limit[:0])[0].shape == (0,)


def test_a_bounded_loop_has_a_gradient_for_each() -> None:
    def f(x: Any) -> Any:
        return sg.while_loop(lambda c: c < 10.0, lambda c: c * c + 0.5 * x, x, max_steps=6)

    x = np.array([1.5, 20.0, 3.0])
    g = lambda x: sg.grad(f)(x)  # noqa: E731
    assert_same(sg.vmap(g)(x), looped(g, x))


def test_a_loop_of_steps_that_may_raise_runs_for_each_alone() -> None:
    table = np.array([1, 2, 3, 9])

    def f(i: Any) -> Any:
        return sg.while_loop(lambda c: c < 4, lambda c: snp.take(table, c, axis=0), i)

    np.testing.assert_array_equal(sg.vmap(f)(np.array([0, 3, 9])), [9, 9, 9])


# -- rules of users --------------------------------------------------------------------------------
def test_a_derivative_of_ones_own() -> None:
    @sg.custom_vjp
    def clipped(x: Any, scale: Any) -> Any:
        return {"y": np.exp(x) * scale, "n": np.sum(x)}

    @clipped.backward
    def _(ct: Any, out: Any, x: Any, scale: Any) -> Any:
        return 7 * ct["y"] * out["y"] * np.sum(x) + ct["n"], np.sum(ct["y"]) * scale

    def f(x: Any, s: Any) -> Any:
        out = clipped(x, s)
        return np.sum(out["y"] ** 2) + out["n"]

    x, s = numbers(4, 3), numbers(4)
    g = lambda x, s: sg.grad(f, wrt=(0, 1))(x, s)  # noqa: E731
    assert_same(sg.vmap(f)(x, s), looped(f, x, s))
    assert_same(sg.vmap(sg.grad(f, wrt=(0, 1)))(x, s), looped(g, x, s))
    total = sg.grad(lambda x, s: np.sum(sg.vmap(f, in_axes=(0, None))(x, s)), wrt=(0, 1))
    each = looped(g, x, s[:1].repeat(4))
    assert_same(total(x, s[0]), (each[0], each[1].sum(0)))
    h = lambda x, s: sg.jacobian(lambda x: clipped(x, s)["y"])(x)  # noqa: E731
    assert_same(sg.vmap(h)(x, s), looped(h, x, s))
    whole = sg.jacobian(lambda x: sg.vmap(lambda x: clipped(x, s[0])["y"])(x))(x)
    for i in range(4):
        np.testing.assert_allclose(whole[i, :, i], once(h, x[i], s[0]))


def test_a_rule_for_stacked_cotangents() -> None:
    f = sg.custom_vjp(lambda x, w: x * w, lambda ct, out, x, w: (3 * ct * w, None), stacks=True)
    x, w = numbers(4, 3), numbers(3)
    g = lambda x: sg.jacobian(lambda x: f(x, w))(x)  # noqa: E731
    assert_same(sg.vmap(g)(x), looped(g, x))
    whole = sg.jacobian(lambda x: sg.vmap(lambda x: f(x, w))(x))(x)
    np.testing.assert_allclose(np.einsum("bibi->bi", whole), np.tile(3 * w, (4, 1)))


def test_an_operation_of_ones_own_is_applied_to_one_after_the_other() -> None:
    @sg.custom_op(vjp=lambda ct, out, x: ct * np.cos(x), name="vmapped_sine")
    def vmapped_sine(x: Any) -> Any:
        assert x.ndim == 1
        return np.sin(x)

    x = numbers(4, 3)
    np.testing.assert_allclose(sg.vmap(vmapped_sine)(x), np.sin(x))
    found = sg.grad(lambda x: np.sum(sg.vmap(vmapped_sine)(x)))(x)
    np.testing.assert_allclose(found, np.cos(x))


def test_an_operation_of_ones_own_that_takes_a_batch() -> None:
    shapes: list[Any] = []

    @sg.custom_op(vjp=lambda ct, out, x, s: (ct * s, ct * x), name="vmapped_scale", batches=True)
    def vmapped_scale(x: Any, s: Any) -> Any:
        shapes.append(x.shape)
        return x * s

    x, s = numbers(4, 3), numbers(3)
    f = sg.vmap(vmapped_scale, in_axes=(0, None))
    np.testing.assert_allclose(f(x, s), x * s)
    assert shapes[-1] == (4, 3)
    found = sg.grad(lambda s: np.sum(f(x, s) * x))(s)
    np.testing.assert_allclose(found, np.sum(x * x, axis=0))


def test_a_clipped_gradient_is_that_of_one_example() -> None:
    f = lambda x: np.sum(sg.numpy.clip_gradient(x, norm=1.0) ** 2)  # noqa: E731
    x = numbers(4, 3) * 3
    g = lambda x: sg.grad(f)(x)  # noqa: E731
    assert_same(sg.vmap(g)(x), looped(g, x))
    np.testing.assert_allclose(sg.grad(lambda x: np.sum(sg.vmap(f)(x)))(x), looped(g, x))


def test_solved_equations() -> None:
    def f(a: Any) -> Any:
        x = sg.fixed_point(lambda x, a: np.cos(x) * a, np.zeros(2), a)
        return np.sum(x)

    a = np.array([[0.3, 0.5], [0.1, -0.4], [0.0, 0.2]])
    assert_same(sg.vmap(f)(a), looped(f, a), 1e-7)
    g = lambda a: sg.grad(f)(a)  # noqa: E731
    assert_same(sg.vmap(g)(a), looped(g, a), 1e-6)
    np.testing.assert_allclose(sg.grad(lambda a: np.sum(sg.vmap(f)(a)))(a), looped(g, a), 1e-6)


def test_conjugate_gradients() -> None:
    def f(b: Any) -> Any:
        return np.sum(sg.cg(lambda x: x * 2 + np.sum(x), b) ** 2)

    b = numbers(3, 4)
    g = lambda b: sg.grad(f)(b)  # noqa: E731
    assert_same(sg.vmap(f)(b), looped(f, b), 1e-7)
    assert_same(sg.vmap(g)(b), looped(g, b), 1e-6)


# -- as short as what is written by hand -----------------------------------------------------------
PARAMS = {"w1": numbers(8, 16), "b1": numbers(16), "w2": numbers(16, 5), "b2": numbers(5)}


def logits(p: Any, x: Any) -> Any:
    return np.tanh(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]


def one_label(p: Any, x: Any, label: Any) -> Any:
    return -snp.log_softmax(logits(p, x))[label]


def all_labels(p: Any, x: Any, label: Any) -> Any:
    return np.mean(-snp.log_softmax(logits(p, x))[np.arange(x.shape[0]), label])


def one_target(p: Any, x: Any, t: Any) -> Any:
    return -np.sum(t * snp.log_softmax(logits(p, x)))


def all_targets(p: Any, x: Any, t: Any) -> Any:
    return np.mean(-np.sum(t * snp.log_softmax(logits(p, x)), axis=-1))


def operations(graph: sg.Graph) -> Counter[str]:
    return Counter(node.op.name for node in graph.dag.nodes)


@pytest.mark.parametrize(
    ("one", "whole", "target"),
    [
        (one_label, all_labels, RNG.integers(0, 5, 32)),
        (one_target, all_targets, np.eye(5)[RNG.integers(0, 5, 32)]),
    ],
)
def test_graphs_are_those_written_by_hand(one: Any, whole: Any, target: Any) -> None:
    def mean(p: Any, x: Any, t: Any) -> Any:
        return np.mean(sg.vmap(one, in_axes=(None, 0, 0))(p, x, t))

    x = numbers(32, 8)
    found, wanted = sg.value_and_grad(mean), sg.value_and_grad(whole)
    assert operations(found.graph(PARAMS, x, target)) == operations(wanted.graph(PARAMS, x, target))
    assert_same(found(PARAMS, x, target), wanted(PARAMS, x, target))


STACK = numbers(16, 5, 4)
MATRIX = numbers(3, 3)
POINTS = numbers(17, 3)


def attended(q: Any, k: Any, v: Any) -> Any:
    return snp.softmax(q @ np.swapaxes(k, -1, -2) / 2.0) @ v


def run_over(w: Any, xs: Any) -> Any:
    return sg.scan(lambda h, x: (np.tanh(w @ h + x), None), np.zeros(3), xs)[0]


def all_run_over(w: Any, xs: Any) -> Any:
    first = np.zeros((16, 3))
    return sg.scan(lambda h, x: (np.tanh(h @ w.T + x), None), first, np.swapaxes(xs, 0, 1))[0]


BY_HAND: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "a matrix times each vector": (
        lambda w: np.tanh(sg.vmap(lambda x: w @ x)(POINTS)),
        lambda w: np.tanh(POINTS @ w.T),
        (MATRIX,),
    ),
    "attention": (sg.vmap(attended), attended, (STACK, STACK + 1, STACK + 2)),
    "a recurrent network": (
        sg.vmap(run_over, in_axes=(None, 0)),
        all_run_over,
        (MATRIX, numbers(16, 7, 3)),
    ),
    "a kernel matrix": (
        sg.vmap(sg.vmap(lambda x, y: np.exp(-np.sum((x - y) ** 2)), (None, 0)), (0, None)),
        lambda x, y: np.exp(-np.sum((x[:, None] - y) ** 2, axis=-1)),
        (numbers(16, 3), POINTS),
    ),
    "quadratic forms": (
        sg.vmap(lambda x, m: x @ m @ x, in_axes=(0, None)),
        lambda x, m: np.sum((x @ m) * x, axis=-1),
        (POINTS, MATRIX),
    ),
    "a convolution": (
        sg.vmap(snp.conv, in_axes=(0, None)),
        snp.conv,
        (numbers(16, 2, 8), numbers(3, 2, 3)),
    ),
}


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", BY_HAND)
def test_graphs_with_gradients_are_as_short_as_those_written_by_hand(name: str) -> None:
    one, whole, at = BY_HAND[name]
    found = sg.value_and_grad(lambda *a: np.sum(one(*a) ** 2))
    wanted = sg.value_and_grad(lambda *a: np.sum(whole(*a) ** 2))
    assert operations(found.graph(*at)).total() <= operations(wanted.graph(*at)).total()
    assert_same(found(*at), wanted(*at))


def test_no_loop_in_gradients_of_each_example() -> None:
    per_example = sg.vmap(sg.grad(one_target), in_axes=(None, 0, 0))
    names = operations(per_example.graph(PARAMS, numbers(32, 8), np.ones((32, 5))))
    assert "scan" not in names
    # Nothing that all share is repeated for each.
    assert "broadcast_to" not in names


# -- the function it gives -------------------------------------------------------------------------
def test_programs_are_kept() -> None:
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x * 2

    batched = sg.vmap(f)
    for size in (3, 3, 4, 3):
        batched(np.ones(size))
    assert len(calls) == 2
    assert batched.cache_info().misses == 2
    assert batched.__name__ == "vmap_f"
    assert str(inspect.signature(batched)).startswith("(x")


def test_what_is_stated_of_a_batch_is_known_of_its_axis_alone() -> None:
    p = sg.input("p", (3, 3), assume=sg.simplex(axis=0))
    columns, rows = (sg.vmap(lambda p: p, in_axes=axis)(p).node for axis in (1, 0))
    known = Knowledge()
    assert known.of(columns).has(sg.simplex(-1))
    assert not known.of(columns).has(sg.simplex(-2))
    assert known.of(rows).has(sg.simplex(-2))
    assert not known.of(rows).has(sg.simplex(-1))
    soft = sg.vmap(snp.softmax, out_axes=1)(sg.input("x", (3, 3))).node
    assert Knowledge().of(soft).has(sg.simplex(-2))
    assert not Knowledge().of(soft).has(sg.simplex(-1))


def test_a_backend_of_another_library() -> None:
    pytest.importorskip("jax")
    x = numbers(4, 3)
    found = sg.vmap(lambda x: np.sum(np.tanh(x)), backend="jax")(x)
    np.testing.assert_allclose(np.asarray(found), np.tanh(x).sum(1), rtol=1e-5)
