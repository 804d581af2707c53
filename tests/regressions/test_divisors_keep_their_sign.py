"""A divisor that is 0 has a sign, that of the infinity: simplification does not turn it.

log(1 - x) has the slope -1 / (1 - x), which is -inf at 1, its limit. 1 / (x - 1) is inf there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.scipy import stats

INF = np.inf
SLOPES: dict[str, tuple[Callable[..., Any], float, float]] = {
    "log(1 - x)": (lambda x, b: np.log(1 - x), 1.0, -INF),
    "b log(1 - x)": (lambda x, b: b * np.log(1 - x), 1.0, -INF),
    "b log1p(-x) / 2": (lambda x, b: b * np.log1p(-x) / 2, 1.0, -INF),
    "log x + log(1 - x)": (lambda x, b: np.log(x) + 3 * np.log1p(-x), 1.0, -INF),
    "b arctanh x": (lambda x, b: -b * np.arctanh(x), 1.0, -INF),
    "logit": (lambda x, b: -snp.logit(x), 1.0, -INF),
    "log(b - x)": (lambda x, b: 2 * np.log(b - x), 3.0, -INF),
    "log(1 - b x)": (lambda x, b: np.log(1 - x * b / 3), 1.0, -INF),
    "log(1 - x²)": (lambda x, b: b * np.log(1 - x**2), 1.0, -INF),
    "beta": (lambda x, b: stats.beta.logpdf(x, 2.0, b), 1.0, -INF),
    "beta, numbers": (lambda x, b: stats.beta.logpdf(x, 2.0, 3.0), 1.0, -INF),
    "beta, infinite": (lambda x, b: stats.beta.logpdf(x, 2.0, 0.5), 1.0, INF),
    "logistic": (lambda x, b: stats.logistic.isf(x), 1.0, -INF),
}


@pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")
@pytest.mark.parametrize("name", SLOPES)
def test_the_slope_at_a_pole_has_the_sign_of_the_limit(name: str) -> None:
    f, x, slope = SLOPES[name]
    graph = sg.trace(f, x=sg.spec(()), b=sg.spec(())).gradient("x", value=False)
    for each in (graph, graph.simplify()):
        assert each.evaluate(x=np.array(x), b=np.array(3.0)) == slope
