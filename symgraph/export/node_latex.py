r"""The LaTeX of a node: a leaf, the formula in its operation's record, or a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ..ir.node import Node
from ..notation.formulas import ATOM, JOINED, PLUS, UNARY, holds_one_number, stated
from ..notation.node_text import Spelled
from ..notation.node_text import param as param_text
from ..ops.creation import DIMENSION
from .latex_names import number, numbers, symbol

__all__ = ["ATOM", "JOINED", "leaf", "spelled"]


def leaf(node: Node) -> Spelled | None:
    """The LaTeX of a value without operands; None if it needs a name."""
    if node.is_input:
        return symbol(node.params["name"]), ATOM
    if node.op is DIMENSION:
        from_sympy = str(node.params["size"])
        simple = from_sympy.isidentifier()
        text = symbol(from_sympy) if simple else from_sympy.replace("**", "^").replace("*", r" ")
        return text, ATOM if simple else PLUS
    if not node.is_constant:
        return None
    value: np.ndarray[Any, Any] = node.params["value"]
    if holds_one_number(value):
        text = number(value.reshape(-1)[0])
        return text, UNARY if text.startswith("-") else ATOM
    if value.ndim == 1 and value.size <= 3:
        return rf"({', '.join(number(item) for item in value)})", ATOM
    return None


def spelled(node: Node, operands: Sequence[Spelled]) -> Spelled:
    """The formula of a node, from its operands' formulas."""
    if node.is_constant:
        return numbers(node.params["value"]), ATOM
    latex = node.op.latex
    special = stated(latex) if isinstance(latex, str) else latex
    found: Spelled | None = special(node, operands) if special else None
    if found is not None:
        return found
    shown = [*[text for text, _ in operands], *_settings(node)]
    name = node.op.name.replace("_", r"\,")
    head = rf"\operatorname{{{name}}}"
    axis = node.params.get("axis")
    last = axis in (-1, (-1,)) or axis is None
    if not last:
        alone = isinstance(axis, tuple) and len(cast("tuple[Any, ...]", axis)) == 1
        head += f"_{{{param_text(cast('Any', axis)[0] if alone else axis)}}}"
    return rf"{head}\left({', '.join(shown)}\right)", ATOM


_SHOWN_OTHERWISE = frozenset({"axis", "dtype", "keepdims", "shape"})
_OFF_AT_ZERO = frozenset({"decimals", "k", "offset", "trans"})


def _settings(node: Node) -> list[str]:
    r"""What else a call is told, as `\mathrm{ord} = 3`: without it, the norm could be any."""
    shown: list[str] = []
    for name, value in node.params.items():
        if name in _SHOWN_OTHERWISE or value is None or value is False:
            continue
        if name in _OFF_AT_ZERO and value == 0:
            continue
        told = _word(name)
        if value is not True:
            told += " = " + (_word(value) if isinstance(value, str) else _value(value))
        shown.append(told)
    return shown


def _word(text: str) -> str:
    upright = text.replace("_", r"\,")
    return text if len(text) == 1 else rf"\mathrm{{{upright}}}"


def _value(value: object) -> str:
    if isinstance(value, float):
        return number(np.float64(value))
    return param_text(value).replace("_", r"\_")
