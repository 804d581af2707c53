"""A writer of sums, as the functions need it that write them in one way or another."""

from __future__ import annotations

from collections.abc import Container
from typing import Protocol

from ...accuracy import Judge
from ...ir.dims import Dim
from ..expression.atoms import AtomTable
from ..expression.term import Expr
from ..normal_form.normalize import NormalForm
from .array_operations import ArrayOperations
from .flat_writer import FlatWriter
from .indexed_arrays import IndexedArray
from .term_writer import Scaled, TermWriter

__all__ = ["WritesSums"]


class WritesSums(Protocol):
    """The part of the writer that ways to write a sum use."""

    normal: NormalForm
    atoms: AtomTable
    spelling: ArrayOperations
    terms: TermWriter
    sums: FlatWriter
    judge: Judge | None

    def sum_of_leaves(self, expr: Expr, /) -> Scaled:
        """The cheapest spelling of a sum over arrays."""
        ...

    def free_index(self, size: Dim, used: Container[int], /) -> int:
        """The first index of this size that is not used."""
        ...

    def is_too_long(self, piece: IndexedArray, /) -> bool:
        """Whether a piece alone has more operations than a spelling may have."""
        ...
