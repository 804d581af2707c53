r"""Plans for chains, by dynamic programming: optimal among persistent schedules.

In a chain each forward value is computed from the one before it (and from inputs, which are not
counted), and the backward steps read the forward values from the last to the first. Most networks
are chains in this sense. Let $x_i$ be stored. To do the stages above $i$ up to stage $q$, the plan
advances to some $x_s$ and stores it, does the stages above $s$, then stage $s$ itself, and then the
rest from $x_i$ again:

$$C(i, q, m) = \min_s \; a(i, s) + C(s, q, m - |x_s|) + C(i, s^-, m),$$

where $a$ is the cost of the advance and $m$ the bytes left. A split counts only if the advance and
the steps of the stage fit into $m$. On uniform chains this is the binomial schedule of Griewank and
Walther (revolve, ACM TOMS 26(1), 2000); for unequal sizes and costs see Beaumont et al. (ACM TOMS,
2024). One table holds every budget, so it gives the whole front of peak against cost at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import gcd
from typing import Any, TypeAlias

import numpy as np

from ..lowering.memory_model import Model
from ..records import record

__all__ = ["Chain", "chain_of", "chain_sequences", "memory_unit"]

Table: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Indices: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"

_TABLE = 4_000_000
"""The most entries of the table, splits x stages x budgets; each takes 10 bytes."""
_MOST_LEVELS = 4096
_FEWEST_LEVELS = 64
_LOSS = 16
"""How many of the last steps, such as those of a loss, may be left out of the chain."""


@record
class ChainStage:
    """The steps after the chain that read one chain value, and all steps up to the next stage.

    Parameters
    ----------
    index : int
        The chain value.
    pair : bool
        Whether the chain value before it is read too.
    start, stop : int
        Steps of the model.
    gap : int
        Bytes of other values live before the stage.
    reading : int
        Most bytes of other values while the chain value is still needed.
    trailing : int
        Most bytes of other values afterwards.
    """

    index: int
    pair: bool
    start: int
    stop: int
    gap: int
    reading: int
    trailing: int


@record
class Chain:
    """A model whose first `length` steps are a chain, read in stages from the last to the first.

    `stages` are in order of their index, the last one run first.
    """

    model: Model
    length: int
    stages: tuple[ChainStage, ...]


def chain_of(model: Model) -> Chain | None:
    """The model as a chain, or None if it is not one.

    The chain is the longest prefix of steps whose values are read from the last to the first. The
    last few steps (a loss) may be read in another order; they then count as later steps.
    """
    longest = 0
    while longest < len(model) and model.reads[longest] == ((longest - 1,) if longest else ()):
        longest += 1
    longest = min([longest, *model.kept])
    for length in range(longest, max(2, longest - _LOSS), -1):
        starts = _stage_starts(model, length)
        if starts is not None and starts[0][1] == length - 1:
            return Chain(model, length, _stages(model, length, starts))
    return None


def _stages(
    model: Model, length: int, starts: list[tuple[int, int, bool]]
) -> tuple[ChainStage, ...]:
    live, at, chain_last = _bytes_of_rest(model, length)
    stages: list[ChainStage] = []
    stops = [*[start for start, _, _ in starts[1:]], len(model)]
    for (start, index, pair), stop in zip(starts, stops, strict=True):
        last = min(max(chain_last[index], start), stop - 1)
        stages.append(
            ChainStage(
                index,
                pair,
                start,
                stop,
                live[start - length],
                max(at[start - length : last + 1 - length]),
                max(at[last + 1 - length : stop - length], default=0),
            )
        )
    return tuple(reversed(stages))


def _stage_starts(model: Model, length: int) -> list[tuple[int, int, bool]] | None:
    """Each stage in order of running: first step, chain value, and whether it is a pair."""
    starts: list[tuple[int, int, bool]] = []
    for step in range(length, len(model)):
        read = [each for each in model.reads[step] if each < length]
        if not read:
            continue
        high, low = max(read), min(read)
        if high - low > 1:
            return None
        if starts and high > starts[-1][1]:
            # The stage of a pair's lower value may read the upper value again.
            return None
        if starts and high == starts[-1][1]:
            start, index, pair = starts[-1]
            starts[-1] = (start, index, pair or low < high)
        else:
            starts.append((step if starts else length, high, low < high))
    return starts or None


def _bytes_of_rest(model: Model, length: int) -> tuple[list[int], list[int], list[int]]:
    """Bytes of other values before and at each later step, and the last reader of chain values."""
    last = list(range(len(model)))
    for step, reads in enumerate(model.reads):
        for read in reads:
            last[read] = step
    for step in model.kept:
        last[step] = len(model)
    before: list[int] = []
    at: list[int] = []
    live = 0
    for step in range(length, len(model)):
        before.append(live)
        dying = [read for read in model.reads[step] if last[read] == step]
        reusable = [read for read in model.takes[step] if last[read] == step]
        size = model.sizes[step]
        # A buffer to take over has the size of the result, so any of several will do.
        at.append(live + (model.room_taking_over(step) if reusable else model.room(step)))
        live += size - sum(model.sizes[read] for read in dying if read >= length)
        if last[step] == step:
            live -= size
    return before, at, last[:length]


class _ChainSolver:
    """The table C(i, q, m) over splits, stages and levels of memory, from which plans are read."""

    def __init__(self, chain: Chain, splits: list[int], levels: int, unit: int) -> None:
        self.chain = chain
        self.splits = [-1, *splits]
        self.levels = levels
        self.unit = unit
        model, length = chain.model, chain.length
        self.rank = {stage.index: rank for rank, stage in enumerate(chain.stages)}
        self.costs = np.concatenate([[0.0], np.cumsum(np.array(model.costs[:length], np.float64))])
        sizes = np.array([0, *[model.sizes[split] for split in splits]])
        self.units = -(-sizes // unit)
        indices = np.array([stage.index for stage in chain.stages])
        # Row r + 1 of a table is for the stages up to rank r, row 0 for no stage.
        self.row_below = np.searchsorted(indices, np.array(self.splits), side="left")
        shape = (len(self.splits), len(chain.stages) + 1, levels)
        self.shifted: Table = np.full(shape, np.inf)
        self.choice = np.full(shape, -1, dtype=np.int16)
        self._solve()

    def _solve(self) -> None:
        for at in range(len(self.splits) - 1, -1, -1):
            table = self._table_from(at)
            shift = int(self.units[at])
            if at == 0:
                self.top = table
            elif shift < self.levels:
                self.shifted[at, :, shift:] = table[:, : self.levels - shift]

    def _table_from(self, at: int) -> Table:
        """C(i, ., .) for one stored value i; the rows of stages at or below i are zero."""
        origin = self.splits[at]
        stages = self.chain.stages
        table: Table = np.zeros((len(stages) + 1, self.levels))
        later = np.arange(at + 1, len(self.splits))
        if not len(later):
            return table
        ends = np.array(self.splits)[later]
        advance = self.costs[ends + 1] - self.costs[origin + 1]
        transient = self._transients(origin)[ends - origin - 1]
        floor, row = self._split_terms(origin, later)
        level = np.arange(self.levels)
        for rank, stage in enumerate(stages):
            if stage.index <= origin:
                continue
            count = int(np.searchsorted(ends, stage.index, side="right"))
            needs = np.maximum(floor[:count], transient[:count] + stage.gap)
            rows = row[:count]
            totals = self.shifted[later[:count], rank + 1] + table[rows] + advance[:count, None]
            # A split at a pair's upper value cannot postpone the stage of this value.
            totals[rows > rank] = np.inf
            totals[level[None, :] < -(-needs // self.unit)[:, None]] = np.inf
            best = np.argmin(totals, axis=0)
            table[rank + 1] = totals[best, level]
            self.choice[at, rank + 1] = best + at + 1
        return table

    def _split_terms(self, origin: int, later: Indices) -> tuple[Indices, Indices]:
        """For each split: the bytes its own stage needs, and the row of the stages left then."""
        floor = np.zeros(len(later), dtype=np.int64)
        row = self.row_below[later].copy()
        for place, each in enumerate(later):
            split = self.splits[int(each)]
            rank = self.rank.get(split)
            if rank is None:
                continue
            stage = self.chain.stages[rank]
            if stage.pair and origin != split - 1:
                row[place] += 1
            else:
                held = self.chain.model.sizes[split] + stage.reading
                floor[place] = max(held, stage.trailing)
        return floor, row

    def _transients(self, origin: int) -> Indices:
        """Most bytes beside the stored value while the plan advances to each later value."""
        model = self.chain.model
        found: list[int] = []
        most = before = 0
        for step in range(origin + 1, self.chain.length):
            over = bool(model.takes[step]) and step - 1 != origin
            room = model.room_taking_over(step) if over else model.room(step)
            most = max(most, before + room)
            found.append(most)
            before = model.sizes[step]
        return np.array(found, dtype=np.int64)

    def sequence(self, level: int) -> list[int]:
        """The steps of the plan for a level of memory."""
        chain = self.chain
        order: list[int] = []
        tasks: list[tuple[int, int, int]] = [(0, len(chain.stages), level)]
        while tasks:
            at, row, left = tasks.pop()
            if at < 0:
                stage = chain.stages[row]
                order.extend(range(stage.start, stage.stop))
                continue
            if row == 0 or chain.stages[row - 1].index <= self.splits[at]:
                continue
            split = int(self.choice[at, row, left])
            origin, end = self.splits[at], self.splits[split]
            order.extend(range(origin + 1, end + 1))
            rank = self.rank.get(end)
            postponed = rank is not None and chain.stages[rank].pair and origin != end - 1
            tasks.append((at, int(self.row_below[split]) + postponed, left))
            if rank is not None and not postponed:
                tasks.append((-1, rank, 0))
            tasks.append((split, row, left - int(self.units[split])))
        return order


def chain_sequences(chain: Chain, most_bytes: int, most_plans: int) -> Iterator[list[int]]:
    """Sequences of least cost for each budget up to `most_bytes`, dearest first.

    There are none if the chain is too long for the table.
    """
    model, length = chain.model, chain.length
    splits = _splits(chain)
    if any(stage.pair and stage.index - 1 not in splits for stage in chain.stages if stage.index):
        splits = list(range(length))
    levels = _TABLE // ((len(splits) + 1) * (len(chain.stages) + 1))
    if levels < _FEWEST_LEVELS or len(splits) > 30_000:
        return
    unit = memory_unit(model.sizes, most_bytes, min(levels, _MOST_LEVELS))
    solver = _ChainSolver(chain, splits, most_bytes // unit + 2, unit)
    costs = solver.top[-1]
    feasible = np.flatnonzero(np.isfinite(costs))
    first = [level for level in feasible if level == feasible[0] or costs[level] < costs[level - 1]]
    step = max(1, -(-len(first) // most_plans))
    for level in first[::step]:
        yield solver.sequence(int(level))


def memory_unit(sizes: Collection[int], most_bytes: int, levels: int) -> int:
    """The bytes of one level of a table, so that `levels` of them reach `most_bytes`.

    If possible all sizes are whole numbers of levels, else at least the large sizes are.
    """
    whole = gcd(*sizes) or 1
    least = -(-most_bytes // max(1, levels - 2))
    if whole >= least:
        return whole
    large = gcd(*[size for size in sizes if size >= 4 * least])
    return -(-large // (large // least)) if large >= least else least


def _splits(chain: Chain) -> list[int]:
    """The chain values worth storing: those that a stage reads, and smaller ones before them.

    Any other value is not smaller than the next value that is read, which serves as well.
    """
    sizes = chain.model.sizes
    read = {stage.index for stage in chain.stages}
    found: list[int] = []
    smallest = 0
    for index in range(chain.length - 1, -1, -1):
        if index in read or sizes[index] < smallest:
            smallest = sizes[index]
            found.append(index)
    found.reverse()
    return found
