"""Constant folding: small values that depend on no input are computed once.

A folded value is the interpreter's, in the same dtype, bit by bit. Large values stay unfolded: an
array of a million zeros is better kept as the one zero it repeats.
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


def with_constants_folded(outputs: Sequence[Node], *, largest: int = _LARGEST) -> list[Node]:
    """The outputs with every small value that depends on no input replaced by a constant.

    Parameters
    ----------
    outputs : sequence of Node
    largest : int
        Bytes above which a value is not folded.
    """
    new: dict[Node, Node] = {}
    for node in reachable(outputs):
        operands = tuple([new[operand] for operand in node.operands])
        value = _value(node, operands, largest)
        if value is not None:
            with origin(node.origin):
                new[node] = constant(value, node.aval.dtype).node
        else:
            new[node] = on_operands(node, operands)
    return [new[output] for output in outputs]


def _value(node: Node, operands: tuple[Node, ...], largest: int) -> Any:
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
            result = np.asarray(run(node, values, {}))
        except (ArithmeticError, ValueError, IndexError):
            return None  # The inverse of a singular matrix is an error when it runs, not here.
    return result if result.dtype == node.aval.dtype else None


def _is_never_folded(node: Node) -> bool:
    """Whether the node is never folded.

    A broadcast number is not, for it tells rules at once that all its elements are equal.
    """
    repeated = node.op.traits.arrangement is Arrangement.REPEATED
    return repeated or node.is_constant or node.op is STOP_GRADIENT
