"""The table of nodes: each with its operation, operands, params, results and origin.

A node is read by making it as any other node. The operation puts its params in normal form and
infers its results, and both must be those of the file.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from ..errors import InputError, SymgraphError
from ..ir.avals import Aval
from ..ir.body import Body
from ..ir.interning import params_key
from ..ir.node import Node, Origin, make, newest_serial, note, origin
from ..ir.op import OPS, Op
from ..ir.origins import noted
from ..ir.value_names import MOST_NAMES, Name
from ..ops.backward_rules import WrittenRule
from ..ops.creation import input as symbolic_input
from ..source import Frame
from .dimensions import aval_at, written_aval
from .encoding import Nodes, fact_at, settled_params, value_at, written
from .json_paths import Place
from .node_order import in_order, rules_of
from .param_kinds import check_params

__all__ = ["ReadNodes", "WrittenNodes"]

_ORIGIN = ("lines", "gradient_of", "by")
_DEEPEST_NAME = 1_000
_DEEPEST = 50
"""The most levels of bodies within bodies."""


# -- writing ---------------------------------------------------------------------------------------
class WrittenNodes:
    """Nodes as JSON, and their numbers.

    Parameters
    ----------
    inputs : iterable of Node
        The inputs of the graph.
    roots : iterable of Node
        All nodes that the document refers to.
    shown : iterable of Node
        The nodes of the graph that is saved: a name of one of them is not that of another node,
        too.

    Raises
    ------
    InputError
        If a node cannot be saved; it names the node and the user's line.
    """

    def __init__(
        self, inputs: Iterable[Node], roots: Iterable[Node], shown: Iterable[Node] = ()
    ) -> None:
        given, ends = list(inputs), list(roots)
        self._shown = {node.serial for node in shown}
        self.rules: Mapping[Any, WrittenRule] = rules_of([*given, *ends])
        order = in_order(given, ends, self.rules)
        self.number = {node: place for place, node in enumerate(order)}
        self._frames: dict[Frame, int] = {}
        self._places = {node.serial: place for node, place in self.number.items()}
        self.nodes = [self._node(node) for node in order]
        self.notes = [
            [place, self.origin(each)]
            for place, node in enumerate(order)
            if node.origin.shared
            for each in sorted(noted(node, self.number), key=self._adjoint_number)
        ]

    def _adjoint_number(self, found: Origin) -> int:
        # Origins are not sorted by age, so that two graphs built alike give the same text.
        return self.number.get(found.adjoint_of, -1) if found.adjoint_of is not None else -1

    @property
    def frames(self) -> list[Any]:
        """The user's lines, as JSON."""
        return [[each.file, each.line, each.function, each.text] for each in self._frames]

    def value(self, value: object) -> Any:
        """A value as JSON, with nodes as numbers."""
        return written(value, self.number, self.rules)

    def origin(self, found: Origin) -> dict[str, Any]:
        """The fields of an origin: the user's lines, the node it is a gradient of, the rule."""
        fields: dict[str, Any] = {}
        if found.frames:
            fields["lines"] = [
                self._frames.setdefault(frame, len(self._frames)) for frame in found.frames
            ]
        if found.adjoint_of in self.number:
            fields["gradient_of"] = self.number[found.adjoint_of]
        if found.rule:
            fields["by"] = found.rule
        return fields

    def _node(self, node: Node) -> dict[str, Any]:
        if OPS.get(node.op.name) is not node.op:
            raise InputError(
                f"{node!r} cannot be saved: its operation has been defined anew since it was made.",
                _where(node),
                mend="Trace the function again.",
            )
        fields: dict[str, Any] = {"op": node.op.name}
        if node.op.custom:
            fields["custom"] = True
        if node.operands:
            fields["operands"] = [self.number[each] for each in node.operands]
        if node.params:
            fields["params"] = {name: self._param(node, name) for name in node.params}
        fields["results"] = [written_aval(each) for each in node.results]
        if node.copy:
            fields["copy"] = node.copy
        # The origin of a shared node is of the graph that made it last; this graph has notes of it.
        if node.origin.shared:
            return fields
        fields |= self.origin(node.origin)
        if node.origin.scope:
            fields["scope"] = list(node.origin.scope)
        names = [self._name(node, each) for each in node.names if self._keeps(node, each)]
        return {**fields, "names": names} if names else fields

    def _keeps(self, node: Node, name: Name) -> bool:
        return name.holder == node.serial or name.holder not in self._shown

    def _name(self, node: Node, name: Name) -> list[Any]:
        """A name: its text, its depth, and the node that had it first, if that is another one."""
        if name.holder == node.serial:
            return [name.text, name.depth]
        return [name.text, name.depth, self._places.get(name.holder, -1)]

    def _param(self, node: Node, name: str) -> Any:
        try:
            return self.value(node.params[name])
        except InputError as error:
            raise InputError(
                f"{node.op.name} cannot be saved: {name}={error.what}", _where(node), error.mend
            ) from None


def _where(node: Node) -> list[str]:
    return [f"{node!r}   from {node.origin}"] if str(node.origin) else []


# -- reading ---------------------------------------------------------------------------------------
class ReadNodes:
    """The nodes of a file, made again.

    Parameters
    ----------
    frames, nodes, notes : Place
        The user's lines, the table, and the origins of nodes that graphs share.

    Raises
    ------
    FormatError
    """

    def __init__(self, frames: Place, nodes: Place, notes: Place) -> None:
        self._frames = [_frame_at(each) for each in frames.items()]
        self.nodes = Nodes()
        self._named: list[tuple[Node, Mapping[str, Place]]] = []
        for place in nodes.items():
            self._add(place)
        self._settle_names()
        for place in notes.items():
            number, found = place.items(2)
            node = self.nodes.at(number)
            if not node.origin.shared:
                number.refuse("there are notes only of nodes that graphs share")
            note(node, self.origin(found.fields(("gradient_of",), ("lines", "by"))))

    def origin(self, fields: Mapping[str, Place]) -> Origin:
        """The origin among the fields of an object."""
        lines: tuple[Frame, ...] = ()
        if "lines" in fields:
            last = len(self._frames) - 1
            lines = tuple([self._frames[p.integer(0, last)] for p in fields["lines"].items()])
        adjoint = self.nodes.at(fields["gradient_of"]) if "gradient_of" in fields else None
        scope = tuple([each.text() for each in self._items(fields, "scope")])
        by = fields["by"].text() if "by" in fields else ""
        return Origin(lines, adjoint, by, scope=scope)

    def _add(self, place: Place) -> None:
        fields = place.fields(
            ("op", "results"),
            ("custom", "operands", "params", "copy", *_ORIGIN, "scope", "names"),
        )
        results = tuple([aval_at(each) for each in fields["results"].items()])
        if not results:
            fields["results"].refuse("a node has a result")
        numbers = [each.integer(0) for each in self._items(fields, "operands")]
        operands = [self.nodes.at(each) for each in self._items(fields, "operands")]
        op = _op_at(fields)
        given = fields["params"].named() if "params" in fields else {}
        found = self.origin(fields)
        with origin(found):
            if op.name == "input":
                node = _input_at(place, given, operands, results)
            else:
                copy = fields["copy"].integer(0) if "copy" in fields else 0
                node = self._made(place, op, operands, given, results, copy)
        depth = max([self.nodes.depths[number] for number in numbers], default=0)
        for value in node.params.values():
            inner = self._depth_of(value)
            depth = max(depth, inner + 1 if inner >= 0 else 0)
        if depth > _DEEPEST:
            place.refuse("bodies are nested too deeply")
        self.nodes.add(node, depth)
        self._named.append((node, fields))

    def _settle_names(self) -> None:
        """Give all nodes their names; a name may be of a node that comes later."""
        for node, fields in self._named:
            names: list[Name] = []
            for place in self._items(fields, "names"):
                if len(place.items()) < 2:
                    place.expected("a list of two or three")
                text, depth, *holder = place.items()
                serial = node.serial
                if len(holder) == 1:
                    number = holder[0].integer(-1, len(self._named) - 1)
                    serial = newest_serial() if number < 0 else self._named[number][0].serial
                elif holder:
                    place.expected("a list of two or three")
                if not text.text().strip():
                    text.expected("a name")
                names.append(Name(text.text(), depth.integer(-1, _DEEPEST_NAME), serial))
            if names and (node.is_input or node.origin.shared or len(names) > MOST_NAMES):
                fields["names"].refuse("this node has no such names")
            node.names = tuple(names) or node.names

    @staticmethod
    def _items(fields: Mapping[str, Place], name: str) -> list[Place]:
        return fields[name].items() if name in fields else []

    def _depth_of(self, value: object) -> int:
        """How deeply bodies are nested in a param; -1 if it is no body."""
        return self.nodes.depth_of(value.outputs) if isinstance(value, Body) else -1

    def _made(
        self,
        place: Place,
        op: Op,
        operands: list[Node],
        given: Mapping[str, Place],
        results: tuple[Aval, ...],
        copy: int,
    ) -> Node:
        params = {name: value_at(each, self.nodes) for name, each in given.items()}
        settled_params(params, given)
        _check_call(place, op, operands, params)
        if not op.custom:
            check_params(params, given)
        avals = [each.results[0] if len(each.results) == 1 else each.results for each in operands]
        normal = _attempted(place, op, lambda: op.normalize(tuple(avals), **params))
        for name, value in params.items():
            if normal.get(name) is value:
                continue
            if name not in normal or params_key({name: normal[name]}) != params_key({name: value}):
                given[name].refuse(f"{op.name} does not write this param in this form")
        if len(normal) != len(params):
            place.refuse(f"{op.name} has other params: {', '.join(sorted(normal))}")
        node = _attempted(place, op, lambda: make(op, operands, params, copy))
        if node.results != results:
            shown = ", ".join(map(str, node.results))
            place.refuse(f"the results are not those of {op.name}, which gives {shown}")
        return node


def _attempted(place: Place, op: Op, call: Callable[[], Any]) -> Any:
    """The result of an operation's own rule; any error it raises is reported at the place."""
    try:
        return call()
    except SymgraphError as error:
        place.refuse(f"{op.name}: {error.what.rstrip('.')}")
    except Exception as error:  # The rules expect params that users give; a file may hold any.
        place.refuse(f"{op.name} cannot be made: {type(error).__name__}: {error}")


def _frame_at(place: Place) -> Frame:
    file, line, function, text = place.items(4)
    return Frame(file.text(), line.integer(0), function.text(), text.text())


def _op_at(fields: Mapping[str, Place]) -> Op:
    name = fields["op"].text()
    custom = fields["custom"].boolean() if "custom" in fields else False
    found = OPS.get(name)
    if custom and (found is None or not found.custom):
        fields["op"].refuse(
            f"the custom operation {name!r} is not defined in this process",
            mend="Import the module that defines it (sg.custom_op), then load again.",
        )
    if found is None or found.custom != custom:
        fields["op"].refuse(f"there is no operation {name!r}")
    return found


@cache
def _signature(op: Op) -> inspect.Signature:
    return inspect.signature(op.kernel)


def _check_call(place: Place, op: Op, operands: list[Node], params: dict[str, Any]) -> None:
    """Check that the kernel takes so many operands, and params of these names."""
    try:
        _signature(op).bind(None, *operands, **params)
    except TypeError as error:
        place.refuse(f"{op.name}: {error}")


def _input_at(
    place: Place, given: Mapping[str, Place], operands: list[Node], results: tuple[Aval, ...]
) -> Node:
    fields = Place({name: each.value for name, each in given.items()}, place, "params").fields(
        ("name", "assume")
    )
    if operands or len(results) != 1:
        place.refuse("an input has no operands and one result")
    name = fields["name"].text()
    facts = [fact_at(each) for each in fields["assume"].items()]
    (aval,) = results
    try:
        node = symbolic_input(name, aval.shape, aval.dtype, facts).node
    except SymgraphError as error:
        place.refuse(error.what.rstrip("."))
    if params_key(node.params) != params_key({"name": name, "assume": tuple(facts)}):
        fields["assume"].refuse("the axes of facts must be counted from the end")
    return node
