"""Several gradients at once: what they share is in closed form too."""

from __future__ import annotations

import numpy as np
import pytest

import symgraph as sg


def cross_entropy(X, Y, W, b):
    z = X @ W + b
    q = np.exp(z) / np.sum(np.exp(z), axis=-1, keepdims=True)
    return -np.mean(np.sum(Y * np.log(q), axis=-1))


@pytest.mark.parametrize("n", ["n", "5"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_weights_and_bias_share_softmax_minus_target(n: str, dtype: str) -> None:
    """Matmul, bias, softmax (5), minus, scale, and for each parameter a product or a sum: 11."""
    graph = sg.trace(
        cross_entropy,
        X=sg.spec(f"{n}, 4", dtype),
        Y=sg.spec(f"{n}, 3", dtype, assume=sg.simplex(axis=-1)),
        W=sg.spec("4, 3", dtype),
        b=sg.spec("3", dtype),
    )
    small = graph.gradient("W", "b", value=False).simplify()
    assert small.op_count() == 11, small
    names = [node.op.name for node in small.nodes]
    assert names.count("softmax") == 1
    assert names.count("subtract") == 1
    rng = np.random.default_rng(0)
    at = {
        "X": rng.standard_normal((5, 4)).astype(dtype),
        "Y": np.eye(3, dtype=dtype)[rng.integers(3, size=5)],
        "W": rng.standard_normal((4, 3)).astype(dtype),
        "b": rng.standard_normal(3).astype(dtype),
    }
    z = at["X"] @ at["W"] + at["b"]
    q = np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)
    delta = (q - at["Y"]) / 5
    dW, db = small.lower()(**at)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(dW, at["X"].T @ delta, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(db, delta.sum(axis=0), rtol=tolerance, atol=tolerance)


def ridge(X, y, W, b):
    r = X @ W + b - y
    return np.sum(r * r) / X.shape[0] + 0.1 * np.sum(W * W)


@pytest.mark.parametrize("n", ["n", "5"])
def test_ridge_scales_residual_and_weights_once(n: str) -> None:
    """The residual takes 3, its scaling 1, X.T @ and the sum 2, weight decay and its sum 2: 8."""
    specs = {"X": f"{n}, 4", "y": f"{n}, 3", "W": "4, 3", "b": "3"}
    graph = sg.trace(ridge, **{name: sg.spec(shape) for name, shape in specs.items()})
    small = graph.gradient("W", "b", value=False).simplify()
    assert small.op_count() == 8, small
    rng = np.random.default_rng(0)
    at = {
        name: rng.standard_normal(tuple(5 if dim == "n" else int(dim) for dim in shape.split(", ")))
        for name, shape in specs.items()
    }
    delta = 2 / 5 * (at["X"] @ at["W"] + at["b"] - at["y"])
    dW, db = small.lower()(**at)
    np.testing.assert_allclose(dW, at["X"].T @ delta + 0.2 * at["W"], rtol=1e-12)
    np.testing.assert_allclose(db, delta.sum(axis=0), rtol=1e-12)
