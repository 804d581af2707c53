"""The attributes of objects, classes and functions, found without running the user's code."""

from __future__ import annotations

from collections import deque
from functools import cached_property, partial
from random import Random
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, cast

import numpy as np

from ..ir.weak_numbers import Weak
from .foreign import is_foreign, is_installed, is_numeric
from .watched import PRIMITIVES, content_of_cell

__all__ = [
    "IMPLICIT",
    "arrays_in",
    "attributes",
    "computes_attributes",
    "defaults",
    "has_names",
    "is_derived",
    "is_descriptor",
    "is_table",
    "names_of",
    "run_for",
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
        "get",
        "missing",
    ]
)
"""Methods that are called without being named."""


def attributes(value: object) -> dict[str, Any]:
    """The attributes of an object, found without calling the user's code."""
    found = getattr(value, "__dict__", None)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def is_derived(value: object) -> bool:
    """Whether it is a container, or an array, of a class of the user's, which may add to it."""
    derived = isinstance(value, (list, tuple, dict, set, frozenset, deque, np.ndarray))
    return derived and not is_foreign(type(value).__module__)


def run_for(value: object, is_instance: bool) -> Any:
    """The function that runs for an attribute of a class: a method, or what a property gives."""
    if isinstance(value, FunctionType):
        return value
    if is_instance and isinstance(value, property):
        return value.fget
    return cast("Any", value).func if is_instance and isinstance(value, cached_property) else None


def is_descriptor(value: object) -> bool:
    """Whether it is of a class of the user's that computes what an attribute gives."""
    return hasattr(type(value), "__get__") and not is_foreign(type(value).__module__)


def computes_attributes(owner: object) -> bool:
    """Whether the user's class of an object answers for attributes that the object has not."""
    classes: Any = () if isinstance(owner, ModuleType) else _classes(owner)
    return any("__getattr__" in vars(each) and not is_foreign(each.__module__) for each in classes)


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
