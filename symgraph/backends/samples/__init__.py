"""Graphs around one operation each, which every backend must compute as the interpreter does.

An operation without params needs no entry here. `SAMPLES` has a row for each operation with params:
one or more calls on fresh symbolic operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...array import apply
from ...errors import SymgraphError
from ...ir.dag import Dag
from ...ir.op import Op
from ...ir.walks import reachable
from ...pytrees import flatten
from . import arrays, layers, loops, matrices
from .operands import fresh

__all__ = ["SAMPLES", "op_samples"]

SAMPLES: dict[str, tuple[Callable[..., Any], ...]] = {
    **arrays.SAMPLES,
    **loops.SAMPLES,
    **matrices.SAMPLES,
    **layers.SAMPLES,
}


def op_samples(op: Op) -> Iterator[Dag]:
    """Graphs around one operation, over dtypes, shapes (also 0-d and empty) and broadcasting."""
    for call in SAMPLES.get(op.name, ()):
        yield _dag_of(call())
    if op.name not in SAMPLES and isinstance(op.vjp, tuple) and op.vjp:
        dtypes = ("float64", "float32") if op.name in _FLOATS_ONLY else _DTYPES
        for dtype in dtypes:
            for shapes in _SHAPES.get(len(op.vjp), ()):
                operands = [fresh(*shape, dtype=dtype) for shape in shapes]
                try:
                    yield _dag_of(apply(op, *operands))
                except (SymgraphError, TypeError):
                    continue  # the operation refuses these dtypes or shapes, or needs params


_DTYPES = ("float64", "float32", "int64", "bool")
# In NumPy, the reciprocal of the integer 0 depends on the machine.
_FLOATS_ONLY = ("reciprocal",)
_SHAPES: dict[int, tuple[tuple[tuple[int | str, ...], ...], ...]] = {
    1: (((3, 4),), ((),), (("n", 2),), ((0, 3),)),
    2: (((3, 4), (3, 4)), ((3, 1), (1, 4)), ((), ()), (("n", 2), (2,)), ((0, 3), (3,))),
    3: (((3, 4), (3, 4), (3, 4)), ((3, 1), (1, 4), ())),
}


def _dag_of(result: Any) -> Dag:
    outputs = [each.node for each in flatten(result)[0]]
    inputs = {node.params["name"]: node for node in reachable(outputs) if node.is_input}
    return Dag(dict(sorted(inputs.items())), outputs)
