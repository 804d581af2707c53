"""Flat objectives with scipy.optimize: Rosenbrock, and a regression on real data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import symgraph as sg


def rosenbrock(p: dict[str, Any]) -> Any:
    """Its minimum, 0, is at 1; nested on purpose."""
    x = np.concatenate([p["first"], p["rest"][0]])
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


START = {"first": np.array([-1.2, 1.0]), "rest": (np.array([0.5, -0.3, 0.1]),), "kind": "text"}


def test_derivatives_are_those_of_scipy() -> None:
    objective = sg.flat_objective(rosenbrock, START)
    x = objective.x0
    assert x.tolist() == [-1.2, 1.0, 0.5, -0.3, 0.1]
    value, gradient = objective(x)
    np.testing.assert_allclose(value, scipy.optimize.rosen(x), rtol=1e-14)
    np.testing.assert_allclose(gradient, scipy.optimize.rosen_der(x), rtol=1e-12)
    np.testing.assert_allclose(objective.hessian(x), scipy.optimize.rosen_hess(x), rtol=1e-12)
    p = np.arange(5.0)
    np.testing.assert_allclose(
        objective.hessp(x, p), scipy.optimize.rosen_hess_prod(x, p), rtol=1e-12, atol=1e-12
    )
    assert objective.value(x) == value
    np.testing.assert_array_equal(objective.gradient(x), gradient)


@pytest.mark.parametrize(
    "method",
    [
        *("BFGS", "L-BFGS-B", "Newton-CG", "trust-krylov"),
        pytest.param("trust-exact", marks=pytest.mark.whole),
    ],
)
def test_scipy_minimises(method: str) -> None:
    # From START most methods reach the local minimum near (-1, 1, 1, 1, 1).
    near = {**START, "first": np.array([1.3, 0.7]), "rest": (np.array([0.8, 1.9, 1.2]),)}
    objective = sg.flat_objective(rosenbrock, near)
    extra: dict[str, Any] = {}
    if method in ("Newton-CG", "trust-krylov"):
        extra["hessp"] = objective.hessp
    if method == "trust-exact":
        extra["hess"] = objective.hessian
    found = scipy.optimize.minimize(objective, objective.x0, jac=True, method=method, **extra)
    assert found.fun < 1e-7
    params = objective.unflatten(found.x)
    assert params["kind"] == "text"
    np.testing.assert_allclose(params["first"], 1.0, atol=1e-3)
    np.testing.assert_allclose(params["rest"][0], 1.0, atol=1e-3)


@pytest.mark.whole
def test_logistic_regression_on_real_data() -> None:
    """The optimum scikit-learn finds, by Newton steps whose Hessian is never built."""
    features, labels = load_breast_cancer(return_X_y=True)
    features = StandardScaler().fit_transform(features)
    signs = 2.0 * labels - 1

    def loss(params: dict[str, Any], x: Any, y: Any) -> Any:
        margin = y * (x @ params["w"] + params["b"])
        return np.sum(np.logaddexp(0, -margin)) + 0.5 * np.sum(params["w"] ** 2)

    start = {"w": np.zeros(features.shape[1]), "b": 0.0}
    objective = sg.flat_objective(loss, start, features, signs)
    found = scipy.optimize.minimize(
        objective,
        objective.x0,
        jac=True,
        hessp=objective.hessp,
        method="Newton-CG",
        options={"xtol": 1e-10},
    )
    params = objective.unflatten(found.x)
    reference = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(features, labels)
    np.testing.assert_allclose(params["w"], reference.coef_[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(params["b"], reference.intercept_[0], rtol=1e-5)
    half = objective.with_data(features[::2], signs[::2])
    assert half.value(found.x) < found.fun


def test_dtypes_of_the_parameters_are_kept() -> None:
    objective = sg.flat_objective(lambda p: np.sum(p["w"] ** 2), {"w": np.ones(3, "float32")})
    assert objective.x0.dtype == np.float64
    assert objective.unflatten(objective.x0)["w"].dtype == np.float32
    value, gradient = objective(objective.x0)
    assert type(value) is float
    assert gradient.dtype == np.float64


def test_refusals() -> None:
    with pytest.raises(sg.InputError, match="no arrays among"):
        sg.flat_objective(lambda p: 1.0, {"kind": "text"})
    with pytest.raises(sg.InputError, match="int64"):
        sg.flat_objective(lambda p: np.sum(p), np.arange(3))
    objective = sg.flat_objective(lambda p: np.sum(p), np.ones(3))
    with pytest.raises(sg.InputError, match="vector of 3"):
        objective(np.ones(4))
    with pytest.raises(sg.InputError, match="shapes"):
        objective.flatten(np.ones(4))
