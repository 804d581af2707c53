"""Variables in which a loop reduces: sums of floats keep their rounding errors small.

A lane of a vector adds at most 32 numbers before they are added to a total whose rounding errors
are kept and added at the end. So the error is at most (40 + log2 of the lanes) units of the sum of
the absolute values, however many there are.
"""

from __future__ import annotations

from ..records import record
from .operations import Reduction
from .readings import Reading
from .writer import Code, Value, is_float

__all__ = ["CHUNK", "Total", "started", "with_initial"]

CHUNK = 32
"""How many numbers a lane adds before they go to the total."""


@record
class Total:
    """Variables of a reduction, for numbers or for vectors of them.

    Parameters
    ----------
    reduction : Reduction
    kind : str
    width : int
    value : str
    lack : str
        Where the rounding errors of a sum are; empty if they are not kept.
    """

    reduction: Reduction
    kind: str
    width: int
    value: str
    lack: str = ""

    def add(self, c: Code, x: Value) -> None:
        """Take a number in (with rounding errors: Knuth's two-sum)."""
        total = c.get(self.value, self.kind, self.width)
        found = self.reduction.combine(c, total, x)
        c.set(self.value, found)
        if self.lack:
            lack = c.get(self.lack, self.kind, self.width)
            part = c.sub(found, total)
            error = c.add(c.sub(total, c.sub(found, part)), c.sub(x, part))
            c.set(self.lack, c.add(lack, error))

    def moved_to(self, c: Code, other: Total) -> None:
        """Add this total to another one, and begin again."""
        other.add(c, c.get(self.value, self.kind, self.width))
        c.set(self.value, self.reduction.neutral(c, self.kind, self.width))

    def result(self, c: Code) -> Value:
        """The number of all lanes; an infinite total lacks NaN, which is left out."""

        def combine(x: Value, y: Value) -> Value:
            return self.reduction.combine(c, x, y)

        found = c.folded(c.get(self.value, self.kind, self.width), combine)
        if self.lack:
            lack = c.folded(c.get(self.lack, self.kind, self.width), combine)
            found = c.select(c.compared("one", lack, 0.0), c.add(found, lack), found)
        return found


def started(c: Code, reading: Reading, width: int, *, exact: bool = False) -> Total:
    """Variables for a reduction; a sum of floats keeps its rounding errors if it is `exact`."""
    reduction, kind = reading.reduction, reading.kinds[0]
    assert reduction is not None
    value = c.slot(kind, width, reduction.neutral(c, kind, width))
    if not (exact and reduction.sums and is_float(kind)):
        return Total(reduction, kind, width, value)
    return Total(reduction, kind, width, value, c.slot(kind, width, c.number(kind, 0.0, width)))


def with_initial(c: Code, reading: Reading, found: Value) -> Value:
    """A result with the initial value, if there is one."""
    reduction = reading.reduction
    assert reduction is not None
    if reading.initial is None:
        return found
    return reduction.combine(c, found, c.number(found.kind, reading.initial, 0))
