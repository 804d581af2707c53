"""Function transforms: nested arguments, static ones, the cache, composition, refusals."""

from __future__ import annotations

import inspect
import pydoc
import threading
from collections import namedtuple
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph import numpy as snp
from symgraph.pytrees import register

RNG = np.random.default_rng(0)


def energy(x, k=2.0):
    return np.sum(k * x**2)


def test_gradient_of_a_function_with_respect_to_its_first_parameter() -> None:
    df = sg.grad(energy)
    np.testing.assert_allclose(df(np.array([1.0, 2.0])), [4.0, 8.0])
    np.testing.assert_allclose(df(np.array([1.0, 2.0]), k=3.0), [6.0, 12.0])


def test_value_and_gradient_with_respect_to_several() -> None:
    f = sg.value_and_grad(energy, wrt=("x", "k"))
    value, (dx, dk) = f(np.array([1.0, 2.0]), 2.0)
    assert value == 10.0
    assert dk == 5.0
    np.testing.assert_allclose(dx, [4.0, 8.0])
    (again,) = sg.grad(energy, wrt=(1,))(np.array([1.0, 2.0]), 2.0)
    assert again == 5.0


@pytest.mark.parametrize(
    "transform", [sg.grad, sg.value_and_grad, sg.jacobian, sg.hessian, sg.jvp, sg.vjp, sg.hvp]
)
def test_help_tells_the_options_and_what_a_trace_freezes(transform: Any) -> None:
    shown = inspect.signature(transform).parameters
    assert {"f", "wrt", "has_aux", "static", "backend", "trust", "cache_size"} <= set(shown)
    assert shown["cache_size"].default == 64
    told = pydoc.render_doc(transform)
    for words in ("each structure, shapes and dtypes", "static", "captured", "traced again"):
        assert words in told


# -- nested arguments ----------------------------------------------------------------------------
Point = namedtuple("Point", "x y")


@dataclass
class Layer:
    w: Any
    b: Any
    activation: str = "tanh"


def network(params: dict[str, Any], x: Any) -> Any:
    for layer in params["layers"]:
        x = x @ layer.w + layer.b
        if layer.activation == "tanh":
            x = np.tanh(x)
    return np.sum(x * x) * params["scale"]


def parameters() -> dict[str, Any]:
    return {
        "layers": [
            Layer(RNG.normal(size=(3, 4)), np.zeros(4)),
            Layer(RNG.normal(size=(4, 2)), np.ones(2), activation="none"),
        ],
        "scale": 0.5,
    }


def test_gradients_are_nested_as_their_arguments() -> None:
    params, x = parameters(), RNG.normal(size=(5, 3))
    value, found = sg.value_and_grad(network)(params, x)
    np.testing.assert_allclose(value, network(params, x))
    assert isinstance(found["layers"], list)
    first = found["layers"][0]
    assert isinstance(first, Layer)
    assert first.activation is None
    np.testing.assert_allclose(found["scale"], 2 * value)
    hidden = np.tanh(x @ params["layers"][0].w)
    out = hidden @ params["layers"][1].w + 1
    np.testing.assert_allclose(found["layers"][1].w, hidden.T @ out, rtol=1e-12)
    np.testing.assert_allclose(found["layers"][1].b, out.sum(axis=0), rtol=1e-12)


def test_named_tuples_and_tuples() -> None:
    found = sg.grad(lambda p: p.x**2 * p.y)(Point(3.0, 2.0))
    assert found == Point(12.0, 9.0)
    found = sg.grad(lambda p: p[0] * p[1][0])((2.0, (5.0,)))
    assert found == (5.0, (2.0,))


def test_a_type_of_ones_own_may_be_a_container() -> None:
    class Box:
        def __init__(self, inside: Any) -> None:
            self.inside = inside

    register(Box, lambda box: (("inside",), (box.inside,)), lambda keys, parts: Box(*parts))
    found = sg.grad(lambda box: np.sum(box.inside**2))(Box(np.array([1.0, 2.0])))
    assert isinstance(found, Box)
    np.testing.assert_allclose(found.inside, [2.0, 4.0])


def test_jacobians_and_hessians_of_nested_values_are_nested_twice() -> None:
    def f(p: dict[str, Any]) -> dict[str, Any]:
        return {"sum": p["a"] + np.sum(p["b"]), "outer": p["a"] * p["b"][0]}

    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])
    found = sg.jacobian(f)({"a": a, "b": b})
    np.testing.assert_allclose(found["sum"]["a"], np.eye(2))
    np.testing.assert_allclose(found["sum"]["b"], np.ones((2, 3)))
    np.testing.assert_allclose(found["outer"]["a"], 3 * np.eye(2))
    np.testing.assert_allclose(found["outer"]["b"], np.outer(a, [1, 0, 0]))

    def scalar(p: dict[str, Any]) -> Any:
        return np.sum(p["a"] ** 3) * p["s"]

    twice = sg.hessian(scalar)({"a": a, "s": 2.0})
    np.testing.assert_allclose(twice["a"]["a"], np.diag(12 * a))
    np.testing.assert_allclose(twice["a"]["s"], 3 * a**2)
    np.testing.assert_allclose(twice["s"]["a"], 3 * a**2)
    assert twice["s"]["s"] == 0.0
    (xx, xy), (yx, yy) = sg.hessian(lambda x, y: x**2 * y, wrt=("x", "y"))(3.0, 2.0)
    assert (xx, xy, yx, yy) == (4.0, 6.0, 6.0, 0.0)


def test_products_with_the_jacobian_and_the_hessian() -> None:
    w, x, v, u = (RNG.normal(size=s) for s in ((4, 3), (3,), (3,), (4,)))

    def f(x: Any) -> Any:
        return np.tanh(w @ x)

    jacobian = sg.jacobian(f)(x)
    value, tangent = sg.jvp(f)(x, tangent=v)
    np.testing.assert_allclose(value, f(x))
    np.testing.assert_allclose(tangent, jacobian @ v)
    value, cotangent = sg.vjp(f)(x, cotangent=u)
    np.testing.assert_allclose(value, f(x))
    np.testing.assert_allclose(cotangent, u @ jacobian)

    def scalar(p: dict[str, Any]) -> Any:
        return np.sum(np.exp(p["x"])) * p["s"] ** 2

    point, direction = {"x": x, "s": 1.5}, {"x": v, "s": 0.5}
    product = sg.hvp(scalar)(point, v=direction)
    np.testing.assert_allclose(product["x"], 2.25 * np.exp(x) * v + 3 * np.exp(x) * 0.5)
    np.testing.assert_allclose(product["s"], 3 * np.exp(x) @ v + 2 * np.sum(np.exp(x)) * 0.5)
    forward = sg.hvp(scalar, mode="forward")(point, v=direction)
    np.testing.assert_allclose(forward["x"], product["x"])
    _, both = sg.jvp(lambda x, y: (x * y, x + y), wrt=("x", "y"))(2.0, 3.0, tangent=(1.0, 10.0))
    assert both == (23.0, 11.0)


def test_auxiliary_output_comes_beside_the_derivative() -> None:
    def f(x: Any) -> Any:
        return np.sum(x**2), {"double": 2 * x, "note": "text", "none": None}

    x = np.array([1.0, 2.0])
    gradient, aux = sg.grad(f, has_aux=True)(x)
    np.testing.assert_allclose(gradient, [2.0, 4.0])
    np.testing.assert_allclose(aux["double"], [2.0, 4.0])
    assert aux["note"] == "text"
    assert aux["none"] is None
    (value, aux), gradient = sg.value_and_grad(f, has_aux=True)(x)
    assert value == 5.0
    np.testing.assert_allclose(aux["double"], [2.0, 4.0])
    hessian, _ = sg.hessian(f, has_aux=True)(x)
    np.testing.assert_allclose(hessian, 2 * np.eye(2))
    with pytest.raises(sg.TraceError, match="returns a pair"):
        sg.grad(lambda x: np.sum(x), has_aux=True)(x)


def test_parameters_of_every_kind() -> None:
    def f(a, /, b, *rest, scale=1.0, **more):
        total = a * b * scale
        for each in (*rest, *more.values()):
            total = total + each**2
        return total

    assert sg.grad(f, 0)(2.0, 3.0) == 3.0
    assert sg.grad(f, "b")(2.0, 3.0) == 2.0
    assert sg.grad(f, 3)(2.0, 3.0, 4.0, 5.0) == 10.0
    assert sg.grad(f, "scale")(2.0, 3.0, scale=5.0) == 6.0
    assert sg.grad(f, "extra")(2.0, 3.0, extra=7.0) == 14.0
    assert sg.grad(partial(f, 2.0), "b")(3.0) == 2.0
    with pytest.raises(sg.InputError, match=r"\*rest holds any number"):
        sg.grad(f, "rest")
    with pytest.raises(sg.InputError, match="not given"):
        sg.grad(f, 3)(2.0, 3.0)


# -- static arguments and the cache --------------------------------------------------------------
def test_ints_flags_and_text_are_static() -> None:
    traced = []

    def f(x, steps, kind="sin", flag=False, table=None):
        traced.append((steps, kind, flag))
        for _ in range(steps):
            x = np.sin(x) if kind == "sin" else x * x
        return np.sum(x if not flag else -x)

    df = sg.grad(f)
    x = np.array([0.5])
    np.testing.assert_allclose(df(x, 1), np.cos(x))
    np.testing.assert_allclose(df(x, 2), np.cos(np.sin(x)) * np.cos(x))
    np.testing.assert_allclose(df(x, 3, "square", flag=True), -8 * x**7)
    df(x, 2)
    assert len(traced) == 3
    assert df.cached[-1] == "x: float64[1], steps: 2"
    with pytest.raises(sg.InputError, match="Argument table is no array, and set cannot be hashed"):
        df(x, 1, table=set())


def test_one_and_true_and_one_point_zero_are_told_apart() -> None:
    def f(x, k):
        return np.sum(x) * (10.0 if k is True else 1.0)

    df = sg.grad(f)
    assert [float(df(1.5, k)) for k in (True, 1, True, 1.0)] == [10.0, 1.0, 10.0, 1.0]


def test_arrays_can_be_made_static() -> None:
    def f(x, table):
        return np.sum(x) * float(table[0]) if isinstance(table, tuple) else x

    assert sg.grad(f, static="table")(1.0, (2.5, 3.5)) == 2.5
    with pytest.raises(sg.InputError, match="static"):
        sg.grad(f, wrt="x", static=("x",))


def test_programs_are_kept_by_shape_and_dtype() -> None:
    calls = []

    def f(x):
        calls.append(x.shape)
        return np.sum(np.exp(x))

    df = sg.grad(f)
    for shape in ((2,), (2,), (3,), (2,)):
        df(np.zeros(shape))
    df(np.zeros(2, "float32"))
    assert calls == [(2,), (3,), (2,)]
    assert df(np.zeros(2, "float32")).dtype == np.float32
    assert df.cache_info() == (3, 3, 64, 3)
    df.cache_clear()
    assert df.cache_info() == (0, 0, 64, 0)


def test_the_cache_is_bounded_and_forgets_what_was_used_longest_ago() -> None:
    calls = []

    def f(x):
        calls.append(len(x))
        return np.sum(x * x)

    df = sg.grad(f, cache_size=2)
    for size in (1, 2, 1, 3, 1, 2):
        df(np.zeros(size))
    assert calls == [1, 2, 3, 2]
    assert df.cache_info().currsize == 2
    assert df.cached == ["x: float64[1]", "x: float64[2]"]


def test_dicts_are_one_structure_in_any_order() -> None:
    df = sg.grad(lambda p: p["a"] * p["b"])
    assert df({"a": 2.0, "b": 3.0}) == {"a": 3.0, "b": 2.0}
    assert df({"b": 3.0, "a": 2.0}) == {"a": 3.0, "b": 2.0}
    assert df.cache_info().misses == 1


def test_floats_do_not_widen_the_arrays_beside_them() -> None:
    x = np.ones(3, "float32")
    value, gradient = sg.value_and_grad(lambda x, k: np.sum(x * k))(x, 2.0)
    assert value.dtype == gradient.dtype == np.float32


def test_calls_from_several_threads() -> None:
    df = sg.grad(lambda x: np.sum(np.exp(x)))
    found: list[Any] = [None] * 16

    def work(i: int) -> None:
        found[i] = df(np.full(1 + i % 4, 0.1 * i))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, each in enumerate(found):
        np.testing.assert_allclose(each, np.exp(np.full(1 + i % 4, 0.1 * i)))


def test_the_graph_and_the_program_can_be_seen() -> None:
    df = sg.grad(lambda x: np.sum(np.exp(x)))
    graph = df.graph(np.zeros(3))
    assert isinstance(graph, sg.Graph)
    assert graph.op_count() == 1
    assert "exp" in df.lowered(np.zeros(3)).source


# -- composition ---------------------------------------------------------------------------------
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_m15_gradients_of_gradients_of_functions(order: int) -> None:
    """M15: to any order, `sg.grad(sg.grad(f))`."""
    f = lambda x: np.exp(2 * x) + np.sin(x)  # noqa: E731
    df: Any = f
    for _ in range(order):
        df = sg.grad(df)
    cycle = [np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)]
    wanted = 2**order * np.exp(0.6) + cycle[order % 4](0.3)
    np.testing.assert_allclose(df(0.3), wanted, rtol=1e-10)


def test_transforms_of_transforms() -> None:
    x = np.array([0.3, -0.2, 0.8])

    def f(x: Any) -> Any:
        return np.sum(np.exp(x)) * np.sum(x**2)

    hessian = sg.hessian(f)(x)
    np.testing.assert_allclose(sg.jacobian(sg.grad(f))(x), hessian, rtol=1e-12)
    np.testing.assert_allclose(sg.jacobian(sg.grad(f), mode="forward")(x), hessian, rtol=1e-12)
    v = np.array([1.0, 2.0, -1.0])
    _, product = sg.jvp(sg.grad(f))(x, tangent=v)
    np.testing.assert_allclose(product, hessian @ v, rtol=1e-12)
    _, product = sg.vjp(sg.grad(f))(x, cotangent=v)
    np.testing.assert_allclose(product, hessian @ v, rtol=1e-12)
    third = sg.jacobian(sg.hessian(f))(x)
    np.testing.assert_allclose(third, np.transpose(third, (2, 0, 1)), rtol=1e-12)
    by_hand = sg.grad(lambda x: np.sum(sg.grad(f)(x) * v))(x)
    np.testing.assert_allclose(by_hand, hessian @ v, rtol=1e-12)


def test_a_transform_inside_a_trace_appends_to_it() -> None:
    graph = sg.trace(lambda x: x - 0.1 * sg.grad(lambda y: np.sum(y**4))(x), x=(3,))
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(graph.evaluate(x=x), x - 0.4 * x**3)
    assert list(graph.inputs) == ["x"]
    inside = sg.trace(lambda x: sg.vjp(np.sin)(x, cotangent=2 * x)[1], x=(3,))
    np.testing.assert_allclose(inside.evaluate(x=x), 2 * x * np.cos(x))


def test_an_inner_derivative_is_of_its_own_variable_only() -> None:
    """No perturbation confusion (Siskind and Pearlmutter 2005): d/dx x · d/dy (x + y) = 1."""
    found = sg.grad(lambda x: x * sg.grad(lambda y: x + y)(1.0))(1.0)
    assert found == 1.0
    found = sg.grad(lambda x: x * sg.grad(lambda y: x * y)(x))(3.0)
    assert found == 6.0

    def outer(x: Any) -> Any:
        h = np.sin(x)
        return sg.grad(lambda y: y * h)(h)  # h as what is enclosed is no function of y

    np.testing.assert_allclose(sg.grad(outer)(0.5), np.cos(0.5))


def test_the_same_array_twice_is_two_arguments() -> None:
    graph = sg.trace(lambda x: sg.grad(lambda a, b: np.sum(a * a * b))(x, x), x=(2,))
    np.testing.assert_allclose(graph.evaluate(x=np.array([1.0, 3.0])), [2.0, 18.0])


def test_an_optimiser_step_is_differentiated_through() -> None:
    """A learning rate is learned: d/dr of the loss after three steps of gradient descent."""

    def loss(w: Any) -> Any:
        return np.sum((w - 1.0) ** 2)

    def after(rate: Any) -> Any:
        w = snp.zeros((2,))
        for _ in range(3):
            w = w - rate * sg.grad(loss)(w)
        return loss(w)

    # w - 1 shrinks by (1 - 2r) a step: the loss is 2 (1 - 2r)^6.
    np.testing.assert_allclose(sg.grad(after)(0.1), -24 * 0.8**5, rtol=1e-12)


def test_transforms_inside_loops() -> None:
    """Gradient descent as a scan, differentiated by a variable the inner function encloses."""

    def outer(a: Any) -> Any:
        def step(c: Any, _: Any) -> Any:
            return c - 0.1 * sg.grad(lambda y: np.sum(a * y**2))(c), None

        c, _ = sg.scan(step, snp.ones((2,)), None, length=3)
        return np.sum(c)

    np.testing.assert_allclose(sg.grad(outer)(0.7), -2 * 3 * 0.2 * (1 - 0.14) ** 2, rtol=1e-12)


# -- refusals ------------------------------------------------------------------------------------
def test_unknown_parameters_and_bad_calls_are_refused() -> None:
    def fit(w: Any, target: Any) -> Any:
        return np.sum((w - target) ** 2)

    with pytest.raises(sg.InputError, match="no parameter 'z'"):
        sg.grad(energy, wrt="z")
    with pytest.raises(sg.InputError, match="no parameter 7"):
        sg.grad(energy, wrt=7)
    with pytest.raises(sg.InputError, match="takes no arguments: there is nothing"):
        sg.grad(lambda: 1.0)
    with pytest.raises(sg.InputError, match="missing a required argument"):
        sg.grad(energy)()
    said = r"(?s)fit\(w, target\).*1 value by position, tarqet=\.\.\.: .*Did you mean target\?"
    with pytest.raises(sg.InputError, match=said):
        sg.grad(fit)(np.ones(3), tarqet=1.0)
    with pytest.raises(sg.InputError, match="3 values by position: too many"):
        sg.grad(fit)(1.0, 2.0, 3.0)
    with pytest.raises(sg.ShapeError, match="scalar"):
        sg.grad(lambda x: x * 2)(np.ones(3))
    with pytest.raises(sg.ShapeError, match="2 outputs"):
        sg.grad(lambda x: (np.sum(x), np.sum(x)))(np.ones(3))
    with pytest.raises(sg.DTypeError, match="int64"):
        sg.grad(lambda x: np.sum(x * 1.0))(np.arange(3))
    with pytest.raises(sg.InputError, match="is an array"):
        sg.grad(lambda p: 1.0)({"kind": "text"})
    with pytest.raises(sg.TraceError, match="no array"):
        sg.grad(lambda x: "text")(1.0)
    with pytest.raises(sg.InputError, match="of a function"):
        sg.hessian(3)  # type: ignore[arg-type]
    with pytest.raises(sg.InputError, match="no mode"):
        sg.hvp(energy, mode="sideways")  # type: ignore[arg-type]


def test_days_are_told_how_to_be_numbers() -> None:
    days = np.array(["2020-01-01", "2020-06-01"], dtype="datetime64[D]")

    def value(rate, days):
        years = (days - days[0]) / np.timedelta64(365, "D")
        return np.sum(np.exp(-rate * years))

    with pytest.raises(sg.DTypeError, match="number of days") as told:
        sg.grad(value)(0.03, days)
    assert "np.timedelta64(1, 'D')" in str(told.value.mend)
    assert sg.grad(lambda rate: value(rate, days))(0.0) == -152 / 365  # read, they are numbers


def test_directions_are_asked_for_and_fitted() -> None:
    def f(p: Any) -> Any:
        return np.sum(p["x"] ** 2)

    point = {"x": np.ones(3)}
    with pytest.raises(sg.InputError, match="tangent' is missing"):
        sg.jvp(f)(point)
    with pytest.raises(sg.InputError, match="not built as"):
        sg.jvp(f)(point, tangent=np.ones(3))
    with pytest.raises(sg.InputError, match=r"takes 2 arguments .*\n.*\n.*sg.jvp\(f\)\(x, tangent"):
        sg.jvp(f, (point,), (point,))  # pyright: ignore[reportCallIssue]
    with pytest.raises(sg.InputError, match="shape"):
        sg.jvp(f)(point, tangent={"x": np.ones(4)})
    with pytest.raises(sg.InputError, match="parameter 'vector'"):
        sg.hvp(lambda x, v, vector: np.sum(x))


def test_results_are_named_by_what_they_are_derivatives_of() -> None:
    def f(p: Any) -> Any:
        return np.sum(np.tanh(p["x"] @ p["w"]))

    p = {"x": np.ones((2, 3)), "w": np.ones(3)}
    assert sg.value_and_grad(f).graph(p).dag.names == ("out", "grad_p['w']", "grad_p['x']")
    assert sg.hvp(f).graph(p, v=p).dag.names == ("hvp_p['w']", "hvp_p['x']")
    assert sg.vjp(f).graph(p, cotangent=1.0).dag.names[1:] == (
        "cotangent_p['w']",
        "cotangent_p['x']",
    )
    assert sg.jvp(f).graph(p, tangent=p).dag.names == ("out", "tangent_out")
    square = sg.hessian(lambda x, y: np.sum(x * y), wrt=(0, 1)).graph(np.ones(2), np.ones(2))
    assert square.dag.names == ("hessian_x_x", "hessian_x_y", "hessian_y_x", "hessian_y_y")
    rows = sg.jacobian(lambda x: (x * 2, x**2)).graph(np.ones(2))
    assert rows.dag.names == ("jacobian_out0_x", "jacobian_out1_x")
    assert "∂f/∂x" in str(sg.grad(lambda x: np.sum(x**3)).graph(np.ones(3)))


def test_the_vector_has_another_name_beside_a_parameter_v() -> None:
    def f(x, v, **more):
        return np.sum(x**2 * v**3)

    x, v, u = np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([1.0, 10.0])
    product = sg.hvp(f)
    assert product.direction == "vector"
    assert list(inspect.signature(product).parameters) == ["x", "v", "vector", "more"]
    np.testing.assert_allclose(product(x, v, vector=u), 2 * v**3 * u)
    np.testing.assert_allclose(product(x, v=v, vector=u), 2 * v**3 * u)
    with pytest.raises(sg.InputError, match="'vector' is missing"):
        product(x, v=v)
    assert sg.flat_objective(f, x, v).hessp(x, u).tolist() == (2 * v**3 * u).tolist()
    with pytest.raises(sg.InputError, match="parameter 'tangent'"):
        sg.jvp(lambda x, tangent: x * tangent)
