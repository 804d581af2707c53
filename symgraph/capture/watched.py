"""Watched places: the values read from them, and whether they still hold these.

A change is noticed by identity first. Numbers and text are compared by value, arrays by their
bytes (`fingerprints`); read-only arrays that own their memory are taken not to change. Data that
another library holds behind its own interface is compared by the arrays that it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from operator import is_, length_hint
from types import CellType, CodeType
from typing import Any, cast

import numpy as np

from .fingerprints import content_of

__all__ = [
    "MISSING",
    "PRIMITIVES",
    "SAMPLED",
    "Captured",
    "Cells",
    "Elements",
    "Held",
    "content_of_cell",
    "entries",
    "held_by",
    "is_iterator",
    "left_in",
    "objects",
    "sampled",
]

SAMPLED = 4096
"""Of larger containers about so many elements are followed; all are compared."""

MISSING: Any = object()
"""In place of a value that is not there."""
PRIMITIVES = (int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic, np.dtype)


class Captured:
    """The values found, as they were then.

    Attributes
    ----------
    values : dict
        Each thing that cannot be followed further, by how the function says it: numbers, arrays,
        opaque objects.
    generators : dict
        Random generators among them, of NumPy's and Python's.
    containers : list
        Containers that can be written to: name, container, elements then, whether it is read.
    iterators : dict
        What was left in iterators that Python's own functions made, as `zip` does, by their names.
    codes : list
        The code of each function that was followed.
    asks_types : bool
        Whether one of them uses `type`, to which nothing can pretend to be another type.
    """

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.generators: dict[str, Any] = {}
        self.containers: list[tuple[str, Any, list[Any], bool]] = []
        self.iterators: dict[str, Any] = {}
        self.codes: list[Any] = []
        self.asks_types = False
        self._names: list[tuple[Mapping[Any, Any], Any, Any]] = []
        self._cells: list[tuple[CellType, Any]] = []
        self._parts: list[tuple[Any, int, Callable[[Any], list[Any]], list[Any]]] = []
        self._arrays: list[tuple[Any, Any]] = []
        self._tables: list[tuple[Any, Cells]] = []
        self._answers: list[tuple[Callable[[], Any], Any]] = []

    # -- recorded while they are found ---------------------------------------------------------
    def named(self, mapping: Mapping[Any, Any], name: object) -> Any:
        """The value of a name in a namespace, watched from now on."""
        value = mapping.get(name, MISSING)
        self._names.append((mapping, name, value))
        return value

    def enclosed(self, cell: CellType) -> Any:
        """The value of an enclosed variable, watched from now on."""
        value = content_of_cell(cell)
        self._cells.append((cell, value))
        return value

    def field(self, owner: object, name: str) -> Any:
        """The value of a slot, watched from now on."""
        return self.answer(partial(getattr, owner, name, MISSING))

    def answer(self, ask: Callable[[], Any]) -> Any:
        """What a call gives, watched from now on."""
        value = ask()
        self._answers.append((ask, value))
        return value

    def elements(self, owner: Any, parts: Callable[[Any], list[Any]]) -> list[Any]:
        """The elements of a container, watched from now on."""
        found = parts(owner)
        self._parts.append((owner, len(owner), parts, found))
        return found

    def container(self, label: str, owner: Collection[Any], *, is_read: bool = True) -> None:
        """Note what a container holds that the function may write to, and may read."""
        self.containers.append((label, owner, held_by(owner), is_read))

    def array(self, owner: np.ndarray[Any, Any]) -> None:
        """Watch the numbers of an array."""
        if owner.flags.writeable or not owner.flags.owndata:
            self._arrays.append((owner, content_of(owner)))

    def buffer(self, owner: object) -> None:
        """Watch the bytes of Python's own arrays."""
        self._arrays.append((owner, content_of(owner)))

    def table(self, owner: object) -> None:
        """Watch the cells of another library's table or tensor."""
        self._tables.append((owner, Cells(owner)))

    # -- asked at each call --------------------------------------------------------------------
    def unchanged(self) -> bool:
        """Whether every place holds the same object, and every array the same numbers.

        Another object counts as a change here, even if it is equal.
        """
        for mapping, name, value in self._names:
            if mapping.get(name, MISSING) is not value:
                return False
        for cell, value in self._cells:
            if content_of_cell(cell) is not value:
                return False
        for ask, value in self._answers:
            if ask() is not value:
                return False
        for owner, size, parts, found in self._parts:
            if len(owner) != size or not all(map(is_, parts(owner), found)):
                return False
        if any(content_of(owner) != content for owner, content in self._arrays):
            return False
        return all(Cells(owner).content == table.content for owner, table in self._tables)

    def difference(self, later: Captured) -> str:
        """The name, in the function, of a value that differs now; empty if all are equal."""
        for label, value in self.values.items():
            if label not in later.values:
                return label
            if not _equal(value, later.values[label]):
                return label
        for label in later.values:
            if label not in self.values:
                return label
        return ""

    def numbers_changed(self, later: Captured) -> str:
        """The name, in the function, of a number that differs now; empty if there is none."""
        for label, value in self.values.items():
            other = later.values.get(label)
            numbers = type(value) in (int, float) and type(other) in (int, float)
            if numbers and not _equal(value, other) and not label.startswith("len("):
                return label
        return ""


def content_of_cell(cell: CellType) -> Any:
    """The value of an enclosed variable, or `MISSING`."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _equal(one: Any, other: Any) -> bool:
    """Whether two values found under one label mean the same to a trace."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, (str, bytes)):
        return one == other
    if isinstance(one, (Held, Cells)):
        return one.content == other.content
    if isinstance(one, Elements):
        return one.equal(other)
    if isinstance(one, CodeType):
        return one == other
    return isinstance(one, PRIMITIVES) and repr(one) == repr(other)


class Held:
    """The content of an array when it was found: the array itself may change."""

    __slots__ = ("content",)

    def __init__(self, array: object) -> None:
        self.content = content_of(array)


class Elements:
    """All elements of a container when it was found."""

    __slots__ = ("content",)

    def __init__(self, content: list[Any]) -> None:
        self.content = content

    def equal(self, other: Elements) -> bool:
        """Whether the elements are the same, or equal numbers and text."""
        return len(self.content) == len(other.content) and all(
            map(_equal, self.content, other.content)
        )


class Cells:
    """The cells of a data frame, a tensor or the like when it was found; None if it tells none."""

    __slots__ = ("content",)

    def __init__(self, owner: Any) -> None:
        columns = getattr(owner, "items", None) if hasattr(owner, "columns") else None
        self.content: Any = None
        with suppress(Exception):  # of another library: a tensor may refuse to be an array
            tensor = owner.detach() if hasattr(owner, "detach") else owner
            parts = [("", tensor)] if columns is None else columns()
            self.content = [(str(name), _cells(np.asarray(each))) for name, each in parts]


def _cells(array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    if not array.dtype.hasobject:
        return content_of(array)
    return array.shape, *[(type(each), repr(each)) for each in array.ravel().tolist()]


# -- what a container holds -----------------------------------------------------------------------
def sampled(values: Collection[Any]) -> list[Any]:
    """The elements; of a large container some, at even distances."""
    return list(values)[:: max(1, len(values) // SAMPLED)]


def entries(values: Mapping[Any, Any]) -> list[Any]:
    """The keys, then the values."""
    return [*values.keys(), *values.values()]  # SciPy's sparse dictionary iterates over rows


def held_by(values: Collection[Any]) -> list[Any]:
    """The elements, or the values of a dict."""
    return [*cast("Any", values).values()] if isinstance(values, dict) else [*values]


def is_iterator(value: object) -> bool:
    """Whether Python made a value that gives its elements once, as generators and `zip` do.

    Of a class of the user's, what was taken shows in what it holds. Files are written to as well.
    """
    module = type(value).__module__
    return module in ("builtins", "itertools", "_csv") and hasattr(value, "__next__")


def left_in(iterator: object) -> Any:
    """What tells how far an iterator is; of most nothing does, and the answer is a new object."""
    if isinstance(iterator, count):
        return repr(iterator)
    return length_hint(iterator, -1) if hasattr(iterator, "__length_hint__") else object()


def objects(values: np.ndarray[Any, Any]) -> list[Any]:
    """The elements of an array of objects."""
    return values.ravel().tolist()
