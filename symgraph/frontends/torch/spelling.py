"""How an operation of PyTorch is spelled here, and to which dtype its operands are brought.

PyTorch finds the dtype of a result by rules of its own (an integer tensor divided by another is
float32, a number has no dtype). The exported program tells the dtype of each result, so operands
are cast to it before they meet, and NumPy's rules have nothing left to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from ...array import Array
from ...ir.avals import Aval
from ...ir.dims import Shape

__all__ = [
    "ABSENT",
    "Call",
    "Operands",
    "Random",
    "Refused",
    "Spelling",
    "Statistics",
    "common",
    "known",
    "own",
    "result",
]


class Absent(Enum):
    """A result that is not computed here: what PyTorch saves for its own derivatives."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


class Refused(Exception):
    """The reason, as the end of a sentence that names the operation, and how to mend it."""

    def __init__(
        self,
        why: str,
        mend: str = "The documentation lists what is known; write it otherwise.",
    ) -> None:
        super().__init__(why)
        self.mend = mend


class Random(Refused):
    """The operation drops values at random."""

    def __init__(self, why: str = "drops values at random") -> None:
        super().__init__(why, "Call model.eval() first, or set the probability to 0.")


class Statistics(Refused):
    """The operation would write its running statistics."""

    def __init__(self) -> None:
        super().__init__(
            "is in training mode and would write its running statistics",
            "Call model.eval() first, or make the layer with track_running_stats=False.",
        )


@dataclass(frozen=True, slots=True)
class Call:
    """What the exported program says of the results of a call.

    Parameters
    ----------
    results : tuple of (Aval or None)
        Of each result; None of one that is no array.
    """

    results: tuple[Aval | None, ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        assert self.results[0] is not None
        return self.results[0].dtype

    @property
    def shape(self) -> Shape:
        assert self.results[0] is not None
        return self.results[0].shape


class Operands(Enum):
    """Which dtype arrays are cast to before the function gets them."""

    OWN = "none is cast"
    RESULT = "that of the first result"
    COMMON = "that which PyTorch brings them to"


@dataclass(frozen=True, slots=True)
class Spelling:
    """A function of symbolic arrays that means what an operation of PyTorch does.

    Parameters
    ----------
    function : callable
        Takes the operands as the operation's schema names them.
    operands : Operands
    knows : bool
        Whether the function gets the `Call` first.
    """

    function: Callable[..., Any]
    operands: Operands = Operands.OWN
    knows: bool = False

    def __call__(self, call: Call, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if self.operands is Operands.RESULT:
            args = [_cast(each, call.dtype) for each in args]
            kwargs = {name: _cast(each, call.dtype) for name, each in kwargs.items()}
        first = (call,) if self.knows else ()
        return self.function(*first, *args, **kwargs)


def _cast(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, list):
        return [_cast(each, dtype) for each in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, Array) and value.dtype != dtype:
        return value.astype(dtype)
    return value


def own(function: Callable[..., Any]) -> Spelling:
    """Operands as they are."""
    return Spelling(function)


def result(function: Callable[..., Any]) -> Spelling:
    """Operands in the dtype of the result."""
    return Spelling(function, Operands.RESULT)


def common(function: Callable[..., Any]) -> Spelling:
    """Operands in their common dtype, as those of a comparison."""
    return Spelling(function, Operands.COMMON)


def known(function: Callable[..., Any]) -> Spelling:
    """A function that gets the `Call`, and operands as they are."""
    return Spelling(function, knows=True)
