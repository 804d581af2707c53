"""Advice where a method of an array of numbers was given a symbol: `A.dot(x)`.

NumPy asks arguments of its functions how to go on, but not those of methods.
"""

from __future__ import annotations

import ast
from typing import Any, cast

import numpy as np

__all__ = ["instead_of_array_method"]

_ASKS = ("choose", "dot", "mean", "searchsorted", "std", "var")
"""Methods whose functions NumPy hands over for any symbolic argument."""
_ASKS_THE_FIRST = ("argpartition", "max", "min", "partition", "prod", "sum", "take")
"""Methods whose functions NumPy hands over for a symbolic array alone."""


def instead_of_array_method(owner: object, call: ast.Call) -> str:
    """The function to write instead of a method; empty of what is no method of ndarray's.

    Parameters
    ----------
    owner : object
        What the method is called of; None if that is not known without running the user's code.
    call : ast.Call
    """
    function = call.func
    if not isinstance(function, ast.Attribute) or not isinstance(owner, np.ndarray | None):
        return ""
    name, array = function.attr, ast.unparse(function.value)
    given = ", ".join([ast.unparse(each) for each in (*call.args, *call.keywords)])
    told = "NumPy's methods of arrays of numbers take numbers."
    if name == "compress":
        return f"How many elements it takes is known only later: np.where({given}, {array}, 0)."
    if name in _ASKS or name in _ASKS_THE_FIRST:
        module = "np" if name in _ASKS else "snp"
        return f"{told} Write {module}.{name}({array}, {given})."
    if name == "fill" and isinstance(owner, np.ndarray):
        shape = cast("np.ndarray[Any, Any]", owner).shape
        return f"{told} Write snp.full({shape}, {given})."
    return ""
