"""The shape and dtype of a kernel's result, found by running it once on sample numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ShapeError, TraceError
from ..ir.avals import Aval, supported_dtype
from ..ir.dims import Dim, named, resolve
from ..namespace import NUMPY

__all__ = ["probed"]

_FIRST = (5, 7, 11, 13, 17, 19, 23, 29)
_SECOND = (31, 37, 41, 43, 47, 53, 59, 61)
"""The sizes tried for named dimensions; arrays rarely have them."""


def probed(
    name: str, kernel: Callable[..., Any], avals: Sequence[Aval], params: Mapping[str, Any]
) -> Any:
    """The result's `Aval`, or a tuple of them.

    With named dimensions we run the kernel for two choices of sizes. A dimension of the result gets
    the name whose size it has both times.

    Raises
    ------
    TraceError
        If the kernel fails on the numbers.
    ShapeError
        If a dimension of the result is neither fixed nor that of an operand.
    """
    names = sorted({each for aval in avals for each in aval.dim_names})
    if len(names) > len(_FIRST):
        raise ShapeError(f"{name}: too many named dimensions to try.", mend="Give infer=.")
    first = _run(name, kernel, avals, params, dict(zip(names, _FIRST, strict=False)))
    if not names:
        results = [Aval(supported_dtype(each.dtype), each.shape) for each in first]
    else:
        second = _run(name, kernel, avals, params, dict(zip(names, _SECOND, strict=False)))
        results = [
            Aval(supported_dtype(one.dtype), _dims(name, names, one.shape, other.shape))
            for one, other in zip(first, second, strict=True)
        ]
    return tuple(results) if len(results) > 1 else results[0]


def _run(
    name: str,
    kernel: Callable[..., Any],
    avals: Sequence[Aval],
    params: Mapping[str, Any],
    sizes: Mapping[str, int],
) -> list[np.ndarray[Any, Any]]:
    # 0.5 lies in the domain of most functions of floats, and 0 is an index of most arrays.
    operands = [
        np.full(resolve(aval.shape, sizes), 0.5 if aval.is_float else 0, aval.dtype)
        for aval in avals
    ]
    try:
        with np.errstate(all="ignore"):
            found = kernel(NUMPY, *operands, **params)
    except Exception as error:
        raise TraceError(
            f"{name} was tried on made-up numbers to find the shape of its result, and failed: "
            f"{type(error).__name__}: {error}",
            mend="State the rule: infer=lambda *avals: (shape, dtype).",
        ) from error
    return [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]


def _dims(
    name: str, names: Sequence[str], one: tuple[int, ...], other: tuple[int, ...]
) -> tuple[Dim, ...]:
    by_sizes = {(_FIRST[place], _SECOND[place]): each for place, each in enumerate(names)}
    dims: list[Dim] = []
    if len(one) != len(other):
        raise ShapeError(f"{name}: the rank of its result depends on sizes.", mend="Give infer=.")
    for pair in zip(one, other, strict=True):
        if pair[0] == pair[1]:
            dims.append(pair[0])
        elif pair in by_sizes:
            dims.append(named(by_sizes[pair]))
        else:
            raise ShapeError(
                f"{name}: a dimension of its result is neither fixed nor that of an operand "
                f"({pair[0]} and {pair[1]} for two choices of {', '.join(names)}).",
                mend="State the rule: infer=lambda *avals: (shape, dtype).",
            )
    return tuple(dims)
