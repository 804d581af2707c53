"""Models of random functions and their gradients, for the planner."""

from __future__ import annotations

import numpy as np

from symgraph.lowering.memory_model import Model

__all__ = ["joint"]


def joint(count: int, seed: int) -> Model:
    """Random forward values; for each a gradient step, and for some a weight gradient."""
    random = np.random.default_rng(seed)
    reads: list[tuple[int, ...]] = [()]
    for step in range(1, count):
        near = max(0, step - 1 - int(random.exponential(2)))
        reads.append(tuple(sorted({step - 1, near})))
    sizes = [int(each) for each in random.integers(1, 9, count)]
    costs = [int(each) for each in random.integers(1, 20, count)]
    gradient: dict[int, int] = {}
    for step in range(count - 1, -1, -1):
        later = [other for other in range(step + 1, count) if step in reads[other]]
        needs = {gradient[other] for other in later} | {each for o in later for each in reads[o]}
        gradient[step] = len(reads)
        reads.append(tuple(sorted(needs or {step})))
        sizes.append(sizes[step])
        if step and random.random() < 0.5:
            reads.append((*reads[step], gradient[step]))
            sizes.append(int(random.integers(1, 4)))
    costs += [1] * (len(reads) - count)
    read = {each for part in reads for each in part}
    kept = tuple(step for step in range(count, len(reads)) if step not in read)
    takes: tuple[tuple[int, ...], ...] = ((),) * len(reads)
    return Model((), tuple(reads), tuple(sizes), tuple(costs), takes, kept)
