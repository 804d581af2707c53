"""Optimal plans for small graphs, by search over sets of live values; the least budget is proven.

Forward steps run as often as needed, gradient steps once, and all in any order. A state consists of
the forward values that are live and the gradient steps that are done; which gradient values are
live follows. A plan of least cost is a shortest path (A*, Hart, Nilsson and Raphael 1968).

Three things keep the search small, and none of them loses the optimum. Values are evicted only for
a step that does not fit beside them, and no more than it needs. A gradient step that fits and
leaves no more gradient bytes live runs at once. And the bound of the cost left is the cost of all
missing values that are still read, plus that of the values which cannot be live together with the
operands of a gradient step that is due, though later steps read them (a fractional knapsack,
Dantzig 1957).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator
from itertools import accumulate, count
from math import inf
from typing import TypeAlias

from ..lowering.memory_model import Model
from .aims import never
from .exact_states import States
from .exact_turns import bits

__all__ = ["ExactSearch", "Exhausted"]

_Previous: TypeAlias = "dict[tuple[int, int], tuple[tuple[int, int], list[int]]]"
"""For each state the one before it, and the steps between."""
_Move: TypeAlias = "tuple[int, list[int], tuple[int, int]]"
"""The cost, the steps, and the state reached."""


_MOST_FORWARD = 40
_MOST_BACKWARD = 120
_MOST_WAYS = 16
"""Ways to make room for one step, in one state."""


class Exhausted(Exception):
    """The search has tried as many moves as it may, or has no time left."""


class ExactSearch:
    """Plans of least cost for a model, one budget after the other.

    Parameters
    ----------
    model : Model
    backward : collection of int
        The steps that run once.
    over : callable
        Says when the time is over.

    Attributes
    ----------
    moves : int
        How many moves have been tried so far.
    bound : int
        No plan within the limit searched last has forward steps of less cost.
    complete : bool
        Whether the search before tried all ways to make room: what it found is then the least.
    """

    def __init__(
        self, model: Model, backward: Collection[int], over: Callable[[], bool] = never
    ) -> None:
        forward = [step for step in range(len(model)) if step not in backward]
        self.states = States(model, forward, sorted(backward))
        self.over = over
        self.moves = 0
        self.bound = 0
        self.complete = True

    @staticmethod
    def suits(model: Model, backward: Collection[int]) -> bool:
        """Whether the model is small enough to be searched."""
        forward = len(model) - len(backward)
        return 0 < forward <= _MOST_FORWARD and len(backward) <= _MOST_BACKWARD

    def forward_cost(self, extra: int) -> int:
        """The cost of all forward steps of a plan, from that of its recomputations."""
        return extra + sum(self.states.costs)

    def cheapest(
        self, limit: int, most: int, weight: float = 1.0, below: int | None = None
    ) -> list[int] | None:
        """The sequence of least cost whose peak is within the limit; None if there is none.

        Where a state has too many ways to make room, only some are tried (`complete`).

        Parameters
        ----------
        limit : int
            Bytes.
        most : int
            How many moves are tried.
        weight : float
            How much the bound counts. Above 1 a plan is found earlier, but may cost more; with 0
            costs do not count, and any plan is found.
        below : int, optional
            The forward steps have to cost less than this: a plan better than a known one.

        Raises
        ------
        Exhausted
            If more moves had to be tried, or the time is over.
        """
        search = _Search(self.states, limit, most, weight, below, self.over)
        try:
            return search.cheapest()
        finally:
            self.moves += search.moves
            self.bound = search.least
            self.complete = search.complete

    def near_cheapest(self, limit: int, most: int, below: int | None = None) -> list[int] | None:
        """A sequence of little cost whose peak is within the limit; None if none is found.

        Parameters
        ----------
        limit : int
            Bytes.
        most : int
            How many moves are tried.
        below : int, optional
            The forward steps have to cost less than this.
        """
        search = _Search(self.states, limit, most, 1.0, below, self.over)
        found = search.beam()
        self.moves += search.moves
        return found


class _Search:
    """The search for one budget."""

    def __init__(
        self,
        states: States,
        limit: int,
        most: int,
        weight: float,
        below: int | None,
        over: Callable[[], bool],
    ) -> None:
        self.states = states
        self.limit = limit
        self.most = most
        self.weight = weight
        self.below = inf if below is None else below
        self.over = over
        self.moves = 0
        self.complete = True
        self.least = 0

    def cheapest(self) -> list[int] | None:
        states, weight, below = self.states, self.weight, self.below
        if states.never_fits(self.limit):
            return None
        start, first = self._settled(0, 0)
        best = {start: 0}
        previous: _Previous = {start: ((-1, 0), first)}
        bounds = {start: states.bound(*start, self.limit)}
        closed: dict[int, list[tuple[int, int]]] = {}
        number = count()
        heap: list[tuple[float, int, int, tuple[int, int]]] = []
        if 0 <= bounds[start] < below:
            heap.append((float(bounds[start]), 0, next(number), start))
        while heap:
            lowest, _, _, state = heapq.heappop(heap)
            cost = best[state]
            live, done = state
            # A state with more values live at no more cost reaches all that this one does.
            if _is_reached(live, cost, closed.setdefault(done, [])):
                continue
            if self.complete and weight == 1:
                self.least = max(self.least, int(lowest))
            if done == states.all_done and live & states.kept == states.kept:
                return _path(previous, state)
            if self.moves > self.most or self.over():
                raise Exhausted
            for added, steps, reached in self._next(live, done):
                self.moves += 1
                settled, more = self._settled(*reached)
                total = cost + added if weight else 0
                if total < best.get(settled, total + 1):
                    best[settled] = total
                    previous[settled] = (state, steps + more)
                    bound = bounds.get(settled, -2)
                    if bound == -2:
                        bound = bounds[settled] = states.bound(*settled, self.limit)
                    if 0 <= bound < below - total:
                        rank = -settled[1].bit_count()
                        heapq.heappush(heap, (total + weight * bound, rank, next(number), settled))
        if not self.complete:
            raise Exhausted
        return None

    def beam(self) -> list[int] | None:
        """A sequence whose peak is within the limit, from the best states at each depth.

        The depth is the number of gradient steps done. So a plan is found that costs little, where
        the search for the least cost would not come to an end.
        """
        states, below = self.states, self.below
        depths = len(states.rest) + 1
        start, first = self._settled(0, 0)
        best = {start: 0}
        previous: _Previous = {start: ((-1, 0), first)}
        number = count()
        heaps: list[list[tuple[int, int, int, tuple[int, int]]]] = [[] for _ in range(depths)]
        deepest = start[1].bit_count()
        heaps[deepest].append((0, 0, next(number), start))
        for depth, heap in enumerate(heaps):
            seen: dict[int, list[tuple[int, int]]] = {}
            # What earlier depths have left over is shared by those to come.
            most = self.moves + (self.most - self.moves) // (depths - depth)
            # Some state has to lead on, as one of the first forward run.
            while heap and self.moves < (most if deepest > depth else self.most):
                if self.over():
                    return None
                _, _, _, (live, done) = heapq.heappop(heap)
                cost = best[live, done]
                if _is_reached(live, cost, seen.setdefault(done, [])):
                    continue
                if depth == depths - 1 and live & states.kept == states.kept:
                    return _path(previous, (live, done))
                for added, steps, after in self._next(live, done):
                    self.moves += 1
                    settled, more = self._settled(*after)
                    total = cost + added
                    if total < best.get(settled, total + 1):
                        best[settled] = total
                        previous[settled] = ((live, done), steps + more)
                        bound = states.bound(*settled, self.limit)
                        reached = settled[1].bit_count()
                        if bound >= 0:
                            deepest = max(deepest, reached)
                        if 0 <= bound < below - total:
                            entry = (total + bound, bound, next(number), settled)
                            heapq.heappush(heaps[reached], entry)
        return None

    def _settled(self, live: int, done: int) -> tuple[tuple[int, int], list[int]]:
        """The state after all gradient steps that fit and leave no more gradient bytes live.

        Forward values do not count, for they can be evicted.
        """
        states, limit = self.states, self.limit
        steps: list[int] = []
        turn = states.turn(done)
        while turn.shrinking:
            held = states.bytes_of(live) + turn.held
            for needs, adds, after, useful, step, _, _ in turn.shrinking:
                if needs & live == needs and held + adds <= limit:
                    live, done = live & useful, after
                    steps.append(step)
                    turn = states.turn(done)
                    break
            else:
                break
        return (live, done), steps

    def _next(self, live: int, done: int) -> Iterator[_Move]:
        """The possible next moves: cost, steps, and the state reached."""
        states = self.states
        turn = states.turn(done)
        held = states.bytes_of(live) + turn.held
        for needs, adds, after, useful, step, work, takes in turn.moves:
            if needs & live != needs:
                continue
            for left in self._rooms(live, live & ~needs, held + adds):
                yield 0, [step], (left & useful, after)
            for taken in takes:
                for left in self._rooms(live, live & ~needs, held + work):
                    yield 0, [step], (left & useful & ~taken, after)
        if not done & states.copies:
            yield from self._forward_moves(live, done, held, turn.useful & ~live)

    def _forward_moves(self, live: int, done: int, held: int, missing: int) -> Iterator[_Move]:
        states = self.states
        for place in bits(missing):
            number = place.bit_length() - 1
            reads = states.reads[number]
            if reads & live != reads:
                continue
            price, step = states.costs[number], [states.forward[number]]
            for left in self._rooms(live, live & ~reads, held + states.room[number]):
                yield price, step, (left | place, done)
            for taken in bits(states.takes[number]):
                own = held + states.work[number]
                for left in self._rooms(live, live & ~reads, own):
                    yield price, step, (left & ~taken | place, done)

    def _rooms(self, live: int, victims: int, wanted: int) -> list[int]:
        """The live values that may be left, where no more are evicted than have to be.

        If there are too many ways, those that evict the cheapest values are given.
        """
        excess = wanted - self.limit
        if excess <= 0:
            return [live]
        if self.states.bytes_of(victims) < excess:
            return []
        order = [each for each in self.states.cheapest_first if each[0] & victims]
        rest = list(accumulate([size for _, size, _ in reversed(order)]))[::-1]
        found: list[int] = []
        # Left, missing bytes, smallest victim, and the place from which victims are taken.
        waiting = [(live, excess, wanted + excess, 0)]
        while waiting:
            left, missing, smallest, place = waiting.pop()
            if missing <= 0:
                if smallest > -missing:  # Without any of the victims the step would not fit.
                    found.append(left)
                    if len(found) == _MOST_WAYS:
                        self.complete = False
                        return found
                continue
            if place < len(order) and rest[place] >= missing:
                own, size, _ = order[place]
                waiting.append((left, missing, smallest, place + 1))
                waiting.append((left & ~own, missing - size, min(smallest, size), place + 1))
        return found


def _is_reached(live: int, cost: int, seen: list[tuple[int, int]]) -> bool:
    """Whether a state seen before has these values live at no more cost; else it is noted."""
    for other, paid in seen:
        if paid <= cost and live | other == other:
            return True
    seen.append((live, cost))
    return False


def _path(previous: _Previous, state: tuple[int, int]) -> list[int]:
    parts: list[list[int]] = []
    while state[0] >= 0:
        state, steps = previous[state]
        parts.append(steps)
    return [step for steps in reversed(parts) for step in steps]
