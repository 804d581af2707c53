r"""LaTeX formulas of arithmetic: sums, differences, products, fractions.

They are written as on paper: `2 t` for `t + t`, a half as a fraction, scaled rows of a matrix as
diag(s) X, a vector that is added to each row as 1 bᵀ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..ir.dims import known_equal
from ..ir.node import Node
from .formulas import (
    ATOM,
    JOINED,
    ONES,
    PLUS,
    POWER,
    SUM,
    TIMES,
    UNARY,
    argument,
    as_written,
    binding_of,
    is_matrix,
    is_number,
    transposed,
    within,
)
from .node_text import Spelled

__all__ = [
    "difference_formula",
    "fraction_formula",
    "negative_formula",
    "product_formula",
    "sum_formula",
]

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
        _repeated_term(as_written(one), operand)
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
    one, other = as_written(one), as_written(other)
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


def fraction_formula(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """A fraction."""
    left, right = operands
    one, other = node.operands
    if is_matrix(other) and not is_number(other):
        if is_number(one) and left[0] == "1":
            return rf"{within(right, ATOM)}^{{\circ -1}}", POWER
        return rf"{within(left, TIMES)} \oslash {within(right, JOINED)}", TIMES
    divisor = as_written(other)
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
    first = below, min(binding_of(below), TIMES) if " " in below else ATOM
    if below == divisor[0]:
        return f"{within(divisor, ATOM)}^{{2}}"
    if _is_literal(divisor[0]):
        first, divisor = divisor, first
    return _times(within(first, TIMES), divisor)[0]
