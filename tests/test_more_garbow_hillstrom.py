"""The test functions of Moré, Garbow and Hillstrom (1981): gradient, Hessian, Jacobian, minima."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize
from classics import FUNCTIONS, Classic

import symgraph as sg
from symgraph.testing.gradients import numbers

STEP = 1e-30
each_function = pytest.mark.parametrize("classic", FUNCTIONS, ids=str)


def points(classic: Classic) -> list[np.ndarray]:
    """The standard start, a point beside it, and where a minimum is known."""
    start = np.array(classic.start, float)
    rng = np.random.default_rng(1)
    beside = start * rng.uniform(0.9, 1.1, start.shape) + rng.uniform(0.01, 0.05, start.shape)
    known = [] if classic.at is None else [np.array(classic.at, float)]
    return [start, beside, *known]


def stepped(f: Any, x: np.ndarray) -> np.ndarray:
    """Derivatives by the complex step of Squire and Trapp, exact to rounding: (*f(x).shape, n)."""
    columns = []
    for i in range(x.size):
        moved = x.astype(complex)
        moved[i] += 1j * STEP
        columns.append(np.imag(f(moved)) / STEP)
    return np.stack(columns, axis=-1)


def close(found: Any, wanted: np.ndarray, terms: float = 0.0) -> None:
    """To 1e-8 of each number; where terms cancel, to rounding in the largest of them."""
    largest = np.max(np.abs(wanted), initial=0.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-11 * largest + 1e-13 * terms)


@pytest.mark.sampled(one_in=48)
@each_function
def test_gradient_and_hessian(classic: Classic) -> None:
    """The gradient against steps of the function, the Hessian against steps of the gradient."""
    graph = sg.trace(classic.value, x=(len(classic.start),))
    plain = graph.gradient("x")
    x_in, gradient_out = plain.inputs["x"], plain.outputs["grad_x"]
    joint = graph.hessian("x", value=False).simplify().lower()
    value_and_gradient = plain.simplify().lower()
    for x in points(classic):
        value, gradient = value_and_gradient(x)
        np.testing.assert_allclose(value, classic.value(x), rtol=1e-9, atol=1e-25)
        close(
            gradient, stepped(classic.value, x), terms=np.max(np.abs(stepped(classic.residuals, x)))
        )
        hessian = joint(x)
        close(hessian, stepped(lambda z: numbers([gradient_out], [(x_in, z)])[0], x))
        np.testing.assert_allclose(hessian, hessian.T, rtol=1e-9, atol=1e-9 * np.abs(hessian).max())


@pytest.mark.sampled(one_in=8)
@each_function
def test_known_minima_are_found(classic: Classic) -> None:
    """By least squares with our Jacobian; the value is one of those the paper gives.

    A trust region, for MINPACK's first step of 100 lengths leaves the last bits of the residuals,
    which differ between processors, to decide in which valley it lands.
    """
    if classic.at is not None:
        best = classic.value(np.array(classic.at, float))
        assert min(abs(best - each) for each in classic.minima) <= 1e-9 * (1 + best)
    residuals = sg.trace(classic.residuals, x=(len(classic.start),)).jacobian("x").simplify()
    run = residuals.lower()
    start = np.array(classic.start, float)
    close(run(start)[1], stepped(classic.residuals, start))
    found = scipy.optimize.least_squares(
        lambda x: run(x)[0],
        start,
        jac=lambda x: run(x)[1],
        method="trf",
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
        max_nfev=4_000,
    )
    reached = 2 * found.cost
    assert any(
        np.isclose(reached, each, rtol=1e-5, atol=1e-9 if each == 0 else 0.0)
        for each in classic.minima
    ), reached


NEWTON = ("rosenbrock", "freudenstein_roth", "beale", "wood", "brown_dennis", "watson", "bard")


@pytest.mark.sampled(one_in=48)
@pytest.mark.parametrize("name", NEWTON)
def test_newton_in_a_trust_region_with_our_hessian(name: str) -> None:
    classic = next(each for each in FUNCTIONS if each.name == name)
    objective = sg.flat_objective(classic.value, np.array(classic.start, float))
    found = scipy.optimize.minimize(
        objective,
        objective.x0,
        jac=True,
        hess=objective.hessian,
        method="trust-exact",
        options={"gtol": 1e-9, "maxiter": 2_000},
    )
    assert any(
        np.isclose(found.fun, each, rtol=1e-5, atol=1e-12 if each == 0 else 0.0)
        for each in classic.minima
    ), found.fun
