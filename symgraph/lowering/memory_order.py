"""The order in which the elements of each value lie in memory, as far as it is known.

NumPy gives the result of an elementwise operation the memory order of its operands (order "K"). A
sum adds up neighbours in memory first, so its last digits depend on this order. So a result is
written into another value's buffer only where the order would be the same anyway. Then a program
computes the same bits however its buffers are shared, and a checkpointed program the same bits as
the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ..ir.avals import Aval
from .arena_writers import takes_first_axis
from .drafts import Draft
from .source_pieces import Alias, Call, Line

__all__ = ["Orders"]

_ROWS = "rows"
"""The last axis varies fastest, as in an array that NumPy makes; its slices and broadcasts, too."""

_SWAPPED = "rows of matrices, each transposed"
"""Row order but for the last two axes, which are swapped."""

_KEEPING = (
    *("np.add.reduce(", "np.maximum.reduce(", "np.minimum.reduce(", "np.multiply.reduce("),
    *(
        "np.broadcast_to(",
        "np.clip(",
        "np.concatenate(",
        "np.cumsum(",
        "np.sort(",
        "np.empty(",
        "np.full(",
        "np.matmul(",
    ),
    *("np.ones_like(", "np.reshape(", "np.stack(", "np.where(", "np.zeros_like("),
    *("xp.chosen(", "xp.row_sums("),
    *("xp.scatter_add(", "xp.scatter_set("),
)
"""Calls whose result is in row order if their operands are."""
_SURELY = (
    *("xp.adjoint_convolution(", "xp.convolution(", "xp.kernel_convolution("),
    *("xp.diagonal_matrix(",),
    *("xp.scatter_add(np.zeros(", "xp.scatter_set(np.zeros("),
)
"""Calls whose result is in row order in any case."""


class Orders:
    """The memory orders of the values of one program, by name; equal orders are the same text.

    Inputs count as being in row order. If one is not, results are right all the same: only their
    last digits may depend on which buffers are shared.
    """

    def __init__(self) -> None:
        self._of: dict[str, str] = {}
        self._wide: set[str] = set()

    def external(self, name: str, aval: Aval) -> None:
        """Note an input or a constant."""
        self._set(name, aval, _ROWS)

    def computed(self, draft: Draft) -> str:
        """The order of a value that gets memory of its own, noted for the values made of it."""
        name, line = draft.target, draft.line
        order = self._order_of_result(name, line, draft.pieces, draft.names)
        if takes_first_axis(draft.node) and {self._of[each] for each in draft.names} == {_ROWS}:
            order = _ROWS
        self._set(name, line.avals[0], order)
        return self._of[name]

    def is_rows(self, name: str) -> bool:
        """Whether the last axis varies fastest."""
        return self._of[name] == _ROWS

    def of(self, name: str) -> str:
        """The order of a value."""
        return self._of[name]

    def _set(self, name: str, aval: Aval, order: str) -> None:
        # A vector has one order only.
        wide = sum([dim != 1 for dim in aval.shape]) > 1
        self._of[name] = order if wide else _ROWS
        if wide:
            self._wide.add(name)

    def _order_of_result(
        self, name: str, line: Line, pieces: Sequence[object], operands: Sequence[str]
    ) -> str:
        text = "".join(map(str, pieces[:2]))
        orders = {self._of[each] for each in operands if each in self._wide}
        own = f"that of {name}"
        if line.out or ".astype(" in text:
            return _ROWS if not orders else orders.pop() if len(orders) == 1 else own
        if text.startswith(_SURELY):
            return _ROWS
        if text.startswith("np.matmul(") and orders <= {_ROWS, _SWAPPED}:
            return _ROWS
        if line.call is not None and orders == {_ROWS} and _transposes_matrices(line.call):
            return _SWAPPED
        if text.startswith("np.matmul(") and len(line.avals[0].shape) <= 2:
            return _ROWS
        part = line.aliases[0] is Alias.PART and text[:1] in ("v", "c") and "[" in text
        if orders <= {_ROWS} and (part or text.startswith(_KEEPING)):
            return _ROWS
        return own


def _transposes_matrices(call: Call) -> bool:
    """Whether the call swaps the last two axes, and moves no other."""
    if call.function != "np.transpose" or len(call.args) != 2:
        return False
    axes = call.args[1]
    if not isinstance(axes, tuple):
        return False
    known = list(cast("tuple[int, ...]", axes))
    return known[-2:] == [-1, -2] and known[:-2] == list(range(-len(known), -2))
