"""Aliasing: which handles share memory, as NumPy's arrays in their place would.

A node is a value and never changes. An `Array` is a handle: it names a piece of memory, and its
node is the value there now. A view is cut from the memory of its base. A write to one handle makes
the new value of the whole memory, and gives each living handle that shares the memory the node that
it reads now.

Making a view only notes its base. A write finds which views share memory (`cuts`). Where that
depends on an unknown layout, neither of the two may be written to while both are alive.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..errors import TraceError
from ..ir.node import Node
from ..ir.op import Op
from ..ir.scope import Scope, current_scope
from ..source import user_frame
from .cuts import READ_ONLY, Borrowed, Cut, MemoryLayout, known_apart, relation

__all__ = [
    "Handle",
    "cut",
    "has_memory",
    "own",
    "reads_all_again",
    "unsure",
    "write",
]


class Handle(Protocol):
    """A handle: it has a node, and memory in which its value stands.

    `memory` is a `Cut` once a view was made of it, or it is one; `Borrowed` where it belongs to the
    caller; else the scope in which the handle was made: it has memory of its own.
    """

    node: Node
    memory: Any


# -- making views ----------------------------------------------------------------------------------
def cut(view: Handle, whole: Handle) -> None:
    """Note that `view` was just made of `whole` by an operation that gives views."""
    memory = whole.memory
    if type(memory) is not Cut:
        if type(memory) is Borrowed:
            view.memory = memory
            return
        node = whole.node
        if node.op.name == "input":
            view.memory = whole.memory = Borrowed(node)
            return
        if not node.results[0].shape and view.node.op.write is not READ_ONLY:
            return  # NumPy makes an array of a number: memory of its own.
        memory = own(whole)
    _join(view, memory)


def _join(view: Handle, memory: Cut) -> None:
    first = memory.first or memory
    view.memory = Cut(view.node, memory, first)
    handles = first.handles
    handles.append(weakref.ref(view))
    if len(handles) > first.most:
        first.forget_the_dead()


def own(handle: Handle, *, rows: bool = False) -> Cut:
    """Give a handle memory of its own, which a view may be cut from.

    `rows` says that it is known to lie row by row.
    """
    scope = handle.memory
    memory = handle.memory = Cut(handle.node)
    memory.scope = scope if type(scope) is Scope else current_scope()
    memory.handles = [weakref.ref(handle)]
    memory.rows = rows
    return memory


def unsure(result: Handle, operand: Handle) -> None:
    """Note that a result may or may not share memory with an operand."""
    memory = operand.memory
    if type(memory) is not Cut:
        if type(memory) is Borrowed or operand.node.is_input:
            result.memory = Borrowed("memory that may be the caller's")
            return
        memory = own(operand)
    _join(result, memory)
    result.memory.found = "open", MemoryLayout(None, False)


def has_memory(handle: Handle) -> bool:
    """Whether it is an array; else it is a number, as NumPy's ufuncs and `x[0]` give."""
    return bool(handle.node.results[0].shape) or type(handle.memory) in (Cut, Borrowed)


def reads_all_again(handle: Handle, whole: Handle, op: Op, params: object) -> bool:
    """Whether a handle is the view of `whole` that `op` makes, so that it reads its content."""
    memory = handle.memory
    return (
        type(memory) is Cut
        and memory.whole is not None
        and memory.whole is whole.memory
        and memory.op is op
        and memory.params == params
    )


# -- writing ---------------------------------------------------------------------------------------
def write(handle: Handle, value: Node) -> None:
    """Let `value`, of the handle's shape and dtype, stand in its memory.

    Raises
    ------
    TraceError
        If the memory is the caller's, was made outside of the function being traced, is only read,
        or may or may not be that of another living array.
    """
    memory = handle.memory
    if type(memory) is Borrowed:
        raise _borrowed(memory.what)
    if type(memory) is not Cut:
        if handle.node.is_input:
            raise _borrowed(handle.node)
        _check_scope(memory)
        handle.node = value
        return
    _check_scope(memory.family.scope)
    way = memory.way()
    for each in way[1:]:
        if each.op.write is READ_ONLY:
            raise TraceError(
                f"This is a view that is only read, as NumPy's {each.op.name} gives it.",
                _here(),
                mend="Copy it first: y = y.copy().",
            )
    others = _sharing(handle, memory)
    _settle(way, value, type(handle))
    again: dict[int, Node] = {id(way[0]): way[0].value, id(memory): value}
    for other in others:
        if not known_apart(memory, other.memory):
            other.node = _read_again(other.memory, again)
    handle.node = value


def _sharing(handle: Handle, memory: Cut) -> list[Any]:
    """The other living handles of the same memory."""
    found: list[Any] = []
    for other in memory.living():
        if other is handle:
            continue
        tie = relation(memory, other.memory)
        if tie == "open":
            raise _left_open(handle, other)
        if tie == "shared":
            found.append(other)
    return found


def _settle(way: Sequence[Cut], value: Node, kind: Callable[[Node], Any]) -> None:
    """Write the value of a view into the memory at the beginning of its way."""
    wholes = [way[0].value]
    for each in way[1:-1]:
        wholes.append(each.again(wholes[-1]))
    for each, whole in zip(reversed(way[1:]), reversed(wholes), strict=False):
        write_through = each.op.write
        assert write_through is not None
        value = write_through(kind(whole), kind(value), **each.params).node
    way[0].written = value


def _read_again(memory: Cut, known: dict[int, Node]) -> Node:
    """The value that a view reads now; `known` holds the value of each piece, and is filled."""
    missing: list[Cut] = []
    for each in memory:
        if id(each) in known:
            node = known[id(each)]
            break
        missing.append(each)
    else:
        raise AssertionError("A view is cut from other memory.")
    for each in reversed(missing):
        node = known[id(each)] = each.again(node)
    return node


# -- refusals --------------------------------------------------------------------------------------
def _here() -> list[str]:
    """The user's line: a loop or branch that it stands in has one of its own, and says that."""
    frame = user_frame()
    return [] if frame is None else [f"used at {frame.quoted()}"]


def _borrowed(what: str | Node) -> TraceError:
    if isinstance(what, Node):
        what = f"the argument {what.params['name']!r}"
    return TraceError(
        f"This writes into {what}: the caller's array would change, which a graph cannot do.",
        _here(),
        mend="Copy it first, x = x.copy(), or make a new array: x = x + 1 instead of x += 1.",
    )


def _check_scope(scope: object) -> None:
    now = current_scope()
    if scope is not now:
        inside = "" if now is None else f" ({now.what})"
        raise TraceError(
            "This writes into an array that was made outside of the function that is being traced"
            f"{inside}: a graph changes nothing but its own arrays.",
            _here(),
            mend="Copy the array inside, x = x.copy(), and return it with the results.",
        )


def _left_open(handle: Handle, other: Handle) -> TraceError:
    made = [str(each.node.origin) for each in (handle, other)]
    rows = [
        f"{what} {each.node.aval}" + (f"   from {place}" if place else "")
        for what, each, place in zip(("written", "still used"), (handle, other), made, strict=True)
    ]
    return TraceError(
        "Whether NumPy would change another array by this write depends on how an array lies in "
        "memory, which is not known.",
        [*rows, *_here()],
        mend="Part them where the second is made: y = x.flatten(), x.reshape(shape).copy(); or "
        "begin with x = x.copy(), which lies row by row.",
    )
