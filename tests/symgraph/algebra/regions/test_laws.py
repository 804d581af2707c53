"""Laws of operations meet like terms: parity, linearity, scaling and shift, by their traits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.algebra.regions.multiples import Multiples
from symgraph.array import Array
from symgraph.backends.samples import op_samples
from symgraph.ir.cost import op_count
from symgraph.ir.dag import Dag
from symgraph.ir.dims import resolve
from symgraph.ir.interpreter import evaluate
from symgraph.ir.node import Node, on_operands
from symgraph.ir.op import OPS
from symgraph.ir.walks import reachable

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

NOTHING: dict[str, Callable[..., Any]] = {
    "sin": lambda x, y: np.sin(x - y) + np.sin(y - x),
    "tanh": lambda x, y: np.tanh(x - y) + np.tanh(y - x),
    "cbrt": lambda x, y: np.cbrt(-x) + np.cbrt(x),
    "dawsn": lambda x, y: snp.dawsn(x - y) + snp.dawsn(y - x),
    "cos": lambda x, y: np.cos(x - y) - np.cos(y - x),
    "sinc": lambda x, y: np.sinc(2 * x - y) - np.sinc(y - 2 * x),
    "cumsum": lambda x, y: np.cumsum(x) + np.cumsum(y) - np.cumsum(x + y),
    "weighted cumsum": lambda x, y: 2 * np.cumsum(x) + 3 * np.cumsum(y) - np.cumsum(2 * x + 3 * y),
    "roll": lambda x, y: np.roll(x + y, 1) - np.roll(x, 1) - np.roll(y, 1),
    "flip": lambda x, y: np.flip(x + y) - np.flip(x) - np.flip(y),
    "diff": lambda x, y: np.diff(x + y) - np.diff(x) - np.diff(y),
    "take": lambda x, y: np.take(x + y, [0, 0]) - np.take(x, [0, 0]) - np.take(y, [0, 0]),
    "convolve": lambda x, y: np.convolve(x + y, x) - np.convolve(x, x) - np.convolve(y, x),
    "max": lambda x, y: np.max(2 * x) - 2 * np.max(x),
    "max of a difference": lambda x, y: np.max(x - y) - 2 * np.max((x - y) / 2),
    "sort": lambda x, y: np.sort(3 * x) - 3 * np.sort(x),
    "shifted sort": lambda x, y: np.sort(x + 1) - np.sort(x) - 1,
    "cummax": lambda x, y: snp.cummax(2 * x + 1) - 2 * snp.cummax(x) - 1,
}


@pytest.mark.parametrize("name", NOTHING)
def test_like_terms_of_an_operation_meet(name: str) -> None:
    finite = sg.spec("n", assume=sg.finite)
    small = sg.trace(NOTHING[name], x=finite, y=finite).simplify()
    assert op_count(small.dag.outputs) == 0
    assert not np.any(small.evaluate(x=np.arange(4.0), y=np.ones(4)))


def test_triangles_of_matrices_meet() -> None:
    finite = sg.spec("n, n", assume=sg.finite)
    small = sg.trace(
        lambda x, y: np.tril(x - y, 1) - np.tril(x, 1) + np.tril(y, 1), x=finite, y=finite
    ).simplify()
    assert op_count(small.dag.outputs) == 0


def test_a_shift_is_taken_off() -> None:
    small = sg.trace(lambda x: np.max(x + 3) - 3, x="n").simplify()
    assert [node.op.name for node in small.nodes] == ["input", "max"]


def test_nothing_cancels_that_may_be_no_number() -> None:
    small = sg.trace(lambda x: np.max(2 * x) - 2 * np.max(x), x="n").simplify()
    with np.errstate(invalid="ignore"):
        assert np.isnan(small.evaluate(x=np.array([1.0, np.inf])))


def test_a_negative_number_is_no_scale_of_an_extremum() -> None:
    small = sg.trace(lambda x: np.max(-2 * x) + 2 * np.max(x), x="n").simplify()
    assert small.evaluate(x=np.array([1.0, -5.0])) == 12


# -- every operation -------------------------------------------------------------------------------
LAWFUL = [
    name
    for name, op in OPS.items()
    if not op.custom
    and any(Multiples.knows(each) for dag in op_samples(op) for each in dag.outputs)
]
CHANGES: list[Callable[[Any], Any]] = [lambda x: -x, lambda x: 2.5 * x, lambda x: x + 0.5]


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", LAWFUL)
def test_values_stay(name: str) -> None:
    """The operation of numbers changed, less the same change of the operation: as before."""
    samples = [dag for dag in op_samples(OPS[name]) if _is_double(dag)]
    for index, dag in enumerate(samples[:1]):
        outputs = [Array(out) for out in dag.outputs if out.dtype.kind == "f"]
        found: list[Array] = []
        for change in CHANGES:
            changed = [Array(out) for out in _changed(dag, change) if out.dtype.kind == "f"]
            found += [b - change(a) for a, b in zip(outputs, changed, strict=True)]
        _check(Dag(dag.inputs, [each.node for each in found]), index)


def _is_double(dag: Dag) -> bool:
    """Whether all numbers are in double precision, those that come out at least."""
    floats = [node.dtype for node in dag.nodes if node.dtype.kind == "f"]
    return all(each == "float64" for each in floats) and any(
        out.dtype.kind == "f" for out in dag.outputs
    )


def _changed(dag: Dag, change: Callable[[Any], Any]) -> list[Node]:
    """The outputs over changed inputs."""
    now: dict[Node, Node] = {}
    for node in reachable(dag.outputs):
        if node.is_input and node.dtype.kind == "f":
            now[node] = change(Array(node)).node
        else:
            now[node] = on_operands(node, tuple([now[each] for each in node.operands]))
    return [now[output] for output in dag.outputs]


def _check(dag: Dag, seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = {
        key: rng.integers(0, 2, resolve(x.shape, {"n": 3})).astype(x.dtype)
        if x.dtype.kind in "biu"
        else rng.choice([0.25, -0.75, 0.5, -0.0, 1.5, 2.0], resolve(x.shape, {"n": 3}))
        for key, x in dag.inputs.items()
    }
    small = sg.Graph(dag).simplify()
    with np.errstate(all="ignore"):
        try:
            wanted = evaluate(dag, given)
        except (ValueError, np.linalg.LinAlgError):
            return  # The sample refuses such numbers.
        found = evaluate(small.dag, given)
    for one, other in zip(found, wanted, strict=True):
        there = np.isfinite(other)
        np.testing.assert_allclose(one[there], other[there], rtol=1e-9, atol=1e-9)
