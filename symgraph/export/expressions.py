"""How leaves read in the texts of graphs: an input by its name, a small constant by its value."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.node import Node
from ..notation.text import ATOM, UNARY, Spelled, escaped, number, shortened, size_text
from ..ops.creation import DIMENSION

__all__ = ["atom", "constant_text", "inline"]


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
    return size_text(node, ()) if node.op is DIMENSION else None
