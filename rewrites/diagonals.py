"""Diagonals of matrices, and elements that lie on one."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgraph.numpy import reshape
from symgraph.rewriting import Array, Identity, Offset, applied, building, provided, rule, static

from .contraction import matrix_transpose
from .known import Places
from .linalg import on_diagonal


@rule(sound="exact")
def diagonal_of_diagonal_matrix(v: Array) -> Identity:
    """The diagonal of a diagonal matrix is the vector that it was made from."""
    return applied("diagonal", on_diagonal(v), offset=0), v


@rule(sound="exact")
def beside_the_diagonal(v: Array, offset: Offset) -> Identity:
    """The other diagonals of a diagonal matrix are zero."""
    provided(offset != 0)
    return applied("diagonal", on_diagonal(v), offset=offset), 0


@rule(sound="exact")
def diagonal_of_transpose(x: Array, offset: Offset) -> Identity:
    """A diagonal of a transpose is the diagonal with the opposite offset."""
    diagonal = applied("diagonal", matrix_transpose(x), offset=offset)
    return diagonal, applied("diagonal", x, offset=-offset)


@static
def length_one_last(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """The shape without its last axis, which has length one."""
    return shape[:-1]


@building
def _of_steps(x: Array, i: Array) -> Array:
    """The diagonal at places that grow by one from row to row; declined for other places."""
    places: Any = i.node.params["value"]
    # A single place would be broadcast to all rows.
    provided(x.ndim == 2 and places.shape == (x.shape[0], 1) and isinstance(x.shape[-1], int))
    offsets = set((places[:, 0].astype(int) - np.arange(len(places))).tolist())
    provided(len(offsets) == 1)
    return applied("diagonal", x, offset=offsets.pop())


@rule(sound="exact")
def diagonal_of_places(x: Array, i: Places) -> Identity:
    """Elements at places that grow by one from row to row are a diagonal."""
    column = applied("take_along_axis", x, i, axis=-1)
    return reshape(column, length_one_last(column.shape)), _of_steps(x, i)
