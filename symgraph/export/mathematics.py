r"""How each operation reads in LaTeX: signs, fractions, indices, and how strongly they bind."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..ir.dims import known_equal
from ..ir.node import Node
from .expressions import Spelled, index_text
from .expressions import param as param_text
from .symbols import number, symbol

__all__ = ["ATOM", "leaf", "spelled"]

ATOM, POWER, JOINED, UNARY, TIMES, SUM, PLUS, LOWEST = 10, 9, 8, 7, 6, 5, 4, 0
_INDICES = "ijklpqrs"


def leaf(node: Node) -> Spelled | None:
    """How a value without operands reads; None where it needs a name."""
    if node.is_input:
        return symbol(node.params["name"]), ATOM
    if node.op.name == "dimension":
        from_sympy = str(node.params["size"])
        simple = from_sympy.isidentifier()
        text = symbol(from_sympy) if simple else from_sympy.replace("**", "^").replace("*", r" ")
        return text, ATOM if simple else PLUS
    if not node.is_constant:
        return None
    value: np.ndarray[Any, Any] = node.params["value"]
    if value.size and np.all(value == value.reshape(-1)[0]):
        text = number(value.reshape(-1)[0])
        return text, UNARY if text.startswith("-") else ATOM
    if value.ndim == 1 and value.size <= 3:
        return rf"({', '.join(number(item) for item in value)})", ATOM
    return None


# -- one node -------------------------------------------------------------------------------------
def _within(operand: Spelled, binding: int) -> str:
    return operand[0] if operand[1] >= binding else rf"\left({operand[0]}\right)"


def _argument(operand: Spelled) -> str:
    return rf"\left({operand[0]}\right)"


def _is_number(node: Node) -> bool:
    """Whether it is one number, perhaps repeated."""
    while node.op.name in ("broadcast_to", "reshape", "cast"):
        node = node.operands[0]
    if node.is_constant:
        value: np.ndarray[Any, Any] = node.params["value"]
        return bool(value.size) and bool(np.all(value == value.reshape(-1)[0]))
    return all(known_equal(dim, 1) for dim in node.shape)


def _unrepeated(node: Node) -> Node:
    while node.op.name in ("broadcast_to", "cast"):
        node = node.operands[0]
    return node


def _add(node: Node, operands: Sequence[Spelled]) -> Spelled:
    left, right = operands
    if right[0].startswith("-") and right[1] == UNARY:
        return f"{_within(left, PLUS)} - {right[0][1:]}", PLUS
    return f"{_within(left, PLUS)} + {_within(right, PLUS)}", PLUS


def _subtract(node: Node, operands: Sequence[Spelled]) -> Spelled:
    left, right = operands
    return f"{_within(left, PLUS)} - {_within(right, SUM)}", PLUS


def _negative(node: Node, operands: Sequence[Spelled]) -> Spelled:
    return f"-{_within(operands[0], SUM)}", UNARY if operands[0][1] != SUM else SUM


def _multiply(node: Node, operands: Sequence[Spelled]) -> Spelled:
    left, right = operands
    one, other = node.operands
    if not _is_number(one) and not _is_number(other):
        return _broadcast_product(one, other, left, right) or (
            rf"{_within(left, TIMES)} \odot {_within(right, TIMES)}",
            TIMES,
        )
    if _is_number(other) and (not _is_number(one) or left[1] == SUM != right[1]):
        left, right = right, left
    if right[1] == SUM:
        return rf"{_within(left, TIMES)} \, {right[0]}", SUM
    digits = right[0][:1].isdigit() or right[0].startswith("-")
    between = r" \cdot " if digits else r" \, "
    return f"{_within(left, TIMES)}{between}{_within(right, JOINED)}", TIMES


def _broadcast_product(one: Node, other: Node, left: Spelled, right: Spelled) -> Spelled | None:
    """Outer products, and rows or columns scaled: diag(s) X; None for what is alike."""
    one, other = _unrepeated(one), _unrepeated(other)
    if one.ndim > 2 or other.ndim > 2:
        return None
    if _is_column(one) and _is_row(other):
        return f"{_within(left, JOINED)} {_transposed(right)}", TIMES
    if _is_row(one) and _is_column(other):
        return f"{_within(right, JOINED)} {_transposed(left)}", TIMES
    if _is_matrix(other) and not _is_matrix(one):
        one, other, left, right = other, one, right, left
    if not _is_matrix(one) or _is_matrix(other):
        return None
    scales = rf"\operatorname{{diag}}{_argument(right)}"
    if _is_column(other):
        return f"{scales} {_within(left, JOINED)}", JOINED
    return f"{_within(left, JOINED)} {scales}", JOINED


def _is_column(node: Node) -> bool:
    return node.ndim == 2 and known_equal(node.shape[1], 1) and not known_equal(node.shape[0], 1)


def _is_row(node: Node) -> bool:
    one = node.ndim == 2 and known_equal(node.shape[0], 1)
    return (one or node.ndim == 1) and not known_equal(node.shape[-1], 1)


def _is_matrix(node: Node) -> bool:
    return node.ndim == 2 and not any(known_equal(dim, 1) for dim in node.shape)


def _divide(node: Node, operands: Sequence[Spelled]) -> Spelled:
    left, right = operands
    if left[0].startswith("-") and left[1] >= UNARY:
        return rf"-\frac{{{left[0][1:]}}}{{{right[0]}}}", UNARY
    return rf"\frac{{{left[0]}}}{{{right[0]}}}", JOINED


def _power(node: Node, operands: Sequence[Spelled]) -> Spelled:
    return _raised(operands[0], operands[1][0])


def _raised(base: Spelled, exponent: str) -> Spelled:
    return f"{_within(base, ATOM)}^{{{exponent}}}", POWER


def _matmul(node: Node, operands: Sequence[Spelled]) -> Spelled:
    (left, right), (one, other) = operands, node.operands
    if one.ndim == 1 and other.ndim == 1:
        return f"{_transposed(left)} {_within(right, JOINED)}", TIMES
    if one.ndim == 1:  # x @ A is the vector Aᵀ x
        return f"{_transposed(right)} {_within(left, JOINED)}", TIMES
    return f"{_within(left, JOINED)} {_within(right, JOINED)}", JOINED


def _transposed(operand: Spelled) -> str:
    if operand[0].endswith(r"^\top") and operand[1] == POWER:
        return operand[0].removesuffix(r"^\top")
    return rf"{_within(operand, ATOM)}^\top"


def _transpose(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    axes = [axis % node.ndim for axis in node.params["axes"]]
    if axes != [*range(node.ndim - 2), node.ndim - 1, node.ndim - 2]:
        return None
    return _transposed(operands[0]), POWER


def _sum(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    (operand,) = node.operands
    axes = sorted(axis % operand.ndim for axis in node.params["axis"])
    if operand.op.name == "diagonal" and len(axes) == 1 and operand.ndim == 1:
        inner = operands[0][0].removeprefix(r"\operatorname{diag}")
        return rf"\operatorname{{tr}}{inner}", ATOM
    if operand.ndim > len(_INDICES):
        return None
    over = ",".join(_INDICES[axis] for axis in axes)
    return rf"\sum_{{{over}}} {_indexed(operands[0], _INDICES[: operand.ndim])}", SUM


def _indexed(operand: Spelled, indices: str) -> str:
    text = operand[0]
    bare = operand[1] == ATOM and not text.endswith(("}", ")"))
    if text.replace("-", "").replace(".", "").isdigit() or text.endswith(rf"\right]_{{{indices}}}"):
        return text
    return f"{text if bare else _argument(operand)}_{{{indices}}}"


def _einsum(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    subscripts: str = node.params["subscripts"].replace(" ", "")
    into, arrow, out = subscripts.partition("->")
    if "." in subscripts or not arrow:
        return None
    parts = into.split(",")
    if len(parts) == 2 and out == parts[0] + parts[1] and len(out) == 2:
        return rf"{_within(operands[0], JOINED)} \, {_transposed(operands[1])}", TIMES
    letters = dict(zip(dict.fromkeys(out + into.replace(",", "")), _INDICES, strict=False))
    if len(letters) < len({*into} - {","}):
        return None
    renamed = ["".join(letters[each] for each in part) for part in parts]
    factors = [
        _indexed(text, indices) if indices else _within(text, JOINED)
        for text, indices in zip(operands, renamed, strict=True)
        if text[0] != "1"
    ] or ["1"]
    over = ",".join(letters[each] for each in letters if each not in out)
    sign = rf"\sum_{{{over}}} " if over else ""
    body = sign + r" \, ".join(factors)
    if not out:
        return body, SUM if over else TIMES
    free = "".join(letters[each] for each in out)
    return rf"\left[{body}\right]_{{{free}}}", ATOM


def _same(node: Node, operands: Sequence[Spelled]) -> Spelled:
    return operands[0]


def _reshape(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    def proper(shape: Sequence[Any]) -> list[Any]:
        return [dim for dim in shape if not known_equal(dim, 1)]

    before, after = proper(node.operands[0].shape), proper(node.shape)
    if len(before) == len(after) and all(map(known_equal, before, after)):
        return operands[0]
    return rf"\operatorname{{reshape}}{_argument(operands[0])}", ATOM


def _where(node: Node, operands: Sequence[Spelled]) -> Spelled:
    condition, chosen, other = (text for text, _ in operands)
    rows = rf"{chosen} & \text{{if }} {condition} \\ {other} & \text{{otherwise}}"
    return rf"\begin{{cases}} {rows} \end{{cases}}", LOWEST


def _getitem(node: Node, operands: Sequence[Spelled]) -> Spelled:
    index = index_text(node.params["index"], node.operands[0].shape)
    if set(index.split(", ")) <= {":", "None"}:  # only axes of length one are added
        return operands[0]
    return _picked(operands[0], index.replace("None", r"\cdot"))


def _picked(operand: Spelled, index: str) -> Spelled:
    # In braces: a symbol may have a subscript already, and two in a row are no TeX.
    return f"{{{_within(operand, ATOM)}}}_{{[{index}]}}", POWER


def _gather(node: Node, operands: Sequence[Spelled]) -> Spelled:
    before = node.operands[0].ndim + node.params["axis"]
    places = [":"] * before + [text for text, _ in operands[1:]]
    return _picked(operands[0], ", ".join(places))


def _project(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    (operand,) = node.operands
    if operand.op.name == "slogdet" and node.params["index"] == 1:
        inner = (
            operands[0][0].removeprefix(r"\operatorname{slogdet}\left(").removesuffix(r"\right)")
        )
        shown = inner if len(inner) == 1 else rf"\left({inner}\right)"
        return rf"\log \left|\det {shown}\right|", UNARY
    return f"{{{_within(operands[0], ATOM)}}}_{{({node.params['index']})}}", POWER


def _function(head: str) -> Callable[[Node, Sequence[Spelled]], Spelled]:
    def spell(node: Node, operands: Sequence[Spelled]) -> Spelled:
        text, binding = operands[0]
        if len(operands) > 1:
            return rf"{head}\left({', '.join(each for each, _ in operands)}\right)", ATOM
        plain = binding == ATOM and len(text) <= 8 and not text.startswith("\\left")
        if plain and head.startswith("\\") and "{" not in head and head != r"\sigma":
            return f"{head} {text}", UNARY
        return rf"{head}\left({text}\right)", ATOM

    return spell


def _infix(sign: str) -> Callable[[Node, Sequence[Spelled]], Spelled]:
    def spell(node: Node, operands: Sequence[Spelled]) -> Spelled:
        left, right = operands
        return f"{_within(left, PLUS)} {sign} {_within(right, PLUS)}", LOWEST

    return spell


_NODES: dict[str, Callable[[Node, Sequence[Spelled]], Spelled | None]] = {
    "add": _add,
    "subtract": _subtract,
    "negative": _negative,
    "multiply": _multiply,
    "divide": _divide,
    "divide_or_zero": _divide,
    "power": _power,
    "square": lambda node, operands: _raised(operands[0], "2"),
    "matmul": _matmul,
    "transpose": _transpose,
    "sum": _sum,
    "einsum": _einsum,
    "broadcast_to": _same,
    "cast": _same,
    "stop_gradient": _same,
    "reshape": _reshape,
    "where": _where,
    "getitem": _getitem,
    "gather": _gather,
    "project": _project,
    "inv": lambda node, operands: (f"{_within(operands[0], ATOM)}^{{-1}}", POWER),
    "solve": lambda node, operands: (
        f"{_within(operands[0], ATOM)}^{{-1}} {_within(operands[1], JOINED)}",
        JOINED,
    ),
    "eye": lambda node, operands: ("I", ATOM),
    "less": _infix("<"),
    "less_equal": _infix(r"\le"),
    "greater": _infix(">"),
    "greater_equal": _infix(r"\ge"),
    "equal": _infix("="),
    "not_equal": _infix(r"\ne"),
    "logical_and": _infix(r"\land"),
    "logical_or": _infix(r"\lor"),
}


def _binding(latex: str) -> int:
    """How strongly a formula binds its operand."""
    if latex.startswith(r"\frac"):
        return JOINED
    if re.fullmatch(r"\w\^\{#\}", latex):
        return POWER
    outside = re.sub(r"\\left.*\\right.|\{[^}]*\}", "", latex)
    return PLUS if " - " in outside or " + " in outside else ATOM


@cache
def _stated(latex: str) -> Callable[[Node, Sequence[Spelled]], Spelled] | None:
    """As the operation's record says."""
    if "#" not in latex:
        return _function(latex) if latex else None
    binding = _binding(latex)

    def spell(node: Node, operands: Sequence[Spelled]) -> Spelled:
        return latex.replace("#", operands[0][0]), binding

    return spell


def spelled(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """The formula of `node` over the given formulas of its operands."""
    special = _NODES.get(node.op.name) or _stated(node.op.latex)
    found = special(node, operands) if special else None
    if found is not None:
        return found
    shown = [text for text, _ in operands]
    name = node.op.name.replace("_", r"\_")
    head = rf"\operatorname{{{name}}}"
    axis = node.params.get("axis")
    last = axis in (-1, (-1,)) or axis is None
    if not last:
        head += f"_{{{param_text(axis)}}}"
    return rf"{head}\left({', '.join(shown)}\right)", ATOM
