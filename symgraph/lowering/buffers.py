"""Which values share memory, and which operand's buffer a result may reuse.

Values that may share memory form a class (a union-find forest, Tarjan 1975). A view joins its
operand's class; a result of which nothing is known joins the classes of all its operands. A buffer
may be reused only if the class holds one live value, this value allocated it, and it dies at the
statement that writes. So no value that is read later, no input and no constant is ever written to.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.avals import Aval
from ..ir.dims import same_shape
from .source_pieces import Alias

__all__ = ["Buffers"]


class Buffers:
    """The memory of the values of one program, by name."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._live: dict[str, int] = {}
        self._external: set[str] = set()
        self._own_arrays: set[str] = set()
        self._handed_out: set[str] = set()
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
        """Note an input or a constant: it is never written to and never released."""
        self._parent[name] = name
        self._live[name] = 1
        self._external.add(name)

    def computed(
        self, name: str, avals: Sequence[Aval], aliases: Sequence[Alias], operands: Sequence[str]
    ) -> None:
        """Note a value computed from `operands`, without a buffer of theirs."""
        self._parent[name] = name
        self._live[name] = 1
        if all(alias is Alias.FRESH for alias in aliases):
            self._own_arrays.add(name)
            if len(aliases) == 1:
                self._avals[name] = avals[0]
            return
        whole = aliases[0] in (Alias.WHOLE, Alias.RESHAPE)
        if whole and operands and operands[0] in self._own_arrays:
            self._own_arrays.add(name)
        for operand in operands:
            self._join(name, operand)

    def reused(self, name: str, operand: str) -> None:
        """Note a value that is written into the buffer of `operand`."""
        self._parent[name] = name
        self._live[name] = 1
        self._join(name, operand)
        self._own_arrays.add(name)
        self._avals[name] = self._avals[operand]

    def release(self, name: str) -> None:
        """Note that the name is not read any more."""
        self._live[self._class(name)] -= 1

    def memory_of(self, name: str) -> str:
        """A name for the memory of a value; values that may share memory have the same."""
        return self._class(name)

    def is_handed_out(self, name: str) -> bool:
        """Whether a result may share memory with the value."""
        return self._class(name) in self._handed_out

    def is_own_array(self, name: str) -> bool:
        """Whether the value is all of a writable array that the program made."""
        return name in self._own_arrays

    def is_whole(self, name: str) -> bool:
        """Whether the value is all of an array, the program's or the caller's."""
        return name in self._own_arrays or (name in self._external and self._class(name) == name)

    # -- decisions ---------------------------------------------------------------------------------
    def reusable(self, aval: Aval, dying: Sequence[str]) -> str | None:
        """The first dying operand whose buffer a result of this `aval` may be written to."""
        if not aval.shape:
            return None  # NumPy gives scalars there, which cannot be written to.
        for name in dying:
            owned = self._avals.get(name)  # Known only of values that allocated their memory.
            if owned is None or not _same(owned, aval):
                continue
            root = self._class(name)
            if self._live[root] == 1 and root not in self._external:
                return name
        return None

    def hand_out(self, name: str) -> bool:
        """Whether an output may go to the caller as it is; if so, it is noted as handed out."""
        root = self._class(name)
        if name not in self._own_arrays or root in self._external or root in self._handed_out:
            return False
        self._handed_out.add(root)
        return True


def _same(one: Aval, other: Aval) -> bool:
    return one.dtype == other.dtype and same_shape(one.shape, other.shape)
