r"""Plans for a chain of blocks, by dynamic programming; most deep networks are such chains.

A block is a run of forward steps of which later steps read the last value only, its *anchor*: a
residual block, an attention layer, a few links of a long chain. Let the anchor of block $i$ be
stored. For the gradient of the blocks above it up to $q$ the plan runs on to some block $s$. There
it stores either the anchor alone, and runs the block once more for its gradient; or all values of
the block that the gradient reads, and the block's gradient follows those of the blocks above:

$$C(i, q, m) = \min_s a(i, s) + \min\{C(s, q, m - |x_s|) + C(i, s, m),\;
C(s, q, m - |b_s|) + C(i, s - 1, m)\},$$

where $a$ is the cost of running blocks $i + 1$ to $s$ (Beaumont et al., ACM TOMS, 2024). Within
blocks the bytes are estimates; the memory model evaluates each plan afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, TypeAlias

import numpy as np

from ..lowering.memory_model import Model
from ..records import record
from .chains import memory_unit

__all__ = ["block_sequences"]

Table: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"

_MOST_BLOCKS = 100
_LEVELS = 200


@record
class Block:
    """Forward steps `first` to `anchor`, and the later steps `start` to `stop` that read them.

    Parameters
    ----------
    first, anchor : int
        Steps of the model, both included.
    start, stop : int
        The gradient of the block, `stop` not included.
    cost : int
        The cost of the forward steps.
    size : int
        Bytes of the anchor.
    gap : int
        Bytes of gradient values live before the gradient of the block.
    passing : int
        Most bytes while the forward steps run and only the anchor is kept.
    holding : int
        Most bytes while they run and all values that the gradient reads are kept.
    held : int
        Bytes of all values that the gradient reads, the anchor among them.
    gradient : int
        Most bytes while the gradient of the block runs, `held` included.
    """

    first: int
    anchor: int
    start: int
    stop: int
    cost: int
    size: int
    gap: int
    passing: int
    holding: int
    held: int
    gradient: int


def block_sequences(
    model: Model, backward: Collection[int], most_bytes: int, most_plans: int
) -> Iterator[list[int]]:
    """Sequences for budgets up to `most_bytes`, dearest first; none if there are no blocks."""
    length = min(backward, default=0)
    anchors = _anchors(model, length)
    starts = _starts(model, length, anchors) if len(anchors) > 1 else None
    # Values that no gradient reads (a loss) belong to the last block that has a gradient.
    while starts is not None and len(anchors) > 1 and starts[-2] == length:
        del anchors[-2], starts[-1]
    if starts is None or len(anchors) < 2:
        return
    blocks = _blocks(model, length, anchors, starts)
    solver = _BlockSolver(blocks, memory_unit(model.sizes, most_bytes, _LEVELS))
    costs = solver.top[-1]
    levels = [level for level in range(_LEVELS) if np.isfinite(costs[level])]
    first = [level for level in levels if level == levels[0] or costs[level] < costs[level - 1]]
    for level in first[:: max(1, -(-len(first) // most_plans))]:
        yield solver.sequence(level)


def _anchors(model: Model, length: int) -> list[int]:
    """The last steps of blocks: later forward steps read no value before them.

    There are at most `_MOST_BLOCKS`.
    """
    last = list(range(length))
    for step in range(length):
        for read in model.reads[step]:
            last[read] = step
    found: list[int] = []
    furthest = 0
    for step in range(length):
        # All steps before it are read for the last time at it or earlier.
        if furthest <= step and step < length - 1:
            found.append(step)
        furthest = max(furthest, last[step])
    crossed = _crossed(model, length)
    found = [step for step in found if model.sizes[step] and not crossed[step]]
    if len(found) >= _MOST_BLOCKS:
        chosen = np.linspace(0, len(found) - 1, _MOST_BLOCKS - 1).round().astype(int)
        found = [found[int(place)] for place in dict.fromkeys(chosen)]
    return [*found, length - 1] if length else []


def _crossed(model: Model, length: int) -> list[bool]:
    """For each step whether the gradient crosses it, so that no block can end there.

    It does if a later step reads values before and after it; or reads one after it, when another
    has read one before it. The value of the step itself may be read together with both.
    """
    change = [0] * (length + 1)
    begun = length
    for step in range(length, len(model) - model.copies):
        read = [each for each in model.reads[step] if each < length]
        if not read:
            continue
        low, high = min(read), max(read)
        for first in (low + 1, begun):
            if first < high:
                change[first] += 1
                change[high] -= 1
        begun = min(begun, high + (low == high))
    crossed: list[bool] = []
    crossings = 0
    for step in range(length):
        crossings += change[step]
        crossed.append(crossings > 0)
    return crossed


def _starts(model: Model, length: int, anchors: list[int]) -> list[int] | None:
    """Where each block's gradient begins; None if it does not go from the last to the first."""
    block_of = np.searchsorted(np.array(anchors), np.arange(length)).tolist()
    starts = [length] * len(anchors)
    current = len(anchors) - 1
    # Copies of outputs come last, whatever they read.
    for step in range(length, len(model) - model.copies):
        read = [each for each in model.reads[step] if each < length]
        if not read or (
            max(read) <= anchors[current] and min(read) >= _anchor_below(anchors, current)
        ):
            continue
        owner = block_of[max(read)]
        if len(read) == 1 and read[0] == anchors[owner]:
            owner += 1  # The anchor is the value that the block above begins with.
        if owner >= current or min(read) < _anchor_below(anchors, owner):
            return None
        starts[owner:current] = [step] * (current - owner)
        current = owner
    starts[:current] = [len(model)] * current
    return starts


def _anchor_below(anchors: list[int], block: int) -> int:
    """The earliest step that the gradient of a block may read: the anchor below."""
    return anchors[block - 1] if block else 0


def _blocks(model: Model, length: int, anchors: list[int], starts: list[int]) -> list[Block]:
    last_forward = list(range(length))
    last_read = list(range(len(model)))
    for step, reads in enumerate(model.reads):
        for read in reads:
            last_read[read] = step
            if step < length:
                last_forward[read] = step
    for step in model.kept:
        last_read[step] = len(model)
    gaps, at = _later_bytes(model, length, last_read)
    blocks: list[Block] = []
    for place, anchor in enumerate(anchors):
        first = anchors[place - 1] + 1 if place else 0
        start = starts[place]
        stop = starts[place - 1] if place else len(model)
        steps = range(first, anchor + 1)
        gap = gaps[start - length] if start < len(model) else 0
        passing = _forward_bytes(model, steps, last_forward, keep=anchor)[0]
        holding, held = _forward_bytes(model, steps, last_read, keep=anchor)
        cost = sum(model.costs[step] for step in steps)
        blocks.append(
            Block(
                first,
                anchor,
                start,
                stop,
                cost,
                model.sizes[anchor],
                gap,
                passing,
                holding,
                held,
                _gradient_bytes(model, steps, last_read, at, held, range(start, stop)),
            )
        )
    return blocks


def _forward_bytes(model: Model, steps: range, last: list[int], keep: int) -> tuple[int, int]:
    """Most bytes while `steps` run, values freed at their last read, and bytes left at the end."""
    live = most = 0
    for step in steps:
        dying = [read for read in model.reads[step] if read in steps and last[read] == step]
        reusable = [read for read in model.takes[step] if read in dying]
        most = max(most, live + (model.room_taking_over(step) if reusable else model.room(step)))
        live += model.sizes[step] - sum(model.sizes[read] for read in dying)
        if last[step] == step and step != keep:
            live -= model.sizes[step]
    return most, live


def _gradient_bytes(
    model: Model, steps: range, last: list[int], at: list[int], held: int, gradient: range
) -> int:
    """Most bytes while the gradient of a block runs, values freed at their last read."""
    length = len(model) - len(at)
    dying: dict[int, int] = {}
    for step in steps:
        dying[last[step]] = dying.get(last[step], 0) + model.sizes[step]
    most = 0
    for step in gradient:
        most = max(most, held + at[step - length])
        held -= dying.get(step, 0)
    return most


def _later_bytes(model: Model, length: int, last: list[int]) -> tuple[list[int], list[int]]:
    """Bytes of values outside the blocks, before and at each step after the blocks."""
    before: list[int] = []
    at: list[int] = []
    live = 0
    for step in range(length, len(model)):
        before.append(live)
        dying = [read for read in model.reads[step] if last[read] == step]
        reusable = [read for read in model.takes[step] if last[read] == step]
        at.append(live + (model.room_taking_over(step) if reusable else model.room(step)))
        live += model.sizes[step] - sum(model.sizes[read] for read in dying if read >= length)
        if last[step] == step:
            live -= model.sizes[step]
    return before, at


class _BlockSolver:
    """The table C(i, q, m): base block, last block, levels of memory; row 0 is for no block."""

    def __init__(self, blocks: list[Block], unit: int) -> None:
        self.blocks = blocks
        self.unit = unit
        count = len(blocks)
        self.costs = np.concatenate([[0.0], np.cumsum([float(each.cost) for each in blocks])])
        self.gradient = np.array([block.gradient for block in blocks])
        self.below = np.array([0, *[block.size for block in blocks[:-1]]])
        # [s, q + 1]: the cost of blocks s + 1 to q, with the anchor or all of block s stored too.
        shape = (count, count + 1, _LEVELS)
        self.anchored: Table = np.full(shape, np.inf)
        self.whole: Table = np.full(shape, np.inf)
        self.choice = np.full((count + 1, count + 1, _LEVELS), -1, dtype=np.int16)
        for base in range(count - 1, -2, -1):
            table = self._table_from(base)
            if base < 0:
                self.top = table
                continue
            for shifted, size in (
                (self.anchored, blocks[base].size),
                (self.whole, self._held(base)),
            ):
                shift = -(-size // self.unit)
                if shift < _LEVELS:
                    shifted[base, :, shift:] = table[:, : _LEVELS - shift]

    def _held(self, place: int) -> int:
        """Bytes held of a block, with the anchor below it, which its gradient may read."""
        return self.blocks[place].held + int(self.below[place])

    def _table_from(self, base: int) -> Table:
        blocks = self.blocks
        table: Table = np.zeros((len(blocks) + 1, _LEVELS))
        level = np.arange(_LEVELS) * self.unit
        passing, holding = self._running_bytes(base)
        for last in range(base + 1, len(blocks)):
            if blocks[last].start == blocks[last].stop:
                table[last + 1] = table[last]  # No gradient reads the block.
                continue
            splits = np.arange(base + 1, last + 1)
            count = len(splits)
            run = (self.costs[splits + 1] - self.costs[base + 1])[:, None]
            gap = blocks[last].gap
            totals = np.full((2 * count, _LEVELS), np.inf)
            totals[:count] = self.whole[splits, last + 1] + table[splits] + run
            # The last block is held as it runs, for no block above it comes first.
            totals[count - 1] = table[last] + run[-1]
            below = np.where(splits > base + 1, self.below[splits], 0)
            needs = np.maximum(holding[:count] + gap, self.gradient[splits] + below)
            totals[:count][level[None, :] < needs[:, None]] = np.inf
            anchored = totals[count:-1]
            anchored[:] = (self.anchored[splits, last + 1] + table[splits + 1] + run)[:-1]
            anchored[level[None, :] < (passing[: count - 1] + gap)[:, None]] = np.inf
            best = np.argmin(totals, axis=0)
            table[last + 1] = totals[best, np.arange(_LEVELS)]
            # Positive: all of block choice - 1 is held; negative: only the anchor of -choice - 1.
            self.choice[base + 1, last + 1] = np.where(
                best < count, best + base + 2, count - best - base - 2
            )
        return table

    def _running_bytes(self, base: int) -> tuple[Any, Any]:
        """Most bytes beside the stored anchor on the way to each later block.

        First those if only the anchor of the later block is kept, then those if all of it is held.
        """
        most = 0
        passing: list[int] = []
        holding: list[int] = []
        for place in range(base + 1, len(self.blocks)):
            before = int(self.below[place]) if place > base + 1 else 0
            holding.append(max(most, self.blocks[place].holding + before))
            most = max(most, self.blocks[place].passing + before)
            passing.append(most)
        return np.array(passing, dtype=np.int64), np.array(holding, dtype=np.int64)

    def sequence(self, level: int) -> list[int]:
        """The steps of the plan for a level of memory."""
        blocks = self.blocks
        order: list[int] = []
        tasks: list[tuple[int, int, int]] = [(-1, len(blocks) - 1, level)]
        while tasks:
            base, last, left = tasks.pop()
            if base == -2:  # The gradient of a block.
                order.extend(range(blocks[last].start, blocks[last].stop))
                continue
            while last > base and blocks[last].start == blocks[last].stop:
                last -= 1
            if last <= base:
                continue
            choice = int(self.choice[base + 1, last + 1, left])
            split = abs(choice) - 1
            order.extend(range(blocks[base + 1].first, blocks[split].anchor + 1))
            if choice > 0:
                tasks.append((base, split - 1, left))
                tasks.append((-2, split, 0))
                size = self._held(split)
            else:
                tasks.append((base, split, left))
                size = blocks[split].size
            tasks.append((split, last, left - -(-size // self.unit)))
        return order
