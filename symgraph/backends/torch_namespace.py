"""NumPy's names over torch, with NumPy's values where torch has others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from .composed import COMPOSED, accumulated
from .standard import StandardNamespace
from .torch_convolution import TorchConvolutions

__all__ = ["TorchNamespace"]

torch: Any = import_module("torch")
compat: Any = import_module("array_api_compat.torch")


def _of_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """A special function, for half precision by way of single precision, as in SciPy."""

    def compute(x: Any) -> Any:
        return function(x.float()).half() if x.dtype == torch.float16 else function(x)

    return compute


class _TorchSpecial:
    """Torch's special functions under SciPy's names, if they have SciPy's values and digits."""

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


_CREATE = """arange as_tensor bartlett_window blackman_window empty empty_strided eye full
hamming_window hann_window kaiser_window linspace logspace ones rand randint randn randperm
scalar_tensor tensor tril_indices triu_indices zeros"""
"""The functions that create tensors, not like one that they are given."""


_UNFILLED = (torch.uint16, torch.uint32, torch.uint64)
"""Dtypes with which few of torch's functions compute."""


class _Creating:
    """Torch's functions under the standard's names; those that create tensors know the device.

    A device that is set for a block of code would be cheaper to write, but torch then calls Python
    before each operation and each look at a shape or dtype.
    """

    def __init__(self, device: Any) -> None:
        self._device = device
        for name in _CREATE.split():
            setattr(self, name, partial(getattr(compat, name), device=device))

    def __getattr__(self, name: str) -> Any:
        found = getattr(compat, name)
        setattr(self, name, found)
        return found

    def asarray(self, x: Any, dtype: Any = None, **options: Any) -> Any:
        """Of a number the tensor is filled on the device: to move it there waits for the device."""
        if type(x) in (bool, int, float) and dtype not in _UNFILLED:
            return torch.full((), x, dtype=dtype, device=self._device)
        return compat.asarray(x, dtype=dtype, device=self._device, **options)

    def of_numpy(self, x: np.ndarray[Any, Any]) -> Any:
        """A copy of the array; of one number it is filled."""
        if x.size == 1 and x.dtype.kind in "bif":
            dtype = getattr(torch, x.dtype.name)
            return torch.full(x.shape, x.item(), dtype=dtype, device=self._device)
        # `torch.tensor` copies: it takes read-only memory without a warning.
        return torch.tensor(x, device=self._device)


_FILLED = "arctan2 hypot logaddexp maximum minimum"
_PAIRS = f"""add copysign divide equal greater greater_equal less less_equal matmul multiply
not_equal power subtract {_FILLED}"""
"""Functions of two tensors; torch takes the second as a Python number too, except in the last."""

_NAMED = {"arctan2": "atan2", "equal": "eq", "power": "pow"}


class _Pairs:
    """A function of two tensors: torch's own for numbers of one dtype, else the standard's.

    A Python number that torch would only take as a tensor becomes one on the device.
    """

    __slots__ = ("_fills", "_general", "_names", "_own")

    def __init__(self, names: StandardNamespace, name: str, fills: bool) -> None:
        self._names = names
        self._own = getattr(torch, _NAMED.get(name, name))
        self._general: Callable[..., Any] = names.__getattr__(name)
        self._fills = fills

    def __call__(self, x: Any, y: Any) -> Any:
        if isinstance(x, torch.Tensor):
            if isinstance(y, torch.Tensor):
                dtype = x.dtype
                if dtype is y.dtype and dtype is not torch.bool:
                    return self._own(x, y)
            elif self._fills and isinstance(y, (int, float)):
                return self._general(x, _filled(y, x))
        elif self._fills and isinstance(x, (int, float)) and isinstance(y, torch.Tensor):
            return self._general(_filled(x, y), y)
        return self._general(x, y)

    def accumulate(self, x: Any, axis: int) -> Any:
        """The running results along an axis, as of NumPy's ufuncs."""
        return accumulated(self._names, self, x, axis)


def _filled(number: Any, like: Any) -> Any:
    """The number as a tensor beside another, of the dtype of the result."""
    dtype = compat.result_type(number, like)
    return torch.full((), number, dtype=dtype, device=like.device)


class TorchNamespace(TorchConvolutions):
    """Torch's functions under the standard's names, and those that the standard lacks.

    Parameters
    ----------
    device : torch.device, optional
        Where tensors are created; by default where torch creates them.
    """

    def __init__(self, device: Any = None) -> None:
        module = _Creating(device)
        super().__init__(module, from_numpy=module.of_numpy, special=_SPECIAL)
        for name in _PAIRS.split():
            setattr(self, name, _Pairs(self, name, name in _FILLED.split()))

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

    def sign(self, x: Any) -> Any:
        """Torch's own is 0 at NaN; NaN written at a mask would wait for the device."""
        found = torch.sign(x)
        return torch.where(torch.isnan(x), np.nan, found) if x.is_floating_point() else found

    def getitem(self, x: Any, index: Any) -> Any:
        if not _is_basic(index):
            return super().getitem(x, index)
        forward, turned = _forward(x.shape, index)
        return torch.flip(x[forward], turned) if turned else x[forward]

    def scatter_add(self, x: Any, index: tuple[Any, ...], values: Any) -> Any:
        values = self.asarray(values).to(x.dtype)
        if _is_basic(index):
            result = x.clone()
            forward, turned = _forward(x.shape, index)
            result[forward] += _turned(values, turned)
            return result
        places, _ = self._places(x.shape, index)
        flat = torch.broadcast_to(values, places.shape).reshape(-1)
        return torch.index_add(x.reshape(-1), 0, places.reshape(-1), flat).reshape(x.shape)

    def scatter_set(self, x: Any, index: tuple[Any, ...], values: Any) -> Any:
        if not _is_basic(index):
            return super().scatter_set(x, index, values)
        result = x.clone()
        forward, turned = _forward(x.shape, index)
        result[forward] = _turned(self.asarray(values).to(x.dtype), turned)
        return result


def _is_basic(index: Any) -> bool:
    """Whether an index has only numbers, new axes and slices."""
    parts: Sequence[Any] = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is Ellipsis or isinstance(part, (int, slice)) for part in parts)


def _forward(shape: Sequence[int], index: Any) -> tuple[Any, list[int]]:
    """The index with slices that go forward, which torch has as views, and the axes to turn then.

    Axes are those of the result, counted from its end.
    """
    parts: Sequence[Any] = index if isinstance(index, tuple) else (index,)
    if all(not isinstance(part, slice) or (part.step or 1) > 0 for part in parts):
        return index, []
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    taken = sum(isinstance(part, (int, slice)) for part in parts)
    whole = [slice(None)] * (len(shape) - taken)
    sizes = iter(shape)
    forward, turned = list[Any](), list[int]()
    for part in [*parts[:at], *whole, *parts[at + 1 :]]:
        row = None if part is None else range(next(sizes))[part]
        if isinstance(row, range) and row.step < 0:
            turned.append(sum(not isinstance(each, int) for each in forward))
            part = slice(row[-1], row[0] + 1, -row.step) if row else slice(0)
        forward.append(part)
    count = sum(not isinstance(each, int) for each in forward)
    return tuple(forward), [axis - count for axis in turned]


def _turned(values: Any, axes: Sequence[int]) -> Any:
    """Values that are broadcast to a result, some of whose axes are turned."""
    own = [axis for axis in axes if axis + values.ndim >= 0]
    return torch.flip(values, own) if own else values


_SPECIAL = _TorchSpecial()
