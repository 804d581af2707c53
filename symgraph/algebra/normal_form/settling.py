"""What an identity of products is, and how a product is brought to normal form by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from ...ir.op import Op
from ..expression.applied import named
from ..expression.term import LEAF, Coef, Head, Rational, times
from .arithmetic import Arithmetic
from .factors import Bound, Factors, Product, Slot, merged

__all__ = ["Identity", "Settling", "Topic", "identity", "others", "without"]

Step: TypeAlias = Callable[[Arithmetic, Factors, Bound], Product | None]
Topic: TypeAlias = "str | Op"
"""A kind of head, or the operation that gives an array."""


class Identity(NamedTuple):
    """An identity of products.

    Parameters
    ----------
    name : str
        As the log tells it.
    about : tuple of str or Op
        What must all be among the factors.
    summed : bool
        Whether it is about an index that is summed over.
    step : callable
        Given the factors of a product and the indices that are summed over, it gives a product
        nearer to the normal form, or None where it does not apply.
    """

    name: str
    about: tuple[Topic, ...]
    summed: bool
    step: Step


def identity(*about: Topic, summed: bool = False) -> Callable[[Step], Identity]:
    """The function as an identity, under its name and the equation of its docstring."""

    def made(step: Step) -> Identity:
        return Identity(named(step).__name__, about, summed, step)

    return made


_MOST = 4096
"""Sets of kinds and operations that are remembered."""


class Settling:
    """Applies the identities of a table in its order, until none does.

    Parameters
    ----------
    identities : sequence of Identity
    """

    def __init__(self, identities: Sequence[Identity]) -> None:
        self.identities = tuple(identities)
        self._about: dict[tuple[frozenset[Topic], bool], tuple[Identity, ...]] = {}

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

    def about(self, topics: frozenset[Topic], summed: bool) -> tuple[Identity, ...]:
        """The identities that may apply to factors of these kinds and operations."""
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
def power_over_higher_power(head: Head, power: Rational) -> bool:
    r"""$x^a / x^{a + b} = x^{-b}$ for positive a and b: at 0 infinite, and the left side is NaN."""
    return power < 0 and not head.nonzero


def _meets_at_pole(before: Factors, after: Factors) -> bool:
    """Whether a power went that was above a higher one of something that may be 0."""
    above = {(head, idx) for head, idx, power in before if power > 0}
    gone = above - {(head, idx) for head, idx, power in after if power > 0}
    return any(
        (head, idx) in gone and power_over_higher_power(head, power) for head, idx, power in after
    )


def others(factors: Factors, *gone: Slot) -> Factors:
    """The other factors."""
    return [slot for slot in factors if not any(slot is each for each in gone)]


def without(bound: Bound, gone: Iterable[int]) -> Bound:
    """The other indices that are summed over."""
    return {index: size for index, size in bound.items() if index not in gone}
