"""The contents of a term or a closed atom, with indices renamed."""

from __future__ import annotations

from ..expression.exact_numbers import Coef, times
from ..expression.term import EXP, LOG, SUM, Expr, Term, added, free_indices, scaled
from .arithmetic import Arithmetic
from .factors import Bound, Factors, RawFactor, renamed_factor

__all__ = ["instance", "opened_term", "reclosed", "substituted"]


def opened_term(normal: Arithmetic, term: Term) -> tuple[Factors, Bound]:
    """The factors of a term, with fresh names for its bound indices."""
    if not term.bound:
        return [*term.factors], {}
    names = {-1 - place: normal.atoms.fresh() for place in range(len(term.bound))}
    bound = {names[-1 - place]: size for place, size in enumerate(term.bound)}
    factors: Factors = [
        (f.atom, tuple([names.get(index, index) for index in f.idx]), f.power) for f in term.factors
    ]
    return factors, bound


def instance(normal: Arithmetic, slot: RawFactor) -> Expr:
    """The expression inside a factor's atom, at the factor's indices."""
    atom, idx, _ = slot
    return normal.substituted(atom.expr, dict(enumerate(idx)))


def substituted(normal: Arithmetic, expr: Expr, names: dict[int, int]) -> Expr:
    """The expression with free indices renamed. Several may get the same name."""
    if not names:
        return expr
    values = [names.get(index, index) for index in free_indices(expr)]
    if len(set(values)) == len(values):
        return normal.atoms.renamed(expr, names)
    parts: list[tuple[Term, Coef]] = []
    for term, coef in expr.items():
        factors, bound = normal.opened_term(term)
        renamed: Factors = []
        for slot in factors:
            by, flat = reclosed(normal, renamed_factor(slot, names))
            coef, renamed = times(coef, by), renamed + flat
        parts.extend(normal.product(coef, renamed, bound).items())
    return added(parts)


def reclosed(normal: Arithmetic, slot: RawFactor) -> tuple[Coef, Factors]:
    """Rebuild a factor after two of its indices were identified."""
    atom, idx, power = slot
    if atom.kind not in (SUM, EXP, LOG) or len(set(idx)) == len(idx):
        return 1, [slot]
    inner = normal.instance(slot)
    if atom.kind == EXP:
        return normal.exp_factors(scaled(inner, power))
    if not inner:
        return (0, []) if atom.kind == SUM and power > 0 else (1, [slot])
    if atom.kind == SUM:
        raised = normal.power(inner, power)
        if raised is not None and len(raised) == 1 and not next(iter(raised)).bound:
            ((term, coef),) = raised.items()
            return coef, [(f.atom, f.idx, f.power) for f in term.factors]
    closed, new = normal.atoms.closed(atom.kind, inner)
    return 1, [(closed, new, power)]
