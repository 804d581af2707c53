"""The user's handle of a node: an array that records the operations on it."""

from .handle import (
    FUNCTIONS,
    NUMPY_FUNCTIONS,
    Array,
    ArrayLike,
    Index,
    apart,
    apply,
    constant,
    implements,
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
