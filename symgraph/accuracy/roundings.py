"""Which operations round. Selecting, doubling or changing a sign gives the same in any precision.

The answer is found by running the kernel on random numbers in both precisions.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from ..ir.node import Node
from .probes import Numbers
from .stacked_kernels import Params, stacked

__all__ = ["Roundings"]

_FEW = 4
"""Points on which a kernel is run."""

_LONGEST = 64
"""The most bytes of a constant that is part of a key."""

_known: dict[Hashable, bool] = {}
"""Whether operations round, for all graphs of the process. Integers and truth values are not in
the keys, so operations on them are not kept here."""

_MOST_KNOWN = 20_000


class Roundings:
    """Whether the operations of one graph round."""

    def __init__(self) -> None:
        self._found: dict[Hashable, bool] = {}

    def has(
        self,
        node: Node,
        operands: Sequence[Numbers],
        params: tuple[Params, Params],
        shape: tuple[int, ...],
        kind: Hashable,
    ) -> bool:
        """Whether the operation rounds for some operands.

        Parameters
        ----------
        node : Node
        operands : sequence of ndarray
            Their values in single precision; an operand of one row is the same at all probes.
        params : pair of mappings
            The params in double and in single precision.
        shape : tuple of int
            The shape of the value at one point.
        kind : hashable
            Its `kind_of`. The shapes are in it: a sum over an axis of length 1 rounds nothing.
        """
        below = node.operands
        # An operand that is the same at all probes is computed from constants, and is kept.
        pattern = tuple(
            [
                below.index(each) if len(array) > 1 else each
                for each, array in zip(below, operands, strict=True)
            ]
        )
        key = (pattern, kind)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = _looked_up(node, pattern, operands, params, shape, kind)
        return found


def _looked_up(
    node: Node,
    pattern: tuple[int | Node, ...],
    operands: Sequence[Numbers],
    params: tuple[Params, Params],
    shape: tuple[int, ...],
    kind: Hashable,
) -> bool:
    """Whether an operation rounds, as another graph may have found."""
    few = [each[:_FEW] for each in operands]
    key = None
    if all(
        array.dtype.kind == "f" and (len(array) > 1 or array.nbytes <= _LONGEST) for array in few
    ):
        each = [
            (place, array.shape) if isinstance(place, int) else (array.tobytes(), array.shape)
            for place, array in zip(pattern, few, strict=True)
        ]
        key = (kind, *each)
    found = None if key is None else _known.get(key)
    if found is None:
        found = _tried(node, pattern, few, params, shape)
        if key is not None:
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known[key] = found
    return found


def _tried(
    node: Node,
    pattern: tuple[int | Node, ...],
    few: list[Numbers],
    params: tuple[Params, Params],
    shape: tuple[int, ...],
) -> bool:
    """Whether the kernel gives other numbers in single precision than in double precision."""
    rng = np.random.default_rng(1999)
    drawn: dict[Node, Numbers] = {}
    for each, place, array in zip(node.operands, pattern, few, strict=True):
        if each not in drawn and array.dtype.kind == "f" and isinstance(place, int):
            drawn[each] = rng.normal(size=array.shape).astype(np.float32)
        drawn.setdefault(each, array)
    narrow = [drawn[each] for each in node.operands]
    wide = [each.astype(np.float64) if each.dtype.kind == "f" else each for each in narrow]
    double, single = params
    one = stacked(node.op, narrow, single, shape)
    other = stacked(node.op, wide, double, shape)
    if one is None or other is None:
        return True
    return not bool(np.all((one == other) | ((one != one) & (other != other))))
