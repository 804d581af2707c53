"""The simplified graph as a whole beside the gradient as derived: no number is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.accuracy import Judge, judge_of, judged_as_carefully
from symgraph.graph.accuracy_check import keeping_digits, keeping_numbers, loses_a_number
from symgraph.ir.fact_inference import Knowledge

X, Y = sg.input("x", "n"), sg.input("y", "n")
R = X / Y
HELD = R * R * R * R
"""A fourth power of a quotient; that of a quotient of fourth powers leaves the range early."""
LOST = X**4 / Y**4

# Programs whose regions lose nothing one by one; where each is to keep its number.
PROGRAMS: dict[str, tuple[Callable[..., Any], str, dict[str, float]]] = {
    "a quotient of logarithms": (
        lambda x, y: _saturating(np.log1p(x**2) / np.log1p(y**2)),
        "y",
        {"x": 1.1360465e-18, "y": -8.3696196e-20},
    ),
    "a density by its logarithm": (
        lambda x, y: np.sum(np.exp(-0.5 * (x / y) ** 2 - np.log(y))),
        "x",
        {"x": 1.8e-23, "y": 2e-24},
    ),
}


def _saturating(r: Any) -> Any:
    return np.sum(r / (1.5 + r**2))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_number_of_the_gradient_as_derived_stays(name: str) -> None:
    function, wrt, at = PROGRAMS[name]
    names = {each: sg.spec("3, 4", "float32") for each in at}
    derived = sg.trace(function, **names).gradient(*at, value=False)
    place = list(at).index(wrt)
    given: dict[str, Any] = {each: np.full((3, 4), value, "float32") for each, value in at.items()}
    double: dict[str, Any] = {each: value.astype("float64") for each, value in given.items()}
    exact = sg.trace(function, x=sg.spec("3, 4"), y=sg.spec("3, 4")).gradient(*at, value=False)
    with np.errstate(all="ignore"):
        right = exact.evaluate(**double)[place]
        assert np.isfinite(right).all()
        for graph in (derived, derived.simplify(), derived.simplify().simplify()):
            np.testing.assert_allclose(graph.evaluate(**given)[place], right, rtol=1e-2)


def test_of_equal_graphs_the_cheapest_that_loses_no_number_is_taken() -> None:
    longer = HELD + 0 * X
    found = [[longer.node], [HELD.node], [LOST.node]]
    assert keeping_numbers(found, [HELD.node], Knowledge()) == [HELD.node]
    assert keeping_numbers(found[:2], [HELD.node], Knowledge()) == [HELD.node]
    assert keeping_numbers([[LOST.node]], [HELD.node], Knowledge()) == [HELD.node]


@pytest.mark.parametrize(("waves", "both"), [(1, True), (20, False)])
def test_two_backward_passes_are_kept_only_where_they_are_short(waves: int, both: bool) -> None:
    """Each side keeps the digits of one output, and the two have no wave in common."""
    ours = theirs = X
    for _ in range(waves):
        ours, theirs = 2 + snp.sin(ours), snp.sin(theirs) + 2
    given = [(HELD * ours).node, (LOST * ours).node]
    steady = [(LOST * theirs).node, (HELD * theirs).node]
    wanted = [given[0], steady[1]] if both else given
    assert keeping_digits(steady, given, Knowledge()) == wanted


@pytest.mark.parametrize(
    ("new", "old", "lost"),
    [
        (LOST, HELD, True),
        (HELD, LOST, False),
        # A little earlier, or a little later: every spelling ends somewhere.
        (snp.sqrt(2 * X**2 / 2), snp.sqrt(X**2), False),
        # Where x - x is NaN, a comparison with it is false, and 0 is right by luck.
        (snp.maximum(X * X - X * X, 0), snp.where(X * X - X * X > 0, X, 0), False),
    ],
    ids=["lost", "held", "a narrow band", "luck"],
)
def test_what_counts_as_a_lost_number(new: sg.Array, old: sg.Array, lost: bool) -> None:
    assert loses_a_number([new.node], [old.node], Knowledge()) is lost


def test_a_careful_judge_sees_what_the_usual_one_does_not() -> None:
    """Between the usual probes, too: at tiny numbers they stand far apart."""
    x, y = snp.log1p(X**2), snp.log1p(Y**2)
    new, old = (x / y / y * Y).node, (x / y * (Y / y)).node
    assert not Judge(Knowledge()).loses(new, old)
    assert Judge(Knowledge(), careful=True).loses(new, old)
    assert not Judge(Knowledge(), careful=True).loses(old, new)


def test_a_judge_without_memory_is_as_careful() -> None:
    knowledge = Knowledge()
    judge_of(knowledge).careful = True
    assert judge_of(judged_as_carefully(Knowledge(), knowledge)).careful
    assert not judge_of(judged_as_carefully(Knowledge(), Knowledge())).careful


def test_a_graph_that_is_kept_as_derived_is_without_what_changes_no_bit() -> None:
    graph = sg.trace(
        lambda p, a, s: np.sum(a * p ** (1 - s)) ** (1 / (1 - s)), p=(5,), a=(5,), s=()
    )
    small = graph.gradient("p", value=False).simplify(trust="domain")
    assert not any(
        node.op.name == "multiply" and any(each.is_constant for each in node.operands)
        for node in small.dag.nodes
    )
