"""The torch backend: the kernels in torch's array namespace, one by one, where the inputs are.

If an input is a tensor, the results are tensors on its device; if all inputs are NumPy arrays, the
results are NumPy arrays. An operation that torch lacks is refused, and no tensor of another device
is copied to the host: SciPy's functions, which torch lacks, run on tensors of the CPU only.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import InputError
from ..ir.dag import Dag
from ..ir.node import Node
from .base import Compiled, OwnArrays, sizes_read
from .standard import StandardBackend, StandardNamespace

__all__ = ["BACKEND", "TorchBackend"]

# By name, so that types are checked without torch, which is large.
torch: Any = import_module("torch")
compat: Any = import_module("array_api_compat.torch")


class _TorchArrays(OwnArrays):
    """Torch's tensors."""

    def holds(self, value: Any) -> bool:
        return isinstance(value, torch.Tensor)

    def dtype_of(self, value: Any) -> np.dtype[Any]:
        try:
            return np.dtype(str(value.dtype).removeprefix("torch."))
        except TypeError:
            raise InputError(
                f"A tensor has dtype {value.dtype}, which graphs do not have.",
                mend="Convert it first, as in tensor.to(torch.float32).",
            ) from None

    def cast(self, value: Any, dtype: np.dtype[Any]) -> Any:
        return value.to(getattr(torch, dtype.name))


_ARRAYS = _TorchArrays()


def _device_of(tensors: Sequence[Any]) -> Any:
    """The device of all tensors; the CPU if there are none."""
    devices = list(dict.fromkeys(each.device for each in tensors))
    if len(devices) > 1:
        raise InputError(
            f"The inputs are on several devices: {', '.join(map(str, devices))}.",
            mend="Move them to one, as in tensor.to(device).",
        )
    return devices[0] if devices else torch.device("cpu")


class _TorchNamespace(StandardNamespace):
    """Torch's functions under the standard's names, and those that the standard lacks."""

    def expm(self, x: Any) -> Any:
        return torch.linalg.matrix_exp(x)


class TorchBackend(StandardBackend):
    """Runs graphs node by node on torch's tensors."""

    def compile(self, dag: Dag, *, numpy_out: bool | None = None) -> Compiled:
        """A function that runs the kernels in the order of the graph.

        Parameters
        ----------
        dag : Dag
        numpy_out : bool, optional
            True gives NumPy arrays, False tensors. By default the results are tensors if an input
            is one.
        """
        order = [node for node in dag.nodes if not node.is_input]
        dims = sizes_read(dag)
        count = len(dag.inputs)
        source = "\n".join([repr(node) for node in order])

        def call(*values: Any) -> Sequence[Any]:
            tensors = [each for each in values[:count] if _ARRAYS.holds(each)]
            as_numpy = not tensors if numpy_out is None else numpy_out
            sizes = dict(zip(dims, values[count:], strict=True))
            # What kernels create is on the device of the inputs.
            with _device_of(tensors):
                given = [
                    each if _ARRAYS.holds(each) else self.namespace.from_numpy(each)
                    for each in values[:count]
                ]
                known: dict[Node, Any] = dict(zip(dag.inputs.values(), given, strict=True))
                for node in order:
                    known[node] = self._value(node, [known[each] for each in node.operands], sizes)
                results = [known[node] for node in dag.outputs]
                if as_numpy:
                    return [
                        self._result(node, each.detach().cpu() if _ARRAYS.holds(each) else each)
                        for node, each in zip(dag.outputs, results, strict=True)
                    ]
                return _apart(
                    [self._tensor(*pair) for pair in zip(dag.outputs, results, strict=True)], given
                )

        return Compiled(call, source, dims, own=_ARRAYS)

    def _tensor(self, node: Node, value: Any) -> Any:
        """A result as a tensor of the declared dtype."""
        return torch.as_tensor(value, dtype=self.namespace.own_dtype(node.aval.dtype))

    def to_numpy(self, value: Any) -> np.ndarray[Any, Any]:
        if isinstance(value, torch.Tensor):
            return np.array(value.detach().cpu().numpy())
        return np.asarray(value)


def _apart(results: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """The results, copied where they share memory with an input or with one another."""
    seen = {each.untyped_storage().data_ptr() for each in given}
    found: list[Any] = []
    for each in results:
        result = each.clone() if each.untyped_storage().data_ptr() in seen else each
        seen.add(result.untyped_storage().data_ptr())
        found.append(result)
    return found


def _from_numpy(x: np.ndarray[Any, Any]) -> Any:
    # `torch.tensor` copies: it takes read-only memory without a warning.
    return torch.tensor(x)


BACKEND = TorchBackend("torch", _TorchNamespace(compat, from_numpy=_from_numpy))
