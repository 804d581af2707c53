"""Errors below a cached property named a line of `functools` as the user's."""

from __future__ import annotations

import numpy as np

import symgraph as sg


def test_no_line_of_functools_is_told() -> None:
    x = sg.input("x", (4,))
    loss = np.sum(np.broadcast_to(np.sin(x), (3, 4)) * np.exp(x))
    graph = sg.graph(loss).gradient("x")
    told: list[str] = []
    for node in graph.nodes:
        try:
            graph.checkpoint("100%", keep=[node])
        except sg.InputError as error:  # Neither an input nor a view of a constant can be kept.
            told.append(str(error))
    assert len(told) > 1
    assert not any("functools" in each for each in told)
    assert all("test_the_line_is_the_users.py" in each for each in told)
