"""Arrays with named axes.

A piece is a node whose axes carry indices; an axis of size 1 carries None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ...ir.node import Node

__all__ = ["IndexedArray", "Label", "aligned"]

Label = int | None


class IndexedArray:
    """A node whose axes carry indices: a piece. It is not changed.

    Parameters
    ----------
    node : Node
    labels : tuple of int or None
        The index of each axis; None for an axis of size 1.
    symmetric : bool
        Whether the last two axes may be exchanged.

    Attributes
    ----------
    names : tuple of int
        The indices, without the axes of size 1.
    """

    __slots__ = ("labels", "names", "node", "symmetric")

    def __init__(self, node: Node, labels: tuple[Label, ...], symmetric: bool = False) -> None:
        self.node = node
        self.labels = labels
        self.symmetric = symmetric
        if None in labels:
            self.names: tuple[int, ...] = tuple([label for label in labels if label is not None])
        else:
            self.names = cast("tuple[int, ...]", labels)

    def renamed(self, names: dict[int, int]) -> IndexedArray:
        return IndexedArray(
            self.node,
            tuple(
                [names.get(label, label) if label is not None else None for label in self.labels]
            ),
            self.symmetric,
        )


def aligned(labels: Sequence[Label], order: Sequence[int]) -> bool:
    """Whether the axes are aligned with the last ones of `order`."""
    if len(labels) > len(order):
        return False
    tail = order[len(order) - len(labels) :]
    present = {label for label in labels if label is not None}
    return all(a is None or a == b for a, b in zip(labels, tail, strict=True)) and present <= set(
        tail
    )
