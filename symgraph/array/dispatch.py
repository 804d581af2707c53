"""Which function of ours stands in for one of NumPy's, and how it is called.

NumPy hands a call on symbolic arrays over by `__array_ufunc__` and `__array_function__`. The
functions register here by `implements`, so the handle knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..errors import TraceError
from ..source import user_frame
from .advice import number_by_number
from .ufunc_calls import (
    INSTEAD_OF_METHODS,
    in_dtype,
    in_order,
    instead_of_scipy,
    outer_operands,
    refuse_keywords,
    scipy_name,
)

__all__ = [
    "FUNCTIONS",
    "NUMPY_FUNCTIONS",
    "ComplexOperand",
    "function_called",
    "holds_complex",
    "implements",
    "is_complex",
    "ufunc_called",
]

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""Functions by their NumPy name; operators and methods of `Array` look here."""

NUMPY_FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""NumPy functions and ufuncs, each with the function of this library that stands in for it.

SciPy's ufuncs are here by name, as `"scipy.special.erf"`, for SciPy may not be imported yet.
"""


class ComplexOperand:
    """What complex arrays without numbers are; `symgraph.complexes` has them."""

    __slots__ = ()


_COMPLEX = (complex, np.complexfloating, ComplexOperand)


def is_complex(value: object) -> bool:
    """Whether it is a complex number, or an array of such, with or without numbers."""
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype.kind == "c"  # pyright: ignore[reportAttributeAccessIssue]
    return issubclass(kind, _COMPLEX)


def holds_complex(values: Iterable[object]) -> bool:
    """Whether one of the values, or of lists among them, is complex."""
    return any(
        holds_complex(each) if type(each) in (list, tuple) else is_complex(each)  # pyright: ignore[reportArgumentType]
        for each in values
    )


def implements(*numpy_functions: object) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as what the given NumPy functions do to symbolic arrays."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        for each in numpy_functions:
            NUMPY_FUNCTIONS[each] = function
        return function

    return mark


def ufunc_called(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The result of a NumPy ufunc, or of one of its methods, on symbolic arrays.

    Raises
    ------
    TraceError
        If nothing stands in for it, or a keyword has no meaning for symbols.
    """
    if method == "at":
        return FUNCTIONS["_write_at"](ufunc, *inputs)
    for each in inputs:
        if is_complex(each):
            return FUNCTIONS["_complex_ufunc"](ufunc, method, inputs, kwargs)
    if kwargs:
        out = kwargs.pop("out", None)
        if out is not None and any(each is not None for each in out):
            elementwise = method == "__call__"
            mask = kwargs.pop("where", True) if elementwise else True
            found = ufunc_called(ufunc, method, inputs, kwargs)
            name = f"np.{ufunc.__name__}"
            if elementwise and out[0] is inputs[0]:
                name = f"An operator in place, such as y += x, or {name}"
            return FUNCTIONS["_write_out"](name, out, found, mask, ufunc=elementwise)
        refuse_keywords(ufunc, method, kwargs)
        if "dtype" in kwargs and method in ("__call__", "outer"):
            inputs = in_dtype(inputs, kwargs.pop("dtype"))
    found = NUMPY_FUNCTIONS.get(ufunc if method == "__call__" else (ufunc, method))
    if found is None and method == "outer":
        return ufunc(*outer_operands(*inputs))
    if found is None and method == "__call__":
        found = NUMPY_FUNCTIONS.get(scipy_name(ufunc))
    if found is None:
        suffix = "" if method == "__call__" else f".{method}"
        if scipy_name(ufunc):
            raise _not_supported(scipy_name(ufunc) + suffix, instead_of_scipy(ufunc))
        if ufunc.__name__.endswith(" (vectorized)"):
            raise _not_supported("A function of np.frompyfunc", number_by_number("np.frompyfunc"))
        raise _not_supported(f"np.{ufunc.__name__}{suffix}", INSTEAD_OF_METHODS.get(method, ""))
    return found(*inputs, **kwargs)


def function_called(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a NumPy function that is no ufunc on symbolic arrays.

    Raises
    ------
    TraceError
        If nothing stands in for it.
    """
    if holds_complex((*args, *kwargs.values())):
        return FUNCTIONS["_complex_function"](func, args, kwargs)
    found = NUMPY_FUNCTIONS.get(func)
    if found is None:
        raise _not_supported(f"np.{getattr(func, '__name__', func)}")
    placed, named = in_order(func, args, kwargs)
    if named.get("out") is not None:
        rest = {name: value for name, value in named.items() if name != "out"}
        name = f"np.{func.__name__}"
        # np.clip and np.round are ufuncs by another name.
        elementwise = func in (np.clip, np.round, np.around)
        result = found(*placed, **rest)
        return FUNCTIONS["_write_out"](name, named["out"], result, ufunc=elementwise)
    return found(*placed, **named)


def _not_supported(name: str, mend: str = "") -> TraceError:
    frame = user_frame()
    return TraceError(
        f"{name} cannot be traced.",
        [f"used at {frame.quoted()}"] if frame else [],
        mend=mend or "symgraph.numpy lists what can; a custom operation can add the rest.",
    )
