"""Complex arrays inside of a traced function: pairs of real ones.

A graph holds real numbers alone. `1j * x` of a symbolic x is a pair, its real and its imaginary
part, and NumPy's functions of pairs are written in real ones. A part that is surely 0 is left out:
so `np.exp(1j * x)` is the pair of cos(x) and sin(x). A pair is a value: nothing is written into it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeAlias

import numpy as np

from ..array import FUNCTIONS, Array, ComplexOperand, constant, is_complex
from ..array.cuts import Borrowed
from ..array.eager import is_symbolic
from ..array.named_sizes import as_seen, shape_as_seen
from ..array.polynomials import sums_polynomials
from ..array.ufunc_calls import outer_operands
from ..errors import MissingAttribute, TraceError
from ..pytrees import flatten, register, tree_map
from ..source import is_internal, user_frame

__all__ = [
    "COMPLEX_FUNCTIONS",
    "COMPLEX_UFUNCS",
    "ComplexArray",
    "Operand",
    "Part",
    "as_complex",
    "numbers",
    "refused",
]

_frame = sys._getframe  # pyright: ignore[reportPrivateUsage]  # who asks, at 0.1 us

Part: TypeAlias = Any
"""A symbolic array, an array of numbers or a number; None for zeros."""

Operand: TypeAlias = Any
"""What NumPy's functions take: complex or real arrays, with or without numbers; lists of them."""

COMPLEX_UFUNCS: dict[str, Callable[..., Any]] = {}
"""What stands for a ufunc, by its name, where an operand is complex."""

COMPLEX_FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""What stands for another function of NumPy where an operand is complex."""


class ComplexArray(ComplexOperand, np.lib.mixins.NDArrayOperatorsMixin):
    """A complex array without numbers: its parts are real symbolic arrays of one shape.

    It arises where a symbolic array meets a complex number and in `np.fft`, and ends in `z.real`,
    `z.imag`, `np.abs` and their like. A function that returns one gives complex numbers.

    Parameters
    ----------
    re, im : Array, array_like or None
        The parts; None for zeros. One at least is symbolic.
    """

    __slots__ = ("im", "re")
    __array_priority__ = 2000.0
    __hash__ = None  # pyright: ignore[reportAssignmentType]  # == is elementwise, as in NumPy

    def __init__(self, re: Part, im: Part) -> None:
        re, im = _alike(re, im)
        # The values as they are now, whatever is written into their arrays later.
        self.re: Array | None = None if re is None else Array(re.node)
        self.im: Array | None = None if im is None else Array(im.node)

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]  # is not set
        """The type; of a pair `np.polynomial` asks the same as of a symbolic array."""
        return np.ndarray if sums_polynomials(_frame(1)) else type(self)

    # -- what is known ---------------------------------------------------------------------------
    @property
    def _known(self) -> Array:
        found = self.im if self.re is None else self.re
        assert found is not None
        return found

    @property
    def real(self) -> Array:
        """The real part."""
        return _read_only(FUNCTIONS["zeros_like"](self.im) if self.re is None else self.re)

    @property
    def imag(self) -> Array:
        """The imaginary part."""
        return _read_only(FUNCTIONS["zeros_like"](self.re) if self.im is None else self.im)

    @property
    def shape(self) -> Any:
        """Dimensions, as of real arrays."""
        found = self._known.shape
        return found if is_internal(_frame(1)) else shape_as_seen(found)

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return self._known.ndim

    @property
    def size(self) -> Any:
        """How many elements there are."""
        found = self._known.size
        return found if is_internal(_frame(1)) else as_seen(found)

    @property
    def dtype(self) -> np.dtype[Any]:
        """complex64 of parts in single precision, else complex128."""
        return np.result_type(self._known.dtype, np.complex64)

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[ComplexArray]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<ComplexArray {self._known.aval}>"

    # -- NumPy's protocols, and Python's ---------------------------------------------------------
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return ufunc_of_complex(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, func: Callable[..., Any], types: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return function_of_complex(func, args, kwargs)

    def __array__(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise refused("np.array of complex symbols", "Write snp.array, or np.stack.")

    def __complex__(self) -> NoReturn:
        raise refused(
            "complex() of a symbol", "Leave it out; join complex values by np.stack, or snp.array."
        )

    def __float__(self) -> NoReturn:
        raise refused(
            "float() of a complex symbol",
            "Take z.real, and keep it symbolic; join complex values by np.stack, or snp.array.",
        )

    def __bool__(self) -> NoReturn:
        raise refused(
            "The truth value of a complex symbol", "Choose by np.where(np.abs(z) > 0, a, b)."
        )

    def __getitem__(self, index: Any) -> ComplexArray:
        return self._of_parts(lambda part: part[index])

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise refused(
            "Writing into a complex array", "Join pieces by np.concatenate, np.stack or np.where."
        )

    # -- methods ---------------------------------------------------------------------------------
    def _of_parts(self, function: Callable[[Array], Any]) -> Any:
        re = None if self.re is None else function(self.re)
        return ComplexArray(re, None if self.im is None else function(self.im))

    def conj(self) -> ComplexArray:
        """The complex conjugate."""
        return COMPLEX_UFUNCS["conjugate"](self)

    conjugate = conj

    @property
    def T(self) -> ComplexArray:
        """Axes in reverse order."""
        return self._of_parts(lambda part: part.T)

    @property
    def mT(self) -> ComplexArray:
        """The last two axes exchanged."""
        return self._of_parts(lambda part: part.mT)

    def astype(self, dtype: Any) -> ComplexArray:
        """The same in another complex dtype.

        Raises
        ------
        TraceError
            If the dtype is not complex: NumPy drops the imaginary part with a warning.
        """
        found = np.dtype(dtype)
        if found.kind != "c":
            raise refused(f"astype({found}) of complex numbers", "Take z.real or z.imag.")
        part = np.finfo(found).dtype
        return self._of_parts(lambda each: each.astype(part))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in _METHODS:
            function = getattr(np, name)
            return lambda *args, **kwargs: function_of_complex(function, (self, *args), kwargs)
        if name in _OF_PARTS:
            return lambda *args, **kwargs: self._of_parts(
                lambda part: getattr(part, name)(*args, **kwargs)
            )
        if not hasattr(np.ndarray, name):
            raise AttributeError(f"Arrays have no {name!r}.")
        error = refused(f"z.{name} of a complex z")
        raise MissingAttribute(error.what, error.rows, error.mend)


_METHODS = frozenset(["sum", "mean", "prod", "cumsum", "cumprod", "var", "std", "trace", "dot"])
"""Methods that are the function of NumPy with that name."""

_OF_PARTS = frozenset(
    [
        "reshape",
        "ravel",
        "flatten",
        "transpose",
        "swapaxes",
        "squeeze",
        "repeat",
        "take",
        "diagonal",
        "copy",
    ]
)
"""Methods that move elements, and so do the same to both parts."""


def _read_only(part: Array) -> Array:
    """A part for the user: NumPy's is a view, through which the complex array could be written."""
    found = Array(part.node)
    if found.ndim:
        found.memory = Borrowed("the part of a complex array")
    return found


def _alike(re: Part, im: Part) -> tuple[Part, Part]:
    """Both parts as symbolic arrays of one shape and dtype; numbers take the dtype of symbols.

    Integers become floats, as in NumPy, so that their products do not overflow.
    """
    given = [each for each in (re, im) if each is not None]
    known = next(each for each in given if isinstance(each, Array))
    arrays = [each if isinstance(each, Array) else _like(each, known) for each in given]
    dtype = np.result_type(*[each.dtype for each in arrays])
    dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    arrays = [each.astype(dtype) if each.dtype != dtype else each for each in arrays]
    if len(arrays) == 2 and arrays[0].shape != arrays[1].shape:
        arrays = list(FUNCTIONS["broadcast_arrays"](*arrays))
    found = iter(arrays)
    return None if re is None else next(found), None if im is None else next(found)


def _like(value: Any, known: Array) -> Array:
    weak = isinstance(value, (int, float)) and not isinstance(value, np.generic)
    return constant(value, known.dtype if weak and known.dtype.kind == "f" else None)


def as_complex(value: Any) -> tuple[Part, Part]:
    """The parts of an operand: symbols, numbers, or None for zeros."""
    if isinstance(value, ComplexArray):
        return value.re, value.im
    if isinstance(value, complex) and not isinstance(value, np.generic):
        return (value.real if value.real or not value.imag else None), value.imag or None
    if is_complex(value):
        parts = [
            np.array(each)
            for each in (value.real, value.imag)  # pyright: ignore[reportAttributeAccessIssue]
        ]
        re, im = [part if part.any() else None for part in parts]
        return (parts[0] if im is None else re), im
    if isinstance(value, (list, tuple)) and not isinstance(value, Array):
        return as_complex(function_of_complex(np.stack, (list(value),), {}))
    return value, None


def ufunc_of_complex(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The result of a ufunc where an operand is complex.

    Raises
    ------
    TraceError
        If nothing stands in for it, or a keyword has no meaning.
    """
    kwargs = {
        name: value for name, value in kwargs.items() if value is not None and value is not True
    }
    if kwargs.pop("out", None) is not None and getattr(inputs[0], "ndim", 0):
        raise refused("Writing into a complex array", "Write z = z * w instead of z *= w.")
    if method == "outer" and not kwargs:
        method, inputs = "__call__", outer_operands(*inputs)
    found = COMPLEX_UFUNCS.get(ufunc.__name__)
    if found is None or method != "__call__" or kwargs:
        told = f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        told += "".join([f", {name}=" for name in kwargs])
        raise refused(f"{told} of complex numbers")
    return found(*inputs)


def function_of_complex(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The result of a function of NumPy where an operand is complex.

    Raises
    ------
    TraceError
        If nothing stands in for it.
    """
    found, name = COMPLEX_FUNCTIONS.get(func), f"np.{getattr(func, '__name__', func)}"
    if found is None:
        raise refused(f"{name} of complex numbers")
    for key, value in _by_name(func, args, kwargs).items():
        if key in _NOT_OF_PARTS and value is not None:
            raise refused(f"{name}(..., {key}=...) of complex numbers")
    return found(*args, **{key: value for key, value in kwargs.items() if key != "out"})


def _by_name(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a function of NumPy by the names of its parameters, where they are known."""
    try:
        return inspect.signature(func).bind(*args, **kwargs).arguments | kwargs
    except (TypeError, ValueError):
        return kwargs


def refused(what: str, mend: str = "") -> TraceError:
    """The error that something is not defined for complex symbols."""
    frame = user_frame()
    return TraceError(
        f"{what} cannot be traced: complex arrays are pairs of real ones here.",
        [f"used at {frame.quoted()}"] if frame else [],
        mend=mend or "Write it with the real and the imaginary part, z.real and z.imag.",
    )


def _operator(name: str, *operands: Any) -> Any:
    return ufunc_of_complex(getattr(np, name), "__call__", operands, {})


def numbers(re: Part, im: Part) -> Any:
    """Complex numbers of two real arrays; 1j times an infinity would have a NaN."""
    own = (np.ndarray, np.generic, int, float)
    if not (isinstance(re, own) and isinstance(im, own)):
        return re + 1j * im  # Another library's.
    re, im = np.asarray(re), np.asarray(im)
    found = np.empty(np.broadcast_shapes(re.shape, im.shape), np.result_type(re, im, np.complex64))
    found.real, found.imag = re, im
    return found if found.ndim else found[()]


def _from_parts(_keys: Any, values: Any) -> Any:
    """A complex array; of nested arrays, as derivatives by several arguments are, one for each."""
    re, im = values
    if re is None or im is None:
        return None
    if isinstance(re, Array) or isinstance(im, Array):
        return ComplexArray(re, im)
    if flatten(re)[1].kind != "leaf":
        return tree_map(lambda a, b: _from_parts((), (a, b)), re, im)
    return numbers(re, im)


FUNCTIONS["_complex_ufunc"] = ufunc_of_complex
FUNCTIONS["_complex_function"] = function_of_complex
FUNCTIONS["_complex_operator"] = _operator


_NOT_OF_PARTS = frozenset(
    ["append", "constant_values", "dtype", "end_values", "initial", "mean", "out", "prepend"]
)
"""Arguments that mean the whole number and not each of its parts."""


def _named(name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A function of `symgraph.numpy` on complex operands: NumPy's own, which asks them."""
    if name in ("array", "asarray") and is_symbolic(args[0]):
        first, *rest = args
        given = {**dict(zip(("dtype",), rest, strict=False)), **keywords}
        if len(rest) > 1 or set(given) - {"dtype"}:
            raise refused(f"snp.{name} with more than a dtype")
        found, dtype = _nested(first), given.get("dtype")
        return found if dtype is None else found.astype(dtype)
    return getattr(np if hasattr(np, name) else np.linalg, name)(*args, **keywords)


def _nested(value: Operand) -> Any:
    """Nested lists of symbols and numbers as one array."""
    if isinstance(value, (list, tuple)):
        return np.stack([_nested(each) for each in value])
    return value


def _refused(name: str, _args: object, _keywords: object) -> NoReturn:
    raise refused(f"{name} of complex numbers")


FUNCTIONS["_complex_named"] = _named
FUNCTIONS["_complex_refused"] = _refused
FUNCTIONS["_as_complex"] = lambda x, dtype: ComplexArray(x, None).astype(dtype)
register(complex, lambda z: (("real", "imag"), (z.real, z.imag)), _from_parts)
