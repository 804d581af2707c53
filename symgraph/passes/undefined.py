"""Where outputs are no number because a value is 0, infinite or NaN.

x / x is NaN at 0, and 1 is a number. In 2 x / x - (1 + x**2) / x**2 nobody sees the difference: the
second term is infinite at 0, and so is the sum. Three things are known of a value at such a point,
whatever the rest of the graph is: that it is 0, that it is infinite, or that it is NaN; each of the
first two may be NaN as well. Products, sums and logarithms hand this on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TypeAlias

from ..ir.node import Node
from ..ir.walks import reachable
from ..ops.matmul import MATMUL
from ..ops.movement import RESHAPE, broadcast_to, transpose
from ..ops.totals import sum as total

__all__ = ["Known", "are_undefined_with"]


class Known(Enum):
    """What a value is at the point, or NaN."""

    ZERO = "zero"
    INFINITE = "infinite"
    NAN = "nan"


_States: TypeAlias = dict[Node, Known]

_MOVED = (RESHAPE, broadcast_to.op, transpose.op)


def are_undefined_with(
    given: Mapping[Node, Known], place: Node, before: Sequence[Node], after: Sequence[Node]
) -> bool:
    """Whether all outputs that hang on a value are infinite or NaN at the point, before and after.

    Parameters
    ----------
    given : mapping of Node to Known
        What is known of some values, all of one shape: at one element of each.
    place : Node
        A value of `before` that is another one in `after`. It has the shape of those given, unless
        these are numbers.
    before, after : sequence of Node
        The outputs, with the one value and with the other.
    """
    shape = next(iter(given)).shape
    if shape and place.shape != shape:
        return False
    own, every = _known(given, after)
    there, everywhere = _dependent(place, before, by_element=bool(shape))
    undefined = (Known.INFINITE, Known.NAN)
    return all(
        every.get(new) in undefined or (old not in everywhere and own.get(new) in undefined)
        for old, new in zip(before, after, strict=True)
        if old in everywhere or old in there
    )


def _dependent(
    place: Node, outputs: Sequence[Node], *, by_element: bool
) -> tuple[set[Node], set[Node]]:
    """Values that hang on a value element by element, and those of which each element may."""
    there, everywhere = ({place}, set[Node]()) if by_element else (set[Node](), {place})
    for node in reachable(outputs):
        if any(each in everywhere for each in node.operands):
            everywhere.add(node)
        elif any(each in there for each in node.operands):
            kept = node.op.traits.elementwise and node.shape == place.shape
            (there if kept else everywhere).add(node)
    return there, everywhere


def _known(given: Mapping[Node, Known], outputs: Sequence[Node]) -> tuple[_States, _States]:
    """What is known of values at the element given, and of all elements of values."""
    shape = next(iter(given)).shape
    own, every = (dict(given), _States()) if shape else (_States(), dict(given))
    for node in reachable(outputs):
        if node in given or node.dtype.kind != "f" or len(node.results) > 1:
            continue
        operands = [every.get(each) for each in node.operands]
        found = _from_all(node, operands)
        here = [own.get(each) or state for each, state in zip(node.operands, operands, strict=True)]
        if found is None and not node.ndim:
            found = _from_one_element(node, here, shape)
        if found is not None:
            every[node] = found
        elif shape and node.shape == shape and node.op.traits.elementwise:
            there = _by_element(node, here)
            if there is not None:
                own[node] = there
    return own, every


def _from_all(node: Node, operands: Sequence[Known | None]) -> Known | None:
    """What is known of all elements, if something is of all elements of operands."""
    if not any(operands):
        return None
    if node.op in _MOVED:
        return operands[0]
    if node.op.traits.elementwise:
        return _by_element(node, operands)
    sizes = {size for each in node.operands for size in each.shape}
    if all(isinstance(size, int) and size > 0 for size in sizes):
        return _summed(node, operands)
    return None


def _from_one_element(
    node: Node, operands: Sequence[Known | None], shape: Sequence[object]
) -> Known | None:
    """What is known of a sum, or of a product of vectors, from one element."""
    fits = all(each.shape == shape for each in node.operands)
    return _summed(node, operands) if fits else None


def _summed(node: Node, operands: Sequence[Known | None]) -> Known | None:
    """A sum is infinite or NaN where a term is; so is a product with a factor that is."""
    if node.op not in (total.op, MATMUL):
        return None
    if Known.NAN in operands:
        return Known.NAN
    return Known.INFINITE if Known.INFINITE in operands else None


def _by_element(node: Node, operands: Sequence[Known | None]) -> Known | None:
    traits = node.op.traits
    if traits.monomial:
        return _of_product(operands, [power > 0 for power in traits.monomial])
    if traits.combination:
        return _of_sum(operands)
    if len(operands) > 1 or traits.blind:
        return None
    (operand,) = operands
    if operand is Known.NAN or traits.homogeneous == 1:
        return operand
    if traits.logarithm is not None and (operand is Known.INFINITE or not traits.logarithm.plus):
        return operand and Known.INFINITE
    return None


def _of_product(operands: Sequence[Known | None], above: Sequence[bool]) -> Known | None:
    """0 and infinity in one product are NaN; each alone stays, whatever the other factors are."""
    turned = {Known.ZERO: Known.INFINITE, Known.INFINITE: Known.ZERO}
    factors = [
        turned.get(each, each) if each is not None and not up else each
        for each, up in zip(operands, above, strict=True)
    ]
    if Known.NAN in factors or (Known.ZERO in factors and Known.INFINITE in factors):
        return Known.NAN
    return next((each for each in factors if each is not None), None)


def _of_sum(operands: Sequence[Known | None]) -> Known | None:
    for state in (Known.NAN, Known.INFINITE):
        if state in operands:
            return state
    return Known.ZERO if all(each is Known.ZERO for each in operands) else None
