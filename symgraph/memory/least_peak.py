"""The least peak of a small graph, proven: all sets of live values that a limit lets a run reach.

Whether a run fits a limit does not depend on costs, and evicting a value is always allowed. So the
sets of forward values that can be live after some gradient steps form a *family* that holds every
subset of its members (a down-set). A family is one whole number with a bit for each set of values:
computing a value is a shift of it, and what fits is a mask, so thousands of sets take one operation
of the machine (a symbolic reachability as of Burch et al., Information and Computation 98, 1992,
with bitmaps in place of decision diagrams). A limit under which the last family is empty is proven
too small.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from math import gcd

import numpy as np

from ..lowering.memory_model import Model, least_bytes
from ..records import record
from .aims import never
from .exact_states import States
from .exact_turns import GradientMove, Turn, bits
from .plans import Plan, evaluated

__all__ = ["LeastPeak", "least_peak"]

_MOST_VALUES = 20
"""How many forward values a graph may have; with two more the bits are four times as many."""
_WORK = 120 * 10**9
"""How many bits are worked on, for all limits together: some seconds."""
_MASK_WORK = 100
"""What a bit of a mask of fitting sets costs more than one that is shifted."""
_NEAR = 0.005
"""The first limit tried is so much below what is known, as a share."""
_STEP_WORK = 30_000
_TURN_WORK = 3_000_000
"""What an operation, and what holds after some gradient steps, cost beside that, in bits."""
_MOST_MASKS = 64
_PART = 16
"""How many forward values of a larger graph are looked at, at a time."""
_STEPS_UP = 32
"""In how many steps from nothing to the known peak limits are refuted."""


@record
class LeastPeak:
    """The known bounds and plans of the least peak.

    Parameters
    ----------
    bound : int
        No run has a smaller peak, by the memory model.
    plans : list of Plan
        Plans of ever smaller peaks.
    """

    bound: int
    plans: list[Plan]


def least_peak(
    model: Model, backward: Collection[int], high: int, over: Callable[[], bool] = never
) -> LeastPeak:
    """Plans of smaller peaks than `high`, and a bound below which there is none.

    Parameters
    ----------
    model : Model
        Of more than 20 forward values there are no new plans; the bound is that of parts.
    backward : collection of int
        The steps that run once.
    high : int
        The smallest peak of the plans that are known.
    over : callable
        Says when the time is over.
    """
    forward = [step for step in range(len(model)) if step not in backward]
    rest = sorted(backward)
    low, plans = least_bytes(model), list[Plan]()
    if len(forward) > _MOST_VALUES:
        parts = list(_parts(forward))
        for part in parts:
            families = _Families(States(_without_bytes(model, part, rest), part, rest), over)
            low = _refuted(families, low, high, _WORK // len(parts) // 2)
        return LeastPeak(min(low, high), plans)
    families = _Families(States(model, forward, rest), over)
    reached, gap = high, max(1, int(_NEAR * high))
    try:
        while reached > low:
            limit = max(low, reached - gap)
            if families.reach_the_end(limit, _WORK):
                plan = evaluated(model, families.sequence(limit))
                assert plan.peak <= limit
                plans.append(plan)
                reached = plan.peak
                gap *= 2
            else:
                low = limit + 1
                gap = max(1, (reached - low) // 2)
    except _GivenUp:
        low = _refuted(families, low, reached, _WORK // 4)
    return LeastPeak(min(low, reached), plans)


def _refuted(families: _Families, low: int, high: int, left: int) -> int:
    """The bytes that every run needs, as far as it is proven from the fewest bytes up.

    Few sets fit a small limit, so it is refuted sooner than one near the least peak. At most `left`
    bits are worked on.
    """
    gap = most = max(1, high // _STEPS_UP)
    most_at_once = left // 4
    while low < high and left > 0:
        limit = min(low + gap, high) - 1
        try:
            if families.reach_the_end(limit, min(left, most_at_once)):
                high = limit
                gap = max(1, (high - low) // 2)
            else:
                low = limit + 1
        except _GivenUp:
            if families.over() or gap <= most // _STEPS_UP:
                break
            gap = max(1, gap // 4)
        left -= families.worked
    return low


def _parts(forward: list[int]) -> Iterator[list[int]]:
    """The forward values some at a time, each in two parts, the last first."""
    for end in range(len(forward), _PART // 2, -(_PART // 2)):
        yield forward[max(0, end - _PART) : end]


def _without_bytes(model: Model, part: Collection[int], rest: Collection[int]) -> Model:
    """The model as if all forward values but a part were there for nothing.

    Every run of the model is a run of this one, with as many bytes or fewer.
    """
    known = {*part, *rest}

    def of(steps: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        return tuple([tuple([each for each in found if each in known]) for found in steps])

    kept = tuple([step for step in model.kept if step in known])
    return replace(model, reads=of(model.reads), takes=of(model.takes), kept=kept)


class _GivenUp(Exception):
    """More bits were to be worked on than may be, or the time is over."""


class _Families:
    """The families of sets of live forward values that runs within a limit can have."""

    def __init__(self, states: States, over: Callable[[], bool]) -> None:
        self.states = states
        self.over = over
        self.count = len(states.forward)
        self.left, self.worked = 0, 0
        every = 1 << self.count
        self.having = {1 << place: _having(place, every) for place in range(self.count)}
        # The sets in which a value can be computed: its operands are there, and it is not.
        self.able = [
            self._containing((1 << every) - 1 ^ self.having[1 << place], states.reads[place])
            for place in range(self.count)
        ]
        self.unit = gcd(*states.sizes) or 1
        small = sum(states.sizes) // self.unit < 2**31
        self.sums = np.zeros(1, np.int32 if small else np.int64)
        for size in states.sizes:
            self.sums = np.concatenate([self.sums, self.sums + size // self.unit])
        self.masks: dict[int, int] = {}
        self.seeds: dict[int, int] = {}
        self.found: dict[int, int] = {}

    def reach_the_end(self, limit: int, most: int) -> bool:
        """Whether some run fits the limit.

        Parameters
        ----------
        limit : int
        most : int
            How many bits are worked on at most.

        Raises
        ------
        _GivenUp
            If it would take too long.
        """
        states = self.states
        self.seeds, self.found = {}, {}
        self.left, self.worked = most, 0
        if states.never_fits(limit):
            return False
        # By the gradient steps done, as many at each level: the family at the start of a turn.
        levels: list[dict[int, int]] = [{} for _ in range(len(states.rest) + 1)]
        levels[0][0] = 1
        for level in levels:
            while level:
                done, seed = level.popitem()
                self._work(_TURN_WORK)
                turn = states.turn(done)
                family = seed
                if not done & states.copies:
                    family = self._closed(seed, limit - turn.held, turn.useful)
                self.seeds[done], self.found[done] = seed, family
                if done == states.all_done:
                    return bool(self._containing(family, states.kept))
                self._run_steps(turn, family, limit, levels)
        return False

    def _run_steps(self, turn: Turn, family: int, limit: int, levels: list[dict[int, int]]) -> None:
        """Add the results of gradient steps to the families of the next turns."""
        at_once = {move.step for move in turn.shrinking}
        for move in turn.shrinking:
            moved = self._run_step(move, turn, family, limit, levels)
            # A set from which such a step can run loses nothing by it, nor does any subset.
            family &= ~self._with_subsets(moved, (1 << self.count) - 1)
            if not family:
                return
        for move in turn.moves:
            if move.step not in at_once:
                self._run_step(move, turn, family, limit, levels)

    def _run_step(
        self,
        move: GradientMove,
        turn: Turn,
        family: int,
        limit: int,
        levels: list[dict[int, int]],
    ) -> int:
        """Run a gradient step from a family; the sets from which it takes over no forward value."""
        self._work(family.bit_length() * (move.needs.bit_count() + 6))
        source = self._containing(family, move.needs)
        new = moved = source and source & self._fitting(limit - turn.held - move.adds)
        for taken in move.takes if source else ():
            fits = self._fitting(limit - turn.held - move.work)
            new |= (self._containing(source, taken) & fits) >> taken
        if new:
            useless = (1 << self.count) - 1 & ~move.useful
            new = self._with_subsets(new, move.needs | useless)
            for value in bits(useless):
                new &= ~self.having[value]
            level = levels[move.after.bit_count()]
            level[move.after] = level.get(move.after, 0) | new
        return moved

    def _closed(
        self, family: int, room: int, useful: int, changes: list[tuple[int, int]] | None = None
    ) -> int:
        """The family with all sets that computing values leads to; `changes` notes the way."""
        states = self.states
        before = -1
        while family != before:
            before = family
            for place in range(self.count):
                own = 1 << place
                source = family & self.able[place] if useful & own else 0
                if not source:
                    continue
                fits = self._fitting(room - states.work[place])
                new = source << own & fits
                for taken in bits(states.takes[place]):
                    new |= (source & fits) >> taken << own
                new = family | self._with_subsets(new, states.reads[place])
                if new != family and changes is not None:
                    changes.append((place, family))
                family = new
        return family

    def _work(self, bits_worked_on: int) -> None:
        self.worked += bits_worked_on + _STEP_WORK
        if self.worked > self.left or self.over():
            raise _GivenUp

    def _fitting(self, room: int) -> int:
        """The sets of at most so many bytes."""
        found = self.masks.get(room)
        if found is None:
            if len(self.masks) == _MOST_MASKS:
                self.masks.clear()
            self._work(_MASK_WORK * len(self.sums))
            packed = np.packbits(self.sums <= room // self.unit, bitorder="little")
            found = self.masks[room] = int.from_bytes(packed.tobytes(), "little")
        return found

    def _containing(self, family: int, values: int) -> int:
        """The sets of a family that have all these values."""
        for value in bits(values):
            family &= self.having[value]
        return family

    def _with_subsets(self, family: int, values: int) -> int:
        """The family with the sets that lack some of these values."""
        self._work(family.bit_length() * (3 * values.bit_count() + 6))
        for value in bits(values):
            family |= (family & self.having[value]) >> value
        return family

    def sequence(self, limit: int) -> list[int]:
        """The steps of a run within a limit that has just been found to be enough."""
        states = self.states
        steps: list[int] = []
        done, live = states.all_done, states.kept
        while True:
            live = self._computed(done, live, limit, steps)
            if not done:
                return steps[::-1]
            move, done, live = self._step_before(done, live, limit)
            steps.append(move.step)

    def _computed(self, done: int, live: int, limit: int, steps: list[int]) -> int:
        """The set at the start of a turn that leads to `live`; the way there is added backwards."""
        states, turn = self.states, self.states.turn(done)
        changes: list[tuple[int, int]] = []
        if not done & states.copies:
            self._closed(self.seeds[done], limit - turn.held, turn.useful, changes)
        for place, before in reversed(changes):
            if not before >> live & 1:
                live = live & ~(1 << place) | states.reads[place]
                steps.append(states.forward[place])
        assert self.seeds[done] >> live & 1
        return live

    def _step_before(self, done: int, live: int, limit: int) -> tuple[GradientMove, int, int]:
        """A gradient step that led to a turn, what was done before it, and the set it ran from."""
        states = self.states
        for own in bits(done):
            before = done ^ own
            if before not in self.found:
                continue
            turn = states.turn(before)
            for move in turn.moves:
                wanted = live | move.needs
                if move.after != done or not self.found[before] >> wanted & 1:
                    continue
                held = states.bytes_of(wanted) + turn.held
                given = any(not live & taken for taken in move.takes)
                if held + move.adds <= limit or (given and held + move.work <= limit):
                    return move, before, wanted
        raise AssertionError("No step leads there.")


def _having(place: int, every: int) -> int:
    """The sets that have a value: a run of ones after one of zeros, again and again."""
    width = 2 << place
    found = (1 << (1 << place)) - 1 << (1 << place)
    while width < every:
        found |= found << width
        width *= 2
    return found
