"""The numbers of a product become one: 2 * (x / 8) is x / 4.

Where the algebra writes a product anew, it gathers numbers by itself. Where each of its spellings
loses digits or range, a product stays in the order of the chain rule, with its numbers apart. Here
numbers move alone, and all else stays in its order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from operator import ge
from typing import NamedTuple

from ..array import Array
from ..ir.cost import op_count, varying
from ..ir.node import Node, make, on_operands, origin
from ..ir.op import Op
from ..ir.value_names import carried
from ..ir.walks import reachable
from ..ops.creation import constant_of
from ..ops.elementwise import divide, multiply, negative, square
from .gains import Loses, keeps_digits
from .signs import settled_signs

__all__ = ["with_numbers_gathered"]

_LARGEST = 1e9
"""A larger number stays where it is, and so does a smaller one than its inverse."""

_AGAIN_UP_TO = 3_000
"""The most nodes of a graph that is gathered again after a success."""


def with_numbers_gathered(outputs: Sequence[Node], loses: Loses) -> list[Node]:
    """The outputs with numbers gathered, if that takes fewer operations.

    Parameters
    ----------
    outputs : sequence of Node
    loses : Loses
    """
    best, current = list(outputs), None
    while best != current:
        current = best
        nodes = reachable(current)
        if sum([_has_number(node) for node in nodes]) < 2:
            break
        least = _lengths(best)
        for shared, divided in product((False, True), (True, False)):
            if not divided and best != current:
                continue
            new = _Gathering(nodes, current, shared=shared, divided=divided).outputs()
            if new == best or all(map(ge, _lengths(new), least)):
                continue
            new = settled_signs(new)
            if op_count(new) < least[0] and keeps_digits(new, outputs, loses):
                best, least = new, _lengths(new)
        if len(nodes) > _AGAIN_UP_TO:
            break
    return best


def _lengths(outputs: Sequence[Node]) -> tuple[int, int]:
    """The operations, and those beside negations, whose places are sought last."""
    nodes = varying(outputs)
    count = sum([node.op.count for node in nodes])
    return count, count - sum([node.op is negative.op for node in nodes])


class _Split(NamedTuple):
    """A value as a number times an array; a number alone has no array."""

    number: float
    array: Node | None


class _Gathering:
    """One walk, operands first: each value as a number times an array.

    With `shared` a value with several users gives its number to each of them. Without `divided` a
    value over a number stays: x / 4 times x may be in range where x times x is not.
    """

    def __init__(
        self, nodes: Sequence[Node], outputs: Sequence[Node], *, shared: bool, divided: bool
    ) -> None:
        self._outputs = outputs
        self._divided = divided
        self._splits: dict[Node, _Split] = {}
        fixed = set(outputs)
        seen: set[Node] = set()
        self._carried: set[Node] = set()
        for node in nodes:
            places = _places_carried(node)
            if len(places) == len(node.operands):
                self._carried.add(node)
            for place, operand in enumerate(node.operands):
                if place not in places or (operand in seen and not shared):
                    fixed.add(operand)
                seen.add(operand)
        for node in nodes:
            split = self._split(node)
            if node in fixed and split.array is not None:
                split = _Split(1, self._whole(node, split))
            self._splits[node] = split

    def outputs(self) -> list[Node]:
        return [self._array(node) for node in self._outputs]

    def _split(self, node: Node) -> _Split:
        number = _number(node)
        if number is not None:
            return _Split(number, None)
        stays = not self._divided and node.op is divide.op and _has_number(node)
        if not node.operands or node not in self._carried or stays:
            return _Split(1, on_operands(node, tuple(map(self._array, node.operands))))
        splits = [self._splits[each] for each in node.operands]
        found = (self._sum if node.op.traits.combination else self._product)(node, splits)
        if found is None or not 1 / _LARGEST < abs(found.number) < _LARGEST:
            return _Split(1, on_operands(node, tuple(map(self._array, node.operands))))
        return found

    def _sum(self, node: Node, splits: list[_Split]) -> _Split | None:
        """A sum or difference of two multiples by one number; a negation."""
        arrays = [each.array for each in splits if each.array is not None]
        numbers = {each.number for each in splits}
        if len(arrays) < len(splits) or len(numbers) > 1:
            return None
        if node.op is negative.op:
            return _Split(-numbers.pop(), arrays[0])
        return self._of_arrays(node, numbers.pop(), arrays)

    def _product(self, node: Node, splits: list[_Split]) -> _Split | None:
        """An operation that is linear in its operands, or a square, of numbers times arrays."""
        arrays = [each.array for each in splits if each.array is not None]
        if not arrays:
            return None
        number = 1.0
        for place, split in enumerate(splits):
            below = node.op is divide.op and place == 1
            number *= 1 / split.number if below else split.number
        if node.op is square.op:
            number *= number
        if len(arrays) < len(splits):
            if node.op not in (multiply.op, divide.op):
                return None  # A contraction with a number does more than multiply by it.
            if node.op is not divide.op or splits[1].array is None:
                return _Split(number, arrays[0])
            arrays = [_constant(1, node), arrays[0]]
        return self._of_arrays(node, number, arrays)

    @staticmethod
    def _of_arrays(node: Node, number: float, arrays: list[Node]) -> _Split:
        """The number times the operation on the arrays, which has the names if the number is 1."""
        with origin(node.origin):
            return _Split(number, on_operands(node, tuple(arrays), equal=number == 1))

    def _array(self, node: Node) -> Node:
        """A value as a node."""
        split = self._splits[node]
        return node if split.array is None else self._whole(node, split)

    def _whole(self, node: Node, split: _Split) -> Node:
        """A number times an array, by the old node if nothing has moved."""
        number, array = split
        assert array is not None
        if number == 1 or all(map(self._is_as_before, node.operands)):
            return array if number == 1 else node
        with origin(node.origin):
            by = _number(array.operands[0]) if array.op is divide.op else None
            if by is not None:
                found = make(divide.op, (_constant(number * by, node), array.operands[1]))
            elif number == -1:
                found = negative(Array(array)).node
            elif divisor := _divisor(number):
                found = make(divide.op, (array, _constant(divisor, node)))
            else:
                found = make(multiply.op, (_constant(number, node), array))
        carried(node, found)
        return found

    def _is_as_before(self, node: Node) -> bool:
        return self._splits[node].array in (None, node)


def _has_number(node: Node) -> bool:
    return node.op in (multiply.op, divide.op) and any(
        _number(each) is not None for each in node.operands
    )


def _number(node: Node) -> float | None:
    """The number that a constant without axes is, if it is no truth value and not 0."""
    if not node.is_constant or node.ndim or node.dtype.kind != "f":
        return None
    return float(node.params["value"]) or None


def _divisor(number: float) -> float | None:
    """The whole number whose inverse this is, if the inverse is rounded.

    A mean stays a division: a sum of seven 1/3 over 7 is 1/3 again, which a product with the
    rounded inverse need not be, and deviations from the mean are 0.
    """
    divisor = round(1 / number)
    exact = number.as_integer_ratio()[1] < abs(divisor) + 1 if divisor else True
    return None if exact or 1 / divisor != number else float(divisor)


def _constant(number: float, like: Node) -> Node:
    return constant_of(number, like.dtype).node


def _places_carried(node: Node) -> tuple[int, ...]:
    """The operands whose numbers may become one of the result."""
    dtype = node.results[0].dtype
    if node.copy or len(node.results) > 1 or dtype.kind != "f":
        return ()
    if dtype.itemsize < 4:
        return ()  # In half precision a product of two numbers soon leaves the range.
    if any(each.results[0].dtype != dtype for each in node.operands):
        return ()
    return _places_of(node.op, len(node.operands))


@lru_cache(maxsize=1024)
def _places_of(op: Op, count: int) -> tuple[int, ...]:
    """The operands whose numbers the operation takes out, where all are of one dtype."""
    linear = op.traits.linear_in(count)
    if op.traits.combination or op in (divide.op, square.op):
        return tuple(range(count))
    return linear if len(linear) == count else ()
