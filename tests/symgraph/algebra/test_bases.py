"""Exponentials and logarithms of any base are as those of base e."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.cost import op_count

SAME: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "log2 of exp2": (lambda x: np.log2(np.exp2(x)), lambda x: x),
    "log10 of a power of 10": (lambda x: np.log10(10.0**x), lambda x: x),
    "exp2 of log2 of exp": (lambda x: np.exp2(np.log2(np.exp(x))), np.exp),
    "softmax to base 2": (
        lambda x: np.exp2(x) / np.sum(np.exp2(x)),
        lambda x: snp.softmax(np.log(2) * x),
    ),
    "softmax to base 10": (
        lambda x: 10.0**x / np.sum(10.0**x),
        lambda x: snp.softmax(np.log(10) * x),
    ),
}
FAR = np.array([1000.0, -1000.0, 999.0, 0.0])


def names(graph: sg.Graph) -> list[str]:
    return [node.op.name for node in graph.nodes]


@pytest.mark.parametrize("name", SAME)
def test_a_base_is_seen_through(name: str) -> None:
    written, meant = (sg.trace(f, x=sg.spec(4, assume=sg.finite)).simplify() for f in SAME[name])
    assert names(written) == names(meant)
    np.testing.assert_allclose(written.evaluate(x=FAR), meant.evaluate(x=FAR), rtol=1e-12)


def test_a_power_of_two_over_exp2_is_one() -> None:
    small = sg.trace(lambda x: 2.0**x / np.exp2(x), x=sg.spec(4, assume=sg.finite)).simplify()
    assert op_count(small.dag.outputs) == 0
    np.testing.assert_array_equal(small.evaluate(x=np.arange(4.0)), np.ones(4))


BASES: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "exp2": (2.0, np.exp2),
    "2": (2.0, lambda x: 2.0**x),
    "10": (10.0, lambda x: 10.0**x),
    "3": (3.0, lambda x: 3.0**x),
    "half": (0.5, lambda x: 0.5**x),
}


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BASES)
def test_a_gradient_is_right_as_far_as_numbers_go(name: str, dtype: str) -> None:
    """Of f / (1.5 + f**2), which is small for large f and small ones."""
    base, f = BASES[name]
    graph = sg.trace(lambda x: np.sum(f(x) / (1.5 + f(x) ** 2)), x=sg.spec("n", dtype))
    small = graph.gradient("x", value=False).simplify()
    x = np.array([-20, -3, -0.5, 0.25, 1, 5, 15], dtype)
    value = base ** np.asarray(x, np.longdouble)
    right = np.log(np.longdouble(base)) * value * (1.5 - value**2) / (1.5 + value**2) ** 2
    tolerance = 2e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(small.evaluate(x=x), right.astype(dtype), rtol=tolerance)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", BASES)
def test_a_gradient_is_finite_wherever_it_was(name: str) -> None:
    f = BASES[name][1]
    graph = sg.trace(lambda x: np.sum(f(x) / (1.5 + f(x) ** 2)), x=sg.spec("n", "float32"))
    gradient = graph.gradient("x", value=False)
    x = np.linspace(-1000, 1000, 401).astype("float32")
    with np.errstate(all="ignore"):
        before, after = gradient.evaluate(x=x), gradient.simplify().evaluate(x=x)
    assert np.all(np.isfinite(after)[np.isfinite(before)])


def test_half_precision_is_left_alone() -> None:
    """The product with a logarithm would have too few digits for an exponent."""
    small = sg.trace(lambda x: np.exp2(x) / np.sum(np.exp2(x)), x=sg.spec(4, "float16")).simplify()
    assert "softmax" not in names(small)


def test_a_negative_base_is_no_exponential() -> None:
    small = sg.trace(lambda n: (-2.0) ** n * (-2.0) ** n, n="4").simplify()
    np.testing.assert_array_equal(small.evaluate(n=np.arange(4.0)), [1, 4, 16, 64])
