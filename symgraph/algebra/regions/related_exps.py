r"""Exponentials whose exponents differ by logarithms are written over one of them.

$e^{-(l/v - v/2)^2/2} = e^{-(l/v + v/2)^2/2} x$ where $l = \log x$: the exponents, opened, differ by
l. So the two normal densities in the gradient of a Black-Scholes price cancel. Exponents are
compared over the inputs; their numbers may be rounded, such as 0.7071 for the root of 1/2. They may
also differ by a number, as where one density is $e^{-z^2/2} / \sqrt{2 \pi}$ and the other is
$e^{-z^2/2 - \log \sqrt{2 \pi}}$.
"""

from __future__ import annotations

from math import exp, isclose

from ...ir.node import Node
from ...ops.elementwise import add, subtract
from ..expression.applied import named
from ..expression.atoms import one
from ..expression.exact_numbers import Coef, times
from ..expression.term import EXP, LEAF, LOG, ONE, SUM, Atom, Expr, Term, added
from ..normal_form.factors import LONGEST, Factors, Product, RawFactor, is_lazy
from .memory import RegionMemory
from .regions import EXPONENTIALS

__all__ = ["RelatedExps", "exp_over_another", "has_shifted_exponent"]

_SUMS = (add.op, subtract.op)

_MOST = 4 * LONGEST
"""The most products that an exponent is opened to, and the most factors and sums of each."""

_FAR = 3.0
"""Exponents that differ by a larger number keep it, for the range's sake."""

_ROUNDED = 1e-15
"""Relative difference of two numbers that are one number, rounded."""


@named
def exp_over_another(base: Factors, ratio: Factors) -> Factors:
    r"""$e^y = c e^x$ where $y - x = \log c$."""
    return [*base, *ratio]


def has_shifted_exponent(node: Node) -> bool:
    """Whether the node is the exponential of a sum with a number."""
    if node.op not in EXPONENTIALS:
        return False
    exponent = node.operands[0]
    return exponent.op in _SUMS and any(each.is_constant for each in exponent.operands)


class RelatedExps:
    """Expressions over fewer exponentials.

    Parameters
    ----------
    memory : RegionMemory
        With the expressions of arrays, to see into exponents.
    opens : bool
        Whether exponents are compared over the inputs. Without it they are compared as they stand,
        which shows numbers by which they differ, but hardly a logarithm.
    """

    def __init__(self, memory: RegionMemory, *, opens: bool) -> None:
        self.normal = memory.lifter.normal
        self.memory = memory
        self.opens = opens

    def options(self, expr: Expr) -> list[Expr]:
        """The expression with exponentials over one another, also with its sums expanded."""
        found = self._merged(expr)
        opened = self.normal.expanded(found) if found else None
        return [each for each in (found, opened) if each is not None]

    def _merged(self, expr: Expr) -> Expr | None:
        """The expression with exponentials over one another; None if none are related."""
        if len(expr) < 2 and _number_with_exps(expr) < 2:
            return None
        parts = self._parts(expr)
        if parts is None or sum([_has_exp(factors) for _, factors, _ in parts]) < 2:
            return None
        bases: list[tuple[Expr, Factors]] = []
        done: list[tuple[Term, Coef]] = []
        found = False
        for coef, factors, bound in parts:
            exps = [slot for slot in factors if slot[0].kind == EXP]
            exponent = self._exponent(exps) if exps and not bound else None
            related = exponent is not None and self._over_a_base(exponent, bases)
            if related:
                found = True
                by, over = related
                rest = [slot for slot in factors if slot[0].kind != EXP]
                coef, factors = times(coef, by), [*rest, *over]
            elif exponent is not None:
                bases.append((exponent, exps))
            done.extend(self.normal.product(coef, factors, bound).items())
        if not found:
            return None
        return self.normal.fewest_terms(added(done))

    def _parts(self, expr: Expr) -> list[Product] | None:
        """The terms as products, sums of exponentials multiplied out; None if they are many."""
        queue, found = list(expr.items()), list[Product]()
        while queue:
            if len(queue) + len(found) > LONGEST:
                return None
            term, coef = queue.pop(0)
            factors, bound = self.normal.opened_term(term)
            lazy = next(
                (f for f in factors if is_lazy(f) and _number_with_exps(f[0].expr) > 1), None
            )
            if lazy is None:
                product: Product = (coef, [], bound)
                for slot in factors:
                    product = _times(product, self._with_exps(slot))
                found.append(product)
                continue
            for inner, by in self.normal.instance(lazy).items():
                more, inner_bound = self.normal.opened_term(inner)
                rest = [slot for slot in factors if slot is not lazy]
                made = self.normal.product(times(coef, by), [*rest, *more], bound | inner_bound)
                queue.extend(made.items())
        return found

    def _with_exps(self, slot: RawFactor) -> Product:
        """An array as a product with an exponential, if it is one."""
        inside = self._inside(slot) if slot[2] == 1 else None
        if inside is not None and len(inside) == 1:
            (found,) = self._products(inside)
            if _has_exp(found[1]) and not found[2]:
                return found
        return one, [slot], {}

    def _inside(self, slot: RawFactor) -> Expr | None:
        """The expression of an array, at the factor's indices; None if it has none."""
        atom, idx, _ = slot
        if atom.kind != LEAF or atom.base is not None:
            return None
        known = self.memory.expression(atom.node)
        return self.normal.substituted(known, dict(enumerate(idx))) if known else None

    def _exponent(self, exps: Factors) -> Expr | None:
        """The exponent of a product of exponentials, opened; None if it is long."""
        found = added(
            [
                (term, times(coef, slot[2]))
                for slot in exps
                for term, coef in self.normal.instance(slot).items()
            ]
        )
        return self._kept(frozenset(found.items()), found) if self.opens else found

    def _kept(self, key: Node | frozenset[tuple[Term, Coef]], expr: Expr) -> Expr | None:
        """The opened expression; made once, but where a licence counts how often it is used."""
        opened = self.memory.opened
        if key not in opened or self.memory.licence is not None:
            opened[key] = self._opened(expr)
        return opened[key]

    def _over_a_base(
        self, exponent: Expr, bases: list[tuple[Expr, Factors]]
    ) -> tuple[Coef, Factors] | None:
        """The exponential as a number times a base and factors; None if it is related to none."""
        for known, exps in bases:
            ratio = self._exp_of_difference(exponent, known)
            if ratio is not None:
                return ratio[0], exp_over_another(exps, ratio[1])
        return None

    def _exp_of_difference(self, exponent: Expr, known: Expr) -> tuple[Coef, Factors] | None:
        """exp(exponent - known), if that is a number and a sum of multiples of logarithms."""
        number: Coef = one
        found: Factors = []
        for term in {**exponent, **known}:
            a, b = exponent.get(term, 0), known.get(term, 0)
            if isclose(a, b, rel_tol=_ROUNDED):
                continue
            if term == ONE and abs(a - b) <= _FAR:
                number = exp(a - b)
                continue
            by = round(a - b)
            if not isclose(a - b, by, rel_tol=_ROUNDED) or by == 0 or term.bound:
                return None
            if len(term.factors) != 1 or term.factors[0].atom.kind != LOG:
                return None
            ((log, idx, power),) = term.factors
            if power != 1 or not (log.total or log.granted()):
                return None
            inside = self.normal.power(self.normal.instance((log, idx, one)), by * one)
            if inside is None or len(inside) != 1:
                return None
            ((product, coef),) = inside.items()
            if product.bound or coef != 1:
                return None
            found.extend((f.atom, f.idx, f.power) for f in product.factors)
        return number, found

    # -- exponents over the inputs -----------------------------------------------------------------
    def _opened(self, expr: Expr) -> Expr | None:
        """The expression over the inputs, without sums as factors; None if it grows too long."""
        done: list[tuple[Term, Coef]] = []
        for term, coef in expr.items():
            factors, bound = self.normal.opened_term(term)
            products: list[Product] = [(coef, [], bound)]
            for slot in factors:
                by = self._alternatives(slot)
                if by is None or len(by) * len(products) > _MOST:
                    return None
                products = [_times(a, b) for a in products for b in by]
                # A recurrence that squares or divides doubles them at each step.
                if any(len(a) + len(b) > _MOST for _, a, b in products):
                    return None
            for product in products:
                done.extend(self.normal.product(*product).items())
        found = added(done)
        return found if len(found) <= _MOST else None

    def _alternatives(self, slot: RawFactor) -> list[Product] | None:
        """The products whose sum a factor is; None if they are many."""
        atom, idx, power = slot
        inside = self.array_opened(atom) if self._inside(slot) is not None else None
        if atom.kind == SUM and power in (1, 2):
            inside = self._opened(atom.expr)
            if inside is None:
                return None
        if inside is None:
            return [(one, [slot], {})]
        inside = self.normal.substituted(inside, dict(enumerate(idx)))
        if len(inside) == 1:
            raised = self.normal.power(inside, power)
            return [(one, [slot], {})] if raised is None else self._products(raised)
        if power == 1:
            return self._products(inside)
        if power == 2:
            return [_times(a, b) for a in self._products(inside) for b in self._products(inside)]
        return [(one, [slot], {})]

    def array_opened(self, atom: Atom) -> Expr | None:
        """The opened expression of an array, in its own indices; None if it is long."""
        known = self.memory.expression(atom.node)
        return self._kept(atom.node, known) if known else None

    def _products(self, expr: Expr) -> list[Product]:
        """The terms as products, their summed indices under fresh names."""
        return [(coef, *self.normal.opened_term(term)) for term, coef in expr.items()]


def _times(a: Product, b: Product) -> Product:
    return times(a[0], b[0]), [*a[1], *b[1]], a[2] | b[2]


def _has_exp(factors: Factors) -> bool:
    return any(atom.kind == EXP for atom, _, _ in factors)


def _number_with_exps(expr: Expr) -> int:
    """How many terms have exponentials, those of sums that are factors counted one by one."""
    found = 0
    for term in expr:
        lazy = [f for f in term.factors if f.atom.kind == SUM and f.power == 1]
        inside = sum([_number_with_exps(f.atom.expr) for f in lazy])
        found += max(inside, int(any(f.atom.kind == EXP for f in term.factors)))
    return found
