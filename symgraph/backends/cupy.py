"""The cupy backend: the kernels in CuPy's functions, one by one, on the device of the inputs.

If an input is a CuPy array, the results are CuPy arrays on its device; if all inputs are NumPy
arrays, they are moved to a device and the results are moved back. Nothing is computed on the host:
what CuPy lacks is refused. A branch or loop that asks for a number reads that number, and an index
of arrays is checked against the size of its axis, as CuPy itself wraps around.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import BackendError, InputError
from ..ir.dag import Dag
from ..ir.node import Node
from ..passes.program_graph import program_graph
from .base import Compiled, OwnArrays
from .capabilities import Capabilities, check_device
from .cupy_namespace import CupyNamespace
from .op_by_op import Steps

__all__ = ["BACKEND", "CupyBackend"]

# By name, so that types are checked without CuPy, which needs CUDA.
cupy: Any = import_module("cupy")
cupyx: Any = import_module("cupyx")


class _CupyArrays(OwnArrays):
    """CuPy's arrays."""

    def holds(self, value: Any) -> bool:
        return isinstance(value, cupy.ndarray)

    def cast(self, value: Any, dtype: np.dtype[Any]) -> Any:
        with value.device:
            return value.astype(dtype)


_ARRAYS = _CupyArrays()


def _device_of(arrays: Sequence[Any], wanted: str | None) -> Any:
    """The device of all arrays; if there are none, the one that is wanted, else the current one."""
    numbers = list(dict.fromkeys(each.device.id for each in arrays))
    _, _, index = (wanted or "").partition(":")
    if len(numbers) > 1:
        raise InputError(
            f"The inputs are on several devices: {', '.join(f'cuda:{each}' for each in numbers)}.",
            mend="Move them to one, as in: with cupy.cuda.Device(0): x = cupy.array(x).",
        )
    if numbers and index and numbers[0] != int(index):
        raise InputError(
            f"The inputs are on cuda:{numbers[0]}, but the graph was lowered for {wanted}.",
            mend=f"Move them first, as in: with cupy.cuda.Device({index}): x = cupy.array(x).",
        )
    return cupy.cuda.Device(numbers[0] if numbers else int(index) if index else None)


class CupyBackend:
    """Runs graphs node by node on CuPy's arrays."""

    name = "cupy"
    namespace = CupyNamespace()
    native = (np.ndarray, cupy.ndarray)
    # CuPy computes on devices of CUDA alone: there is no "cpu" here.
    capabilities = Capabilities(devices=("cuda",))

    def compile(
        self, dag: Dag, *, numpy_out: bool | None = None, device: str | None = None
    ) -> Compiled:
        """A function that runs the kernels in the order of the graph.

        Parameters
        ----------
        dag : Dag
        numpy_out : bool, optional
            True gives NumPy arrays, False CuPy arrays. By default the results are CuPy arrays if an
            input is one.
        device : str, optional
            The device to which NumPy arrays are moved, `"cuda"` or `"cuda:1"`; CuPy arrays must lie
            there. By default the graph runs where the CuPy arrays are, and on CuPy's current device
            if there are none.
        """
        if not cupy.is_available():
            raise BackendError(
                "CuPy finds no device of CUDA here.",
                mend="Install the driver and the build of CuPy for its version of CUDA, or lower "
                "the graph to another backend.",
            )
        if device is not None:
            check_device(self.name, self.capabilities, device)
        steps = Steps(self.name, program_graph(dag), self.namespace)
        count = len(dag.inputs)
        constants: dict[int, dict[Node, Any]] = {}

        def call(*values: Any) -> Sequence[Any]:
            own = [each for each in values[:count] if _ARRAYS.holds(each)]
            as_numpy = not own if numpy_out is None else numpy_out
            sizes = dict(zip(steps.dims, values[count:], strict=True))
            # Singular matrices raise as in NumPy; CuPy by default gives any numbers for them.
            with _device_of(own, device) as here, cupyx.errstate(linalg="raise"):
                kept = constants.setdefault(here.id, {})
                given = [cupy.asarray(each) for each in values[:count]]
                results = [
                    cupy.asarray(each, dtype=node.aval.dtype)
                    for node, each in zip(dag.outputs, steps(given, sizes, kept), strict=True)
                ]
                if as_numpy:
                    return [cupy.asnumpy(each) for each in results]
                return _apart(results, [*given, *kept.values()])

        return Compiled(call, steps.source, steps.dims, own=_ARRAYS)

    def to_numpy(self, value: Any) -> np.ndarray[Any, Any]:
        return cupy.asnumpy(value)


def _apart(results: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """The results, copied where they share memory with an input or with one another."""
    seen = {each.data.mem.ptr for each in given}
    found: list[Any] = []
    for each in results:
        result = each.copy() if each.data.mem.ptr in seen else each
        seen.add(result.data.mem.ptr)
        found.append(result)
    return found


BACKEND = CupyBackend()
