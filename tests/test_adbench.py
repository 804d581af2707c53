"""ADBench's Gaussian mixture and bundle adjustment against their published values, to 1e-10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adbench import GOLDEN, gmm, reprojection_error

import symgraph as sg

MIXTURE: dict[str, Any] = {
    name: np.array(GOLDEN["gmm"][name], float) for name in ("alphas", "means", "icf", "x")
}
PRIOR: dict[str, Any] = {name: GOLDEN["gmm"][name] for name in ("gamma", "m")}
CAMERA: dict[str, Any] = {
    "camera": np.array(GOLDEN["ba"]["cam"]),
    "point": np.array(GOLDEN["ba"]["X"]),
    "weight": np.float64(GOLDEN["ba"]["w"]),
    "feature": np.array(GOLDEN["ba"]["feat"]),
}


def mixture(alphas: Any, means: Any, icf: Any, x: Any) -> Any:
    return gmm(alphas, means, icf, x, **PRIOR)


@pytest.mark.parametrize("simplify", [False, True], ids=["as derived", "simplified"])
def test_the_gaussian_mixture(simplify: bool) -> None:
    joint = sg.trace(mixture, **MIXTURE).gradient("alphas", "means", "icf")
    graph = joint.simplify() if simplify else joint
    for value, gradients in (graph.evaluate(**MIXTURE), graph.lower()(**MIXTURE)):
        flat = np.concatenate([each.ravel() for each in gradients])
        np.testing.assert_allclose(value, GOLDEN["gmm"]["objective"], rtol=1e-10)
        np.testing.assert_allclose(flat, GOLDEN["gmm"]["gradient"], rtol=1e-10)


def test_the_mixture_through_a_transform_with_static_arguments() -> None:
    f = sg.value_and_grad(gmm, wrt=("alphas", "means", "icf"))
    value, gradients = f(**MIXTURE, **PRIOR)
    flat = np.concatenate([each.ravel() for each in gradients])
    np.testing.assert_allclose(value, GOLDEN["gmm"]["objective"], rtol=1e-10)
    np.testing.assert_allclose(flat, GOLDEN["gmm"]["gradient"], rtol=1e-10)


def test_the_mixture_on_many_points_is_right_too() -> None:
    """The gradient along a direction by the complex step; named dimensions."""
    rng = np.random.default_rng(0)
    n, d, k = 50, 3, 4
    at = {
        "alphas": rng.normal(size=k),
        "means": rng.normal(size=(k, d)),
        "icf": 0.3 * rng.normal(size=(k, d * (d + 1) // 2)),
        "x": rng.normal(size=(n, d)),
    }
    specs: dict[str, Any] = {**at, "x": sg.spec(("n", d))}
    small = sg.trace(mixture, **specs).gradient("alphas", "means", "icf", value=False).simplify()
    found = small.lower()(**at)
    for name, gradient in zip(("alphas", "means", "icf"), found, strict=True):
        direction = rng.normal(size=at[name].shape)
        moved = {**at, name: at[name] + 1e-30j * direction}
        wanted = np.imag(mixture(**moved)) / 1e-30
        np.testing.assert_allclose(np.sum(gradient * direction), wanted, rtol=1e-10)


def test_bundle_adjustment() -> None:
    graph = sg.trace(reprojection_error, **CAMERA)
    joint = graph.jacobian("camera", "point", "weight").simplify()
    error, (by_camera, by_point, by_weight) = joint.lower()(**CAMERA)
    np.testing.assert_allclose(error, GOLDEN["ba"]["reproj"], rtol=1e-10)
    np.testing.assert_allclose(1 - CAMERA["weight"] ** 2, GOLDEN["ba"]["w_err"], rtol=1e-10)
    np.testing.assert_allclose(by_weight, error / CAMERA["weight"], rtol=1e-10)
    for name, found in (("camera", by_camera), ("point", by_point)):
        for i in range(len(CAMERA[name])):
            moved = CAMERA[name].astype(complex)
            moved[i] += 1e-30j
            wanted = np.imag(reprojection_error(**{**CAMERA, name: moved})) / 1e-30
            np.testing.assert_allclose(found[:, i], wanted, rtol=1e-10, atol=1e-12)


def test_bundle_adjustment_rows_two_outputs_go_back() -> None:
    """Two outputs, fifteen inputs: reverse mode; both modes give the same."""
    graph = sg.trace(reprojection_error, **CAMERA)
    chosen = graph.jacobian("camera", value=False)
    assert "reverse mode, 2 seeds" in chosen.history.steps[0].rule
    forward = graph.jacobian("camera", value=False, mode="forward")
    np.testing.assert_allclose(
        forward.evaluate(**CAMERA), chosen.evaluate(**CAMERA), rtol=1e-10, atol=1e-13
    )
