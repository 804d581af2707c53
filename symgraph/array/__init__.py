"""The user's handle of a node: an array that records the operations on it."""

from .dispatch import FUNCTIONS, NUMPY_FUNCTIONS, implements
from .handle import (
    Array,
    ArrayLike,
    Index,
    apart,
    apply,
    constant,
    lift,
    located,
    project,
)

__all__ = [
    "FUNCTIONS",
    "NUMPY_FUNCTIONS",
    "Array",
    "ArrayLike",
    "Index",
    "apart",
    "apply",
    "constant",
    "implements",
    "lift",
    "located",
    "project",
]
