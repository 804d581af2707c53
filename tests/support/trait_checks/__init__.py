"""Traits of operations tried on numbers: which identities hold on an operation's samples."""

from __future__ import annotations

from .cases import Case, every_case, sampled_ops
from .claims import declared, floats, holds, undeclared
from .forms import indices
from .structure import (
    arrangements,
    logarithmic,
    signed_zero,
    takes_places,
    takes_square_alone,
)

__all__ = [
    "Case",
    "arrangements",
    "declared",
    "every_case",
    "floats",
    "holds",
    "indices",
    "logarithmic",
    "sampled_ops",
    "signed_zero",
    "takes_places",
    "takes_square_alone",
    "undeclared",
]
