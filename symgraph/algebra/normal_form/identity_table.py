"""Identities of products, and the table that applies them until none fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from ...ir.op import Op
from ..expression.applied import named
from ..expression.exact_numbers import Coef, Rational, times
from ..expression.term import LEAF, Atom
from .arithmetic import Arithmetic
from .factors import Bound, Factors, Product, RawFactor, merged

__all__ = [
    "IdentityTable",
    "ProductIdentity",
    "Topic",
    "identity",
    "others",
    "power_over_higher_power",
    "without",
]

IdentityStep: TypeAlias = Callable[[Arithmetic, Factors, Bound], Product | None]
Topic: TypeAlias = "str | Op"
"""A kind of atom, or the operation that gives an array."""


class ProductIdentity(NamedTuple):
    """An identity of products.

    Parameters
    ----------
    name : str
        Its name in the log.
    about : tuple of str or Op
        The kinds and operations that must all occur among the factors.
    summed : bool
        Whether it needs an index that is summed over.
    step : callable
        Takes the factors of a product and its bound indices. Gives a product nearer to the normal
        form, or None where the identity does not apply.
    """

    name: str
    about: tuple[Topic, ...]
    summed: bool
    step: IdentityStep


def identity(*about: Topic, summed: bool = False) -> Callable[[IdentityStep], ProductIdentity]:
    """Make a function an identity of its name. Its docstring gives the equation."""

    def made(step: IdentityStep) -> ProductIdentity:
        return ProductIdentity(named(step).__name__, about, summed, step)

    return made


_MOST = 4096
"""The largest number of sets of topics that are cached."""


class IdentityTable:
    """Applies identities in order, from the first again after each success, until none applies.

    Parameters
    ----------
    identities : sequence of ProductIdentity
    """

    def __init__(self, identities: Sequence[ProductIdentity]) -> None:
        self.identities = tuple(identities)
        self._about: dict[tuple[frozenset[Topic], bool], tuple[ProductIdentity, ...]] = {}

    def __call__(self, normal: Arithmetic, coef: Coef, factors: Factors, bound: Bound) -> Product:
        """Normalise a product: merge powers, contract deltas, combine exps and closed sums."""
        while True:
            several = factors
            factors = merged(several)
            if len(factors) < len(several) and _meets_at_pole(several, factors):
                normal.applied.note(power_over_higher_power.__name__)
            for each in self.about(frozenset([slot[0].topic for slot in factors]), bool(bound)):
                found = each.step(normal, factors, bound)
                if found is not None:
                    normal.applied.note(each.name)
                    extra, factors, bound = found
                    coef = times(coef, extra)
                    break
            else:
                return coef, factors, bound

    def about(self, topics: frozenset[Topic], summed: bool) -> tuple[ProductIdentity, ...]:
        """The identities that may apply to factors of these topics."""
        found = self._about.get((topics, summed))
        if found is None:
            there: set[Topic] = {LEAF if isinstance(each, Op) else each for each in topics}
            there |= topics
            rows = [each for each in self.identities if there.issuperset(each.about)]
            found = tuple([each for each in rows if summed or not each.summed])
            if len(self._about) < _MOST:
                self._about[topics, summed] = found
        return found


@named
def power_over_higher_power(atom: Atom, power: Rational) -> bool:
    r"""$x^a / x^{a + b} = x^{-b}$ for positive a and b: at 0 infinite, and the left side is NaN."""
    return power < 0 and not atom.nonzero


def _meets_at_pole(before: Factors, after: Factors) -> bool:
    """Whether a power went that was above a higher one of something that may be 0."""
    above = {(atom, idx) for atom, idx, power in before if power > 0}
    gone = above - {(atom, idx) for atom, idx, power in after if power > 0}
    return any(
        (atom, idx) in gone and power_over_higher_power(atom, power) for atom, idx, power in after
    )


def others(factors: Factors, *gone: RawFactor) -> Factors:
    """The other factors."""
    return [slot for slot in factors if not any(slot is each for each in gone)]


def without(bound: Bound, gone: Iterable[int]) -> Bound:
    """The other indices that are summed over."""
    return {index: size for index, size in bound.items() if index not in gone}
