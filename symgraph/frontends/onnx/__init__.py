"""ONNX models as graphs: a walk over the model, and a table of operators.

`model` takes a model in, `graphs` walks over it, `registry` is the table, and `operators` holds the
functions in it. `values` tells which values are evaluated while a model is read: those that the
structure of the graph may depend on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy import lazy_getattr

if TYPE_CHECKING:
    from .entry import from_onnx, onnx_parameters

__all__ = ["from_onnx", "onnx_parameters"]

__getattr__ = lazy_getattr(__name__, from_onnx="entry", onnx_parameters="entry")
