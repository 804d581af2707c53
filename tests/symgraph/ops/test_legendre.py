"""Slopes of associated Legendre functions, near and at the ends of the interval."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import symgraph as sg
from symgraph.scipy import special


def slope(m: float, v: float, x: float) -> float:
    return float(sg.grad(lambda x: special.lpmv(m, v, x))(x))


@pytest.mark.whole
@pytest.mark.parametrize(("m", "v"), [(0, 2.5), (1, 3.0), (2, 2.5), (3, 4.0)])
@pytest.mark.parametrize("x", [0.3, -0.9, 1 - 1e-6, 1 - 1e-12])
def test_slopes_keep_their_digits_towards_the_ends(m: int, v: float, x: float) -> None:
    with mpmath.workdps(60):
        wanted = mpmath.diff(lambda t: mpmath.legenp(v, m, t), mpmath.mpf(x), h=1e-25)
        # SciPy's own values have the error of 1 - x².
        assert slope(m, v, x) == pytest.approx(float(wanted), rel=1e-9)


@pytest.mark.parametrize(
    ("m", "v", "wanted"),
    [(0, 2, 3), (0, 3, 6), (0, 2.5, 4.375), (1, 2, np.inf), (1, 0, 0), (2, 3, -30), (3, 4, 0)],
)
def test_slopes_at_the_ends_are_limits(m: int, v: float, wanted: float) -> None:
    assert slope(m, v, 1.0) == wanted
    mirrored = wanted * (-1) ** (v + m + 1) if v == int(v) else np.nan
    np.testing.assert_equal(slope(m, v, -1.0), mirrored + 0.0)


def test_what_is_not_known_at_an_end_is_nan() -> None:
    assert np.isnan(slope(-1, 2, 1.0))
    assert np.isnan(sg.hessian(lambda x: special.lpmv(0, 3, x))(1.0))
    assert np.isnan(slope(0, 2, 1.5))
