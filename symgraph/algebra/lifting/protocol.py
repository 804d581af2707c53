"""The interface that functions which lift one operation use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...ir.dims import Dim
from ...ir.node import Node
from ..expression.atoms import AtomTable
from ..expression.term import Expr
from ..normal_form.normalize import NormalForm

__all__ = ["Lifting"]


class Lifting(Protocol):
    """Lifts nodes to expressions, over one table of atoms."""

    atoms: AtomTable
    normal: NormalForm

    def passes_kink(self) -> bool:
        """Whether an expression with another slope at a kink is allowed."""
        ...

    def aligned(self, node: Node, operands: Sequence[Expr], /) -> list[Expr]:
        """Expressions of broadcast operands, in the formal indices of the result."""
        ...

    def moved(self, expr: Expr, to: Sequence[int], /) -> Expr:
        """The expression with formal index k renamed to `to[k]`."""
        ...

    def contracted(
        self, operands: Sequence[Expr], labels: Sequence[Sequence[int]], bound: dict[int, Dim], /
    ) -> Expr | None:
        """The product of operands at the given indices, summed over `bound`."""
        ...
