r"""LaTeX formulas of operations on arrays: products of matrices, sums, transposes, parts, norms.

They are written as those of `formulas` are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..facts import symmetric
from ..facts.implications import implied
from ..ir.dims import known_equal, same_shape
from ..ir.node import Node
from .formulas import ATOM, JOINED, ONES, POWER, SUM, TIMES, UNARY, argument, transposed, within
from .node_text import Spelled, Writer, index_text, place_text

__all__ = [
    "as_ones",
    "assignment_formula",
    "concatenation_formula",
    "contraction_formula",
    "diagonal_formula",
    "embedding_formula",
    "extremum_formula",
    "gathered_formula",
    "inverse_formula",
    "item_formula",
    "matmul_formula",
    "norm_formula",
    "projection_formula",
    "reshape_formula",
    "solution_formula",
    "sum_over_axes_formula",
    "transpose_formula",
]

_INDICES = "ijklpqrs"
_DIAGONAL = r"\operatorname{diag}"


def _is_symmetric(node: Node) -> bool:
    """Whether the user has stated that the matrix is symmetric."""
    return node.is_input and symmetric in implied(node.params["assume"])


def as_ones(node: Node, operand: Spelled) -> Spelled:
    """The formula of an array of one number: a bold 1, or a multiple of it."""
    if not node.shape or not re.fullmatch(r"-?\d+(\.\d+)?", operand[0]):
        return operand
    return (ONES, ATOM) if operand[0] == "1" else (rf"{operand[0]} \, {ONES}", TIMES)


def matmul_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A product of matrices and vectors."""
    (left, right), (one, other) = operands, node.operands
    left, right = as_ones(one, left), as_ones(other, right)
    by_number = re.fullmatch(r"(\d+(?:\.\d+)?) \\(?:,|cdot) (.*)", right[0])
    if by_number is not None and right[1] == TIMES:  # A (2 x) is 2 A x.
        text, binding = matmul_formula(node, (left, (by_number[2], JOINED)))
        return rf"{by_number[1]} \, {text}", min(binding, TIMES)
    if one.ndim == 1 and other.ndim == 1:
        return f"{transposed(left)} {within(right, JOINED)}", TIMES
    if one.ndim == 1 and _is_symmetric(other):
        return f"{within(right, JOINED)} {within(left, JOINED)}", JOINED
    if one.ndim == 1:  # x @ A is the vector Aᵀ x
        return f"{transposed(right)} {within(left, JOINED)}", TIMES
    return f"{within(left, JOINED)} {within(right, JOINED)}", JOINED


def _indexed(operand: Spelled, indices: str) -> str:
    text = operand[0]
    if operand[1] == POWER and text.endswith(r"^\top") and len(indices) == 2:
        return _indexed((text.removesuffix(r"^\top"), ATOM), indices[::-1])
    word = re.fullmatch(r"\\math\w+\{[^{}]*\}", text)
    bare = operand[1] == ATOM and (word or not text.endswith(("}", ")")))
    if text.replace("-", "").replace(".", "").isdigit() or text.endswith(rf"\right]_{{{indices}}}"):
        return text
    return f"{text if bare else argument(operand)}_{{{indices}}}"


def contraction_formula(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """A sum of products over indices."""
    subscripts: str = node.params["subscripts"].replace(" ", "")
    into, arrow, out = subscripts.partition("->")
    if "." in subscripts or not arrow:
        return None
    parts = into.split(",")
    if len(parts) == 2 and out == parts[0] + parts[1] and len(out) == 2:
        return rf"{within(operands[0], JOINED)} \, {transposed(operands[1])}", TIMES
    letters = dict(zip(dict.fromkeys(out + into.replace(",", "")), _INDICES, strict=False))
    if len(letters) < len({*into} - {","}):
        return None
    renamed = ["".join(letters[each] for each in part) for part in parts]
    factors = [
        _indexed(text, indices) if indices else within(text, JOINED)
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


def sum_over_axes_formula(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """A sum over indices, or a trace."""
    (operand,) = node.operands
    axes = sorted(axis % operand.ndim for axis in node.params["axis"])
    of_diagonal = operand.op.latex is diagonal_formula and not operand.params["offset"]
    if of_diagonal and len(axes) == 1 == operand.ndim and operands[0][0].startswith(_DIAGONAL):
        return rf"\operatorname{{tr}}{operands[0][0].removeprefix(_DIAGONAL)}", ATOM
    if operand.ndim > len(_INDICES):
        return None
    over = ",".join(_INDICES[axis] for axis in axes)
    return rf"\sum_{{{over}}} {_indexed(operands[0], _INDICES[: operand.ndim])}", SUM


def transpose_formula(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """The transpose of matrices."""
    axes = [axis % node.ndim for axis in node.params["axes"]]
    if axes != [*range(node.ndim - 2), node.ndim - 1, node.ndim - 2]:
        return None
    return transposed(operands[0]), POWER


def reshape_formula(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """The formula of the operand if only axes of length one are added or removed."""

    def proper(shape: Sequence[Any]) -> list[Any]:
        return [dim for dim in shape if not known_equal(dim, 1)]

    before, after = proper(node.operands[0].shape), proper(node.shape)
    if same_shape(before, after):
        return operands[0]
    return rf"\operatorname{{reshape}}{argument(operands[0])}", ATOM


def _picked(operand: Spelled, index: str) -> Spelled:
    # In braces, for a symbol may have a subscript already, and TeX refuses a second one.
    return f"{{{within(operand, ATOM)}}}_{{[{index}]}}", POWER


def gathered_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """Elements that arrays of indices choose."""
    before = node.operands[0].ndim + node.params["axis"]
    places = [":"] * before + [text for text, _ in operands[1:]]
    return _picked(operands[0], ", ".join(places))


def inverse_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """The inverse of a matrix."""
    return f"{within(operands[0], ATOM)}^{{-1}}", POWER


def item_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A part of an array: its index in brackets."""
    index = index_text(node.params["index"], node.operands[0].shape)
    # Only axes of length one are added. Of three or more it matters where they stand: in
    # x[:, None] - x[None] the places differ, which a matrix shows as x 1ᵀ - 1 xᵀ.
    before = index.rstrip(" :,").split(", ")
    if set(index.split(", ")) <= {":", "None"} and (node.ndim <= 2 or set(before) <= {"None", ""}):
        return operands[0]
    return _picked(operands[0], index.replace("None", r"\cdot"))


def embedding_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """An array of zeros that holds another at an index, which stands below."""
    return rf"\operatorname{{embed}}_{{{_place(node)}}}{argument(operands[0])}", ATOM


def assignment_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """An array with values written at an index, which stands below."""
    both = argument((", ".join(text for text, _ in operands), 0))
    return rf"\operatorname{{assign}}_{{{_place(node)}}}{both}", ATOM


def _place(node: Node) -> str:
    return f"[{place_text(node)}]".replace("None", r"\cdot")


def concatenation_formula(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """A vector by its elements; None where longer arrays are joined."""
    if any(operand.shape != (1,) for operand in node.operands):
        return None
    return argument((", ".join(text for text, _ in operands), 0)), ATOM


def projection_formula(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """One of several results, in the notation of the operation that gives them."""
    (operand,), index = node.operands, node.params["index"]
    stated_parts = operand.op.latex_of_results
    if stated_parts and stated_parts[index]:
        head = rf"\operatorname{{{operand.op.name}}}\left("
        inner = operands[0][0].removeprefix(head).removesuffix(r"\right)")
        shown = inner if len(inner) == 1 else rf"\left({inner}\right)"
        return stated_parts[index].replace("#", shown), UNARY
    return f"{{{within(operands[0], ATOM)}}}_{{({index})}}", POWER


def solution_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """The inverse of the matrix times the right side."""
    left, right = operands
    return f"{within(left, ATOM)}^{{-1}} {within(right, JOINED)}", JOINED


def norm_formula(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    """The norm of a vector, or the Frobenius norm of a matrix, between two double bars."""
    (operand,), order = node.operands, node.params["ord"]
    if operand.ndim == 2 and len(node.params["axis"]) == 1 and order in (1, 2):
        place = r"\cdot j" if node.params["axis"][0] % 2 == 0 else r"i \cdot"
        return rf"\left\|{_indexed(operands[0], place)}\right\|_{{{order:g}}}", POWER
    if node.params["keepdims"] or len(node.params["axis"]) != operand.ndim or operand.ndim > 2:
        return None
    if operand.ndim == 2 and order != 2:
        return None
    of = "F" if operand.ndim == 2 else f"{order:g}"
    return rf"\left\|{operands[0][0]}\right\|_{{{of}}}", POWER


def diagonal_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """The diagonal of a matrix, or the matrix with it. The sum of a diagonal is the trace."""
    offset = node.params["offset"]
    above = f"_{{{offset}}}" if offset else ""
    return rf"{_DIAGONAL}{above}{argument(operands[0])}", ATOM


def extremum_formula(head: str) -> Writer:
    """The largest or the least element over indices."""

    def spell(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
        (operand,) = node.operands
        if operand.ndim > len(_INDICES):
            return None
        over = ",".join(
            _INDICES[axis] for axis in sorted(a % operand.ndim for a in node.params["axis"])
        )
        return rf"{head}_{{{over}}} {_indexed(operands[0], _INDICES[: operand.ndim])}", SUM

    return spell
