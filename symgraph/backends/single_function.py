"""A program that is one function: it is tried first, and refuses what it does not take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["SingleFunction"]


class SingleFunction:
    """The function of a whole program.

    Parameters
    ----------
    call : callable
        It takes the inputs and gives a tuple of results, or None for inputs that are not as
        declared, or not in row order.
    refusals : tuple of type
        The errors that mean the same as None.
    """

    __slots__ = ("call", "refusals")

    def __init__(
        self, call: Callable[..., Any], refusals: tuple[type[Exception], ...] = ()
    ) -> None:
        self.call = call
        self.refusals = refusals

    @staticmethod
    def compiled_later(compiled: Callable[[], Callable[..., Any]]) -> SingleFunction:
        """The function that `compiled` gives when it is called first."""

        def first(*values: Any) -> Any:
            found.call = compiled()
            return found.call(*values)

        found = SingleFunction(first)
        return found

    def before(self, run: Callable[..., Sequence[Any]]) -> Callable[..., Sequence[Any]]:
        """`run` for inputs that the function refuses even in row order."""

        def whole(*values: Any) -> Sequence[Any]:
            found = self.call(*values)
            if found is None:
                found = self.call(*[np.asarray(each, order="C") for each in values])
            return run(*values) if found is None else found

        return whole
