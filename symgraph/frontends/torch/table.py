"""A table from PyTorch's operations, by their ATen names, to operations here.

An operation is looked up with its overload (`max.dim`) and then without it (`max`).
"""

from __future__ import annotations

from ..spelling import Spelling
from .distances import DISTANCES
from .elementwise import ELEMENTWISE
from .indexing import INDEXING
from .layers import LAYERS
from .losses import LOSSES
from .movement import MOVEMENT
from .recurrent import RECURRENT
from .reductions import REDUCTIONS
from .resizing import RESIZING

__all__ = ["TABLE", "spelling_of"]

TABLE: dict[str, Spelling] = {
    **ELEMENTWISE,
    **MOVEMENT,
    **INDEXING,
    **REDUCTIONS,
    **LAYERS,
    **RESIZING,
    **LOSSES,
    **DISTANCES,
    **RECURRENT,
}


def spelling_of(name: str) -> Spelling | None:
    """The spelling of `aten.max.dim`, or None if there is none."""
    library, _, rest = name.partition(".")
    if library != "aten":
        return None
    return TABLE.get(rest) or TABLE.get(rest.partition(".")[0])
