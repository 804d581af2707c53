"""Constant folding: small values that depend on no input are computed once.

A folded value is the interpreter's, in the same dtype, bit by bit, but for sums of equal numbers:
unless every bit is to stay, they are products, so that seven sevenths are 1. Large values stay
unfolded: an array of a million zeros is better kept as the one zero it repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..array import constant
from ..ir.dims import fixed
from ..ir.interpreter import run
from ..ir.node import Node, on_operands, origin
from ..ir.traits import Arrangement
from ..ir.walks import reachable, unrepeated
from ..ops.control import STOP_GRADIENT

__all__ = ["with_constants_folded"]

_LARGEST = 4096
"""Bytes of a constant that folding may make."""


def with_constants_folded(
    outputs: Sequence[Node], *, largest: int = _LARGEST, exact: bool = True
) -> list[Node]:
    """The outputs with every small value that depends on no input replaced by a constant.

    Parameters
    ----------
    outputs : sequence of Node
    largest : int
        Bytes above which a value is not folded.
    exact : bool
        Whether each bit is to be the interpreter's.
    """
    new: dict[Node, Node] = {}
    for node in reachable(outputs):
        operands = tuple([new[operand] for operand in node.operands])
        value = _value(node, operands, largest, exact)
        if value is not None:
            with origin(node.origin):
                new[node] = constant(value, node.aval.dtype).node
        else:
            new[node] = on_operands(node, operands)
    return [new[output] for output in outputs]


def _value(node: Node, operands: tuple[Node, ...], largest: int, exact: bool) -> Any:
    """The value of a small node that depends on constants only; else None."""
    if not operands or _is_never_folded(node) or len(node.results) > 1 or node.copy:
        return None
    sources: list[Node] = []
    for each in operands:
        source = unrepeated(each)
        if not source.is_constant:
            return None
        sources.append(source)
    avals = [node.aval, *[each.aval for each in operands]]
    if not all(fixed(aval.shape) for aval in avals):
        return None
    if max(int(aval.nbytes) for aval in avals) > largest:  # pyright: ignore[reportArgumentType]
        return None
    with np.errstate(all="ignore"):
        values: list[Any] = [
            np.broadcast_to(source.params["value"], each.shape)
            for source, each in zip(sources, operands, strict=True)
        ]
        try:
            result = None if exact else _sum_of_equals(node, values[0])
            result = np.asarray(run(node, values, {})) if result is None else result
        except (ArithmeticError, ValueError, IndexError):
            return None  # The inverse of a singular matrix is an error when it runs, not here.
    return result if result.dtype == node.aval.dtype else None


def _sum_of_equals(node: Node, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    r"""$\sum_{i=1}^n x = n x$, rounded once; None of what is no sum of equal numbers."""
    indices = node.op.traits.indices
    if indices is None or len(node.operands) != 1 or node.dtype.kind != "f" or not x.size:
        return None
    labels = indices(node.aval, node.operands[0].aval, **node.params)
    if labels is None:
        return None
    (summed,), left = labels
    distinct = len(set(summed)) == len(summed) and len(set(left)) == len(left)
    if not distinct or not set(left) <= set(summed) or (x != x.flat[0]).any():
        return None  # A diagonal, or a matrix of one.
    count = x.size // int(np.prod(node.shape))
    return np.full(node.shape, x.flat[0] * x.dtype.type(count), node.dtype)


def _is_never_folded(node: Node) -> bool:
    """Whether the node is never folded.

    A broadcast number is not, for it tells rules at once that all its elements are equal.
    """
    repeated = node.op.traits.arrangement is Arrangement.REPEATED
    return repeated or node.is_constant or node.op is STOP_GRADIENT
