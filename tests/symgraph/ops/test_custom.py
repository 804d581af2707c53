"""Operations and derivatives that a user gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from installed import BACKENDS
from scipy import special

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import BackendError
from symgraph.ir.differentiation import undefined
from symgraph.ir.op import OPS
from symgraph.testing import check_gradient, check_grads, check_stacked

A = np.array([0.3, -0.7, 1.2])


def cubed(**options: Any) -> Any:
    options.setdefault("vjp", lambda ct, out, x: 3 * ct * x * x)
    return sg.custom_op(lambda x: x**3, name="cubed", **options)


# -- operations ------------------------------------------------------------------------------------
def test_a_kernel_becomes_an_operation() -> None:
    op = cubed()
    x = sg.input("x", ("n", 3))
    out = op(x)
    assert out.node.op.name == "cubed"
    assert out.shape == x.shape
    check_gradient(op, A)
    check_grads(op, A, order=3)
    check_stacked(op, A)
    np.testing.assert_array_equal(op(A), A**3)
    np.testing.assert_array_equal(snp.cubed(x).node is out.node, True)
    graph = sg.trace(lambda x: np.sum(op(x)), x=A).gradient("x").simplify()
    np.testing.assert_allclose(graph.lower()(x=A)[1], 3 * A**2, rtol=1e-15)


def test_forward_mode_follows_from_the_rule() -> None:
    graph = sg.trace(cubed(), x=A).jvp({"x": np.ones(3)})
    found = graph.evaluate(x=A)
    np.testing.assert_allclose(found[-1] if isinstance(found, tuple) else found, 3 * A**2)


def test_static_keywords_and_several_results() -> None:
    @sg.custom_op(vjp=lambda ct, out, x, *, k: ct[0] * k + 2 * ct[1] * x)
    def scaled_and_squared(x: Any, *, k: float) -> Any:
        return k * x, x * x

    def f(x: Any) -> Any:
        scaled, squared = scaled_and_squared(x, k=3.0)
        return scaled * squared

    check_gradient(f, A)
    one = sg.trace(lambda x: scaled_and_squared(x, k=2.0)[0], x=A)
    np.testing.assert_array_equal(one.lower()(x=A), 2 * A)


def test_operands_by_name_and_numbers_beside_arrays() -> None:
    op = sg.custom_op(lambda x, y, power=2: x**power * y, name="powered")
    x, y = sg.input("x", (3,), "float32"), sg.input("y", (3,), "float32")
    assert op(x=x, y=y).node is op(x, y).node
    assert op(x, y, power=3).node.params == {"power": 3}
    assert op(x, 2.5).dtype == op(A.astype("float32"), 2.5).dtype == np.float32
    with pytest.raises(sg.InputError, match="no array by the name 'z'"):
        op(x, z=y)


def test_rules_one_an_operand() -> None:
    rules = (lambda ct, out, x, y, z: ct * y, None, undefined("z only counts"))
    op = sg.custom_op(lambda x, y, z: x * y + 0 * z, name="with_rules", vjp=rules)
    x, y, z = (sg.input(name, (3,)) for name in "xyz")
    total = np.sum(op(x, y, z))
    graph = sg.graph(total, inputs=[x, y, z])
    assert [graph.connection(name).kind for name in "xyz"] == ["connected", "zero", "undefined"]
    np.testing.assert_array_equal(graph.gradient("x", value=False).evaluate(x=A, y=A, z=A), A)
    np.testing.assert_array_equal(graph.gradient("y", value=False).evaluate(x=A, y=A, z=A), 0 * A)
    with pytest.raises(sg.NotDifferentiable, match="z only counts"):
        graph.gradient("z")


def test_without_a_rule_there_is_no_gradient() -> None:
    graph = sg.trace(lambda x: np.sum(cubed(vjp=None)(x)), x=A)
    with pytest.raises(sg.NotDifferentiable, match="was given no vjp") as caught:
        graph.gradient("x")
    assert "path x -> cubed -> sum" in str(caught.value)


WRONG = {
    "a shape": (lambda ct, out, x: np.sum(ct), sg.ShapeError, r"shape \[\] for operand 0"),
    "a dtype": (
        lambda ct, out, x: ct.astype("float32"),
        sg.DTypeError,
        "dtype float32 for operand 0",
    ),
    "too many": (lambda ct, out, x: (ct, ct), sg.ShapeError, "2 cotangents for 1 operands"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_rule_gives_is_checked(name: str) -> None:
    rule, error, text = WRONG[name]
    for op in (cubed(vjp=rule), sg.custom_vjp(lambda x: x**3, rule)):
        graph = sg.trace(lambda x, op=op: np.sum(op(x)), x=A)
        with pytest.raises(error, match=text.replace("operands", r"(operands|arguments)")):
            graph.gradient("x")


def test_wrong_numbers_are_found_by_differences() -> None:
    with pytest.raises(AssertionError, match="The derivative of order 1"):
        check_gradient(cubed(vjp=lambda ct, out, x: 2 * ct * x), A)


def test_other_backends_say_what_is_missing() -> None:
    pytest.importorskip("jax")
    graph = sg.trace(cubed(), x=A)
    with pytest.raises(sg.BackendError, match=r"'cubed' is written for NumPy; .*jax"):
        graph.lower("jax")(x=A)
    anywhere = sg.custom_op(lambda xp, x: xp.power(x, 3), name="cubed", any_backend=True)
    np.testing.assert_allclose(sg.trace(anywhere, x=A).lower("jax")(x=A), A**3, rtol=1e-15)
    assert "= np.power(v0," in sg.trace(anywhere, x=A).lower().source


def test_shapes_are_found_by_a_try_or_stated() -> None:
    tried = sg.custom_op(lambda x, y: np.outer(x, y)[:, :2], name="tried")
    x, y = sg.input("x", ("n",)), sg.input("y", ("m",), "float32")
    assert [str(dim) for dim in tried(x, y).shape] == ["n", "2"]
    grown = sg.custom_op(lambda x: np.concatenate([x, x]), name="grown")
    with pytest.raises(sg.ShapeError, match="infer="):
        grown(x)
    stated = sg.custom_op(
        lambda x: np.concatenate([x, x]), name="grown", infer=lambda x: ((2 * x.shape[0],), x.dtype)
    )
    np.testing.assert_array_equal(sg.graph(stated(x)).evaluate(x=[1.0, 2.0]), [1, 2, 1, 2])

    def fails(x: Any) -> Any:
        raise ZeroDivisionError("no half")

    with pytest.raises(sg.TraceError, match="ZeroDivisionError: no half"):
        sg.custom_op(fails)(x)


def test_a_kernel_cannot_write_to_its_operands() -> None:
    def writes(x: Any) -> Any:
        x += 1
        return x

    op = sg.custom_op(writes, infer=lambda x: x)
    with pytest.raises(ValueError, match="read-only"):
        sg.trace(op, x=A).lower()(x=A.copy())


def test_names() -> None:
    with pytest.raises(sg.BackendError, match=r"already(.|\n)*another name.*name='my_exp'"):
        sg.custom_op(lambda x: x, name="exp")
    with pytest.raises(sg.BackendError, match="already"):
        sg.custom_op(lambda x: x, name="mean")  # A function made of several operations.
    with pytest.raises(sg.InputError, match="name="):
        sg.custom_op(lambda x: x)
    x = sg.input("x")
    first, second = cubed()(x), sg.custom_op(lambda x: x**3 + 1, name="cubed")(x)
    assert first.node is not second.node, "an operation defined anew is another one"
    assert OPS["cubed"] is second.node.op


def test_numpy_functions_can_be_traced_by_one() -> None:
    survival = special.kolmogorov
    try:
        sg.custom_op(survival, name="my_kolmogorov", infer=lambda x: x, numpy=[survival])
        x = sg.input("x", (3,))
        at = [0.5, 1.0, 2.0]
        np.testing.assert_array_equal(sg.graph(survival(x)).evaluate(x=at), survival(at))
    finally:
        sg.array.NUMPY_FUNCTIONS.pop(survival)


# -- derivatives of functions ----------------------------------------------------------------------
@sg.custom_vjp
def log1pexp(x: Any) -> Any:
    """As one writes it; its own derivative is NaN for large x."""
    return np.log1p(np.exp(x))


@log1pexp.backward
def _(ct: Any, out: Any, x: Any) -> Any:
    return ct / (1 + np.exp(-x))


def test_a_derivative_of_ones_own() -> None:
    check_grads(log1pexp, A, order=3)
    check_stacked(log1pexp, A)
    for simplify in (False, True):
        graph = sg.trace(lambda x: np.sum(log1pexp(x)), x=A).gradient("x", value=False)
        graph = graph.simplify() if simplify else graph
        for backend in BACKENDS:
            found = graph.lower(backend)(x=np.array([800.0, 0.0, -800.0]))
            np.testing.assert_allclose(found, [1.0, 0.5, 0.0])
    np.testing.assert_allclose(log1pexp(A), np.log1p(np.exp(A)))


def test_containers_and_none() -> None:
    @sg.custom_vjp
    def model(params: Any, x: Any, label: Any) -> Any:
        return {"loss": np.sum((params["w"] * x + params["b"] - label) ** 2), "x": x * 2}

    @model.backward
    def _(ct: Any, out: Any, params: Any, x: Any, label: Any) -> Any:
        error = 2 * ct["loss"] * (params["w"] * x + params["b"] - label)
        return {"w": np.sum(error * x), "b": np.sum(error)}, None, None

    def f(w: Any, b: Any, x: Any) -> Any:
        return model({"w": w, "b": b}, x, 1.0)["loss"]

    graph = sg.trace(f, w=(), b=(), x=(3,))
    got = graph.gradient("w", "b", "x").evaluate(w=0.5, b=0.1, x=A)
    error = 2 * (0.5 * A + 0.1 - 1)
    for one, want in zip(got[1], (np.sum(error * A), np.sum(error), 0 * A), strict=True):
        np.testing.assert_allclose(one, want, rtol=1e-14)
    assert graph.connection("x").kind == "zero"


def test_a_rule_that_stacks_is_trusted() -> None:
    seen: list[int] = []

    def rule(ct: Any, out: Any, x: Any) -> Any:
        seen.append(ct.ndim)
        return ct * np.cos(x)

    for stacks, ndim in ((False, 1), (True, 2)):
        seen.clear()
        check_stacked(sg.custom_vjp(np.sin, rule, stacks=stacks), A)
        assert seen[0] == ndim


def test_what_custom_vjp_refuses() -> None:
    x, w = sg.input("x", (3,)), sg.input("w", (3,))
    with pytest.raises(sg.TraceError, match="no derivative yet"):
        sg.custom_vjp(lambda x: x * 2)(x)
    with pytest.raises(sg.TraceError, match="captures") as caught:
        sg.custom_vjp(lambda x: x * w, lambda ct, out, x: ct)(x)
    assert "Pass them as arguments" in str(caught.value)


# -- results that are not as the graph was built for ----------------------------------------------
@pytest.mark.parametrize("shape", [(3,), ("n",)])
@pytest.mark.parametrize(
    ("kernel", "given"),
    [
        (lambda x: x[x > 0], r"float64\[0\], where the graph was built for float64\[3\]"),
        (lambda x: x[:1] if x[0] < 0 else x, r"gave float64\[1\]"),
        (lambda x: x[None] if x[0] < 0 else x, r"gave float64\[1, 3\]"),
        (lambda x: (x, x) if x[0] < 0 else x, r"gave float64\[3\], float64\[3\]"),
        (lambda x: x if x[0] < 0 else np.float32(x), r"where the graph was built for float32\[3\]"),
    ],
)
def test_a_result_of_another_shape_or_dtype_is_an_error(
    shape: tuple[Any, ...], kernel: Any, given: str
) -> None:
    """It would broadcast to another number in silence, or lose digits."""
    moody = sg.custom_op(kernel, name="moody")
    graph = sg.trace(lambda x: moody(x) * x, x=shape)
    assert graph.evaluate(x=[1.0, 2.0, 3.0]).tolist() == [1.0, 4.0, 9.0]
    for run in (graph.evaluate, graph.simplify().lower()):
        with pytest.raises(BackendError, match=given):
            run(x=-np.ones(3))


def test_results_take_the_dtype_they_were_promised_in_where_no_digit_is_lost() -> None:
    @sg.custom_op(name="counted", infer=lambda x: ((), x.dtype))
    def counted(x: Any) -> Any:
        return int(np.sum(x > 0))

    graph = sg.trace(lambda x: counted(x) / 4, x=sg.spec("n", "float32"))
    found = graph.lower()(x=np.float32([1, 0, 2]))
    assert (found.dtype, found) == (np.float32, 0.5)
