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


@pytest.mark.parametrize("seed", range(6))
def test_one_run_tells_the_peak_of_each_choice(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
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
    rng = np.random.default_rng(seed)
    given = {"x": rng.normal(size=(4, 3)), "w": rng.normal(size=(3, 3)), "v": np.ones((3, 3))}
    names = sorted(NETWORKS)
    made = NETWORKS[names[seed]][0](3) if seed < len(names) else random_function(60, seed)
    used = given if seed < len(names) else {name: given[name] for name in "xw"}
    sg.trace(made, **used).gradient("w").lower()
    assert told == found
    assert len(told) >= 4
