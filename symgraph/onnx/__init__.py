"""Graphs as ONNX models, in operators of the version `OPSET`.

The kernels of operations are run on a namespace whose functions write ONNX nodes. `table` says
which operator each function is; the other modules hold the spellings that need several.
"""

from __future__ import annotations

from .model import to_onnx
from .writer import OPSET

__all__ = ["OPSET", "to_onnx"]
