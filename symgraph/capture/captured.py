"""The values that a traced function reads besides its arguments, and whether they have changed.

A trace holds the values that the function read from globals, enclosed variables, attributes of
`self`, default arguments and the like. We find them without running anything: the bytecode tells
which names are read (`code_reads`), and we follow these from the function through the functions,
methods, partial applications, modules and containers that they reach.

Where a name is computed, as in `getattr(model, name)`, all attributes of the object count as read.
Four things escape: data behind the C interface of another library that gives no arrays for it;
reads of an installed library deeper than `DEEPEST` of its calls; the inside of some elements of
containers above `SAMPLED`; all values after the first `MOST`.
"""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from random import Random
from types import (
    BuiltinFunctionType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any, TypeAlias, cast

import numpy as np

from ..ir.weak_numbers import Weak
from .attribute_reads import AttributeReads
from .attributes import (
    IMPLICIT,
    arrays_in,
    attributes,
    defaults,
    is_derived,
    is_table,
    names_of,
    wraps,
)
from .code_reads import AttributeChain, code_reads
from .foreign import is_foreign, is_installed, is_numeric
from .surroundings import environment, given_when_called
from .watched import (
    MISSING,
    PRIMITIVES,
    SAMPLED,
    Captured,
    Cells,
    Elements,
    Held,
    content_of_cell,
    entries,
    is_iterator,
    left_in,
    objects,
    sampled,
)

__all__ = ["MOST", "Captured", "Root", "captured"]

MOST = 5000
"""Values followed."""

DEEPEST = 2
"""Calls followed inside installed libraries: all of one is reached soon, and takes seconds."""

Root: TypeAlias = tuple[str, Any]


def captured(roots: Iterable[Root]) -> Captured:
    """The values that a function can read, followed from its names through functions and objects.

    Parameters
    ----------
    roots : iterable of (str, object)
        The function, and arguments that are known while tracing, each with its name.
    """
    walk = _Walk()
    for label, value in roots:
        walk.value(label, value)
    walk.finish()
    return walk.found


def _is_part_of_library(owner: object) -> bool:
    """Whether it is a module or a class of an installed library."""
    name = owner.__name__ if isinstance(owner, ModuleType) else getattr(owner, "__module__", None)
    return isinstance(owner, (type, ModuleType)) and is_installed(str(name))


class _Walk(AttributeReads):
    """One walk from the roots."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[int, str], Any] = {}  # Held, so that no identity is used again.
        self._open: list[tuple[str, Any, set[str], bool]] = []
        self._any_name = False
        self._depth = 0

    def finish(self) -> None:
        """Attributes by names alone, until no more names are found."""
        grown = True
        while grown:
            grown = False
            for label, owner, done, inner in self._open:  # Which may become longer meanwhile.
                names = self.own_loose if inner else self.loose
                names = names | names_of(owner) if self._any_name else names
                fresh = names - done
                grown = grown or bool(fresh)
                done |= fresh
                self.inside = _is_part_of_library(owner)
                for name in sorted(fresh):
                    self.attribute(label, owner, name)
            self.inside = False

    def _first(self, value: object, how: str = "") -> bool:
        """Whether a value is met for the first time, and may be followed."""
        key = (id(value), how)
        if key in self._seen or len(self._seen) >= MOST:
            return False
        self._seen[key] = value
        return True

    # -- values ----------------------------------------------------------------------------------
    def value(self, label: str, value: object) -> None:
        """Follow a value that the function can read, or hand on."""
        if value is MISSING:
            self.found.values[label] = MISSING
            return
        if issubclass(type(value), Weak) or isinstance(value, PRIMITIVES):
            self.found.values[label] = value
            return
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self.found.values[label] = Held(value)
            if self._first(value):
                self.found.array(value)
                if is_derived(value):
                    self._others(label, value)
            return
        if isinstance(value, (bytearray, memoryview, array)):
            self.found.values[label] = Held(value)
            if self._first(value):
                self.found.buffer(value)
            return
        if not self._first(value):
            self.found.values.setdefault(label, value)
            return
        if not self._around(label, value):
            self._object(label, value)

    def _around(self, label: str, value: object) -> bool:
        """Follow what stands behind a context variable, a weak reference or the environment."""
        ask, variables = given_when_called(value), environment(value)
        if ask is not None:
            self.found.values[label] = value
            self.value(f"{label}()", self.found.answer(ask))
        elif variables is not None and self._first(variables):
            self._container("os.environ", variables)
        return ask is not None or variables is not None

    def _object(self, label: str, value: object) -> None:
        if isinstance(value, FunctionType):
            self.function(label, value)
        elif isinstance(value, (MethodType, BuiltinFunctionType)):
            self._method(label, value)
        elif isinstance(value, partial):
            self._partial(label, cast("partial[Any]", value))
        elif isinstance(value, (np.random.Generator, np.random.RandomState, Random)):
            self.found.values[label] = value
            self.found.generators[label] = value
        elif isinstance(value, (list, tuple, set, frozenset, deque, dict, MappingProxyType)):
            self._container(label, value)
            if not self.inside and isinstance(value, (list, set, deque, dict)):
                self.found.container(label, cast("Any", value))
            if is_derived(value):
                self._others(label, value)
        elif isinstance(value, (staticmethod, classmethod)):
            self.value(label, cast("Any", value).__func__)
        elif isinstance(value, property):
            self.function(label, value.fget)
        elif isinstance(value, np.ndarray):
            self._elements(label, value, objects)
        elif callable(attributes(value).get("__wrapped__")):
            self.found.values[label] = value
            self.value(label, attributes(value)["__wrapped__"])
            if is_numeric(type(value).__module__):
                self._held_by_ours(label, value)
            self._others(label, value)
        elif is_table(value):
            self.found.values[label] = Cells(value)
            self.found.table(value)
        else:
            self.found.values[label] = value
            if is_iterator(value) and not self.inside:
                self.found.iterators[label] = left_in(value)
            self._others(label, value)

    def _others(self, label: str, value: object) -> None:
        """An object of a class, a class or a module: attributes of the names that are read."""
        cls: Any = value if isinstance(value, type) else type(value)
        if isinstance(value, ModuleType):
            if not is_foreign(value.__name__):
                self._ask_names_of(label, value)
            return
        # A namespace or a record of Python's own holds the user's values.
        holds = not isinstance(value, type) and not is_numeric(cls.__module__)
        if is_foreign(cls.__module__) and not (holds and hasattr(value, "__dict__")):
            self._arrays_of(label, value)
            return
        if holds and cls.__module__ in ("collections", "weakref"):  # UserDict, ChainMap
            for name in attributes(value):
                self.value(f"{label}.{name}", self.found.named(attributes(value), name))
        self._ask_names_of(label, value)
        own = None if isinstance(value, type) else value
        names = IMPLICIT if own is not None else (*IMPLICIT, "__init__", "__post_init__")
        for base in cls.__mro__:
            if not is_foreign(base.__module__):
                for name in names:
                    each = vars(base).get(name)
                    if isinstance(each, FunctionType):
                        self.function(f"{label}.{name}", each, own)

    def _ask_names_of(self, label: str, value: object) -> None:
        """Look up names in a value that are read of unknown objects.

        Modules and classes of a library that its own code leads to are asked for the names that
        the user's code reads: each name of a library through each of them is all of the library.
        """
        self._open.append((label, value, set(), self.inside and _is_part_of_library(value)))

    def _arrays_of(self, label: str, value: object) -> None:
        """Arrays that an object of NumPy or SciPy holds, such as the cells of a sparse matrix."""
        for name in arrays_in(value):
            self.value(f"{label}.{name}", self.found.named(attributes(value), name))

    def _held_by_ours(self, label: str, value: object) -> None:
        """Functions that an object of this library holds, such as the rule of a derivative."""
        own = attributes(value)
        for name in list(own):
            if isinstance(own[name], (FunctionType, MethodType, partial)):
                self.value(f"{label}.{name}", self.found.named(own, name))

    def _container(self, label: str, value: object) -> None:
        if isinstance(value, (dict, MappingProxyType)):
            self.found.values[f"len({label})"] = len(cast("Any", value))
            parts = self._watched(label, value, entries)
            half = len(parts) // 2
            pairs = list(zip(parts[:half], parts[half:], strict=True))
            for i, (key, each) in enumerate(sampled(pairs)):
                self.value(f"{label}.keys()[{i}]", key)
                named = isinstance(key, (str, bytes))
                self.value(f"{label}[{key!r}]" if named else f"{label}[{i}]", each)
        else:
            self._elements(label, value, list)

    def _elements(self, label: str, value: Any, parts: Callable[[Any], list[Any]]) -> None:
        self.found.values[f"len({label})"] = len(value)
        fixed = isinstance(value, (tuple, frozenset))
        elements = parts(value) if fixed else self._watched(label, value, parts)
        for i, each in enumerate(sampled(elements)):
            self.value(f"{label}[{i}]", each)

    def _watched(self, label: str, value: object, parts: Callable[[Any], list[Any]]) -> list[Any]:
        found = self.found.elements(value, parts)
        if len(found) > SAMPLED:  # More than are followed one by one.
            self.found.values[f"{label}[:]"] = Elements(found)
        return found

    def _partial(self, label: str, value: partial[Any]) -> None:
        self.value(label, value.func)
        for i, each in enumerate(value.args):
            self.value(f"{label}.args[{i}]", each)
        if value.keywords:
            self.value(f"{label}.keywords", value.keywords)

    def _method(self, label: str, value: object) -> None:
        owner = getattr(value, "__self__", None)
        function = getattr(value, "__func__", None)
        if isinstance(function, FunctionType) and not isinstance(owner, Random):
            self.function(label, function, owner)
        elif owner is not None and not isinstance(owner, ModuleType):
            self.value(label, owner)

    # -- functions -------------------------------------------------------------------------------
    def function(self, label: str, function: object, owner: object = None) -> None:
        if not isinstance(function, FunctionType):
            return
        inside = is_installed(function.__module__ or "")
        if inside and self._depth == DEEPEST:
            return
        if not self._first(function, f"of {id(owner)}"):
            return
        self.found.values[label] = function.__code__
        if is_foreign(function.__module__ or ""):
            self._wrapping(label, function)
            if owner is not None and is_numeric(type(owner).__module__):
                self._held_by_ours(label, owner)
            return
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            self.found.field(function, name)
        keywords = function.__kwdefaults__ or {}
        for name in keywords:  # It can be written to.
            self.found.named(keywords, name)
        self.found.codes.append(function.__code__)
        self._depth += inside
        outside, self.inside = self.inside, inside
        for name, each in defaults(function):
            self.value(name, each)
        self._code(function.__code__, function, owner)
        self.inside = outside
        self._depth -= inside

    def _wrapping(self, label: str, function: FunctionType) -> None:
        """A function of another library's: it may enclose the user's, as decorators do."""
        for cell in function.__closure__ or ():
            value = content_of_cell(cell)
            if isinstance(value, (FunctionType, MethodType, partial)):
                self.value(label, value)

    def _code(self, code: object, function: FunctionType, owner: object) -> None:
        reads = code_reads(code)
        self.read_of_any(reads.loose)
        # A library's computed names are taken to be of its own objects.
        self._any_name |= reads.computed and not self._depth
        outer = function.__code__
        first = outer.co_varnames[0] if outer.co_argcount else ""
        known = owner is not None and first not in code_reads(outer).stored
        if owner is not None and (not known or not first or wraps(function)):
            self.value(first or "self", owner)  # Handed on as one of *args, perhaps.
        for read in reads.reads:
            if read.start == "global":
                self._global(read, function.__globals__, reads.loose)
            elif read.start == "import":
                self.value(read.name, sys.modules.get(read.name, MISSING))
            elif read.name in outer.co_freevars and function.__closure__ is not None:
                cell = function.__closure__[outer.co_freevars.index(read.name)]
                self.chain(read.name, self.found.enclosed(cell), read.chain)
                if read.name == "__class__" and owner is not None:  # `super()` is handed self.
                    self.value(first, owner)
            elif known and read.name == first and (read.start == "free" or code is outer):
                self.chain(first, owner, read.chain)
            else:
                self.read_of_any(read.chain)
        for each in reads.nested:
            self._code(each, function, owner)

    def _global(self, read: AttributeChain, names: dict[str, Any], texts: frozenset[str]) -> None:
        value = self.found.named(names, read.name)
        if value is not MISSING:
            self.chain(read.name, value, read.chain)
        elif read.name == "type":
            self.found.asks_types = True
        elif read.name == "globals":
            for name in sorted(texts & names.keys()):
                self.value(name, self.found.named(names, name))
