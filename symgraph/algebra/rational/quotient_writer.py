"""Quotients of polynomials written as expressions, with values as they are spelled now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...array import Array
from ...ir.node import Node
from ...ir.traits import Angle
from ...ops.elementwise import negative
from ...ops.exponential import sigmoid
from ..expression.atoms import AtomTable
from ..expression.canonical_indices import canonical_term
from ..expression.roles import ANGLES
from ..expression.term import SUM, Expr, added
from ..normal_form.factors import Factors, RawFactor
from .distinct import order
from .polynomial_ring import COSINE, SINE, Monomial, Poly, RingVariable, monic, variables
from .quotient_arithmetic import Quotient

__all__ = ["QuotientWriter", "function_of", "without_sign"]


class QuotientWriter:
    """Writes quotients.

    Parameters
    ----------
    atoms : AtomTable
    values : sequence of Node
        The values that the variables of the polynomials stand for, by number.
    """

    def __init__(self, atoms: AtomTable, values: Sequence[Node]) -> None:
        self._atoms = atoms
        self._values = values

    def written(self, ratio: Quotient, spelled: Mapping[Node, Node]) -> Expr:
        """The quotient as an expression, with values as they are `spelled` now."""

        def now(node: Node) -> Node:
            if node not in spelled and node.op is sigmoid.op:  # It was in an earlier graph.
                value, sign = without_sign(node.operands[0])
                return _sigmoid(spelled[value], sign)
            return spelled[node]

        coef, above = monic(ratio.above)
        factors: Factors = []
        for poly, power in ((above, 1), *[(poly, -power) for poly, power in ratio.below.values()]):
            expr = self._with_complement(poly, now) or self.expr(poly, now)
            if len(poly) > 1:
                factors.append((*self._atoms.closed(SUM, expr), power))
                continue
            ((term, _),) = expr.items()
            factors.extend((f.atom, f.idx, f.power * power) for f in term.factors)
        return {canonical_term(factors, {}): coef}

    def expr(self, poly: Poly, now: Callable[[Node], Node]) -> Expr:
        """A polynomial as an expression, with values as they are `now`."""
        expr: Expr = {}
        for monomial, coef in poly.items():
            expr[canonical_term(self._factors(monomial, now), {})] = coef
        return expr

    def _factors(self, monomial: Monomial, now: Callable[[Node], Node]) -> Factors:
        found: Factors = []
        for (number, kind), power in monomial:
            value = now(self._values[number])
            found.append(self._slot(function_of(kind, value) if kind else value, power))
        return found

    def _slot(self, node: Node, power: int) -> RawFactor:
        atom = self._atoms.leaf(node)
        return atom, tuple(range(len(atom.sizes))), power

    def _with_complement(self, poly: Poly, now: Callable[[Node], Node]) -> Expr | None:
        """A sum with y - y s(x) in it as one with y s(-x), which has digits where s is near 1.

        Of two sigmoids it is the larger one.
        """
        values = {each: now(self._values[each[0]]) for each in variables(poly) if not each[1]}
        found = [each for each in values if values[each].op is sigmoid.op and _met(poly, each)]
        if len(poly) < 3 or not found:
            return None
        top = min(found)
        for each in found:
            top = each if order(values[each], values[top], self._atoms.knowledge) > 0 else top
        value, pairs = values[top], _met(poly, top)
        argument, sign = without_sign(value.operands[0])
        opposite = _sigmoid(argument, -sign)
        rest = {m: by for m, by in poly.items() if m not in pairs and m not in pairs.values()}
        terms = list(self.expr(rest, now).items())
        for by in pairs.values():
            factors = [*self._factors(by, now), self._slot(opposite, 1)]
            terms.append((canonical_term(factors, {}), poly[by]))
        return added(terms)


def _met(poly: Poly, variable: RingVariable) -> dict[Monomial, Monomial]:
    """Monomials y s of the variable s, each with y, if that has the opposite coefficient."""
    found: dict[Monomial, Monomial] = {}
    for monomial, coef in poly.items():
        by = tuple([each for each in monomial if each != (variable, 1)])
        if len(by) < len(monomial) and poly.get(by, 0) == -coef:
            found[monomial] = by
    return found


def without_sign(node: Node) -> tuple[Node, int]:
    """A value without its sign, and the sign."""
    return (node.operands[0], -1) if node.op is negative.op and not node.copy else (node, 1)


def _sigmoid(node: Node, sign: int) -> Node:
    """The sigmoid of a value or of its negative."""
    return sigmoid(Array(node) if sign > 0 else -Array(node)).node


def function_of(kind: str, node: Node) -> Node:
    """The sine or cosine of a value."""
    return ANGLES[Angle(SINE if kind == SINE else COSINE)](Array(node)).node
