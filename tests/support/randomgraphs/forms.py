"""Forms: the kinds of steps in random programs, each with its weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from .builder import Builder

__all__ = ["Form", "FormTable"]

Form: TypeAlias = Callable[[Builder], "int | None"]


class FormTable:
    """A table of forms; called with a weight, it is the decorator that enters a form."""

    def __init__(self) -> None:
        self.table: dict[str, tuple[Form, float]] = {}

    def __call__(self, weight: float) -> Callable[[Form], Form]:
        def enter(function: Form) -> Form:
            self.table[function.__name__] = (function, weight)
            return function

        return enter
