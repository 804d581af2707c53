"""The comments of a source's lines: they hold a user's names, made harmless."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..ir.avals import Aval
from ..ir.node import Node, Origin
from ..ir.value_names import DERIVED
from ..notation.node_text import shortened

__all__ = ["commented", "remark", "sanitized"]

_COMMENT_COLUMN = 52


def sanitized(text: str) -> str:
    """The text with `?` for each character that cannot be printed, so that it stays on one line."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else "?" for char in text)


# Printing a dtype is slow, and most lines of a graph have one of a few avals.
_shown_aval = lru_cache(maxsize=4096)(str)


def remark(node: Node, avals: Sequence[Aval]) -> str:
    """The comment of a line: the user's name, operation, result, the user's line, the rule."""
    # A node that graphs share may come from a line of another graph.
    origin = Origin() if node.origin.shared else node.origin
    shown = ", ".join([_shown_aval(aval) for aval in avals])
    text = f"{node.op.name}  {shown}" if shown else node.op.name
    variables = [name for name, depth, _ in node.names if depth < DERIVED]
    if variables and not node.is_input:
        text = f"{shortened(variables[0])} = {text}"
    where = str(origin)
    if where:
        text = f"{text}  {where}"
    return sanitized(f"{text}  by {origin.rule}" if origin.rule else text)


def commented(line: str, comment: str) -> str:
    """A line with its comment, which begins at the same column in all lines."""
    return f"{line.ljust(_COMMENT_COLUMN)}  # {comment}"
