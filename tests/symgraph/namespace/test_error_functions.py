"""SciPy's erf and erfc with the signs apart: its bits, whatever the numbers and where they lie."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import special as scipy_special

import symgraph as sg
import symgraph.scipy.special as symbolic
from symgraph.namespace.error_functions import MANY, special_of_many

special: Any = scipy_special
SCALES = [0.2, 0.5, 1.0, 4.0, 1e-300, 1e300]
SPECIAL = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 5e-324, 30.0, -30.0]
NEXT = [*np.nextafter([1.0, -1.0], 0.0), *np.nextafter([1.0, -1.0], [2.0, -2.0])]


def numbers(scale: float, dtype: str) -> Any:
    rng = np.random.default_rng(0)
    with np.errstate(over="ignore"):
        x = (scale * rng.normal(size=40_000)).astype(dtype)
        x[rng.integers(0, x.size, 300)] = np.resize([*SPECIAL, *NEXT], 300)
    return x


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_every_bit_is_scipys(name: str, scale: float, dtype: str) -> None:
    x = numbers(scale, dtype)
    known, found = getattr(special, name), getattr(special_of_many(special), name)
    assert found is not known
    for given in (x, x.reshape(200, 200), x[::2], x[::-1], x.reshape(200, 200).T, x[:MANY], x[:9]):
        want = known(given)
        for out in (
            None,
            np.empty(given.shape, dtype),
            np.empty((2, *given.shape), dtype).T[..., 0].T,
        ):
            got = found(given) if out is None else found(given, out)
            assert out is None or got is out
            np.testing.assert_array_equal(got, want)
            signed = ~np.isnan(want)
            assert np.array_equal(np.signbit(got[signed]), np.signbit(want[signed]))
    inside = x.copy()
    assert found(inside, inside) is inside
    np.testing.assert_array_equal(inside, known(x))


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_another_scipy_keeps_its_own(name: str) -> None:
    other = ModuleType("special")
    vars(other).update(erf=lambda x: np.tanh(x) + 1e-17, erfc=special.erfc)
    found = special_of_many(other)
    assert getattr(found, name) is getattr(other, name)


@pytest.mark.parametrize("name", ["erf", "erfc"])
@pytest.mark.parametrize("shape", [(MANY,), (70_000,), (300, 200), (10,), ("n",)])
def test_programs_have_the_bits_of_the_interpreter(name: str, shape: Any) -> None:
    graph = sg.trace(lambda x: getattr(symbolic, name)(x) * x, x=sg.spec(shape))
    sizes = tuple([each if isinstance(each, int) else 50_000 for each in shape])
    x = np.random.default_rng(1).normal(size=sizes)
    found = graph.lower()(x)
    np.testing.assert_array_equal(found, graph.evaluate(x=x))
    np.testing.assert_array_equal(found, getattr(special, name)(x) * x)
