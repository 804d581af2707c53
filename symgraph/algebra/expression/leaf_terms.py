"""Expressions of values that are not opened: numbers, sizes, identity matrices, arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.dims import known_equal
from ...ir.node import Node
from ...ops.creation import DIMENSION, eye
from .atoms import AtomTable, one
from .canonical_indices import canonical_term
from .exact_numbers import Coef, coefficient
from .roles import is_product
from .scalars import number
from .term import Expr

__all__ = [
    "has_number",
    "is_repeated",
    "leaf_expr",
    "repeated_number",
    "stretched",
]


def leaf_expr(atoms: AtomTable, node: Node) -> Expr:
    """The value of a node as one atom or one number."""
    repeated = repeated_number(node)
    if repeated is not None and repeated.dtype.kind != "b":
        found = coefficient(repeated)
        if found is not None:
            return number(found)
    if node.op is DIMENSION:
        return {canonical_term([(atoms.dim(node.params["size"]), (), one)], {}): 1}
    if node.op is eye.op and _is_identity(node):
        return {canonical_term([(atoms.delta(node.shape[0]), (0, 1), one)], {}): 1}
    scale = _scale_of_identity(node)
    if scale is not None:
        return {canonical_term([(atoms.delta(node.shape[0]), (0, 1), one)], {}): scale}
    atom = atoms.leaf(node)
    idx = tuple(range(len(atom.sizes)))
    return {canonical_term([(atom, idx, one)], {}): 1}


def repeated_number(node: Node) -> np.generic | None:
    """The number that fills a constant; None if elements differ or the node is no constant."""
    if not node.is_constant:
        return None
    value: np.ndarray[Any, Any] = node.params["value"]
    if not value.size:
        return None
    first = value.reshape(-1)[0]
    return first if value.size == 1 or bool(np.all(value == first)) else None


def is_repeated(node: Node) -> bool:
    """Whether the node is a constant with all elements equal."""
    return repeated_number(node) is not None


def has_number(node: Node) -> bool:
    """Whether the node is a number or a multiple: a further factor costs it no operation."""
    factors = node.operands if is_product(node) else (node,)
    return any(is_repeated(stretched(each)) for each in factors)


def stretched(node: Node) -> Node:
    """The array that a node is a view of, such as a broadcast or a reshape."""
    while node.op.view:
        node = node.operands[0]
    return node


def _is_identity(node: Node) -> bool:
    rows, columns = node.shape
    return node.params["offset"] == 0 and known_equal(rows, columns) and rows != 1


def _scale_of_identity(node: Node) -> Coef | None:
    """The number c of a constant c I; None if the node is no multiple of the identity matrix."""
    if not node.is_constant or node.ndim != 2 or node.dtype.kind != "f":
        return None
    value: np.ndarray[Any, Any] = node.params["value"]
    rows, columns = value.shape
    if rows != columns or rows < 2 or value[0, 0] == 0 or value[0, 1] != 0:
        return None
    scaled = np.zeros_like(value)
    np.fill_diagonal(scaled, value[0, 0])
    return coefficient(value[0, 0]) if np.array_equal(value, scaled) else None
