"""A program that is one compiled function: it is tried first, and refuses what it does not take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["Direct"]


class Direct:
    """The function of a whole program, compiled when it is called first.

    Parameters
    ----------
    compiled : callable
        Gives the function. It takes the inputs and gives a tuple of results, or None for inputs
        that are not as declared, or not in row order.

    Attributes
    ----------
    call : callable
        The function, as it is now.
    """

    __slots__ = ("_compiled", "call")

    def __init__(self, compiled: Callable[[], Callable[..., Any]]) -> None:
        self._compiled = compiled
        self.call: Callable[..., Any] = self._first

    def _first(self, *values: Any) -> Any:
        self.call = self._compiled()
        return self.call(*values)

    def before(self, run: Callable[..., Sequence[Any]]) -> Callable[..., Sequence[Any]]:
        """`run` for what the function refuses in row order, too."""

        def whole(*values: Any) -> Sequence[Any]:
            found = self.call(*values)
            if found is None:
                found = self.call(*[np.asarray(each, order="C") for each in values])
            return run(*values) if found is None else found

        return whole
