"""Values that are polynomials, or quotients of polynomials, in one array.

The derivative of a polynomial in Horner's form (Knuth, TAOCP 2, 4.6.4) has like terms in different
values, which are together too long for one region. Here these terms merge. Products of sums are not
multiplied out, for (x - 1)**7 keeps digits near 1 that the sum of powers of x loses; only sums over
one denominator are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from ...ir.node import Node
from ..expression.atoms import AtomTable
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import Coef, coefficient, is_exact, plus, quotient, rational, times
from ..expression.leaf_terms import repeated_number, stretched
from ..expression.term import SUM, Expr
from ..normal_form.factors import Factors
from .arithmetic import is_rational, value_of

__all__ = ["Polynomials"]

_HIGHEST = 24
"""Higher powers are left as they are written, but the square of a polynomial may have them."""

Coefs: TypeAlias = Mapping[int, Coef]
"""The coefficient of each power of the array."""


class PolynomialRatio(NamedTuple):
    """A sum of powers of an array, each over a power of one polynomial.

    Parameters
    ----------
    array : Node, optional
        None if the value is a number.
    terms : dict
        Coefficients, by the power of the array and that of the denominator.
    below : tuple
        The denominator, as pairs of power and coefficient.
    """

    array: Node | None
    terms: Mapping[tuple[int, int], Coef]
    below: tuple[tuple[int, Coef], ...] = ()

    @property
    def depth(self) -> int:
        """The highest power of the denominator."""
        return max(depth for _, depth in self.terms)

    @property
    def degree(self) -> int:
        """The highest power of the numerator over one denominator."""
        degree, depth = max([power for power, _ in self.below], default=0), self.depth
        return max(power + degree * (depth - level) for power, level in self.terms)


class FactoredForm(NamedTuple):
    """The product of a number, a power of x, and powers of polynomials in x."""

    coef: Coef
    power: int
    factors: tuple[tuple[Coefs, int], ...]

    @property
    def operations(self) -> int:
        """The number of operations that compute it."""
        parts = [_operations(coefs) + (power not in (1, -1)) for coefs, power in self.factors]
        parts.extend([int(self.power > 1)] if self.power else [])
        above = bool(self.power) + sum(power > 0 for _, power in self.factors)
        scaled = self.coef not in (1, -1) and above > 0
        return sum(parts) + len(parts) - (above > 0) + scaled


class Polynomials:
    """Finds the values that are polynomials, or quotients of them, in one array."""

    def __init__(self, atoms: AtomTable) -> None:
        self._atoms = atoms
        self._known: dict[Node, PolynomialRatio] = {}

    def learn(self, node: Node) -> None:
        """Find the polynomial of a value. Its operands must have been learned before."""
        if node in self._known:
            return
        found = None
        with suppress(OverflowError):  # a coefficient may overflow
            found = self._found(node)
        self._known[node] = found or PolynomialRatio(node, {(1, 0): 1})

    def shorter(self, node: Node, count: int) -> list[tuple[Node, FactoredForm]]:
        """Forms of a value that take fewer operations than `count`, each with its array."""
        found = self._known[node]
        if found.array is None or found.array is node or len(found.terms) < 2:
            return []
        with suppress(OverflowError):
            above = _numerator(found)
            # Terms that cancel give 0 only where they are numbers.
            total = 0 not in above.values() or self._atoms.leaf(found.array).total
            if not total and not self._atoms.granted():
                return []
            forms = _forms(found, {power: coef for power, coef in above.items() if coef != 0})
            return [(found.array, form) for form in forms if form.operations < count]
        return []

    def reaches(self, node: Node) -> bool:
        """Whether a value is a polynomial in an array that is not one of its operands."""
        array = self._known[node].array
        return array is not None and array is not node and array not in node.operands

    def written(self, array: Node, form: FactoredForm) -> Expr:
        """The form as an expression."""
        atom = self._atoms.leaf(array)
        idx = tuple(range(len(atom.sizes)))

        def powers(coefs: Coefs) -> Expr:
            return {
                canonical_term([(atom, idx, power)] if power else [], {}): coef
                for power, coef in coefs.items()
            }

        if form.factors and form.factors[0][1] == 1 and len(form.factors) == 1 and not form.power:
            return powers(form.factors[0][0])
        factors: Factors = [(atom, idx, form.power)] if form.power else []
        for coefs, power in form.factors:
            factors.append((*self._atoms.closed(SUM, powers(coefs)), power))
        return {canonical_term(factors, {}): form.coef}

    def _found(self, node: Node) -> PolynomialRatio | None:
        number = repeated_number(stretched(node))
        if number is not None and number.dtype.kind in "iuf":
            value = coefficient(number)
            return (
                None if value is None else PolynomialRatio(None, {(0, 0): value} if value else {})
            )
        if not is_rational(node.op) or node.copy or node.dtype.kind != "f":
            return None
        operands = [self._known[each] for each in node.operands]
        arrays = {each.array for each in operands if each.array is not None}
        if len(arrays) != 1 or any(array.shape != node.shape for array in arrays):
            return None
        found = value_of(_FIELD, node.op, operands)
        if found is None or any(power > _HIGHEST for power, _ in found.terms):
            return None
        if found.terms and found.degree > 2 * _HIGHEST:
            return None  # In a loop of many steps each sum would be longer than the one before.
        return found._replace(array=arrays.pop())


# -- forms -----------------------------------------------------------------------------------------
def _numerator(ratio: PolynomialRatio) -> Coefs:
    """The numerator over one denominator. Terms that cancel stay, with the coefficient 0."""
    below, depth = dict(ratio.below), ratio.depth
    lowest = min(level for _, level in ratio.terms)
    above: Coefs = {}
    raised: Coefs = {0: 1}
    for level in range(depth, lowest - 1, -1):
        part = {power: coef for (power, at), coef in ratio.terms.items() if at == level}
        above = _added(above, _multiplied(part, raised))
        raised = _multiplied(raised, below) if level > lowest else raised
    return above


def _forms(ratio: PolynomialRatio, above: Coefs) -> Iterator[FactoredForm]:
    """The value over one denominator: as a sum of powers, and as a square if it is one."""
    under = ((dict(ratio.below), -ratio.depth),) if ratio.depth else ()
    if len(above) == 1:
        ((power, coef),) = above.items()
        yield FactoredForm(coef, power, under)
    elif above:
        if max(above) <= _HIGHEST:
            yield FactoredForm(1, 0, ((above, 1), *under))
        square = _square_root(above)
        if square is not None:
            yield FactoredForm(square.coef, square.power, (*square.factors, *under))


def _operations(coefs: Coefs) -> int:
    """The number of operations of Horner's scheme; a power counts as one."""
    powers = sorted(coefs)
    steps = [b - a for a, b in zip([0, *powers], powers, strict=False)]
    scaled = coefs[powers[-1]] not in (1, -1)
    return len(powers) - 1 + sum(1 + (step > 1) for step in steps if step) + scaled


def _square_root(coefs: Coefs) -> FactoredForm | None:
    """The polynomial as c x**k q**2; None if it is not of this form."""
    low, high = min(coefs), max(coefs)
    if (high - low) % 2 or not all(map(is_exact, coefs.values())):
        return None
    half = (high - low) // 2
    lead = coefs[high]
    monic = [Fraction(coefs.get(high - i, 0)) / Fraction(lead) for i in range(high - low + 1)]
    root: list[Fraction] = [Fraction(1)]
    for i in range(1, half + 1):
        known = sum((root[j] * root[i - j] for j in range(1, i)), Fraction(0))
        root.append((monic[i] - known) / 2)
    found = {half - i: rational(value) for i, value in enumerate(root) if value != 0}
    squared = _multiplied(found, found)
    whole = {low + power: times(coef, lead) for power, coef in squared.items() if coef != 0}
    return (
        FactoredForm(lead, low, ((found, 2),)) if whole == dict(coefs) and len(found) > 1 else None
    )


def _multiplied(a: Coefs, b: Coefs) -> dict[int, Coef]:
    found: dict[int, Coef] = {}
    for i, c in a.items():
        for j, d in b.items():
            part = times(c, d)
            found[i + j] = plus(found[i + j], part) if i + j in found else part
    return found


def _added(a: Coefs, b: Coefs) -> dict[int, Coef]:
    total = dict(a)
    for power, coef in b.items():
        total[power] = plus(total[power], coef) if power in total else coef
    return total


# -- arithmetic ------------------------------------------------------------------------------------
class _Univariate:
    """Arithmetic of quotients over powers of one polynomial. Sums are not multiplied out."""

    def sum(self, a: PolynomialRatio, b: PolynomialRatio) -> PolynomialRatio | None:
        total = dict(a.terms)
        for key, coef in b.terms.items():
            total[key] = plus(total[key], coef) if key in total else coef
        # x - x is not 0 where x is infinite. Regions cancel it if facts allow.
        return None if 0 in total.values() else _over(a, b, total)

    def negative(self, a: PolynomialRatio) -> PolynomialRatio:
        return a._replace(terms={key: times(coef, -1) for key, coef in a.terms.items()})

    def product(self, a: PolynomialRatio, b: PolynomialRatio) -> PolynomialRatio | None:
        if len(a.terms) > 1 and len(b.terms) > 1:
            return None
        terms = {
            (i + k, j + m): times(c, d)
            for (i, j), c in a.terms.items()
            for (k, m), d in b.terms.items()
        }
        return _over(a, b, terms)

    def quotient(self, a: PolynomialRatio, b: PolynomialRatio) -> PolynomialRatio | None:
        if list(b.terms) == [(0, 0)]:
            return a._replace(terms={key: quotient(c, b.terms[0, 0]) for key, c in a.terms.items()})
        inverse = self.inverse(b)
        return None if inverse is None else self.product(a, inverse)

    def inverse(self, a: PolynomialRatio) -> PolynomialRatio | None:
        if a.below or len(a.terms) < 2:
            return None
        below = tuple(sorted((power, coef) for (power, _), coef in a.terms.items()))
        return PolynomialRatio(None, {(0, 1): 1}, below)

    def whole(self, a: PolynomialRatio) -> int | None:
        exponent = a.terms.get((0, 0))
        if list(a.terms) != [(0, 0)] or not isinstance(exponent, int):
            return None
        return exponent if 0 < abs(exponent) <= _HIGHEST else None


def _over(
    a: PolynomialRatio, b: PolynomialRatio, terms: Mapping[tuple[int, int], Coef]
) -> PolynomialRatio | None:
    """The terms over the common denominator; None if the two denominators differ."""
    if a.below and b.below and a.below != b.below:
        return None
    return PolynomialRatio(None, terms, a.below or b.below)


_FIELD = _Univariate()
