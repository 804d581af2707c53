"""The states of the exact search: what fits, what is still needed, and what is left to pay.

Sets of steps are whole numbers, a bit for each forward value or gradient step.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..lowering.memory_model import Model

__all__ = ["States", "bits"]

_MOST_DUE = 3
"""For how many gradient steps that are due the bound is asked."""


def bits(mask: int) -> Iterator[int]:
    """The bits of a mask, each as a mask."""
    while mask:
        low = mask & -mask
        yield low
        mask ^= low


class States:
    """A model as sets of bits.

    Parameters
    ----------
    model : Model
    forward : list of int
        The steps that may run again.
    rest : list of int
        Those that run once, in any order; copies of outputs come last.
    """

    def __init__(self, model: Model, forward: list[int], rest: list[int]) -> None:
        self.forward, self.rest = forward, rest
        bit = {step: 1 << place for place, step in enumerate(forward)}
        own = {step: 1 << place for place, step in enumerate(rest)}
        work = model.work or (0,) * len(model)
        self.sizes = [model.sizes[step] for step in forward]
        self.costs = [model.costs[step] for step in forward]
        self.work = [work[step] for step in forward]
        self.room = [model.room(step) for step in forward]
        self.reads = [sum(bit[read] for read in model.reads[step]) for step in forward]
        self.takes = [sum(bit[read] for read in model.takes[step]) for step in forward]
        self.kept = sum(bit[step] for step in model.kept if step in bit)
        self.rest_sizes = [model.sizes[step] for step in rest]
        self.rest_work = [work[step] for step in rest]
        self.needs = [sum(bit.get(read, 0) for read in model.reads[step]) for step in rest]
        self.rest_takes = [sum(bit.get(read, 0) for read in model.takes[step]) for step in rest]
        self.rest_reads = [sum(own.get(read, 0) for read in model.reads[step]) for step in rest]
        self.back_takes = [sum(own.get(read, 0) for read in model.takes[step]) for step in rest]
        self.rest_kept = sum(own[step] for step in model.kept if step in own)
        self.all_done = (1 << len(rest)) - 1
        first = len(rest) - model.copies
        self.copies = self.all_done & ~((1 << first) - 1)
        for place in range(first, len(rest)):
            # Every other result is live when outputs are copied.
            self.rest_reads[place] |= (1 << place) - 1
            self.needs[place] |= self.kept
        readers = [0] * len(rest)
        for place, step in enumerate(rest):
            for read in model.reads[step]:
                if read in own:
                    readers[own[read].bit_length() - 1] |= 1 << place
        self.readers = readers
        self.after, self.later_needs = self._after()
        by_price = sorted(
            range(len(forward)), key=lambda place: self.costs[place] / max(1, self.sizes[place])
        )
        self.cheapest_first = [
            (1 << place, self.sizes[place], self.costs[place]) for place in by_price
        ]
        self._bytes: dict[int, int] = {}
        self._back: dict[int, int] = {}
        self._ready: dict[int, list[int]] = {}
        self._useful: dict[int, int] = {}
        self._needed: dict[int, int] = {}
        self._beside: dict[tuple[int, int], int] = {}

    def _after(self) -> tuple[list[int], list[int]]:
        """The steps that come after each gradient step, and the forward values they read."""
        count = len(self.rest)
        after, needs = [0] * count, [0] * count
        for place in range(count - 1, -1, -1):
            for later in range(place + 1, count):
                if self.rest_reads[later] >> place & 1:
                    after[place] |= 1 << later | after[later]
            for later in bits(after[place]):
                needs[place] |= self.needs[later.bit_length() - 1]
        return after, needs

    def bytes_of(self, live: int) -> int:
        """The bytes of forward values."""
        found = self._bytes.get(live)
        if found is None:
            found = self._bytes[live] = sum(
                [self.sizes[each.bit_length() - 1] for each in bits(live)]
            )
        return found

    def bytes_back(self, done: int) -> int:
        """The bytes of gradient values that are live after some steps."""
        found = self._back.get(done)
        if found is None:
            found = 0
            for each in bits(done):
                place = each.bit_length() - 1
                if self.readers[place] & ~done or each & self.rest_kept:
                    found += self.rest_sizes[place]
            self._back[done] = found
        return found

    def ready(self, done: int) -> list[int]:
        """The gradient steps whose gradient operands are there."""
        found = self._ready.get(done)
        if found is None:
            left = self.all_done & ~done
            places = [each.bit_length() - 1 for each in bits(left)]
            found = [place for place in places if not self.rest_reads[place] & ~done]
            self._ready[done] = found
        return found

    def adds(self, place: int, done: int) -> int:
        """The bytes that a gradient step needs beside all that is live."""
        if self.rest_takes[place] & ~self.useful(done | 1 << place):
            return self.rest_work[place]
        for each in bits(self.back_takes[place]):
            taken = each.bit_length() - 1
            if self.readers[taken] & ~done == 1 << place and not each & self.rest_kept:
                return self.rest_work[place]
        return self.rest_work[place] + self.rest_sizes[place]

    def needed(self, done: int) -> int:
        """The forward values that gradient steps will read, and those that are results."""
        found = self._needed.get(done)
        if found is None:
            found = self.kept
            for each in bits(self.all_done & ~done):
                found |= self.needs[each.bit_length() - 1]
            self._needed[done] = found
        return found

    def useful(self, done: int) -> int:
        """The forward values that are needed, or of which these can be computed."""
        found = self._useful.get(done)
        if found is None:
            found = self.needed(done)
            for place in range(len(self.forward) - 1, -1, -1):
                if found >> place & 1:
                    found |= self.reads[place]
            self._useful[done] = found
        return found

    def _missing(self, wanted: int, live: int) -> tuple[int, int]:
        """The values that have to be computed, and their cost."""
        waiting, found, cost = wanted & ~live, 0, 0
        while waiting:
            place = waiting.bit_length() - 1
            own = 1 << place
            found |= own
            cost += self.costs[place]
            waiting = (waiting | self.reads[place] & ~live) & ~own
        return found, cost

    def bound(self, live: int, done: int, limit: int) -> int:
        """A lower bound of the cost left; -1 where a step can never fit."""
        missing, cost = self._missing(self.needed(done), live)
        due = self.ready(done)
        if len(due) > _MOST_DUE:
            due = sorted(due, key=lambda place: -self.after[place].bit_count())[:_MOST_DUE]
        most = 0
        for place in due:
            needs = self.needs[place]
            room = limit - self._held_beside(place, done) - self.bytes_of(needs)
            if room < 0:
                return -1
            # Of those computed anyway, the ones that the step needs come before it.
            before = live | (self._missing(needs, live)[0] if needs & missing else 0)
            most = max(most, self._left_out(self.later_needs[place] & before & ~needs, room))
        return cost + most

    def _held_beside(self, place: int, done: int) -> int:
        """Bytes of gradient values that are surely live when a step runs, its result included."""
        known = self._beside.get((place, done))
        if known is None:
            own = 1 << place
            readers = self.after[place] | own
            known = 0
            for each in bits(done):
                other = each.bit_length() - 1
                if self.readers[other] & readers & ~done or each & self.rest_kept:
                    known += self.rest_sizes[other]
            known += self.rest_work[place]
            if not (self.back_takes[place] or self.rest_takes[place]):
                known += self.rest_sizes[place]
            self._beside[place, done] = known
        return known

    def _left_out(self, values: int, room: int) -> int:
        """The least cost of the values that do not fit, if they may be cut."""
        excess = self.bytes_of(values) - room
        cost = 0
        if excess <= 0:
            return 0
        for own, size, price in self.cheapest_first:
            if values & own:
                if size >= excess:
                    return cost + (price * excess // size if size else 0)
                cost += price
                excess -= size
        return cost
