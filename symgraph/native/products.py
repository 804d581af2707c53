"""Which products of matrices are compiled, where NumPy's BLAS uses half of the registers."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from ..ir.avals import Aval
from ..ir.dims import Dim
from ..lowering.drafts import Draft
from ..records import record
from .operations import kind_of
from .tiles import INNER, Tile
from .writer import BITS

__all__ = ["Product", "blas_is_narrow", "product_of"]

_SHAPES = ((14, 2), (8, 2))
"""Rows and vectors of a tile: each is compiled on its own, so there are few."""
_LEAST_WORK = 2**17
_LEAST_COLUMNS = 16
_NARROW = frozenset(
    ("Haswell", "Zen", "Excavator", "Sandybridge", "Nehalem", "Prescott", "Core2", "Barcelona")
)
"""OpenBLAS's kernels without vectors of 64 bytes."""


@cache
def blas_is_narrow() -> bool:
    """Whether NumPy's own OpenBLAS takes this processor for one of narrower vectors."""
    root = Path(np.__file__).parent
    for folder in (root.parent / "numpy.libs", root / ".dylibs"):
        for path in sorted(folder.glob("libscipy_openblas*")) if folder.is_dir() else ():
            try:
                library = ctypes.CDLL(str(path))
            except OSError:
                continue
            for name in ("scipy_openblas_get_corename64_", "scipy_openblas_get_corename"):
                function = getattr(library, name, None)
                if function is not None:
                    function.restype = ctypes.c_char_p
                    return (function() or b"").decode() in _NARROW
    return False


@record
class Product:
    """A statement that multiplies two matrices.

    Parameters
    ----------
    draft : Draft
    left, right : str
    tile : Tile
    columns : int
    """

    draft: Draft
    left: str
    right: str
    tile: Tile
    columns: int


def product_of(draft: Draft, avals: Mapping[str, Aval], register: int) -> Product | None:
    """The product that a statement computes, if it is worth to be computed here."""
    call = draft.line.call
    if call is None or call.function != "np.matmul" or call.kwargs or call.args != (None, None):
        return None
    operands = [each for each in draft.pieces if isinstance(each, str) and each in draft.names]
    if len(operands) != 2 or any(each not in avals for each in operands):
        return None
    aval = draft.line.avals[0]
    if any(avals[each].ndim != 2 or avals[each].dtype != aval.dtype for each in operands):
        return None
    left, right = operands
    return _product(draft, left, right, avals[left].shape[1], register)


def _product(draft: Draft, left: str, right: str, inner: Dim, register: int) -> Product | None:
    aval = draft.line.avals[0]
    kind = kind_of(aval.dtype)
    if kind not in INNER or not isinstance(inner, int):
        return None
    rows, columns = aval.shape
    if not isinstance(columns, int) or columns < _LEAST_COLUMNS:
        return None
    if isinstance(rows, int) and rows * columns * inner < _LEAST_WORK:
        return None
    lanes = register // (BITS[kind] // 8)

    def waste(shape: tuple[int, int]) -> float:
        high, wide = shape[0], shape[1] * lanes
        work = -(-columns // wide) * wide
        if isinstance(rows, int):
            work *= -(-rows // high) * high
        # Loads of numbers and vectors beside the multiplications.
        return work * (1 + 0.5 * (1 / shape[0] + 1 / shape[1] / 4))

    high, wide = min(_SHAPES, key=waste)
    return Product(draft, left, right, Tile(kind, high, wide, lanes), columns)
