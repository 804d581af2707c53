"""Freed memory goes back to the system."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph import freed
from symgraph.graph import stages

BYTES = 4096


def resident() -> int:
    """The bytes of this process in memory."""
    return BYTES * int(Path("/proc/self/statm").read_text().split()[1])


@pytest.mark.skipif(sys.platform != "linux", reason="needs the GNU C library")
def test_pages_of_small_arrays_go_back() -> None:
    arrays = [np.ones(700) for _ in range(12_000)]  # 67 MB
    last = [np.ones(700) for _ in range(3)]  # What lies above keeps the heap from shrinking.
    before = resident()
    del arrays
    freed.give_freed_memory_back()
    assert before - resident() > 40e6
    assert all((each == 1).all() for each in last)


def test_other_systems_keep_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert freed.trim.__wrapped__() is int


def test_large_graphs_give_memory_back(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(stages, "give_freed_memory_back", lambda: asked.append(1))
    monkeypatch.setattr(stages, "_LARGE", 4)
    sg.trace(lambda x: snp.sin(x), x=sg.spec("")).simplify(effort="low")
    assert not asked
    sg.trace(lambda x: snp.sin(snp.cos(snp.exp(x) + 1) * x), x=sg.spec("")).simplify(effort="low")
    assert asked
