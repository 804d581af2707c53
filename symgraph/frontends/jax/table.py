"""A table from JAX's primitives to operations; `control` has those with functions in them."""

from __future__ import annotations

from ..spelling import Spelling
from .elementwise import ELEMENTWISE
from .indexing import INDEXING
from .linalg import LINALG
from .movement import MOVEMENT
from .reductions import REDUCTIONS

__all__ = ["IGNORED", "TABLE"]

TABLE: dict[str, Spelling] = {**ELEMENTWISE, **MOVEMENT, **INDEXING, **REDUCTIONS, **LINALG}

IGNORED = frozenset(
    [
        *["accuracy", "exact", "indices_are_sorted", "out_sharding", "precision", "sharding"],
        *["preferred_element_type", "unique_indices", "weak_type"],
    ]
)
"""Parameters that change no value, or only the dtype, which every result is compared in."""
