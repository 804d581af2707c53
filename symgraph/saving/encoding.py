"""Params, constants and options as data, each float to the bit.

Numbers, text and tuples are written as JSON's numbers, text and lists. Every other value is an
object with one field, whose name is its kind. A float that JSON cannot hold, an infinity or NaN, is
written as its bits. An array of more than a few elements is written as its bytes, little-endian.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ..array import Array
from ..errors import InputError
from ..facts import Fact
from ..ir.body import Body
from ..ir.dims import Dim, is_named
from ..ir.node import Node
from ..ops.backward_rules import Backward, WrittenRule, flat_rule
from .dimensions import dim_at, dtype_at, written_dim
from .json_paths import Place

__all__ = ["Nodes", "fact_at", "settled_params", "value_at", "written"]

_READABLE = 8
"""An array of at most so many elements is written as numbers."""


class Nodes:
    """The nodes read so far, to which later nodes refer by number."""

    def __init__(self) -> None:
        self.found: list[Node] = []
        self.depths: list[int] = []
        self._depth: dict[Node, int] = {}

    def add(self, node: Node, depth: int) -> None:
        """Add the next node, and how deeply bodies are nested in it and in its operands."""
        self.found.append(node)
        self.depths.append(depth)
        self._depth[node] = depth

    def depth_of(self, nodes: Iterable[Node]) -> int:
        """The deepest nesting of bodies in these nodes."""
        return max([self._depth[node] for node in nodes], default=0)

    def at(self, place: Place) -> Node:
        """The node whose number is written at a place."""
        if not self.found:
            place.refuse("there is no node before this one")
        return self.found[place.integer(0, len(self.found) - 1)]


# -- writing ---------------------------------------------------------------------------------------
def written(value: object, number: Mapping[Node, int], rules: Mapping[Any, WrittenRule]) -> Any:
    """A value as JSON.

    Parameters
    ----------
    value : Any
    number : mapping
        The number of each node.
    rules : mapping
        The users' derivative rules, each with the graph it gave.

    Raises
    ------
    InputError
        If values of this kind are not saved; functions are not.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.generic):
        return {"scalar": _written_array(np.asarray(value))}
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": struct.pack(">d", value).hex()}
    if isinstance(value, (tuple, list)):
        return [written(each, number, rules) for each in cast("Sequence[Any]", value)]
    if isinstance(value, np.dtype):
        return {"dtype": cast("np.dtype[Any]", value).name}
    if isinstance(value, np.ndarray):
        return {"array": _written_array(cast("np.ndarray[Any, Any]", value))}
    if value is Ellipsis:
        return {"ellipsis": None}
    if is_named(value):
        return {"dim": written_dim(cast("Dim", value))}
    if isinstance(value, Fact):
        return {"fact": [value.name, *[written(each, number, rules) for each in value.args]]}
    if isinstance(value, Array):
        return {"node": number[value.node]}
    if isinstance(value, Body):
        return {"body": _written_body(value, number)}
    if isinstance(value, Backward):
        return {"rule": _written_rule(value, number, rules)}
    raise InputError(
        f"{value!r} cannot be saved.",
        mend="Params are numbers, text, dtypes, dimensions, arrays and tuples of them.",
    )


def _written_body(body: Body, number: Mapping[Node, int]) -> Any:
    return {
        "inputs": [number[node] for node in body.inputs],
        "outputs": [number[node] for node in body.outputs],
    }


def _written_rule(
    value: Backward, number: Mapping[Node, int], rules: Mapping[Any, WrittenRule]
) -> Any:
    rule = rules[value]
    fields = {"name": value.name, "given": list(rule.given)}
    if rule.body is None:
        return {**fields, "refusal": rule.refusal}
    return {**fields, "body": _written_body(rule.body, number)}


def _written_array(array: np.ndarray[Any, Any]) -> Any:
    head = {"dtype": array.dtype.name, "shape": list(array.shape)}
    plain = array.dtype.kind != "f" or bool(np.all(np.isfinite(array)))
    if array.size <= _READABLE and plain:
        return {**head, "values": array.ravel().tolist()}
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return {**head, "base64": base64.b64encode(little.tobytes()).decode("ascii")}


# -- reading ---------------------------------------------------------------------------------------
def value_at(place: Place, nodes: Nodes) -> Any:
    """The value written at a place.

    Raises
    ------
    FormatError
    """
    value = place.value
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        return place.integer()
    if isinstance(value, str):
        return place.text()
    if isinstance(value, list):
        return tuple([value_at(each, nodes) for each in place.items()])
    kind, inner = place.alone()
    read = _KINDS.get(kind)
    if read is None:
        inner.refuse(f"there is no such kind of value; the kinds are {', '.join(_KINDS)}")
    return read(inner, nodes)


def _float_at(place: Place, _nodes: Nodes) -> float:
    text = place.text()
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        place.expected("16 hexadecimal digits")
    if len(raw) != 8 or raw.hex() != text:
        place.expected("16 hexadecimal digits")
    (value,) = struct.unpack(">d", raw)
    if math.isfinite(value):
        place.refuse("a finite number must be written as a number, not by its bits")
    return value


def _ellipsis_at(place: Place, _nodes: Nodes) -> Any:
    if place.value is not None:
        place.expected("null")
    return Ellipsis


def array_at(place: Place) -> np.ndarray[Any, Any]:
    """The array written at a place, read-only; its size is checked before it is made."""
    fields = place.fields(("dtype", "shape"), ("values", "base64"))
    dtype = dtype_at(fields["dtype"])
    shape = tuple([each.integer(0) for each in fields["shape"].items()])
    if len(shape) > 64:
        fields["shape"].refuse("an array has 64 axes at most")
    count = math.prod(shape)
    if ("values" in fields) == ("base64" in fields):
        place.refuse("expected either values or base64")
    if "values" in fields:
        array = np.array(_elements(fields["values"], dtype, count), dtype).reshape(shape)
    else:
        raw = _bytes_at(fields["base64"], count * dtype.itemsize)
        if dtype.kind == "b" and raw.translate(None, b"\0\1"):
            fields["base64"].refuse("a bool is byte 0 or 1")
        array = np.frombuffer(raw, dtype.newbyteorder("<")).astype(dtype).reshape(shape)
    array.flags.writeable = False
    return array


def _elements(place: Place, dtype: np.dtype[Any], count: int) -> list[Any]:
    places = place.items(count)
    if dtype.kind == "b":
        return [each.boolean() for each in places]
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return [each.integer(int(limits.min), int(limits.max)) for each in places]
    for each in places:
        # We never write a number that the dtype does not hold exactly.
        if type(each.value) is not float or not _is_exact(each.value, dtype):
            each.expected(f"a number of dtype {dtype}")
    return [each.value for each in places]


def _is_exact(value: float, dtype: np.dtype[Any]) -> bool:
    with np.errstate(all="ignore"):
        return float(dtype.type(value)) == value


def _bytes_at(place: Place, size: int) -> bytes:
    text = place.text()
    # The length is checked before decoding: four characters are three bytes.
    if len(text) != 4 * -(-size // 3):
        place.refuse(f"expected {size} bytes in base64, got {len(text)} characters")
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        place.expected("base64")
    if len(raw) != size:
        place.refuse(f"expected {size} bytes, got {len(raw)}")
    return raw


def _scalar_at(place: Place, _nodes: Nodes) -> Any:
    array = array_at(place)
    if array.shape:
        place.refuse("a scalar has no axes")
    return array[()]


_FACTS: Mapping[str, tuple[Callable[[Place], Any], ...]] = {
    **dict.fromkeys(
        (
            "positive",
            "nonnegative",
            "negative",
            "nonpositive",
            "nonzero",
            "finite",
            "total",
            "integer_valued",
            "unique",
            "symmetric",
            "antisymmetric",
            "positive_definite",
            "orthogonal",
            "diagonal",
        ),
        (),
    ),
    "interval": (lambda place: _bound_at(place), lambda place: _bound_at(place)),
    **dict.fromkeys(("simplex", "one_hot", "unit_norm"), (lambda place: place.integer(-64, 63),)),
    "triangular": (lambda place: place.one_of("lower", "upper"),),
}


def _bound_at(place: Place) -> float:
    value = value_at(place, Nodes())
    if type(value) is not float or math.isnan(value):
        place.expected("a float")
    return value


def fact_at(place: Place) -> Fact:
    """The fact written at a place."""
    name, inner = place.alone()
    if name != "fact":
        place.expected("a fact")
    parts = inner.items()
    if not parts:
        inner.expected("a fact")
    head = parts[0].text()
    if head not in _FACTS:
        parts[0].refuse(f"there is no fact {head!r}")
    readers = _FACTS[head]
    if len(parts) != 1 + len(readers):
        inner.refuse(f"{head} has {len(readers)} arguments, not {len(parts) - 1}")
    args = tuple([read(each) for read, each in zip(readers, parts[1:], strict=True)])
    if head == "interval" and args[0] > args[1]:
        inner.refuse("the interval is empty")
    return Fact(head, args)


def body_at(place: Place, nodes: Nodes) -> Body:
    """The body written at a place: outputs that depend on the body's own inputs only."""
    fields = place.fields(("inputs", "outputs"))
    inputs = [nodes.at(each) for each in fields["inputs"].items()]
    outputs = [nodes.at(each) for each in fields["outputs"].items()]
    if len(set(inputs)) != len(inputs) or not all(node.is_input for node in inputs):
        fields["inputs"].refuse("expected different inputs")
    own = set(inputs)
    seen: set[Node] = set(outputs)
    stack = list(seen)
    while stack:
        node = stack.pop()
        if node.is_input and node not in own:
            fields["outputs"].refuse("they depend on an input that is not an input of the body")
        fresh = [each for each in node.operands if each not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    return Body(inputs, outputs)


def _rule_at(place: Place, nodes: Nodes) -> Any:
    fields = place.fields(("name", "given"), ("body", "refusal"))
    name = fields["name"].text()
    given = tuple([each.boolean() for each in fields["given"].items()])
    if ("body" in fields) == ("refusal" in fields):
        place.refuse("expected either a body or a refusal")
    if "refusal" in fields:
        return _Rule(name, WrittenRule(None, given, fields["refusal"].text()))
    body = body_at(fields["body"], nodes)
    if len(body.outputs) != sum(given):
        fields["given"].refuse(f"the body gives {len(body.outputs)} cotangents")
    return _Rule(name, WrittenRule(body, given))


class _Rule:
    """A derivative rule that was read before its function."""

    def __init__(self, name: str, rule: WrittenRule) -> None:
        self.name = name
        self.rule = rule

    def of(self, body: Body, place: Place) -> Backward:
        given, own = self.rule.given, self.rule.body
        if len(given) != len(body.inputs):
            place.refuse(f"given has {len(given)} entries for {len(body.inputs)} operands")
        avals = [*body.avals, *body.avals, *body.operand_avals]
        wanted = [node.aval for node, there in zip(body.inputs, given, strict=True) if there]
        if own is not None and (list(own.operand_avals) != avals or list(own.avals) != wanted):
            place.refuse("the graph of the rule does not fit the function")
        return flat_rule(self.name, self.rule, body)


def settled_params(params: dict[str, Any], places: Mapping[str, Place]) -> None:
    """Complete each derivative rule among params with the function that stands beside it."""
    for name, value in params.items():
        if isinstance(value, _Rule):
            body = params.get("body")
            if not isinstance(body, Body):
                places[name].refuse("the function of this rule is missing: no param is 'body'")
            params[name] = value.of(body, places[name])


_KINDS: Mapping[str, Callable[[Place, Nodes], Any]] = {
    "float": _float_at,
    "scalar": _scalar_at,
    "dtype": lambda place, _nodes: dtype_at(place),
    "array": lambda place, _nodes: array_at(place),
    "ellipsis": _ellipsis_at,
    "dim": lambda place, _nodes: dim_at(place),
    "fact": lambda place, _nodes: fact_at(Place({"fact": place.value}, place.outer, place.key)),
    "node": lambda place, nodes: Array(nodes.at(place)),
    "body": body_at,
    "rule": _rule_at,
}
