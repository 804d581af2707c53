"""Expressions written out as nodes, in the shape of the node that they are to replace."""

from __future__ import annotations

from collections.abc import Container
from contextlib import suppress
from typing import Any

import numpy as np

from ..nodes import Node, Origin, origin
from .extract import Unwritable, Writer
from .growth import Growth
from .heads import open_axes
from .normalize import Normal
from .pieces import Piece, Spelling
from .recall import Recall
from .term import Expr
from .world import World

__all__ = ["Speller", "rewritten"]


_MOST_PRODUCTS = 6
"""So many are remembered under one factor."""


class Speller:
    """Spellings of expressions, in one walk over the graph.

    Parameters
    ----------
    normal : Normal
    recall : Recall
    world : World
        What is computed anyway.
    given : container of Node
        The graph as it was given.
    growth : Growth
        How fast values grow.
    """

    def __init__(
        self,
        normal: Normal,
        recall: Recall,
        world: World,
        given: Container[Node],
        growth: Growth,
    ) -> None:
        self.normal = normal
        self.recall = recall
        self.world = world
        self.given = given
        self.growth = growth
        self.products: dict[Node, list[Node]] = {}
        self._spellings: dict[np.dtype[Any], Spelling] = {}

    def learn(self, node: Node) -> None:
        """Remember a product of two arrays under each of them."""
        for factor in node.operands if node.op.name == "multiply" else ():
            known = self.products.setdefault(factor, [])
            if len(known) < _MOST_PRODUCTS:
                known.append(node)

    def cheapest(self, node: Node, options: list[Expr]) -> tuple[Node | None, Expr]:
        """The cheapest spelling of any of these, and of which; none that is NaN earlier."""
        spelling = self._spellings.get(node.dtype)
        if spelling is None:
            given = self.given.__contains__
            spelling = Spelling(node.dtype, self.world.alive, given, self.products)
            self._spellings[node.dtype] = spelling
        axes = open_axes(node)
        for place, axis in enumerate(axes):
            spelling.sizes[place] = node.shape[axis]
        writer = Writer(
            self.normal,
            spelling,
            self.world.price,
            self.world.size,
            self.recall.sum_of,
            range(len(axes)),
        )
        found: list[tuple[Node, Expr]] = []
        with origin(rewritten(node)):
            for option in options:
                with suppress(Unwritable, OverflowError):
                    found.append((_shaped(spelling, writer.written(option), node), option))
        risk = self.growth.risk(node)
        found = [each for each in found if self.growth.risk(each[0]) <= risk]
        if len(found) > 1:
            return min(found, key=lambda each: self.world.price(each[0]))
        return found[0] if found else (None, options[0])


def rewritten(node: Node) -> Origin:
    """The origin of what the algebra puts in the place of a node."""
    return Origin(node.origin.frames, node.origin.adjoint_of, "algebra")


def _shaped(spelling: Spelling, piece: Piece, node: Node) -> Node:
    """The piece in the shape of the node it replaces."""
    axes = open_axes(node)
    found = spelling.laid(piece, range(len(axes)))
    shape = node.shape
    if found.shape == shape:
        return found
    units = [axis for axis in range(-node.ndim, 0) if axis not in axes]
    if units:
        padded = (1,) * (len(axes) - found.ndim) + found.shape
        rest = iter(padded)
        wide = tuple([1 if axis in units else next(rest) for axis in range(-node.ndim, 0)])
        found = spelling.call("reshape", found, wide) if found.shape != wide else found
    return found if found.shape == shape else spelling.call("broadcast_to", found, shape)
