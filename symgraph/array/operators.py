"""Python's operators on an array: `x + y`, `y + x`, `x @ y`, `x < y`, `x[i]`.

Each is one call of the NumPy function of that meaning, found by its name. `in_place` has the
operators that write, as `x += y`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .dispatch import FUNCTIONS, ComplexOperand, is_complex
from .in_place import BINARY_OPERATORS, COMPARISONS, InPlace, operand_like
from .sparse_factors import is_factor

__all__ = ["Operators"]


class Operators(InPlace):
    """The operators of `np.ndarray`, over `_call`."""

    __slots__ = ()

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # == is elementwise, as in NumPy

    def __getitem__(self, index: object) -> Self:
        return self._call("getitem", self, index)

    def __pos__(self) -> Self:
        # NumPy has no plus of bools; of numbers it is a copy.
        return self._call("positive" if _is_boolean(self) else "_apart", self)

    def __neg__(self) -> Self:
        return self._call("negative", self)

    def __abs__(self) -> Self:
        return self._call("absolute", self)

    def __divmod__(self, other: object) -> tuple[Self, Self]:
        return self._call("divmod", self, other)

    def __rdivmod__(self, other: object) -> tuple[Self, Self]:
        return self._call("divmod", other, self)

    def __invert__(self) -> Self:
        return self._call("invert", self)

    if TYPE_CHECKING:  # `_install_operators` sets them where no type checker looks

        def __add__(self, other: object) -> Self: ...

        def __radd__(self, other: object) -> Self: ...

        def __sub__(self, other: object) -> Self: ...

        def __rsub__(self, other: object) -> Self: ...

        def __mul__(self, other: object) -> Self: ...

        def __rmul__(self, other: object) -> Self: ...

        def __truediv__(self, other: object) -> Self: ...

        def __rtruediv__(self, other: object) -> Self: ...

        def __floordiv__(self, other: object) -> Self: ...

        def __rfloordiv__(self, other: object) -> Self: ...

        def __mod__(self, other: object) -> Self: ...

        def __rmod__(self, other: object) -> Self: ...

        def __pow__(self, other: object) -> Self: ...

        def __rpow__(self, other: object) -> Self: ...

        def __matmul__(self, other: object) -> Self: ...

        def __rmatmul__(self, other: object) -> Self: ...

        def __and__(self, other: object) -> Self: ...

        def __rand__(self, other: object) -> Self: ...

        def __or__(self, other: object) -> Self: ...

        def __ror__(self, other: object) -> Self: ...

        def __xor__(self, other: object) -> Self: ...

        def __rxor__(self, other: object) -> Self: ...

        def __lshift__(self, other: object) -> Self: ...

        def __rlshift__(self, other: object) -> Self: ...

        def __rshift__(self, other: object) -> Self: ...

        def __rrshift__(self, other: object) -> Self: ...

        def __lt__(self, other: object) -> Self: ...

        def __le__(self, other: object) -> Self: ...

        def __gt__(self, other: object) -> Self: ...

        def __ge__(self, other: object) -> Self: ...

        def __eq__(  # pyright: ignore[reportIncompatibleMethodOverride]
            self, other: object
        ) -> Self: ...

        def __ne__(  # pyright: ignore[reportIncompatibleMethodOverride]
            self, other: object
        ) -> Self: ...


def _install_operators() -> None:
    """Binary operators: `x + y` and, reflected, `y + x`."""
    for symbol, function in BINARY_OPERATORS.items():
        setattr(Operators, f"__{symbol}__", _forward(function))
        setattr(Operators, f"__r{symbol}__", _reflected(function))
    Operators.__pow__ = _power
    for symbol, function in COMPARISONS.items():
        setattr(Operators, f"__{symbol}__", _forward(function))


def _forward(function: str) -> Callable[[Any, Any], Any]:
    def method(self: Operators, other: object) -> Any:
        call = self._call  # pyright: ignore[reportPrivateUsage]  # a method of the class
        if is_complex(other):
            return _with_complex(function, self, other, other)
        if operand_like(other):
            return call(function, self, other)
        product = is_factor(other, function)
        return call("_sparse_product", self, other) if product else NotImplemented

    return method


def _with_complex(function: str, first: object, second: object, other: object) -> Any:
    """An operator with complex numbers; what has no numbers either answers itself."""
    if isinstance(other, ComplexOperand):
        return NotImplemented
    return FUNCTIONS["_complex_operator"](function, first, second)


def _is_boolean(x: Any) -> bool:
    """Whether it is an array of bools. A pattern variable, which stands for any array, is not."""
    return isinstance(x.dtype, np.dtype) and x.dtype.kind == "b"


def _power(self: Operators, other: object) -> Any:
    call = self._call  # pyright: ignore[reportPrivateUsage]  # a method of the class
    if type(other) is int and other == 2 and _is_boolean(self):
        return call("square", self)  # as NumPy's operator does: int8, where power gives int64
    if is_complex(other):
        return _with_complex("power", self, other, other)
    return call("power", self, other) if operand_like(other) else NotImplemented


def _reflected(function: str) -> Callable[[Any, Any], Any]:
    def method(self: Operators, other: object) -> Any:
        call = self._call  # pyright: ignore[reportPrivateUsage]  # a method of the class
        if is_complex(other):
            return _with_complex(function, other, self, other)
        if operand_like(other):
            return call(function, other, self)
        product = is_factor(other, function)
        return call("_sparse_product", other, self) if product else NotImplemented

    return method


_install_operators()
