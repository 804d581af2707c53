"""A plan by eviction: run the steps in order; when memory is short, evict the value of least score.

The score is that of dynamic tensor rematerialization (Kirisame et al., ICLR 2021), used offline. It
is the cost to compute the value again, with the evicted values it would need, over its size and the
distance to its next use, which is known here. A missing value is computed again just before it is
read.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Collection
from math import inf
from typing import TypeAlias

import numpy as np

from ..lowering.memory_model import Model

__all__ = ["SCORES", "Evictor", "Score"]

Floats: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"
Score: TypeAlias = "Callable[[Floats, Floats, Floats], Floats]"
"""Scores from the cost to compute again, the bytes and the distance to the next use of each step.

The step of least score is evicted."""

SCORES: tuple[Score, ...] = (
    lambda again, size, distance: again / (size * distance),
    lambda again, size, distance: again / size,
    lambda again, size, distance: 1.0 / (size * distance),
)

_MOST_UPDATES = 16
"""How many descendants take over a change in cost: few, so that the heuristic stays linear."""


class Evictor:
    """Runs a model's steps under a limit.

    Parameters
    ----------
    model : Model
    keep : collection of int
        Steps computed once, whose values are never evicted.
    again : collection of int
        Steps evicted as soon as possible: after their last forward use, and after each backward
        use.
    backward : collection of int
        Steps that count as backward for `again`.
    """

    def __init__(
        self,
        model: Model,
        keep: Collection[int] = (),
        again: Collection[int] = (),
        backward: Collection[int] = (),
    ) -> None:
        self.model = model
        self.again = frozenset(again)
        self.backward = frozenset(backward)
        self.readers: list[list[int]] = [[] for _ in model.sizes]
        for step, reads in enumerate(model.reads):
            for read in reads:
                self.readers[read].append(step)
        self.end = len(model)
        for step in model.kept:
            self.readers[step].append(self.end)
        sizes = np.array(model.sizes, dtype=np.float64)
        self.sizes: Floats = np.where(sizes > 0, sizes, 1.0)
        self.evictable = [int(size > 0) for size in model.sizes]
        for step in (*keep, *range(len(model) - model.copies, len(model))):
            self.evictable[step] = 0

    def run(self, limit: int, score: Score, steps_allowed: int) -> list[int] | None:
        """The sequence of steps computed, or None if it does not meet the limit."""
        return _Run(self, limit, score, steps_allowed).sequence()


class _Run:
    """One pass over the steps: the live values, their next uses, their cost to compute again."""

    def __init__(self, evictor: Evictor, limit: int, score: Score, steps_allowed: int) -> None:
        self.of = evictor
        self.model = evictor.model
        self.limit = limit
        self.score = score
        self.allowed = steps_allowed
        count = len(self.model)
        self.now = 0
        self.used = 0
        self.live = [False] * count
        self.computed = [False] * count
        self.pending = [0] * count
        self.reader_at = [0] * count
        # They are written one by one and read all at once: so Python's arrays, with NumPy's views.
        self.again = array("d", self.model.costs)
        self.next_use = array("d", bytes(8 * count))
        self.candidate = bytearray(count)
        self.again_view: Floats = np.frombuffer(self.again, dtype=np.float64)
        self.next_use_view: Floats = np.frombuffer(self.next_use, dtype=np.float64)
        self.candidate_view = np.frombuffer(self.candidate, dtype=np.bool_)
        self.order: list[int] = []

    def sequence(self) -> list[int] | None:
        first_copy = len(self.model) - self.model.copies
        for step in range(first_copy):
            self.now = step
            if not self._run_step(step):
                return None
        return self.order if self._hand_out(first_copy) else None

    def _hand_out(self, first_copy: int) -> bool:
        """Make all results live at once, and copy those that may not be handed out as they are."""
        copies = range(first_copy, len(self.model))
        wanted = {step for step in self.model.kept if step < first_copy}
        last_copy = {read: copy for copy in copies for read in self.model.reads[copy]}
        self.now = first_copy
        if not self._make_live(sorted(wanted | set(last_copy))):
            return False
        for copy in copies:
            self.now = copy
            if not self._run_step(copy):
                return False
            for read in self.model.reads[copy]:
                if last_copy[read] == copy and read not in wanted:
                    self._unlock(read)
        return True

    def _run_step(self, step: int) -> bool:
        reads = self.model.reads[step]
        if not self._make_live(reads):
            return False
        for read in reads:
            self._find_next_use(read)
        if not self._compute(step):
            return False
        for read in reads:
            self._unlock(read)
            if read in self.of.again and self.live[read]:
                self._evict_after_use(read, step)
        self._free_or_offer(step)
        return True

    def _evict_after_use(self, read: int, step: int) -> None:
        """Evict a value that is to be computed again, if its forward uses are over."""
        if self.next_use[read] == inf:  # It is locked, and read for the last time.
            return
        upcoming = int(self.next_use[read])
        over = step in self.of.backward or upcoming in self.of.backward
        if over and upcoming < self.of.end and not self.pending[read]:
            self._evict(read)

    def _make_live(self, steps: Collection[int]) -> bool:
        """Make all of `steps` live and lock them; missing values are computed again."""
        missing = self._missing(steps)
        for step in missing:
            for read in self.model.reads[step]:
                self.pending[read] += 1
                self.candidate[read] = 0
        for step in steps:
            self.pending[step] += 1
            self.candidate[step] = 0
        for step in missing:
            reads = self.model.reads[step]
            if not self._compute(step):
                return False
            for read in reads:
                self._unlock(read)
                if read in self.of.again and self.live[read] and self.now in self.of.backward:
                    self._evict_after_use(read, self.now)
        return True

    def _missing(self, steps: Collection[int]) -> list[int]:
        """The steps that must be computed again to make `steps` live, operands first."""
        found = {step for step in steps if not self.live[step]}
        stack = list(found)
        while stack:
            for read in self.model.reads[stack.pop()]:
                if not self.live[read] and read not in found:
                    found.add(read)
                    stack.append(read)
        return sorted(found)

    def _compute(self, step: int) -> bool:
        """Make room for a step whose operands are live and locked, and compute it."""
        if len(self.order) >= self.allowed:
            return False
        taken = -1
        for read in self.model.takes[step]:
            # This step alone needs the value, for the last time: its buffer becomes the result's.
            if self.pending[read] == 1 and self.next_use[read] == inf:
                taken = read
                break
        room = self.model.room if taken < 0 else self.model.room_taking_over
        wanted = room(step)
        while self.used + wanted > self.limit:
            if not self._make_room():
                return False
        if taken >= 0:
            self.used -= self.model.sizes[taken]
            self.live[taken] = False
        self.used += self.model.sizes[step]
        self.live[step] = True
        self.order.append(step)
        if self.computed[step]:
            self._update_costs(step, -self.again[step])
        else:
            self.computed[step] = True
            self._find_next_use(step)
        return True

    def _find_next_use(self, step: int) -> None:
        """Find the next reader of `step` after the current step."""
        readers = self.of.readers[step]
        at = self.reader_at[step]
        while at < len(readers) and readers[at] <= self.now:
            at += 1
        self.reader_at[step] = at
        self.next_use[step] = readers[at] if at < len(readers) else inf

    def _unlock(self, step: int) -> None:
        self.pending[step] -= 1
        if not self.pending[step] and self.live[step]:
            self._free_or_offer(step)

    def _free_or_offer(self, step: int) -> None:
        """Free a live value that is not locked if it is dead; else offer it for eviction."""
        if self.next_use[step] == inf:
            self.live[step] = False
            self.used -= self.model.sizes[step]
            self.candidate[step] = 0
        else:
            self.candidate[step] = self.of.evictable[step]

    def _make_room(self) -> bool:
        where = self.candidate_view.nonzero()[0]
        if not len(where):
            return False
        distance = self.next_use_view[where] - self.now
        np.maximum(distance, 1.0, out=distance)
        scores = self.score(self.again_view[where], self.of.sizes[where], distance)
        self._evict(int(where[int(scores.argmin())]))
        return True

    def _evict(self, step: int) -> None:
        self.live[step] = False
        self.candidate[step] = 0
        self.used -= self.model.sizes[step]
        self._update_costs(step, self.again[step])

    def _update_costs(self, step: int, change: float) -> None:
        """Add a change to the cost of the values that need `step`, also through evicted values."""
        again, costs, live, computed = self.again, self.model.costs, self.live, self.computed
        heap = [step]
        changes = {step: change}
        updates = 0
        while heap and updates < _MOST_UPDATES:
            current = heapq.heappop(heap)
            amount = changes.pop(current)
            for reader in self.of.readers[current]:
                if reader >= self.of.end or not computed[reader]:
                    break  # Readers are in order, so those that follow have not run either.
                updates += 1
                again[reader] = max(again[reader] + amount, costs[reader])
                if not live[reader] and self.next_use[reader] != inf:
                    if reader not in changes:
                        heapq.heappush(heap, reader)
                        changes[reader] = 0.0
                    changes[reader] += amount
