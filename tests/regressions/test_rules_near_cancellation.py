"""Rules whose sides differ by more than rounding: it is the left side that is wrong there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import symgraph as sg
from symgraph.rewriting.packs import every_rule
from symgraph.verification.verifier import verify_rule

UNIT = sg.interval(-1, 1)
SIDES: dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any], Any]] = {
    "hyperbolic Pythagoras": ((), lambda x: np.cosh(x) ** 2 - np.sinh(x) ** 2, lambda x: 1, 8),
    "secant of a double": (
        (),
        lambda x: (1 - np.tanh(x) ** 2) / (1 + np.tanh(x) ** 2),
        lambda x: 1 / mp.cosh(2 * x),
        9,
    ),
    "cos of arccos": (UNIT, lambda x: np.cos(np.arccos(x)), lambda x: x, 1),
    "expm1 and 1": ((), lambda x: np.expm1(x) + 1, mp.exp, 15),
    "tan of arctan": ((), lambda x: np.tan(np.arctan(x)), lambda x: x, 1e12),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SIDES)
def test_the_simplified_side_is_no_worse(name: str, dtype: str) -> None:
    assume, f, exact, far = SIDES[name]
    x = np.random.default_rng(0).uniform(-far, far, 200).astype(dtype)
    x = np.concatenate([x, x * np.finfo(dtype).eps])
    graph = sg.trace(f, x=sg.spec(x.shape, dtype, assume=assume))
    truth = np.array([float(exact(mp.mpf(float(each)))) for each in x])
    written, found = (
        np.abs(each.evaluate(x=x).astype(float) - truth) for each in (graph, graph.simplify())
    )
    units = 4 * np.finfo(dtype).eps * np.abs(truth)
    assert np.all(found <= written + units)
    assert np.all(found <= units)


def test_tan_of_arctan_is_infinite_at_infinity() -> None:
    """The limit, where tan of the nearest number to a right angle is 1.6e16."""
    simple = sg.trace(lambda x: np.tan(np.arctan(x)), x=sg.spec((2,))).simplify()
    x = np.array([np.inf, -np.inf])
    np.testing.assert_array_equal(simple.evaluate(x=x), x)


@pytest.mark.whole
@pytest.mark.parametrize("name", ["diagonal_of_places", "product_with_blocks", "solve_with_blocks"])
def test_rules_of_places_and_blocks_are_tried(name: str) -> None:
    """A sampler that draws operands one by one never meets their left sides; the verifier does."""
    (rule,) = [each for each in every_rule() if each.name == name]
    report = verify_rule(rule)
    assert report.ok
    assert report.instances >= 4
