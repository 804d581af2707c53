"""Operators and methods that write in place: `y += z`, `y[1:] = z`, `y.sort()`.

Each computes the new value as its functional twin does and lets it stand in the array's memory
(`aliasing.write`), so that all that shares the memory reads it. A number, such as `x[0]` or what
`np.sum` gives, has no memory: `s += 1` gives the name `s` to another number, as in NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..errors import DTypeError, ShapeError, TraceError
from ..ir.dims import is_named, same_shape, show_shape
from ..ir.weak_numbers import Weak
from ..source import is_assigning
from .advice import start_from
from .aliasing import has_memory, write
from .dispatch import FUNCTIONS, is_complex

__all__ = [
    "BINARY_OPERATORS",
    "COMPARISONS",
    "InPlace",
    "operand_like",
    "overwrite",
    "refuse_ndarray",
]

BINARY_OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
"""The functions of NumPy by the names of Python's operators: `__add__` is `add`."""

COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}


class InPlace:
    """The operators and methods that write into an array, over `_call`."""

    __slots__ = ()

    def _call(self, name: str, *args: object, **kwargs: object) -> Any:
        """The result of the function of this NumPy name; `Array` gives it."""
        raise NotImplementedError

    def _overwritten(self, value: object) -> Any:
        """The result of an augmented assignment: the array itself; of a number, the new one."""
        return overwrite(self, value) if has_memory(self) else value  # pyright: ignore[reportArgumentType]

    def __setitem__(self, index: object, value: object) -> None:
        _refuse_compiled(sys._getframe(1))  # pyright: ignore[reportPrivateUsage]
        self._call("_setitem", self, index, value)

    def fill(self, value: object) -> None:
        self._call("_fill", self, value)

    def sort(self, axis: int = -1, *args: object, **keywords: object) -> None:
        overwrite(self, self._call("sort", self, axis, *args, **keywords))

    def partition(self, kth: object, axis: int = -1, *args: object, **keywords: object) -> None:
        overwrite(self, self._call("partition", self, kth, axis, *args, **keywords))

    def put(self, indices: object, values: object, mode: str = "raise") -> None:
        self._call("_put", self, indices, values, mode)

    if TYPE_CHECKING:  # `_install` sets them where no type checker looks

        def __iadd__(self, other: object) -> Self: ...

        def __isub__(self, other: object) -> Self: ...

        def __imul__(self, other: object) -> Self: ...

        def __itruediv__(self, other: object) -> Self: ...

        def __ifloordiv__(self, other: object) -> Self: ...

        def __imod__(self, other: object) -> Self: ...

        def __ipow__(self, other: object) -> Self: ...

        def __imatmul__(self, other: object) -> Self: ...

        def __iand__(self, other: object) -> Self: ...

        def __ior__(self, other: object) -> Self: ...

        def __ixor__(self, other: object) -> Self: ...

        def __ilshift__(self, other: object) -> Self: ...

        def __irshift__(self, other: object) -> Self: ...


def overwrite(array: Any, value: Any, casting: Any = "same_kind") -> Any:
    """Let a value stand in an array's memory; gives the array.

    Raises
    ------
    ShapeError
        If the value has another shape.
    DTypeError
        If its dtype does not go into the array's by the rule `casting`.
    TraceError
        As `aliasing.write`; if the array is a number.
    """
    if not has_memory(array):
        raise TraceError(
            "This is a number, as x[0] and np.sum(x) give: NumPy writes into arrays only.",
            mend="Write into the array it comes from: x[0] = v, x[..., 0] += v.",
        )
    if not np.can_cast(value.dtype, array.dtype, casting):
        raise DTypeError(
            f"A value of {value.dtype} does not go into an array of {array.dtype} (casting "
            f"{casting!r}).",
            mend=f"Convert the array first, y = y.astype({str(value.dtype)!r}), or make a new "
            "one: y = y + z instead of y += z.",
        )
    if not same_shape(value.shape, array.shape):
        raise ShapeError(
            f"A value of shape {show_shape(value.shape)} does not fit into an array of shape "
            f"{show_shape(array.shape)}: an array does not grow in place.",
            mend="Make a new array: y = y + z instead of y += z.",
        )
    if value.dtype != array.dtype:
        value = value.astype(array.dtype)
    write(array, value.node)
    return array


def refuse_ndarray(what: str, into: object) -> TraceError:
    """The refusal of a symbol that is written into an array of numbers."""
    return TraceError(
        f"{what} writes symbols into an array of NumPy's, which holds numbers only.",
        mend=start_from(into),
    )


def _refuse_compiled(frame: FrameType) -> None:
    """Refuse an element's assignment by compiled code, which takes this for a sequence.

    `Generator.shuffle` swaps the items of a sequence. Ours are views, as those of an ndarray, so
    rows would stand twice; for an ndarray it has a way of its own.
    """
    if is_assigning(frame):
        return
    code = frame.f_code
    if "setitem" in code.co_names or "__setitem__" in code.co_names:  # called by its name
        return
    raise TraceError(
        "Compiled code, such as Generator.shuffle, writes into a symbolic array item by item: "
        "what it makes of an array of NumPy's is not known.",
        mend="Shuffle by an index, y = y[order] with order = rng.permutation(n), or draw the "
        "order from a key: y = sg.random.permutation(key, y).",
    )


def _install() -> None:
    for symbol, function in BINARY_OPERATORS.items():
        setattr(InPlace, f"__i{symbol}__", _augmented(function))


def _augmented(function: str) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: object) -> Any:
        if is_complex(other):
            if has_memory(self):
                raise DTypeError(
                    "An array of real numbers cannot hold complex ones.",
                    mend="Write z = z * w instead of z *= w.",
                )
            return FUNCTIONS["_complex_operator"](function, self, other)
        if not operand_like(other):
            return NotImplemented
        return self._overwritten(self._call(function, self, other))

    return method


def operand_like(value: object) -> bool:
    """Whether an operator takes it as its other operand."""
    # complex too: `apply` refuses it with advice, where Python would only name the two types.
    kinds = (InPlace, np.ndarray, np.generic, int, float, complex, list, tuple)
    # A weak number's type is asked first: what is asked of the number itself would spoil it.
    if issubclass(type(value), Weak):
        return False
    return isinstance(value, kinds) or is_named(value) or _is_tensor(value)


def _is_tensor(value: object) -> bool:
    """Whether it is an array of PyTorch's, JAX's or the like; tables and sparse matrices are not.

    The function reads it as a constant, as `np.dot(tensor, x)` does.
    """
    kind = type(value)
    return hasattr(kind, "__dlpack__") and hasattr(kind, "__array__")


_install()
