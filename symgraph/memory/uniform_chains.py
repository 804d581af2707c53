r"""Plans for long uniform chains by the closed form of Griewank and Walther (revolve, TOMS 2000).

Let $l$ steps be reversed from a stored value with $s$ values of memory, the stored one among them,
and let $r$ be the least number with $\binom{s+r}{s} \ge l$. The plan advances by some $j$ with
$\beta(s, r-2) \le j \le \beta(s, r-1)$ and $\beta(s-1, r-1) \le l - j \le \beta(s-1, r)$, where
$\beta(s, r) = \binom{s+r}{s}$; stores the value there; reverses the steps above it with $s - 1$
values, and those below it with $s$. In all it advances by $r l - \binom{s+r}{s+1}$ steps, the
fewest of all. So no table is needed, and the time to plan grows with the length of the plan alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

from .chains import Chain

__all__ = ["is_uniform", "revolve_cost", "uniform_sequence", "uniform_sequences"]

_MOST_STEPS = 20
"""The most forward steps of a plan, in units of the chain: plans beyond would take too long."""
_TOTAL_STEPS = 1_500_000
"""Steps of all plans of one chain together."""


def is_uniform(chain: Chain) -> bool:
    """Whether all values have one size and one cost, and each is read by one stage."""
    model, length = chain.model, chain.length
    alike = len(set(model.sizes[:length])) == len(set(model.costs[:length])) == 1
    read = [stage.index for stage in chain.stages]
    whole = read == list(range(length - len(read), length)) and len(read) >= length - 2
    return alike and whole and not any(stage.pair for stage in chain.stages)


def _repetitions(steps: int, values: int) -> int:
    """The least r with C(values + r, values) at least `steps`."""
    low, high = 0, 1
    while comb(values + high, values) < steps:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        if comb(values + middle, values) < steps:
            low = middle + 1
        else:
            high = middle
    return low


def revolve_cost(steps: int, values: int) -> int:
    """The fewest forward steps that reverse `steps` steps with `values` values of memory."""
    r = _repetitions(steps, values)
    return r * steps - comb(values + r, values + 1)


def _advance(steps: int, values: int) -> int:
    """By how many steps the plan advances before it stores a value."""
    if values == 1:
        return steps - 1
    r = _repetitions(steps, values)
    below = comb(values + r - 2, values) if r > 1 else 0
    return min(steps - 1, max(1, below, steps - comb(values - 1 + r, values - 1)))


def uniform_sequence(chain: Chain, values: int) -> list[int]:
    """The steps of the plan that holds `values` values of the chain at most."""
    stages = {stage.index: stage for stage in chain.stages}
    order = list(range(chain.length, chain.stages[-1].start))
    # Base, last stage and values of memory; a base of -2 is the stage itself.
    tasks = [(-1, chain.length - 1, values)]
    while tasks:
        base, last, left = tasks.pop()
        if base == -2:
            stage = stages.get(last)
            order.extend(range(stage.start, stage.stop) if stage else ())
            continue
        if last <= base:
            continue
        split = base + _advance(last - base + 1, left)
        order.extend(range(base + 1, split + 1))
        tasks += [(base, split - 1, left), (-2, split, 0), (split, last, left - 1)]
    return order


def uniform_sequences(chain: Chain) -> Iterator[list[int]]:
    """Plans for rising numbers of values, all of them where the chain is short enough."""
    length = chain.length
    most = length + 1
    counts: list[int] = []
    at = 1
    room = max(8, _TOTAL_STEPS // (3 * len(chain.model)))
    ratio = max(1.0, most ** (1 / room))
    while at <= most:
        counts.append(at)
        at = max(at + 1, int(at * ratio) if length > room else 0)
    for values in counts:
        if revolve_cost(length + 1, values) <= _MOST_STEPS * (length + 1):
            yield uniform_sequence(chain, values)
