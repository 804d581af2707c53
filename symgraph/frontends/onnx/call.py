"""One node of a model, as the function that reads its operator sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from ...errors import FormatError, InputError
from ...ir.dims import Dim, names_of
from ...ir.walks import reachable
from .attributes import value_of
from .values import Entry, Numbers, Value

__all__ = ["Call", "Runs", "Tensor", "Unknown"]

Tensor: TypeAlias = Any
"""A symbolic array, as operators get it; or an object array of sizes, where one takes these."""


class Unknown(InputError):
    """Numbers were needed that depend on inputs; `inputs` are their names."""

    inputs: tuple[str, ...] = ()


class Runs(Protocol):
    """Runs the graph of an attribute: a branch, or the body of a loop."""

    def branch(self, graph: Any, given: Sequence[Entry]) -> list[Entry]:
        """The outputs of a graph for given inputs."""
        ...

    def find(self, name: str) -> Entry:
        """The value of a name."""
        ...

    def spend(self, count: int) -> None:
        """Count elements of a table that is made while reading; too many are refused."""
        ...


class Call:
    """A node: its attributes, and the known facts and values of its operands.

    Parameters
    ----------
    node : onnx.NodeProto
    version : int
        Of the operators of its domain.
    attributes : mapping
        Messages by name.
    entries : sequence of Entry
        The operands.
    runs : Runs
    """

    def __init__(
        self,
        node: Any,
        version: int,
        attributes: Mapping[str, Any],
        entries: Sequence[Entry],
        runs: Runs,
    ) -> None:
        self.node = node
        self.op: str = node.op_type
        self.version = version
        self.entries = entries
        self.runs = runs
        self.results: int = len(node.output)
        self._attributes = attributes
        self._asked: set[str] = set()

    # -- attributes --------------------------------------------------------------------------------
    def _value(self, name: str, kind: type | tuple[type, ...], default: Any) -> Any:
        self._asked.add(name)
        if name not in self._attributes:
            return default
        found = value_of(self._attributes[name])
        if not isinstance(found, kind):
            raise FormatError(f"The attribute {name!r} of {self.op} is of the wrong kind.")
        return found

    def has(self, name: str) -> bool:
        """Whether an attribute is given."""
        return name in self._attributes

    def whole(self, name: str, default: int = 0) -> int:
        """An integer."""
        return self._value(name, int, default)

    def flag(self, name: str, default: int = 0) -> bool:
        """A truth value, which ONNX writes as 0 or 1."""
        found = self.whole(name, default)
        if found not in (0, 1):
            raise FormatError(f"The attribute {name}={found} of {self.op} is neither 0 nor 1.")
        return bool(found)

    def real(self, name: str, default: float = 0.0) -> float:
        """A floating-point number."""
        return self._value(name, float, default)

    def text(self, name: str, default: str = "") -> str:
        """A text."""
        return self._value(name, str, default)

    def wholes(self, name: str) -> list[int] | None:
        """A list of integers, or None where it is not given."""
        return self._value(name, list, None)

    def list(self, name: str) -> list[Any] | None:
        """A list of numbers or texts, or None where it is not given."""
        return self._value(name, list, None)

    def tensor(self, name: str) -> Numbers | None:
        """A tensor, or None where it is not given."""
        return self._value(name, np.ndarray, None)

    def graph(self, name: str) -> Any:
        """A graph, which must be given."""
        self._asked.add(name)
        if name not in self._attributes:
            raise FormatError(f"{self.op} lacks its graph {name!r}.")
        return value_of(self._attributes[name])

    def choice(self, name: str, *choices: str) -> str:
        """One of several words; the first by default."""
        found = self.text(name, choices[0])
        if found not in choices:
            raise FormatError(f"{name}={found!r} of {self.op} is none of {', '.join(choices)}.")
        return found

    def ignore(self, *names: str) -> None:
        """Leave attributes unread that have no bearing on the result."""
        self._asked.update(names)

    def check_read(self) -> None:
        """Refuse an attribute that nothing has asked for: it may change the meaning."""
        for name in self._attributes:
            if name not in self._asked:
                raise FormatError(f"The attribute {name!r} of {self.op} is not read.")

    # -- operands ----------------------------------------------------------------------------------
    def known(self, place: int) -> Numbers | None:
        """The numbers of an operand, if they are known; None without the operand, too."""
        found = self.entries[place] if place < len(self.entries) else None
        return found.numbers if isinstance(found, Value) else None

    def numbers(self, place: int, what: str) -> Numbers:
        """The numbers of an operand that the structure of the graph depends on.

        Raises
        ------
        Unknown
            If it depends on an input.
        """
        found = self.known(place)
        if found is None:
            raise self._unknown(place, what)
        return found

    def dims(self, place: int, what: str) -> list[Dim]:
        """The numbers or named dimensions of an operand, in a row."""
        return self.numbers(place, what).ravel().tolist()

    def ints(self, place: int, what: str) -> list[int]:
        """The integers of an operand, in a row.

        Raises
        ------
        Unknown
            If it depends on an input, or on the size of a named dimension.
        """
        found = self.numbers(place, what)
        if found.dtype == object:
            names = sorted({name for dim in found.ravel() for name in names_of(dim)})
            raise InputError(
                f"{self.op} needs its {what} in numbers, which come from the size of "
                f"{', '.join(names)}.",
                mend=f"Give that dimension a number, as in dims={{{names[0]!r}: 4}}.",
            )
        if found.dtype.kind not in "iu":
            raise FormatError(f"The {what} of {self.op} are {found.dtype}, not integers.")
        return found.ravel().tolist()

    def _unknown(self, place: int, what: str) -> InputError:
        entry = self.entries[place] if place < len(self.entries) else None
        if not isinstance(entry, Value):
            return InputError(f"{self.op} lacks its operand {place}, the {what}.")
        names = [
            cast("str", node.params["name"])
            for node in reachable([entry.array.node])
            if node.is_input
        ]
        shown = ", ".join(map(repr, names)) or "named dimensions"
        first = repr(names[0]) if names else "..."
        error = Unknown(
            f"{self.op} needs its {what} in numbers, which come from {shown}.",
            mend=f"What the structure depends on is given when the model is read: "
            f"values={{{first}: ...}}.",
        )
        error.inputs = tuple(names)
        return error
