r"""Plans of least cost for small graphs, proven, by tables of the cost of every set of live values.

A table has a cost for each set of forward values that can be live after some gradient steps: the
least that any run within the limit has paid when it gets there. Evicting a value is always allowed,
so a set costs no more than a larger one. To have the set $T$ after computing $i$ from $R$, a run
therefore comes best from the smallest set that will do:

$$G(T) = \min_{i \in T} \; c_i + G((T \setminus i) \cup R_i),$$

where the set and the room of the step fit the limit. With a bit of the index for each value both
sides are regular parts of one array, so a step is a few operations on whole arrays, repeated until
nothing changes (Bellman 1958). This takes about the same time for every budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import or_
from typing import Any, TypeAlias, TypeVar

import numpy as np

from .aims import never
from .exact_states import States
from .exact_turns import GradientMove, bits
from .small_pages import small_pages

__all__ = ["LiveSetCosts", "TooLarge", "expected_work"]

_Table: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
_Flags: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"

_Axes = TypeVar("_Axes", _Table, _Flags)

_NEVER = 2**60
"""The cost of a set that no run has live; a cost may be added to it."""
_MOST_VALUES = 21
"""How many forward values a graph may have."""
_MOST_ENTRIES = 2**24
"""Entries of all tables together, of 8 bytes each."""
_WORK = 12 * 10**8
"""Entries of tables times the steps that are applied to them: a few seconds."""
_EXPECTED = 4
"""How many times as much work may be expected by the turns known, for tables become smaller."""
_STEP = 10**5
"""The work of a gradient step, however small the tables: wide graphs have turns without end."""
_SWEEPS = 4
"""How often all steps are applied to a table before nothing changes."""
_SHORT_RUN = 4


class TooLarge(Exception):
    """The tables are larger than they may be, or take too long."""


class LiveSetCosts:
    """The costs of all sets of live forward values, turn after turn.

    Parameters
    ----------
    states : States
    limit : int
        The bytes that may be live.
    below : int, optional
        Costs from here on do not count.
    over : callable
        Says when the time is over.
    results_first : bool
        Whether results among the forward values are computed before any gradient step, and stay.
        Then fewer values have to be followed, for nothing is computed for their sake later.

    Attributes
    ----------
    cost : int
        That of the forward steps of the sequence found.

    Raises
    ------
    TooLarge
        If there are too many sets for the memory or the time.
    """

    def __init__(
        self,
        states: States,
        limit: int,
        below: int | None = None,
        over: Callable[[], bool] = never,
        *,
        results_first: bool = False,
    ) -> None:
        if len(states.forward) > _MOST_VALUES or expected_work(states) > _EXPECTED * _WORK:
            raise TooLarge
        self.states = states
        self.limit = limit
        self.below = _NEVER if below is None else below
        self.over = over
        self.results_first = results_first
        self.cost = _NEVER
        self.results_live = False
        copied = [states.needs[each.bit_length() - 1] for each in bits(states.copies)]
        self.results = reduce(or_, copied, states.kept)
        self.entries, self.work = 0, 0
        # By the gradient steps done: the values that a table has, and the table.
        self.useful: dict[int, int] = {}
        self.tables: dict[int, _Table] = {}
        self.sums_of: tuple[int, _Table] = (0, np.zeros(1, np.int64))

    @small_pages()
    def cheapest(self) -> list[int] | None:
        """The sequence of least cost whose peak is within the limit; None if there is none."""
        states = self.states
        if states.never_fits(self.limit):
            return None
        first = self._empty(0)
        first[0] = 0
        level = {0: first}
        while level:
            for done, table in level.items():
                self._settle(done, table)
            parts = [part for each in level.items() for part in self._without_results(*each)]
            self.results_live = self.results_live or all(part.min() == _NEVER for part in parts)
            if states.all_done in level:
                self.cost = self._cost(states.all_done, states.kept)
                return self._sequence() if self.cost < _NEVER else None
            after: dict[int, _Table] = {}
            for done, table in level.items():
                self._run_steps(done, table.copy(), after)
            level = after
        return None

    def _settle(self, done: int, table: _Table) -> None:
        """Lower the costs of a turn by forward steps, and drop sets that cannot lead to the end."""
        if not done & self.states.copies:
            self._close(done, table)
        table[table + self._left(done) >= self.below] = _NEVER
        self.tables[done] = table
        if self.results_first and not done:
            self.tables[done] = table.copy()
            for part in self._without_results(done, table):
                part[...] = _NEVER

    def _without_results(self, done: int, table: _Table) -> Iterator[_Table]:
        """The parts of a table where one of the results is not live."""
        useful = self.useful[done]
        for value in bits(self.results & useful):
            split = _Split(useful, value)
            yield split.of(table)[split.part(0, value)]

    def _empty(self, done: int) -> _Table:
        """A new table for the turn after some gradient steps."""
        useful = self.useful[done] = self._useful(done)
        size = 1 << useful.bit_count()
        self.entries += size
        if self.entries > _MOST_ENTRIES:
            raise TooLarge
        return np.full(size, _NEVER, np.int64)

    def _useful(self, done: int) -> int:
        """The values of which some that are read later can be computed."""
        states = self.states
        if not self.results_live:
            return states.turn(done).useful
        found = 0
        for each in bits(states.all_done & ~done & ~states.copies):
            found |= states.needs[each.bit_length() - 1]
        for place in range(len(states.forward) - 1, -1, -1):
            if found >> place & 1 and not self.results >> place & 1:
                found |= states.reads[place]
        return found | self.results

    def _sums(self, useful: int) -> _Table:
        """The bytes of each set."""
        if self.sums_of[0] != useful:
            found = np.zeros(1, np.int64)
            for value in bits(useful):
                found = np.concatenate([found, found + self.states.bytes_of(value)])
            self.sums_of = useful, found
        return self.sums_of[1]

    def _left(self, done: int) -> _Table:
        """The least that each set has to pay: for all that is missing and will be read."""
        useful, states = self.useful[done], self.states
        found = np.zeros(1 << useful.bit_count(), np.int64)
        if self.below == _NEVER:
            return found
        needed = states.turn(done).needed
        wanted: dict[int, _Flags] = {}
        for value in reversed([*bits(useful)]):
            place = value.bit_length() - 1
            missing = np.zeros(found.size, np.bool_)
            split = _Split(useful, value)
            part = split.part(0, value)
            split.of(missing)[part] = bool(value & needed)
            if not value & needed and value in wanted:
                split.of(missing)[part] = split.of(wanted[value])[part]
            found += missing * states.costs[place]
            for read in bits(states.reads[place] & useful):
                wanted[read] = wanted[read] | missing if read in wanted else missing
        return found

    def _worked(self, entries: int) -> None:
        self.work += entries
        if self.work > _WORK or self.over():
            raise TooLarge

    def _close(self, done: int, table: _Table) -> None:
        """Let forward steps run until no set becomes cheaper."""
        ways = list(self._ways(done, table))
        while True:
            before = table.copy()
            for costs, prices, into in ways:
                np.minimum(into, costs + prices, out=into)
            self._worked(self.useful[done].bit_count() * table.size)
            if np.array_equal(before, table):
                return

    def _ways(self, done: int, table: _Table) -> Iterator[tuple[_Table, ...]]:
        """The ways to compute a value: costs of sets before it, its prices, and costs after it."""
        states, useful = self.states, self.useful[done]
        sums = self._sums(useful)
        for value in bits(useful):
            place = value.bit_length() - 1
            reads = states.reads[place]
            if reads & ~useful:
                continue  # A result that is live for good.
            split = _Split(useful, reads | value)
            own = split.part(reads, value)
            given = [(taken, states.work[place]) for taken in bits(states.takes[place])]
            for taken, adds in [(0, states.room[place]), *given]:
                fits = split.of(sums)[own] <= self._room(done, adds)
                prices = np.where(fits, states.costs[place], _NEVER)
                into = split.of(table)[split.part(value, taken)]
                yield from split.by_long_runs(split.of(table)[own], prices, into)

    def _run_steps(self, done: int, table: _Table, level: dict[int, _Table]) -> None:
        """Lower the costs of the next turns by gradient steps; `table` is changed."""
        turn = self.states.turn(done)
        at_once = {move.step for move in turn.shrinking}
        for move in turn.shrinking:
            self._run_step(move, done, table, level)
            # Where such a step can run nothing is lost by it, nor after values are evicted.
            table[table >= self._running(move, done, table)] = _NEVER
            if int(table.min()) == _NEVER:
                return
        for move in turn.moves:
            if move.step not in at_once:
                self._run_step(move, done, table, level)

    def _running(self, move: GradientMove, done: int, table: _Table) -> _Table:
        """The costs of the sets from which a step can run, and of all that they can be made."""
        useful = self.useful[done]
        self._worked((useful.bit_count() + 3) * table.size)
        found = np.full(table.size, _NEVER, np.int64)
        split = _Split(useful, move.needs)
        part = split.part(move.needs, 0)
        fits = split.of(self._sums(useful))[part] <= self._room(done, move.adds)
        np.copyto(split.of(found)[part], split.of(table)[part], where=fits)
        for value in bits(useful):
            split = _Split(useful, value)
            without = split.of(found)[split.part(0, value)]
            np.minimum(without, split.of(found)[split.part(value, 0)], out=without)
        return found

    def _run_step(
        self, move: GradientMove, done: int, table: _Table, level: dict[int, _Table]
    ) -> None:
        """Lower the costs of the turn after a gradient step."""
        self._worked(2 * table.size + _STEP)
        useful, left = self.useful[done], self._useful(move.after)
        if left & ~(useful | move.needs):
            raise TooLarge  # Sets of the next turn have values that those of this one do not tell.
        useless = useful & ~left & ~move.needs
        split = _Split(useful, useful & (move.needs | useless))
        part = split.part(move.needs, useless)
        costs, sums = split.of(table)[part], split.of(self._sums(useful))[part]
        for taken, adds in [(0, move.adds), *[(taken, move.work) for taken in move.takes]]:
            paid = np.where(sums <= self._room(done, adds), costs, _NEVER)
            if int(paid.min()) == _NEVER:
                continue
            if move.after not in level:
                level[move.after] = self._empty(move.after)
            after = _Split(left, move.needs & left)
            into = after.of(level[move.after])[after.part(0, taken)]
            np.minimum(into, paid.reshape(after.shape_of_part(move.needs)), out=into)

    def _room(self, done: int, adds: int) -> int:
        """The bytes left for forward values beside gradient values and what a step adds."""
        return self.limit - self.states.bytes_back(done) - adds

    def _sequence(self) -> list[int]:
        """The steps of the run of least cost, found from its end."""
        states = self.states
        steps: list[int] = []
        done, live = states.all_done, states.kept
        while done or live:
            cost = self._cost(done, live)
            before = self._step_before(done, live, cost)
            if before is not None:
                step, done, live = before
                steps.append(step)
                continue
            place, live = self._computed_last(done, live, cost)
            steps.append(states.forward[place])
        return steps[::-1]

    def _cost(self, done: int, live: int) -> int:
        return int(self.tables[done][_packed(live, self.useful[done])])

    def _step_before(self, done: int, live: int, cost: int) -> tuple[int, int, int] | None:
        """A gradient step that led to a set at its cost, what was done before, and the set then."""
        states = self.states
        for own in bits(done):
            before = done ^ own
            if before not in self.tables:
                continue
            for move in states.turn(before).moves:
                wanted = live | move.needs
                if move.after != done or self._cost(before, wanted) != cost:
                    continue
                given = any(not live & taken for taken in move.takes)
                adds = min(move.adds, move.work) if given else move.adds
                if states.bytes_of(wanted) <= self._room(before, adds):
                    return move.step, before, wanted
        return None

    def _computed_last(self, done: int, live: int, cost: int) -> tuple[int, int]:
        """The forward value that was computed last before a set was live, and the set before."""
        states = self.states
        for value in bits(live):
            place = value.bit_length() - 1
            reads = states.reads[place]
            before = live & ~value | reads
            if reads & ~self.useful[done] or self._cost(done, before) + states.costs[place] != cost:
                continue
            given = any(not live & taken for taken in bits(states.takes[place]))
            adds = states.work[place] if given else states.room[place]
            if states.bytes_of(before) <= self._room(done, adds):
                return place, before
        raise AssertionError("Nothing leads there.")


def expected_work(states: States) -> int:
    """The work of tables for the turns that searches have seen, if none becomes smaller."""
    count = len(states.forward)
    return states.known_turns * (_SWEEPS * count << count)


class _Split:
    """An axis for each of some values, and one for each run of others; the first values last.

    Parameters
    ----------
    useful : int
        The values of a table.
    values : int
        Those of them that have an axis.
    """

    def __init__(self, useful: int, values: int) -> None:
        self.axes: list[tuple[int, int]] = []  # A value or 0 for a run of others, and the length.
        for value in reversed([*bits(useful)]):
            if value & values:
                self.axes.append((value, 2))
            elif self.axes and not self.axes[-1][0]:
                self.axes[-1] = (0, 2 * self.axes[-1][1])
            else:
                self.axes.append((0, 2))

    def of(self, table: _Axes) -> _Axes:
        """A table with these axes."""
        return table.reshape([length for _, length in self.axes])

    def part(self, present: int, absent: int) -> tuple[Any, ...]:
        """The part of a table where some values are live and some are not; all axes stay."""
        found = [
            slice(1, 2) if value & present else slice(0, 1) if value & absent else slice(None)
            for value, _ in self.axes
        ]
        return (*found, ...)

    def by_long_runs(self, *parts: _Table) -> Iterator[tuple[_Table, ...]]:
        """The same parts of tables, cut where NumPy would go through them in very short runs."""
        value, length = self.axes[-1]
        if value or length > _SHORT_RUN or len(self.axes) == 1:
            yield parts
            return
        for place in range(length):
            yield tuple([part[..., place] for part in parts])

    def shape_of_part(self, present: int) -> list[int]:
        """The shape of a part where some values are live."""
        return [1 if value & present else length for value, length in self.axes]


def _packed(live: int, useful: int) -> int:
    """The index of a set in a table that has bits for useful values only."""
    return sum([1 << place for place, value in enumerate(bits(useful)) if live & value])
