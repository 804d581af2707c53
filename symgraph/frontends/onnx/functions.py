"""Operators that are defined by a graph of others: the model's own functions, and ONNX's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import FormatError
from ...ir.dims import fixed
from ...onnx.writer import onnx_module
from .values import Entry, Value

__all__ = ["definition", "local_functions"]


def local_functions(protos: Any) -> dict[tuple[str, str, str], Any]:
    """The functions of a model by domain, name and overload."""
    found: dict[tuple[str, str, str], Any] = {}
    for each in protos:
        domain = "" if each.domain == "ai.onnx" else each.domain
        key = (domain, each.name, getattr(each, "overload", ""))
        if key in found:
            raise FormatError(f"Two functions of the model are named {each.name!r}.")
        found[key] = each
    return found


def definition(
    node: Any,
    domain: str,
    version: int,
    entries: Sequence[Entry],
    attributes: Mapping[str, Any],
) -> Any:
    """ONNX's own definition of an operator by others, as a FunctionProto, or None."""
    onnx = onnx_module()
    try:
        schema = onnx.defs.get_schema(node.op_type, version, domain)
    except Exception:  # onnx has a class of its own for it, in a module that is private.
        return None
    if not (schema.has_function or schema.has_context_dependent_function):
        return None
    plain = onnx.NodeProto()
    plain.CopyFrom(node)
    del plain.attribute[:]
    for name, each in attributes.items():
        copied = plain.attribute.add()
        copied.CopyFrom(each)
        copied.name = name
        copied.ref_attr_name = ""
    text = _function(schema, version, plain, entries)
    if not text:
        return None
    function = onnx.FunctionProto()
    function.ParseFromString(text)
    defaults = [
        each.default_value for each in schema.attributes.values() if each.default_value.name
    ]
    given = {each.name for each in function.attribute_proto}
    function.attribute_proto.extend(each for each in defaults if each.name not in given)
    if not any(each.domain == domain for each in function.opset_import):
        function.opset_import.append(onnx.helper.make_opsetid(domain, version))
    return function


def _function(schema: Any, version: int, node: Any, entries: Sequence[Entry]) -> bytes:
    """The definition as bytes."""
    if schema.has_function:
        newest = _newest(schema.function_opset_versions, version)
        return schema.get_function_with_opset_version(newest)
    newest = _newest(schema.context_dependent_function_opset_versions, version)
    types = [_type(each).SerializeToString() for each in entries]
    return schema.get_context_dependent_function_with_opset_version(
        newest, node.SerializeToString(), types
    )


def _newest(versions: Sequence[int], version: int) -> int:
    """The newest that is not newer than the model's; a definition brings its own version along."""
    return max([each for each in versions if each <= version], default=min(versions))


def _type(found: Entry) -> Any:
    """The type of an operand, as ONNX writes it; no type for a missing one."""
    onnx = onnx_module()
    if not isinstance(found, Value):
        return onnx.TypeProto()
    aval = found.array.aval
    dtype = onnx.helper.np_dtype_to_tensor_dtype(aval.dtype)
    shape = (
        aval.shape
        if fixed(aval.shape)
        else [None if not isinstance(d, int) else d for d in aval.shape]
    )
    return onnx.helper.make_tensor_type_proto(dtype, shape)
