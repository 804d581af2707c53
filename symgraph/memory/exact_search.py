"""Optimal plans for small graphs, by search over sets of live values; the least budget is proven.

The steps of the gradient run once, in their order. Forward steps run when they are needed, as often
as needed, in any order. A state consists of the number of gradient steps done and the set of live
forward values, so each gradient step has at most 2^forward states. A plan of least cost is a
shortest path (Dijkstra 1959). A value is evicted only where the next step does not fit beside it,
for an earlier eviction reaches no further state.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Generator, Iterator
from typing import TypeAlias

from ..lowering.memory_model import Model

__all__ = ["exact_sequences"]

_State: TypeAlias = "tuple[int, int]"
"""Gradient steps done, and a bit for each live forward value."""

_MOST_STATES = 200_000
_MOST_EXPANSIONS = 60_000


class _Exhausted(Exception):
    """The search has expanded as many states as it may."""


def exact_sequences(
    model: Model, backward: Collection[int], most_bytes: int
) -> Generator[list[int] | None, int, None]:
    """Sequences of least cost for falling budgets, from `most_bytes` down.

    Send the peak of each sequence back; the next sequence has a lower peak. A last None says that
    no lower peak exists, so the last sequence has the least. Without None the search was too large
    and was given up.
    """
    forward = [step for step in range(len(model)) if step not in backward]
    if (len(model) - len(forward) + 1) << min(len(forward), 60) > _MOST_STATES:
        return
    search = _Search(model, forward, sorted(backward))
    limit = most_bytes
    try:
        while True:
            found = search.cheapest(limit)
            peak = yield found
            if found is None:
                return
            limit = peak - 1
    except _Exhausted:
        return


class _Search:
    def __init__(self, model: Model, forward: list[int], rest: list[int]) -> None:
        self.model = model
        self.forward = forward
        self.rest = rest
        bit = {step: 1 << place for place, step in enumerate(forward)}
        self.sizes = [model.sizes[step] for step in forward]
        self.costs = [model.costs[step] for step in forward]
        self.reads = [sum(bit[read] for read in model.reads[step]) for step in forward]
        self.takes = [[bit[read] for read in model.takes[step]] for step in forward]
        self.rest_reads = [
            sum(bit[read] for read in model.reads[step] if read in bit) for step in rest
        ]
        self.rest_takes = [[bit[r] for r in model.takes[step] if r in bit] for step in rest]
        self.kept = sum(bit[step] for step in model.kept if step in bit)
        later = [self.kept]
        for reads in reversed(self.rest_reads):
            later.append(later[-1] | reads)
        self.later_reads = later[::-1]
        self.before, self.adds = self._bytes_of_rest(bit)
        self.bytes_of: dict[int, int] = {0: 0}
        copies = range(len(model) - model.copies, len(model))
        self.first_copy = len(rest) - len(copies)
        self.expansions = 0

    def _bytes_of_rest(self, bit: dict[int, int]) -> tuple[list[int], list[int]]:
        """Bytes of gradient values live before each gradient step, and the bytes each step adds."""
        model = self.model
        last = {step: step for step in self.rest}
        for step in self.rest:
            last.update((read, step) for read in model.reads[step] if read not in bit)
        last.update((step, len(model)) for step in model.kept if step not in bit)
        before: list[int] = []
        adds: list[int] = []
        live = 0
        for step in self.rest:
            before.append(live)
            dying = {read for read in (*model.reads[step], step) if last.get(read) == step}
            reusable = dying & set(model.takes[step])
            adds.append(model.room_taking_over(step) if reusable else model.room(step))
            live += model.sizes[step] - sum(model.sizes[read] for read in dying)
        return [*before, live], adds

    def _live_bytes(self, mask: int) -> int:
        found = self.bytes_of.get(mask)
        if found is None:
            found = sum([size for place, size in enumerate(self.sizes) if mask >> place & 1])
            self.bytes_of[mask] = found
        return found

    def _lower_bound(self, done: int, mask: int) -> int:
        """A lower bound of the cost left: each missing value that is still read counts once."""
        missing = self.later_reads[done] & ~mask
        cost = 0
        while missing:
            place = missing.bit_length() - 1
            missing = (missing | self.reads[place] & ~mask) & ~(1 << place)
            cost += self.costs[place]
        return cost

    def cheapest(self, limit: int) -> list[int] | None:
        """The sequence of least cost whose peak is within the limit, or None."""
        start: _State = (0, 0)
        best: dict[_State, int] = {start: 0}
        previous: dict[_State, tuple[_State, int]] = {}
        closed: set[_State] = set()
        heap: list[tuple[int, int, int]] = [(self._lower_bound(0, 0), 0, 0)]
        while heap:
            _, done, mask = heapq.heappop(heap)
            state: _State = (-done, mask)
            if state in closed:
                continue
            closed.add(state)
            cost = best[state]
            if -done == len(self.rest) and mask & self.kept == self.kept:
                return self._path(previous, state)
            self.expansions += 1
            if self.expansions > _MOST_EXPANSIONS:
                raise _Exhausted
            for added, step, reached in self._moves(-done, mask, limit):
                total = cost + added
                if total < best.get(reached, total + 1):
                    best[reached] = total
                    previous[reached] = (state, step)
                    left = self._lower_bound(*reached)
                    heapq.heappush(heap, (total + left, -reached[0], reached[1]))
        return None

    def _moves(self, done: int, mask: int, limit: int) -> Iterator[tuple[int, int, _State]]:
        """The possible next moves: cost, step (-1 for an eviction), and the state reached."""
        room = limit - self.before[done] - self._live_bytes(mask)
        short = False
        # Outputs are copied last of all, when every other result is live.
        needed = self.rest_reads[done] if done < len(self.rest) else self.kept
        if done == self.first_copy:
            needed |= self.kept
        if done < len(self.rest) and needed & ~mask == 0:
            step = self.rest[done]
            if self.adds[done] <= room:
                yield 0, step, (done + 1, mask)
            else:
                short = True
            if self.rest_takes[done] and self.model.room_taking_over(step) <= room:
                for taken in self.rest_takes[done]:
                    yield 0, step, (done + 1, mask & ~taken)
        for place, step in enumerate(self.forward):
            own = 1 << place
            if mask & own or self.reads[place] & ~mask or done > self.first_copy:
                continue
            if self.model.room(step) <= room:
                yield self.costs[place], step, (done, mask | own)
            else:
                short = True
            over = self.takes[place] if self.model.room_taking_over(step) <= room else ()
            for taken in over:
                yield self.costs[place], step, (done, mask & ~taken | own)
        left = mask if short else 0
        while left:
            low = left & -left
            left ^= low
            yield 0, -1, (done, mask ^ low)

    @staticmethod
    def _path(previous: dict[_State, tuple[_State, int]], state: _State) -> list[int]:
        steps: list[int] = []
        while state in previous:
            state, step = previous[state]
            if step >= 0:
                steps.append(step)
        steps.reverse()
        return steps
