"""What is known of a function of any numbers holds at ordinary, far and odd ones.

ellipe was said to be a number everywhere, and stdtr; neither is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.array import FUNCTIONS, NUMPY_FUNCTIONS, Array
from symgraph.facts import total
from symgraph.ir.fact_inference import Knowledge

GRID = np.array([-30.0, -3.5, -2.0, -1.0, -0.5, -0.0, 0.0, 0.3, 1.0, 1.5, 2.0, 7.0, 30.0])
EVERY: dict[str, Any] = {
    **{f"scipy.{name}": f for name, f in NUMPY_FUNCTIONS.items() if "special" in str(name)},
    **FUNCTIONS,
}


def results(f: Any, number: int) -> list[tuple[Array, Any]]:
    """What a function of so many arrays gives in floating point, with its numbers."""
    given = [each.ravel() for each in np.meshgrid(*[GRID] * number)]
    inputs = [sg.input(f"x{place}", each.shape) for place, each in enumerate(given)]
    try:
        found = f(*inputs)
    except Exception:
        return []
    wanted = [found] if isinstance(found, Array) else []
    wanted = [each for each in wanted if each.dtype.kind == "f"]
    try:
        values = {f"x{place}": each for place, each in enumerate(given)}
        return [(each, sg.graph(each, inputs=inputs).evaluate(**values)) for each in wanted]
    except (sg.SymgraphError, ValueError, np.linalg.LinAlgError):
        return []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", [1, 2])
def test_facts_hold_on_a_grid(number: int) -> None:
    tried = 0
    for name, f in EVERY.items():
        for out, value in results(f, number):
            tried += 1
            known = Knowledge().of(out.node)
            assert not (known.has(total) and np.isnan(value).any()), name
            finite = value[np.isfinite(value)]
            slack = 1e-9 * np.max(np.abs(finite), initial=0)
            assert np.all(finite >= known.low - slack), name
            assert np.all(finite <= known.high + slack), name
    assert tried > 80
