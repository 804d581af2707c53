"""The user's names for values: variables that hold them, and the scopes they were made in.

While a function is traced, each operation asks for the user's line. At that moment the variables
that the line before has stored are looked up in the frame of the function. If one holds a symbolic
array, its name is given to that array's node. So a name is never guessed from the text of a line: a
variable that held the value has it, or the value has none.

A call of another function of the user's is a scope: `layer`, `layer 2`, ... The function that is
traced is none. `scope` opens one by hand, and `name` gives a name by hand.
"""

from __future__ import annotations

import threading
from functools import cache
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType, FrameType
from typing import Any, TypeVar

from ..errors import InputError
from ..source import is_running, running_frame
from .stored_variables import stores_after
from .value_names import MOST_NAMES, Holder, Name, give

__all__ = [
    "Watch",
    "name",
    "scope",
    "seen",
    "settle",
    "watched",
]

_MOST_CALLS = 50
"""The most frames on the way from a function's operation up to the function that is traced."""


# -- scopes ----------------------------------------------------------------------------------------
_SUSPENDED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
"""Flags of code whose calls wait between steps. Such a call may be dropped before its end, and in
CPython 3.13 its variables are then memory that is free: to read them ends the process."""
_TRANSPARENT = frozenset({"<lambda>", "<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>"})


class _Call:
    """A call of a user's function that is running, or a scope opened by hand (without a frame)."""

    __slots__ = ("counts", "frame", "known", "may_be_dropped", "path", "stores", "waiting")

    def __init__(self, frame: FrameType | None, path: tuple[str, ...]) -> None:
        self.frame = frame
        self.may_be_dropped = frame is not None and bool(frame.f_code.co_flags & _SUSPENDED)
        self.path = path
        self.counts: dict[str, int] | None = None
        self.known: dict[int, Any] = {}
        """What is known of each instruction: the origin of the nodes that it makes."""
        self.stores: dict[int, tuple[str, ...]] = (
            {} if frame is None else stores_after(frame.f_code)
        )
        self.waiting: tuple[str, ...] = ()
        """Variables that are stored next, which may then hold a value without a name."""

    def inner(self, title: str) -> tuple[str, ...]:
        """The path of the next scope of a title within this one."""
        counts = self.counts
        if counts is None:
            counts = self.counts = {}
        number = counts[title] = counts.get(title, 0) + 1
        return (*self.path, title if number == 1 else f"{title} {number}")

    def look(self) -> None:
        """Name the values that the waiting variables hold by now."""
        frame = self.frame
        if frame is None or not self.waiting or (self.may_be_dropped and not is_running(frame)):
            return
        local = frame.f_locals
        for variable in self.waiting:
            value = local.get(variable)
            if isinstance(value, Holder):
                node = value.node
                names = node.names
                # Most often it was named before, at the same place.
                if not names or names[0][0] != variable:
                    give(node, variable, len(self.path))


class Watch:
    """The calls of the user's functions that run while one function is traced.

    Parameters
    ----------
    base : FrameType, optional
        The frame that calls the traced function; None outside of any trace.
    """

    __slots__ = ("base", "calls")

    def __init__(self, base: FrameType | None = None) -> None:
        self.base = base
        self.calls: list[_Call] = []

    def seen(self, frame: FrameType) -> _Call:
        """The call in which this frame makes a node now; names what was stored before."""
        calls = self.calls
        last = calls[-1] if calls else None
        if last is None or last.frame is not frame:
            last = self._moved(frame)
        elif last.waiting:
            last.look()
        last.waiting = last.stores.get(frame.f_lasti, ())
        return last

    def settle(self) -> None:
        """Name the values that variables hold by now."""
        for call in self.calls:
            call.look()

    def open(self, title: str) -> _Call:
        """Open a scope by hand."""
        frame = running_frame()
        if frame is not None:
            self.seen(frame)
        outer = self.calls[-1] if self.calls else _Call(None, ())
        call = _Call(None, outer.inner(title))
        self.calls.append(call)
        return call

    def close(self, call: _Call) -> None:
        """Close a scope that was opened by hand, and all calls inside of it."""
        self.settle()
        if call in self.calls:
            del self.calls[self.calls.index(call) :]

    def _moved(self, frame: FrameType) -> _Call:
        """The call of a frame that is not the last one's."""
        self.settle()
        chain: list[FrameType] = []
        at: FrameType | None = frame
        place = self._place(frame)
        while place < 0:
            chain.append(frame)
            at = None if self.base in (None, frame) else running_frame(frame.f_back)
            if at is None or at is self.base or len(chain) > _MOST_CALLS:
                break
            frame = at
            place = self._place(frame)
        self._returned_to(place)
        for each in reversed(chain):
            self._entered(each)
        return self._last(chain[0] if chain else frame)

    def _place(self, frame: FrameType) -> int:
        """The place of a frame among the calls, the last one; -1 if it is not there."""
        calls = self.calls
        for place in range(len(calls) - 1, -1, -1):
            if calls[place].frame is frame:
                return place
        return -1

    def _last(self, frame: FrameType) -> _Call:
        """The last call, which is of this frame or of a scope opened by hand within it."""
        last = self.calls[-1]
        if last.frame is not frame:  # Inside of a scope, the frame goes on.
            inner = _Call(frame, last.path)
            inner.counts = last.counts = last.counts or {}
            self.calls.append(inner)
            return inner
        return last

    def _returned_to(self, place: int) -> None:
        """Forget the calls that are over, after the call of this place and scopes within it."""
        calls, end = self.calls, place + 1
        while end < len(calls) and calls[end].frame is None:
            end += 1
        del calls[end:]

    def _entered(self, frame: FrameType) -> None:
        outer = self.calls[-1] if self.calls else None
        title = _title(frame.f_code)
        if outer is None or not title or self.base in (None, frame):
            path = () if outer is None else outer.path
        else:
            path = outer.inner(title)
        call = _Call(frame, path)
        if not title and outer is not None:
            call.counts = outer.counts = outer.counts or {}
        for caller in reversed(self.calls):
            if caller.frame is not None:
                caller.waiting = caller.stores.get(caller.frame.f_lasti, ())
                break
        self.calls.append(call)


@cache
def _title(code: CodeType) -> str:
    """The name of a function as a scope; empty for a lambda and a comprehension."""
    if code.co_name in _TRANSPARENT:
        return ""
    parts = code.co_qualname.rpartition("<locals>.")[2].split(".")
    return parts[-2] if parts[-1] == "__call__" and len(parts) > 1 else ".".join(parts)


class _State(threading.local):
    watch: Watch

    def __init__(self) -> None:
        self.watch = Watch()


_state = _State()


def seen(frame: FrameType) -> _Call:
    """The call in which the user's frame makes a node now."""
    return _state.watch.seen(frame)


def settle() -> None:
    """Name the values that variables hold by now; outside of a trace, forget the frames."""
    watch = _state.watch
    watch.settle()
    if watch.base is None:
        watch.calls = [call for call in watch.calls if call.frame is None]


class watched:  # reads as a function: `with watched():`
    """Watch the variables of a function that is called inside."""

    __slots__ = ("_outer",)

    def __enter__(self) -> None:
        self._outer = _state.watch
        _state.watch = Watch(running_frame())

    def __exit__(self, *_exception: object) -> None:
        _state.watch.settle()
        _state.watch = self._outer


# -- by hand ---------------------------------------------------------------------------------------
H = TypeVar("H")


def name(value: H, text: str) -> H:
    """Name a value, where no variable of the traced function does.

    Parameters
    ----------
    value : Array
        A symbolic array; numbers are given back as they are.
    text : str
        On one line. It names the value in texts, pictures and formulas.

    Returns
    -------
    Array
        The value itself.

    Raises
    ------
    InputError
        If the name is no text, or empty.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(sg.name(np.exp(x), "growth")), x="n")
    >>> "growth = exp(x)" in str(graph)
    True
    """
    checked = _checked(text, "name")
    if isinstance(value, Holder):
        node = value.node
        if not (node.is_input or node.origin.shared):
            others = tuple(each for each in node.names if each.text != checked)
            node.names = (Name(checked, -1, node.serial), *others)[:MOST_NAMES]
    return value


def _checked(text: object, what: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"A {what} is a text, not {text!r}.")
    return text.strip()


class scope:  # reads as a function: `with sg.scope("layer 3"):`
    """Put values made inside the `with` block into a scope, as a call of a function does.

    Pictures fold scopes, and texts show them. A scope of the same title gets a number.

    Parameters
    ----------
    title : str

    Raises
    ------
    InputError
        If the title is no text, or empty.

    Examples
    --------
    >>> def model(x):
    ...     with sg.scope("layer 3"):
    ...         h = np.tanh(x)
    ...     return np.sum(h)
    >>> graph = sg.trace(model, x="n")
    >>> graph.nodes[1].origin.scope
    ('layer 3',)
    """

    __slots__ = ("_call", "_title", "_watch")

    def __init__(self, title: str) -> None:
        self._title = _checked(title, "scope")

    def __enter__(self) -> None:
        self._watch = _state.watch
        self._call = self._watch.open(self._title)

    def __exit__(self, *_exception: object) -> None:
        self._watch.close(self._call)
