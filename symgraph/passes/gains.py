"""Whether other spellings of the outputs are a gain: shorter, and no digit or number is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..ir.cost import op_count
from ..ir.node import Node

__all__ = ["Loses", "is_shorter", "keeps_digits"]

Loses: TypeAlias = Callable[[Node, Node], bool]
"""`loses(new, old)`: whether a new spelling of an output loses digits or range."""


def keeps_digits(new: Sequence[Node], old: Sequence[Node], loses: Loses) -> bool:
    """Whether no output loses digits or range."""
    return not any(map(loses, new, old))


def is_shorter(new: Sequence[Node], old: Sequence[Node], loses: Loses) -> bool:
    """Whether the new outputs take fewer operations, and none loses digits or range."""
    return op_count(new) < op_count(old) and keeps_digits(new, old, loses)
