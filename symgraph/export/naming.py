"""How pictures and the explorer call a node, its scope and its place: one narrow door to names."""

from __future__ import annotations

from ..ir.node import Node
from ..notation.text import escaped
from .labels import Labels

__all__ = ["name_of", "place_of", "scope_of"]


def name_of(node: Node, labels: Labels) -> str:
    """The name of a node in its graph."""
    return labels.name(node)


def scope_of(node: Node, labels: Labels) -> tuple[str, ...]:
    """The path of the scopes that the node was made in, the outermost first."""
    return labels.scope(node)


def place_of(node: Node, labels: Labels) -> str:
    """The user's line that made the node, such as `model.py:12`; empty where none is known."""
    frame = labels.frame(node)
    return escaped(str(frame)) if frame is not None else ""
