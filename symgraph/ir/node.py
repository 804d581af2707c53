"""Nodes: the values of a graph, and the origin of each.

A node is an operation applied to operands. Nodes are immutable and hash-consed: equal subgraphs are
one node by construction (inputs excepted, each of which is itself). Constants are compared bit by
bit, so -0.0 is not 0.0. Building a node never simplifies it. Every node enters through `make`, and
its serial number is larger than its operands', so sorting by serial is a topological order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import replace
from operator import attrgetter
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import SymgraphError
from ..records import record
from ..source import Frame, described, running_frame
from .avals import Aval
from .immutable import Immutable
from .interning import Interned, params_key
from .naming import seen
from .node_cards import card
from .op import Op, Params
from .value_names import Name, carried

__all__ = [
    "NOTES",
    "Node",
    "Origin",
    "adjoint_origin",
    "copied",
    "existing",
    "fresh",
    "make",
    "newest_serial",
    "note",
    "on_operands",
    "origin",
]


@record
class Origin:
    """Where a node comes from. No part of its identity.

    Parameters
    ----------
    frames : tuple of Frame
        The user's lines; two lines that share a node are both here.
    adjoint_of : Node or None
        The forward node whose vjp made this one.
    rule : str
        The rewrite that made it, or an empty string.
    shared : bool
        Whether the node depends on no input, as a constant, so that unrelated graphs share it. Then
        this is its origin in the graph that made it last; `origins` finds its origin in a certain
        graph by the notes that are kept of it.
    scope : tuple of str
        The calls of the user's functions, and the scopes, that the value was made in: `("layer
        2", "attention")`. A gradient node has that of the node whose vjp made it.
    """

    frames: tuple[Frame, ...] = ()
    adjoint_of: Node | None = None
    rule: str = ""
    shared: bool = False
    scope: tuple[str, ...] = ()

    def again(self, rule: str) -> Origin:
        """The origin of a node that a rule puts in the place of a node of this origin."""
        return Origin(self.frames, self.adjoint_of, rule, scope=self.scope)

    def __str__(self) -> str:
        where = ", ".join(str(frame) for frame in self.frames[:2])
        if self.adjoint_of is not None:
            return f"gradient of {where}" if where else "gradient"
        return where


class Node(Immutable):
    """A value: `op` applied to `operands` with static `params`.

    `results` has one `Aval` a result; `aval` is the only one of a node with a single result.
    Equality and hash are identity, which hash-consing makes equality of value. `copy` is 0 but for
    nodes that are computed again on purpose (rematerialization): those equal no other node, so no
    later pass can merge them back.

    Parameters
    ----------
    op : Op
    operands : tuple of Node
    params : mapping
        Static: an axis, a shape.
    results : tuple of Aval
        Dtype and shape of each result.
    serial : int
        The order in which nodes were made.
    origin : Origin
        The user's lines, and the node whose adjoint it is.
    copy : int
        0, except for a node that is computed again on purpose.

    Attributes
    ----------
    names : tuple of Name
        The user's variables that held the value, the outermost first; see `naming`. No part of its
        identity.
    aval : Aval
        The abstract value; of a node with several results, that of the first.
    dtype, shape
        Those of `aval`.
    is_constant, is_input : bool
        Whether the operation is that of a constant, or of an input.

    Examples
    --------
    >>> node = (sg.input("x") * 2).node
    >>> node.op.name, len(node.operands), node.aval.shape
    ('multiply', 2, ())
    """

    # Passes ask for these millions of times, so what follows from `results` and `op` is kept.
    __slots__ = (
        "__weakref__",
        "aval",
        "copy",
        "dtype",
        "is_constant",
        "is_input",
        "names",
        "op",
        "operands",
        "origin",
        "params",
        "results",
        "serial",
        "shape",
    )

    def __init__(
        self,
        op: Op,
        operands: tuple[Node, ...],
        params: Params,
        results: tuple[Aval, ...],
        serial: int,
        origin: Origin,
        copy: int = 0,
    ) -> None:
        self.copy = copy
        self.names: tuple[Name, ...] = ()
        self.op = op
        self.operands = operands
        self.params = params
        self.results = results
        self.serial = serial
        self.origin = origin
        self.aval = aval = results[0]
        self.dtype: np.dtype[Any] = aval.dtype
        self.shape: tuple[Any, ...] = aval.shape
        self.is_constant = op.name == "constant"
        self.is_input = op.name == "input"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        avals = ", ".join(str(aval) for aval in self.results)
        name: str = self.params["name"] if self.is_input else self.op.name
        # networkx writes nodes to files by this text, and files of XML hold no control characters.
        name = name if name.isprintable() else ascii(name)
        return f"<{name} #{self.serial} {avals}>"

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": card(self)}

    def __reduce__(self) -> Any:
        raise SymgraphError(
            f"Symbolic arrays and nodes are not pickled: {self!r} is nothing without its inputs.",
            mend="Pickle the graph instead, as sg.graph(y), or save it: graph.save('g.json').",
        )


# -- origins ------------------------------------------------------------------------------------
def adjoint_origin(node: Node, owner: Node | None = None) -> Origin:
    """The origin of nodes that a node's vjp makes: adjoints of `owner`, if that is given."""
    return Origin(node.origin.frames, owner or node, scope=node.origin.scope)


_current: ContextVar[Origin | None] = ContextVar("origin", default=None)


class origin:  # reads as a function: `with origin(...)`
    """Give nodes made inside this origin; with None, the user's own line.

    A class, for a generator would cost more than many a node that is made inside.
    """

    __slots__ = ("_token", "_value")

    def __init__(self, value: Origin | None) -> None:
        self._value = value

    def __enter__(self) -> None:
        self._token = _current.set(self._value)

    def __exit__(self, *_exception: object) -> None:
        _current.reset(self._token)


def _here() -> Origin:
    """The origin of nodes that the user's line makes now."""
    frame = running_frame()
    if frame is None:
        return _NOWHERE
    call = seen(frame)
    found: Origin | None = call.known.get(frame.f_lasti)
    if found is None:
        line = described(frame.f_code, frame.f_lineno)
        found = call.known[frame.f_lasti] = Origin((line,), scope=call.path)
    return found


_NOWHERE = Origin()


def _origin(given: Origin | None, operands: Sequence[Node] | None = None) -> Origin:
    """The origin of a node made now (no operands: an input): the one given, or the user's line."""
    if given is None:
        given = _here()
    shared = operands is not None
    for operand in operands or ():
        if not operand.origin.shared:
            shared = False
            break
    return given if given.shared == shared else replace(given, shared=shared)


def _noted(known: Origin, given: Origin | None) -> Origin:
    """The origin of a node that is made again now, with the user's line of now.

    A shared node forgets its line of before, which may be a line of another graph.
    """
    if given is not None:
        newer = known.shared and given.adjoint_of is not None
        return replace(given, shared=True) if newer else known
    if known.adjoint_of is not None and not known.shared:
        return known
    now = _here()
    if known.shared:
        return replace(now, shared=True)
    frames = known.frames
    if not now.frames or now.frames[0] in frames or len(frames) >= 4:
        return known
    return replace(known, frames=(*frames, *now.frames))


_count = itertools.count()
NOTES: WeakKeyDictionary[Node, WeakKeyDictionary[Node, tuple[int, tuple[Frame, ...], str]]] = (
    WeakKeyDictionary()
)
"""For each shared node: when and where it was made as the adjoint of each node.

So each graph finds its own origin there, also after other graphs have made the same constant.
"""


def note(node: Node, found: Origin) -> None:
    """Keep the origin of a shared node, if it names the node whose adjoint that is."""
    if found.adjoint_of is not None:
        known = NOTES.setdefault(node, WeakKeyDictionary())
        known[found.adjoint_of] = (next(_count), found.frames, found.rule)


# -- nodes --------------------------------------------------------------------------------------
_serial = itertools.count()


def newest_serial() -> int:
    """A serial number that later nodes exceed, and no earlier one."""
    return next(_serial)


_interned: Interned[Node] = Interned()

_serial_of = attrgetter("serial")


def make(op: Op, operands: Sequence[Node], params: Params | None = None, copy: int = 0) -> Node:
    """The node of `op` on `operands`: the existing one if there is an equal one.

    Parameters
    ----------
    op : Op
    operands : sequence of Node
        In order; a node may occur twice.
    params : mapping
        In normal form, see `Op.normalize`.
    copy : int
        Which recomputation of the value this is; 0 is the first.

    Raises
    ------
    ShapeError, DTypeError
        As `op.infer` finds.
    """
    return _made(op, operands, params, copy, _current.get())


def _made(
    op: Op,
    operands: Sequence[Node],
    params: Params | None,
    copy: int,
    given: Origin | None,
    results: tuple[Aval, ...] | None = None,
) -> Node:
    """As `make`, of the origin given; `results` if they are known."""
    serials = map(_serial_of, operands)
    # The record and not its name: a custom operation may be defined again under its name.
    if params:
        key = (op, *serials, *params_key(params), copy)
    else:
        params = {}
        key = (op, *serials, copy)
    ref = _interned.refs.get(key)
    found = None if ref is None else ref()
    if found is not None:
        if given is None or found.origin.shared:
            found.origin = _noted(found.origin, given)
            if given is not None and found.origin.shared:
                note(found, given)
        return found
    if results is None:
        inferred = op.infer(*[_seen_aval(operand) for operand in operands], **params)
        results = inferred if isinstance(inferred, tuple) else (inferred,)
    origin = _origin(given, operands)
    node = _interned.add(
        key, Node(op, tuple(operands), params, results, next(_serial), origin, copy)
    )
    if given is not None and origin.shared:
        note(node, given)
    return node


def existing(op: Op, operands: Sequence[Node], params: Params | None = None) -> Node | None:
    """The node that `make` would give, if it exists already; else None, and none is made."""
    serials = map(_serial_of, operands)
    key = (op, *serials, *params_key(params), 0) if params else (op, *serials, 0)
    ref = _interned.refs.get(key)
    return None if ref is None else ref()


def _seen_aval(node: Node) -> Any:
    """The operand as `infer` gets it: its aval, or all avals of a node of several results."""
    return node.results[0] if len(node.results) == 1 else node.results


def fresh(op: Op, params: Params, result: Aval) -> Node:
    """A node equal to no other: an input."""
    return Node(op, (), params, (result,), next(_serial), _origin(_current.get()))


def on_operands(node: Node, operands: tuple[Node, ...], *, equal: bool = True) -> Node:
    """The same operation on other operands, of the same origin; the node if none is.

    The names go on if it has the same value: `equal`. A negated `z` is no `z`.
    """
    before = node.operands
    if operands == before:
        return node
    results: tuple[Aval, ...] | None = node.results
    for old, new in zip(before, operands, strict=True):
        if old.results != new.results:
            results = None  # Of named dimensions one may be known now.
            break
    new = _made(node.op, operands, node.params, node.copy, node.origin, results)
    if equal:
        carried(node, new)
    return new


def copied(node: Node, operands: Sequence[Node], given: Origin) -> Node:
    """The same operation on the operands of another graph, of another origin.

    The operands have the dtypes and shapes of the node's own.
    """
    return _made(node.op, operands, node.params, node.copy, given, node.results)
