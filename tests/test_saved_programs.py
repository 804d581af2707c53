"""Whole programs, saved and loaded: print, evaluate and go on as they would have without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from textbook import numbers, traced
from textbook.catalogue import CATALOGUE

import symgraph as sg
from symgraph.backends.random_graphs import random_dag
from symgraph.pytrees import flatten

SIZES = {"n": 4, "m": 3, "k": 2, "d": 3}


def bits(values: Any) -> list[tuple[str, tuple[int, ...], bytes]]:
    leaves = flatten(values)[0]
    return [(str(each.dtype), each.shape, each.tobytes()) for each in leaves]


def assert_round_trip(graph: sg.Graph, given: dict[str, Any]) -> sg.Graph:
    text = graph.to_json()
    again = sg.load(text)
    assert again.to_json() == text
    assert str(again) == str(graph)
    assert bits(again.evaluate(given)) == bits(graph.evaluate(given))
    assert bits(again.lower()(**given)) == bits(graph.lower()(**given))
    return again


def check_row(row: Any) -> None:
    try:
        given = numbers(row, SIZES)
    except KeyError as missing:
        pytest.skip(f"a dimension without a size here: {missing}")
    graph = traced(row.f, row.specs)
    derived = graph.gradient(*row.wrt)
    assert_round_trip(graph, given)
    again = assert_round_trip(derived, given)
    simple = derived.simplify()
    # Constants are as old as the process, and the age of factors decides which is written first.
    retraced = traced(row.f, row.specs).gradient(*row.wrt).simplify()
    formulas = [str(each.formula()) for each in (simple, retraced)]
    assert str(again.simplify().formula()) in formulas
    assert_round_trip(simple, given)


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("row", CATALOGUE[::40], ids=str)
def test_textbook_programs_round_trip(row: Any) -> None:
    check_row(row)


@pytest.mark.fuzz
@pytest.mark.parametrize("row", CATALOGUE, ids=str)
def test_every_textbook_program_round_trips(row: Any) -> None:
    check_row(row)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("seed", range(8))
def test_random_graphs_round_trip(seed: int) -> None:
    rows: Any = (5, "n")[seed % 2]
    dag = random_dag(seed, size=40, dtype=("float64", "float32")[seed % 3 == 0], rows=rows)
    rng = np.random.default_rng(seed)
    given = {
        name: rng.normal(size=[each if isinstance(each, int) else 5 for each in node.shape]).astype(
            node.dtype
        )
        for name, node in dag.inputs.items()
    }
    again = assert_round_trip(sg.Graph(dag), given)
    assert str(again.simplify().formula()) == str(sg.Graph(dag).simplify().formula())
