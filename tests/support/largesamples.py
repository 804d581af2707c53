"""The samples of the operations with arrays large enough that their memory can be measured."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np

from symgraph.backends.lowered import lower
from symgraph.backends.samples import op_samples
from symgraph.ir.dag import Dag
from symgraph.ir.node import Node, make
from symgraph.ir.op import Op
from symgraph.ops.creation import input

__all__ = ["large_samples", "traced_peak"]

_SIZE = 3
_LARGE = 2**17


def large_samples(op: Op) -> Iterator[Dag]:
    """Graphs of one operation on arrays of some 100 kB and more; dimensions have sizes."""
    for dag in op_samples(op):
        node = next((each for each in dag.nodes if each.op is op), None)
        if node is not None and node.operands:
            found = _enlarged(node)
            if found is not None:
                yield found


def _enlarged(node: Node) -> Dag | None:
    """The node with an axis of many rows ahead of all operands, of the widest, or of one."""
    ranks = [operand.ndim for operand in node.operands if len(operand.results) == 1]
    if len(ranks) < len(node.operands):
        return None
    everywhere = set(range(len(ranks)))
    widest = {place for place in everywhere if ranks[place] == max(ranks)}
    for places in (everywhere, widest, {0}):
        try:
            found = _with_rows(node, places)
            if found is None:
                continue
            total = sum(aval.nbytes for each in found.nodes for aval in each.results)
        except Exception:  # Not every operation takes rows there; another place may do.
            continue
        if isinstance(total, int) and total >= _LARGE:
            return found
    return None


def _with_rows(node: Node, places: set[int]) -> Dag | None:
    params = {key: _resolved(value) for key, value in node.params.items()}
    small = [np.prod([_resolved(dim) for dim in each.shape], dtype=int) for each in node.operands]
    rows = max(1, 40_000 // max(1, *[int(small[place]) for place in places]))
    inputs: dict[str, Node] = {}
    operands: list[Node] = []
    for place, each in enumerate(node.operands):
        if each.is_constant and place not in places:
            operands.append(each)
            continue
        shape = tuple([_resolved(dim) for dim in each.shape])
        shape = (rows, *shape) if place in places else shape
        operands.append(input(f"x{place}", shape, each.dtype).node)
        inputs[f"x{place}"] = operands[-1]
    dag = Dag(inputs, [make(node.op, operands, params)])
    results = lower(dag)(**numbers(dag))  # It may only refuse when it runs.
    return dag if getattr(results, "shape", node.shape) == dag.outputs[0].shape else None


def _resolved(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple([_resolved(each) for each in value])
    if hasattr(value, "free_symbols") and value.free_symbols:
        return int(value.subs(dict.fromkeys(value.free_symbols, _SIZE)))
    return value


def numbers(dag: Dag) -> dict[str, Any]:
    """Numbers for each input, with symmetric positive matrices where they are square."""
    random = np.random.default_rng(0)
    found: dict[str, Any] = {}
    for name, node in dag.inputs.items():
        if node.dtype.kind == "b":
            found[name] = random.integers(0, 2, node.shape).astype(bool)
        elif node.dtype.kind in "iu":
            found[name] = random.integers(0, 2, node.shape).astype(node.dtype)
        else:
            drawn = random.uniform(0.1, 0.9, node.shape)
            if node.ndim > 1 and node.shape[-1] == node.shape[-2]:
                drawn = drawn @ np.swapaxes(drawn, -1, -2) + np.eye(node.shape[-1])
            found[name] = drawn.astype(node.dtype)
    return found


def traced_peak(dag: Dag) -> int:
    """The most bytes that a run of the lowered graph holds, as `tracemalloc` sees them."""
    f, given = lower(dag), numbers(dag)
    f(**given)
    f.release()
    tracemalloc.start()
    try:
        f(**given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
