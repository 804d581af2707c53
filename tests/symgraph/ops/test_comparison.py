"""Graphs side by side: what is kept, removed, added."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import symgraph as sg


def traced(f: Any) -> sg.Graph:
    return sg.trace(f, x=sg.spec("n"))


def test_a_graph_does_not_differ_from_itself_traced_again() -> None:
    def f(x: Any) -> Any:
        return np.exp(x) * np.sum(x)

    found = sg.diff(traced(f), traced(f))
    assert not found
    assert {row.change for row in found.rows} == {"kept"}
    assert len(found.kept) == 4


def test_removed_and_added_nodes_are_told() -> None:
    before = traced(lambda x: np.sin(np.log(np.exp(x))) + x)
    after = before.simplify()
    found = before.diff(after)
    assert found
    assert sorted(node.op.name for node in found.removed) == ["add", "exp", "log", "sin"]
    assert sorted(node.op.name for node in found.added) == ["add", "sin"]
    assert [node.op.name for node in found.kept] == ["input"]
    backwards = after.diff(before)
    assert len(backwards.added) == len(found.removed)
    assert len(found.kept) + len(found.removed) == len(before)
    assert len(found.kept) + len(found.added) == len(after)


def test_it_prints_side_by_side_and_is_data() -> None:
    before = traced(lambda x: np.log(np.exp(x)) * 2)
    found = sg.diff(before, before.simplify())
    lines = str(found).splitlines()
    assert lines[0] == "1 kept, 3 removed, 1 added"
    assert lines[1].split() == ["x:", "input", "|", "x:", "input"]
    assert sum(line.startswith("-") for line in lines) == 3
    assert sum(line.startswith("+") for line in lines) == 1
    data = found.to_data()
    assert json.loads(json.dumps(data)) == data
    assert [row["change"] for row in data] == [row.change for row in found.rows]
    assert repr(found) == str(found)


def test_params_tell_nodes_apart_and_facts_of_inputs_do_not() -> None:
    rows = sg.trace(lambda x: np.sum(x, axis=0), x=sg.spec((2, 3)))
    columns = sg.trace(lambda x: np.sum(x, axis=1), x=sg.spec((2, 3), assume=sg.positive))
    found = sg.diff(rows, columns)
    assert [node.op.name for node in found.removed] == ["sum"]
    assert len(found.kept) == 1
    wider = sg.trace(lambda x: np.sum(x, axis=0), x=sg.spec((3, 3)))
    assert not sg.diff(rows, wider).kept
