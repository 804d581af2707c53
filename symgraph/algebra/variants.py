"""Other products that a product is: with double angles, roots joined, parts that are there already.

None is shorter in itself; each may be, where a part of it is computed for another factor.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isfinite
from typing import NamedTuple

import numpy as np

from ..facts import nonnegative
from ..ir.node import Node
from .heads import Heads, one
from .labels import canonical_term
from .leaves import repeated_number
from .normalize import Normal
from .pieces import Piece, Spelling
from .powers import is_power, is_raised, lowered_power
from .regions import is_odd
from .slots import Factors, Slot
from .term import Coef, Rational, Term, coefficient, quotient

__all__ = ["Variants"]

_DEEP = 3
"""So many operations below a factor are looked at for a product that it is made of."""


class Variants:
    """Writes a term as other terms."""

    def __init__(self, normal: Normal, spelling: Spelling) -> None:
        self.normal = normal
        self.heads: Heads = normal.heads
        self.spelling = spelling

    def of(self, term: Term, coef: Coef) -> list[tuple[Term, Coef]]:
        """Terms that the term is, each times a number."""
        if len(term.factors) < 2:
            return []
        factors, bound = self.normal.opened_term(term)
        found: list[tuple[Factors, Coef]] = [
            *self._trigonometric(factors),
            *self._written_inside(factors, coef),
            *self._computed_anyway(factors),
            *self._raised_by_one(factors),
            *self._powers_joined(factors),
            *self._roots_joined(factors),
            *self._cancelled(factors),
        ]
        return [(canonical_term(each, bound), by) for each, by in found]

    def turned(self, term: Term) -> list[Term]:
        """The negative of the term, the sign taken up by a difference in one factor."""
        factors, bound = self.normal.opened_term(term)
        found: list[Term] = []
        for place, (head, idx, power) in enumerate(factors):
            back = (
                self._turned_leaf(head.node) if head.kind == "leaf" and power in (1, -1) else None
            )
            if back is not None:
                other: Slot = (self.heads.made(back), idx, power)
                found.append(canonical_term([*_without(factors, place), other], bound))
        return found

    def _turned_leaf(self, node: Node) -> Node | None:
        """-f(x - y) as f(y - x), -(x - y) as y - x."""
        inner = node.operands[0] if is_odd(node) else node
        if inner.op.name != "subtract":
            return None
        back = self.spelling.call("subtract", *inner.operands[::-1])
        if back.shape != inner.shape:
            return None
        return back if inner is node else self.spelling.call(node.op.name, back)

    def doubled(self, name: str, x: Node) -> Node:
        """The function called `name` of twice x."""
        return self.spelling.call(
            name, self.spelling.call("multiply", self.spelling.constant(2), x)
        )

    def _trigonometric(self, factors: Factors) -> list[tuple[Factors, Coef]]:
        """With sin(x) cos(x) as sin(2 x) / 2, or sin(x) / cos(x) as tan(x)."""
        found: list[tuple[Factors, Coef]] = []
        for slot in factors:
            pair = _PAIRS.get(_function_of(slot))
            if pair is None or slot[2] != 1:
                continue
            (x,) = slot[0].node.operands
            for other in factors:
                if _function_of(other) != pair.other or other[1] != slot[1]:
                    continue
                if other[0].node.operands[0] is not x:
                    continue
                rest = [each for each in factors if each is not slot and each is not other]
                if other[2] == 1:
                    head = self.heads.made(self.doubled(pair.name, x))
                    found.append(([*rest, (head, slot[1], 1)], Fraction(1, 2)))
                elif other[2] < 0 and other[2].denominator == 1:
                    head = self.heads.made(self.spelling.call(pair.quotient, x))
                    if other[2] != -1:
                        rest.append((other[0], other[1], other[2] + 1))
                    found.append(([*rest, (head, slot[1], 1)], 1))
        return found

    def _written_inside(self, factors: Factors, coef: Coef) -> list[tuple[Factors, Coef]]:
        """With a quotient or product that is written for another factor.

        (u - x / z) x / z**2 is (u - x / z) (x / z) / z, and 3 x sigmoid(3 x) has 3 x twice.
        """
        places = {slot[0].node: i for i, slot in enumerate(factors) if slot[0].kind == "leaf"}
        for inner in self._inside(factors):
            if inner in places:
                continue
            x, y = inner.operands
            left = list(factors)
            by: Coef = 1
            if y in places and inner.op.name == "multiply" and x.is_constant:
                number = coefficient(repeated_number(x)) if x.ndim == 0 else None
                if number is None or number == 0 or abs(coef) != abs(number):
                    continue
                used = ((y, one),)
                by = quotient(1, number)
            elif x is y or x not in places or y not in places:
                continue
            else:
                used = ((x, one), (y, -one if inner.op.name == "divide" else one))
            idx = factors[places[used[0][0]]][1]
            for array, step in used:
                head, at, power = left[places[array]]
                if power * step < 1 or power.denominator != 1 or at != idx:
                    break
                if array.shape != inner.shape:
                    break
                left[places[array]] = (head, at, power - step)
            else:
                rest = [slot for slot in left if slot[2] != 0]
                return [([*rest, (self.heads.made(inner), idx, 1)], by)]
        return []

    def _computed_anyway(self, factors: Factors) -> list[tuple[Factors, Coef]]:
        """With two factors as their product, which is computed for something else: c s (1 - s)."""
        if len(factors) < 3:
            return []
        places = {
            head.node: place
            for place, (head, idx, power) in enumerate(factors)
            if head.kind == "leaf" and power == 1 and len(idx) == head.node.ndim
        }
        for node, place in places.items():
            for whole in self.spelling.products.get(node, ()):
                other = next((each for each in whole.operands if each is not node), node)
                at = places.get(other, place)
                idx = factors[place][1]
                if at == place or node.shape != whole.shape:
                    continue
                if other.ndim and (factors[at][1] != idx or other.shape != node.shape):
                    continue
                if self.spelling.alive(whole):
                    left = [slot for i, slot in enumerate(factors) if i not in (place, at)]
                    return [([*left, (self.heads.made(whole), idx, one)], 1)]
        return []

    def _raised_by_one(self, factors: Factors) -> list[tuple[Factors, Coef]]:
        """With x times x**(a - 1) as x**a."""
        for place, (head, idx, power) in enumerate(factors):
            pair = lowered_power(head.node) if head.kind == "leaf" and power == 1 else None
            if pair is None:
                continue
            x, exponent = pair
            if not (is_raised(x, exponent, self.heads.knowledge) or head.granted()):
                continue
            for other, (base, at, up) in enumerate(factors):
                if base.kind == "leaf" and base.node is x and at == idx and up == 1:
                    whole = self.spelling.call("power", x, exponent)
                    left = [slot for i, slot in enumerate(factors) if i not in (place, other)]
                    return [([*left, (self.heads.made(whole), idx, one)], 1)]
        return []

    def _powers_joined(self, factors: Factors) -> list[tuple[Factors, Coef]]:
        """With x**y x**z as x**(y + z), by leave.

        Of a negative x both are numbers for whole y and z alone. Those are told from halves, and
        odd ones from even, as far as floats are that whole: to 2**53, or 2**24. Exponents are taken
        to be smaller unless it is known that they are not.
        """
        powers = [slot for slot in factors if is_power(slot[0]) and slot[2] in (1, -1)]
        for place, (head, idx, up) in enumerate(powers):
            for other, at, down in powers[place + 1 :]:
                (x, y), (base, z), shape = head.node.operands, other.node.operands, head.node.shape
                if x is not base or idx != at or other.node.shape != shape or not head.granted():
                    continue
                if self._may_lose_parity(x, y, z):
                    continue
                exponent = self.spelling.call("add" if up == down else "subtract", y, z)
                whole = self.heads.made(self.spelling.call("power", x, exponent))
                left = [each for each in factors if each[0] is not head and each[0] is not other]
                return [([*left, (whole, idx, up)], 1)] if whole.node.shape == shape else []
        return []

    def _may_lose_parity(self, x: Node, *exponents: Node) -> bool:
        """Whether the sum of exponents is known to be rounded from odd to even, for negative x."""
        known = self.heads.knowledge
        if known.of(x).has(nonnegative):
            return False
        sizes = [abs(bound) for each in exponents for bound in known.of(each).bounds]
        return 2 / np.finfo(x.dtype).eps < max(size for size in (0, *sizes) if isfinite(size))

    def _cancelled(self, factors: Factors) -> list[tuple[Factors, Coef]]:
        """With x (x y)**-2 as (x y)**-1 / y: x y is one array; at x = 0 neither is a number."""
        for place, (head, idx, power) in enumerate(factors):
            if power > -1 or head.rank >= 0 or head.node.op.name != "multiply":
                continue
            for x, y in (head.node.operands, head.node.operands[::-1]):
                if not x.shape == y.shape == head.node.shape or x is y:
                    continue
                for other, (top, at, up) in enumerate(factors):
                    if top.kind == "leaf" and top.node is x and at == idx and 1 <= up < -power:
                        left = [slot for i, slot in enumerate(factors) if i not in (place, other)]
                        below = self.heads.made(y)
                        more = [(head, idx, power + 1), (top, idx, up - 1), (below, idx, -one)]
                        return [([*left, *[slot for slot in more if slot[2] != 0]], 1)]
        return []

    def _inside(self, factors: Factors) -> Iterator[Node]:
        """Products and quotients that factors written for this region are made of."""
        level = [slot[0].node for slot in factors if slot[0].rank < 0]
        for _ in range(_DEEP):
            level = [each for node in level for each in node.operands]
            yield from [each for each in level if each.op.name in ("divide", "multiply")]
            level = [each for each in level if not self.spelling.alive(each)]

    def _roots_joined(self, factors: Factors) -> list[tuple[Factors, Coef]]:
        """With sqrt(x) sqrt(y) as sqrt(x y), sqrt(x) / sqrt(y) as sqrt(x / y), if given so.

        Not of one's own accord: x y may be infinite where its root is a number.
        """
        roots = [
            i
            for i, (head, _, power) in enumerate(factors)
            if power.denominator == 2 and head.kind == "leaf" and head.nonnegative
        ]
        for at, i in enumerate(roots):
            for j in roots[at + 1 :]:
                joined = self._root_of(factors[i], factors[j])
                if joined is not None:
                    rest = [slot for k, slot in enumerate(factors) if k not in (i, j)]
                    for head, idx, power in (factors[i], factors[j]):
                        left = power - (Fraction(1, 2) if power > 0 else Fraction(-1, 2))
                        if left != 0:
                            rest.append((head, idx, left.numerator))
                    return [([*rest, joined], 1)]
        return []

    def _root_of(self, a: Slot, b: Slot) -> Slot | None:
        """The root of the product or quotient of two arrays, if it is in the graph as given."""
        pieces = [self._piece(slot) for slot in (a, b)]
        if pieces[0] is None or pieces[1] is None:
            return None
        x, y = pieces
        assert x is not None
        assert y is not None
        options: list[tuple[str, Piece, Piece, Rational]]
        if (a[2] > 0) == (b[2] > 0):
            sign = one if a[2] > 0 else -one
            options = [("multiply", x, y, sign), ("multiply", y, x, sign)]
        else:
            top, bottom = (x, y) if a[2] > 0 else (y, x)
            options = [("divide", top, bottom, one), ("divide", bottom, top, -one)]
        for name, left, right, power in options:
            root = self.spelling.unary("sqrt", self.spelling.binary(name, left, right))
            if self.spelling.alive(root.node) or self.spelling.given(root.node):
                return (self.heads.made(root.node), root.names, power)
        return None

    def _piece(self, slot: Slot) -> Piece | None:
        head, idx, _ = slot
        if len(set(idx)) < len(idx):
            return None
        labels: list[int | None] = [None] * head.node.ndim
        for place, axis in enumerate(head.axes):
            labels[axis] = idx[place]
        self.spelling.sizes.update(zip(idx, head.sizes, strict=True))
        return Piece(head.node, tuple(labels))


def _without(factors: Factors, place: int) -> Factors:
    return [slot for i, slot in enumerate(factors) if i != place]


class _Pair(NamedTuple):
    """A function whose product with `other` is half of it at twice the argument."""

    name: str
    other: str
    quotient: str


_PAIRS = {"sin": _Pair("sin", "cos", "tan"), "sinh": _Pair("sinh", "cosh", "tanh")}


def _function_of(slot: Slot) -> str:
    """The name of the operation that gives the factor, "" if it is no array of the graph."""
    return slot[0].node.op.name if slot[0].kind == "leaf" else ""
