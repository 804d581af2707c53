"""Immutable values: a copy is the value itself."""

from __future__ import annotations

from typing import Self

__all__ = ["Immutable"]


class Immutable:
    """`copy.copy` and `copy.deepcopy` of a value give the value itself."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self
