"""Errors of operations with the operands and the user's line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ..errors import SymgraphError
from ..ir.dims import show_shape
from ..ir.given_names import name_of
from ..ir.naming import settle
from ..ir.node import Node
from ..notation.node_text import escaped, shortened
from ..source import user_frame

__all__ = ["located"]


def located(error: SymgraphError, name: str, operands: Sequence[Any]) -> SymgraphError:
    """The error again, with the function's name, its operands and the user's line."""
    if error.rows:
        return error
    rows: list[str] = []
    settle()  # A variable of the last line has its value by now.
    for position, operand in enumerate(operands):
        node = getattr(operand, "node", None)
        if isinstance(node, Node):
            made = node.origin
            source = made.frames[0].quoted() if made.frames else ""
            via = "gradient of " if made.adjoint_of is not None else ""
            called = shortened(escaped(name_of(node)))
            shown = f"{operand.aval} {called}".rstrip()
            shown += f"   from {via}{source}" if source else ""
        elif isinstance(operand, np.ndarray):
            array = cast("np.ndarray[Any, Any]", operand)
            shown = f"{array.dtype}{show_shape(array.shape)}   a constant"
        else:
            shown = f"{operand!r}"
        rows.append(f"operand {position}   {shown}")
    frame = user_frame()
    if frame is not None:
        rows.append(f"used at {frame.quoted()}")
    what = error.what if error.what.startswith(name) else f"{name}: {error.what}"
    return type(error)(what, rows, error.mend)
