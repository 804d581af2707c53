"""Quotients by functions that overflow: their derivatives are numbers there, to every order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import FUNCTIONS, Array
from symgraph.autodiff.reverse import cotangents
from symgraph.ir.op import OPS
from symgraph.ops.creation import ones
from symgraph.scipy import stats

GROWING = [op.name for op in OPS.values() if op.traits.relative_slope is not None]


def _at(points: Any, *values: Array) -> list[Any]:
    return [sg.graph(each).evaluate(x=points) for each in values]


def _relative(name: str, x: Array) -> tuple[Array, Array]:
    """The function and the relative slope that it tells."""
    out = FUNCTIONS[name](x)
    told: Any = OPS[name].traits.relative_slope
    return out, told(out, x) + 0 * x


@pytest.mark.parametrize("name", GROWING)
def test_a_relative_slope_is_the_slope_over_the_value(name: str) -> None:
    points = np.array([-20.0, -3.0, -0.5, 1e-6, 0.5, 3.0, 14.0, 16.0, 20.0])
    x = sg.input("x", points.shape)
    out, relative = _relative(name, x)
    (slope,) = cotangents([(out, ones(points.shape))], [x])
    found, wanted = _at(points, relative * out, slope)
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


@pytest.mark.parametrize("name", GROWING)
def test_a_relative_slope_is_a_number_where_the_function_overflows(name: str) -> None:
    x = sg.input("x", ())
    value, slope = _at(np.array(-800.0 if name == "erfcx" else 2000.0), *_relative(name, x))
    assert np.isinf(value)
    assert np.isfinite(slope)


QUOTIENTS: list[tuple[str, Callable[[Any], Any], float, float]] = [
    ("planck", lambda x: x**3 / snp.expm1(x), 800.0, 0.0),
    ("bose", lambda x: 1 / (np.exp(x) - 1), 800.0, 0.0),
    ("sech", lambda x: 1 / np.cosh(x), -800.0, 0.0),
    ("csch", lambda x: x / np.sinh(x), 800.0, 0.0),
    ("csch squared", lambda x: 1 / np.sinh(x) ** 2, -800.0, 0.0),
    ("x over a square", lambda x: x / np.square(np.sinh(x)), 720.0, 0.0),
    ("a square by itself", lambda x: 1 / (np.cosh(x) * np.cosh(x)), 400.0, 0.0),
    ("log_ndtr", lambda x: snp.log_ndtr(x), 40.0, 0.0),
    ("log_erfc", lambda x: snp.log_erfc(x), -40.0, 0.0),
    ("log1mexp", lambda x: snp.log1mexp(x), -800.0, 0.0),
    ("cloglog", lambda x: snp.log1mexp(-np.exp(x)), 8.0, 0.0),
    ("expon", lambda x: stats.expon.logcdf(x), 800.0, 0.0),
    ("rayleigh", lambda x: stats.rayleigh.logcdf(x), 50.0, 0.0),
    ("ndtr", lambda x: np.log(snp.ndtr(x)), -40.0, -0.9993773316214088),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize(("name", "f", "x", "second"), QUOTIENTS, ids=[q[0] for q in QUOTIENTS])
def test_second_derivatives_where_a_divisor_overflows(
    name: str, f: Callable[[Any], Any], x: float, second: float
) -> None:
    traced = sg.trace(f, x=sg.spec(()))
    simple = traced.hessian("x", value=False).simplify().lower()
    np.testing.assert_allclose(np.asarray(simple(x=np.array(x))), second, rtol=1e-12)
    derived = traced.gradient("x").simplify().evaluate(x=np.array(x))
    assert np.all(np.isfinite(derived[1]))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_both_modes_go_past_a_divisor_that_is_broadcast(mode: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return y / np.cosh(x)

    traced = sg.trace(f, x=sg.spec((2, 1)), y=sg.spec((2, 3)))
    x, y = np.array([[0.3], [800.0]]), np.arange(6.0).reshape(2, 3)
    by_x = traced.jacobian("x", value=False, mode=mode).evaluate(x=x, y=y)
    slope = np.array([0.0, -np.tanh(0.3) / np.cosh(0.3), -2 * np.tanh(0.3) / np.cosh(0.3)])
    np.testing.assert_allclose(by_x[0, :, 0, 0], slope, rtol=1e-12)
    np.testing.assert_array_equal(by_x[1], 0)
    by_y = traced.jacobian("y", value=False, mode=mode).evaluate(x=x, y=y)
    wanted = np.array([[1 / np.cosh(0.3)] * 3, [0.0] * 3])
    np.testing.assert_allclose(np.einsum("abab->ab", by_y), wanted, rtol=1e-12)
