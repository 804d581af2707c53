"""Small ONNX models, written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnxcases import onnx

__all__ = ["BOOL", "FLOAT", "INT64", "graph_info", "h", "model", "node"]

FLOAT, INT64, BOOL = 1, 7, 9
h: Any = None if onnx is None else onnx.helper


def model(
    nodes: Sequence[Any],
    inputs: Sequence[tuple[str, int, Any]],
    outputs: Sequence[str] = ("y",),
    constants: dict[str, Any] | None = None,
    version: int = 18,
    functions: Sequence[Any] = (),
    **options: Any,
) -> Any:
    infos = [h.make_tensor_value_info(*each) for each in inputs]
    held = [onnx.numpy_helper.from_array(np.asarray(x), n) for n, x in (constants or {}).items()]
    results = [h.make_empty_tensor_value_info(name) for name in outputs]
    graph = h.make_graph(list(nodes), "g", infos, results, held)
    imports = [h.make_opsetid("", version), h.make_opsetid("mine", 1)]
    return h.make_model(graph, opset_imports=imports, functions=list(functions), **options)


def node(op: str, inputs: str, outputs: str = "y", **attributes: Any) -> Any:
    return h.make_node(op, inputs.split(","), outputs.split(","), name=f"the {op}", **attributes)


def graph_info(nodes: Sequence[Any], inputs: Sequence[tuple[str, int, Any]], *outputs: str) -> Any:
    infos = [h.make_tensor_value_info(*each) for each in inputs]
    return h.make_graph(
        list(nodes), "inner", infos, [h.make_empty_tensor_value_info(n) for n in outputs]
    )
