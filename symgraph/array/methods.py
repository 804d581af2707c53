"""Operators and methods of an array, as `np.ndarray` has them.

Each is one call of the NumPy function of that meaning, found by its name. What would need numbers
(`if x:`, `float(x)`) raises with advice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from numpy.typing import DTypeLike

from ..errors import MissingAttribute, TraceError
from ..ir.avals import AxisLike
from ..source import user_frame
from .in_place import BINARY_OPERATORS, InPlace, operand_like
from .scipy_calls import scipy_call

__all__ = ["ArrayMethods"]


class ArrayMethods(InPlace):
    """The operators and methods of `np.ndarray`, over `_call` and `_no_numbers`.

    Those two are `Array`'s to give; not an abstract class, for its metaclass would slow every
    `isinstance` on the way of tracing.
    """

    __slots__ = ()

    def _call(self, name: str, *args: object, **kwargs: object) -> Any:
        """The result of the function of this NumPy name."""
        raise NotImplementedError

    def _no_numbers(self, what: str, mend: str) -> NoReturn:
        """Raise the error that tells which call needed numbers, and what to do instead."""
        raise NotImplementedError

    @property
    def T(self) -> Self:
        """Axes in reverse order."""
        return self._call("transpose", self)

    @property
    def mT(self) -> Self:
        """The last two axes exchanged."""
        return self._call("matrix_transpose", self)

    @property
    def real(self) -> Self:
        """The array itself: there are no complex ones."""
        return self

    @property
    def imag(self) -> Self:
        """Zeros, as of any real array."""
        return self._call("imag", self)

    def conj(self) -> Self:
        """The array itself, as NumPy's method gives of a real one."""
        return self

    conjugate = conj

    # -- operators -------------------------------------------------------------------------------
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

    # -- methods, as ndarray has them ------------------------------------------------------------
    def sum(self, axis: AxisLike = None, *args: object, **keywords: object) -> Self:
        return self._call("sum", self, axis, *args, **keywords)

    def mean(self, axis: AxisLike = None, *args: object, **keywords: object) -> Self:
        return self._call("mean", self, axis, *args, **keywords)

    def prod(self, axis: AxisLike = None, *args: object, **keywords: object) -> Self:
        return self._call("prod", self, axis, *args, **keywords)

    def max(self, axis: AxisLike = None, *args: object, **keywords: object) -> Self:
        return self._call("max", self, axis, *args, **keywords)

    def min(self, axis: AxisLike = None, *args: object, **keywords: object) -> Self:
        return self._call("min", self, axis, *args, **keywords)

    def var(self, axis: AxisLike = None, *args: object, **keywords: object) -> Self:
        return self._call("var", self, axis, *args, **keywords)

    def std(self, axis: AxisLike = None, *args: object, **keywords: object) -> Self:
        return self._call("std", self, axis, *args, **keywords)

    def argmax(self, axis: AxisLike = None, *args: object, **keywords: object) -> Self:
        return self._call("argmax", self, axis, *args, **keywords)

    def argmin(self, axis: AxisLike = None, *args: object, **keywords: object) -> Self:
        return self._call("argmin", self, axis, *args, **keywords)

    def cumsum(self, axis: AxisLike = None, *args: object, **keywords: object) -> Self:
        return self._call("cumsum", self, axis, *args, **keywords)

    def cumprod(self, axis: AxisLike = None, *args: object, **keywords: object) -> Self:
        return self._call("cumprod", self, axis, *args, **keywords)

    def all(self, axis: AxisLike = None, *args: object, **keywords: object) -> Self:
        return self._call("all", self, axis, *args, **keywords)

    def any(self, axis: AxisLike = None, *args: object, **keywords: object) -> Self:
        return self._call("any", self, axis, *args, **keywords)

    def reshape(self, *shape: object, order: str = "C") -> Self:
        return self._call("reshape", self, shape[0] if len(shape) == 1 else shape, order)

    def transpose(self, *axes: object) -> Self:
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return self._call("transpose", self, given or None)

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        return self._call("swapaxes", self, axis1, axis2)

    def ravel(self, order: str = "C") -> Self:
        return self._call("ravel", self, order)

    def flatten(self, order: str = "C") -> Self:
        return self._call("_copy", self._call("ravel", self, order))

    def squeeze(self, axis: AxisLike = None) -> Self:
        return self._call("squeeze", self, axis=axis)

    def astype(self, dtype: DTypeLike, copy: bool = True) -> Self:
        return self._call("astype", self, dtype, copy)

    def clip(self, min: object = None, max: object = None) -> Self:
        return self._call("clip", self, min, max)

    def dot(self, other: object) -> Self:
        return self._call("dot", self, other)

    def take(
        self, indices: object, axis: AxisLike = None, *args: object, **keywords: object
    ) -> Self:
        return self._call("take", self, indices, axis, *args, **keywords)

    def argsort(self, axis: AxisLike = -1, *args: object, **keywords: object) -> Self:
        return self._call("argsort", self, axis, *args, **keywords)

    def argpartition(
        self, kth: object, axis: AxisLike = -1, *args: object, **keywords: object
    ) -> Self:
        return self._call("argpartition", self, kth, axis, *args, **keywords)

    def searchsorted(self, v: object, side: str = "left", sorter: object = None) -> Self:
        return self._call("searchsorted", self, v, side, sorter)

    def repeat(self, repeats: object, axis: AxisLike = None) -> Self:
        return self._call("repeat", self, repeats, axis)

    def choose(self, choices: object, out: object = None, mode: str = "raise") -> Self:
        return self._call("choose", self, choices, out, mode)

    def compress(self, condition: object, axis: AxisLike = None) -> Self:
        return self._call("compress", condition, self, axis)

    def nonzero(self) -> NoReturn:
        self._call("nonzero", self)
        raise AssertionError

    def copy(self, order: str = "C") -> Self:
        return self._call("_copy", self, order)

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Self:
        return self.copy()

    def round(self, decimals: int = 0) -> Self:
        return self._call("round", self, decimals)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        return self._call("diagonal", self, offset, axis1, axis2)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        return self._call("trace", self, offset, axis1, axis2)

    # -- what would need numbers -----------------------------------------------------------------
    def __bool__(self) -> NoReturn:
        frame = user_frame()
        if frame is not None and frame.text.startswith("assert "):
            self._no_numbers(
                "An assertion",
                "State what is known of an input as a fact, as in sg.spec(3, assume=sg.positive), "
                "and lower with check_facts=True to have it checked.",
            )
        self._no_numbers("A condition", "Choose elementwise with np.where(condition, a, b).")

    def __float__(self) -> NoReturn:
        called = scipy_call()
        if called is not None:  # as `quad` does with what its function returns
            self._refuse_scipy(*called)
        self._no_numbers(
            "float()",
            "Keep the array symbolic; evaluate the graph to get numbers. To write symbols one by "
            "one start from snp.zeros(3) instead of np.zeros(3), or join them with np.stack.",
        )

    def __complex__(self) -> NoReturn:
        self._no_numbers("complex()", "Keep the array symbolic; evaluate the graph to get numbers.")

    def __int__(self) -> NoReturn:
        self._no_numbers("int()", "Keep the array symbolic; evaluate the graph to get numbers.")

    def __round__(self, ndigits: int | None = None) -> NoReturn:
        self._no_numbers("round()", "np.round(x, decimals) rounds an array; it stays an array.")

    def __format__(self, format_spec: str) -> str:
        if format_spec:
            self._no_numbers(
                f"The format {format_spec!r}",
                "Print inside a traced function shows symbols; format the numbers it returns.",
            )
        return repr(self)

    def __index__(self) -> NoReturn:
        self._no_numbers(
            "An index", "Use snp.take(values, i, axis=0) for an index that is computed."
        )

    def __array__(self, dtype: DTypeLike | None = None, copy: object = None) -> NoReturn:
        called = scipy_call()
        if called is not None:
            self._refuse_scipy(*called)
        self._no_numbers(
            "Conversion to a NumPy array",
            "np.asarray(x) can be left out, and snp.asarray takes both; np.stack joins symbolic "
            "numbers, and snp.zeros(3) takes what is written. Use functions of numpy, "
            "symgraph.numpy or symgraph.scipy; math.* does not trace.",
        )

    def _refuse_scipy(self, name: str, mend: str) -> NoReturn:
        frame = user_frame()
        raise TraceError(
            f"{name} cannot be traced: SciPy converts its arguments to NumPy arrays.",
            [f"used at {frame.quoted()}"] if frame else [],
            mend=mend,
        )

    def __dlpack__(self, *_args: object, **_keywords: object) -> NoReturn:
        self._no_numbers("An exchange of memory", "Keep the array symbolic; evaluate the graph.")

    def item(self, *_args: object) -> NoReturn:
        self._no_numbers("item()", "Keep the array symbolic; evaluate the graph to get numbers.")

    def tolist(self) -> NoReturn:
        self._no_numbers("tolist()", "Keep the array symbolic; evaluate the graph to get numbers.")

    def __getattr__(self, name: str) -> NoReturn:
        shown = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name.startswith("_"):
            raise AttributeError(shown)
        frame = user_frame()
        where = [f"used at {frame.quoted()}"] if frame else []
        raise MissingAttribute(f"{shown}.", where, mend=_INSTEAD_OF.get(name, _ELSEWHERE))

    def __contains__(self, item: object) -> NoReturn:
        self._no_numbers("`in`", "Use np.any(x == item).")


_IN_MEMORY = "A symbolic array has no memory yet: leave out what asks how it lies there."
_IN_PLACE = "A symbolic array is a value: snp.index_update, np.where and np.reshape give new ones."
_NUMBERS = "Keep the array symbolic; evaluate the graph to get numbers."
_INSTEAD_OF = {
    **dict.fromkeys(
        ("base", "byteswap", "ctypes", "data", "flags", "getfield", "strides", "view"), _IN_MEMORY
    ),
    **dict.fromkeys(("resize", "setfield", "setflags"), _IN_PLACE),
    **dict.fromkeys(("dump", "dumps", "tobytes", "tofile"), _NUMBERS),
    "flat": "np.ravel(x) is the array as a vector.",
}
_ELSEWHERE = "symgraph.numpy has the functions; methods are those of np.ndarray."


def _install_operators() -> None:
    """Binary operators: `x + y` and, reflected, `y + x`."""
    for symbol, function in BINARY_OPERATORS.items():
        setattr(ArrayMethods, f"__{symbol}__", _forward(function))
        setattr(ArrayMethods, f"__r{symbol}__", _reflected(function))
    ArrayMethods.__pow__ = _power
    comparisons = {
        "lt": "less",
        "le": "less_equal",
        "gt": "greater",
        "ge": "greater_equal",
        "eq": "equal",
        "ne": "not_equal",
    }
    for symbol, function in comparisons.items():
        setattr(ArrayMethods, f"__{symbol}__", _forward(function))


def _forward(function: str) -> Callable[[Any, Any], Any]:
    def method(self: ArrayMethods, other: object) -> Any:
        call = self._call  # pyright: ignore[reportPrivateUsage]  # a method of the class
        return call(function, self, other) if operand_like(other) else NotImplemented

    return method


def _is_boolean(x: Any) -> bool:
    """Whether it is an array of bools; what stands for any array in a rule is not."""
    return isinstance(x.dtype, np.dtype) and x.dtype.kind == "b"


def _power(self: ArrayMethods, other: object) -> Any:
    call = self._call  # pyright: ignore[reportPrivateUsage]  # a method of the class
    if type(other) is int and other == 2 and _is_boolean(self):
        return call("square", self)  # as NumPy's operator does: int8, where power gives int64
    return call("power", self, other) if operand_like(other) else NotImplemented


def _reflected(function: str) -> Callable[[Any, Any], Any]:
    def method(self: ArrayMethods, other: object) -> Any:
        call = self._call  # pyright: ignore[reportPrivateUsage]  # a method of the class
        return call(function, other, self) if operand_like(other) else NotImplemented

    return method


_install_operators()
