"""Attributes that code reads of objects, found without running anything.

Where the object is known, the attribute is followed to its value. Where it is not, as with a
parameter, the name is kept, and looked up later in every object that the walk has met.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable
from random import Random
from threading import local
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from .attributes import (
    arrays_in,
    computes_attributes,
    has_names,
    is_derived,
    is_descriptor,
    is_table,
    run_for,
)
from .foreign import is_foreign
from .surroundings import environment, given_when_called
from .watched import MISSING, Captured

__all__ = ["AttributeReads"]

_CHANGERS = frozenset(
    ("add", "append", "appendleft", "clear", "discard", "extend", "insert", "remove", "update")
)
"""Methods of containers that do not read them."""


class AttributeReads(ABC):
    """The part of a walk that follows attributes; values and functions are the other part."""

    def __init__(self) -> None:
        self.found = Captured()
        self.inside = False
        """Whether the function that is followed is a library's."""
        self.loose: set[str] = set()
        """Names that are read of unknown objects."""
        self.own_loose: set[str] = set()
        """Of these the names that the user's own code reads."""

    @abstractmethod
    def value(self, label: str, value: object) -> None:
        """Follow a value that the function can read, or hand on."""

    @abstractmethod
    def function(self, label: str, function: object, owner: object = None) -> None:
        """Follow what a function of Python's reads; any other object is nothing."""

    def read_of_any(self, names: Iterable[str]) -> None:
        """Attributes that are read of objects that are not known here."""
        self.loose.update(names)
        if not self.inside:
            self.own_loose.update(names)

    def chain(self, label: str, value: object, chain: tuple[str, ...]) -> None:
        """Follow `value.a.b.c` to the value that code reads, and to what makes it."""
        for i, name in enumerate(chain):
            if isinstance(value, (list, set, dict, deque)) and name in _CHANGERS:
                if not self.inside:
                    self.found.container(label, cast("Any", value), is_read=False)
                return
            if given_when_called(value) or environment(value) is not None:
                break
            if isinstance(value, ModuleType) and is_foreign(value.__name__):
                self._of_library(f"{label}.{name}", getattr(value, name, None))
                return
            if isinstance(value, FunctionType) and name in vars(value):
                label, value = f"{label}.{name}", self.found.named(vars(value), name)
                continue
            if not has_names(value) or is_table(value) or arrays_in(value):
                self.read_of_any(chain[i:] if is_derived(value) else ())
                break  # A method of it may read all its values.
            owner, value = value, self._read(label, value, name)
            if value is MISSING:
                self.read_of_any(chain[i + 1 :])
                if computes_attributes(owner):
                    self.value(label, owner)
                return
            label = f"{label}.{name}"
        self.value(label, value)

    def _of_library(self, label: str, value: object) -> None:
        """The content of a library's module: only a generator and the environment matter."""
        if environment(value) is not None:
            self.value(label, value)
        owner = getattr(value, "__self__", value)
        if isinstance(owner, (np.random.Generator, np.random.RandomState, Random)):
            self.found.generators.setdefault(label, owner)

    def attribute(self, label: str, owner: object, name: str) -> None:
        """Follow an attribute of an object, and the methods of its bases of the same name."""
        value = self._read(label, owner, name)
        if value is not MISSING:
            self.value(f"{label}.{name}", value)
        if not isinstance(owner, ModuleType):
            cls: Any = owner if isinstance(owner, type) else type(owner)
            for base in cls.__mro__[1:]:  # Perhaps it is `super()` of which it is asked.
                if isinstance(vars(base).get(name), FunctionType):
                    self._of_class(label, owner, base, name)

    def _read(self, label: str, owner: object, name: str) -> Any:
        """An attribute without running anything; methods are followed, and give nothing more."""
        if isinstance(owner, ModuleType):
            return self.found.named(vars(owner), name)
        if isinstance(owner, local):
            return self.found.field(owner, name)
        own = getattr(owner, "__dict__", None)
        if name == "__dict__" and isinstance(own, dict):
            return cast("Any", own)
        if own is not None and not isinstance(owner, type):
            value = self.found.named(own, name)
            if value is not MISSING:
                return value
        cls: Any = owner if isinstance(owner, type) else type(owner)
        for base in cls.__mro__:
            if name in vars(base):
                return self._of_class(label, owner, base, name)
            if not is_foreign(base.__module__):
                self.found.named(vars(base), name)  # It may be given one.
        return MISSING

    def _of_class(self, label: str, owner: object, base: object, name: str) -> Any:
        if is_foreign(base.__module__):
            return MISSING
        value = self.found.named(vars(base), name)
        is_instance = not isinstance(owner, type)
        if isinstance(value, classmethod):
            cls: Any = type(owner) if is_instance else owner
            self.function(f"{label}.{name}", cast("Any", value).__func__, cls)
            return MISSING
        function = run_for(value, is_instance)
        if function is not None:
            self.function(f"{label}.{name}", function, owner if is_instance else None)
            return MISSING
        if is_instance and type(value).__name__ == "member_descriptor":
            return self.found.field(owner, name)
        if is_instance and is_descriptor(value):
            self.value(f"{label}.{name}", value)
            self.value(label, owner)  # Which it is handed.
            return MISSING
        return value
