"""The torch backend: the kernels in torch's array namespace, one by one, where the inputs are.

If an input is a tensor, the results are tensors on its device; if all inputs are NumPy arrays, the
results are NumPy arrays. An operation that torch lacks is refused, and no tensor of another device
is copied to the host: functions of SciPy that torch lacks run on tensors of the CPU only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import InputError
from ..ir.body import has_custom
from ..ir.dag import Dag
from ..ir.node import Node
from ..passes.program_graph import program_graph
from .base import Compiled, OwnArrays
from .capabilities import Capabilities, check_device, check_dtypes
from .op_by_op import Steps
from .standard import StandardBackend
from .torch_compile import Compilations
from .torch_namespace import TorchNamespace

__all__ = ["BACKEND", "TorchBackend"]

# By name, so that types are checked without torch, which is large.
torch: Any = import_module("torch")


@cache
def _numpy_dtype(dtype: Any) -> np.dtype[Any]:
    try:
        return np.dtype(str(dtype).removeprefix("torch."))
    except TypeError:
        raise InputError(
            f"A tensor has dtype {dtype}, which graphs do not have.",
            mend="Convert it first, as in tensor.to(torch.float32).",
        ) from None


class _TorchArrays(OwnArrays):
    """Torch's tensors."""

    def holds(self, value: Any) -> bool:
        return isinstance(value, torch.Tensor)

    def dtype_of(self, value: Any) -> np.dtype[Any]:
        return _numpy_dtype(value.dtype)

    def cast(self, value: Any, dtype: np.dtype[Any]) -> Any:
        return value.to(getattr(torch, dtype.name))


_ARRAYS = _TorchArrays()


_LACKING = {"mps": frozenset(["float64"])}
"""The dtypes that kinds of devices lack; Apple's GPUs have no double precision."""


def _device_of(tensors: Sequence[Any], wanted: str | None) -> Any:
    """The device of all tensors; if there are none, the one that is wanted, else the CPU."""
    devices = list(dict.fromkeys(each.device for each in tensors))
    if len(devices) > 1:
        raise InputError(
            f"The inputs are on several devices: {', '.join(map(str, devices))}.",
            mend="Move them to one, as in tensor.to(device).",
        )
    if not devices:
        return torch.empty(0, device=wanted or "cpu").device  # with the number of a GPU
    here = torch.device(wanted or "cpu")
    if wanted and (devices[0].type != here.type or here.index not in (None, devices[0].index)):
        raise InputError(
            f"The inputs are on {devices[0]}, but the graph was lowered for {wanted}.",
            mend="Move them first, as in tensor.to(device).",
        )
    return devices[0]


class _Program:
    """A graph on one device, where it keeps its constants.

    Parameters
    ----------
    dag : Dag
    namespace : TorchNamespace
        Creates tensors on the device.
    steps : Steps
        Of kernels in the namespace.
    how : str, optional
        The backend of `torch.compile`; if there is none, kernels run one by one.
    """

    def __init__(self, dag: Dag, namespace: TorchNamespace, steps: Steps, how: str | None) -> None:
        self.namespace = namespace
        self.steps = steps
        self.constants: dict[Node, Any] = {}
        self._dtypes = [namespace.own_dtype(node.aval.dtype) for node in dag.outputs]
        self._compiled = None if how is None else Compilations(self._run, how)

    def results(self, given: Sequence[Any], sizes: Mapping[str, int]) -> list[Any]:
        """A tensor of the declared dtype for each output."""
        if self._compiled is not None:
            return self._compiled(given, sizes)
        return self._run(given, sizes, self.constants if _may_keep(given) else None)

    def _run(
        self,
        given: Sequence[Any],
        sizes: Mapping[str, int],
        kept: dict[Node, Any] | None = None,
    ) -> list[Any]:
        results = zip(self.steps(given, sizes, kept), self._dtypes, strict=True)
        create = self.namespace.module.as_tensor
        return [
            each.to(dtype) if isinstance(each, torch.Tensor) else create(each, dtype=dtype)
            for each, dtype in results
        ]


class TorchBackend(StandardBackend):
    """Runs graphs node by node on torch's tensors, or compiles them by `torch.compile`."""

    own = _ARRAYS

    @property
    def capabilities(self) -> Capabilities:
        """Torch's dtypes, and the devices that its build has here."""
        devices = ["cpu"]
        if torch.accelerator.is_available():
            devices.append(torch.accelerator.current_accelerator().type)
        return Capabilities(self.namespace.dtypes, tuple(devices), _LACKING)

    def compile(
        self,
        dag: Dag,
        *,
        numpy_out: bool | None = None,
        device: str | None = None,
        compile: bool | str = False,
    ) -> Compiled:
        """A function that runs the kernels in the order of the graph.

        Parameters
        ----------
        dag : Dag
        numpy_out : bool, optional
            True gives NumPy arrays, False tensors. By default the results are tensors if an input
            is one.
        device : str, optional
            The device to which NumPy arrays are moved, such as `"cuda"`; tensors must lie there. By
            default the graph runs where the tensors are, and on the CPU if there are none.
        compile : bool or str
            True compiles by `torch.compile`, once for each size of the inputs; a text names its
            backend. The default one needs a C++ compiler on the CPU.
        """
        if device is not None:
            check_device(self.name, self.capabilities, device)
        ran, count = program_graph(dag), len(dag.inputs)
        how = "inductor" if compile is True else compile or None

        @cache
        def program_on(here: Any) -> _Program:
            namespace = TorchNamespace(here)
            return _Program(dag, namespace, self._steps(ran, namespace), how)

        first = program_on(torch.device(device or "cpu")).steps
        foreign = has_custom(ran)

        def call(*values: Any) -> Sequence[Any]:
            tensors = [each for each in values[:count] if _ARRAYS.holds(each)]
            as_numpy = not tensors if numpy_out is None else numpy_out
            sizes = dict(zip(first.dims, values[count:], strict=True))
            here = _device_of(tensors, device)
            if here.type in _LACKING:
                check_dtypes(dag, self.name, self.capabilities, here.type)
            program = program_on(here)
            given = [
                each if _ARRAYS.holds(each) else program.namespace.from_numpy(each)
                for each in values[:count]
            ]
            with _creating_on(here) if foreign else _NOTHING:
                results = program.results(given, sizes)
            if as_numpy:
                return [
                    self._result(node, each.detach().cpu())
                    for node, each in zip(dag.outputs, results, strict=True)
                ]
            return _apart(results, [*given, *program.constants.values()])

        return Compiled(call, first.source, first.dims, own=_ARRAYS)

    def to_numpy(self, value: Any) -> np.ndarray[Any, Any]:
        if isinstance(value, torch.Tensor):
            return np.array(value.detach().cpu().numpy())
        return np.asarray(value)


_NOTHING = nullcontext()


def _creating_on(device: Any) -> AbstractContextManager[Any]:
    """Put arrays that a user's kernel creates on the device; torch asks Python at each call."""
    return _NOTHING if device == torch.get_default_device() else device


def _may_keep(given: Sequence[Any]) -> bool:
    """Whether values made beside these tensors may be used in other calls.

    Not what torch makes inside its transformations, in inference mode, or while it is traced.
    """
    if torch._C._are_functorch_transforms_active() or torch.compiler.is_compiling():
        return False
    return not torch.is_inference_mode_enabled() and all(type(x) is torch.Tensor for x in given)


def _apart(results: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """The results, copied where they share memory with an input or with one another."""
    if torch._C._are_functorch_transforms_active():
        return [each.clone() for each in results]  # Such tensors do not tell where they lie.
    seen = {each.untyped_storage().data_ptr() for each in given}
    found: list[Any] = []
    for each in results:
        result = each.clone() if each.untyped_storage().data_ptr() in seen else each
        seen.add(result.untyped_storage().data_ptr())
        found.append(result)
    return found


BACKEND = TorchBackend("torch", TorchNamespace())
