r"""LaTeX formulas of operations: fractions, powers, sums, indices.

Each function gives the formula of a node, from those of its operands, and how strongly it binds;
None if a call is to be written. An operation names its function in its record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ..ir.dims import known_equal
from ..ir.node import Node
from ..ir.traits import Arrangement
from .text import ATOM, Spelled, Writer, index_text

__all__ = [
    "ATOM",
    "DIAGONAL",
    "JOINED",
    "PLUS",
    "UNARY",
    "as_ones",
    "contraction_formula",
    "difference_formula",
    "fraction_formula",
    "gathered_formula",
    "inverse_formula",
    "item_formula",
    "matmul_formula",
    "negative_formula",
    "operand_formula",
    "power_formula",
    "product_formula",
    "projection_formula",
    "raised_to",
    "relation",
    "reshape_formula",
    "solution_formula",
    "stated",
    "sum_formula",
    "sum_over_axes_formula",
    "symbol_formula",
    "transpose_formula",
    "where_formula",
]

POWER, JOINED, UNARY, TIMES, SUM, PLUS, LOWEST = 9, 8, 7, 6, 5, 4, 0
_INDICES = "ijklpqrs"
DIAGONAL = r"\operatorname{diag}"
"""The formula of a matrix's diagonal. Its sum is written as the trace."""
_EXACT = (Arrangement.REPEATED, Arrangement.CONVERTED)


def _within(operand: Spelled, binding: int) -> str:
    return operand[0] if operand[1] >= binding else rf"\left({operand[0]}\right)"


def _argument(operand: Spelled) -> str:
    return rf"\left({operand[0]}\right)"


def _is_number(node: Node) -> bool:
    """Whether all elements of the node are known to be one number."""
    while node.op.traits.arrangement in (*_EXACT, Arrangement.REGROUPED):
        node = node.operands[0]
    if node.is_constant:
        value: np.ndarray[Any, Any] = node.params["value"]
        return bool(value.size) and bool(np.all(value == value.reshape(-1)[0]))
    return all(known_equal(dim, 1) for dim in node.shape)


def _unrepeated(node: Node) -> Node:
    while node.op.traits.arrangement in _EXACT:
        node = node.operands[0]
    return node


def sum_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A sum; a difference if the second term has a minus sign; `2 t` for `t + t`."""
    left, right = operands
    if left == right and node.operands[0] is node.operands[1]:
        return rf"2 \, {_within(left, JOINED)}", TIMES
    if right[0].startswith("-") and right[1] == UNARY:
        return f"{_within(left, PLUS)} - {right[0][1:]}", PLUS
    return f"{_within(left, PLUS)} + {_within(right, PLUS)}", PLUS


def difference_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A difference."""
    left, right = operands
    return f"{_within(left, PLUS)} - {_within(right, SUM)}", PLUS


def negative_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """The operand with a minus sign."""
    return f"-{_within(operands[0], SUM)}", UNARY if operands[0][1] != SUM else SUM


def product_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A product with a number, of elements, or of a matrix and a diagonal matrix."""
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
    """An outer product, or rows or columns scaled as diag(s) X; None for any other product."""
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


def fraction_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A fraction."""
    left, right = operands
    one, other = node.operands
    if _is_matrix(other) and not _is_number(other):
        if _is_number(one) and left[0] == "1":
            return rf"{_within(right, ATOM)}^{{\circ -1}}", POWER
        return rf"{_within(left, TIMES)} \oslash {_within(right, JOINED)}", TIMES
    if left[0].startswith("-") and left[1] >= UNARY:
        return rf"-\frac{{{left[0][1:]}}}{{{right[0]}}}", UNARY
    return rf"\frac{{{left[0]}}}{{{right[0]}}}", JOINED


def power_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A power; of the elements of an array, with a circle."""
    return _raised(node.operands[0], operands[0], operands[1][0])


def _raised(node: Node, base: Spelled, exponent: str) -> Spelled:
    circle = r"\circ " if _is_array(node) else ""
    return f"{_within(base, ATOM)}^{{{circle}{exponent}}}", POWER


def _is_array(node: Node) -> bool:
    return any(not known_equal(dim, 1) for dim in node.shape)


def matmul_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A product of matrices and vectors."""
    (left, right), (one, other) = operands, node.operands
    left, right = as_ones(one, left), as_ones(other, right)
    by_number = re.fullmatch(r"(\d+(?:\.\d+)?) \\(?:,|cdot) (.*)", right[0])
    if by_number is not None and right[1] == TIMES:  # A (2 x) is 2 A x.
        text, binding = matmul_formula(node, (left, (by_number[2], JOINED)))
        return rf"{by_number[1]} \, {text}", min(binding, TIMES)
    if one.ndim == 1 and other.ndim == 1:
        return f"{_transposed(left)} {_within(right, JOINED)}", TIMES
    if one.ndim == 1:  # x @ A is the vector Aᵀ x
        return f"{_transposed(right)} {_within(left, JOINED)}", TIMES
    return f"{_within(left, JOINED)} {_within(right, JOINED)}", JOINED


def as_ones(node: Node, operand: Spelled) -> Spelled:
    """The formula of an array of one number: a bold 1, or a multiple of it."""
    if not node.shape or not re.fullmatch(r"-?\d+(\.\d+)?", operand[0]):
        return operand
    ones = r"\mathbf{1}"
    return (ones, ATOM) if operand[0] == "1" else (rf"{operand[0]} \, {ones}", TIMES)


def _transposed(operand: Spelled) -> str:
    if operand[0].endswith(r"^\top") and operand[1] == POWER:
        return operand[0].removesuffix(r"^\top")
    return rf"{_within(operand, ATOM)}^\top"


def transpose_formula(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """The transpose of matrices."""
    axes = [axis % node.ndim for axis in node.params["axes"]]
    if axes != [*range(node.ndim - 2), node.ndim - 1, node.ndim - 2]:
        return None
    return _transposed(operands[0]), POWER


def sum_over_axes_formula(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """A sum over indices, or a trace."""
    (operand,) = node.operands
    axes = sorted(axis % operand.ndim for axis in node.params["axis"])
    if operand.op.latex == DIAGONAL and len(axes) == 1 and operand.ndim == 1:
        inner = operands[0][0].removeprefix(DIAGONAL)
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


def contraction_formula(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """A sum of products over indices."""
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


def operand_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """The formula of the operand."""
    return operands[0]


def reshape_formula(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """The formula of the operand if only axes of length one are added or removed."""

    def proper(shape: Sequence[Any]) -> list[Any]:
        return [dim for dim in shape if not known_equal(dim, 1)]

    before, after = proper(node.operands[0].shape), proper(node.shape)
    if len(before) == len(after) and all(map(known_equal, before, after)):
        return operands[0]
    return rf"\operatorname{{reshape}}{_argument(operands[0])}", ATOM


def where_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A choice, written with cases."""
    condition, chosen, other = (text for text, _ in operands)
    rows = rf"{chosen} & \text{{if }} {condition} \\ {other} & \text{{otherwise}}"
    return rf"\begin{{cases}} {rows} \end{{cases}}", LOWEST


def item_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A part of an array: its index in brackets."""
    index = index_text(node.params["index"], node.operands[0].shape)
    if set(index.split(", ")) <= {":", "None"}:  # only axes of length one are added
        return operands[0]
    return _picked(operands[0], index.replace("None", r"\cdot"))


def _picked(operand: Spelled, index: str) -> Spelled:
    # In braces, for a symbol may have a subscript already, and TeX refuses a second one.
    return f"{{{_within(operand, ATOM)}}}_{{[{index}]}}", POWER


def gathered_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """Elements that arrays of indices choose."""
    before = node.operands[0].ndim + node.params["axis"]
    places = [":"] * before + [text for text, _ in operands[1:]]
    return _picked(operands[0], ", ".join(places))


def projection_formula(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """One of several results, in the notation of the operation that gives them."""
    (operand,), index = node.operands, node.params["index"]
    stated_parts = operand.op.latex_of_results
    if stated_parts and stated_parts[index]:
        head = rf"\operatorname{{{operand.op.name}}}\left("
        inner = operands[0][0].removeprefix(head).removesuffix(r"\right)")
        shown = inner if len(inner) == 1 else rf"\left({inner}\right)"
        return stated_parts[index].replace("#", shown), UNARY
    return f"{{{_within(operands[0], ATOM)}}}_{{({index})}}", POWER


def inverse_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """The inverse of a matrix."""
    return f"{_within(operands[0], ATOM)}^{{-1}}", POWER


def solution_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """The inverse of the matrix times the right side."""
    left, right = operands
    return f"{_within(left, ATOM)}^{{-1}} {_within(right, JOINED)}", JOINED


def raised_to(exponent: str) -> Writer:
    """The operand to a fixed power."""
    return lambda node, operands: _raised(node.operands[0], operands[0], exponent)


def symbol_formula(text: str) -> Writer:
    """The symbol of an operation without operands."""
    return lambda node, operands: (text, ATOM)


def _function(head: str) -> Writer:
    def spell(node: Node, operands: Sequence[Spelled]) -> Spelled:
        text, binding = operands[0]
        if len(operands) > 1:
            return rf"{head}\left({', '.join(each for each, _ in operands)}\right)", ATOM
        if head in _OF_MATRICES and node.op.traits.elementwise and _is_matrix(node.operands[0]):
            return rf"{head}_{{\odot}}\left({text}\right)", ATOM
        plain = binding == ATOM and len(text) <= 8 and not text.startswith("\\left")
        if plain and head.startswith("\\") and "{" not in head and head != r"\sigma":
            return f"{head} {text}", UNARY
        return rf"{head}\left({text}\right)", ATOM

    return spell


def relation(sign: str) -> Writer:
    """A relation sign between two operands."""

    def spell(node: Node, operands: Sequence[Spelled]) -> Spelled:
        left, right = operands
        return f"{_within(left, PLUS)} {sign} {_within(right, PLUS)}", LOWEST

    return spell


_OF_MATRICES = frozenset(
    {
        *(r"\exp", r"\log", r"\sin", r"\cos", r"\tan", r"\sinh", r"\cosh", r"\tanh"),
        *(r"\arcsin", r"\arccos", r"\arctan"),
    }
)
"""Functions that matrices have, too: of the elements of a matrix they are written with a circle."""
_OF_ELEMENTS = {
    "e^{#}": (r"\exp", ""),
    r"\sqrt{#}": ("", r"\circ 1/2"),
    r"\sqrt[3]{#}": ("", r"\circ 1/3"),
    r"\frac{1}{#}": ("", r"\circ -1"),
    r"\frac{1}{\sqrt{#}}": ("", r"\circ -1/2"),
}
"""The same for what is written as a power: the function, or the power of the elements."""


def _binding(latex: str) -> int:
    """How strongly a formula binds its operand."""
    if latex.startswith(r"\frac"):
        return JOINED
    if re.fullmatch(r"\w\^\{#\}", latex):
        return POWER
    outside = re.sub(r"\\left.*\\right.|\{[^}]*\}", "", latex)
    return PLUS if " - " in outside or " + " in outside else ATOM


@cache
def stated(latex: str) -> Writer | None:
    """The writer of a formula that a record states: a function's name, or a text with `#`."""
    if "#" not in latex:
        return _function(latex) if latex else None
    binding = _binding(latex)

    def spell(node: Node, operands: Sequence[Spelled]) -> Spelled:
        if latex in _OF_ELEMENTS and _is_matrix(node.operands[0]):
            head, power = _OF_ELEMENTS[latex]
            if head:
                return rf"{head}_{{\odot}}\left({operands[0][0]}\right)", ATOM
            return f"{_within(operands[0], ATOM)}^{{{power}}}", POWER
        return latex.replace("#", operands[0][0]), binding

    return spell
