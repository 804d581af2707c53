"""The order in which the elements of each value lie in memory, as far as it is known.

NumPy gives the result of an elementwise operation the memory order of its operands (order "K"). A
sum adds up neighbours in memory first, so its last digits depend on this order. So a result is
written into another value's buffer only where the order would be the same anyway. Then a program
computes the same bits however its buffers are shared, and a checkpointed program the same bits as
the whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.avals import Aval
from .pieces import Alias, Line

__all__ = ["Orders"]

_ROWS = "rows"
"""The last axis varies fastest, as in an array that NumPy makes; its slices and broadcasts, too."""

_KEEPING = (
    *("np.add.reduce(", "np.maximum.reduce(", "np.minimum.reduce(", "np.multiply.reduce("),
    *(
        "np.broadcast_to(",
        "np.clip(",
        "np.concatenate(",
        "np.cumsum(",
        "np.empty(",
        "np.full(",
        "np.matmul(",
    ),
    *("np.ones_like(", "np.reshape(", "np.stack(", "np.where(", "np.zeros_like("),
)
"""Calls whose result is in row order if their operands are."""


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

    def computed(
        self, name: str, line: Line, pieces: Sequence[object], operands: Sequence[str]
    ) -> str:
        """The order of a value that gets memory of its own, noted for the values made of it."""
        self._set(name, line.avals[0], self._order_of_result(name, line, pieces, operands))
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
        if text.startswith("np.matmul(") and len(line.avals[0].shape) <= 2:
            return _ROWS
        part = line.aliases[0] is Alias.PART and text[:1] in ("v", "c") and "[" in text
        if orders <= {_ROWS} and (part or text.startswith(_KEEPING)):
            return _ROWS
        return own
