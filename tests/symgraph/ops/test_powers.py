"""Derivatives of x**a at a = 0 and x = 0, where a factor is 0 and the other one is infinite."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from installed import BACKENDS

import symgraph as sg
from symgraph import numpy as snp
from symgraph.ir.interpreter import kernel_on_numpy

TWO = np.log(2.0)
DERIVATIVES: dict[str, dict[tuple[float, float], float]] = {
    "x": {(0, 0): 0, (0, 1): 1, (0, 2): 0, (0, 0.5): np.inf, (2, 0): 0, (2, 1): 1, (-2, 2): -4},
    "a": {(0, 0): 0, (0, 1): 0, (0, 0.5): 0, (2, 0): TWO, (2, 1): 2 * TWO},
    "xx": {(0, 0): 0, (0, 1): 0, (0, 2): 2, (0, 3): 0, (2, 0): 0, (2, 3): 12, (-2, 2): 2},
    "xa": {(2, 0): 0.5, (0, 2): 0, (2, 1): 1 + TWO, (4, 0): 0.25},
    "ax": {(2, 0): 0.5, (0, 2): 0, (2, 1): 1 + TWO, (4, 0): 0.25},
    "aa": {(0, 0): 0, (0, 1): 0, (2, 0): TWO**2},
    "xxx": {(0, 0): 0, (0, 1): 0, (0, 2): 0, (0, 3): 6, (2, 0): 0, (2, 1): 0},
    "xxa": {(2, 0): -0.25, (2, 1): 0.5},
}
"""By x and a in turn: at (x, a) the value; where no derivative exists, the convention of peers."""


def _derivative(order: str, **how: Any) -> Any:
    f: Any = lambda x, a: x**a  # noqa: E731
    for each in order:
        f = sg.grad(f, wrt=each, **how)
    return f


def _pushed(f: Any, along: str) -> Any:
    pushed = sg.jvp(f, wrt=along)
    return lambda x, a: pushed(x, a, tangent=np.float64(1))[1]


@pytest.mark.parametrize("order", DERIVATIVES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_power_has_right_derivatives_where_base_or_exponent_is_0(
    order: str, backend: str
) -> None:
    derivative = _derivative(order, backend=backend)
    for at, wanted in DERIVATIVES[order].items():
        found = derivative(*(np.float64(each) for each in at))
        np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=f"{order} at {at}")


@pytest.mark.parametrize("order", DERIVATIVES)
def test_a_power_pushed_forward_has_the_same_derivatives(order: str) -> None:
    f: Any = lambda x, a: x**a  # noqa: E731
    for each in order:
        f = _pushed(f, each)
    for at, wanted in DERIVATIVES[order].items():
        found = f(*(np.float64(each) for each in at))
        np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=f"{order} at {at}")


def test_a_polynomial_whose_exponents_are_an_argument_has_its_second_derivative_at_0() -> None:
    second = sg.grad(sg.grad(lambda x, k: np.sum(3.0 * x**k), wrt="x"), wrt="x")
    assert second(np.float64(0), np.arange(4.0)) == 6


SPECIAL = (0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 1e-30)


@pytest.mark.parametrize("size", ["n", len(SPECIAL) ** 2], ids=["many", "few"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_product_that_is_0_for_0_differs_from_a_product_beside_infinity_alone(
    backend: str, dtype: str, size: Any
) -> None:
    x, y = np.array(list(product(SPECIAL, SPECIAL)), dtype).T
    graph = sg.trace(snp.multiply_or_zero, x=sg.spec((size,), dtype), y=sg.spec((size,), dtype))
    (node,) = graph.dag.outputs
    assert (kernel_on_numpy(node) is node.op.kernel_of_many) is (size == "n")
    found = graph.lower(backend=backend)(x=x, y=y)
    with np.errstate(all="ignore"):
        wanted = np.where((x == 0) & np.isinf(y), 0, x * y)
    np.testing.assert_array_equal(np.asarray(found), wanted)


XLOGY = {"x": (-np.inf, np.log(2.0)), "y": (0, 0), "xy": (np.inf, 0.5), "yx": (np.inf, 0.5)}


@pytest.mark.parametrize("order", XLOGY)
@pytest.mark.parametrize("shift", [0.0, 1.0], ids=["xlogy", "xlog1py"])
def test_slopes_of_x_log_y_are_right_where_x_is_0_in_both_orders(order: str, shift: float) -> None:
    f: Any = snp.xlog1py if shift else snp.xlogy
    for each in order:
        f = sg.grad(f, wrt=each)
    found = [f(np.float64(0), np.float64(y - shift)) for y in (0.0, 2.0)]
    np.testing.assert_allclose(found, XLOGY[order], rtol=1e-12)


def test_the_slope_of_a_power_reads_as_in_the_book() -> None:
    graph = sg.trace(lambda x, a: x**a, x=sg.spec(()), a=sg.spec(()))
    slopes = graph.gradient("x", "a", value=False).simplify()
    assert str(slopes.formula()) == (
        "grad_x = multiply_or_zero(a, x**(a - 1)); grad_a = x**a * log_or_zero(x)"
    )
    known = sg.trace(
        lambda x, a: x**a,
        x=sg.spec((), assume=sg.positive),
        a=sg.spec((), assume=sg.nonzero),
    )
    slopes = known.gradient("x", "a", value=False).simplify()
    assert str(slopes.formula()) == "grad_x = a * x**(a - 1); grad_a = x**a * log(x)"


@pytest.mark.whole
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_tangents_of_a_base_and_an_exponent_of_lower_rank_do_not_meet_the_axes_of_the_power(
    size: int, mode: Any
) -> None:
    # As many data as parameters broadcast in the wrong way; other sizes did not broadcast.
    t = np.linspace(0.5, 2.0, size)

    def loss(p: Any, t: Any) -> Any:
        return np.sum(p[0] * (t / p[1]) ** p[0])

    p = np.array([1.3, 0.7])
    found = sg.jacobian(sg.grad(loss), mode=mode)(p, t)
    base, logs = (t / p[1]) ** p[0], np.log(t / p[1])
    mixed = -np.sum(base * (2 * p[0] + p[0] ** 2 * logs)) / p[1]
    wanted = [
        [np.sum(base * (2 * logs + p[0] * logs**2)), mixed],
        [mixed, np.sum(base) * p[0] ** 2 * (p[0] + 1) / p[1] ** 2],
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_a_hessian_of_powers_over_a_named_dimension() -> None:
    graph = sg.trace(lambda p, t: np.sum((t + p[0]) ** (p[1] * t)), p=sg.spec(2), t=sg.spec("n"))
    hessian = graph.hessian("p", value=False).lower()
    slope = graph.gradient("p", value=False).lower()
    p, step = np.array([0.3, 1.2]), 1e-6
    for size in (2, 3):
        t = np.linspace(0.5, 1.5, size)
        moved = [(slope(p + e, t) - slope(p - e, t)) / (2 * step) for e in step * np.eye(2)]
        np.testing.assert_allclose(hessian(p, t), moved, rtol=1e-8)


MIXED = {0.0: np.inf, 0.5: -np.inf, 1.0: -np.inf, 2.0: 0.0, 3.0: 0.0}
"""x**(a - 1) (1 + a log x) near x = 0, by a."""


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("a", MIXED)
@pytest.mark.parametrize("order", ["xa", "ax"])
def test_the_mixed_derivative_of_a_power_at_0_is_right_or_none(order: str, a: float) -> None:
    graph = sg.trace(lambda x, a: x**a, x=sg.spec(()), a=sg.spec(()))
    for each in order:
        graph = graph.gradient(each, value=False)
    for found in (graph, graph.simplify()):
        value = float(found.evaluate(x=np.array(0.0), a=np.array(a)))
        assert value == MIXED[a] or (np.isnan(value) and order == "xa" and a == 0.5)
