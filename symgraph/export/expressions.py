"""The texts of leaves: the name of an input, the value of a small constant."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.node import Node
from ..notation.node_text import ATOM, UNARY, Spelled, escaped, number, shortened, size_text
from ..ops.creation import DIMENSION

__all__ = ["atom", "constant_text", "inline", "number_text"]


def constant_text(value: np.ndarray[Any, Any]) -> Spelled | None:
    """The text of a small constant; None for a larger one."""
    if value.ndim == 0:
        text = number(value)
        return text, UNARY if text.startswith("-") else ATOM
    if value.size == 1:
        return f"{'[' * value.ndim}{number(value)}{']' * value.ndim}", ATOM
    if value.ndim == 1 and value.size <= 3:
        return f"[{', '.join(number(item) for item in value)}]", ATOM
    return None


def atom(node: Node) -> Spelled | None:
    """The text of a leaf: the name of an input, the value of a small constant."""
    if node.is_input:
        return shortened(escaped(node.params["name"])), ATOM
    return inline(node)


def inline(node: Node) -> Spelled | None:
    """The text of a node that has no line of its own, a small constant or a size; else None."""
    if node.is_constant:
        return constant_text(node.params["value"])
    return size_text(node, ()) if node.op is DIMENSION else None


def number_text(value: np.ndarray[Any, Any]) -> Spelled | None:
    """A float with six digits, for reading; None for anything else, or where it is no shorter."""
    if value.ndim or value.dtype.kind != "f" or not np.isfinite(value):
        return None
    text = f"{float(value):.6g}"
    return None if len(text) >= len(number(value)) else (text, UNARY if text[0] == "-" else ATOM)
