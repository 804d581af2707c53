"""Warnings of functions that are traced again and again for a reason that could be mended."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from ..source import user_frame
from .side_effects import side_effects
from .watched import Captured

__all__ = ["AT", "RetraceWarning", "Retraces", "SideEffectWarning"]

AT = 3
"""Retraces for one reason; the last of them warns."""

MANY_SHAPES = 32
"""Shapes of the same arguments; the last of them warns. Few sizes of batches are no reason."""


class RetraceWarning(UserWarning):
    """A function is often traced anew: a static number, a value it reads or a shape changes."""


class SideEffectWarning(UserWarning):
    """A traced function changes what it reads: at each trace, and not at each call."""


class Retraces:
    """Why a function was traced again, and how often.

    Parameters
    ----------
    name : str
        The function's.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._values: dict[Hashable, list[Any]] = {}
        self._changes: dict[str, int] = {}
        self._shapes: dict[Hashable, set[Hashable]] = {}
        self._warned: set[str] = set()

    def changed(self, alike: Hashable, numbers: Mapping[str, Any]) -> list[str]:
        """Where static numbers are that go on having other values.

        Parameters
        ----------
        alike : hashable
            The key of calls that differ in their numbers alone.
        numbers : mapping of str to number
            The numbers of a call that is traced.
        """
        found: list[str] = []
        for path, number in numbers.items():
            values = self._values.setdefault((alike, path), [])
            if number not in values and len(values) <= AT:
                values.append(number)
            if len(values) >= AT:
                found.append(path)
        return found

    def forget(self, alike: Hashable, paths: Iterable[str]) -> None:
        """Start to count again for numbers that are static no longer."""
        for path in paths:
            self._values.pop((alike, path), None)

    def warn_of_numbers(self, alike: Hashable, numbers: Mapping[str, Any]) -> None:
        """Warn of static numbers that have had too many values."""
        for path in numbers:
            values = self._values[alike, path]
            if len(values) <= AT:
                continue
            shown = ", ".join(map(repr, values))
            self._warn(
                path,
                f"{self._name} is traced anew for each value of {path} ({shown}, ...), for it is "
                f"static: a number known while tracing. If it is used as a number, make it an "
                f"input by passing float({path}) or an array; if it chooses data, choose before "
                "the call and pass the data; if each value is meant to have its own trace, say "
                f"static={path!r}.",
            )

    def of_captured(self, what: str) -> None:
        """Note that something the function reads, other than its arguments, has changed."""
        self._changes[what] = self._changes.get(what, 0) + 1
        if self._changes[what] == AT:
            self._warn(
                what,
                f"{self._name} is traced anew whenever {what} changes, which it reads besides its "
                f"arguments. Make it an argument; then it is traced once for each shape.",
            )

    def of_shapes(self, shapes: tuple[tuple[int, ...], ...]) -> None:
        """Note the shapes of the arrays of a call that is traced; warn if there are too many."""
        ranks = tuple([len(shape) for shape in shapes])
        seen = self._shapes.setdefault(ranks, set())
        if len(seen) < MANY_SHAPES:
            seen.add(shapes)
        if len(seen) == MANY_SHAPES:
            self._warn(
                "shapes",
                f"{self._name} has been traced for {MANY_SHAPES} shapes of its arguments, and is "
                "traced anew for each other one. A graph with named sizes takes all: "
                'sg.trace(f, x=sg.spec("n, 3")).gradient("x").simplify().lower(). Or pad arrays '
                "to a few sizes.",
            )

    def of_side_effects(self, before: Captured, after: Captured) -> None:
        """Warn of what the function has changed while it was traced."""
        for what, told in side_effects(before, after):
            self._warn(what, told.format(name=self._name, what=what), SideEffectWarning)
        after.containers.clear()  # What was read is kept for as long as the program is.

    def _warn(self, what: str, message: str, kind: type[Warning] = RetraceWarning) -> None:
        if what in self._warned:
            return
        self._warned.add(what)
        frame = user_frame()
        file, line = (frame.file, frame.line) if frame is not None else (__file__, 1)
        warnings.warn_explicit(message, kind, file, line)
