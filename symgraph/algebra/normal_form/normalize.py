"""Arithmetic of expressions in normal form: the class that gathers its functions."""

from __future__ import annotations

from collections.abc import Callable

from ..expression.applied import AppliedIdentities
from ..expression.atoms import AtomTable
from .exponents import exp, exp_factors, log, power
from .index_renaming import instance, opened_term, substituted
from .products import (
    as_product,
    divided,
    expanded,
    multiply,
    product,
    product_distributed,
    reciprocals_distributed,
    sums_distributed,
)
from .sums import add, logistic_and_complement, over_one_divisor, over_one_divisor_inside, sum_over

__all__ = ["NormalForm"]


class NormalForm:
    """Arithmetic of expressions over one table of atoms.

    Its methods are functions of other modules. They call one another through this class, for a
    product holds sums and a sum holds products.

    Parameters
    ----------
    atoms : AtomTable
    is_last : callable
        Whether nothing is differentiated any more.

    Attributes
    ----------
    applied : AppliedIdentities
        The identities that were applied, for the log.
    """

    def __init__(self, atoms: AtomTable, is_last: Callable[[], bool]) -> None:
        self.atoms = atoms
        self.is_last = is_last
        self.applied = AppliedIdentities()
        self.trying = False

    opened_term = opened_term
    instance = instance
    substituted = substituted

    product = product
    as_product = as_product
    multiply = multiply
    divided = divided
    distributed = product_distributed
    expanded = expanded
    reciprocals_distributed = reciprocals_distributed
    sums_distributed = sums_distributed

    add = add
    sum_over = sum_over
    over_one_divisor = over_one_divisor
    over_one_divisor_inside = over_one_divisor_inside
    fewest_terms = logistic_and_complement

    power = power
    exp_factors = exp_factors
    exp = exp
    log = log
