"""Which values share memory, and which operand's buffer a result may take over.

Values that may share memory form a class (a union-find forest, Tarjan 1975). A view joins its
operand's class; a result of which nothing is known joins the classes of all its operands. A buffer
may be written only when the class holds one live value, that value made it, and it dies at the
writing statement: so nothing that is read later, no input and no constant is ever written to.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.avals import Aval
from ..ir.dims import known_equal
from .pieces import Alias

__all__ = ["Buffers"]


class Buffers:
    """Memory of the values of one program, by name."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._live: dict[str, int] = {}
        self._external: set[str] = set()
        self._plain: set[str] = set()
        self._given_out: set[str] = set()
        self._avals: dict[str, Aval] = {}

    def _class(self, name: str) -> str:
        root = name
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[name] != root:
            self._parent[name], name = root, self._parent[name]
        return root

    def _join(self, one: str, other: str) -> None:
        root, child = self._class(one), self._class(other)
        if root == child:
            return
        self._parent[child] = root
        self._live[root] += self._live.pop(child)
        if child in self._external:
            self._external.add(root)

    # -- the life of a value -----------------------------------------------------------------------
    def external(self, name: str) -> None:
        """An input or a constant: never written to, never released."""
        self._parent[name] = name
        self._live[name] = 1
        self._external.add(name)

    def born(
        self, name: str, avals: Sequence[Aval], aliases: Sequence[Alias], operands: Sequence[str]
    ) -> None:
        """A value computed from `operands`."""
        self._parent[name] = name
        self._live[name] = 1
        if all(alias is Alias.FRESH for alias in aliases):
            self._plain.add(name)
            if len(aliases) == 1:
                self._avals[name] = avals[0]
            return
        whole = aliases[0] in (Alias.WHOLE, Alias.RESHAPE)
        if whole and operands and operands[0] in self._plain:
            self._plain.add(name)
        for operand in operands:
            self._join(name, operand)

    def took_over(self, name: str, operand: str) -> None:
        """A value written into the buffer of `operand`."""
        self._parent[name] = name
        self._live[name] = 1
        self._join(name, operand)
        self._plain.add(name)
        self._avals[name] = self._avals[operand]

    def died(self, name: str) -> None:
        """The name is not read any more."""
        self._live[self._class(name)] -= 1

    def is_plain(self, name: str) -> bool:
        """Whether the value is all of an array of its own, writable."""
        return name in self._plain

    # -- decisions ---------------------------------------------------------------------------------
    def to_take_over(self, aval: Aval, dying: Sequence[str]) -> str | None:
        """The dying operand into whose buffer a result of this `aval` may be written, if any."""
        if not aval.shape:
            return None  # NumPy gives scalars there, which cannot be written to.
        for name in dying:
            owned = self._avals.get(name)  # Known only of values that made their memory.
            if owned is None or not _same(owned, aval):
                continue
            root = self._class(name)
            if self._live[root] == 1 and root not in self._external:
                return name
        return None

    def given_out(self, name: str) -> bool:
        """Whether an output may be handed to the caller as it is; else it must be copied."""
        root = self._class(name)
        if name not in self._plain or root in self._external or root in self._given_out:
            return False
        self._given_out.add(root)
        return True


def _same(one: Aval, other: Aval) -> bool:
    return (
        one.dtype == other.dtype
        and len(one.shape) == len(other.shape)
        and all(known_equal(a, b) for a, b in zip(one.shape, other.shape, strict=True))
    )
