"""What a call of a transformed function costs, and how much of it is the look at captured state.

python benchmarks/bench_calls.py
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import symgraph as sg
from symgraph.capture.captured import captured

W = np.ones(3)
DATA = np.ones((5, 3))
LARGE = np.ones((10_000, 3))
HUGE = np.ones((1_000_000, 3))


class Model:
    """Data and a number as attributes."""

    def __init__(self) -> None:
        self.X = np.ones((100, 3))
        self.k = 2.0

    def loss(self, w: Any) -> Any:
        return self.k * np.sum(self.forward(w) ** 2)

    def forward(self, w: Any) -> Any:
        return self.X @ w


def nothing(w: Any) -> Any:
    """Reads its argument only."""
    return np.sum(w * w)


def argument(w: Any, x: Any) -> Any:
    """Is given its data."""
    return np.sum((x @ w) ** 2)


def small(w: Any) -> Any:
    """Reads a global array of 120 bytes."""
    return np.sum((DATA @ w) ** 2)


def large(w: Any) -> Any:
    """Reads one of 240 kB, compared whole."""
    return np.sum((LARGE @ w) ** 2)


def huge(w: Any) -> Any:
    """Reads one of 24 MB, compared at samples."""
    return np.sum((HUGE @ w) ** 2)


def seconds(call: Callable[[], Any]) -> float:
    """The least time of a call, of the processor."""
    once = timeit.timeit(call, number=3, timer=time.process_time) / 3
    number = max(1, int(0.02 / max(once, 1e-7)))
    return min(timeit.repeat(call, number=number, repeat=15, timer=time.process_time)) / number


def main() -> None:
    """Print the table."""
    rows: list[tuple[str, Any, tuple[Any, ...]]] = [
        ("captures nothing", nothing, (W,)),
        ("data as an argument", argument, (W, DATA)),
        ("a small global array", small, (W,)),
        ("a method", Model().loss, (W,)),
        ("a global array of 240 kB", large, (W,)),
        ("a global array of 24 MB", huge, (W,)),
    ]
    print(f"{'':26}{'call':>12}{'the look':>12}")
    for name, f, args in rows:
        transform = sg.grad(f)
        transform(*args)
        found = captured([("f", f)])
        times = [seconds(lambda t=transform, a=args: t(*a)), seconds(found.unchanged)]
        print(f"{name:26}" + "".join(f"{1e6 * each:9.2f} us" for each in times))


if __name__ == "__main__":
    main()
