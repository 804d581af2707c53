"""Factors that several products share are multiplied once: x y z and x y u have one x y.

Entries of a Jacobian, and gradients of several inputs, are products of much the same values, each
in the order of the chain rule. A pair of factors that is in two products or more becomes a value of
its own; the most frequent pair comes first (Brayton and McMullen 1982, on common cubes). A sign is
a factor, too: of two products with a minus and a common factor, the factor is negated once. A
divisor is taken with a factor: of x y / z and u y / z**2, the quotient y / z. A division by 2 is a
factor 1/2: x / 2 and 0.5 x y share 0.5 x. A square is a factor
twice: k x**2 and 2 k x y share k x. An inner product of vectors is a product whose elements are
added: (x y) @ z and (x u) @ (y v) have x y, too, and of (x @ y) / s and y / s the second is in the
first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from math import frexp
from typing import NamedTuple

from ..array import Array
from ..ir.node import Node, on_operands, origin
from ..ir.walks import reachable, use_counts
from ..ops.creation import constant_of
from ..ops.elementwise import divide, multiply, negative, square
from ..ops.matmul import MATMUL, matmul
from ..ops.movement import RESHAPE, reshape
from ..ops.totals import sum as total
from ..records import record
from ..rewriting.guards import uniform_value
from .gains import Loses, is_shorter

__all__ = ["with_factors_shared"]

_PRODUCTS = (multiply.op, divide.op, negative.op)
_MOST_FACTORS = 8
"""A product of more factors is left as it is."""
_MOST_NODES = 1_000
"""In larger graphs each pair that is found would cost a look at all products."""


class _Pair(NamedTuple):
    """Two factors, or with `over` a factor and a divisor."""

    one: _Factor
    other: _Factor
    over: bool = False


@record(eq=False)
class _Factor:
    """A factor of products: a value, -1, or a pair of other factors, multiplied or divided."""

    number: int
    shape: tuple[object, ...] | None = None
    value: Node | None = None
    pair: _Pair | None = None


@dataclass
class _Product:
    """Factors and divisors of a value; `changed` once a pair of its factors is one.

    With `added` the value is the sum of the elements of those that are vectors, times the numbers.
    """

    factors: list[_Factor] = field(default_factory=list["_Factor"])
    divisors: list[_Factor] = field(default_factory=list["_Factor"])
    changed: bool = False
    added: bool = False

    @property
    def is_of_equal_vectors(self) -> bool:
        """Whether an inner product has no vector of one element that is broadcast."""
        shapes = {each.shape for each in self.factors + self.divisors} - {None, ()}
        return not self.added or len(shapes) == 1


def with_factors_shared(outputs: Sequence[Node], loses: Loses) -> list[Node]:
    """The outputs with pairs of factors multiplied once, if that takes fewer operations.

    Parameters
    ----------
    outputs : sequence of Node
    loses : Loses
    """
    current = list(outputs)
    if len(reachable(current)) > _MOST_NODES:
        return current
    # Where a square taken apart loses range, the other pairs are found nevertheless.
    for opens_squares in (False, True):
        nodes = reachable(current)
        found = _Products(nodes, current, opens_squares=opens_squares)
        if found.share():
            new = found.outputs(nodes, current)
            current = new if is_shorter(new, current, loses) else current
        if not found.have_squares:
            break
    return current


class _Products:
    """The products of a graph, each with all its factors.

    With `opens_squares` a square that has no other use is a factor twice.
    """

    def __init__(
        self, nodes: Sequence[Node], outputs: Sequence[Node], *, opens_squares: bool
    ) -> None:
        self._opens_squares = opens_squares
        self.have_squares = False
        """Whether a product has a square for a factor that may be opened."""
        self._uses = use_counts(nodes, outputs)
        self._minus = _Factor(0)
        self._factors: dict[Node | _Pair, _Factor] = {}
        self._found: dict[Node, _Product] = {}
        inside: set[Node] = set()
        for node in reversed(nodes):
            if node not in inside and (_is_product(node) or _is_inner_product(node)):
                product = _Product()
                within = list(self._opened(node, product))
                if len(product.factors) <= _MOST_FACTORS and product.is_of_equal_vectors:
                    inside.update(within)
                    self._found[node] = product

    def _opened(self, top: Node, product: _Product) -> Iterator[Node]:
        """Open a product into factors and divisors; the products that are opened for it."""
        stack = [top]
        while stack:
            node = stack.pop()
            part = self._number_within(node)
            opened = node is top or (self._uses[part] == 1 and part.dtype == top.dtype)
            if opened and self._is_opened_square(part):
                yield part
                product.factors += [self._factor(part.operands[0])] * 2
                continue
            if opened and _is_inner_product(part) and not product.added and not top.ndim:
                yield part
                product.added = True
                stack.extend(part.operands[::-1])
                continue
            if not (opened and _is_product(part)):
                product.factors.append(self._factor(part))
                continue
            yield part
            stack.extend(part.operands[:1] if part.op is divide.op else part.operands[::-1])
            half = _inverse_of_power_of_two(part)
            if half is not None:
                product.factors.append(self._factor(half))
            elif part.op is divide.op:
                product.divisors[:0] = map(self._factor, self._divisors_of(part))
            elif part.op is negative.op and self._minus in product.factors:
                product.factors.remove(self._minus)
            elif part.op is negative.op:
                product.factors.append(self._minus)

    def _is_opened_square(self, node: Node) -> bool:
        if node.op is not square.op or node.copy:
            return False
        self.have_squares = True
        return self._opens_squares

    def _divisors_of(self, quotient: Node) -> tuple[Node, ...]:
        """What is divided by: the operands of a product or square that has no other use."""
        divisor = quotient.operands[1]
        if self._uses[divisor] > 1 or divisor.copy or divisor.shape != quotient.shape:
            return (divisor,)
        if divisor.op is square.op:
            return divisor.operands * 2
        return divisor.operands if divisor.op is multiply.op else (divisor,)

    def _number_within(self, node: Node) -> Node:
        """The number that is reshaped to an array of one element and has no other use."""
        if node.op is RESHAPE and node.aval.size == 1 and self._uses[node] == 1 and not node.copy:
            (operand,) = node.operands
            return node if operand.ndim else operand
        return node

    def _factor(self, value: Node) -> _Factor:
        if value not in self._factors:
            self._factors[value] = _Factor(len(self._factors) + 1, value.shape, value)
        return self._factors[value]

    # -- pairs -------------------------------------------------------------------------------------
    def share(self) -> bool:
        """Join the pairs of factors that several products have; whether there are any."""
        products = list(self._found.values())
        while True:
            counts = Counter([pair for each in products for pair in _pairs(each)])
            if not counts or max(counts.values()) < 2:
                return any(each.changed for each in products)
            pair = max(counts, key=lambda each: counts[each])
            shape = (pair.other if _is_number(pair.one) else pair.one).shape
            new = _Factor(len(self._factors) + 1, shape, None, pair)
            joined = self._factors.setdefault(pair, new)
            for each in products:
                while pair in _pairs(each):  # The square of a pair is the pair twice.
                    for one in pair[:1] if pair.over else pair[:2]:  # The divisor may be a factor.
                        each.factors.remove(one)
                    each.factors, each.changed = [joined, *each.factors], True
                    if pair.over:
                        each.divisors.remove(pair.other)

    # -- writing -----------------------------------------------------------------------------------
    def outputs(self, nodes: Sequence[Node], outputs: Sequence[Node]) -> list[Node]:
        """The outputs with products of the factors that are left."""
        instead: dict[Node, Node] = {}
        written: dict[_Factor, Array] = {}
        for node in nodes:
            product = self._found.get(node)
            if product is None or not product.changed:
                operands = tuple([instead[operand] for operand in node.operands])
                instead[node] = on_operands(node, operands)
                continue
            with origin(node.origin):
                instead[node] = _written(product, node, instead, written)
        return [instead[output] for output in outputs]


def _is_product(node: Node) -> bool:
    return node.op in _PRODUCTS and node.dtype.kind == "f" and not node.copy


def _inverse_of_power_of_two(node: Node) -> Node | None:
    """The number by which a quotient by a power of two multiplies, to the last bit; else None."""
    if node.op is not divide.op or node.operands[1].ndim:
        return None
    number = uniform_value(node.operands[1])
    if number is None or abs(frexp(number)[0]) != 0.5 or not 2**-10 <= abs(number) <= 2**10:
        return None
    return constant_of(1 / float(number), node.operands[1].dtype).node


def _is_inner_product(node: Node) -> bool:
    """Whether it is a product of two vectors of one dtype."""
    vectors = node.op is MATMUL and not node.copy and node.dtype.kind == "f"
    return vectors and all(each.ndim == 1 and each.dtype == node.dtype for each in node.operands)


def _pairs(product: _Product) -> list[_Pair]:
    """Each pair of two factors of one shape, of a factor and -1, or of a factor and a divisor."""
    factors = sorted({each.number: each for each in product.factors}.values(), key=_number)
    found = [_Pair(*both) for both in combinations(factors, 2) if _may_be_one(*both)]
    if product.added:  # The sign of a number is less work than that of a vector.
        found = [pair for pair in found if pair.one.shape is not None or pair.other.shape == ()]
    values = [each for each in factors if each.shape is not None]
    below = dict.fromkeys(product.divisors)
    found += [_Pair(x, y, True) for x in values for y in below if y.shape in ((), x.shape)]
    return found


def _may_be_one(one: _Factor, other: _Factor) -> bool:
    """Whether the product of two factors has the shape of each that is no number."""
    return one.shape == other.shape or _is_number(one) or _is_number(other)


def _is_number(factor: _Factor) -> bool:
    return factor.shape is None or factor.shape == ()


def _number(factor: _Factor) -> int:
    return factor.number


def _written(
    product: _Product,
    node: Node,
    instead: Mapping[Node, Node],
    written: dict[_Factor, Array],
) -> Node:
    def of(factor: _Factor) -> Array:
        if factor not in written:
            if factor.pair is not None:
                one, other, over = factor.pair
                minus = one.shape is None
                join = divide if over else multiply
                new = negative(of(other)) if minus else join(of(one), of(other))
            else:
                assert factor.value is not None
                new = Array(instead.get(factor.value, factor.value))
            written[factor] = new
        return written[factor]

    factors = [each for each in product.factors if each.shape is not None]
    below = list(map(of, product.divisors))
    if product.added:
        vectors = [of(each) for each in factors if each.shape != ()]
        inner = _inner_product(vectors, [each for each in below if each.ndim])
        above = [inner, *[of(each) for each in factors if each.shape == ()]]
        below = [each for each in below if not each.ndim]
    else:
        above = list(map(of, factors))
    whole = reduce(divide, below, reduce(multiply, above))
    if len(factors) < len(product.factors):
        whole = negative(whole)
    return (whole if whole.shape == node.shape else reshape(whole, node.shape)).node


def _inner_product(vectors: Sequence[Array], below: Sequence[Array]) -> Array:
    """The sum of the elements of the product of vectors, over others."""
    *rest, last = vectors
    if not rest:
        return total(reduce(divide, below, last))
    return matmul(reduce(divide, below, reduce(multiply, rest)), last)
