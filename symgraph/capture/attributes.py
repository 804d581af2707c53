"""The attributes of objects, classes and functions, found without running the user's code."""

from __future__ import annotations

from collections import deque
from functools import partial
from random import Random
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, cast

import numpy as np

from ..ir.weak import Weak
from .foreign import is_foreign, is_installed, is_numeric
from .watched import PRIMITIVES, content_of_cell

__all__ = [
    "IMPLICIT",
    "arrays_in",
    "attributes",
    "defaults",
    "has_names",
    "is_table",
    "names_of",
    "wraps",
]

IMPLICIT = tuple(
    f"__{name}__"
    for name in [
        "call",
        "getitem",
        "iter",
        "len",
        "contains",
        "enter",
        "add",
        "radd",
        "sub",
        "rsub",
        "mul",
        "rmul",
        "truediv",
        "rtruediv",
        "matmul",
        "rmatmul",
        "pow",
        "rpow",
        "neg",
        "abs",
        "array",
        "getattr",
        "getattribute",
    ]
)
"""Methods that are called without being named."""


def attributes(value: object) -> dict[str, Any]:
    """The attributes of an object, found without calling the user's code."""
    found = getattr(value, "__dict__", None)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def is_table(value: object) -> bool:
    """Whether it is another library's, and gives its content as arrays."""
    return hasattr(type(value), "__array__") and is_installed(type(value).__module__)


def arrays_in(value: object) -> list[str]:
    """Attributes of an object of NumPy's or SciPy's that are arrays."""
    if isinstance(value, (type, ModuleType)) or not is_numeric(type(value).__module__):
        return []
    return [name for name, each in attributes(value).items() if isinstance(each, np.ndarray)]


def names_of(owner: object) -> set[str]:
    """The attributes that an object, a class or a module of the user's holds."""
    classes: Any = () if isinstance(owner, ModuleType) else _classes(owner)
    own = [vars(each) for each in classes if not is_foreign(each.__module__)]
    names = {name for each in (*own, attributes(owner)) for name in each}
    return {name for name in names if not (name.startswith("__") and name.endswith("__"))}


def _classes(owner: object) -> tuple[Any, ...]:
    return (owner if isinstance(owner, type) else type(owner)).__mro__


def wraps(function: FunctionType) -> bool:
    """Whether a function encloses another, as decorators do."""
    return any(callable(content_of_cell(cell)) for cell in function.__closure__ or ())


def defaults(function: FunctionType) -> list[tuple[str, Any]]:
    """Parameters and the values they have if none is given."""
    given = function.__defaults__ or ()
    code = function.__code__
    names = code.co_varnames[: code.co_argcount][code.co_argcount - len(given) :]
    return [*zip(names, given, strict=True), *(function.__kwdefaults__ or {}).items()]


def has_names(value: object) -> bool:
    """Whether attributes of a value are worth a look."""
    if issubclass(type(value), Weak):
        return False
    if isinstance(value, (*PRIMITIVES, np.ndarray, list, tuple, dict, set, frozenset, deque)):
        return False
    return not isinstance(
        value,
        (FunctionType, MethodType, BuiltinFunctionType, partial, np.random.Generator, Random),
    ) and not isinstance(value, np.random.RandomState)
