"""`np.polynomial` on symbols gives what it gives on numbers, or tells what does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy import polynomial
from numpy.polynomial import Chebyshev, Polynomial, chebyshev

import symgraph as sg

SUMS = {
    "chebyshev": "chebval",
    "hermite": "hermval",
    "hermite_e": "hermeval",
    "laguerre": "lagval",
    "legendre": "legval",
    "polynomial": "polyval",
}
COEFFICIENTS = (np.arange(4.0), np.eye(3), np.arange(12.0).reshape(3, 2, 2), np.array([2]), [1, 2])
X = np.array([0.1, -0.2, 0.3])
SERIES = Chebyshev([1.0, 2.0, 3.0], domain=[0, 4])


@pytest.mark.parametrize("family", SUMS)
def test_each_column_of_coefficients_is_summed_at_each_place(family: str) -> None:
    values = getattr(getattr(polynomial, family), SUMS[family])
    for c in COEFFICIENTS:
        for x in (X, X.reshape(1, 3), np.array(0.3)):
            found = sg.trace(lambda x, c=c: 1 * values(x, c), x=x.shape).lower()(x=x)
            np.testing.assert_allclose(found, values(x, c))
            assert np.shape(found) == np.shape(values(x, c))
            found = sg.vmap(lambda x, c=c: values(1j * x, c))(x[None])[0]
            np.testing.assert_allclose(found, values(1j * x, c))
    outside = sg.graph(values(sg.input("x", (3,)), np.eye(3)))
    np.testing.assert_allclose(outside.evaluate(x=X), values(X, np.eye(3)), strict=True)


def test_roots_are_taken_from_each_place() -> None:
    def f(x: Any) -> Any:
        return polynomial.polynomial.polyvalfromroots(x, [1.0, 2.0, 4.0])

    np.testing.assert_allclose(sg.trace(f, x=3).lower()(x=X), f(X), strict=True)


def test_the_slope_of_a_fitted_series() -> None:
    def f(x: Any) -> Any:
        a, b = SERIES.mapparms()
        return chebyshev.chebval(a + b * x, SERIES.coef)

    np.testing.assert_allclose(f(X), SERIES(X), rtol=1e-13)
    slopes = sg.grad(lambda x: np.sum(f(x)))(X)
    np.testing.assert_allclose(slopes, SERIES.deriv()(X), rtol=1e-13)


@pytest.mark.parametrize(
    ("f", "mend"),
    [
        (lambda x: SERIES(x), "chebval(a + b * x, p.coef)"),
        (lambda x: Chebyshev(x)(0.3), "c @ np.polynomial.chebyshev.chebval(x, np.eye(len(c)))"),
        (lambda x: chebyshev.chebval(0.3, x), "c @ np.polynomial.chebyshev.chebval"),
        (lambda x: chebyshev.chebvander(x, 2), "chebval(x, np.eye(degree + 1))"),
        (lambda x: Polynomial(x)(0.3), "np.polyval(coefficients, x)"),
    ],
)
def test_what_asks_for_numbers_is_told(f: Any, mend: str) -> None:
    with pytest.raises(sg.TraceError) as raised:
        sg.trace(f, x=3)
    assert mend in str(raised.value)
    assert "test_polynomials.py" in str(raised.value)


def test_the_advice_for_symbolic_coefficients_is_right() -> None:
    c = np.array([1.0, 2.0, -0.5])
    found = sg.jacobian(lambda c: c @ chebyshev.chebval(X, np.eye(len(c))))(c)
    np.testing.assert_allclose(found, chebyshev.chebvander(X, 2), rtol=1e-14)
    rows = sg.trace(lambda x: chebyshev.chebval(x, np.eye(3)), x=3).lower()(x=X)
    np.testing.assert_allclose(rows, chebyshev.chebvander(X, 2).T, rtol=1e-14)
