"""Graphs as ONNX models, in operators of the version `OPSET`.

The kernels of operations are run on a namespace whose functions write ONNX nodes. `table` says
which operator each function is; the other modules hold the spellings that need several.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_getattr

if TYPE_CHECKING:
    from .model import to_onnx
    from .writer import OPSET

__all__ = ["OPSET", "to_onnx"]

__getattr__ = lazy_getattr(__name__, OPSET="writer", to_onnx="model")
