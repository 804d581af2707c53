"""The peak with values in the workspace is known before they are put there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from randomgraphs import NETWORKS, random_function

import symgraph as sg
from symgraph.lowering import temporaries
from symgraph.lowering.peak import Peaks, predicted_peak
from symgraph.lowering.statements import Program, Temporary


def tried_out(monkeypatch: pytest.MonkeyPatch) -> tuple[list[int], list[int]]:
    """What is told of each choice, and what is found by simulation; each choice is tried."""
    told: list[int] = []
    found: list[int] = []

    class AllTold(Peaks):
        """Peaks of which each choice is tried out."""

        def with_places(self, chosen: Mapping[str, Temporary]) -> int:
            told.append(super().with_places(chosen))
            return 0

    def simulated(program: Program, *how: Any, **named: Any) -> int:
        found.append(predicted_peak(program, *how, **named))
        return 1 << 60

    monkeypatch.setattr(temporaries, "Peaks", AllTold)
    monkeypatch.setattr(temporaries, "predicted_peak", simulated)
    return told, found


@pytest.mark.parametrize("seed", range(6))
def test_one_run_tells_the_peak_of_each_choice(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    told, found = tried_out(monkeypatch)
    rng = np.random.default_rng(seed)
    given = {"x": rng.normal(size=(4, 3)), "w": rng.normal(size=(3, 3)), "v": np.ones((3, 3))}
    names = sorted(NETWORKS)
    made = NETWORKS[names[seed]][0](3) if seed < len(names) else random_function(60, seed)
    used = given if seed < len(names) else {name: given[name] for name in "xw"}
    sg.trace(made, **used).gradient("w").lower()
    assert told == found
    assert len(told) >= 4


@pytest.mark.parametrize("wrt", ["w", "h"])
def test_rows_that_a_loop_stacks_are_counted_too(wrt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told, found = tried_out(monkeypatch)

    def loss(x: Any, w: Any, h: Any) -> Any:
        return np.sum(sg.scan(lambda h, x: (np.tanh(h @ w + x), np.sin(h)), h, x)[1])

    shapes = {"x": (6, 8, 24), "w": (24, 24), "h": (8, 24)}
    graph = sg.trace(loss, **shapes).gradient(wrt).simplify()
    assert "[t] = " in graph.lower().source
    assert told == found
    assert len(told) >= 2
