"""The expressions of one value over which its region is written on trial: the cheapest is kept."""

from __future__ import annotations

from contextlib import suppress

from ..expression.term import Expr
from .lowered_powers import power_as_quotient, powers_raised
from .node_forms import NodeForms
from .related_exps import RelatedExps, exp_over_another

__all__ = ["options"]


def options(
    forms: NodeForms, related_exps: RelatedExps | None, expr: Expr, *, thorough: bool, late: bool
) -> tuple[list[Expr], list[tuple[Expr, str]]]:
    """The expression, also with sums expanded, and over products that are computed anyway.

    Parameters
    ----------
    forms : NodeForms
    related_exps : RelatedExps, optional
    expr : Expr
    thorough : bool
        Whether to try rare forms, too.
    late : bool
        Whether values with other users are arrays in the expression. Then only products of these
        that are computed anyway are looked for.

    Returns
    -------
    list of Expr
    list of Expr and str
        Those that rest on the insides of arrays, and the identity behind each.
    """
    normal, contractions, alive = forms.lifter.normal, forms.contractions, forms.use_counts.alive
    found = [expr]
    if late:
        with suppress(OverflowError):
            given = contractions.with_products(expr, alive)
            if given is not expr:
                found.append(given)
        return found, []
    told: list[tuple[Expr, str]] = []
    with suppress(OverflowError):
        opened = normal.expanded(expr)
        if opened is not None:
            found.append(contractions.recalled(opened))
    if not thorough:
        return found, told
    with suppress(OverflowError):
        given = contractions.with_products(expr, alive)
        if given is not expr:
            found.append(given)
        rare = [
            normal.over_one_divisor(expr),
            normal.over_one_divisor_inside(expr),
            normal.reciprocals_distributed(expr),
        ]
        higher = powers_raised(forms, expr)
        rare.append(contractions.uncut(expr))
        merged = related_exps.options(expr) if related_exps else []
        told = [(each, exp_over_another.__name__) for each in merged]
        told += [(each, power_as_quotient.__name__) for each in higher]
        found.extend([*higher, *[each for each in rare if each], *merged])
    return found, told
