"""A number that tells nodes apart by what they are, the same in every process and every graph.

An input is its name, any other node its operation, params and operands; operands that may be
exchanged are put in order. What is drawn at random for a node is drawn by this number, so that it
depends neither on what was looked at before nor on which graph the node stands in.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, cast

import numpy as np

from ..ir.dims import names_of
from ..ir.node import Node

__all__ = ["Keys"]

_BYTES = 8


class Keys:
    """The numbers of nodes, found once each; operands first."""

    def __init__(self) -> None:
        self._keys: dict[Node, int] = {}
        self._met: dict[int, Node] = {}

    def of(self, node: Node) -> int:
        """The number of a node whose operands have theirs."""
        found = self._keys.get(node)
        if found is None:
            below = [self._keys[operand] for operand in node.operands]
            if node.op.traits.commutative:
                below.sort()
            found = self._keys[node] = _number(node.op.name, _spelled(node), below)
        return found

    def add_alone(self, node: Node) -> int:
        """The number of a node that shares it with no other, as of two inputs of one name.

        Of those the one that is met first has the number that both would have.
        """
        found = self.of(node)
        while self._met.setdefault(found, node) is not node:
            found = _number("another", "", [found])
        self._keys[node] = found
        return found


def _number(*parts: Any) -> int:
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=_BYTES).digest(), "big")


def _spelled(node: Node) -> Any:
    if node.is_input:
        return node.params["name"]
    params = node.params
    return [(name, _value(params[name])) for name in sorted(params)] if params else ""


def _value(value: Any) -> Any:
    """What `repr` tells apart, and no address in it; of what holds a graph the kind alone."""
    if isinstance(value, tuple):
        return [_value(each) for each in cast("tuple[Any, ...]", value)]
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        return array.dtype.str, array.shape, blake2b(array.tobytes(), digest_size=_BYTES).digest()
    if value is None or isinstance(value, str | int | float | slice | np.dtype | np.generic):
        return value
    return str(value) if names_of(value) else type(value).__name__
