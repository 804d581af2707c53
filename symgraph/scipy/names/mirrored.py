"""How a function that mirrors SciPy's is published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ...array.eager import eager
from ...ops.composites import naming_lines
from ...reference.docstrings import documented

__all__ = ["mirrored", "mirrored_from", "numbers_too"]

F = TypeVar("F", bound=Callable[..., Any])


def mirrored(function: F, name: str = "") -> F:
    """The function on symbols and, eagerly, on numbers; its errors name the user's line.

    Its help gets the sections of the reference under `name`, by default its module's and its own.
    """
    home = function.__module__.removeprefix("symgraph.")
    return documented(numbers_too(function), name or f"{home}.{function.__name__}")


def mirrored_from(module: str) -> Callable[[F], F]:
    """`mirrored` for functions of a module of SciPy's, such as `scipy.signal`."""
    return lambda function: mirrored(function, f"{module}.{function.__name__}")


def numbers_too(function: F) -> F:
    """The function on symbols and on numbers, whose errors name the user's line."""
    return eager(naming_lines(function), whole=True)
