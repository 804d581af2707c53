"""Powers of two positive arrays with one exponent are one power of their product or quotient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

POSITIVE = sg.spec("3", assume=sg.positive)
BOUNDED = sg.spec("3", assume=sg.interval(0.1, 5.0))
SPECS = {
    "x": BOUNDED,
    "y": BOUNDED,
    "a": sg.spec("", assume=sg.interval(0.1, 0.9)),
    "b": sg.spec("", assume=sg.interval(0.1, 0.9)),
}
AT = {
    "x": np.array([0.25, 1.5, 3.0]),
    "y": np.array([0.75, 2.5, 0.5]),
    "a": np.array(0.3),
    "b": np.array(0.6),
}

Function = Callable[[Any, Any, Any, Any], Any]

JOINED: list[tuple[Function, int]] = [
    (lambda x, y, a, b: x**a * y**a, 2),
    (lambda x, y, a, b: x**a / y**a, 2),
    (lambda x, y, a, b: 1 / (x**a * y**a), 3),
    (lambda x, y, a, b: x**a * y**-a, 2),
    (lambda x, y, a, b: x**a / y**-a, 2),
    (lambda x, y, a, b: x ** (a - b) * y ** (b - a), 3),
    (lambda x, y, a, b: x ** (a - b) / y ** (b - a), 3),
    (lambda x, y, a, b: x**a * y ** (1 - a), 3),
    (lambda x, y, a, b: x ** (1 - a) * y**a, 3),
]


@pytest.mark.parametrize(("f", "count"), JOINED)
def test_two_powers_become_one(f: Function, count: int) -> None:
    small = sg.trace(f, **SPECS).simplify()
    assert small.op_count() <= count
    np.testing.assert_allclose(small.evaluate(**AT), f(**AT), rtol=1e-13)


KEPT: list[Function] = [
    lambda x, y, a, b: x**a * y**b,
    lambda x, y, a, b: x**a / y ** (1 - a),
    # Each power is needed for itself.
    lambda x, y, a, b: (p := x**a, q := y**a, p * q),
]


@pytest.mark.parametrize("f", KEPT)
def test_other_powers_stay(f: Function) -> None:
    graph = sg.trace(f, **SPECS)
    assert graph.simplify().op_count() == graph.op_count()


def test_of_numbers_that_may_be_negative_both_powers_stay() -> None:
    graph = sg.trace(lambda x, y, a: x**a * y**a, x="3", y="3", a="")
    assert graph.simplify().op_count() == 3
    at = {"x": np.array([-1.0, 2.0, 4.0]), "y": np.array([-4.0, 2.0, 0.25]), "a": np.array(0.5)}
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(
            np.isnan(graph.simplify().evaluate(**at)), [True, False, False]
        )


def test_a_product_that_may_overflow_is_not_raised() -> None:
    graph = sg.trace(lambda x, y, a: x**a * y**a, x=POSITIVE, y=POSITIVE, a=SPECS["a"])
    at = {"x": np.full(3, 1e200), "y": np.full(3, 1e200), "a": np.array(0.5)}
    np.testing.assert_allclose(graph.simplify().evaluate(**at), 1e200, rtol=1e-12)


def test_a_power_is_no_quotient_where_that_is_0() -> None:
    """x**a / x is 0 where x**a underflows, and x**(a - 1) is a number there."""
    positive = sg.spec("", assume=sg.positive)

    def function(x: Any, y: Any, a: Any, b: Any) -> Any:
        return x**a * y**b

    graph = sg.trace(function, x=positive, y=positive, a=positive, b=positive)
    joint = graph.gradient("x", "y", "a", "b", value=False)
    for x in (1e-200, 1e-30, 0.7, 1e150):
        at: dict[str, Any] = {"x": x, "y": 0.7, "a": 2.0, "b": 2.0}
        found, wanted = joint.simplify().evaluate(**at), joint.evaluate(**at)
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_a_guard_stays_where_the_power_would_be_another_one() -> None:
    """The second derivative of x**a reaches farther than x**(a - 1) does."""
    positive = sg.spec("", assume=sg.positive)
    graph = sg.trace(lambda x, a: x**a, x=positive, a=positive).hessian("x", value=False)
    small = graph.simplify()
    assert np.isfinite(small.evaluate(x=1e100, a=5.0))
    assert small.evaluate(x=1e-200, a=3.0) > 0


def test_a_guard_stays_beside_another_factor() -> None:
    """b x**where(a == 0, 1, a - 1) is b x for a = 0, and not b / x."""

    def function(x: Any, a: Any, b: Any) -> Any:
        return b * x ** snp.where(a == 0, 1.0, a - 1)

    graph = sg.trace(function, x=sg.spec("", assume=sg.positive), a="", b="")
    small = graph.simplify()
    for a in (0.0, 0.5, 1.0, 2.0):
        at: dict[str, Any] = {"x": 3.0, "a": a, "b": 2.0}
        np.testing.assert_allclose(small.evaluate(**at), graph.evaluate(**at), rtol=1e-13)
