"""The ONNX nodes and constants of a model, in the order in which they are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ..extras import module_of_extra
from ..ir.dims import Dim, Shape, fixed
from ..ir.symbolic_sizes import as_expr
from .refusal import Refused

__all__ = ["OPSET", "Writer", "onnx_module"]

OPSET = 20
"""The version of ONNX's operators that models are written in; onnxruntime knows it since 1.17."""


def onnx_module(name: str = "onnx") -> Any:
    """The package `onnx`, or a module of it.

    Raises
    ------
    SymgraphError
        If it is not installed.
    """
    return module_of_extra(name, "onnx", "ONNX models")


_NAMES = {"float32": "float", "float64": "double"}
"""ONNX's names of dtypes, where they are not NumPy's."""


class Writer:
    """Collects nodes and initializers; every value in it has a name.

    Parameters
    ----------
    prefix : str
        All names begin with it, and no input's or output's does.
    """

    def __init__(self, prefix: str = "/") -> None:
        self._prefix = prefix
        self._helper = onnx_module("onnx.helper")
        self._arrays = onnx_module("onnx.numpy_helper")
        self._schema = onnx_module("onnx.defs").get_schema
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.sizes: dict[str, str] = {}
        """For each named dimension the value, of shape [1], that holds its size."""
        self.remark = ""
        self._constants: dict[Any, str] = {}

    def emit(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Add a node, and give the name of its result."""
        return self.emit_all(op, inputs, 1, **attributes)[0]

    def emit_all(
        self, op: str, inputs: Sequence[str], results: int, **attributes: Any
    ) -> tuple[str, ...]:
        """Add a node of several results, and give their names."""
        label = f"{self._prefix}{op}_{len(self.nodes)}"
        names = (label,) if results == 1 else tuple(f"{label}_{place}" for place in range(results))
        self.nodes.append(
            self._helper.make_node(
                op, list(inputs), list(names), name=label, doc_string=self.remark, **attributes
            )
        )
        return names

    def constant(self, value: Any, dtype: Any = None) -> str:
        """The name of an initializer; equal ones, bit by bit, are one."""
        array = np.asarray(value, dtype, order="C")
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            name = self._constants[key] = f"{self._prefix}constant_{len(self._constants)}"
            self.initializers.append(self._arrays.from_array(array, name))
        return self._constants[key]

    def integers(self, *values: int) -> str:
        """A constant 1-d tensor of int64."""
        return self.constant(values, np.int64)

    def dtype(self, dtype: np.dtype[Any]) -> int:
        """ONNX's number of a dtype."""
        return int(self._helper.np_dtype_to_tensor_dtype(dtype))

    def check_dtypes(self, op: str, dtypes: Sequence[np.dtype[Any] | None]) -> None:
        """Refuse dtypes that ONNX does not define an operator for; None is left unchecked."""
        declared = self._schema(op, OPSET).inputs
        for place, dtype in enumerate(dtypes):
            if dtype is not None:
                # The last one of some operators may be repeated.
                allowed = declared[min(place, len(declared) - 1)].types
                if f"tensor({_NAMES.get(dtype.name, dtype.name)})" not in allowed:
                    raise Refused(f"ONNX's {op} takes no {dtype}")

    # -- sizes -------------------------------------------------------------------------------------
    def shape(self, shape: Shape) -> str:
        """A shape as a 1-d tensor of int64."""
        if fixed(shape):
            return self.integers(*cast("tuple[int, ...]", shape))
        return self.emit("Concat", *[self.size(dim) for dim in shape], axis=0)

    def size(self, dim: Dim) -> str:
        """A size as a tensor of shape [1] of int64."""
        expr = as_expr(dim)
        if isinstance(expr, int) or expr.is_Integer:
            return self.integers(int(expr))
        if expr.is_Symbol:
            if str(expr) not in self.sizes:
                raise Refused(f"the size {expr} is not that of any input")
            return self.sizes[str(expr)]
        args = cast("tuple[Any, ...]", expr.args)
        extremum = type(expr).__name__
        if extremum in ("Max", "Min"):
            return self.emit(extremum, *[self.size(part) for part in args])
        if expr.is_Pow and args[1].is_Integer and args[1].is_positive:
            args = (args[0],) * int(args[1])
        elif not (expr.is_Add or expr.is_Mul) or any(
            part.is_number and not part.is_Integer for part in args
        ):
            raise Refused(f"the size {dim} is no sum of products of named dimensions")
        found = self.size(args[0])
        for part in args[1:]:
            found = self.emit("Add" if expr.is_Add else "Mul", found, self.size(part))
        return found
