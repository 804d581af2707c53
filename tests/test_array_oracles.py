"""Cumulative, sorting, moving and choosing functions against JAX: gradients and Hessians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

pytestmark = pytest.mark.oracle

X = np.random.default_rng(8).normal(size=(3, 4)) + np.arange(12.0).reshape(3, 4) % 5
MASK = np.random.default_rng(1).random((3, 4)) > 0.3
HOLES = np.where(MASK, 0.0, np.nan)
INDEX = np.array([[2, 0, 1], [1, 1, 0]])
TABLE: list[Callable[[Any, Any], Any]] = [
    lambda xp, x: xp.cumprod(x, axis=1),
    lambda xp, x: xp.cumprod(x * MASK, axis=0),
    lambda xp, x: xp.maximum.accumulate(x, axis=1) ** 2,
    lambda xp, x: xp.minimum.accumulate(x, axis=0) ** 3,
    lambda xp, x: xp.logaddexp.accumulate(x, axis=1),
    lambda xp, x: xp.diff(x * x, n=2, prepend=1.0),
    lambda xp, x: xp.ediff1d(x * x),
    lambda xp, x: xp.trapezoid(x * x, xp.sin(x)),
    lambda xp, x: xp.gradient(x * x, axis=1),
    lambda xp, x: xp.sort(x, axis=0) ** 2 * xp.arange(4.0),
    lambda xp, x: xp.sort(x, axis=None) ** 2,
    lambda xp, x: xp.median(x, axis=1) ** 2,
    lambda xp, x: xp.median(x) ** 2,
    lambda xp, x: xp.quantile(x, xp.asarray([0.15, 0.7]), axis=1) ** 2,
    lambda xp, x: xp.percentile(x, 33.0) ** 2,
    lambda xp, x: xp.nanmedian(x + HOLES, axis=0) ** 2,
    lambda xp, x: xp.nanquantile(x + HOLES, 0.3) ** 2,
    lambda xp, x: xp.sum(x * x, axis=1, where=MASK, initial=2.0),
    lambda xp, x: xp.prod(x, axis=1, where=MASK),
    lambda xp, x: xp.mean(x**3, axis=0, where=MASK),
    lambda xp, x: xp.var(x, axis=1, ddof=1, where=MASK),
    lambda xp, x: xp.max(x, axis=1, where=MASK, initial=-9.0) ** 2,
    lambda xp, x: xp.nanmean(x * x + HOLES, axis=1),
    lambda xp, x: xp.nanstd(x + HOLES, axis=0),
    lambda xp, x: xp.nanmax(x + HOLES, axis=1) ** 2,
    lambda xp, x: xp.nanprod(x + HOLES),
    lambda xp, x: xp.nancumsum(x * x + HOLES, axis=1),
    lambda xp, x: xp.average(x, axis=1, weights=x[0] ** 2),
    lambda xp, x: xp.cov(x),
    lambda xp, x: xp.corrcoef(x)[0, 1:],
    *[
        lambda xp, x, mode=mode: xp.pad(x * x, ((2, 3), (1, 2)), mode=mode)
        for mode in ("constant", "edge", "reflect", "symmetric", "wrap")
    ],
    lambda xp, x: xp.rot90(x * x),
    lambda xp, x: xp.roll(x**3, (1, -2), axis=(0, 1)) * x,
    lambda xp, x: xp.block([[x, x * x], [x[:1], x[1:2]]]) ** 2,
    lambda xp, x: xp.tril(x * x, 1) @ xp.triu(x).T,
    lambda xp, x: xp.take_along_axis(x * x, INDEX.T, axis=1),
    lambda xp, x: (x * x)[INDEX, INDEX],
    lambda xp, x: (x * x)[:, None, INDEX],
    lambda xp, x: (x * x)[::-1, [0, -1]][MASK[:, 0]],
    lambda xp, x: xp.delete(x * x, 1, axis=0),
    lambda xp, x: xp.insert(x, 2, x[:, 0] ** 2, axis=1),
    lambda xp, x: xp.select([x < 1, x < 3], [x * x, xp.sin(x)], 0.0),
    lambda xp, x: xp.piecewise(x, [x < 1, x > 3], [lambda x: x * x, xp.sin, 2.0]),
    lambda xp, x: xp.interp(x, np.arange(5.0), np.arange(5.0) ** 2) ** 2,
    lambda xp, x: xp.nan_to_num(x * x + HOLES),
    lambda xp, x: xp.convolve(x[0], x[:, 1]) ** 2,
    lambda xp, x: xp.correlate(x[:, 0], x[1], "same") ** 2,
    lambda xp, x: xp.polyval(x[0], x[1:]),
    lambda xp, x: xp.vander(x[0], 4) ** 2,
    lambda xp, x: xp.linspace(x[0] ** 2, x[1], 5),
    lambda xp, x: xp.meshgrid(x[0] ** 2, x[:, 1])[0] * x[0],
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", TABLE, ids=range(len(TABLE)))
def test_jax(f: Callable[[Any, Any], Any]) -> None:
    jax = pytest.importorskip("jax", reason="JAX comes with the oracles extra")
    weights = np.cos(np.arange(f(np, X).size)).reshape(f(np, X).shape)

    def total(xp: Any, x: Any) -> Any:
        return xp.sum(weights * f(xp, x))

    graph = sg.trace(lambda x: total(np, x), x=sg.spec(X.shape))
    with jax.enable_x64(True):
        theirs = jax.numpy.asarray(X)
        gradient = np.asarray(jax.grad(lambda x: total(jax.numpy, x))(theirs))
        hessian = np.asarray(jax.hessian(lambda x: total(jax.numpy, x))(theirs))
    value, got = graph.gradient("x").simplify().lower()(x=X)
    np.testing.assert_allclose(value, total(np, X), rtol=1e-11)
    np.testing.assert_allclose(got, gradient, rtol=1e-9, atol=1e-9)
    second = graph.hessian("x").lower()(x=X)
    second = second[-1] if isinstance(second, tuple) else second
    np.testing.assert_allclose(second, hessian, rtol=1e-8, atol=1e-8)
