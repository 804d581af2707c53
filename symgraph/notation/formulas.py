r"""LaTeX formulas of operations: powers, functions, relations, choices; how strongly each binds.

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
    "as_written",
    "binding_of",
    "connective",
    "converted_formula",
    "holds_one_number",
    "is_matrix",
    "is_number",
    "negation_formula",
    "operand_formula",
    "power_formula",
    "raised_to",
    "relation",
    "right_side",
    "stated",
    "symbol_formula",
    "transposed",
    "where_formula",
    "within",
]

POWER, JOINED, UNARY, TIMES, SUM, PLUS, LOWEST = 9, 8, 7, 6, 5, 4, 0
ONES = r"\mathbf{1}"
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


def as_written(node: Node) -> Node:
    """The value that is written: without broadcasts, and in whatever dtype."""
    while node.op.traits.arrangement in _EXACT:
        node = node.operands[0]
    return node


def is_matrix(node: Node) -> bool:
    """Whether the node has rows and columns, none of them known to be alone."""
    return node.ndim == 2 and not any(known_equal(dim, 1) for dim in node.shape)


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


def binding_of(latex: str) -> int:
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
    binding = binding_of(latex)

    def spell(node: Node, operands: Sequence[Spelled]) -> Spelled:
        if latex in _OF_ELEMENTS and is_matrix(node.operands[0]):
            head, power = _OF_ELEMENTS[latex]
            if head:
                return rf"{_of_elements(head)}\left({operands[0][0]}\right)", ATOM
            return f"{within(operands[0], ATOM)}^{{{power}}}", POWER
        return latex.replace("#", operands[0][0]), binding

    return spell
