"""Slopes of log(1 + z**c) and z**c / (1 + z**c) in range: at 0, and beside mpmath."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.scipy import stats

INF = np.inf

FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "softplus": (lambda z, c: snp.softplus(snp.xlogy(c, z)), lambda z, c: 1 / (1 + z**c)),
    "sigmoid": (lambda z, c: snp.sigmoid(snp.xlogy(c, z)), lambda z, c: 1 / (1 + z**c) ** 2),
    "falling sigmoid": (
        lambda z, c: snp.sigmoid(-snp.xlogy(c, z)),
        lambda z, c: -1 / (1 + z**c) ** 2,
    ),
}
"""Each function, and its slope by the power z**c."""


def slopes(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    """The slopes in z and c, as derived and simplified, and by forward mode."""
    traced = sg.trace(function, z=sg.spec(()), c=sg.spec(()))
    graphs = [traced.gradient("z", "c", value=False)]
    graphs.append(graphs[0].simplify())
    forward = [sg.jacobian(function, wrt=name, mode="forward") for name in ("z", "c")]
    return [
        *[lambda z, c, graph=graph: graph.evaluate(z=z, c=c) for graph in graphs],
        lambda z, c: [each(z, c) for each in forward],
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes_inside_and_far_out(name: str) -> None:
    function, exact = FUNCTIONS[name]
    ways = slopes(function)
    with mpmath.workdps(50):
        for z in (1e-200, 1e-3, 0.4, 1.7, 30.0, 1e6):
            for c in (0.5, 1.0, 2.0, 3.5):
                base = mpmath.mpf(z)
                by_power = exact(base, c)
                right = [
                    by_power * c * base ** (c - 1),
                    by_power * base**c * mpmath.log(base),
                ]
                for way in ways:
                    found = way(np.float64(z), np.float64(c))
                    # 1 - sigmoid has the digits of 1 where the sigmoid is near 1.
                    np.testing.assert_allclose(
                        np.array(found, float), np.array(right, float), rtol=1e-12, atol=1e-14
                    )


def test_slopes_are_numbers_where_the_power_overflows() -> None:
    for name, right in (("softplus", 3e-200), ("sigmoid", 0.0), ("falling sigmoid", 0.0)):
        for way in slopes(FUNCTIONS[name][0]):
            found = way(np.float64(1e200), np.float64(3.0))
            np.testing.assert_allclose(float(found[0]), right, rtol=1e-12)


@pytest.mark.parametrize(("c", "slope"), [(0.5, INF), (1.0, 1.0), (1.5, 0.0), (3.0, 0.0)])
def test_slopes_at_0(c: float, slope: float) -> None:
    for name, sign in (("softplus", 1), ("sigmoid", 1), ("falling sigmoid", -1)):
        for way in slopes(FUNCTIONS[name][0]):
            in_z, in_c = way(np.float64(0.0), np.float64(c))
            assert (float(in_z), float(in_c)) == (sign * slope, 0.0), name


@pytest.mark.parametrize("method", ["logpdf", "cdf", "logcdf", "sf", "logsf"])
@pytest.mark.parametrize("c", [0.5, 1.0, 1.5, 2.0, 3.0])
def test_slopes_of_fisk_at_0(method: str, c: float) -> None:
    """As one comes to 0 from inside, by their formulas."""
    density = 1.0 if c == 1 else INF if c < 1 else 0.0
    right = {
        "logpdf": -2.0 if c == 1 else -INF if c < 1 else INF,
        "cdf": density,
        "logcdf": INF,
        "sf": -density,
        "logsf": -density,
    }
    function = getattr(stats.fisk, method)
    graph = sg.trace(lambda x: function(x, c), x=sg.spec(())).gradient("x", value=False)
    for each in (graph, graph.simplify()):
        assert each.evaluate(x=np.array(0.0)) == right[method]
        assert each.evaluate(x=np.array(-1.0)) == 0.0
