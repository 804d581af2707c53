"""Gradients as short as the textbook's: operations against the closed form's."""

from __future__ import annotations

import numpy as np
import pytest
from textbook import Row, numbers, traced
from textbook.rows import ROWS

import symgraph as sg

SIZES = {"n": 6}


def simplified(row: Row) -> sg.Graph:
    return traced(row.f, row.specs).gradient(row.wrt, value=False).simplify()


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_numbers_are_those_of_the_closed_form(row: Row) -> None:
    """The row itself is right, and so is the graph before and after simplification."""
    closed = traced(row.closed, row.specs)
    plain = traced(row.f, row.specs).gradient(row.wrt, value=False)
    for seed in range(2):
        at = numbers(row, SIZES, seed)
        expected = np.broadcast_to(closed.evaluate(**at), at[row.wrt].shape)
        np.testing.assert_allclose(plain.evaluate(**at), expected, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(simplified(row).evaluate(**at), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_operations_are_no_more_than_the_closed_forms(row: Row) -> None:
    small = simplified(row)
    allowed = traced(row.closed, row.specs).op_count()
    assert small.op_count() <= allowed, f"{small.op_count()} against {allowed}\n{small}"


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_both_orders_reach_one_graph_and_simplify_is_idempotent(row: Row) -> None:
    graph = traced(row.f, row.specs)
    small = graph.gradient(row.wrt, value=False).simplify()
    other = graph.simplify().gradient(row.wrt, value=False).simplify()
    assert small.dag.outputs == other.dag.outputs
    assert small.simplify().dag.outputs == small.dag.outputs
