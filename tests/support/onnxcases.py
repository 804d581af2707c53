"""The cases of ONNX's conformance suite, and the comparison with what it expects."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

import symgraph as sg
from symgraph.frontends.onnx.call import Unknown

try:
    import onnx
    import onnx.backend.test.loader
    import onnx.checker
    import onnx.helper
    import onnx.numpy_helper
    import onnx.reference
except ImportError:
    onnx = None

__all__ = ["Case", "check", "every_case", "graph_of", "onnx"]


class Case(NamedTuple):
    """A case: what runs it, and what is expected."""

    name: str
    model: Any
    given: dict[str, Any]
    expected: list[Any]
    rtol: float
    atol: float


def every_case() -> list[Case]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The cases are computed, with overflow and all.
        loaded = onnx.backend.test.loader.load_model_tests(kind="node")
    found: list[Case] = []
    for each in loaded:
        for inputs, outputs in each.data_sets:
            names = [info.name for info in each.model.graph.input]
            given = dict(zip(names, map(as_array, inputs), strict=False))
            expected = [as_array(value) for value in outputs]
            found.append(Case(each.name, each.model, given, expected, each.rtol, each.atol))
    return found


def as_array(value: Any) -> Any:
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def graph_of(case: Case) -> sg.Graph:
    """The graph; inputs that its structure depends on are given their numbers."""
    values: dict[str, Any] = {}
    while True:
        try:
            return sg.from_onnx(case.model, values=values)
        except Unknown as error:
            more = {name: case.given[name] for name in error.inputs if name not in values}
            if not more:
                raise
            values |= more


def check(case: Case) -> sg.Graph:
    """Compare with the case's numbers, whose tolerance is widened to one rounding of the largest.

    The inverse Fourier transform of the suite has such an error where ours gives zero.
    """
    graph = graph_of(case)
    given = {name: case.given[name] for name in graph.inputs}
    with np.errstate(all="ignore"):
        found = graph.evaluate(**given)
    results = found if len(case.expected) > 1 else (found,)
    for got, want in zip(results, map(np.asarray, case.expected), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape), case.name
        if want.dtype.kind != "f":
            np.testing.assert_array_equal(got, want, case.name)
            continue
        largest = float(np.max(np.abs(want), initial=0, where=np.isfinite(want)))
        atol = max(case.atol, float(np.finfo(want.dtype).eps) * largest)
        np.testing.assert_allclose(got, want, case.rtol, atol, err_msg=case.name)
    return graph
