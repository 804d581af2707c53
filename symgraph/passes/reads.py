"""Reads sink: if only a part of a value is read, only this part is computed.

`exp(x)[0]` is `exp(x[0])`, `(a @ b)[1:]` is `a[1:] @ b`, and one row of a softmax is the softmax of
one row. The pass needs no list of operations: `Op.carries` says which places of the operands a
place of the result needs, and an operation treats all places along such an axis alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ..errors import SymgraphError
from ..ir.avals import Aval
from ..ir.dims import Dim, known_most, same_shape
from ..ir.node import Node, make, on_operands, origin
from ..ir.op import carries_aligned
from ..ir.walks import reachable
from ..ops.gather import GATHER
from ..ops.indexing import GETITEM
from ..ops.matmul import MATMUL
from ..ops.slices import normal_index
from ..records import record

__all__ = ["with_reads_sunk"]

Entry: TypeAlias = Any
"""One entry of a basic index: a whole number, or a slice as a triple."""

_ALL = (None, None, 1)


@record
class _Read:
    """A basic index, with an entry for each axis (None adds an axis); or places along one axis."""

    index: tuple[Entry, ...] = ()
    places: Node | None = None
    axis: int = 0

    def of(self, x: Node) -> Node:
        if self.places is None:
            return make(GETITEM, (x,), normal_index((x.aval,), index=self.index))
        return make(GATHER, (x, self.places), {"axis": self.axis})

    def aval_of(self, x: Aval) -> Aval:
        if self.places is None:
            return _single(GETITEM.infer(x, index=self.index))
        return _single(GATHER.infer(x, self.places.aval, axis=self.axis))

    def entries(self) -> dict[int, Entry]:
        """The entry, or the places, that are read along each axis."""
        if self.places is not None:
            return {self.axis: self.places}
        kept = [entry for entry in self.index if entry is not None]
        return {axis - len(kept): entry for axis, entry in enumerate(kept)}


@record
class _Plan:
    """The read of each operand, and the read that is left for the result."""

    cuts: tuple[_Read | None, ...]
    rest: _Read | None


def with_reads_sunk(outputs: Sequence[Node], *, exact: bool = False) -> list[Node]:
    """The outputs with reads moved below operations where that saves work; linear in the graph.

    With `exact`, reads move only below operations of which each element is the same to the last bit
    whatever the others are.
    """
    nodes = reachable(outputs)
    if not any(node.op in (GETITEM, GATHER) for node in nodes):
        return list(outputs)
    plans = _plans(nodes, outputs, exact)
    if not plans:
        return list(outputs)
    now: dict[Node, Node] = {}
    for node in nodes:
        with origin(node.origin):
            now[node] = _sunk(node, now, plans)
    return [now[output] for output in outputs]


def _sunk(node: Node, now: Mapping[Node, Node], plans: Mapping[Node, _Plan]) -> Node:
    plan = plans.get(node)
    if plan is None:
        if _read(node) is not None and node.operands[0] in plans:
            return now[node.operands[0]]
        return on_operands(node, tuple([now[each] for each in node.operands]))
    parts = [
        now[each] if cut is None or each in plans else cut.of(now[each])
        for each, cut in zip(node.operands, plan.cuts, strict=True)
    ]
    value = make(node.op, tuple(parts), node.params)
    return value if plan.rest is None else plan.rest.of(value)


def _plans(nodes: Sequence[Node], outputs: Sequence[Node], exact: bool) -> dict[Node, _Plan]:
    """For each value of which only a part is needed, how this part is computed."""
    users = dict.fromkeys(nodes, 0)
    for node in nodes:
        for operand in dict.fromkeys(node.operands):
            users[operand] += 1
    for output in outputs:
        users[output] += 1
    plans: dict[Node, _Plan] = {}
    for node in reversed(nodes):
        for operand, read in _reads_of_operands(node, plans.get(node)).items():
            if read is None or users[operand] > 1 or (exact and not _is_by_element(operand)):
                continue
            plan = _plan(operand, read)
            if plan is not None:
                plans[operand] = plan
    return plans


def _is_by_element(node: Node) -> bool:
    """Whether digits of an element depend neither on the order of a sum nor on the size."""
    if node.op.kernel_of_many is not None and not node.op.traits.movement:
        return False
    return node.op.carries is carries_aligned or node.op.traits.selects


def _reads_of_operands(node: Node, plan: _Plan | None) -> dict[Node, _Read | None]:
    """The part that a node needs of each operand; None for all of it."""
    if plan is None:
        read = _read(node)
        return {} if read is None else {node.operands[0]: read}
    wanted: dict[Node, _Read | None] = {}
    for operand, cut in zip(node.operands, plan.cuts, strict=True):
        same = wanted.setdefault(operand, cut) == cut
        wanted[operand] = cut if same else None
    return wanted


def _read(node: Node) -> _Read | None:
    """The node as a read: a basic index, or known places along an axis; None if it is neither."""
    if node.copy:
        return None
    if node.op is GETITEM:
        return _Read(index=node.params["index"])
    if node.op is GATHER and len(node.operands) == 2:
        places = node.operands[1]
        if places.ndim == 1 and not places.operands:
            return _Read(places=places, axis=node.params["axis"])
    return None


# -- one operation ---------------------------------------------------------------------------------
def _plan(node: Node, read: _Read) -> _Plan | None:
    """How parts of the operands give a part of the result; None if they cannot."""
    if len(node.results) != 1 or node.copy or not node.operands:
        return None
    avals = [operand.aval for operand in node.operands]
    if _writes(node) or not node.op.flops(node.aval, *avals, **node.params):
        return None
    routes = [
        tuple(node.op.carries(node.aval, *avals, slot=slot, **node.params))
        for slot in range(len(avals))
    ]
    carried = {to for route in routes for to in route}
    taken = {
        axis: entry
        for axis, entry in read.entries().items()
        if axis in carried and _leaves_out(entry, node.shape[axis])
    }
    if not taken:
        return None
    dropped = _droppable_axes(node, taken, routes)
    for axes in [dropped, frozenset[int]()] if dropped else [dropped]:
        cuts = [
            _read_of_operand(node, slot, routes[slot], taken, axes) for slot in range(len(avals))
        ]
        if _fits(node, cuts, taken, axes):
            return _Plan(tuple(cuts), _remaining_read(read, taken, axes))
    return None


def _writes(node: Node) -> bool:
    """Whether one operand is written into another, so that places depend on the operation."""
    together = node.op.traits.linear_together(len(node.operands))
    return not node.op.traits.elementwise and len(together) > 1


def _leaves_out(entry: Entry, size: Dim) -> bool:
    """Whether an entry takes fewer places than the axis has."""
    if isinstance(entry, Node):
        return isinstance(size, int) and isinstance(entry.shape[0], int) and entry.shape[0] < size
    if not isinstance(entry, tuple):
        return known_most(size) != 1
    start, stop, step = entry
    if isinstance(size, int):
        return len(range(size)[start:stop:step]) < size
    return start is not None or stop is not None or step not in (1, -1)


def _droppable_axes(
    node: Node, taken: Mapping[int, Entry], routes: Sequence[tuple[int | None, ...]]
) -> frozenset[int]:
    """The axes read at one place that the operation can do without.

    Of an elementwise operation these are all such axes. Of others they are the axes in front, for
    params count from the end, and the columns of a product.
    """
    single = [axis for axis, entry in taken.items() if not isinstance(entry, tuple | Node)]
    if node.op.carries is carries_aligned:
        return frozenset(single)
    front: list[int] = []
    for axis in range(-node.ndim, 0):
        if axis not in single:
            break
        front.append(axis)
    for route in routes:
        held = [to for to in route if to in front]
        while front and list(route[: len(held)]) != held:
            held = [to for to in held if to != front[-1]]
            front.pop()
    if node.op is MATMUL and -1 in single and node.operands[1].ndim == 2:
        front.append(-1)  # The product with a vector instead of a matrix of one column.
    return frozenset(front)


def _read_of_operand(
    node: Node,
    slot: int,
    route: tuple[int | None, ...],
    taken: Mapping[int, Entry],
    dropped: frozenset[int],
) -> _Read | None:
    """The read of an operand; None for all of it."""
    operand = node.operands[slot]
    entries: list[Entry] = []
    for axis, to in zip(range(-operand.ndim, 0), route, strict=True):
        entry = taken.get(to, _ALL) if to is not None else _ALL
        if isinstance(entry, Node):
            return _Read(places=entry, axis=axis)
        if to in dropped:
            entries.append(entry)
        elif node.op.carries is carries_aligned and axis in dropped:
            entries.append(0)  # The axis has length one, and is repeated.
        else:
            entries.append(_keeping_axis(entry))
    return None if all(entry == _ALL for entry in entries) else _Read(index=tuple(entries))


def _keeping_axis(entry: Entry) -> Entry:
    """The entry as one that keeps the axis."""
    if isinstance(entry, tuple | Node):
        return entry
    return (entry, entry + 1 if entry != -1 else None, 1)


def _fits(
    node: Node, cuts: Sequence[_Read | None], taken: Mapping[int, Entry], dropped: frozenset[int]
) -> bool:
    """Whether the operation on these parts has the dtype and shape of the part of the result."""
    wanted: list[Dim] = []
    for axis, size in zip(range(-node.ndim, 0), node.shape, strict=True):
        if axis in dropped:
            continue
        entry = taken.get(axis, _ALL)
        if isinstance(entry, Node):
            wanted.append(entry.shape[0])
        else:
            (length,) = (
                _Read(index=(_keeping_axis(entry),)).aval_of(Aval(node.dtype, (size,))).shape
            )
            wanted.append(length)
    avals = [
        operand.aval if cut is None else cut.aval_of(operand.aval)
        for operand, cut in zip(node.operands, cuts, strict=True)
    ]
    try:
        found = _single(node.op.infer(*avals, **node.params))
    except (SymgraphError, ValueError):
        return False
    return found.dtype == node.dtype and same_shape(found.shape, tuple(wanted))


def _remaining_read(
    read: _Read, taken: Mapping[int, Entry], dropped: frozenset[int]
) -> _Read | None:
    """The part of a read that is left for the result."""
    if read.places is not None:
        return None
    entries: list[Entry] = []
    axis = -len(read.entries())
    for entry in read.index:
        if entry is None:
            entries.append(None)
            continue
        if axis not in taken:
            entries.append(entry)
        elif axis not in dropped:
            entries.append(_ALL if isinstance(entry, tuple) else 0)
        axis += 1
    return None if all(entry == _ALL for entry in entries) else _Read(index=tuple(entries))


def _single(aval: Aval | tuple[Aval, ...]) -> Aval:
    return aval[0] if isinstance(aval, tuple) else aval
