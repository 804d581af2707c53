"""A number repeated along a named axis has no extremum where that axis is empty.

`maximum_of_broadcast` gave the number itself, at every length.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import symgraph as sg
import symgraph.numpy as snp

EXTREMA = pytest.mark.parametrize("extremum", [snp.max, snp.min])


@EXTREMA
@pytest.mark.parametrize("simplified", [False, True])
def test_along_a_named_axis_it_may_be_refused(
    extremum: Callable[[sg.Array], sg.Array], simplified: bool
) -> None:
    x, rows = sg.input("x", ()), sg.input("rows", ("n",))
    graph = sg.graph(extremum(snp.broadcast_to(x, ("n",))), rows)
    graph = graph.simplify() if simplified else graph
    assert graph.evaluate(x=2.5, rows=[0.0] * 3)[0] == 2.5
    with pytest.raises(ValueError, match="zero-size"):
        graph.evaluate(x=2.5, rows=[])


@EXTREMA
def test_along_known_axes_it_is_the_number(extremum: Callable[[sg.Array], sg.Array]) -> None:
    graph = sg.graph(extremum(snp.broadcast_to(sg.input("x", ()), (2, 3))))
    assert graph.simplify().cost().flops == 0
