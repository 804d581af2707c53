"""Keywords and methods of NumPy's calls on symbolic arrays."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..errors import DTypeError, TraceError
from ..ir.avals import supported_dtype

__all__ = [
    "INSTEAD_OF_METHODS",
    "in_dtype",
    "in_order",
    "instead_of_scipy",
    "outer_operands",
    "refuse_keywords",
    "scipy_name",
]


def scipy_name(ufunc: object) -> str:
    """SciPy's name of the ufunc: `"scipy.special.erf"`; SciPy is not imported to find out."""
    name = getattr(ufunc, "__name__", "")
    # The second holds ufuncs that a Python function calls, as zeta calls _zeta.
    for module in ("scipy.special", "scipy.special._ufuncs"):
        if name and getattr(sys.modules.get(module), name, None) is ufunc:
            return f"scipy.special.{name}"
    return ""


def instead_of_scipy(ufunc: np.ufunc) -> str:
    """How to go on without a function of SciPy's that no operation stands for."""
    if all(loop.partition("->")[2].isupper() for loop in ufunc.types):
        return "It gives complex numbers, and symbolic arrays are real."
    name = ufunc.__name__
    return (
        f"Make it an operation: special.{name} = sg.custom_op(special.{name}, "
        'vjp=lambda ct, out, *operands: ..., name="my_' + name + '").'
    )


INSTEAD_OF_METHODS = {
    "reduceat": "Reduce slices one by one, or add up segments with snp.scatter_add.",
    "reduce": "Reduce with np.sum, np.prod, np.max, np.min, np.all or np.any.",
    "accumulate": "Accumulate with np.cumsum, np.cumprod, snp.cummax, snp.cummin or snp.scan.",
}
_KEYWORDS = {
    "where": "Choose elements of the result with np.where(condition, result, otherwise), or give "
    "out= an array that holds the others.",
    "casting": "Convert operands with astype before the call.",
    "signature": "Convert operands with astype before the call.",
    "axes": "Transpose the operands before the call.",
}


def refuse_keywords(ufunc: np.ufunc, method: str, kwargs: dict[str, Any]) -> None:
    """Refuse keywords without meaning for symbols, and drop those without effect."""
    for harmless in ("order", "subok"):
        kwargs.pop(harmless, None)
    if kwargs.get("dtype", 0) is None:
        del kwargs["dtype"]
    if method not in ("__call__", "outer"):
        return  # What reduces has keywords of its own.
    if kwargs.get("where", 0) is True:
        del kwargs["where"]
    if kwargs.get("casting") == "same_kind":
        del kwargs["casting"]
    for name, mend in _KEYWORDS.items():
        if name in kwargs:
            raise TraceError(f"np.{ufunc.__name__}(..., {name}=...) cannot be traced.", mend=mend)


def in_dtype(inputs: tuple[Any, ...], dtype: DTypeLike) -> tuple[Any, ...]:
    """Operands in the dtype that a call asks to be computed in.

    Raises
    ------
    DTypeError
        If one would be cast to a lesser kind, such as floats to integers.
    """
    target = supported_dtype(dtype)
    arrays = [each if hasattr(each, "dtype") else np.asarray(each) for each in inputs]
    for each in arrays:
        if not np.can_cast(each.dtype, target, "same_kind"):
            raise DTypeError(
                f"dtype={target} would cut what is {each.dtype}.", mend="Convert it with astype."
            )
    return tuple([each.astype(target) for each in arrays])


def outer_operands(x: Any, y: Any) -> tuple[Any, Any]:
    """Operands of `ufunc.outer`, broadcast against each other."""
    right = y.ndim if hasattr(y, "ndim") else np.ndim(y)
    left = x if hasattr(x, "ndim") else np.asarray(x)
    return left[(..., *[None] * right)], y


def in_order(
    function: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """Operands in their places, also when given under NumPy's names, as `np.sum(a=x)`."""
    due = _operands_of(function)[len(args) :]
    if not named or not due or due[0] not in named:
        return args, named
    rest = dict(named)
    placed = list(args)
    for name in due:
        if name not in rest:
            break
        placed.append(rest.pop(name))
    return tuple(placed), rest


@lru_cache(maxsize=1024)
def _operands_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters that a function of NumPy's cannot do without, in their order."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(
        [
            each.name
            for each in parameters
            if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and each.default is each.empty
        ]
    )
