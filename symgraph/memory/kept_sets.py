"""Plans by choosing the values that are kept from the forward part to the backward part.

A value that the backward part reads is either kept or computed again from kept values. Values are
dropped greedily, those first that cost least to compute again for each byte: the cost of a value is
that of the values it needs which are neither kept nor computed again anyway. So cheap elementwise
values come first. Values computed again from one another form a *segment*, whose bytes are live at
once. So segments are kept short in two ways: all values live at some places of the forward part are
kept, as in the square root rule of Chen et al. (arXiv:1604.06174), or a segment may not grow beyond
some bytes. Each way gives one sequence of kept sets; plans are made at some of them.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Collection, Iterator
from itertools import accumulate

from ..lowering.memory_model import Model

__all__ = ["kept_set_sequences"]

_SEGMENTS = (0.05, 0.15, 1.0)
"""The most bytes of a segment, as a share of all bytes that the backward part reads."""
_CUTS = (2, 3, 5, 8, 12, 18, 27, 40)
"""At how many places of the forward part all live values are kept."""
_STEPS = 600_000
"""Steps of all sequences together."""


def kept_set_sequences(model: Model, backward: Collection[int]) -> Iterator[list[int]]:
    """Sequences of steps, from few values computed again to many, for each way to cut."""
    greedy = _Greedy(model, backward)
    if len(greedy.wanted) < 2:
        return
    total = sum(model.sizes[step] for step in greedy.wanted)
    cuts = [count for count in _CUTS if count <= len(greedy.wanted) // 2]
    ways = [(int(share * total), set[int]()) for share in _SEGMENTS]
    ways += [(total * len(model), greedy.cuts(count)) for count in cuts]
    points = max(2, min(24, _STEPS // (len(ways) * len(model))))
    for limit, fixed in ways:
        for kept in greedy.kept_sets(limit, points, fixed):
            yield greedy.sequence(kept)


class _Greedy:
    def __init__(self, model: Model, backward: Collection[int]) -> None:
        self.model = model
        self.rest = sorted(backward)
        self.forward = [step for step in range(len(model)) if step not in backward]
        inside = set(self.forward)
        handed_out = set(model.kept)
        read = {each for step in self.rest for each in model.reads[step] if each in inside}
        self.always = {step for step in self.forward if step in handed_out}
        self.wanted = sorted(
            step for step in read if step not in handed_out and model.sizes[step] > 0
        )
        self.readers: dict[int, list[int]] = {step: [] for step in self.forward}
        for step in self.forward:
            for each in model.reads[step]:
                self.readers[each].append(step)

    def kept_sets(self, limit: int, points: int, fixed: Collection[int] = ()) -> Iterator[set[int]]:
        """The kept sets at some points on the way from all to few."""
        sizes = self.model.sizes
        always = {*self.always, *fixed}
        first = [each for each in self.wanted if each not in always]
        kept = {*first, *always}
        segments = _Segments(limit)
        heap = [(0.0, step) for step in first]
        gap = sum(sizes[step] for step in first) / points
        freed, mark = 0, gap
        while heap:
            seen, step = heapq.heappop(heap)
            if step not in kept:
                continue
            ways = self._ways(step, kept, segments)
            if ways[0][0] > seen and heap and ways[0][0] > heap[0][0]:
                heapq.heappush(heap, (ways[0][0], step))
                continue
            # The second way keeps another value, so its segment is shorter.
            way = next((way for way in ways if self._joined(segments, step, way[1])), None)
            if way is None:
                continue
            _, again, added = way
            kept.discard(step)
            kept.update(added)
            freed += sizes[step] - sum(sizes[each] for each in added)
            for each in (*again, *added):
                # Values computed from it have become cheaper, and it may be dropped itself.
                for reader in (*self.readers[each], *added):
                    if reader in kept and reader not in always and sizes[reader]:
                        heapq.heappush(heap, (0.0, reader))
            if freed >= mark:
                mark = freed + gap
                yield set(kept)
        yield kept

    def _joined(self, segments: _Segments, step: int, again: Collection[int]) -> bool:
        """Join the steps computed again to the segments near them, if the limit allows it."""
        near = [each for each in again if each != step]
        near += [each for each in self.readers[step] if each in segments]
        return segments.joined(step, near, sum(self.model.sizes[each] for each in again))

    def cuts(self, count: int) -> set[int]:
        """Values that are live at `count` places of the forward part, where few bytes are.

        Each place is the one of fewest bytes in the middle half of an equal part of the bytes that
        are read backward.
        """
        forward, sizes = self.forward, self.model.sizes
        place_of = {step: place for place, step in enumerate(forward)}
        ends = [
            max([place_of[reader] for reader in self.readers[step]], default=place)
            for place, step in enumerate(forward)
        ]
        changes = [0] * (len(forward) + 1)
        for place, step in enumerate(forward):
            changes[place] += sizes[step]
            changes[ends[place]] -= sizes[step]
        live = list(accumulate(changes))  # Live after each place, for later forward steps.
        read_backward = set(self.wanted)
        below = list(accumulate([sizes[step] * (step in read_backward) for step in forward]))
        found: set[int] = set()
        for number in range(1, count + 1):
            low = bisect_left(below, below[-1] * (number - 0.25) / (count + 1))
            high = bisect_left(below, below[-1] * (number + 0.25) / (count + 1))
            at = min(range(low, high + 1), key=lambda place: (live[place], place))
            found.update(forward[each] for each in range(at + 1) if ends[each] > at)
        return found

    def _ways(
        self, step: int, kept: set[int], segments: _Segments
    ) -> list[tuple[float, list[int], list[int]]]:
        """The ways to drop a value: cost for each byte, steps computed again, and kept instead.

        A value that only the forward part reads is either computed again too, or kept instead.
        """
        costs, sizes = self.model.costs, self.model.sizes
        again = self._computed_again(step, kept, segments)
        ways = [(sum(costs[each] for each in again) / sizes[step], again, list[int]())]
        reads = self.model.reads[step]
        added = [each for each in reads if each not in kept and each not in segments]
        gain = sizes[step] - sum(sizes[each] for each in added)
        if len(again) > 1 and gain > 0:
            ways.append((costs[step] / gain, [step], added))
        return sorted(ways, key=lambda way: way[0])

    def _computed_again(self, step: int, kept: set[int], segments: _Segments) -> list[int]:
        """The steps that have to be computed again only if `step` is."""
        found = {step}
        stack = [step]
        while stack:
            for read in self.model.reads[stack.pop()]:
                if read not in found and read not in kept and read not in segments:
                    found.add(read)
                    stack.append(read)
        return list(found)

    def sequence(self, kept: set[int]) -> list[int]:
        """The forward part, then the backward part with values computed again when first read."""
        reads = self.model.reads
        order = list(self.forward)
        live = set(kept)
        for step in self.rest:
            missing: set[int] = set()
            stack = [step]
            while stack:
                for read in reads[stack.pop()]:
                    if read in self.readers and read not in live and read not in missing:
                        missing.add(read)
                        stack.append(read)
            again = sorted(missing)
            order.extend(again)
            live.update(again)
            order.append(step)
        return order


class _Segments:
    """Values that are computed again, in sets of values that are computed from one another."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.parent: dict[int, int] = {}
        self.bytes: dict[int, int] = {}

    def __contains__(self, step: int) -> bool:
        return step in self.parent

    def _root(self, step: int) -> int:
        root = step
        while self.parent[root] != root:
            root = self.parent[root]
        while self.parent[step] != root:
            self.parent[step], step = root, self.parent[step]
        return root

    def joined(self, step: int, near: Collection[int], size: int) -> bool:
        """Join a value and those near it to one segment; False if it would be too large."""
        roots = {self._root(each) for each in near if each in self.parent}
        total = size + sum(self.bytes[root] for root in roots)
        if total > self.limit and total > size:
            return False
        self.parent[step] = step
        for root in roots:
            self.parent[root] = step
        for each in near:
            self.parent.setdefault(each, step)
        self.bytes[step] = total
        return True
