"""One expectation for every way a graph is computed."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg


def assert_close(got: Any, want: Any, rtol: float = 1e-12) -> None:
    """Shape, dtype and numbers, one by one if there are several."""
    if isinstance(want, dict):
        assert got.keys() == want.keys()
        got, want = tuple(got.values()), tuple(want[name] for name in got)
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            assert_close(one, other, rtol)
        return
    assert np.shape(got) == np.shape(want)
    assert np.asarray(got).dtype == np.asarray(want).dtype
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * np.max(np.abs(want), initial=0))


def every_way(graph: sg.Graph, at: dict[str, Any], want: Any, rtol: float = 1e-12) -> None:
    """The graph, its simplified form and the program made of it all give what is wanted."""
    small = graph.simplify()
    for compute in (graph.evaluate, small.evaluate, small.lower()):
        assert_close(compute(**at), want, rtol)
