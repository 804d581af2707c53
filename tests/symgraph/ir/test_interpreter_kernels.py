"""The second kernel of an operation: chosen by the node's shape, and as good as the first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import apply
from symgraph.ir.interpreter import kernel_on_numpy
from symgraph.ir.op import OPS
from symgraph.namespace import NUMPY

PLACED = "diagonal_matrix"  # Its two kernels move the same numbers.
# ops/test_choosing.py, ops/test_row_sums.py, ops/test_powers.py
ELSEWHERE = (PLACED, "where", "sum", "multiply_or_zero")
WITH_ANOTHER = [
    op for op in OPS.values() if op.kernel_of_many is not None and op.name not in ELSEWHERE
]


def node_of(op: Any, shape: Any, dtype: str = "float64") -> Any:
    return op.kernel_of_many, sg.trace(getattr(snp, op.name), x=sg.spec(shape, dtype)).dag.outputs[
        0
    ]


@pytest.mark.parametrize("op", WITH_ANOTHER, ids=lambda op: op.name)
def test_it_is_chosen_by_the_shape_alone(op: Any) -> None:
    for shape, dtype, many in [
        ((op.many - 1,), "float64", False), ((op.many,), "float64", True),
        ((255,), "float32", False), ((16, 16), "float32", True), (("n",), "float64", True),
        (("n", 2), "float32", True), ((), "float64", False), ((1000,), "float16", False),
    ]:  # fmt: skip
        other, node = node_of(op, shape, dtype)
        assert kernel_on_numpy(node) is (other if many else op.kernel)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", WITH_ANOTHER, ids=lambda op: op.name)
def test_it_differs_by_roundings_and_not_at_special_values(op: Any, dtype: str) -> None:
    most = float(np.log(np.finfo(dtype).max)) - 0.1
    rng = np.random.default_rng(0)
    special: list[float] = [
        np.nan,
        np.inf,
        -np.inf,
        0.0,
        -0.0,
        1e4,
        -1e4,
        5e-324,
        float(np.finfo(dtype).max) / 2,
    ]
    x: Any = np.concatenate(
        [3 * rng.normal(size=4000), rng.uniform(-most, most, 3000), np.repeat(special, 30)]
    ).astype(dtype)
    graph = sg.trace(getattr(snp, op.name), x=sg.spec("n", dtype))
    with np.errstate(all="ignore"):
        first = np.asarray(op.kernel(NUMPY, x))
    second = graph.evaluate(x=x)
    assert second.dtype == first.dtype
    plain = np.isfinite(first) & (first != 0)
    assert np.array_equal(first[~plain], second[~plain], equal_nan=True)
    apart = np.abs(first[plain] - second[plain]) / np.spacing(np.abs(first[plain]))
    assert apart.max() <= 5
    assert np.array_equal(graph.lower()(x=x), second, equal_nan=True)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("offset", [-20, -19, -3, 0, 2, 22, 23])
def test_diagonals_are_written_as_by_places(offset: int, dtype: str) -> None:
    rows, columns = 20, 23
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    x = np.random.default_rng(0).normal(size=(3, count)).astype(dtype)
    params = {"rows": rows, "columns": columns, "offset": offset}
    op = OPS[PLACED]
    assert op.kernel_of_many is not None
    want = op.kernel(NUMPY, x, **params)
    graph = sg.trace(lambda x: apply(op, x, **params), x=sg.spec(x.shape, dtype))
    assert kernel_on_numpy(graph.dag.outputs[0]) is op.kernel_of_many
    for layout in (x, np.asfortranarray(x), np.repeat(x, 2, axis=-1)[:, ::2]):
        for found in (graph.lower()(x=layout), graph.evaluate(x=layout)):
            np.testing.assert_array_equal(found, want)
            assert (found.dtype, found.shape) == (want.dtype, want.shape)
