"""How a function that mirrors SciPy's is published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..array.eager import eager
from ..ops.composites import naming_lines

__all__ = ["mirrored"]

F = TypeVar("F", bound=Callable[..., Any])


def mirrored(function: F) -> F:
    """The function on symbols and, eagerly, on numbers; its errors name the user's line."""
    return eager(naming_lines(function), whole=True)
