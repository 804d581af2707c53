"""NumPy's names over torch, with NumPy's values where torch has others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from .composed import COMPOSED
from .standard import StandardNamespace
from .torchconvolution import TorchConvolutions

__all__ = ["TorchNamespace"]

torch: Any = import_module("torch")
compat: Any = import_module("array_api_compat.torch")


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


_CREATE = """arange as_tensor asarray bartlett_window blackman_window empty empty_strided eye full
hamming_window hann_window kaiser_window linspace logspace ones rand randint randn randperm
scalar_tensor tensor tril_indices triu_indices zeros"""
"""The functions that create tensors, not like one that they are given."""


class _Creating:
    """Torch's functions under the standard's names; those that create tensors know the device.

    A device that is set for a block of code would be cheaper to write, but torch then calls Python
    before each operation and each look at a shape or dtype.
    """

    def __init__(self, device: Any) -> None:
        for name in _CREATE.split():
            setattr(self, name, partial(getattr(compat, name), device=device))

    def __getattr__(self, name: str) -> Any:
        found = getattr(compat, name)
        setattr(self, name, found)
        return found


class TorchNamespace(TorchConvolutions):
    """Torch's functions under the standard's names, and those that the standard lacks.

    Parameters
    ----------
    device : torch.device, optional
        Where tensors are created; by default where torch creates them.
    """

    def __init__(self, device: Any = None) -> None:
        # `torch.tensor` copies: it takes read-only memory without a warning.
        put = partial(torch.tensor, device=device)
        super().__init__(_Creating(device), from_numpy=put, special=_SPECIAL)

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


_SPECIAL = _TorchSpecial()
