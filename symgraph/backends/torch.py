"""The torch backend: the kernels in torch's array namespace, one by one, where the inputs are.

If an input is a tensor, the results are tensors on its device; if all inputs are NumPy arrays, the
results are NumPy arrays. An operation that torch lacks is refused, and no tensor of another device
is copied to the host: functions of SciPy that torch lacks run on tensors of the CPU only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import InputError
from ..ir.dag import Dag
from ..ir.node import Node
from .base import Compiled, OwnArrays
from .capabilities import Capabilities, check_device, check_dtypes
from .composed import COMPOSED
from .standard import StandardBackend, StandardNamespace
from .torchcompile import Compilations
from .torchconvolution import TorchConvolutions

__all__ = ["BACKEND", "TorchBackend"]

# By name, so that types are checked without torch, which is large.
torch: Any = import_module("torch")
compat: Any = import_module("array_api_compat.torch")


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
    here = torch.device(wanted or "cpu")
    if not devices:
        return here
    if wanted and (devices[0].type != here.type or here.index not in (None, devices[0].index)):
        raise InputError(
            f"The inputs are on {devices[0]}, but the graph was lowered for {wanted}.",
            mend="Move them first, as in tensor.to(device).",
        )
    return devices[0]


def _of_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """A special function, for half precision by way of single precision, as in SciPy."""

    def compute(x: Any) -> Any:
        return function(x.float()).half() if x.dtype == torch.float16 else function(x)

    return compute


class _TorchSpecial:
    """Torch's special functions under SciPy's names: those that have SciPy's values and digits."""

    def __init__(self) -> None:
        names = "digamma entr erf erfc erfcx erfinv expit i0 i0e i1 i1e log_ndtr logit ndtri psi"
        for name in names.split():
            setattr(self, name, _of_floats(getattr(torch.special, name)))

    @staticmethod
    @_of_floats
    def gammaln(x: Any) -> Any:
        """SciPy gives -inf at minus infinity."""
        return torch.where(x == -np.inf, x, torch.special.gammaln(x))

    @staticmethod
    @_of_floats
    def log_expit(x: Any) -> Any:
        return torch.nn.functional.logsigmoid(x)

    @staticmethod
    @_of_floats
    def ndtr(x: Any) -> Any:
        """Torch's own has no digits left for numbers below -5."""
        return torch.special.erfc(x * -(0.5**0.5)) / 2


def _without_zeros(name: str) -> Callable[..., Any]:
    """A function of integers that is 0 where NumPy divides by 0, and torch raises an error."""

    def compute(names: StandardNamespace, x: Any, y: Any) -> Any:
        x, y = names.own(x), names.own(y)
        function = getattr(torch, name)
        if not isinstance(y, torch.Tensor) or y.dtype.is_floating_point:
            return function(x, y)
        if isinstance(x, torch.Tensor) and x.dtype.is_floating_point:
            return function(x, y)
        return torch.where(y == 0, 0, function(x, torch.where(y == 0, 1, y)))

    return compute


class _TorchNamespace(TorchConvolutions):
    """Torch's functions under the standard's names, and those that the standard lacks."""

    floor_divide = _without_zeros("floor_divide")
    remainder = _without_zeros("remainder")
    fmod = _without_zeros("fmod")

    def ldexp(self, x: Any, exponent: Any) -> Any:
        """Torch's own resizes its result where the operands broadcast, and warns."""
        return torch.ldexp(*torch.broadcast_tensors(self.own(x), self.own(exponent)))

    def expm(self, x: Any) -> Any:
        return torch.linalg.matrix_exp(x)

    def einsum(self, subscripts: str, *operands: Any, **optimize: Any) -> Any:
        """By torch's products where they have the dtype: those of whole numbers are few."""
        if operands[0].dtype.is_floating_point:
            return torch.einsum(subscripts.replace(" ", ""), *operands)
        return COMPOSED["einsum"](self, subscripts, *operands, **optimize)

    def getitem(self, x: Any, index: Any) -> Any:
        """A view where torch has one; it has none for negative steps."""
        return x[index] if _is_view(index) else super().getitem(x, index)

    def scatter_add(self, x: Any, index: tuple[Any, ...], values: Any) -> Any:
        values = self.asarray(values).to(x.dtype)
        if _is_view(index):
            result = x.clone()
            result[index] += values
            return result
        places, _ = self._places(x.shape, index)
        flat = torch.broadcast_to(values, places.shape).reshape(-1)
        return torch.index_add(x.reshape(-1), 0, places.reshape(-1), flat).reshape(x.shape)

    def scatter_set(self, x: Any, index: tuple[Any, ...], values: Any) -> Any:
        if not _is_view(index):
            return super().scatter_set(x, index, values)
        result = x.clone()
        result[index] = self.asarray(values).to(x.dtype)
        return result


def _is_view(index: Any) -> bool:
    """Whether an index has only numbers, new axes and slices that go forward."""
    parts: Sequence[Any] = index if isinstance(index, tuple) else (index,)
    return all(
        part is None
        or part is Ellipsis
        or isinstance(part, int)
        or (isinstance(part, slice) and (part.step is None or part.step > 0))
        for part in parts
    )


class TorchBackend(StandardBackend):
    """Runs graphs node by node on torch's tensors, or compiles them by `torch.compile`."""

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
        steps = self._steps(dag)
        count = len(dag.inputs)
        if device is not None:
            check_device(self.name, self.capabilities, device)

        constants: dict[Any, dict[Node, Any]] = {}

        def program(
            given: Sequence[Any], sizes: Mapping[str, int], kept: dict[Node, Any] | None = None
        ) -> list[Any]:
            results = steps(given, sizes, kept)
            return [self._tensor(*each) for each in zip(dag.outputs, results, strict=True)]

        compiled: Compilations | None = None
        if compile:
            compiled = Compilations(program, "inductor" if compile is True else compile)

        def call(*values: Any) -> Sequence[Any]:
            tensors = [each for each in values[:count] if _ARRAYS.holds(each)]
            as_numpy = not tensors if numpy_out is None else numpy_out
            sizes = dict(zip(steps.dims, values[count:], strict=True))
            here = _device_of(tensors, device)
            if here.type in _LACKING:
                check_dtypes(dag, self.name, self.capabilities, here.type)
            with _creating_on(here):
                given = [
                    each if _ARRAYS.holds(each) else self.namespace.from_numpy(each)
                    for each in values[:count]
                ]
                kept = constants.setdefault(here, {}) if _may_keep(given) else None
                if compiled is not None:
                    results = compiled(given, sizes)
                else:
                    results = program(given, sizes, kept)
                if as_numpy:
                    return [
                        self._result(node, each.detach().cpu())
                        for node, each in zip(dag.outputs, results, strict=True)
                    ]
                return _apart(results, [*given, *(kept or {}).values()])

        return Compiled(call, steps.source, steps.dims, own=_ARRAYS)

    def _tensor(self, node: Node, value: Any) -> Any:
        """A result as a tensor of the declared dtype."""
        return torch.as_tensor(value, dtype=self.namespace.own_dtype(node.aval.dtype))

    def to_numpy(self, value: Any) -> np.ndarray[Any, Any]:
        if isinstance(value, torch.Tensor):
            return np.array(value.detach().cpu().numpy())
        return np.asarray(value)


def _creating_on(device: Any) -> AbstractContextManager[Any]:
    """What kernels create is on the device; torch then looks at each call, so only if need be."""
    return nullcontext() if device == torch.get_default_device() else device


def _may_keep(given: Sequence[Any]) -> bool:
    """Whether what is made beside these tensors may serve other calls.

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


def _from_numpy(x: np.ndarray[Any, Any]) -> Any:
    # `torch.tensor` copies: it takes read-only memory without a warning.
    return torch.tensor(x)


BACKEND = TorchBackend(
    "torch", _TorchNamespace(compat, from_numpy=_from_numpy, special=_TorchSpecial())
)
