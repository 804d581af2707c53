"""The text of a node: infix arithmetic, calls with their params, notations of single operations.

A name that the user chose stays on one line; unprintable characters in it are escaped. An operation
with its own notation names a function of this module in its record, as `Op.text`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from ..ir.node import Node
from ..ir.traits import Arrangement, Infix, Prefix

__all__ = [
    "ATOM",
    "QUOTIENT",
    "UNARY",
    "Spelled",
    "Writer",
    "assignment_text",
    "broadcast_text",
    "cast_text",
    "concatenation_text",
    "contraction_text",
    "embedding_text",
    "enclosed",
    "escaped",
    "gathered_text",
    "index_text",
    "item_text",
    "number",
    "param",
    "place_text",
    "power_text",
    "projection_text",
    "reshape_text",
    "shortened",
    "shown_value",
    "size_text",
    "spelled",
    "transpose_text",
]

Spelled: TypeAlias = tuple[str, int]
"""The text of an expression, and how strongly its outermost operator binds."""
Writer: TypeAlias = Callable[[Node, Sequence[Spelled]], Spelled | None]
"""Gives the text of a node from the texts of its operands; None if a call is to be written."""

ATOM = 10
POWER = 9
UNARY = 8
PRODUCT = 7
QUOTIENT = 6
"""How strongly operators bind, as in Python, and a name that looks like a quotient."""

_LONGEST = 48


def escaped(text: str) -> str:
    r"""The text on one line, with `\x..` or `\u....` for each character that cannot be printed."""
    if text.isprintable() and "\\" not in text:
        return text
    return "".join(char if char.isprintable() and char != "\\" else _code(char) for char in text)


def _code(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def shortened(text: str, longest: int = _LONGEST) -> str:
    """The text without its middle part, if it is longer than `longest`."""
    if len(text) <= longest:
        return text
    head = (longest - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (longest - 1 - head) :]}"


def shown_value(value: object) -> str:
    """As Python shows it; of an integer that fills lines, or that it will not show, the size."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)


def number(value: ArrayLike) -> str:
    """The number in the fewest digits that identify it: 2.0 is 2, and 1e15 has no zeros behind it.

    The sign of -0.0 stays.
    """
    array: np.ndarray[Any, Any] = np.asarray(value)
    item = array.item()
    if array.dtype.kind != "f" or not isfinite(item):
        return str(item)
    if item.is_integer() and abs(item) < 1e16 and not (item == 0 and np.signbit(array)):
        digits = str(int(item))
        first = digits.rstrip("0")
        if abs(item) < 1e6 or len(first.lstrip("-")) > 1:
            return digits
        return f"{first}e{len(digits) - len(first)}"
    return str(array.dtype.type(item))


def param(value: object) -> str:
    """The text of a static parameter in a call."""
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


def _slice(start: object, stop: object, step: object) -> str:
    shown = [("" if part is None else param(part)) for part in (start, stop, step)]
    return ":".join(shown[:2] if step is None or step == 1 else shown)


def index_text(index: Sequence[Any], shape: Sequence[Any]) -> str:
    """The text of a basic index, whose entries are ints, None or (start, stop, step)."""
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


def _axes(node: Node, axes: object) -> str:
    """The argument `axis=` of a call; nothing if it names every axis of the operand."""
    ndim = node.operands[0].ndim if node.operands else 0
    named = cast("tuple[object, ...]", axes) if isinstance(axes, tuple) else (axes,)
    if axes is None or (len(named) == ndim and isinstance(axes, (int, tuple))):
        return ""
    return f"axis={param(named[0] if len(named) == 1 else axes)}"


def _arguments(node: Node) -> list[str]:
    """Static params as keyword arguments, without those that are off or shown by the result."""
    shown: list[str] = []
    for name, value in node.params.items():
        if name in ("axis", "axes") and node.op.traits.arrangement is not Arrangement.PERMUTED:
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
    # -(1) is the negative of the constant 1, and -1 is another constant.
    text = f"({operand[0]})" if operand[0][0].isdecimal() else enclosed(operand, UNARY)
    return sign + text, UNARY


def _binary(infix: Infix, left: Spelled, right: Spelled) -> Spelled:
    sign, binding = infix.sign, infix.binding
    if binding > UNARY:  # right-associative: x**y**z is x**(y**z); x**-y needs no parentheses
        return f"{enclosed(left, binding + 1)}{sign}{enclosed(right, UNARY)}", binding
    return f"{enclosed(left, binding)} {sign} {enclosed(right, binding + 1)}", binding


def power_text(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """A square and a reciprocal as formulas have them: `x**2` and `1 / x`; None for the others."""
    base = operands[0] if len(operands) == 1 and node.op.text is None else None
    if base is None or node.op.traits.monomial not in ((2,), (-1,)):
        return None
    if node.op.traits.monomial == (2,):
        return f"{enclosed(base, POWER + 1)}**2", POWER
    return f"1 / {enclosed(base, PRODUCT + 1)}", PRODUCT


def enclosed(operand: Spelled, binding: int) -> str:
    """The text, in parentheses if it binds less strongly than `binding`."""
    return operand[0] if operand[1] >= binding else f"({operand[0]})"


# -- notations of single operations ----------------------------------------------------------------
def transpose_text(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """`x.T` or `x.mT`; None for any other order of axes."""
    (operand,) = operands
    ndim = node.ndim
    axes = node.params.get("axes", node.params.get("axis", node.params.get("perm")))
    if not isinstance(axes, tuple):
        return None
    order = [axis % ndim for axis in cast("tuple[int, ...]", axes)]
    if order == list(range(ndim))[::-1]:
        return f"{enclosed(operand, ATOM)}.T", ATOM
    if order == [*range(ndim - 2), ndim - 1, ndim - 2]:
        return f"{enclosed(operand, ATOM)}.mT", ATOM
    return None


def item_text(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """An index: `x[1:, 0]`."""
    index = index_text(node.params["index"], node.operands[0].shape)
    return f"{enclosed(operands[0], ATOM)}[{escaped(index)}]", ATOM


def embedding_text(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """An array of zeros that holds x at an index: `embed(x, (5,), at=[1:3])`."""
    return f"embed({operands[0][0]}, {param(node.shape)}, at=[{escaped(place_text(node))}])", ATOM


def assignment_text(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """An array with values written at an index: `assign(x, values, at=[1:3])`."""
    return f"assign({operands[0][0]}, {operands[1][0]}, at=[{escaped(place_text(node))}])", ATOM


def place_text(node: Node) -> str:
    """The index at which a result was written: `1:3`, also of axes before those of its entries."""
    lead = node.ndim - sum(entry is not None for entry in node.params["index"])
    return index_text((*[(None, None, 1)] * lead, *node.params["index"]), node.shape)


def gathered_text(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """An index by arrays: `x[:, places]`."""
    before = node.operands[0].ndim + node.params["axis"]
    places = [":"] * before + [text for text, _ in operands[1:]]
    return f"{enclosed(operands[0], ATOM)}[{', '.join(places)}]", ATOM


def contraction_text(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """A call of einsum, with the subscripts first."""
    texts = [param(node.params["subscripts"]), *(text for text, _ in operands)]
    return f"einsum({', '.join(texts)})", ATOM


def concatenation_text(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """A call with the arrays in a list."""
    arrays = f"[{', '.join(text for text, _ in operands)}]"
    return f"{node.op.name}({', '.join([arrays, *_arguments(node)])})", ATOM


def projection_text(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """One of several results: `result 0 of qr(x)`."""
    return f"result {node.params['index']} of {operands[0][0]}", 0


def cast_text(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """The dtype as a function: `float32(x)`."""
    return f"{node.params['dtype']}({operands[0][0]})", ATOM


def broadcast_text(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """The operand and the shape: `broadcast(x, (3, 4))`; `ones(3)` where it is a number."""
    (operand,) = node.operands
    if operand.is_constant and operand.params["value"].size == 1 and node.shape:
        text = operands[0][0].strip("[]")
        shape = param(node.shape[0] if len(node.shape) == 1 else node.shape)
        head = {"1": "ones", "0": "zeros"}.get(text)
        return (f"{head}({shape})" if head else f"full({shape}, {text})"), ATOM
    return f"broadcast({operands[0][0]}, {param(node.shape)})", ATOM


def reshape_text(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """The operand and the shape: `reshape(x, (3, 4))`; `x[:, None]` where it gets axes of one."""
    index = _new_axes(node.operands[0].shape, node.shape)
    if index:
        return f"{enclosed(operands[0], ATOM)}[{index}]", ATOM
    return f"reshape({operands[0][0]}, {param(node.shape)})", ATOM


def _new_axes(shape: Sequence[Any], new: Sequence[Any]) -> str:
    """The index that gives an array axes of length one, `:, None`; empty for any other reshape."""
    if not shape or len(new) <= len(shape):
        return ""
    shown: list[str] = []
    left = list(shape)
    for dim in new:
        kept = bool(left) and left[0] == dim
        if not (kept or dim == 1):
            return ""
        shown.append(":" if kept else "None")
        left = left[kept:]
    if left:
        return ""
    while shown[-1] == ":":
        shown.pop()
    return ", ".join(shown)


def size_text(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """The size of a dimension."""
    size = str(node.params["size"])
    return size, ATOM if size.isidentifier() else 0


def _as_numbers(node: Node, operands: Sequence[Spelled]) -> Sequence[Spelled]:
    """The texts of operands, with `2` for `[2]` where another one has the shape of the result.

    So is `1` written for `ones(n)`.
    """
    shown = list(operands)
    for place, operand in enumerate(node.operands):
        others = [each.shape for k, each in enumerate(node.operands) if k != place]
        value = _one_number(operand, operands[place][0]) if node.shape in others else None
        if value is not None:
            text = number(value)
            shown[place] = text, UNARY if text.startswith("-") else ATOM
    return shown


def _one_number(node: Node, text: str) -> np.ndarray[Any, Any] | None:
    """The number that all elements are, if it is written out in the text; else None."""
    repeated = node.op.traits.arrangement is Arrangement.REPEATED and text.endswith(")")
    held = node.operands[0] if repeated else node
    if not held.is_constant or not (repeated or (held.shape and text.startswith("["))):
        return None
    value: np.ndarray[Any, Any] = held.params["value"]
    return value if value.size == 1 else None


def spelled(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """The text of a node, from the texts of its operands."""
    written = node.op.text
    if isinstance(written, Infix):
        if len(operands) == 2 and not node.params:
            left, right = _as_numbers(node, operands)
            return _binary(written, left, right)
    elif isinstance(written, Prefix):
        if len(operands) == 1:
            return _unary(written.sign, operands[0])
    elif written is not None:
        found: Spelled | None = written(node, operands)
        if found is not None:
            return found
    elementwise = node.op.traits.elementwise and len(operands) > 1
    texts = [text for text, _ in (_as_numbers(node, operands) if elementwise else operands)]
    return f"{escaped(node.op.name)}({', '.join([*texts, *_arguments(node)])})", ATOM
