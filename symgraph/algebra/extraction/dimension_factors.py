"""Products with powers of named dimensions."""

from __future__ import annotations

from ...ops.creation import dimension
from ...ops.elementwise import divide, multiply
from ..expression.exact_numbers import Coef
from ..normal_form.factors import Factors
from .array_operations import ArrayOperations
from .indexed_arrays import IndexedArray

__all__ = ["times_sizes"]


def times_sizes(
    spelling: ArrayOperations, coef: Coef, piece: IndexedArray, sizes: Factors
) -> tuple[Coef, IndexedArray]:
    """The piece times powers of named dimensions: one division or product with a constant.

    Parameters
    ----------
    spelling : ArrayOperations
    coef : Coef
        A number before the piece; it goes into the constant, but for its sign.
    piece : IndexedArray
    sizes : Factors
        The powers.
    """
    if not sizes:
        return coef, piece
    sign = 1 if coef > 0 else -1
    above, below = [[slot for slot in sizes if (slot[2] > 0) == up] for up in (True, False)]
    top, bottom = _product(spelling, above), _product(spelling, below)
    if abs(coef) != 1:
        number = IndexedArray(spelling.constant(abs(coef)), ())
        top = number if top is None else spelling.binary(multiply, number, top)
    if top is not None and bottom is not None:
        top = spelling.binary(divide, top, bottom)
    if top is not None:
        return sign, spelling.binary(multiply, top, piece)
    assert bottom is not None
    return sign, spelling.binary(divide, piece, bottom)


def _product(spelling: ArrayOperations, sizes: Factors) -> IndexedArray | None:
    """The product of the powers, without their signs; None if there are none."""
    found: IndexedArray | None = None
    for atom, _, power in sizes:
        node = dimension(atom.payload, spelling.dtype).node
        piece = spelling.raised(IndexedArray(node, ()), abs(power))
        found = piece if found is None else spelling.binary(multiply, found, piece)
    return found
