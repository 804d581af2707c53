"""Errors of operations with the operands and the user's line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, cast

import numpy as np

from ..errors import SymgraphError
from ..ir.dims import show_shape
from ..ir.given_names import name_of
from ..ir.naming import settle
from ..ir.node import Node
from ..notation.node_text import escaped, shortened, shown_value
from ..source import user_frame

__all__ = ["located"]


def located(error: SymgraphError, name: str, operands: Sequence[Any]) -> SymgraphError:
    """The error again, with the function's name, its operands and the user's line."""
    if error.rows:
        return error
    settle()  # A variable of the last line has its value by now.
    rows = _rows([_shown(each) for each in operands])
    frame = user_frame()
    if frame is not None:
        rows.append(f"used at {frame.quoted()}")
    what = error.what if error.what.startswith(name) else f"{name}: {error.what}"
    return type(error)(what, rows, error.mend)


def _rows(shown: Sequence[str]) -> list[str]:
    """One row for each operand; neighbours that look the same share one."""
    rows: list[str] = []
    first = 0
    for text, alike in groupby(shown):
        last = first + len(list(alike)) - 1
        places = f"operand {first}" if first == last else f"operands {first} to {last}"
        rows.append(f"{places}   {text}")
        first = last + 1
    return rows


def _shown(operand: object) -> str:
    """Type and shape of an operand, its name, and the line that made it."""
    node = getattr(operand, "node", None)
    if isinstance(node, Node):
        made = node.origin
        via = "gradient of " if made.adjoint_of is not None else ""
        source = f"   from {via}{made.frames[0].quoted()}" if made.frames else ""
        return f"{node.aval} {shortened(escaped(name_of(node)))}".rstrip() + source
    if isinstance(operand, np.ndarray):
        array = cast("np.ndarray[Any, Any]", operand)
        return f"{array.dtype}{show_shape(array.shape)}   a constant"
    return shown_value(operand)
