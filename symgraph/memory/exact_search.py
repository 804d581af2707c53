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
from collections.abc import Collection, Iterator
from itertools import accumulate, count
from typing import TypeAlias

from ..lowering.memory_model import Model
from .exact_states import States, bits

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
    """The search has tried as many moves as it may."""


class ExactSearch:
    """Plans of least cost for a model, one budget after the other.

    Parameters
    ----------
    model : Model
    backward : collection of int
        The steps that run once.
    """

    def __init__(self, model: Model, backward: Collection[int]) -> None:
        forward = [step for step in range(len(model)) if step not in backward]
        self.states = States(model, forward, sorted(backward))
        self.moves = 0

    @staticmethod
    def suits(model: Model, backward: Collection[int]) -> bool:
        """Whether the model is small enough to be searched."""
        forward = len(model) - len(backward)
        return 0 < forward <= _MOST_FORWARD and len(backward) <= _MOST_BACKWARD

    def cheapest(self, limit: int, most: int, weight: float = 1.0) -> list[int] | None:
        """The sequence of least cost whose peak is within the limit; None if there is none.

        Parameters
        ----------
        limit : int
            Bytes.
        most : int
            How many moves are tried.
        weight : float
            How much the bound counts. Above 1 a plan is found earlier, but may cost more; with 0
            costs do not count, and any plan is found.

        Raises
        ------
        Exhausted
            If more moves had to be tried.
        """
        search = _Search(self.states, limit, most, weight)
        try:
            return search.cheapest()
        finally:
            self.moves += search.moves

    def near_cheapest(self, limit: int, most: int) -> list[int] | None:
        """A sequence of little cost whose peak is within the limit; None if none is found.

        Parameters
        ----------
        limit : int
            Bytes.
        most : int
            How many moves are tried.
        """
        search = _Search(self.states, limit, most, 1.0)
        found = search.beam()
        self.moves += search.moves
        return found


class _Search:
    """The search for one budget."""

    def __init__(self, states: States, limit: int, most: int, weight: float) -> None:
        self.states = states
        self.limit = limit
        self.most = most
        self.weight = weight
        self.moves = 0
        self.complete = True

    def cheapest(self) -> list[int] | None:
        states, weight = self.states, self.weight
        start, first = self._settled(0, 0)
        best = {start: 0}
        previous: _Previous = {start: ((-1, 0), first)}
        closed: dict[int, list[tuple[int, int]]] = {}
        number = count()
        heap = [(0.0, 0, next(number), start)]
        while heap:
            _, _, _, state = heapq.heappop(heap)
            cost = best[state]
            live, done = state
            seen = closed.setdefault(done, [])
            # A state with more values live at no more cost reaches all that this one does.
            if any(live | other == other and paid <= cost for other, paid in seen):
                continue
            seen.append((live, cost))
            if done == states.all_done and live & states.kept == states.kept:
                return _path(previous, state)
            if self.moves > self.most:
                raise Exhausted
            for added, steps, reached in self._next(live, done):
                self.moves += 1
                settled, more = self._settled(*reached)
                total = cost + added if weight else 0
                if total < best.get(settled, total + 1):
                    best[settled] = total
                    previous[settled] = (state, steps + more)
                    bound = states.bound(*settled, self.limit)
                    if bound >= 0:
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
        states = self.states
        depths = len(states.rest) + 1
        start, first = self._settled(0, 0)
        best = {start: 0}
        previous: _Previous = {start: ((-1, 0), first)}
        number = count()
        heaps: list[list[tuple[int, int, int, tuple[int, int]]]] = [[] for _ in range(depths)]
        heaps[start[1].bit_count()].append((0, 0, next(number), start))
        for depth, heap in enumerate(heaps):
            seen: dict[int, list[tuple[int, int]]] = {}
            most = self.moves + self.most // depths
            # Some state has to lead on, as one of the first forward run.
            while heap and self.moves < (most if any(heaps[depth + 1 :]) else self.most):
                _, _, _, (live, done) = heapq.heappop(heap)
                cost = best[live, done]
                others = seen.setdefault(done, [])
                if any(live | other == other and paid <= cost for other, paid in others):
                    continue
                others.append((live, cost))
                if depth == depths - 1 and live & states.kept == states.kept:
                    return _path(previous, (live, done))
                for added, steps, reached in self._next(live, done):
                    self.moves += 1
                    settled, more = self._settled(*reached)
                    total = cost + added
                    if total < best.get(settled, total + 1):
                        best[settled] = total
                        previous[settled] = ((live, done), steps + more)
                        bound = states.bound(*settled, self.limit)
                        if bound >= 0:
                            entry = (total + bound, bound, next(number), settled)
                            heapq.heappush(heaps[settled[1].bit_count()], entry)
        return None

    def _settled(self, live: int, done: int) -> tuple[tuple[int, int], list[int]]:
        """The state after all gradient steps that fit and leave no more gradient bytes live.

        Forward values do not count, for they can be evicted.
        """
        states, limit = self.states, self.limit
        steps: list[int] = []
        again = True
        while again:
            again = False
            held = states.bytes_of(live) + states.bytes_back(done)
            for place in states.ready(done):
                if states.needs[place] & ~live or held + states.adds(place, done) > limit:
                    continue
                after = done | 1 << place
                if states.bytes_back(after) <= states.bytes_back(done):
                    live, done, again = live & states.useful(after), after, True
                    steps.append(states.rest[place])
                    break
        return (live, done), steps

    def _next(self, live: int, done: int) -> Iterator[_Move]:
        """The possible next moves: cost, steps, and the state reached."""
        yield from self._gradient_moves(live, done)
        if not done & self.states.copies:
            yield from self._forward_moves(live, done)

    def _gradient_moves(self, live: int, done: int) -> Iterator[_Move]:
        states = self.states
        held = states.bytes_of(live) + states.bytes_back(done)
        for place in states.ready(done):
            needs = states.needs[place]
            if needs & ~live:
                continue
            after = done | 1 << place
            useful = states.useful(after)
            step = [states.rest[place]]
            for left in self._rooms(live, live & ~needs, held + states.adds(place, done)):
                yield 0, step, (left & useful, after)
            for taken in bits(states.rest_takes[place] & useful):
                own = held + states.rest_work[place]
                for left in self._rooms(live, live & ~needs, own):
                    yield 0, step, (left & useful & ~taken, after)

    def _forward_moves(self, live: int, done: int) -> Iterator[_Move]:
        states = self.states
        held = states.bytes_of(live) + states.bytes_back(done)
        for place in bits(states.useful(done) & ~live):
            number = place.bit_length() - 1
            reads = states.reads[number]
            if reads & ~live:
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


def _path(previous: _Previous, state: tuple[int, int]) -> list[int]:
    parts: list[list[int]] = []
    while state[0] >= 0:
        state, steps = previous[state]
        parts.append(steps)
    return [step for steps in reversed(parts) for step in steps]
