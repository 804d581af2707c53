"""The program under construction: its values at the tried inputs decide which steps are safe."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from .namespaces import NUMPY
from .program import Input, Line

__all__ = ["Builder"]

Value = np.ndarray[Any, Any]

LARGEST = 60.0
"""Values beyond are squashed before they are used again: cancellation stays mild."""
MARGIN = 0.02
"""Distance kept from kinks and ties, far above what float32 rounding moves a value."""


NUMBERS = (
    "2",
    "3",
    "4",
    "0.5",
    "1.5",
    "1",
    "-1",
    "-2",
    "0.25",
    "2.0",
    "1.0",
    "-0.5",
    "0.7",
    "-1.0",
)


class Builder:
    """Lines made so far, and the value of each at the tried inputs."""

    def __init__(self, seed: int, inputs: tuple[Input, ...]) -> None:
        self.rng = random.Random(seed)
        self.inputs = inputs
        self.lines: list[Line] = []
        self.values: list[Value] = [each.value for each in inputs]

    # -- taking steps -----------------------------------------------------------------------------
    def add(self, text: str, *args: int) -> int | None:
        """The position of a new line; None if its value is not finite or too large to carry on."""
        names = {f"v{i}": self.values[a] for i, a in enumerate(args)}
        expression = text.format(*names)
        with np.errstate(all="ignore"):
            value = np.asarray(eval(expression, {"np": NUMPY.np, "sp": NUMPY.sp, **names}))
        sound = value.dtype.kind != "f" or (
            bool(np.all(np.isfinite(value))) and _magnitude(value) <= 1e4
        )
        if not sound or value.size > 300 or value.ndim > 5:
            return None
        self.lines.append(Line(text, args))
        self.values.append(value)
        position = len(self.values) - 1
        if value.dtype.kind == "f" and _magnitude(value) > LARGEST:
            return self.add(self.rng.choice(["np.tanh({0})", "{0} * 0.01", "{0} / 100"]), position)
        return position

    # -- choosing operands ------------------------------------------------------------------------
    def pick(self, accept: Callable[[Value], bool] = lambda _: True) -> int | None:
        """A floating value, recent ones more often."""
        found = [
            i for i, value in enumerate(self.values) if value.dtype.kind == "f" and accept(value)
        ]
        if not found:
            return None
        if self.rng.random() < 0.6:
            return found[-1 - min(int(self.rng.expovariate(0.6)), len(found) - 1)]
        return self.rng.choice(found)

    def shaped(self, *ranks: int) -> int | None:
        """A value of one of these ranks."""
        return self.pick(lambda value: value.ndim in ranks)

    def partner(self, position: int, accept: Callable[[Value], bool] | None = None) -> int | None:
        """A value that broadcasts against the one at `position`."""
        shape = self.values[position].shape

        def fits(value: Value) -> bool:
            try:
                np.broadcast_shapes(shape, value.shape)
            except ValueError:
                return False
            return accept is None or accept(value)

        return self.pick(fits)

    # -- keeping to domains -----------------------------------------------------------------------
    def above(self, position: int, low: float) -> int | None:
        """A value that is at least `low`: this one, or one made from it."""
        if np.all(self.values[position] >= low):
            return position
        text = self.rng.choice(
            [
                f"{{0}} * {{0}} + {low}",
                f"{{0}} ** 2 + {low + 0.5}",
                f"np.exp(np.tanh({{0}})) + {max(low - 0.3, 0)}",
                f"np.log(1 + np.exp({{0}})) + {low}",
                f"np.square({{0}}) + {low}",
            ]
        )
        return self.add(text, position)

    def within(self, position: int, bound: float) -> int | None:
        """A value of magnitude at most `bound`."""
        if _magnitude(self.values[position]) <= bound:
            return position
        text = self.rng.choice(
            [
                f"np.tanh({{0}}) * {bound}",
                f"np.sin({{0}}) * {bound}",
                f"{bound} * {{0}} / (1 + {{0}} * {{0}})",
                f"{{0}} / {2 * float(_magnitude(self.values[position])):.3g} * {bound}",
            ]
        )
        return self.add(text, position)

    def far_from(self, position: int, *points: float) -> bool:
        """Whether every element keeps its distance from the points."""
        value = self.values[position]
        return all(bool(np.all(np.abs(value - point) > MARGIN)) for point in points)

    def apart(self, one: int, other: int) -> bool:
        """Whether two broadcast values keep their distance."""
        with np.errstate(all="ignore"):
            return bool(np.all(np.abs(self.values[one] - self.values[other]) > MARGIN))

    # -- choosing parameters ----------------------------------------------------------------------
    def axis(self, position: int) -> int | None:
        """One axis, counted from either end."""
        ndim = self.values[position].ndim
        return self.rng.randrange(-ndim, ndim) if ndim else None

    def axes(self, position: int) -> Any:
        """None, one axis, or several."""
        ndim = self.values[position].ndim
        choice = self.rng.random()
        if not ndim or choice < 0.25:
            return None
        if choice < 0.75:
            return self.rng.randrange(-ndim, ndim)
        chosen = self.rng.sample(range(ndim), self.rng.randint(1, ndim))
        return tuple(each - ndim if self.rng.random() < 0.5 else each for each in chosen)

    def number(self) -> str:
        """A literal: ints, floats and the special ones that rules look for."""
        return self.rng.choice(NUMBERS)


def _magnitude(value: Value) -> float:
    return float(np.max(np.abs(value))) if value.size else 0.0
