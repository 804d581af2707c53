"""`autograd.builtins`: containers, which are Python's own here."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from .numpynames import is_symbol

__all__ = ["dict", "isinstance", "list", "tuple", "type"]

dict = builtins.dict
list = builtins.list
tuple = builtins.tuple
type = builtins.type


def isinstance(x: Any, kinds: Any) -> bool:
    """As Python's; a symbol is an array, and a number where it has no axes."""
    if is_symbol(x):
        of = kinds if builtins.isinstance(kinds, builtins.tuple) else (kinds,)
        return np.ndarray in of or (x.ndim == 0 and float in of) or builtins.isinstance(x, kinds)
    return builtins.isinstance(x, kinds)
