"""ONNX's conformance suite: each case is read and gives ONNX's numbers, or is refused.

`unread.txt` has a line for each case that is refused, with the reason. A test compares it with what
is refused; `python tests/symgraph/frontends/onnx/test_conformance.py` writes it anew.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import symgraph as sg
from symgraph.errors import SymgraphError
from symgraph.frontends.onnx.call import Unknown

try:
    import onnx
    import onnx.backend.test.loader
    import onnx.numpy_helper
except ImportError:
    onnx = None

HERE = Path(__file__).with_name("unread.txt")
LEAST = 1_500
needs_onnx = pytest.mark.skipif(onnx is None, reason="the oracles extra is not installed")


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


def refusals(cases: list[Case]) -> list[str]:
    """A line for each case that is refused; any other failure is one of the test."""
    lines: list[str] = []
    for case in cases:
        try:
            check(case)
        except SymgraphError as error:
            lines.append(f"{case.name}: {error.what}")
    read = len(cases) - len(lines)
    return [f"{read} of {len(cases)} cases are read and give ONNX's numbers.", *sorted(lines)]


@pytest.mark.oracle
@needs_onnx
def test_every_case_is_read_or_listed() -> None:
    lines = refusals(every_case())
    assert lines == HERE.read_text(encoding="utf-8").splitlines()
    assert int(lines[0].split()[0]) >= LEAST


if __name__ == "__main__":
    HERE.write_text("\n".join(refusals(every_case())) + "\n", encoding="utf-8")
