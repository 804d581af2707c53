"""Spellings of different values. No rounding explains them: one of the two is simply wrong."""

from __future__ import annotations

import numpy as np

from .probes import COUNT, NEAR_ONE
from .trial import Trial

__all__ = ["ACCIDENTS", "CERTAIN", "SMALLEST", "WRONG", "are_other_values"]

CERTAIN = 1e-2 / 64
"""Relative error below which a value is clearly right, not by chance."""

SMALLEST = 64 * float(np.finfo(np.float32).tiny)
"""Absolute error that every spelling may have: near underflow numbers have few digits or none."""

WRONG = 1e-2
"""Relative error above which a value is wrong."""

ACCIDENTS = 150
"""One element, and one more for each 150, may be worse than before, or apart, by chance."""


def are_other_values(new: Trial, old: Trial) -> bool:
    """Whether the values differ at numbers near 1, where each is the same in either precision.

    One element may be apart by chance, unless it is all that there is: a root of a difference is a
    number at few probes. A constant has one probe, at which nothing is said.
    """
    if len(old.right) != COUNT or new.right.shape != old.right.shape:
        return False
    with np.errstate(all="ignore"):
        size = np.abs(old.right)
        sure = np.ones(size.shape, bool)
        for each in (new, old):
            sure &= each.largest_distance(each.right) <= CERTAIN * size + SMALLEST
        apart = sure & (np.abs(new.right - old.right) > WRONG * size + SMALLEST)
    sure, apart = [int(np.count_nonzero(each[NEAR_ONE])) for each in (sure, apart)]
    return apart > 1 + size.size // ACCIDENTS or 0 < apart == sure
