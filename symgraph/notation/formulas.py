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
from .node_text import ATOM, Spelled, Writer

__all__ = [
    "ATOM",
    "JOINED",
    "ONES",
    "PLUS",
    "POWER",
    "SUM",
    "TIMES",
    "UNARY",
    "argument",
    "as_truth",
    "connective",
    "converted_formula",
    "difference_formula",
    "fraction_formula",
    "holds_one_number",
    "is_matrix",
    "negation_formula",
    "negative_formula",
    "operand_formula",
    "power_formula",
    "product_formula",
    "raised_to",
    "relation",
    "right_side",
    "stated",
    "sum_formula",
    "symbol_formula",
    "transposed",
    "where_formula",
    "within",
]

POWER, JOINED, UNARY, TIMES, SUM, PLUS, LOWEST = 9, 8, 7, 6, 5, 4, 0
ONES = r"\mathbf{1}"
_FRACTIONS = {
    sign + number: sign + fraction
    for sign in ("", "-")
    for number, fraction in (
        ("0.5", r"\frac{1}{2}"),
        ("0.25", r"\frac{1}{4}"),
        ("0.75", r"\frac{3}{4}"),
        ("1.5", r"\frac{3}{2}"),
        ("0.125", r"\frac{1}{8}"),
    )
}
"""Factors that books write as fractions; they are the same numbers."""
_BRACES = r"\{((?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*)\}"
"""Anything in braces, which may hold braces of their own, four deep."""
_EXACT = (Arrangement.REPEATED, Arrangement.CONVERTED)


def within(operand: Spelled, binding: int) -> str:
    """The formula of an operand, in brackets if it binds less than `binding`."""
    return operand[0] if operand[1] >= binding else rf"\left({operand[0]}\right)"


def argument(operand: Spelled) -> str:
    """The formula of an operand in brackets."""
    return rf"\left({operand[0]}\right)"


def holds_one_number(value: np.ndarray[Any, Any]) -> bool:
    """Whether all elements are the same number, NaN included; false of an empty array."""
    floats = value.dtype.kind == "f"
    return bool(value.size) and np.array_equal(
        value, np.broadcast_to(value.reshape(-1)[0], value.shape), equal_nan=floats
    )


def is_number(node: Node) -> bool:
    """Whether all elements of the node are known to be one number."""
    while node.op.traits.arrangement in (*_EXACT, Arrangement.REGROUPED):
        node = node.operands[0]
    if node.is_constant:
        return holds_one_number(node.params["value"])
    return all(known_equal(dim, 1) for dim in node.shape)


def unrepeated(node: Node) -> Node:
    while node.op.traits.arrangement in _EXACT:
        node = node.operands[0]
    return node


def sum_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A sum; a difference if the second term has a minus sign; `2 t` for `t + t`."""
    left, right = operands
    if left == right and node.operands[0] is node.operands[1]:
        return _times("2", left)
    left, right = map(_as_term, _repeated_terms(node, operands))
    if _is_negative(right):
        return f"{within(left, PLUS)} - {right[0][1:]}", PLUS
    return f"{within(left, PLUS)} + {within(right, PLUS)}", PLUS


def _is_negative(term: Spelled) -> bool:
    return term[0].startswith("-") and term[1] > PLUS


def _as_term(operand: Spelled) -> Spelled:
    """The term, a half or a quarter as a fraction."""
    return _FRACTIONS.get(operand[0], operand[0]), operand[1]


def _repeated_terms(node: Node, operands: Sequence[Spelled]) -> list[Spelled]:
    """The terms of a sum; a vector that is added to each row is written as 1 bᵀ, a column as b 1ᵀ.

    A number stands for its multiple of ones, as on paper.
    """
    if not is_matrix(node):
        return list(operands)
    return [
        _repeated_term(unrepeated(one), operand)
        for one, operand in zip(node.operands, operands, strict=True)
    ]


def _repeated_term(node: Node, operand: Spelled) -> Spelled:
    if node.ndim > 2 or is_matrix(node) or is_number(node):
        return operand
    if _is_column(node):
        return rf"{within(operand, JOINED)} {ONES}^\top", TIMES
    return rf"{ONES} {transposed(operand)}", TIMES


def difference_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A difference; a sum if the second term has a minus sign."""
    left, right = map(_as_term, _repeated_terms(node, operands))
    if _is_negative(right):
        return f"{within(left, PLUS)} + {right[0][1:]}", PLUS
    return f"{within(left, PLUS)} - {within(right, SUM)}", PLUS


def _times(number: str, operand: Spelled) -> Spelled:
    """A number times a formula; halves and quarters as fractions, factors of both as one."""
    number = _FRACTIONS.get(number, number)
    if operand[1] == SUM:
        return rf"{number} \, {operand[0]}", SUM
    if operand[1] in (TIMES, UNARY) and not re.match(r"[-\d]|\\frac", operand[0]):
        # Of log x the binding stays, for a factor behind it would need brackets.
        return rf"{number} \, {operand[0]}", operand[1]
    between = r" \cdot " if operand[0][:1].isdigit() or operand[0].startswith("-") else r" \, "
    return f"{number}{between}{within(operand, JOINED)}", TIMES


def negative_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """The operand with a minus sign."""
    return f"-{within(operands[0], SUM)}", UNARY if operands[0][1] != SUM else SUM


def product_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A product with a number, of elements, or of a matrix and a diagonal matrix."""
    left, right = operands
    one, other = node.operands
    if not is_number(one) and not is_number(other):
        return _broadcast_product(one, other, left, right) or (
            rf"{within(left, TIMES)} \odot {within(right, TIMES)}",
            TIMES,
        )
    both = is_number(one) and is_number(other)
    if is_number(other) and (not both or left[1] == SUM != right[1] or _is_literal(right[0])):
        left, right = right, left
    called = left[1] == UNARY and not left[0].startswith("-")
    return _times(argument(left) if called else within(left, TIMES), right)


def _is_literal(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _broadcast_product(one: Node, other: Node, left: Spelled, right: Spelled) -> Spelled | None:
    """An outer product, or rows or columns scaled as diag(s) X; None for any other product."""
    one, other = unrepeated(one), unrepeated(other)
    if one.ndim > 2 or other.ndim > 2:
        return None
    if _is_column(one) and _is_row(other):
        return f"{within(left, JOINED)} {transposed(right)}", TIMES
    if _is_row(one) and _is_column(other):
        return f"{within(right, JOINED)} {transposed(left)}", TIMES
    if is_matrix(other) and not is_matrix(one):
        one, other, left, right = other, one, right, left
    if not is_matrix(one) or is_matrix(other):
        return None
    scales = rf"\operatorname{{diag}}{argument(right)}"
    if _is_column(other):
        return f"{scales} {within(left, JOINED)}", JOINED
    return f"{within(left, JOINED)} {scales}", JOINED


def _is_column(node: Node) -> bool:
    return node.ndim == 2 and known_equal(node.shape[1], 1) and not known_equal(node.shape[0], 1)


def _is_row(node: Node) -> bool:
    one = node.ndim == 2 and known_equal(node.shape[0], 1)
    return (one or node.ndim == 1) and not known_equal(node.shape[-1], 1)


def is_matrix(node: Node) -> bool:
    """Whether the node has rows and columns, none of them known to be alone."""
    return node.ndim == 2 and not any(known_equal(dim, 1) for dim in node.shape)


def fraction_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A fraction."""
    left, right = operands
    one, other = node.operands
    if is_matrix(other) and not is_number(other):
        if is_number(one) and left[0] == "1":
            return rf"{within(right, ATOM)}^{{\circ -1}}", POWER
        return rf"{within(left, TIMES)} \oslash {within(right, JOINED)}", TIMES
    divisor = unrepeated(other)
    if node.ndim == 2 and is_matrix(node) and not is_matrix(divisor) and not is_number(divisor):
        # Each row, or each column, by a number of its own.
        scales = rf"\operatorname{{diag}}{argument(right)}^{{-1}}"
        if divisor.ndim == 2 and _is_column(divisor):
            return rf"{scales} {within(left, JOINED)}", JOINED
        return rf"{within(left, JOINED)} {scales}", JOINED
    if left[1] == SUM and left[0].startswith(r"\sum"):  # A mean.
        return rf"\frac{{1}}{{{right[0]}}} {left[0]}", SUM
    above, below = _parts_of_fraction(left)
    if below:
        return rf"\frac{{{above}}}{{{_product_below(below, right)}}}", JOINED
    if left[0].startswith("-") and left[1] >= UNARY:
        return rf"-\frac{{{left[0][1:]}}}{{{right[0]}}}", UNARY
    return rf"\frac{{{left[0]}}}{{{right[0]}}}", JOINED


def _parts_of_fraction(operand: Spelled) -> tuple[str, str]:
    """The two parts of a fraction to be divided once more; empty for anything else."""
    found = re.fullmatch(rf"\\frac{_BRACES}{_BRACES}", operand[0])
    if found is None or operand[1] != JOINED or found[1].startswith(r"\partial"):
        return "", ""
    plain = not re.search(r"\\sum|\\max|\\min|\\begin", found[2])
    return (found[1], found[2]) if plain else ("", "")


def _product_below(below: str, divisor: Spelled) -> str:
    """The common divisor of a fraction and a second divisor: `h^{2}` for `h` and `h`."""
    first = below, min(_binding(below), TIMES) if " " in below else ATOM
    if below == divisor[0]:
        return f"{within(divisor, ATOM)}^{{2}}"
    if _is_literal(divisor[0]):
        first, divisor = divisor, first
    return _times(within(first, TIMES), divisor)[0]


def power_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A power; of the elements of an array, with a circle."""
    return _raised(node.operands[0], operands[0], operands[1][0])


def _raised(node: Node, base: Spelled, exponent: str) -> Spelled:
    circle = r"\circ " if _is_array(node) else ""
    return f"{within(base, ATOM)}^{{{circle}{exponent}}}", POWER


def _is_array(node: Node) -> bool:
    return any(not known_equal(dim, 1) for dim in node.shape)


def transposed(operand: Spelled) -> str:
    """The formula of a transpose; of a transpose of a transpose, the operand itself."""
    if operand[0].endswith(r"^\top") and operand[1] == POWER:
        return operand[0].removesuffix(r"^\top")
    return rf"{within(operand, ATOM)}^\top"


def operand_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """The formula of the operand."""
    return operands[0]


def converted_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """The formula of the operand; a truth value as a number is in brackets."""
    of_truth = node.operands[0].aval.dtype.kind == "b" != node.aval.dtype.kind
    return as_truth(operands[0]) if of_truth else operands[0]


def right_side(node: Node, found: Spelled) -> str:
    """The right side of an equation, in brackets if it is itself one, as in t = [x = 0]."""
    of_truth = node.aval.dtype.kind == "b" and " = " in found[0]
    return (as_truth(found) if of_truth else found)[0]


def as_truth(operand: Spelled) -> Spelled:
    """The bracket that is 1 where a statement is true and else 0 (Iverson 1962; Knuth 1992)."""
    return operand if operand[1] == ATOM else (rf"\left[{operand[0]}\right]", ATOM)


def where_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A choice, written with cases."""
    condition, chosen, other = (text for text, _ in operands)
    rows = rf"{chosen} & \text{{if }} {condition} \\ {other} & \text{{otherwise}}"
    return rf"\begin{{cases}} {rows} \end{{cases}}", LOWEST


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
        if head in _OF_MATRICES and node.op.traits.elementwise and is_matrix(node.operands[0]):
            return rf"{_of_elements(head)}\left({text}\right)", ATOM
        plain = binding == ATOM and len(text) <= 8 and not text.startswith("\\left")
        if plain and head in _WITHOUT_BRACKETS:
            return f"{head} {text}", UNARY
        return rf"{head}\left({text}\right)", ATOM

    return spell


_WITHOUT_BRACKETS = frozenset(
    {
        *(r"\exp", r"\log", r"\log_2", r"\sin", r"\cos", r"\tan", r"\sinh", r"\cosh", r"\tanh"),
        *(r"\arcsin", r"\arccos", r"\arctan", r"\det", r"\max", r"\min"),
    }
)
"""Functions that are written before their argument as it stands: sin x, but σ(x) and Γ(x)."""


def _of_elements(head: str) -> str:
    """The function of each element: a circle, beside the base of a logarithm."""
    name, _, base = head.partition("_")
    return rf"{name}_{{{base.strip('{}')}{', ' if base else ''}\odot}}"


def relation(sign: str) -> Writer:
    """A relation sign between two operands."""

    def spell(node: Node, operands: Sequence[Spelled]) -> Spelled:
        left, right = operands
        return f"{within(left, PLUS)} {sign} {within(right, PLUS)}", LOWEST

    return spell


def connective(sign: str) -> Writer:
    """A sign of logic between two truth values; None for whole numbers, whose bits are meant."""
    related = relation(sign)
    return lambda node, operands: related(node, operands) if node.dtype.kind == "b" else None


def negation_formula(node: Node, operands: Sequence[Spelled]) -> Spelled | None:
    r"""The sign of logic before a truth value, `\neg x`; None for the bits of whole numbers."""
    return (rf"\neg {within(operands[0], ATOM)}", UNARY) if node.dtype.kind == "b" else None


_OF_MATRICES = frozenset(
    {
        *(r"\exp", r"\log", r"\sin", r"\cos", r"\tan", r"\sinh", r"\cosh", r"\tanh"),
        *(r"\arcsin", r"\arccos", r"\arctan", r"\log_2", r"\log_{10}", r"\Gamma"),
    }
)
"""Functions that matrices have, too: of the elements of a matrix they are written with a circle."""
_OF_ELEMENTS = {
    "e^{#}": (r"\exp", ""),
    "2^{#}": (r"\operatorname{exp2}", ""),
    "10^{#}": (r"\operatorname{exp10}", ""),
    "e^{#} - 1": (r"\operatorname{expm1}", ""),
    r"\log\left(1 + #\right)": (r"\operatorname{log1p}", ""),
    r"\log\left(1 + e^{#}\right)": (r"\operatorname{softplus}", ""),
    r"\sqrt{#}": ("", r"\circ 1/2"),
    r"\sqrt[3]{#}": ("", r"\circ 1/3"),
    r"\frac{1}{#}": ("", r"\circ -1"),
    r"\frac{1}{\sqrt{#}}": ("", r"\circ -1/2"),
}
"""The same for what is written as a power: the function, or the power of the elements."""


def _binding(latex: str) -> int:
    """The precedence of a formula."""
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
        if latex in _OF_ELEMENTS and is_matrix(node.operands[0]):
            head, power = _OF_ELEMENTS[latex]
            if head:
                return rf"{_of_elements(head)}\left({operands[0][0]}\right)", ATOM
            return f"{within(operands[0], ATOM)}^{{{power}}}", POWER
        return latex.replace("#", operands[0][0]), binding

    return spell
