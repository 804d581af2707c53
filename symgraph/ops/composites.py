"""Shared by functions made of several operations: publishing, operands, refused keywords."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array, apart, constant, located
from ..errors import SymgraphError, TraceError

__all__ = ["as_array", "composite", "given", "naming_lines", "refuse"]

F = TypeVar("F", bound=Callable[..., Any])


def composite(
    *numpy_functions: object, view: bool = False, array: bool = False
) -> Callable[[F], F]:
    """Publish a function made of several operations, also for the given NumPy functions.

    `view` and `array` as for `naming_lines`.
    """

    def publish(call: F) -> F:
        named = naming_lines(call, view=view, array=array)
        FUNCTIONS[call.__name__] = named
        for each in numpy_functions:
            NUMPY_FUNCTIONS[each] = named
        return named

    return publish


def naming_lines(call: F, *, view: bool = False, array: bool = False) -> F:
    """The function; its errors name the operands and the user's line.

    `view`: NumPy's function may give a view or the operand itself, so the result shares the memory
    of its operations. All other functions give fresh copies. `array`:
    NumPy's function gives an array, not a number, where the result has no dimensions.
    """

    @wraps(call)
    def named(*args: object, **keywords: object) -> Any:
        try:
            found = call(*args, **keywords)
            return found if view else apart(found, array)
        except SymgraphError as error:
            first: Any = args[0] if args else ()
            flat = [*first, *args[1:]] if isinstance(first, (list, tuple)) else args
            operands = [each for each in flat if isinstance(each, (Array, np.ndarray))]
            raise located(error, named.__name__.lstrip("_"), operands) from None
        except TypeError as error:
            trace = error.__traceback__
            if trace is None or trace.tb_next is not None:
                raise
            raise _as_numpy_names_it(error, named.__name__.lstrip("_")) from None

    return cast("F", named)


_OF_TORCH = {"dim": "axis", "dims": "axis", "keepdim": "keepdims", "correction": "ddof"}


def _as_numpy_names_it(error: TypeError, name: str) -> TypeError:
    """The error of a call with arguments that a function lacks, under the function's own name."""
    text = re.sub(r"^[\w.<>]+\(\)", f"{name}()", str(error))
    keyword = re.search(r"unexpected keyword argument '(\w+)'", text)
    numpy = _OF_TORCH.get(keyword[1]) if keyword else None
    return TypeError(f"{text}. NumPy's name of it is {numpy}." if numpy else text)


def as_array(x: object) -> Array:
    """`x`, or the constant that holds it."""
    return x if isinstance(x, Array) else constant(x)


def given(value: object) -> bool:
    """Whether an argument was passed: it is neither None nor NumPy's mark of absence."""
    return value is not None and value is not _NOTHING


_NOTHING: Any = getattr(np, "_NoValue", None)

_INSTEAD = {
    "out": "Use the result instead of out=.",
    "where": "Choose elements with np.where before the reduction.",
    "initial": "Combine the initial value with the result afterwards.",
}


def refuse(name: str, keywords: dict[str, Any]) -> None:
    """Refuse NumPy's keywords that a symbolic array cannot obey, unless they are not set.

    Raises
    ------
    TraceError
        Naming the keyword and what to write instead.
    """
    for keyword, value in keywords.items():
        if given(value) and not (keyword == "where" and value is True):
            raise TraceError(
                f"{name}: the argument {keyword}= cannot be traced.",
                mend=_INSTEAD.get(keyword, "Leave it out."),
            )
