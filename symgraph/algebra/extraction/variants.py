"""Other ways to write a product: double angles, joined roots, and parts computed already.

None is shorter by itself. Each may be shorter if a part of it is computed for another factor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from math import isfinite
from typing import TypeAlias

import numpy as np

from ...facts import nonnegative, nonzero, positive
from ...ir.node import Node
from ...ir.op import Op
from ...ir.traits import Angle
from ...ops.elementwise import add, divide, multiply, sqrt, subtract
from ...ops.families import Function
from ...ops.powers import power as to_power
from ..expression.applied import named
from ..expression.atoms import AtomTable, one
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import Coef, Rational, coefficient, quotient
from ..expression.leaf_terms import repeated_number
from ..expression.powers import exponents_related, is_power, is_raised, lowered_power
from ..expression.roles import ANGLES, is_difference, is_odd, is_product, is_quotient
from ..expression.term import LEAF, Term
from ..normal_form.factors import Factors, RawFactor
from ..normal_form.identity_table import others
from ..normal_form.normalize import NormalForm
from .array_operations import ArrayOperations
from .indexed_arrays import IndexedArray

__all__ = ["Variants"]

Variant: TypeAlias = list[tuple[Factors, Coef]]
"""Other factors and a number whose product is the same."""

_DEEP = 3
"""How many operations below a factor are searched for a product that it contains."""


class Variants:
    """Rewrites a term as other terms of the same value."""

    def __init__(self, normal: NormalForm, spelling: ArrayOperations) -> None:
        self.normal = normal
        self.atoms: AtomTable = normal.atoms
        self.spelling = spelling

    def of(self, term: Term, coef: Coef) -> list[tuple[str, Term, Coef]]:
        """Other terms that equal the term, each with the name of an identity and a number."""
        if len(term.factors) < 2:
            return []
        factors, bound = self.normal.opened_term(term)
        return [
            (variant.__name__, canonical_term(each, bound), by)
            for variant in _variants_about(frozenset([slot[0].topic for slot in factors]))
            for each, by in variant(self, factors, coef)
        ]

    def turned(self, term: Term) -> list[Term]:
        """The negative of the term, with the sign absorbed by a difference in one factor."""
        factors, bound = self.normal.opened_term(term)
        found: list[Term] = []
        for place, (atom, idx, power) in enumerate(factors):
            if atom.kind != LEAF or power not in (1, -1):
                continue
            if power == -1 and not self.atoms.knowledge.of(atom.node).has(nonzero):
                continue  # Where a divisor is 0, its sign is that of the infinity.
            back = self._turned_leaf(atom.node)
            if back is not None:
                other: RawFactor = (self.atoms.made(back), idx, power)
                found.append(canonical_term([*_without(factors, place), other], bound))
        return found

    def _turned_leaf(self, node: Node) -> Node | None:
        """-f(x - y) as f(y - x), and -(x - y) as y - x; None for other values."""
        inner = node.operands[0] if is_odd(node) else node
        if not is_difference(inner):
            return None
        back = self.spelling.call(subtract, *inner.operands[::-1])
        if back.shape != inner.shape:
            return None
        return back if inner is node else self.spelling.applied(node.op, back)

    def doubled(self, angle: Angle, x: Node) -> Node:
        """The sine or cosine of 2 x."""
        twice = self.spelling.call(multiply, self.spelling.constant(2), x)
        return self.spelling.call(ANGLES[angle], twice)

    @named
    def sine_times_cosine(self, factors: Factors, coef: Coef) -> Variant:
        r"""$\sin x \cos x = \tfrac12 \sin 2x$, and the same for hyperbolic functions."""
        found: list[tuple[Factors, Coef]] = []
        for slot, other, x, sine in self._angles(factors):
            power = slot[2]
            if power == other[2] and abs(power) in (1, 2):
                atom = self.atoms.made(self.doubled(sine, x))
                left = [*others(factors, slot, other), (atom, slot[1], power)]
                found.append((left, Fraction(1, 2) ** power.numerator))
        return found

    @named
    def sine_over_cosine(self, factors: Factors, coef: Coef) -> Variant:
        r"""$\sin x / \cos x = \tan x$ and $\cos x / \sin x = 1 / \tan x$, also hyperbolic."""
        found: list[tuple[Factors, Coef]] = []
        for slot, other, x, sine in self._angles(factors):
            above, below = (slot, other) if other[2] < 0 else (other, slot)
            if above[2] == 1 and below[2] < 0 and below[2].denominator == 1:
                tangent = ANGLES[replace(sine, part="tangent")]
                rest = others(factors, slot, other)
                if below[2] != -1:
                    rest.append((below[0], below[1], below[2] + 1))
                atom = self.atoms.made(self.spelling.call(tangent, x))
                found.append(([*rest, (atom, slot[1], one if above is slot else -one)], 1))
        return found

    def _angles(self, factors: Factors) -> Iterator[tuple[RawFactor, RawFactor, Node, Angle]]:
        """Pairs of a sine and a cosine of one angle, with the angle and the kind of sine."""
        for slot in factors:
            sine = _angle_of(slot)
            if sine is None or sine.part != "sine":
                continue
            (x,) = slot[0].node.operands
            for other in factors:
                if _angle_of(other) != replace(sine, part="cosine") or other[1] != slot[1]:
                    continue
                if other[0].node.operands[0] is x:
                    yield slot, other, x, sine

    @named
    def product_written_inside(self, factors: Factors, coef: Coef) -> Variant:
        r"""$x \cdot y z^{-2} = (x / z) \cdot y z^{-1}$, if $x / z$ is written inside $y$.

        (u - x / z) x / z**2 is (u - x / z) (x / z) / z, and 3 x sigmoid(3 x) contains 3 x twice.
        """
        places = {slot[0].node: i for i, slot in enumerate(factors) if slot[0].kind == LEAF}
        for inner in self._inside(factors):
            if inner in places:
                continue
            x, y = inner.operands
            left = list(factors)
            by: Coef = 1
            if y in places and is_product(inner) and x.is_constant:
                number = coefficient(repeated_number(x)) if x.ndim == 0 else None
                if number is None or number == 0 or abs(coef) != abs(number):
                    continue
                used = ((y, one),)
                by = quotient(1, number)
            elif x is y or x not in places or y not in places:
                continue
            else:
                used = ((x, one), (y, one if is_product(inner) else -one))
            idx = factors[places[used[0][0]]][1]
            for array, step in used:
                atom, at, power = left[places[array]]
                if power * step < 1 or power.denominator != 1 or at != idx:
                    break
                if array.shape != inner.shape:
                    break
                left[places[array]] = (atom, at, power - step)
            else:
                rest = [slot for slot in left if slot[2] != 0]
                return [([*rest, (self.atoms.made(inner), idx, 1)], by)]
        return []

    @named
    def product_computed_anyway(self, factors: Factors, coef: Coef) -> Variant:
        r"""$x y z = (x y) z$, if $x y$ is computed anyway."""
        if len(factors) < 3:
            return []
        places = {
            atom.node: place
            for place, (atom, idx, power) in enumerate(factors)
            if atom.kind == LEAF and power == 1 and len(idx) == atom.node.ndim
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
                    return [([*left, (self.atoms.made(whole), idx, one)], 1)]
        return []

    @named
    def power_raised_by_one(self, factors: Factors, coef: Coef) -> Variant:
        r"""$x \cdot x^{a - 1} = x^a$."""
        for place, (atom, idx, power) in enumerate(factors):
            pair = lowered_power(atom.node) if is_power(atom) and power == 1 else None
            if pair is None:
                continue
            x, exponent = pair
            if not (is_raised(x, exponent, self.atoms.knowledge) or atom.granted()):
                continue
            for other, (base, at, up) in enumerate(factors):
                if base.kind == LEAF and base.node is x and at == idx and up == 1:
                    whole = self.spelling.call(to_power, x, exponent)
                    left = [slot for i, slot in enumerate(factors) if i not in (place, other)]
                    return [([*left, (self.atoms.made(whole), idx, one)], 1)]
        return []

    @named
    def powers_joined(self, factors: Factors, coef: Coef) -> Variant:
        r"""$x^y x^z = x^{y + z}$, by the licence to cancel.

        For a negative x both sides are numbers only if y and z are integers. Floats tell integers
        from halves, and odd from even ones, up to 2**53 or 2**24. Exponents are taken to be smaller
        unless they are known not to be.
        """
        powers = [slot for slot in factors if is_power(slot[0]) and slot[2] in (1, -1)]
        for place, (atom, idx, up) in enumerate(powers):
            for other, at, down in powers[place + 1 :]:
                (x, y), (base, z), shape = atom.node.operands, other.node.operands, atom.node.shape
                if x is not base or idx != at or other.node.shape != shape or not atom.granted():
                    continue
                if self._may_lose_parity(x, y, z):
                    continue
                exponent = self.spelling.call(add if up == down else subtract, y, z)
                whole = self.atoms.made(self.spelling.call(to_power, x, exponent))
                left = [each for each in factors if each[0] is not atom and each[0] is not other]
                return [([*left, (whole, idx, up)], 1)] if whole.node.shape == shape else []
        return []

    @named
    def power_of_quotient(self, factors: Factors, coef: Coef) -> Variant:
        r"""$x^a y^{-a} = (x / y)^a$, $x^a y^a = (x y)^a$, $x^a y^{1 - a} = y (x / y)^a$."""
        known = self.atoms.knowledge
        powers = [slot for slot in factors if is_power(slot[0]) and slot[2] in (1, -1)]
        powers = [slot for slot in powers if known.of(slot[0].node.operands[0]).has(positive)]
        for slot, beside in permutations(powers, 2):
            if slot[1] == beside[1]:
                more = self._as_one_power(slot, beside)
                if more:
                    left = [each for each in factors if each not in (slot, beside)]
                    return [([*left, *more], 1)]
        return []

    def _as_one_power(self, slot: RawFactor, beside: RawFactor) -> Factors:
        """Two powers as one with the exponent of the first, and a factor; none if that is none."""
        (x, a), (y, b) = slot[0].node.operands, beside[0].node.operands
        alike = slot[2] == beside[2]
        match exponents_related(a, b):
            case "the same":
                join, more = multiply if alike else divide, []
            case "opposite":
                join, more = divide if alike else multiply, []
            case "adding to 1" if alike and slot[2] == 1 and not is_difference(a):
                join, more = divide, [(self.atoms.made(y), beside[1], one)]
            case _:
                return []
        whole = self.spelling.call(to_power, self.spelling.call(join, x, y), a)
        if not whole.shape == slot[0].node.shape == beside[0].node.shape == y.shape:
            return []
        return [*more, (self.atoms.made(whole), slot[1], slot[2])]

    def _may_lose_parity(self, x: Node, *exponents: Node) -> bool:
        """Whether known bounds let rounding make an odd sum of exponents even, for negative x."""
        known = self.atoms.knowledge
        if known.of(x).has(nonnegative):
            return False
        sizes = [abs(bound) for each in exponents for bound in known.of(each).bounds]
        return 2 / np.finfo(x.dtype).eps < max(size for size in (0, *sizes) if isfinite(size))

    @named
    def product_cancelled(self, factors: Factors, coef: Coef) -> Variant:
        r"""$x (x y)^{-2} = (x y)^{-1} y^{-1}$, if $x y$ is one array."""
        for place, (atom, idx, power) in enumerate(factors):
            if power > -1 or atom.rank >= 0 or not is_product(atom.node):
                continue
            for x, y in (atom.node.operands, atom.node.operands[::-1]):
                if not x.shape == y.shape == atom.node.shape or x is y:
                    continue
                for other, (top, at, up) in enumerate(factors):
                    if top.kind == LEAF and top.node is x and at == idx and 1 <= up < -power:
                        left = [slot for i, slot in enumerate(factors) if i not in (place, other)]
                        below = self.atoms.made(y)
                        more = [(atom, idx, power + 1), (top, idx, up - 1), (below, idx, -one)]
                        return [([*left, *[slot for slot in more if slot[2] != 0]], 1)]
        return []

    def _inside(self, factors: Factors) -> Iterator[Node]:
        """Products and quotients inside the factors that were written for this region."""
        level = [slot[0].node for slot in factors if slot[0].rank < 0]
        for _ in range(_DEEP if level else 0):
            level = [each for node in level for each in node.operands]
            yield from [each for each in level if is_product(each) or is_quotient(each)]
            level = [each for each in level if not self.spelling.alive(each)]

    @named
    def roots_joined(self, factors: Factors, coef: Coef) -> Variant:
        r"""$\sqrt x \sqrt y = \sqrt{x y}$ and $\sqrt x / \sqrt y = \sqrt{x / y}$.

        Only if the graph has the root on the right. Otherwise it is not safe: x y may overflow
        where the product of the roots does not.
        """
        roots = [
            i
            for i, (atom, _, power) in enumerate(factors)
            if power.denominator == 2 and atom.kind == LEAF and atom.nonnegative
        ]
        for at, i in enumerate(roots):
            for j in roots[at + 1 :]:
                joined = self._root_of(factors[i], factors[j])
                if joined is not None:
                    rest = [slot for k, slot in enumerate(factors) if k not in (i, j)]
                    for atom, idx, power in (factors[i], factors[j]):
                        left = power - (Fraction(1, 2) if power > 0 else Fraction(-1, 2))
                        if left != 0:
                            rest.append((atom, idx, left.numerator))
                    return [([*rest, joined], 1)]
        return []

    def _root_of(self, a: RawFactor, b: RawFactor) -> RawFactor | None:
        """The root of the product or quotient of two arrays, if the graph has it."""
        pieces = [self._piece(slot) for slot in (a, b)]
        if pieces[0] is None or pieces[1] is None:
            return None
        x, y = pieces
        assert x is not None
        assert y is not None
        options: list[tuple[Function, IndexedArray, IndexedArray, Rational]]
        if (a[2] > 0) == (b[2] > 0):
            sign = one if a[2] > 0 else -one
            options = [(multiply, x, y, sign), (multiply, y, x, sign)]
        else:
            top, bottom = (x, y) if a[2] > 0 else (y, x)
            options = [(divide, top, bottom, one), (divide, bottom, top, -one)]
        for join, left, right, power in options:
            root = self.spelling.unary(sqrt, self.spelling.binary(join, left, right))
            if self.spelling.alive(root.node) or self.spelling.given(root.node):
                return (self.atoms.made(root.node), root.names, power)
        return None

    def _piece(self, slot: RawFactor) -> IndexedArray | None:
        atom, idx, _ = slot
        if len(set(idx)) < len(idx):
            return None
        labels: list[int | None] = [None] * atom.node.ndim
        for place, axis in enumerate(atom.axes):
            labels[axis] = idx[place]
        self.spelling.sizes.update(zip(idx, atom.sizes, strict=True))
        return IndexedArray(atom.node, tuple(labels))


def _without(factors: Factors, place: int) -> Factors:
    return [slot for i, slot in enumerate(factors) if i != place]


def _angle_of(slot: RawFactor) -> Angle | None:
    """The function of an angle that the factor is; None if it is another function."""
    return slot[0].node.op.traits.angle if slot[0].kind == LEAF else None


VARIANTS = (
    Variants.sine_times_cosine,
    Variants.sine_over_cosine,
    Variants.product_written_inside,
    Variants.product_computed_anyway,
    Variants.power_raised_by_one,
    Variants.power_of_quotient,
    Variants.powers_joined,
    Variants.roots_joined,
    Variants.product_cancelled,
)
"""All variants, in the order in which they are tried."""

_OF_ANGLES = (Variants.sine_times_cosine, Variants.sine_over_cosine)
_OF_POWERS = (Variants.power_raised_by_one, Variants.power_of_quotient, Variants.powers_joined)
"""Variants of terms that have such functions among their factors."""


@lru_cache(maxsize=4096)
def _variants_about(topics: frozenset[str | Op]) -> tuple[Callable[..., Variant], ...]:
    """The variants that may apply to factors of these topics."""
    traits = [each.traits for each in topics if isinstance(each, Op)]
    angles, powers = any(each.angle for each in traits), any(each.raises for each in traits)
    return tuple(
        [
            each
            for each in VARIANTS
            if (angles or each not in _OF_ANGLES) and (powers or each not in _OF_POWERS)
        ]
    )
