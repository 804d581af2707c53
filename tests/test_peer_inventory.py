"""Every rewrite of the strongest peer: reached, refused with a counterexample, left, or skipped."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from inventory import Refusal, Row
from inventory.everything import LEFT, REFUSED, ROWS
from inventory.skipped import SKIPPED

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.cost import varying
from symgraph.ir.dims import resolve
from symgraph.ir.scope import tracing
from symgraph.testing.values import random_values

SIZES = {"n": 4}


def traced(f: Callable[..., Any], specs: Mapping[str, sg.Spec]) -> sg.Graph:
    arrays = {name: sg.input(name, s.shape, s.dtype, s.assume) for name, s in specs.items()}
    with tracing("f"):
        return sg.graph(snp.asarray(f(*arrays.values())), inputs=list(arrays.values()))


def run(graph: sg.Graph, at: Mapping[str, Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(graph.evaluate(**at))


def numbers(graph: sg.Graph) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        name: random_values(
            resolve(array.shape, SIZES), array.dtype, array.node.params["assume"], rng
        )
        for name, array in graph.inputs.items()
    }


def size(graph: sg.Graph) -> int:
    """Nodes that depend on an input: movement counts no operation."""
    return len(varying(graph.dag.outputs))


def shortfall(row: Row) -> str:
    """In what the simplified graph is dearer than the goal; empty if in nothing."""
    small = traced(row.left, row.specs).simplify(trust=row.trust)
    if isinstance(row.goal, int):
        return "" if small.op_count() <= row.goal else f"{small.op_count()} operations\n{small}"
    goal = traced(row.goal, row.specs)
    ours, aim = ((graph.op_count(), resolve(graph.flops(), SIZES)) for graph in (small, goal))
    if ours[0] > aim[0] or ours[1] > aim[1]:
        return f"{ours} against {aim}\n{small}"
    nodes = max(size(goal), size(goal.simplify(trust=row.trust)))
    return "" if size(small) <= nodes else f"{size(small)} nodes against {nodes}\n{small}"


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_numbers_stay(row: Row) -> None:
    left = traced(row.left, row.specs)
    at = numbers(left)
    before, after = run(left, at), run(left.simplify(trust=row.trust), at)
    assert (before.dtype, before.shape) == (after.dtype, after.shape)
    np.testing.assert_allclose(after, before, rtol=1e-9, atol=1e-12)
    if not isinstance(row.goal, int):
        goal = traced(row.goal, row.specs)
        np.testing.assert_allclose(run(goal, at), before, rtol=1e-9, atol=1e-12)


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("row", [row for row in ROWS if str(row) not in LEFT], ids=str)
def test_peer_rewrite_is_reached(row: Row) -> None:
    assert shortfall(row) == ""


@pytest.mark.parametrize("row", [row for row in ROWS if str(row) in LEFT], ids=str)
def test_rows_left_are_not_reached_yet(row: Row) -> None:
    """Strike from `LEFT` what gets there."""
    assert shortfall(row) != ""


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("row", REFUSED, ids=str)
def test_peer_rewrite_is_refused(row: Refusal) -> None:
    specs = {name: sg.spec(each.shape, each.dtype) for name, each in row.at.items()}
    left = traced(row.left, specs)
    before = run(left, row.at)
    wrong = run(traced(row.wrong, specs), row.at)
    assert not np.array_equal(before, wrong, equal_nan=before.dtype.kind == "f")
    np.testing.assert_allclose(run(left.simplify(), row.at), before, rtol=1e-13)


def test_all_are_accounted_for() -> None:
    names = {row.peer for row in ROWS} | {row.peer for row in REFUSED}
    theirs = {name for name in names if not name.endswith("(none has it)")}
    assert not theirs & SKIPPED.keys()
    assert len(theirs | SKIPPED.keys()) == 395
    assert LEFT.keys() <= {str(row) for row in ROWS}
