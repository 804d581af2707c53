"""Methods of an array, as `np.ndarray` has them.

Each is one call of the NumPy function of that meaning, found by its name. What would need numbers
(`if x:`, `float(x)`) raises with advice.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import DTypeLike

from ..errors import InputError, MissingAttribute, TraceError
from ..ir.avals import AxisLike
from ..source import user_frame
from .dispatch import is_complex
from .flat import Flat
from .library_calls import LibraryCall, library_call
from .operators import Operators
from .other_methods import instead_of_method, instead_of_torch
from .scipy_calls import scipy_call
from .sparse_factors import unreadable
from .statements import instead_of_condition, instead_of_statement

__all__ = ["ArrayMethods"]


class ArrayMethods(Operators):
    """The methods of `np.ndarray`, over `_call` and `_no_numbers`.

    Those two are `Array`'s to give; not an abstract class, for its metaclass would slow every
    `isinstance` on the way of tracing.
    """

    __slots__ = ()

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
    def flat(self) -> Flat:
        """The elements in a row, to be read and written."""
        if not self.ndim:  # SymPy would look for the elements of an element, without end.
            self.__getattr__("flat")
        return Flat(self)

    @flat.setter
    def flat(self, values: object) -> None:
        self.flat[:] = values

    @property
    def real(self) -> Self:
        """The array itself, which is real; of a complex one see `symgraph.complexes`."""
        return self

    @property
    def imag(self) -> Self:
        """Zeros, as of any real array."""
        return self._call("imag", self)

    def conj(self) -> Self:
        """The array itself, as NumPy's method gives of a real one."""
        return self

    conjugate = conj

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
        if "complex" in str(dtype):
            return self._call("_as_complex", self, dtype)
        return self._call("astype", self, dtype, copy)

    def clip(self, min: object = None, max: object = None) -> Self:
        return self._call("clip", self, min, max)

    def dot(self, other: object) -> Self:
        return self._call("_dot_of_complex" if is_complex(other) else "dot", self, other)

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
        called = scipy_call()
        if called is not None:  # as `brentq` does with what its function returns
            self._refuse_scipy(*called)
        frame = user_frame()
        line = "" if frame is None else frame.text
        mend = instead_of_statement(frame)
        if line.startswith("assert "):
            self._no_numbers("An assertion", mend)
        self._no_numbers("A condition", instead_of_condition(line, self.dtype == bool) or mend)

    def __float__(self) -> NoReturn:
        called = scipy_call()
        if called is not None:  # as `quad` does with what its function returns
            self._refuse_scipy(*called)
        within = library_call()
        if within is not None:
            self._refuse_library(within)
        self._no_numbers(
            "float()",
            "Keep the array symbolic; evaluate the graph to get numbers. To write symbols one by "
            "one start from snp.zeros(3) instead of np.zeros(3), or join them with np.stack.",
        )

    def __complex__(self) -> NoReturn:
        self._no_numbers("complex()", "Write x + 0j, and keep it symbolic.")

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

    def __array__(
        self, dtype: DTypeLike | None = None, copy: object = None
    ) -> np.ndarray[Any, Any]:
        left_to_us = unreadable(self, sys._getframe(1))  # pyright: ignore[reportPrivateUsage]
        if left_to_us is not None:
            return left_to_us
        called = scipy_call()
        if called is not None:
            self._refuse_scipy(*called)
        within = library_call()
        if within is not None:
            self._refuse_library(within)
        self._no_numbers(
            "Conversion to a NumPy array",
            "np.asarray(x) can be left out; np.stack and snp.array join symbols and numbers, and "
            "snp.zeros(3) takes what is written. Use functions of numpy, symgraph.numpy or "
            "symgraph.scipy; math.* does not trace.",
        )

    def _refuse_library(
        self, called: LibraryCall, why: str = "it converts its arguments to NumPy arrays"
    ) -> NoReturn:
        raise TraceError(
            f"{called.name} cannot be traced: {why}.",
            [f"used at {called.used.quoted()}", f"within {called.within.quoted()}"],
            mend="Write it with functions of numpy, symgraph.numpy or symgraph.scipy; sg.custom_op "
            "makes an operation of any other function.",
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

    def __dlpack_device__(self) -> NoReturn:
        within = library_call()  # torch.as_tensor and its kin ask this first
        if within is not None:
            self._refuse_library(within, "it reads the memory of its arguments")
        self.__dlpack__()

    @classmethod
    def __torch_function__(cls, function: object, *_call: object) -> NoReturn:
        name = getattr(function, "__name__", str(function))
        frame = user_frame()
        if name == "__setitem__" or name.startswith("__i") or name.rstrip("_") + "_" == name:
            raise InputError(
                f"torch's {name} writes a symbolic array into a tensor, which holds numbers only.",
                [f"used at {frame.quoted()}"] if frame else [],
                mend="Make a new array: y = t + x instead of t += x.",
            )
        # A TypeError: of an operator, as in t + x, PyTorch makes it NotImplemented; ours is next.
        raise TraceError(
            f"torch.{name} was given a symbolic array: PyTorch computes with tensors.",
            [f"used at {frame.quoted()}"] if frame else [],
            mend=instead_of_torch(name),
        )

    def item(self, *_args: object) -> NoReturn:
        self._no_numbers(
            "item()", "Leave item() out: an array without dimensions stands for a number."
        )

    def tolist(self) -> NoReturn:
        self._no_numbers("tolist()", "list(x) gives the elements, as symbols.")

    def __getattr__(self, name: str) -> NoReturn:
        shown = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name.startswith("_"):
            raise AttributeError(shown)
        frame = user_frame()
        where = [f"used at {frame.quoted()}"] if frame else []
        called = scipy_call()
        if called is not None:  # It may ask and go on, as `hasattr` does.
            text = f"{called[0]} cannot be traced: SciPy asks a symbol for {name!r}."
            raise MissingAttribute(text, where, mend=called[1])
        raise MissingAttribute(f"{shown}.", where, mend=instead_of_method(name))

    def __contains__(self, item: object) -> NoReturn:
        self._no_numbers("`in`", "Use np.any(x == item).")
