"""Values of a graph in high precision: both sides of a rule are measured against them.

The definitions of elementwise operations and reductions run over mpmath's reals (`real_functions`).
Operations that only move elements run their kernel on object arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..ir.dims import resolve
from ..ir.node import Node
from ..ir.op import Op, carries_aligned
from ..ir.traits import Arrangement
from ..ir.walks import reachable
from ..namespace import NUMPY
from ..ops.carrying import carries_off_axis, carries_reduced
from ..ops.creation import DIMENSION
from ..rewriting.guards import uniform_value
from .real_functions import Numbers, Unsupported, definition_of, reals

__all__ = ["ORDINARY_BITS", "precise_values"]

ORDINARY_BITS = 420
"""Enough to hold sums of float32 extremes exactly."""


@lru_cache(maxsize=1024)
def _scalar(op: Op) -> Callable[..., Any]:
    """An elementwise operation on mpmath's reals."""
    return reals().defined(op)


def _elementwise(op: Op, operands: Sequence[Numbers]) -> Numbers:
    function = _scalar(op)
    return np.asarray(np.frompyfunc(function, len(operands), 1)(*operands), dtype=object)


def _along(op: Op, x: Numbers, params: Mapping[str, Any]) -> Numbers:
    """Apply the definition of an operation on rows, such as a sum, along `axis`."""
    definition, functions = definition_of(op), reals()
    axis = (params["axis"],) if isinstance(params["axis"], int) else tuple(params["axis"])
    rest = [i for i in range(-x.ndim, 0) if i not in axis]
    order = [i + x.ndim for i in (*rest, *axis)]
    moved = np.transpose(x, order)
    lead, row = moved.shape[: len(rest)], moved.shape[len(rest) :]
    size = int(np.prod(row, dtype=int))
    rows = [list(each) for each in moved.reshape((int(np.prod(lead, dtype=int)), size))]
    if op.carries is carries_reduced:
        result = np.empty(len(rows), dtype=object)
        result[:] = [definition(functions, each) for each in rows]
        kept = tuple(1 if i in axis else x.shape[i] for i in range(-x.ndim, 0))
        return result.reshape(kept if params.get("keepdims") else lead)
    result = np.empty((len(rows), size), dtype=object)
    for place, each in enumerate(rows):
        result[place] = definition(functions, each)
    return np.transpose(result.reshape(moved.shape), np.argsort(order))


def _is_movement(node: Node) -> bool:
    """Whether the operation only moves elements, with no zeros between and by no index operand."""
    traits = node.op.traits
    alike = len({each.dtype for each in node.operands}) == 1
    return traits.movement and traits.shift == 1 and alike


def _value(node: Node, operands: Sequence[Numbers], env: Mapping[str, int], flat: bool) -> Numbers:
    op = node.op
    params = {key: resolve(value, env) for key, value in node.params.items()}
    if node.is_constant:
        uniform = uniform_value(node)
        return _as_objects(params["value"] if uniform is None or not flat else uniform)
    if op is DIMENSION:
        return _as_objects(np.asarray(params["size"]))
    if op.traits.arrangement is Arrangement.CONVERTED:
        source = node.operands[0].aval.dtype.kind
        if node.aval.dtype.kind == "f" and source in "fiub":
            return _as_numbers(operands[0])
        raise Unsupported("cast to integers")
    if _is_movement(node):
        return np.asarray(op.kernel(NUMPY, *operands, **params), dtype=object)
    if op.carries in (carries_reduced, carries_off_axis):
        return _along(op, operands[0], params)
    if params:
        raise Unsupported(op.name)
    if op.carries is carries_aligned:
        return _elementwise(op, operands)
    return definition_of(op)(reals(), *operands)


def _as_objects(array: Numbers) -> Numbers:
    """The floats of an array as mpmath reals; truth values as Python's."""
    from mpmath import mp

    if array.dtype.kind == "b":
        return array.astype(object)
    return np.asarray(np.frompyfunc(lambda x: mp.mpf(float(x)), 1, 1)(array), dtype=object)


def _as_numbers(array: Numbers) -> Numbers:
    """The numbers of an object array, Python's integers and truth values too, as mpmath reals."""
    from mpmath import mp

    return np.asarray(np.frompyfunc(lambda x: mp.mpf(x), 1, 1)(array), dtype=object)


def precise_values(
    outputs: Sequence[Node],
    given: Mapping[Node, Numbers],
    env: Mapping[str, int],
    bits: int,
    *,
    flat: bool = False,
) -> list[Numbers]:
    """The outputs as arrays of mpmath reals, computed with `bits` binary digits.

    With `flat` the graph is elementwise, and `given` holds vectors of selected elements.

    Raises
    ------
    Unsupported
        If an operation has no definition in high precision.
    TooLarge
        If a number is too large or too small to be added to 1.
    """
    from mpmath import mp

    with mp.workprec(bits), np.errstate(all="ignore"):
        values: dict[Node, Numbers] = {}
        for node in reachable(outputs):
            if node in given:
                values[node] = _as_objects(given[node])
            else:
                values[node] = _value(node, [values[each] for each in node.operands], env, flat)
        return [values[output] for output in outputs]
