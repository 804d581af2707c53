"""How an operation of another engine is spelled here, and the check of its results.

Engines find the dtype of a result by rules of their own (PyTorch: an integer tensor divided by
another is float32, a number has no dtype). A program tells dtype and shape of each result, so
operands are cast before they meet, NumPy's rules have nothing left to decide, and results are
compared.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from ..array import Array
from ..errors import SymgraphError
from ..ir.avals import Aval
from ..ir.dims import Shape, normal
from ..records import record
from .functions import f

__all__ = [
    "ABSENT",
    "Absent",
    "Operands",
    "Refused",
    "SpelledCall",
    "Spelling",
    "bindable",
    "common",
    "fitting",
    "known",
    "own",
    "present",
    "result",
]


@record
class Absent:
    """A result that is not computed here; a use of it is refused.

    Parameters
    ----------
    what : str
        The result, as the end of a sentence.
    mend : str
    """

    what: str
    mend: str = "The documentation lists what is known; write it otherwise."


ABSENT = Absent("a value that PyTorch saves for its own derivatives")


class Refused(Exception):
    """The reason, as the end of a sentence that names the operation, and how to mend it."""

    def __init__(
        self,
        why: str,
        mend: str = "The documentation lists what is known; write it otherwise.",
    ) -> None:
        super().__init__(why)
        self.mend = mend


@record
class SpelledCall:
    """The program's record of the results of a call.

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
    COMMON = "that which the engine brings them to"


@record
class Spelling:
    """A function of symbolic arrays with the meaning of an operation of the engine.

    Parameters
    ----------
    function : callable
        Takes the operands and parameters as the operation names them.
    operands : Operands
    knows : bool
        Whether the function gets the `SpelledCall` first.
    """

    function: Callable[..., Any]
    operands: Operands = Operands.OWN
    knows: bool = False

    def __call__(self, call: SpelledCall, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
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
    """A function that gets the `SpelledCall`, and operands as they are."""
    return Spelling(function, knows=True)


# -- calls and their results -----------------------------------------------------------------------
def bindable(
    spelling: Spelling, call: SpelledCall, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Refuse arguments that the function of a spelling does not know."""
    first = (call,) if spelling.knows else ()
    try:
        inspect.signature(spelling.function).bind(*first, *args, **kwargs)
    except TypeError as error:
        raise Refused(f"is called in a form that is not known here ({error})") from None


def present(operands: Iterable[Any]) -> None:
    """Refuse operands that are not computed here."""
    for each in operands:
        if isinstance(each, Absent):
            raise Refused(f"takes {each.what}", each.mend)


def fitting(name: str, found: Any, call: SpelledCall) -> Any:
    """The results in the dtypes that the program tells; their shapes must be as it tells."""
    several = isinstance(found, (list, tuple))
    results = list(found) if several else [found]
    fitted: list[Any] = []
    for each, aval in zip(results, call.results, strict=True):
        if isinstance(each, Absent):
            fitted.append(each)
            continue
        if aval is None:
            raise SymgraphError(f"{name} gives no tensor there, and an array here.")
        array = each if isinstance(each, Array) else f.asarray(each, aval.dtype)
        if not _same_shape(array.shape, aval.shape):
            raise SymgraphError(f"{name} gives {aval} there, and {array.aval} here.")
        fitted.append(array if array.dtype == aval.dtype else f.astype(array, aval.dtype))
    return tuple(fitted) if several else fitted[0]


def _same_shape(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two shapes agree, as far as it can be told of named dimensions."""
    if len(one) != len(other):
        return False
    gaps = [normal(a - b) for a, b in zip(one, other, strict=True)]
    return not any(isinstance(gap, int) and gap != 0 for gap in gaps)
