"""Factors of a product in another order, where it leaves the range on the way to a number.

a / q**2 is 0 where q**2 overflows, and a / q / q is a number; (x y) / z overflows where (x / z) y
does not. Each order leaves the range for some inputs, so nothing is moved unless the graph as
derived has numbers that are lost. What is moved takes no operation more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..array import Array
from ..ir.cost import op_count
from ..ir.node import Node, origin
from ..ir.walks import reachable
from ..ops.elementwise import divide, multiply, square
from .gains import Change, changed_one_by_one

__all__ = ["with_factors_reordered"]


def with_factors_reordered(
    outputs: Sequence[Node],
    lost: Callable[[Sequence[Node]], int],
    keeps: Callable[[Sequence[Node], Sequence[Node]], bool],
) -> list[Node]:
    """The outputs after each change of order by which fewer numbers are lost.

    Parameters
    ----------
    outputs : sequence of Node
    lost : callable
        The number of probes at which outputs have lost a number; nothing changes if it is 0.
    keeps : callable
        `keeps(new, old)`: whether new outputs have the digits and the numbers that they must have.
    """

    def is_gain(new: Sequence[Node], old: Sequence[Node]) -> bool:
        return op_count(new) <= op_count(old) and lost(new) < lost(old) and keeps(new, old)

    if not lost(outputs):
        return list(outputs)
    return changed_one_by_one(outputs, _changes, is_gain)


def _changes(outputs: Sequence[Node]) -> Iterator[Change]:
    """Products and quotients, each with another order of its factors."""
    for node in reachable(outputs):
        if node.op not in (multiply.op, divide.op) or node.dtype.kind != "f" or node.copy:
            continue
        with origin(node.origin):
            x, y = map(Array, node.operands)
            orders = _of_quotient(x, y) if node.op is divide.op else _of_product(x, y)
            for each in orders:
                if each.node.aval == node.aval:
                    yield node, each.node


def _of_quotient(x: Array, y: Array) -> Iterator[Array]:
    """Other orders of x / y."""
    for a, b in _factors(y):
        yield x / a / b
    for a, b in _factors(x):
        yield a / y * b
    if _is(x, divide.op):
        a, b = map(Array, x.node.operands)
        yield a / y / b
        yield a / (b * y)


def _of_product(x: Array, y: Array) -> Iterator[Array]:
    """Other orders of x y."""
    for one, other in ((x, y), (y, x)):
        for a, b in _factors(other):
            yield one * a * b
        if _is(other, divide.op):
            a, b = map(Array, other.node.operands)
            yield one / b * a
            yield one * a / b


def _factors(x: Array) -> Iterator[tuple[Array, Array]]:
    """The two factors of a product or of a square, in both orders."""
    operands = [Array(each) for each in x.node.operands]
    if _is(x, square.op):
        yield operands[0], operands[0]
    elif _is(x, multiply.op):
        yield operands[0], operands[1]
        yield operands[1], operands[0]


def _is(x: Array, op: object) -> bool:
    return x.node.op is op and not x.node.copy
