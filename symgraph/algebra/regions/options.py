"""The expressions of one value over which its region is written on trial: the cheapest is kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from ..expression.term import Expr
from .lowered_powers import power_as_quotient, powers_raised
from .node_forms import NodeForms
from .poles import may_get_new_pole
from .related_exps import RelatedExps, exp_over_another

__all__ = ["options"]


def options(
    forms: NodeForms,
    related_exps: RelatedExps | None,
    expr: Expr,
    *,
    thorough: bool,
    late: bool,
    bounded: bool = False,
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
    bounded : bool
        Whether infinity would become a number above: no option may have it in place of NaN.

    Returns
    -------
    list of Expr
    list of Expr and str
        Those that rest on the insides of arrays, and the identity behind each.
    """
    if late:
        return _late_options(forms, expr), []
    normal, contractions, alive = forms.lifter.normal, forms.contractions, forms.use_counts.alive
    found = [expr]
    told: list[tuple[Expr, str]] = []

    def tried(step: Callable[[Expr], Expr | None]) -> Expr | None:
        before = normal.applied.mark()
        new = step(expr)
        if bounded and may_get_new_pole(normal.applied.since(before), new):
            normal.applied.take_back(before)
            return None
        return new

    with suppress(OverflowError):
        opened = tried(normal.expanded)
        if opened is not None:
            found.append(contractions.recalled(opened))
    if not thorough:
        return found, told
    with suppress(OverflowError):
        given = contractions.with_products(expr, alive)
        if given is not expr:
            found.append(given)
        rare = [
            tried(normal.over_one_divisor),
            tried(normal.over_one_divisor_inside),
            tried(normal.reciprocals_distributed),
        ]
        higher = powers_raised(forms, expr)
        rare.append(tried(contractions.uncut))
        merged = related_exps.options(expr) if related_exps else []
        told = [(each, exp_over_another.__name__) for each in merged]
        told += [(each, power_as_quotient.__name__) for each in higher]
        found.extend([*higher, *[each for each in rare if each], *merged])
    return found, told


def _late_options(forms: NodeForms, expr: Expr) -> list[Expr]:
    """The expression over values that are computed anyway: their products, and sums distributed."""
    found = [expr]
    with suppress(OverflowError):
        given = forms.contractions.with_products(expr, forms.use_counts.alive)
        if given is not expr:
            found.append(given)
        apart = forms.lifter.normal.sums_distributed(expr)
        if apart is not None:
            found.append(apart)
    return found
