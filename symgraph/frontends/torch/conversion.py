"""The walk over a program: each call becomes nodes here, made at the model's line."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...array import Array
from ...errors import DTypeError, InputError, SymgraphError
from ...ir.avals import Aval
from ...ir.node import Origin, origin
from ...source import Frame
from ..functions import f
from ..spelling import Operands, Refused, SpelledCall, bindable, fitting, present
from .program import aval_of, torch_module
from .table import spelling_of

__all__ = ["Walk"]

_NOT_OURS = frozenset(["device", "layout", "memory_format", "non_blocking", "pin_memory"])
"""Options that change no value."""
_CHECKS = frozenset(
    [
        *["aten._assert_async", "aten._assert_scalar", "aten._assert_tensor_metadata"],
        *["aten.sym_constrain_range", "aten.sym_constrain_range_for_size"],
    ]
)


class Walk:
    """Runs the graphs of a program on symbolic arrays.

    Parameters
    ----------
    dims : mapping
        The dimension for each symbol of PyTorch's.
    """

    def __init__(self, dims: Mapping[Any, Any]) -> None:
        self._dims = dims
        self._torch = torch_module()
        self._map = torch_module("torch.fx.node").map_arg

    def results(self, module: Any, given: Sequence[Any]) -> Any:
        """The results of a graph module for its inputs.

        Raises
        ------
        InputError
            If an operation has no counterpart; it names the operation and the model's line.
        """
        values: dict[Any, Any] = {}
        arriving = iter(given)
        for node in module.graph.nodes:
            args = self._map(node.args, values.__getitem__)
            if node.op == "placeholder":
                values[node] = next(arriving)
            elif node.op == "get_attr":
                values[node] = _attribute(module, node.target)
            elif node.op == "output":
                return args[0]
            else:
                kwargs = self._map(node.kwargs, values.__getitem__)
                with origin(Origin((frame_of(node),), scope=_scope_of(node))):
                    found = self._called(node, args, dict(kwargs))
                    values[node] = _stopped(found) if _is_detached(node) else found
        raise SymgraphError("The program has no output.")

    def _called(self, node: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        name = _name_of(node.target)
        if name.startswith("aten.") or "." in name:
            try:
                return self._of_operation(node, name, args, kwargs)
            except Refused as why:
                raise _refusal(name, node, why) from None
            except SymgraphError as error:
                if any("in the model" in row for row in error.rows):
                    raise
                rows = [*error.rows, f"in the model at {frame_of(node).quoted()}"]
                raise type(error)(error.what, rows, error.mend) from None
        # Arithmetic of sizes, and the parts of several results.
        return node.target(*args, **kwargs)

    def _of_operation(
        self, node: Any, name: str, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        stem = name.rpartition(".")[0]
        if stem == "higher_order":
            return self._block(name, args)
        if stem in ("aten.sym_size", "aten.sym_numel", "aten.sym_stride"):
            return _size(stem, *args)
        if stem in _CHECKS:
            return None
        spelling = spelling_of(name.removesuffix(".default"))
        if spelling is None:
            raise Refused("has no counterpart here")
        present(args)
        call = SpelledCall(tuple(self._avals(node.meta.get("val"))))
        kwargs = {key: value for key, value in kwargs.items() if key not in _NOT_OURS}
        if spelling.operands is Operands.COMMON:
            args = self._in_common(node, args)
        bindable(spelling, call, args, kwargs)
        return fitting(name, spelling(call, args, kwargs), call)

    def _in_common(self, node: Any, args: Sequence[Any]) -> list[Any]:
        """The two operands in the dtype that PyTorch compares them in."""
        examples = [getattr(each, "meta", {}).get("val", each) for each in node.args[:2]]
        dtype = str(self._torch.result_type(*examples)).removeprefix("torch.")
        return [
            f.astype(each, dtype) if isinstance(each, Array) and each.dtype != dtype else each
            for each in args
        ]

    def _avals(self, value: Any) -> list[Aval | None]:
        several = value if isinstance(value, (list, tuple)) else [value]
        try:
            return [
                aval_of(each, self._dims) if isinstance(each, self._torch.Tensor) else None
                for each in several
            ]
        except DTypeError as error:
            raise Refused(
                f"gives values of a dtype that graphs do not have: {error.what}"
            ) from None

    def _block(self, name: str, args: Sequence[Any]) -> Any:
        if name != "higher_order.wrap_with_set_grad_enabled":
            raise Refused("has no counterpart here")
        enabled, block, *given = args
        found = self.results(block, given)
        return found if enabled else _stopped(found)


def _is_detached(node: Any) -> bool:
    """Whether a decomposed program has lost that the model detached the value.

    PyTorch turns `detach` into `alias` then, and dissolves the blocks of `no_grad`; what made an
    operation is still told.
    """
    made, called = node.meta.get("torch_fn") or ("", "")
    if made == "wrap_with_set_grad_enabled":
        return hasattr(node.target, "_schema")
    return str(node.target) == "aten.alias.default" and called.endswith((".detach", ".detach_"))


def _stopped(value: Any) -> Any:
    """The value, and each of several, without a gradient."""
    if isinstance(value, (list, tuple)):
        return tuple([_stopped(each) for each in value])  # pyright: ignore[reportUnknownVariableType]
    floats = isinstance(value, Array) and value.dtype.kind == "f"
    return f.stop_gradient(value) if floats else value


def _attribute(module: Any, path: str) -> Any:
    found = module
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _name_of(target: Any) -> str:
    """`aten.max.dim`, `higher_order.cond`, or the bare name of a function of Python."""
    if hasattr(target, "_schema"):
        return str(target)
    if type(target).__module__.startswith("torch._higher_order_ops") or hasattr(
        target, "py_kernels"
    ):
        return f"higher_order.{target.name() if callable(target.name) else target.name}"
    return str(getattr(target, "__name__", target)).replace(".", "_")


def _size(stem: str, x: Any, *axis: int) -> Any:
    if stem == "aten.sym_stride":
        raise Refused("depends on where elements lie in memory")
    return x.shape[axis[0]] if stem == "aten.sym_size" else x.size


# -- where -----------------------------------------------------------------------------------------
_LINE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')


def frame_of(node: Any) -> Frame:
    """The model's line for a call: the innermost one outside of PyTorch, if there is one."""
    found = list(_LINE.finditer(node.meta.get("stack_trace") or ""))
    inside = os.path.dirname(torch_module().__file__)
    ours = [each for each in found if not each["file"].startswith(inside)]
    for each in reversed(ours or found):
        return Frame(each["file"], int(each["line"]), each["function"])
    return Frame(f"<{node.name}>", 0, "forward")


def _scope_of(node: Any) -> tuple[str, ...]:
    """The submodules that the call is in, from the outside: `("layers.0", "linear1")`."""
    scope: list[str] = []
    outer = ""
    for path, _kind in (node.meta.get("nn_module_stack") or {}).values():
        if path.startswith(outer) and path != outer:
            scope.append(path[len(outer) :].lstrip("."))
        outer = path
    return tuple(scope)


def _refusal(name: str, node: Any, why: Refused) -> InputError:
    rows = [f"in the model at {frame_of(node).quoted()}"]
    scope = _scope_of(node)
    if scope:
        rows.append(f"in the module {'.'.join(scope)}")
    return InputError(f"PyTorch's {name} {why}.", rows, why.mend)
