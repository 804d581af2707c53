"""The README: its programs run, and its numbers are those of the code."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symgraph.accuracy.probes import COUNT, settings_at

TEXT = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
"""The README's programs. Each goes on where the one before it has ended."""


def test_it_tells_at_how_many_probes_graphs_are_compared() -> None:
    wide = sum(map(len, settings_at("wide")))
    assert f"{COUNT} probes" in TEXT
    assert f"{wide} more probes" in TEXT


@pytest.mark.whole
def test_its_programs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    given = {
        "X": rng.normal(size=(20, 64)).astype("float32"),
        "y": np.eye(10, dtype="float32")[rng.integers(0, 10, 20)],
        "W": rng.normal(size=(64, 10)).astype("float32"),
        "b": np.zeros(10, "float32"),
    }
    names: dict[str, Any] = {"given": given}
    for program in PROGRAMS:
        text = program.replace("X=..., y=..., W=..., b=...", "**given")
        if find_spec("matplotlib") is None:
            text = re.sub(r"^small\.plot_.*", "", text, flags=re.MULTILINE)
        exec(text, names)
    assert np.isfinite(names["J"])
    assert names["dW"].shape == (64, 10)
    assert "softmax(z, axis=-1) - y" in str(names["small"].formula())
    assert {each.name for each in tmp_path.iterdir()} == {"gradient.svg", "gradient.html"}
