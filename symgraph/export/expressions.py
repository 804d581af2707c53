"""How a node's expression reads as text: infix arithmetic, and calls with their params.

Whatever the user named stays on one line, with everything unprintable escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, TypeAlias, cast

import numpy as np

from ..ir.node import Node

__all__ = [
    "ATOM",
    "Spelled",
    "atom",
    "constant_text",
    "escaped",
    "index_text",
    "inline",
    "number",
    "param",
    "shortened",
    "spelled",
]

Spelled: TypeAlias = tuple[str, int]
"""Text of an expression, and how strongly its outermost operator binds."""

ATOM = 10
UNARY = 8
POWER = 9
INFIX: dict[str, Spelled] = {
    "less": ("<", 1),
    "less_equal": ("<=", 1),
    "greater": (">", 1),
    "greater_equal": (">=", 1),
    "equal": ("==", 1),
    "not_equal": ("!=", 1),
    "bitwise_or": ("|", 2),
    "bitwise_xor": ("^", 3),
    "bitwise_and": ("&", 4),
    "left_shift": ("<<", 5),
    "right_shift": (">>", 5),
    "add": ("+", 6),
    "subtract": ("-", 6),
    "multiply": ("*", 7),
    "divide": ("/", 7),
    "floor_divide": ("//", 7),
    "remainder": ("%", 7),
    "matmul": ("@", 7),
    "power": ("**", POWER),
}
PREFIX = {"negative": "-", "invert": "~", "bitwise_invert": "~", "logical_not": "~"}

_LONGEST = 48


def escaped(text: str) -> str:
    r"""`text` on one line: control, direction and separator characters as `\x..`, `\u....`."""
    if text.isprintable() and "\\" not in text:
        return text
    return "".join(char if char.isprintable() and char != "\\" else _code(char) for char in text)


def _code(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def shortened(text: str, longest: int = _LONGEST) -> str:
    """`text`, its middle left out where it is longer than `longest`."""
    if len(text) <= longest:
        return text
    head = (longest - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (longest - 1 - head) :]}"


def number(value: Any) -> str:
    """A number in as few digits as tell it from its neighbours; 2.0 reads 2, -0.0 stays -0.0."""
    array: np.ndarray[Any, Any] = np.asarray(value)
    item = array.item()
    if array.dtype.kind != "f" or not isfinite(item):
        return str(item)
    if item.is_integer() and abs(item) < 1e16 and not (item == 0 and np.signbit(array)):
        return str(int(item))
    return str(array.dtype.type(item))


def param(value: Any) -> str:
    """A static parameter as it is written in a call."""
    if isinstance(value, np.dtype):
        return str(cast("Any", value))
    if isinstance(value, (np.ndarray, np.generic)):
        array: np.ndarray[Any, Any] = np.asarray(value)
        return number(array) if array.ndim == 0 else f"{array.dtype}{list(array.shape)}"
    if isinstance(value, slice):
        piece = cast("slice[Any, Any, Any]", value)
        return _slice(piece.start, piece.stop, piece.step)
    if isinstance(value, (tuple, list)):
        items = [param(item) for item in cast("Sequence[Any]", value)]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if value is Ellipsis:
        return "..."
    if isinstance(value, str):
        return repr(escaped(value))
    return escaped(number(value) if isinstance(value, (float, int)) else str(value))


def _slice(start: Any, stop: Any, step: Any) -> str:
    shown = [("" if part is None else param(part)) for part in (start, stop, step)]
    return ":".join(shown[:2] if step is None or step == 1 else shown)


def index_text(index: Sequence[Any], shape: Sequence[Any]) -> str:
    """A basic index as it is typed: entries are ints, None or the three numbers of a slice."""
    shown: list[str] = []
    axis = 0
    for entry in index:
        size = shape[axis] if entry is not None and axis < len(shape) else None
        axis += entry is not None
        if isinstance(entry, tuple):
            start, stop, step = cast("tuple[Any, Any, Any]", entry)
            backwards = isinstance(step, int) and step < 0
            first = size - 1 if backwards and isinstance(size, int) else 0
            shown.append(
                _slice(None if start == first else start, None if stop == size else stop, step)
            )
        else:
            if isinstance(entry, int) and entry < 0 and isinstance(size, int):
                entry += size
            shown.append(param(entry))
    while len(shown) > 1 and shown[-1] == ":":
        shown.pop()
    return ", ".join(shown)


def _covers_all(axes: Any, ndim: int) -> bool:
    if isinstance(axes, int):
        return ndim == 1
    return isinstance(axes, tuple) and len(cast("tuple[Any, ...]", axes)) == ndim


def _axes(node: Node, value: Any) -> str:
    """`axis=` of a call, or nothing where it is every axis of the operand."""
    ndim = node.operands[0].ndim if node.operands else 0
    if value is None or _covers_all(value, ndim):
        return ""
    single = isinstance(value, tuple) and len(cast("tuple[Any, ...]", value)) == 1
    return f"axis={param(value[0] if single else value)}"


def _arguments(node: Node) -> list[str]:
    """Static params as keyword arguments, without those that are off or told by the result."""
    shown: list[str] = []
    for name, value in node.params.items():
        if name in ("axis", "axes") and node.op.name != "transpose":
            text = _axes(node, value)
        elif value is True:
            text = name
        elif value is None or value is False or name == "dtype" or (name, value) == ("offset", 0):
            text = ""
        else:
            text = f"{name}={param(value)}"
        if text:
            shown.append(escaped(text))
    return shown


def _unary(sign: str, operand: Spelled) -> Spelled:
    # -(1) is the negative of the constant 1; -1 would be another constant.
    text = f"({operand[0]})" if operand[0][0].isdecimal() else _enclosed(operand, UNARY)
    return sign + text, UNARY


def _binary(name: str, left: Spelled, right: Spelled) -> Spelled:
    sign, binding = INFIX[name]
    if name == "power":
        return f"{_enclosed(left, POWER + 1)}**{_enclosed(right, UNARY)}", POWER
    return f"{_enclosed(left, binding)} {sign} {_enclosed(right, binding + 1)}", binding


def _enclosed(operand: Spelled, binding: int) -> str:
    return operand[0] if operand[1] >= binding else f"({operand[0]})"


def _transpose(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    (operand,) = operands
    ndim = node.ndim
    axes = node.params.get("axes", node.params.get("axis", node.params.get("perm")))
    if not isinstance(axes, tuple):
        return None
    order = [axis % ndim for axis in cast("tuple[int, ...]", axes)]
    if order == list(range(ndim))[::-1]:
        return f"{_enclosed(operand, ATOM)}.T", ATOM
    if order == [*range(ndim - 2), ndim - 1, ndim - 2]:
        return f"{_enclosed(operand, ATOM)}.mT", ATOM
    return None


def _getitem(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    index = index_text(node.params["index"], node.operands[0].shape)
    return f"{_enclosed(operands[0], ATOM)}[{escaped(index)}]", ATOM


def _embed(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    lead = node.ndim - sum(entry is not None for entry in node.params["index"])
    index = index_text((*[(None, None, 1)] * lead, *node.params["index"]), node.shape)
    return f"embed({operands[0][0]}, {param(node.shape)}, at=[{escaped(index)}])", ATOM


def _gather(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    before = node.operands[0].ndim + node.params["axis"]
    places = [":"] * before + [text for text, _ in operands[1:]]
    return f"{_enclosed(operands[0], ATOM)}[{', '.join(places)}]", ATOM


def _einsum(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    texts = [param(node.params["subscripts"]), *(text for text, _ in operands)]
    return f"einsum({', '.join(texts)})", ATOM


def _concatenate(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    arrays = f"[{', '.join(text for text, _ in operands)}]"
    return f"{node.op.name}({', '.join([arrays, *_arguments(node)])})", ATOM


def _project(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    return f"result {node.params['index']} of {operands[0][0]}", 0


def _cast(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    return f"{node.params['dtype']}({operands[0][0]})", ATOM


def _broadcast(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    return f"broadcast({operands[0][0]}, {param(node.shape)})", ATOM


def _reshape(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    return f"reshape({operands[0][0]}, {param(node.shape)})", ATOM


def _dimension(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    size = str(node.params["size"])
    return size, ATOM if size.isidentifier() else 0


_SPECIAL: dict[str, Callable[[Node, Sequence[Spelled]], Spelled | None]] = {
    "transpose": _transpose,
    "getitem": _getitem,
    "embed": _embed,
    "gather": _gather,
    "einsum": _einsum,
    "concatenate": _concatenate,
    "project": _project,
    "cast": _cast,
    "broadcast_to": _broadcast,
    "reshape": _reshape,
    "dimension": _dimension,
}


def spelled(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """The expression of `node` over the given texts of its operands."""
    name = node.op.name
    special = _SPECIAL.get(name)
    found = special(node, operands) if special else None
    if found is not None:
        return found
    if name in INFIX and len(operands) == 2 and not node.params:
        return _binary(name, operands[0], operands[1])
    if name in PREFIX and len(operands) == 1:
        return _unary(PREFIX[name], operands[0])
    texts = [text for text, _ in operands]
    return f"{escaped(name)}({', '.join([*texts, *_arguments(node)])})", ATOM


def constant_text(value: np.ndarray[Any, Any]) -> Spelled | None:
    """A constant small enough to stand in an expression; None for a larger one."""
    if value.ndim == 0:
        text = number(value)
        return text, UNARY if text.startswith("-") else ATOM
    if value.ndim == 1 and value.size <= 3:
        return f"[{', '.join(number(item) for item in value)}]", ATOM
    return None


def atom(node: Node) -> Spelled | None:
    """How a leaf reads by itself: an input by its name, a small constant by its value."""
    if node.is_input:
        return shortened(escaped(node.params["name"])), ATOM
    return inline(node)


def inline(node: Node) -> Spelled | None:
    """What stands in its uses' expressions, with no line of its own: a small constant, a size."""
    if node.is_constant:
        return constant_text(node.params["value"])
    return _dimension(node, ()) if node.op.name == "dimension" else None
