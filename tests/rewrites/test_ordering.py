"""Short identities of order, rounding, extrema and inverse pairs, at the grade where they hold."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pytest
import scipy.special

import symgraph as sg
import symgraph.numpy as snp

# The program, and its operations at "rounding" and at "domain".
SHORT: dict[str, tuple[Callable[..., Any], int, int]] = {
    "sort of sort": (lambda x: np.sort(np.sort(x)), 1, 1),
    "sort along another axis": (lambda m: np.sort(np.sort(m, axis=0), axis=1), 2, 2),
    "sum of sorted": (lambda x: np.sum(np.sort(x)), 1, 1),
    "sum across what is sorted": (lambda m: np.sum(np.sort(m, axis=0), axis=1), 2, 2),
    "product of sorted": (lambda x: np.prod(np.sort(x)), 1, 1),
    "largest of sorted": (lambda x: np.max(np.sort(x)), 1, 1),
    "least of sorted": (lambda m: np.min(np.sort(m, axis=0), axis=0), 1, 1),
    "floor of floor": (lambda x: np.floor(np.floor(x)), 1, 1),
    "ceil of floor": (lambda x: np.ceil(np.floor(x)), 1, 1),
    "floor of half": (lambda x: np.floor(np.floor(x) / 2), 3, 3),
    "larger less smaller": (lambda x, y: np.maximum(x, y) - np.minimum(x, y), 2, 2),
    "larger of opposites": (lambda x: np.maximum(x, -x), 1, 1),
    "logit of expit": (lambda x: scipy.special.logit(scipy.special.expit(x)), 0, 0),
    "softplus of log": (lambda x: np.logaddexp(0, np.log(x)), 2, 1),
    "exp2 of log2": (lambda x: np.exp2(np.log2(x)), 2, 0),
    "log2 of exp2": (lambda x: np.log2(np.exp2(x)), 0, 0),
    "erf and erfc": (lambda x: scipy.special.erf(x) + scipy.special.erfc(x), 0, 0),
    "softmax of shifted": (lambda x: snp.softmax(x + 3), 5, 5),
    "log_softmax of shifted": (lambda x: snp.log_softmax(x - 3), 6, 6),
    "softmax of shifted by rows": (lambda m, x: snp.softmax(m + x), 6, 6),
    "centred mean": (lambda x: np.mean(x - np.mean(x)), 5, 0),
}


@pytest.mark.parametrize("name", SHORT)
def test_counts_and_values(name: str) -> None:
    f, plain, short = SHORT[name]
    specs = {each: sg.spec((3, 5) if each == "m" else (5,)) for each in signature(f).parameters}
    graph = sg.trace(f, **specs)
    found = graph.simplify(), graph.simplify(trust="domain")
    assert tuple(each.op_count() for each in found) == (plain, short)
    rng = np.random.default_rng(0)
    at = {each: rng.uniform(0.1, 3, spec.shape) for each, spec in specs.items()}
    for each in found:
        np.testing.assert_allclose(each.evaluate(**at), graph.evaluate(**at), rtol=1e-9, atol=1e-12)


def test_shifting_makes_a_broadcast_number_no_smaller() -> None:
    graph = sg.trace(lambda x: snp.softmax(x + np.full((2, 3), 4.0)), x=sg.spec((3,)))
    small = graph.simplify()
    assert small.op_count() <= 5
    assert np.shape(small.evaluate(x=np.arange(3.0))) == (2, 3)
