"""Activations: values and slopes against their definitions, at kinks and far out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import ShapeError

FAR = [-1e80, -800.0, -40.0, -5.0, -1.0, -1e-9, 1e-9, 0.5, 1.0, 5.0, 40.0, 800.0, 1e80]
ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805


def both(call: Callable[[Any], Any], at: Any) -> tuple[Any, Any]:
    """Values and slopes."""
    x = sg.input("x", at.shape, at.dtype)
    graph = sg.graph(call(x)).evaluate(x=at)
    slope = sg.graph(np.sum(call(x))).gradient("x", value=False).evaluate(x=at)
    return graph, slope


def elu(x: Any, alpha: float = 1.0, rate: float = 1.0) -> Any:
    return x if x > 0 else alpha * mp.expm1(x / rate)


def silu(x: Any) -> Any:
    return x / (1 + mp.exp(-x))


def gelu(x: Any) -> Any:
    return x * mp.erfc(-x / mp.sqrt(2)) / 2


def tanh_gelu(x: Any) -> Any:
    return x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + 0.044715 * x**3)))


ROWS: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
    (snp.relu, lambda x: max(x, mp.mpf(0))),
    (snp.relu6, lambda x: min(max(x, mp.mpf(0)), mp.mpf(6))),
    (snp.leaky_relu, lambda x: x if x > 0 else mp.mpf(0.01) * x),
    (snp.hard_tanh, lambda x: min(max(x, mp.mpf(-1)), mp.mpf(1))),
    (snp.hard_sigmoid, lambda x: min(max(x / 6 + 0.5, mp.mpf(0)), mp.mpf(1))),
    (snp.elu, elu),
    (lambda x: snp.elu(x, 0.3), lambda x: elu(x, 0.3)),
    (lambda x: snp.celu(x, 2.0), lambda x: elu(x, 2.0, 2.0)),
    (snp.selu, lambda x: SCALE * elu(x, ALPHA)),
    (snp.silu, silu),
    (snp.swish, silu),
    (snp.gelu, gelu),
    (lambda x: snp.gelu(x, approximate=True), tanh_gelu),
    (snp.mish, lambda x: x * mp.tanh(mp.log1p(mp.exp(x)))),
    (snp.softsign, lambda x: x / (1 + abs(x))),
    (snp.log_sigmoid, lambda x: -mp.log1p(mp.exp(-x))),
    (snp.softplus, lambda x: mp.log1p(mp.exp(x))),
]
NAMES = [getattr(call, "__name__", str(i)) for i, (call, _) in enumerate(ROWS)]


@pytest.mark.parametrize(("call", "exact"), ROWS, ids=NAMES)
def test_values_and_slopes(call: Callable[[Any], Any], exact: Callable[[Any], Any]) -> None:
    points = [x for x in FAR if x not in (-1.0, 1.0) or call is not snp.hard_tanh]
    values, slopes = both(call, np.array(points))
    with mp.workdps(60):
        for x, value, slope in zip(points, values, slopes, strict=True):
            at = mp.mpf(x)
            want = float(exact(at))
            assert abs(value - want) <= 1e-13 * abs(want) + 1e-300, (x, value, want)
            step = mp.mpf("1e-25") * max(abs(at), mp.mpf("1e-9"))
            with mp.workdps(120):
                steep = float((exact(at + step) - exact(at - step)) / (2 * step))
            assert abs(slope - steep) <= 1e-12 * abs(steep) + 1e-15, (x, slope, steep)


KINKS = [
    (snp.relu, 0.0, 0.0),
    (snp.relu6, 6.0, 0.0),
    (snp.leaky_relu, 0.0, 0.01),
    (lambda x: snp.leaky_relu(x, 0.2), -0.0, 0.2),
    (snp.elu, 0.0, 1.0),
    (lambda x: snp.elu(x, 0.5), 0.0, 0.5),
    (snp.selu, 0.0, SCALE * ALPHA),
    (snp.hard_tanh, 1.0, 0.0),
    (snp.hard_sigmoid, -3.0, 0.0),
    (snp.softsign, 0.0, 1.0),
]


@pytest.mark.parametrize(("call", "at", "slope"), KINKS)
def test_slopes_at_kinks(call: Callable[[Any], Any], at: float, slope: float) -> None:
    assert both(call, np.array([at]))[1][0] == pytest.approx(slope, rel=1e-15)


@pytest.mark.parametrize("call", [each for each, _ in ROWS], ids=NAMES)
def test_dtype_is_kept(call: Callable[[Any], Any]) -> None:
    for dtype in ("float16", "float32", "float64"):
        values, slopes = both(call, np.array([-2.0, 0.5], dtype))
        assert values.dtype == slopes.dtype == dtype


def test_glu() -> None:
    x = sg.input("x", (3, 4))
    at = np.arange(12.0).reshape(3, 4) / 5 - 1
    got = sg.graph(snp.glu(x)).evaluate(x=at)
    np.testing.assert_allclose(got, at[:, :2] / (1 + np.exp(-at[:, 2:])), rtol=1e-14)
    assert snp.glu(sg.input("x", (6, "n")), axis=0).shape[0] == 3
    with pytest.raises(ShapeError, match="two halves"):
        snp.glu(x, axis=0)
