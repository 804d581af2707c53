"""Cuts: how one array is cut from the memory of another, and whether the two share it.

NumPy tells which views share memory: we cut an array of meaningless bytes in the same way. Inputs
may have any layout in memory, and the result of arithmetic follows the layout of its operands.
Where the layout is not known, a view is sure if NumPy can make it of an array none of whose axes
can be merged with another; otherwise the two may or may not share memory.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from ..errors import SymgraphError
from ..ir.dims import names_of, resolve
from ..ir.node import Node, make
from ..ir.op import Op
from ..ir.scope import Scope
from ..namespace.namespace import NUMPY
from ..records import record

__all__ = ["READ_ONLY", "Borrowed", "Cut", "MemoryLayout", "Tie", "known_apart", "relation"]


class Borrowed:
    """Memory of an array of the caller's, which a graph cannot write to."""

    __slots__ = ("what",)

    def __init__(self, what: str | Node) -> None:
        self.what = what  # in words, or the input that it is


@record
class MemoryLayout:
    """An array that lies in memory as a handle's would.

    Parameters
    ----------
    probe : np.ndarray or None
        Its numbers mean nothing. None where dimensions are named, it would be too large, or nobody
        knows how it is cut.
    exact : bool
        Whether the handle's lies just so; else it has the strides of an array whose axes cannot be
        merged, and NumPy may be able to make views of the handle's that it cannot make of this one.
    """

    probe: np.ndarray[Any, Any] | None
    exact: bool


Tie: TypeAlias = Literal["shared", "parted", "open"]
"""Whether a cut shares memory with its whole: surely, surely not, or nobody can tell."""


class Cut:
    """How the memory of a handle is cut from that of another.

    The first of a family, that of which all others were cut, holds what they have in common: the
    scope in which it was made, and the handles, weakly. A view is made often and written to seldom:
    what is rarely set has its default in the class.

    Parameters
    ----------
    node : Node
        The view as it was made: its op and params say how.
    whole : Cut or None
        The cut it is cut from; None for the first.
    first : Cut or None
        Of the family; None if this is it.

    Attributes
    ----------
    value : Node
        The value in memory that is not shared with the whole.
    flat : bool
        Made by `np.ravel`: a view only of what lies in one piece.
    rows : bool
        Known to lie row by row.
    """

    scope: Scope | None = None
    handles: list[weakref.ref[Any]]
    most: int = 32
    flat: bool = False
    rows: bool = False
    written: Node | None = None
    found: tuple[Tie, MemoryLayout] | None = None

    def __init__(self, node: Node, whole: Cut | None = None, first: Cut | None = None) -> None:
        self.node = node
        self.whole = whole
        self.first = first

    @property
    def family(self) -> Cut:
        return self.first or self

    @property
    def value(self) -> Node:
        return self.written or self.node

    @property
    def op(self) -> Op:
        return self.node.op

    @property
    def params(self) -> Mapping[str, Any]:
        return self.node.params

    def living(self) -> list[Any]:
        """The handles of the family that are still alive."""
        found = [ref() for ref in self.family.handles]
        return [handle for handle in found if handle is not None]

    def forget_the_dead(self) -> None:
        """Drop the handles that are gone, when there are many."""
        self.handles = [ref for ref in self.handles if ref() is not None]
        self.most = max(32, 2 * len(self.handles))

    @property
    def tie(self) -> Tie:
        """Whether it shares memory with the whole."""
        return self._found[0]

    @property
    def layout(self) -> MemoryLayout:
        return self._found[1]

    @property
    def _found(self) -> tuple[Tie, MemoryLayout]:
        if self.found is None:
            _lay_out(self)
        assert self.found is not None
        return self.found

    def __iter__(self) -> Iterator[Cut]:
        """The cut, the cut it is cut from, and so on."""
        each: Cut | None = self
        while each is not None:
            yield each
            each = each.whole

    def way(self) -> list[Cut]:
        """From the memory it shares down to itself; the first is that memory."""
        found: list[Cut] = []
        for each in self:
            found.append(each)
            if each.whole is None or each.tie != "shared":
                break
        return found[::-1]

    def again(self, whole: Node) -> Node:
        """The view made of another value of the whole."""
        return make(self.op, (whole,), self.params)


def READ_ONLY(*_operands: object, **_params: object) -> Any:
    """The write of a view that NumPy makes read-only: it is never called."""
    raise AssertionError("A view that is only read was written to.")


# -- where a view lies in memory -------------------------------------------------------------------
_PRIMES = (53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103)


def _tried(*values: object) -> dict[str, int]:
    """Sizes to try the named dimensions with that occur in shapes and params."""
    names: set[str] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if isinstance(value, tuple):
            stack.extend(cast("tuple[Any, ...]", value))
        else:
            names.update(names_of(value))
    # With more names than sizes none is tried: `resolve` refuses then.
    return dict(zip(sorted(names), _PRIMES, strict=False))


_MOST = 2**28
"""Bytes of an array that is cut as a trial: larger ones are not tried."""

Probe: TypeAlias = "np.ndarray[Any, Any] | None"


def _by_rows(shape: Sequence[Any]) -> Probe:
    return np.empty(shape, np.int8) if prod(shape) <= _MOST else None


def _loose(shape: Sequence[Any], sizes: Mapping[str, int]) -> Probe:
    """An array none of whose axes can be merged with another."""
    extents = resolve(tuple(shape), sizes)
    room = (*[extent + 1 for extent in extents], 2)
    if prod(room) > _MOST:
        return None
    return np.empty(room, np.int8)[(*[slice(extent) for extent in extents], 0)]


def _lay_out(memory: Cut) -> None:
    """Find the layout of a cut, and of all it is cut from."""
    for each in reversed(list(memory)):
        if each.found is not None:
            continue
        named = each.whole is not None and each.whole.layout.probe is None
        each.found = _named(each) if named or _tried(each.node.shape) else _laid_out(each)


def _laid_out(memory: Cut) -> tuple[Tie, MemoryLayout]:
    shape = memory.node.shape
    if memory.whole is None:
        rows = memory.rows or len([dim for dim in shape if dim != 1]) <= 1
        return "parted", MemoryLayout(_by_rows(shape) if rows else _loose(shape, {}), rows)
    whole = memory.whole.layout
    probe = whole.probe
    assert probe is not None
    view = np.ravel(probe) if memory.flat else memory.op.kernel(NUMPY, probe, **memory.params)
    if np.may_share_memory(view, probe) or not view.size:
        return "shared", MemoryLayout(view, whole.exact)
    if whole.exact:
        return "parted", MemoryLayout(view, True)
    return "open", MemoryLayout(view if memory.flat else _loose(shape, {}), memory.flat)


def _named(memory: Cut) -> tuple[Tie, MemoryLayout]:
    """The same for named sizes, without a probe: only relations that hold at any sizes count.

    A slice of a named dimension may be all of it at one size and a part at another, so a layout is
    known no longer than nothing but `reshape` is done to what lies row by row.
    """
    if memory.whole is None:
        return "parted", MemoryLayout(None, memory.rows or len(memory.node.shape) <= 1)
    whole, exact = memory.whole.node.shape, memory.whole.layout.exact
    if exact and (memory.flat or memory.op.name == "reshape"):
        return "shared", MemoryLayout(None, True)
    if memory.flat:
        return "open", MemoryLayout(None, True)
    if memory.op.name != "reshape":
        return "shared", MemoryLayout(None, False)  # It alone copies where it must.
    sizes = _tried(whole, memory.node.shape, *memory.params.values())
    params = {name: resolve(value, sizes) for name, value in memory.params.items()}
    probe = _loose(whole, sizes)
    if probe is None:
        return "open", MemoryLayout(None, False)
    try:
        view = memory.op.kernel(NUMPY, probe, **params)
    except (ValueError, SymgraphError):
        return "open", MemoryLayout(None, False)  # The sizes tried do not fit one another.
    return ("shared" if np.may_share_memory(view, probe) else "open"), MemoryLayout(None, False)


def relation(one: Cut, other: Cut) -> Tie:
    """Whether two cuts of one family are of the same memory: surely, surely not, or left open."""
    above = list(one)
    ties: list[Tie] = []
    for each in other:
        if each in above:
            ties.extend(step.tie for step in above[: above.index(each)])
            break
        ties.append(each.tie)
    if "parted" in ties:
        return "parted"
    return "open" if "open" in ties else "shared"


_WORK: Any = 10_000
"""How long NumPy looks for an element that two views have in common."""


def known_apart(one: Cut, other: Cut) -> bool:
    """Whether two views of the same memory are known to have no element in common."""
    a, b = one.layout.probe, other.layout.probe
    if a is None or b is None:
        return False
    try:
        return not np.shares_memory(a, b, max_work=_WORK)
    except np.exceptions.TooHardError:
        return False
