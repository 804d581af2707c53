r"""Powers $x^{a - 1}$ with an array as exponent, as $x^a / x$, where that may be shorter.

The algebra sees $x^{a - 1}$ as one array. So it neither meets $x^a$, which may be computed anyway,
nor $1 / x$, which other terms of a sum may share. $x^a$ leaves the range sooner than $x^{a - 1}$,
so the judge decides.
"""

from __future__ import annotations

from collections.abc import Callable

from ...array import Array
from ...facts import positive
from ...ir.node import Node, origin
from ...ops.powers import power
from ..expression.applied import named
from ..expression.exact_numbers import Coef, times
from ..expression.leaf_terms import leaf_expr
from ..expression.powers import lowered_power
from ..expression.term import LEAF, SUM, Atom, Expr, Term, added
from ..normal_form.factors import Factors, RawFactor, is_lazy
from ..normal_form.normalize import NormalForm
from .node_forms import NodeForms

__all__ = ["power_as_quotient", "powers_raised"]


def powers_raised(forms: NodeForms, expr: Expr) -> list[Expr]:
    """The expression with each $x^{a - 1}$ of a positive x as $x^a / x$, if there is one.

    Also with $x (1 + 1 / a)$ distributed, for the exponent of a root is $1 / a$; and only those
    whose $x^a$ is computed anyway, for another one may leave the range for nothing.
    """
    found = _with_powers_raised(forms, expr, lambda power: True)
    if found is None:
        return []
    apart = forms.lifter.normal.reciprocals_distributed(found)
    known = _with_powers_raised(forms, expr, forms.use_counts.alive)
    return [found, *[each for each in (apart, known) if each and each != found]]


def _with_powers_raised(forms: NodeForms, expr: Expr, may: Callable[[Node], bool]) -> Expr | None:
    parts: list[tuple[Term, Coef]] = []
    changed = False
    for term, coef in expr.items():
        raised = _raised(forms, term, coef, may)
        parts.extend([(term, coef)] if raised is None else raised.items())
        changed |= raised is not None
    return added(parts) if changed else None


def _raised(forms: NodeForms, term: Term, coef: Coef, may: Callable[[Node], bool]) -> Expr | None:
    """The term with each such power of it raised by one; None if it has none."""
    normal = forms.lifter.normal
    if not any(_lowered(f.atom) or f.atom.kind == SUM for f in term.factors):
        return None
    factors, bound = normal.opened_term(term)
    found: Factors = []
    changed = False
    for slot in factors:
        raise_one = _raised_inside if is_lazy(slot) else _raised_factor
        raised = raise_one(forms, slot, may)
        if raised is None:
            found.append(slot)
            continue
        number, more, inside = normal.as_product(raised)
        coef, bound, changed = times(coef, number), bound | inside, True
        found.extend(more)
    return normal.product(coef, found, bound) if changed else None


def _raised_inside(forms: NodeForms, slot: RawFactor, may: Callable[[Node], bool]) -> Expr | None:
    """The sum that is a factor, with such powers raised."""
    atom, idx, by = slot
    inner = _with_powers_raised(forms, atom.expr, may) if by == 1 else None
    return None if inner is None else forms.lifter.moved(inner, idx)


def _raised_factor(forms: NodeForms, slot: RawFactor, may: Callable[[Node], bool]) -> Expr | None:
    """x**(a - 1) as x**a / x; None if the factor is no such power."""
    atom, idx, by = slot
    normal, atoms = forms.lifter.normal, forms.lifter.atoms
    pair = _lowered(atom)
    if pair is None or by != 1 or not atoms.knowledge.of(pair[0]).has(positive):
        return None
    x, exponent = pair
    with origin(atom.node.origin):
        whole = power(Array(x), Array(exponent)).node
    if not may(whole):
        return None
    above = leaf_expr(atoms, whole)
    below = normal.power(forms.of(x) if x in forms.opened else leaf_expr(atoms, x), -1)
    if below is None:
        return None
    return forms.lifter.moved(power_as_quotient(normal, above, below), idx)


@named
def power_as_quotient(normal: NormalForm, power: Expr, reciprocal: Expr) -> Expr:
    r"""$x^{a - 1} = x^a / x$."""
    return normal.multiply(power, reciprocal)


def _lowered(atom: Atom) -> tuple[Node, Node] | None:
    """The array x and the exponent a, if the atom is x**(a - 1) and x a number or of its shape."""
    pair = lowered_power(atom.node) if atom.kind == LEAF and atom.base is None else None
    return pair if pair is not None and pair[0].shape in ((), atom.node.shape) else None
