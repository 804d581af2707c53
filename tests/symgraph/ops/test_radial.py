"""Second derivatives of functions of a length, where the length is 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "cos": (np.cos, -1.0),
    "log cosh": (lambda r: np.log(np.cosh(r)), 1.0),
    "sinc": (np.sinc, -(np.pi**2) / 3),
    "Matern 3/2": (lambda r: (1 + r) * np.exp(-r), -1.0),
    "Matern 5/2": (lambda r: (1 + r + r**2 / 3) * np.exp(-r), -1 / 3),
    "Wendland": (lambda r: np.maximum(1 - r, 0.0) ** 4 * (4 * r + 1), -20.0),
    "huber": (lambda r: np.where(r < 1, 0.5 * r * r, r - 0.5), 1.0),
    "softplus": (lambda r: np.log1p(np.exp(-r)) + r / 2, 0.25),
}
"""Smooth even functions, and their second derivative at 0."""

LENGTHS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "absolute": (lambda x: np.abs(x[0]), np.diag([1.0, 0.0])),
    "fabs": (lambda x: np.fabs(x[0]), np.diag([1.0, 0.0])),
    "norm": (lambda x: np.linalg.norm(x), np.eye(2)),
    "norm of rows": (lambda x: np.linalg.norm(x.reshape(1, 2), axis=1)[0], np.eye(2)),
    "multiple": (lambda x: 2 * np.linalg.norm(x), 4 * np.eye(2)),
    "root": (lambda x: np.sqrt(np.sum(x * x)), np.eye(2)),
    "root of a mean": (lambda x: np.sqrt(np.mean(x**2)), np.eye(2) / 2),
    "hypot": (lambda x: np.hypot(x[0], x[1]), np.eye(2)),
}
"""Lengths, and the second derivative of half their square."""

ROWS = [(length, name) for length in LENGTHS for name in FUNCTIONS]


@pytest.mark.sampled(one_in=72)
@pytest.mark.parametrize(("length", "name"), ROWS, ids=["-".join(row) for row in ROWS])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_function_of_a_length_that_is_0(length: str, name: str, mode: Any) -> None:
    (function, curvature), (measure, square) = FUNCTIONS[name], LENGTHS[length]
    graph = sg.trace(lambda x: function(measure(x)), x=sg.spec((2,)))
    hessian = graph.hessian("x", mode=mode)
    for each in (hessian, hessian.simplify()):
        np.testing.assert_allclose(each.evaluate(x=np.zeros(2))[1], curvature * square, atol=1e-12)


def test_slope_in_forward_mode_is_differentiated_right() -> None:
    graph = sg.trace(lambda x: np.cos(2 * np.linalg.norm(x)), x=sg.spec((2,)))
    for mode in ("reverse", "forward"):
        found = graph.jacobian("x", mode="forward").jacobian("x", mode=mode)
        np.testing.assert_allclose(found.evaluate(x=np.zeros(2))[1][1], -4 * np.eye(2))


def test_shared_centre_at_one_of_its_points() -> None:
    points = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    loss = sg.trace(lambda c: np.sum(np.cos(np.linalg.norm(points - c, axis=1))), c=sg.spec((2,)))
    hessian = loss.hessian("c")
    near = hessian.evaluate(c=points[1] + 1e-6)[1]
    for each in (hessian, hessian.simplify()):
        np.testing.assert_allclose(each.evaluate(c=points[1])[1], near, atol=1e-5)


@pytest.mark.parametrize("size", [np.abs, lambda d: np.linalg.norm(d[..., None], axis=-1)])
def test_points_and_themselves(size: Callable[[Any], Any]) -> None:
    """A point is at distance 0 from itself wherever it is, and that adds nothing."""

    def energy(x: Any) -> Any:
        return np.sum(np.exp(-size(x[:, None] - x))) + np.sum(np.cos(size(x[:, None] - x)))

    hessian = sg.trace(energy, x=sg.spec((2,))).hessian("x")
    want = 2 * (np.exp(-1) - np.cos(1)) * np.array([[1.0, -1.0], [-1.0, 1.0]])
    for each in (hessian, hessian.simplify()):
        np.testing.assert_allclose(each.evaluate(x=np.array([0.0, 1.0]))[1], want)


def test_parameter_of_a_radial_function() -> None:
    """The third derivative by the scale k of cos(k r) is -2 k at r = 0."""
    graph = sg.trace(lambda x, k: np.cos(k * np.linalg.norm(x)), x=sg.spec((2,)), k=sg.spec(()))
    third = graph.gradient("x", value=False).jacobian("x", value=False).jacobian("k", value=False)
    found = third.evaluate(x=np.zeros(2), k=np.array(3.0))
    np.testing.assert_allclose(np.squeeze(found), -6 * np.eye(2))


def test_quotient_that_a_user_wrote_keeps_its_value_0() -> None:
    graph = sg.trace(
        lambda x, w: w * snp.divide_or_zero(np.sin(x), x), x=sg.spec(()), w=sg.spec(())
    )
    assert graph.gradient("w").evaluate(x=np.array(0.0), w=np.array(2.0))[1] == 0


@pytest.mark.parametrize(
    ("function", "curvature"),
    [(lambda s: np.sum(s**2), 2.0), (lambda s: np.sum(np.cos(s)), None)],
)
def test_singular_values_of_a_singular_matrix(
    function: Callable[[Any], Any], curvature: float | None
) -> None:
    x = np.array([[1.0, 2.0], [3.0, 6.0]])
    graph = sg.trace(lambda x: function(np.linalg.svdvals(x)), x=sg.spec((2, 2)))
    hessian = graph.hessian("x")
    want = hessian.evaluate(x=x + 1e-6 * np.eye(2))[1]
    if curvature is not None:
        want = curvature * np.eye(4).reshape(2, 2, 2, 2)
    for each in (hessian, hessian.simplify()):
        np.testing.assert_allclose(each.evaluate(x=x)[1], want, atol=1e-5)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("far", [3.0, 1e4, 1e8, 1e20])
def test_the_curvature_of_a_hypotenuse_keeps_its_digits_along_the_long_leg(
    mode: Any, far: float
) -> None:
    """It is y² / h³; it was 1 / h less a number as large."""
    wanted = 1 / np.hypot(far, 1.0) ** 3
    for f in (
        lambda x: np.hypot(x, 1.0),
        lambda x: np.hypot(1.0, -x),
        lambda x: snp.pseudo_huber(1.0, x),
    ):
        curvature = sg.trace(f, x=sg.spec(())).hessian("x", value=False, mode=mode)
        for each in (curvature, curvature.simplify()):
            np.testing.assert_allclose(each.evaluate(x=np.array(far)), wanted, rtol=1e-14)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_the_hessian_of_a_hypotenuse_is_that_of_the_root(mode: Any) -> None:
    x, y = 3.0, -4.0
    graph = sg.trace(lambda v: np.hypot(v[0], v[1]), v=sg.spec((2,)))
    found = graph.hessian("v", value=False, mode=mode).evaluate(v=np.array([x, y]))
    np.testing.assert_allclose(
        found, np.array([[y * y, -x * y], [-x * y, x * x]]) / 125, rtol=1e-14
    )
