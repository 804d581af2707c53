"""A graph as an ONNX model: its kernels run on a namespace that writes ONNX."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..errors import BackendError
from ..ir.body import Body
from ..ir.collector import collector_paused
from ..ir.dag import Dag
from ..ir.dims import Dim
from ..ir.node import Node
from ..lowering.kernel_sizes import with_sizes
from ..lowering.source_pieces import NoSource
from .namespace import OnnxNamespace
from .refusal import Refused
from .table import FUNCTIONS
from .traced import TracedTensor, size_asked
from .writer import OPSET, Writer, onnx_module

__all__ = ["to_onnx"]

_IR_VERSION = 9
"""The version of the file format that belongs to `OPSET`."""
_MOST_BYTES = 2**31 - 2**20
"""What one protobuf message holds."""


@collector_paused()
def to_onnx(dag: Dag) -> Any:
    """The graph as an `onnx.ModelProto`.

    Raises
    ------
    SymgraphError
        If the package onnx is not installed.
    BackendError
        If ONNX has no counterpart of an operation, a dtype or a size; it names the operation and
        the user's line.
    """
    return _Export(dag).model()


class _Export:
    def __init__(self, dag: Dag) -> None:
        self.dag = dag
        self.writer = Writer(_free_prefix((*dag.inputs, *dag.names)))
        self.xp = OnnxNamespace(self.writer, FUNCTIONS)
        self.values: dict[Node, Any] = {}
        self._helper = onnx_module("onnx.helper")

    def model(self) -> Any:
        """The whole model."""
        from importlib.metadata import version  # a tenth of what `import symgraph` takes

        size = sum(node.params["value"].nbytes for node in self.dag.nodes if node.is_constant)
        if size > _MOST_BYTES:
            raise BackendError(
                f"The constants of the graph take {size:,} bytes, and an ONNX model holds 2 GiB.",
                mend="Make the large ones inputs of the graph.",
            )
        for name, node in self.dag.inputs.items():
            self.values[node] = TracedTensor(self.xp, name, node.aval)
        self._sizes()
        for node in self.dag.nodes:
            if not node.is_input:
                self.values[node] = self._value(node)
        outputs = self._outputs()
        inputs = [self._info(name, node.aval) for name, node in self.dag.inputs.items()]
        graph = self._helper.make_graph(
            self.writer.nodes, "symgraph", inputs, outputs, self.writer.initializers
        )
        return self._helper.make_model(
            graph,
            producer_name="symgraph",
            producer_version=version("symgraph"),
            ir_version=_IR_VERSION,
            opset_imports=[self._helper.make_opsetid("", OPSET)],
        )

    # -- sizes -------------------------------------------------------------------------------------
    def _sizes(self) -> None:
        """Read each named dimension off the first input that has it, and check all others.

        An engine takes a name for a remark: without the check, a second input of another size would
        be broadcast, or cut.
        """
        writer = self.writer
        for name, node in self.dag.inputs.items():
            repeated = False
            for axis, dim in enumerate(node.shape):
                if isinstance(dim, int):
                    continue
                if not dim.is_Symbol:
                    raise BackendError(
                        f"Input {name!r} has the size {dim}, and ONNX has no formulas for sizes.",
                        [f"{name}: {node.aval}   from {node.origin}"],
                        mend="Give that dimension a name of its own, or a number.",
                    )
                found = writer.emit("Shape", name, start=axis, end=axis + 1)
                known = writer.sizes.setdefault(str(dim), found)
                if known != found:
                    repeated = True
                    # Position 0 of a tensor of one element; any other position is an error.
                    gap = writer.emit("Abs", writer.emit("Sub", found, known))
                    zero = writer.emit("Gather", writer.integers(0), gap, axis=0)
                    writer.sizes[str(dim)] = writer.emit("Add", known, zero)
            if repeated:
                shape = writer.shape(node.shape)
                checked = writer.emit("Reshape", name, shape, allowzero=1)
                self.values[node] = TracedTensor(self.xp, checked, node.aval)

    # -- nodes -------------------------------------------------------------------------------------
    def _value(self, node: Node) -> Any:
        self.writer.remark = f"{node.op.name}   from {node.origin}"
        if node.is_constant:
            return self.xp.lift(node.params["value"])
        try:
            return self._spelled(node)
        except Refused as reason:
            raise self._refusal(node, str(reason)) from None
        except NoSource as missing:
            raise self._refusal(node, f"its kernel asks for {missing}") from None
        except Exception as error:
            # Anything may stop a kernel that gets names instead of numbers.
            reason = f"its kernel needs numbers ({type(error).__name__}: {error})"
            raise self._refusal(node, reason) from error

    def _spelled(self, node: Node) -> Any:
        if node.op.custom:
            raise Refused("it is an operation of your own, whose kernel is Python")
        if any(isinstance(value, Body) for value in node.params.values()):
            raise Refused("loops, branches and derivatives of your own are not written as ONNX yet")
        operands = [self.values[each] for each in node.operands]
        params = {name: with_sizes(value, size_asked) for name, value in node.params.items()}
        result = node.op.kernel(self.xp, *operands, **params)
        if len(node.results) == 1:
            return self._checked(result, node.results[0])
        items = cast("tuple[Any, ...]", result)
        return tuple([self._checked(*pair) for pair in zip(items, node.results, strict=True)])

    def _checked(self, result: Any, aval: Any) -> TracedTensor:
        found = self.xp.lift(result)
        if found.aval.dtype != aval.dtype or found.aval.ndim != aval.ndim:
            raise Refused(f"its kernel gives {found.aval} instead of {aval}")
        return TracedTensor(self.xp, found.name, aval)

    def _refusal(self, node: Node, reason: str) -> BackendError:
        return BackendError(
            f"{node.op.name} cannot be written as ONNX: {reason}.",
            [
                f"{node.op.name} of {', '.join(str(each.aval) for each in node.operands)}"
                f"   from {node.origin}"
            ],
            mend='graph.to_python() and graph.lower("numpy") take every operation.',
        )

    # -- inputs and outputs ------------------------------------------------------------------------
    def _outputs(self) -> list[Any]:
        """Each output has a node of its own, so that its name is the graph's."""
        taken = set(self.dag.inputs)
        found: list[Any] = []
        for name, node in zip(self.dag.names, self.dag.outputs, strict=True):
            free = name
            while free in taken:
                free += "_out"
            taken.add(free)
            self.writer.nodes.append(
                self._helper.make_node("Identity", [self.values[node].name], [free], name=free)
            )
            found.append(self._info(free, node.aval))
        return found

    def _info(self, name: str, aval: Any) -> Any:
        dims = [_dim_param(dim) for dim in aval.shape]
        dtype: np.dtype[Any] = aval.dtype
        return self._helper.make_tensor_value_info(name, self.writer.dtype(dtype), dims)


def _free_prefix(names: tuple[str, ...]) -> str:
    """Slashes that no name begins with; names that a protobuf message cannot hold are refused."""
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            name = ""
        if not name:
            raise BackendError(
                "An input or output has a name that ONNX cannot hold: none, or no valid Unicode.",
                mend="Give it another name.",
            )
    prefix = "/"
    while any(name.startswith(prefix) for name in names):
        prefix += "/"
    return prefix


def _dim_param(dim: Dim) -> int | str | None:
    """A number, a name, or nothing for a formula."""
    return dim if isinstance(dim, int) else str(dim) if dim.is_Symbol else None
