"""In which order the elements of each value lie in memory, as far as that can be told.

NumPy lets the result of an elementwise operation lie as its operands do (order "K"), and adds up
what lies side by side first: the last digits of a sum depend on it. So a result is written into
another value's buffer only where it would lie in the same order anyway; then a program computes the
same bits however its buffers are shared, and a checkpointed one the same as the whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.avals import Aval
from .pieces import Alias, Line

__all__ = ["Orders"]

_ROWS = "rows"
"""The last axis fastest, as of what NumPy makes by itself; slices and broadcasts of it, too."""

_KEEPING = (
    *("np.add.reduce(", "np.maximum.reduce(", "np.minimum.reduce(", "np.multiply.reduce("),
    *("np.broadcast_to(", "np.concatenate(", "np.cumsum(", "np.matmul(", "np.ones_like("),
    *("np.reshape(", "np.stack(", "np.where(", "np.zeros_like("),
)
"""Calls whose result lies by rows if their operands do."""


class Orders:
    """Orders of the values of one program, by name; equal ones are the same text.

    Inputs count as lying by rows. Where they do not, all the same orders are kept, and only the
    last digits may depend on which buffers are shared.
    """

    def __init__(self) -> None:
        self._of: dict[str, str] = {}
        self._wide: set[str] = set()

    def external(self, name: str, aval: Aval) -> None:
        """An input or a constant."""
        self._set(name, aval, _ROWS)

    def born(self, name: str, line: Line, pieces: Sequence[object], operands: Sequence[str]) -> str:
        """The order of a value computed anew, remembered for those made of it."""
        self._set(name, line.avals[0], self._natural(name, line, pieces, operands))
        return self._of[name]

    def of(self, name: str) -> str:
        """The order of a value."""
        return self._of[name]

    def _set(self, name: str, aval: Aval, order: str) -> None:
        # A vector lies in one way only.
        wide = sum([dim != 1 for dim in aval.shape]) > 1
        self._of[name] = order if wide else _ROWS
        if wide:
            self._wide.add(name)

    def _natural(
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
