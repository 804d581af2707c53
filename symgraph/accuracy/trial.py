"""A trial: the values of one node at all probes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .probes import Numbers

__all__ = ["Trial", "drawn_below"]


@dataclass(slots=True)
class Trial:
    """The values of one node at all probes.

    Parameters
    ----------
    right : ndarray
        The reference, in double precision. The leading axis runs over the probes; it has length 1
        for a constant.
    found : ndarray
        The values in single precision. One more leading axis runs over the repetitions.
    drawn : int
        Computed values, of this node and those below, that random numbers stand for: a bit for
        each. With short dimensions some kernels cannot run: a reshape from 20 to 4 by 5, for
        instance. Spellings that rest on different random numbers cannot be compared.
    """

    right: Numbers
    found: Numbers
    drawn: int = 0
    _ends: tuple[Numbers, Numbers] | None = None
    _rows: Numbers | None = None
    _largest: Numbers | None = None

    @property
    def is_finite(self) -> bool:
        """Whether all values in single precision, without perturbed roundings, are numbers."""
        return bool(np.isfinite(self.found[0]).all())

    @property
    def rows(self) -> Numbers:
        """`found` with repetitions and probes as one leading axis; one row for a constant."""
        found = self._rows
        if found is None:
            repeats, count, *shape = self.found.shape
            found = self.found[0] if count == 1 else self.found.reshape(repeats * count, *shape)
            self._rows = found
        return found

    @property
    def largest(self) -> Numbers:
        """The largest absolute value in each of `rows`."""
        found = self._largest
        if found is None:
            # NumPy reduces the first axis of few rows many times faster than the last one.
            columns = np.ascontiguousarray(np.abs(self.rows).reshape(len(self.rows), -1).T)
            found = self._largest = columns.max(axis=0, initial=0).astype(np.float64)
        return found

    def largest_distance(self, point: Numbers) -> Numbers:
        """The largest distance of any repetition from a point, element by element.

        Only the largest and the smallest value need a look: rounding the difference never makes a
        nearer number look farther away.
        """
        if self._ends is None:
            self._ends = np.max(self.found, axis=0), np.min(self.found, axis=0)
        high, low = self._ends
        return np.maximum(np.abs(high - point), np.abs(low - point))


def drawn_below(trials: list[Trial]) -> int:
    """All computed values that random numbers stand for in any of these trials."""
    found = 0
    for each in trials:
        found |= each.drawn
    return found
