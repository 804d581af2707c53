"""Exponents over the inputs stay short; exponents that differ by a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.algebra.regions.memory import RegionMemory
from symgraph.algebra.regions.related_exps import RelatedExps
from symgraph.ir.fact_inference import Knowledge
from symgraph.scipy.stats import norm


def recurrence(x: Any, b: Any, steps: int) -> Any:
    for _ in range(steps):
        x = x * np.sum(b * x)
    return x


@pytest.mark.parametrize("steps", [3, 10])
def test_a_recurrence_that_doubles_its_factors_is_not_opened(steps: int) -> None:
    """Thirty steps of an auction would open to 2**30 factors."""
    knowledge = Knowledge()
    memory = RegionMemory(knowledge, None, at_kinks=True)
    graph = sg.trace(lambda x, b: recurrence(x, b, steps), x=3, b=3)
    atom = memory.lifter.atoms.leaf(graph.outputs["out"].node)
    opened = RelatedExps(memory, opens=True).array_opened(atom) or {}
    assert all(len(term.factors) + len(term.bound) <= 48 for term in opened)
    assert bool(opened) is (steps < 6)


def test_expected_improvement_has_the_slopes_of_the_book() -> None:
    """Of m ndtr(z) + s pdf(z), z = m / s: ndtr(z) and pdf(z); Jones et al. 1998."""

    def improvement(m: Any, s: Any) -> Any:
        z = m / s
        return m * norm.cdf(z) + s * norm.pdf(z)

    specs = {"m": sg.spec("n"), "s": sg.spec("n", assume=sg.positive)}
    derived = sg.trace(lambda m, s: np.sum(improvement(m, s)), **specs).gradient("m", "s")
    book = sg.trace(lambda m, s: (norm.cdf(m / s), norm.pdf(m / s)), **specs)
    small = derived.simplify()
    assert small.op_count() <= book.op_count() + 4  # The value takes four more.
    at = {"m": np.array([0.3, -2.0, 1e-9, 30.0]), "s": np.array([1.2, 0.4, 2.0, 0.7])}
    for one, other in zip(small.evaluate(**at)[1], book.evaluate(**at), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)


def test_a_far_shift_stays_in_the_exponent() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.exp(x - 600) * x + np.exp(x))

    small = sg.trace(f, x="n").gradient("x", value=False).simplify()
    x = np.array([705.0])
    wanted = np.exp(x - 600) * (x + 1) + np.exp(x)
    np.testing.assert_allclose(small.evaluate(x=x), wanted, rtol=1e-13)
