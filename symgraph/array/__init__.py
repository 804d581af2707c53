"""The user's handle of a node: an array that records the operations on it."""

from .dispatch import FUNCTIONS, NUMPY_FUNCTIONS, ComplexOperand, implements, is_complex
from .handle import Array, ArrayLike, Index, apart, apply, constant, lift, project
from .located_errors import located

__all__ = [
    "FUNCTIONS",
    "NUMPY_FUNCTIONS",
    "Array",
    "ArrayLike",
    "ComplexOperand",
    "Index",
    "apart",
    "apply",
    "constant",
    "implements",
    "is_complex",
    "lift",
    "located",
    "project",
]
