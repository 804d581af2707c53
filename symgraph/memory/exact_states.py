"""The states of the exact search: what fits, what is still needed, and what is left to pay.

Sets of steps are whole numbers, a bit for each forward value or gradient step.
"""

from __future__ import annotations

from math import gcd

from ..lowering.memory_model import Model
from .exact_turns import Due, GradientMove, Turn, bits

__all__ = ["States"]

_SMALL = 256
"""Values this many times smaller than the largest may all be dropped for nothing, in the bound."""
_MOST_DUE = 3
"""For how many gradient steps that are due the bound is asked."""


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
        self.own_reads = list(self.rest_reads)
        for place in range(first, len(rest)):
            # Every other result is live when outputs are copied.
            self.rest_reads[place] |= (1 << place) - 1
            self.needs[place] |= self.kept
        self.readers = self._readers()
        self.after, self.later_needs = self._after()
        self.before = self._before()
        self.waits = self._waits(model)
        by_price = sorted(
            range(len(forward)), key=lambda place: self.costs[place] / max(1, self.sizes[place])
        )
        self.cheapest_first = [
            (1 << place, self.sizes[place], self.costs[place]) for place in by_price
        ]
        self._bytes: dict[int, int] = {}
        self._back: dict[int, int] = {}
        self._useful: dict[int, int] = {}
        self._turns: dict[int, Turn] = {}

    @property
    def known_turns(self) -> int:
        """After how many sets of gradient steps searches have been so far."""
        return len(self._turns)

    def _readers(self) -> list[int]:
        """The gradient steps that read each gradient step."""
        found = [0] * len(self.rest)
        for place, reads in enumerate(self.own_reads):
            for read in bits(reads):
                found[read.bit_length() - 1] |= 1 << place
        return found

    def _before(self) -> list[int]:
        """The gradient steps that each comes after."""
        found: list[int] = []
        for reads in self.rest_reads:
            found.append(reads)
            for read in bits(reads):
                found[-1] |= found[read.bit_length() - 1]
        return found

    def _waits(self, model: Model) -> dict[int, list[int]]:
        """Steps that wait for a reader, with the other gradient operands of each reader.

        A step with one operand, whose buffer it can take over, such as the cosine of a forward
        value, may as well run when a reader is due: until then the operand is live instead.
        """
        local: set[int] = set()
        for place, step in enumerate(self.rest):
            reads = self.rest_reads[place]
            alone = len(model.reads[step]) == 1 and model.takes[step] and not self.rest_work[place]
            if alone and (not reads or reads.bit_length() - 1 in local):
                local.add(place)
        every = sum([1 << place for place in local])
        found: dict[int, list[int]] = {}
        for place in sorted(local, reverse=True):
            found[place] = []
            for reader in bits(self.readers[place]):
                number = reader.bit_length() - 1
                others = self.rest_reads[number] & ~every
                found[place].extend(found[number] if number in local else [others])
        return {place: readers for place, readers in found.items() if readers}

    def _may_run(self, place: int, done: int) -> bool:
        if self.rest_reads[place] & ~done:
            return False
        readers = self.waits.get(place)
        return readers is None or any(not others & ~done for others in readers)

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

    def turn(self, done: int) -> Turn:
        """The state after some gradient steps, found once."""
        found = self._turns.get(done)
        if found is None:
            left = self.all_done & ~done
            places = [each.bit_length() - 1 for each in bits(left)]
            ready = [place for place in places if self._may_run(place, done)]
            held = self.bytes_back(done)
            moves = tuple([self._move(place, done) for place in ready])
            due = sorted(ready, key=lambda place: -self.after[place].bit_count())[:_MOST_DUE]
            found = self._turns[done] = Turn(
                held,
                self.needed(done),
                self.useful(done),
                moves,
                tuple([each for each in moves if self.bytes_back(each.after) <= held]),
                tuple([self._due(place, done) for place in due]),
            )
        return found

    def _move(self, place: int, done: int) -> GradientMove:
        after = done | 1 << place
        useful = self.useful(after)
        return GradientMove(
            self.needs[place],
            self._adds(place, done),
            after,
            useful,
            self.rest[place],
            self.rest_work[place],
            tuple(bits(self.rest_takes[place] & useful)),
        )

    def _due(self, place: int, done: int) -> Due:
        after = self.after[place]
        direct = self.later_needs[place] | self.needs[place]
        size: dict[int, int] = {}
        for other in bits(self.all_done & ~done & ~after & ~(1 << place)):
            # A step that does not come after it has run by then, and its result is live; or its
            # operands are read later. The smaller of the two surely takes room.
            number = other.bit_length() - 1
            read = self.needs[number] & ~direct
            if read and self.readers[number] & after:
                share = self.rest_sizes[number] // read.bit_count()
                for each in bits(read):
                    own = self.sizes[each.bit_length() - 1]
                    size[each] = min(size.get(each, own), share)
        for each in bits(direct):
            size[each] = self.sizes[each.bit_length() - 1]
        least = max(size.values(), default=0) // _SMALL + 1
        found = [
            (each, own, self.costs[each.bit_length() - 1])
            for each, own in size.items()
            if own >= least
        ]
        found.sort(key=lambda item: (item[2] / item[1], item[0]))
        carried, fixed = self._carried(place, done), self._fixed(place)
        later = sum([each for each, _, _ in found])
        beside = carried + self._adds_at_least(place)
        unit = gcd(*[size for _, size, _ in found]) or 1
        small = sum([own for own in size.values() if own < least])
        needs = self.needs[place]
        last = needs & ~self.later_needs[place]
        return Due(needs, fixed, beside, carried, last, later, tuple(found), unit, small)

    def _fixed(self, place: int) -> int:
        """The forward values that a gradient step reads and does not take over.

        One that it takes over is not live any more: its bytes are those of the result.
        """
        return self.needs[place] & ~(0 if self.back_takes[place] else self.rest_takes[place])

    def _adds_at_least(self, place: int) -> int:
        """The least bytes that a gradient step needs beside these and other gradient values."""
        return self.rest_work[place] + (0 if self.back_takes[place] else self.rest_sizes[place])

    def never_fits(self, limit: int) -> bool:
        """Whether some step cannot run within the limit, whatever comes before it.

        All gradient steps that lead to it are done by then, and what later steps read of their
        values is live.
        """
        every = self.useful(0)
        for place, room in enumerate(self.room):
            fixed = self.reads[place] & ~self.takes[place]
            if every >> place & 1 and self.bytes_of(fixed) + room > limit:
                return True
        return any(
            self._carried(place, before)
            + self._adds_at_least(place)
            + self.bytes_of(self._fixed(place))
            > limit
            for place, before in enumerate(self.before)
        )

    def _adds(self, place: int, done: int) -> int:
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
        found = self.kept
        for each in bits(self.all_done & ~done):
            found |= self.needs[each.bit_length() - 1]
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
        turn = self.turn(done)
        missing, cost = self._missing(turn.needed, live)
        most = 0
        for due in turn.due:
            needs, fixed = due.needs, due.fixed
            room = limit - due.beside - self.bytes_of(fixed)
            if room < 0:
                return -1
            first = self._missing(needs, live)[0] if needs & missing else 0
            # Of those computed anyway, the ones that the step needs come before it.
            before = (live | first) & due.later & ~fixed & ~due.last
            if before:
                most = max(most, _left_out(before, due, room))
            if first:
                most = max(most, self._left_out_at(first.bit_length() - 1, live, due, limit))
        return cost + most

    def _left_out_at(self, number: int, live: int, due: Due, limit: int) -> int:
        """The least cost of the values that are not live while a forward value is computed."""
        reads = self.reads[number]
        fixed = reads & ~self.takes[number]
        before = (live | self._missing(reads, live)[0]) & due.later & ~fixed & ~(1 << number)
        room = limit - due.carried - self.bytes_of(fixed) - self.room[number]
        return _left_out(before, due, room) if before else 0

    def _carried(self, place: int, done: int) -> int:
        """Bytes of gradient values that are surely live until a step runs."""
        readers = self.after[place] | 1 << place
        found = 0
        for each in bits(done):
            other = each.bit_length() - 1
            if self.readers[other] & readers & ~done or each & self.rest_kept:
                found += self.rest_sizes[other]
        return found


def _left_out(values: int, due: Due, room: int) -> int:
    """The least cost of the values that do not fit, if the last one may be cut."""
    excess = -room - due.small
    for own, size, _ in due.items:
        if values & own:
            excess += size
    if excess <= 0:
        return 0
    excess = -(-excess // due.unit) * due.unit
    cost = 0
    for own, size, price in due.items:
        if values & own:
            if size >= excess:
                return cost + price * excess // size
            cost += price
            excess -= size
    return cost
