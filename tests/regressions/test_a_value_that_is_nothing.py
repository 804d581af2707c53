"""A part of the gradient that another form of it shows to be 0."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

import symgraph as sg
from symgraph.scipy import stats
from symgraph.testing import check_gradient


def call(S, K, r, vol, T):
    """The price of a European call by Black and Scholes."""
    d1 = (np.log(S / K) + (r + vol**2 / 2) * T) / (vol * np.sqrt(T))
    d2 = d1 - vol * np.sqrt(T)
    return S * stats.norm.cdf(d1) - K * np.exp(-r * T) * stats.norm.cdf(d2)


def test_the_sensitivities_of_a_call_to_all_its_inputs() -> None:
    """S φ(d1) = K e^(-rT) φ(d2): the algebra learned of the difference, and raised ValueError."""
    positive = sg.spec((), assume=sg.positive)
    graph = sg.trace(call, S=positive, K=positive, r=(), vol=positive, T=positive)
    joint = graph.gradient("S", "vol", "T", "r")
    small = joint.simplify()
    at = {"S": 100.0, "K": 95.0, "r": 0.02, "vol": 0.3, "T": 0.7}
    value, slopes = small.evaluate(**at)
    expected, expected_slopes = joint.evaluate(**at)
    assert_allclose(value, expected, rtol=1e-13)
    assert_allclose(slopes, expected_slopes, rtol=1e-11)
    assert small.op_count() < 0.6 * joint.op_count()
    check_gradient(call, *at.values())
