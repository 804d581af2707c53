"""Source that stands alone: what `to_python` writes gives the same without this library."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from gradientrows import ROWS
from scipy import special

import symgraph as sg
from symgraph.testing import GradientCase

SCALE = 2.5


def run(graph: sg.Graph, *kernels: Any, **inputs: Any) -> Any:
    names: dict[str, Any] = {}
    text = graph.to_python()
    assert "symgraph" not in text.replace("sg.", "")
    exec(text, names)
    with np.errstate(all="ignore"):  # What is computed behind a mask warns.
        return names["function"](np, *kernels, **inputs)


def agree(got: Any, want: Any) -> None:
    for one, other in zip(got, want, strict=True):
        assert np.shape(one) == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


ONE_AN_OPERATION = list({case.op: case for case in ROWS}.values())


@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("case", ONE_AN_OPERATION, ids=str)
def test_every_operation_and_its_gradient(case: GradientCase) -> None:
    rng = np.random.default_rng(7)
    given = {f"x{i}": each.draw(rng, None, "float64") for i, each in enumerate(case.operands)}
    symbols = [sg.input(name, each.shape, each.dtype) for name, each in given.items()]
    out = case.call(*symbols)
    floating = [each for each in symbols if each.dtype.kind == "f"]
    graph = sg.graph(out, *sg.grad(np.sum(out * 1.5), floating), inputs=symbols)
    agree(run(graph, **given), graph.evaluate(**given))


def sized(f: Any, *shape: Any) -> sg.Graph:
    graph = sg.trace(lambda x: np.sum(f(x) ** 2), x=sg.spec(shape))
    return graph.gradient("x")


@pytest.mark.parametrize(
    "f",
    [
        np.linalg.det,
        lambda x: np.linalg.det(x[1:, :-1]),
        lambda x: x[1:, ::2],
        lambda x: x[::-3, 5:1:-2],
        lambda x: sg.numpy.avg_pool2d(x[None, None], 3, stride=2, padding=1),
        lambda x: sg.numpy.conv2d(x[None, None], np.ones((1, 1, 2, 2)), stride=2, padding=1),
    ],
)
def test_sizes_are_calculated(f: Any) -> None:
    graph = sized(f, "n", "n")
    for n in (4, 5, 6):
        x = np.random.default_rng(n).normal(size=(n, n))
        agree(run(graph, x=x), graph.evaluate(x=x))


def test_second_derivatives_of_a_determinant() -> None:
    graph = sg.trace(lambda x: np.linalg.det(x), x=(3, 3)).hessian("x")
    x = np.arange(9.0).reshape(3, 3)  # singular
    value, hessian = graph.evaluate(x=x)
    got, second = run(graph, x=x)
    agree([got, second], [value, hessian])


def test_loops_that_look_for_a_solution() -> None:
    def f(a):
        x = sg.fixed_point(lambda x: (x + a / x) / 2, a)
        return x + sg.root(lambda y: y**3 - a, 2.0, max_steps=20)

    graph = sg.trace(f, a=sg.spec(())).gradient("a")
    agree(run(graph, a=4.0), graph.evaluate(a=4.0))
    with pytest.raises(ArithmeticError, match=r"sg\.root has not converged after 20 steps"):
        run(graph, a=1e300)


@sg.custom_op(vjp=lambda ct, out, x, power=2: ct * power * out / x, name="source_test_scaled")
def scaled(x: Any, power: int = 2) -> Any:
    """A kernel that needs NumPy, SciPy, the standard library and a number."""
    square: Any = np.exp(power * np.log(x))
    return SCALE * special.erf(math.inf) * square


def test_kernels_of_users_are_written_out() -> None:
    graph = sg.trace(lambda x: np.sum(scaled(x, power=3)), x=(4,)).gradient("x")
    x = np.arange(1.0, 5.0)
    text = graph.to_python()
    assert "SCALE = 2.5" in text
    assert "import scipy.special as special" in text
    assert "kernels" not in text
    agree(run(graph, x=x), graph.evaluate(x=x))


def test_kernels_that_cannot_be_written_out_are_asked_for() -> None:
    def helped(x: Any) -> Any:
        return _helper(x), np.sum(x)

    def _helper(x: Any) -> Any:
        return x * 2

    pair = sg.custom_op(helped, name="source_test_pair")
    single = sg.custom_op(lambda x: x + 1, name="source_test_lambda")
    graph = sg.trace(lambda kernels: (*pair(kernels), single(kernels)), kernels=(3,))
    x = np.arange(3.0)
    given = {"source_test_pair": helped, "source_test_lambda": lambda x: x + 1}
    assert "'source_test_pair': kernel(*arrays)" in graph.to_python()
    agree(run(graph, given, kernels=x), graph.evaluate(kernels=x))


def test_kernels_for_any_backend_get_the_namespace() -> None:
    @sg.custom_op(any_backend=True, name="source_test_any")
    def turned(xp: Any, x: Any) -> Any:
        return -x if float(xp.sum(x)) > 0 else xp.sinh(x)

    graph = sg.trace(lambda x: (turned(x), turned(-x)), x=(2,))
    agree(run(graph, x=np.ones(2)), graph.evaluate(x=np.ones(2)))


def test_params_without_source_are_named() -> None:
    looked_up = sg.custom_op(lambda x, table: x + len(table), name="source_test_table")
    graph = sg.trace(lambda x: looked_up(x, table=frozenset({1.0})), x=(2,))
    with pytest.raises(sg.BackendError, match=r"table=frozenset\(\{1.0\}\) cannot be written"):
        graph.to_python()
    with pytest.raises(sg.InputError, match=r"keyword table=\{'a': 1.0\}"):
        sg.trace(lambda x: looked_up(x, table={"a": 1.0}), x=(2,))
