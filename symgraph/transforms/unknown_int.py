"""An int whose value a trace does not know: it stands for every value of an argument.

A Python int is weak in promotion and exact. Beside floating arrays it is rounded to their dtype, so
sums, differences, products and quotients with them are the same as of a 0-d input. Python's own
numbers beside it give numbers of the same kind, as long as int64 and float64 hold them exactly as
Python does. No other question (its value, its type, its place in a shape) has one answer for every
value: then the trace is given up, and the int is static after all.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, cast

import numpy as np

from ..array.dispatch import FUNCTIONS
from ..array.handle import Array
from ..errors import TraceError
from ..ir.weak_numbers import Weak

__all__ = ["LARGEST", "Count", "Family", "NotACount", "refusing_more"]

LARGEST = 2**31
"""Ints of this size and beyond are static."""
_EXACT = 2**53


class NotACount(BaseException):
    """More was asked of ints than arithmetic; no `except Exception` of the user's meets it."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = set(names)
        super().__init__(*self.names)


class Count(Weak):
    """An int, or a Python float made from one.

    Parameters
    ----------
    symbol : Array, int64 or float64
        0-d.
    bound : int
        Of the magnitude of an int.
    family : Family
        Shared by all numbers made from one argument: whether one of them was asked for more.
    """

    __slots__ = ("_bound", "_family", "_symbol")

    def __init__(self, symbol: Array, bound: int, family: Family) -> None:
        _set(self, "_symbol", symbol)
        _set(self, "_bound", bound)
        _set(self, "_family", family)

    def __add__(self, other: object) -> Any:
        return _combined(self, other, "add", False, lambda a, b: a + b)

    def __radd__(self, other: object) -> Any:
        return _combined(self, other, "add", True, lambda a, b: a + b)

    def __sub__(self, other: object) -> Any:
        return _combined(self, other, "subtract", False, lambda a, b: a + b)

    def __rsub__(self, other: object) -> Any:
        return _combined(self, other, "subtract", True, lambda a, b: a + b)

    def __mul__(self, other: object) -> Any:
        return _combined(self, other, "multiply", False, lambda a, b: a * b)

    def __rmul__(self, other: object) -> Any:
        return _combined(self, other, "multiply", True, lambda a, b: a * b)

    def __truediv__(self, other: object) -> Any:
        if isinstance(other, (int, float)) and type(other) in (int, float) and other != 0:
            return _combined(self, float(other), "divide", False, lambda a, b: a)
        return _combined(self, other, "divide", False, None)

    def __rtruediv__(self, other: object) -> Any:
        return _combined(self, other, "divide", True, None)

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Any:
        return self


class Family:
    """The numbers made from one argument.

    Attributes
    ----------
    name : str
        Where the argument is.
    spoiled : bool
        Whether more was asked of one of them than arithmetic.
    is_over : bool
        Whether the trace is.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.spoiled = False
        self.is_over = False

    def spoil(self) -> NoReturn:
        """Give the trace up; after it, tell the number."""
        if self.is_over:
            raise TraceError(
                f"This stands for every value of {self.name} in a trace that is over.",
                mend="What a traced function stores away are symbols, not numbers: return it.",
            )
        self.spoiled = True
        raise NotACount


@contextmanager
def refusing_more(families: Sequence[Family]) -> Generator[None]:
    """Raise NotACount if a number was asked for more, even if that error was caught."""
    try:
        yield
    except BaseException:
        _refuse_spoiled(families)
        raise
    finally:
        for family in families:
            family.is_over = True
    _refuse_spoiled(families)


def _refuse_spoiled(families: Sequence[Family]) -> None:
    spoiled = [family.name for family in families if family.spoiled]
    if spoiled:
        raise NotACount(spoiled) from None


_set: Callable[[Any, str, Any], None] = object.__setattr__
_get: Callable[[Any, str], Any] = object.__getattribute__


def _family(count: Count) -> Family:
    return _get(count, "_family")


def _combined(
    count: Count, other: Any, name: str, reflected: bool, bound: Callable[[int, int], int] | None
) -> Any:
    symbol: Array = _get(count, "_symbol")
    family = _family(count)
    if family.is_over:
        family.spoil()
    if type(other) is Array and other.dtype.name in ("float32", "float64"):
        operands = (other, FUNCTIONS["astype"](symbol, other.dtype))
        return FUNCTIONS[name](*(operands if reflected else operands[::-1]))
    if bound is None or type(other) not in (int, float):
        family.spoil()
    size = _get(count, "_bound")
    if type(other) is float or symbol.dtype == np.float64:
        if type(other) is int and abs(other) > _EXACT:
            family.spoil()
        operands = (np.float64(other), FUNCTIONS["astype"](symbol, "float64"))
    else:
        size = bound(size, abs(cast("int", other)))
        if size > _EXACT:
            family.spoil()
        operands = (np.int64(other), symbol)
    found = FUNCTIONS[name](*(operands if reflected else operands[::-1]))
    return Count(found, size, family)


def _spoiling(name: str) -> Callable[..., Any]:
    def method(self: Count, *_args: object, **_keywords: object) -> NoReturn:
        _family(self).spoil()

    method.__name__ = name
    return method


# Those that an int has, for what looks a method up on the type must find the same; the methods by
# which NumPy would take it for an object; and every attribute, that which isinstance asks for too.
_ASKED = (
    *("bool", "int", "float", "index", "round", "trunc", "floor", "ceil", "abs", "invert", "hash"),
    *("eq", "ne", "lt", "le", "gt", "ge", "str", "repr", "format", "floordiv", "rfloordiv"),
    *("mod", "rmod", "divmod", "rdivmod", "pow", "rpow", "lshift", "rlshift", "rshift", "rrshift"),
    *("and", "rand", "or", "ror", "xor", "rxor", "reduce", "reduce_ex", "dir"),
    *("array", "array_ufunc", "array_function"),
    *("getattribute", "setattr", "delattr"),
)
for _name in _ASKED:
    setattr(Count, f"__{_name}__", _spoiling(f"__{_name}__"))
