"""Attributes of nodes, and tensors: protobuf messages as Python values and NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import FormatError
from ...ir.avals import supported_dtype
from ...onnx.writer import onnx_module

__all__ = ["attributes_of", "dtype_of", "sparse_of", "tensor_of", "value_of"]

_MEND = "Symbolic arrays have NumPy's dtypes of real numbers, integers and truth values."


def dtype_of(number: int) -> np.dtype[Any]:
    """NumPy's dtype for ONNX's number of one.

    Raises
    ------
    FormatError
        If symgraph has no such dtype, as for strings, complex numbers and bfloat16.
    """
    proto = onnx_module().TensorProto
    known = {number: name for name, number in proto.DataType.items()}
    name = known.get(number, f"number {number}")
    if number == proto.FLOAT:
        return np.dtype(np.float32)
    if number == proto.DOUBLE:
        return np.dtype(np.float64)
    try:
        return supported_dtype(name.lower())
    except Exception:
        raise FormatError(f"Tensors of dtype {name} are not read.", mend=_MEND) from None


def tensor_of(proto: Any) -> np.ndarray[Any, Any]:
    """A tensor as an array.

    Raises
    ------
    FormatError
        If it lies in another file, or has a dtype that symgraph lacks, or is malformed.
    """
    if proto.data_location == proto.EXTERNAL or len(proto.external_data):
        raise FormatError(
            f"The tensor {proto.name!r} lies in another file, which is not read.",
            mend="Load the model with onnx.load(path), which reads it, and give the result.",
        )
    dtype = dtype_of(proto.data_type)
    try:
        return np.array(onnx_module("onnx.numpy_helper").to_array(proto), dtype)
    except Exception as error:
        raise FormatError(f"The tensor {proto.name!r} is malformed: {error}") from error


def sparse_of(proto: Any) -> np.ndarray[Any, Any]:
    """A sparse tensor as an array, filled with zeros."""
    values, indices = tensor_of(proto.values), tensor_of(proto.indices)
    shape = tuple(int(each) for each in proto.dims)
    if np.prod([float(each) for each in shape]) > 2**24:
        raise FormatError(f"A sparse tensor of shape {shape} is too large to be filled.")
    found = np.zeros(shape, values.dtype)
    if indices.ndim == 1:
        found.reshape(-1)[indices] = values
    else:
        found[tuple(indices.T)] = values
    return found


def attributes_of(node: Any, outer: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a node as messages; one of a function's body may stand for the caller's."""
    found: dict[str, Any] = {}
    for each in node.attribute:
        if each.ref_attr_name:
            if each.ref_attr_name in outer:
                found[each.name] = outer[each.ref_attr_name]
        else:
            found[each.name] = each
    return found


def value_of(proto: Any) -> Any:
    """The value of an attribute: a number, a text, an array, a graph, or a list of them."""
    kinds = type(proto)
    kind = proto.type
    if kind == kinds.INT:
        return int(proto.i)
    if kind == kinds.FLOAT:
        return float(proto.f)
    if kind == kinds.STRING:
        return _text(proto.s)
    if kind == kinds.INTS:
        return [int(each) for each in proto.ints]
    if kind == kinds.FLOATS:
        return [float(each) for each in proto.floats]
    if kind == kinds.STRINGS:
        return [_text(each) for each in proto.strings]
    if kind == kinds.TENSOR:
        return tensor_of(proto.t)
    if kind == kinds.SPARSE_TENSOR:
        return sparse_of(proto.sparse_tensor)
    if kind == kinds.GRAPH:
        return proto.g
    raise FormatError(f"The attribute {proto.name!r} is of a kind that is not read.")


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"A text of the model is no Unicode: {raw[:40]!r}") from error
