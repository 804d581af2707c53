"""Interpolants beside SciPy's, their derivatives, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.interpolate

import symgraph as sg
from symgraph.scipy import interpolate
from symgraph.testing import check_grads

RNG = np.random.default_rng(0)
X = np.cumsum(RNG.uniform(0.2, 1, 8))
Y = RNG.normal(size=8)
AROUND = np.concatenate([X, RNG.uniform(X[0] - 1, X[-1] + 1, 12)]).reshape(2, -1)
WITHIN = RNG.uniform(X[0], X[-1], 6)
ENDS = ["not-a-knot", "natural", "clamped", "periodic", ((1, 0.5), (2, 0.3))]


def values_for(ends: Any) -> Any:
    return np.append(Y[:-1], Y[0]) if ends == "periodic" else Y


@pytest.mark.parametrize("ends", ENDS, ids=str)
@pytest.mark.parametrize("nu", range(5))
def test_a_spline_is_scipy_s(ends: Any, nu: int) -> None:
    y = values_for(ends)
    theirs = scipy.interpolate.CubicSpline(X, y, bc_type=ends)
    ours = interpolate.CubicSpline(X, y, bc_type=ends)
    np.testing.assert_allclose(ours(AROUND, nu), theirs(AROUND, nu), rtol=1e-9, atol=1e-11)
    cut = theirs(AROUND, nu, extrapolate=False)
    np.testing.assert_allclose(ours(AROUND, nu, extrapolate=False), cut, rtol=1e-9, atol=1e-11)
    assert np.isnan(cut).any()


@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_a_spline_of_symbols_is_linear_in_its_values(ends: Any) -> None:
    y = values_for(ends)

    def at(y: Any, x: Any) -> Any:
        return interpolate.CubicSpline(X, y, bc_type=ends)(x)

    found = sg.trace(at, y=(8,), x=AROUND.shape).evaluate(y=y, x=AROUND)
    wanted = scipy.interpolate.CubicSpline(X, y, bc_type=ends)(AROUND)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)
    check_grads(lambda y, x: np.sum(np.sin(at(y, x))), y, WITHIN, order=1, analytic=False)


@pytest.mark.parametrize("name", ["CubicSpline", "PchipInterpolator", "Akima1DInterpolator"])
def test_the_gradient_of_an_interpolant_is_its_derivative(name: str) -> None:
    theirs = getattr(scipy.interpolate, name)(X, Y)
    ours = getattr(interpolate, name)(X, Y)
    np.testing.assert_allclose(ours(AROUND), theirs(AROUND), rtol=1e-9, atol=1e-11)
    slope = sg.grad(lambda x: np.sum(ours(x)))
    np.testing.assert_allclose(slope(WITHIN), theirs(WITHIN, 1), rtol=1e-9)
    curve = sg.jacobian(sg.grad(ours))(1.3)
    np.testing.assert_allclose(curve, theirs(1.3, 2), rtol=1e-9)
    assert isinstance(ours(1.0), float)


def test_values_along_any_axis() -> None:
    rows = RNG.normal(size=(3, 8, 2))
    theirs = scipy.interpolate.CubicSpline(X, rows, axis=1)
    for axis in (1, -2):
        ours = interpolate.CubicSpline(X, rows, axis=axis)
        np.testing.assert_allclose(ours(AROUND), theirs(AROUND), rtol=1e-9, atol=1e-11)
    found = sg.trace(lambda y: interpolate.CubicSpline(X, y, axis=1)(AROUND), y=rows.shape)
    np.testing.assert_allclose(found.evaluate(y=rows), theirs(AROUND), rtol=1e-8, atol=1e-10)


GRID = (np.array([0, 1, 3.0]), np.array([0, 0.5, 2, 3.0]))
POINTS = RNG.uniform(-0.2, 3.2, size=(5, 4, 2))
POINTS[0, :3] = [[0, 0], [3, 3], [1, 0.5]]


@pytest.mark.parametrize("fill", [np.nan, 2.0, None])
@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 2)])
def test_a_grid_is_scipy_s(fill: Any, shape: Any) -> None:
    values = RNG.normal(size=shape)
    said: dict[str, Any] = {"bounds_error": False, "fill_value": fill}
    wanted = scipy.interpolate.RegularGridInterpolator(GRID, values, **said)(POINTS)
    found = interpolate.RegularGridInterpolator(GRID, values, **said)(POINTS)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


def test_a_grid_has_the_gradients_of_its_values_and_of_points_between() -> None:
    inside = RNG.uniform(0.1, 2.9, size=(6, 2))

    def at(values: Any, points: Any) -> Any:
        return np.sum(np.sin(interpolate.RegularGridInterpolator(GRID, values)(points)))

    check_grads(at, RNG.normal(size=(3, 4)), inside, order=1, analytic=False)
    strict = interpolate.RegularGridInterpolator(GRID, np.ones((3, 4)))
    assert np.isnan(strict([5.0, 0.0])) == np.isnan(strict([[5.0, 0.0]])[0]) == np.True_


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda s: interpolate.CubicSpline(s, s), "the places are symbols"),
        (lambda s: interpolate.CubicSpline(X[:3], s), "3 places, values"),
        (lambda s: interpolate.PchipInterpolator(X[:4], s), "not linear in them"),
        (lambda s: interpolate.Akima1DInterpolator(X[:4], s), "not linear in them"),
        (
            lambda s: interpolate.CubicSpline(X[:4], s[:, None], bc_type=((1, [0.0]), (1, [1.0]))),
            "for a vector of symbols only",
        ),
        (lambda s: interpolate.RegularGridInterpolator((s,), s), "the places are symbols"),
        (lambda s: interpolate.RegularGridInterpolator((X,), s), "on a grid of 8 places"),
        (lambda s: interpolate.RegularGridInterpolator((X[:4],), s, "cubic"), "method='cubic'"),
        (lambda s: interpolate.RegularGridInterpolator((X[:4],), s)(s), "a grid of 1 dim"),
    ],
)
def test_what_is_refused(make: Any, words: str) -> None:
    with pytest.raises(sg.SymgraphError, match=words):
        make(sg.input("s", (4,)))


@pytest.mark.parametrize("places", [[1.0, 0.5, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 1.0], [1.0]])
def test_places_of_a_grid_that_do_not_increase_are_refused(places: list[float]) -> None:
    with pytest.raises(sg.InputError, match="along axis 1 do not increase"):
        interpolate.RegularGridInterpolator(([0.0, 1.0], places), np.ones((2, len(places))))
