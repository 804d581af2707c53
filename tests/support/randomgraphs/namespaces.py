"""Where a random program can run: each place is a pair `np, sp` of namespaces.

`np` has NumPy's names, `sp` what NumPy lacks (softmax, sigmoid, stop_gradient, ...). Heavy packages
are imported when their place is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import special

__all__ = ["AUTOGRAD", "JAX", "NUMPY", "SYMGRAPH", "TORCH"]


def _composed(
    np: Any, stop_gradient: Callable[[Any], Any], erf: Callable[[Any], Any]
) -> SimpleNamespace:
    """What NumPy lacks, written out over `np`."""

    def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        top = stop_gradient(np.max(x, axis=axis, keepdims=True))
        total = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
        return total if keepdims else np.reshape(total, np.sum(x, axis=axis).shape)

    def log_softmax(x: Any, axis: Any = -1) -> Any:
        return x - logsumexp(x, axis=axis, keepdims=True)

    return SimpleNamespace(
        logsumexp=logsumexp,
        log_softmax=log_softmax,
        softmax=lambda x, axis=-1: np.exp(log_softmax(x, axis)),
        sigmoid=lambda x: 1 / (1 + np.exp(-x)),
        softplus=lambda x: np.logaddexp(x, 0.0),
        log_sigmoid=lambda x: -np.logaddexp(-x, 0.0),
        cbrt=lambda x: np.sign(x) * np.abs(x) ** (1 / 3),
        one_hot=lambda x, size: np.eye(size)[x],
        stop_gradient=stop_gradient,
        erf=erf,
    )


class _NumPy:
    """Plain NumPy: every program runs there."""

    np = np
    sp = _composed(np, lambda x: x, special.erf)


class _Symgraph:
    """NumPy again: symbolic arrays come through its protocols."""

    np = np

    @cached_property
    def sp(self) -> Any:
        return import_module("symgraph.numpy")


class _Autograd:
    """HIPS autograd: independent of ours, on NumPy."""

    @cached_property
    def np(self) -> Any:
        return AutogradNames(import_module("autograd.numpy"))

    @cached_property
    def sp(self) -> Any:
        erf = import_module("autograd.scipy.special").erf
        return _composed(self.np, import_module("autograd.tracer").getval, erf)

    def value_and_gradients(
        self, program: Any, values: dict[str, np.ndarray[Any, Any]] | None = None
    ) -> tuple[Any, tuple[Any, ...]]:
        values = values or program.values
        autograd = import_module("autograd")
        names = list(values)
        argnum = tuple(names.index(name) for name in program.targets)

        def f(*args: Any) -> Any:
            return program.function(self.np, self.sp, *args)

        with np.errstate(all="ignore"):
            value, gradients = autograd.value_and_grad(f, argnum)(*values.values())
        return value, tuple(gradients)


class _Jax:
    """JAX in double precision where the inputs are."""

    def can_run(self, program: Any) -> bool:
        """JAX refuses lists as indices."""
        return "[[" not in program.source and ", [" not in program.source

    @cached_property
    def np(self) -> Any:
        import_module("jax").config.update("jax_enable_x64", True)
        return import_module("jax.numpy")

    @cached_property
    def sp(self) -> Any:
        erf = import_module("jax.scipy.special").erf
        return _composed(self.np, import_module("jax").lax.stop_gradient, erf)

    def value_and_gradients(
        self, program: Any, values: dict[str, np.ndarray[Any, Any]] | None = None
    ) -> tuple[Any, tuple[Any, ...]]:
        np_, sp = self.np, self.sp
        values = values or program.values
        names = list(values)
        argnum = tuple(names.index(name) for name in program.targets)

        def f(*args: Any) -> Any:
            return program.function(np_, sp, *args)

        arrays = [np_.asarray(value) for value in values.values()]
        value, gradients = import_module("jax").value_and_grad(f, argnum)(*arrays)
        return np.asarray(value), tuple(np.asarray(each) for each in gradients)


class _Torch:
    """PyTorch under NumPy's names."""

    def can_run(self, program: Any) -> bool:
        """PyTorch has no slices of negative step and no `astype`, and `.T` of matrices only."""
        return not any(each in program.source for each in ("::-1", ".T", "astype", "one_hot"))

    @cached_property
    def np(self) -> Any:
        return TorchNames(import_module("torch"))

    @cached_property
    def sp(self) -> Any:
        return _composed(self.np, lambda x: x.detach(), import_module("torch").erf)

    def value_and_gradients(
        self, program: Any, values: dict[str, np.ndarray[Any, Any]] | None = None
    ) -> tuple[Any, tuple[Any, ...]]:
        torch = import_module("torch")
        values = values or program.values
        tensors = {
            name: torch.tensor(value, requires_grad=value.dtype.kind == "f")
            for name, value in values.items()
        }
        value = program.function(self.np, self.sp, **tensors)
        targets = [tensors[name] for name in program.targets]
        gradients = torch.autograd.grad(value, targets, allow_unused=True)
        filled = [
            torch.zeros_like(target) if each is None else each
            for target, each in zip(targets, gradients, strict=True)
        ]
        return value.detach().numpy(), tuple(each.numpy() for each in filled)


def _take(x: Any, index: Any, axis: int) -> Any:
    return x[(slice(None),) * (axis % x.ndim) + (index,)]


def _number(x: Any) -> Any:
    while hasattr(x, "_value"):
        x = x._value
    return x


class AutogradNames:
    """The NumPy names that random programs use and autograd lacks, in terms of those it has."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def flip(self, x: Any, axis: tuple[int, ...]) -> Any:
        chosen = {each % x.ndim for each in axis}
        return x[tuple(slice(None, None, -1 if i in chosen else 1) for i in range(x.ndim))]

    def take(self, x: Any, index: Any, axis: int) -> Any:
        return _take(x, index, axis)

    def take_along_axis(self, x: Any, index: Any, axis: int) -> Any:
        grid = list(np.ogrid[tuple(slice(0, size) for size in index.shape)])
        grid[axis] = index
        return x[tuple(grid)]

    def argmax(self, x: Any, axis: int) -> Any:
        return np.argmax(_number(x), axis)

    def ptp(self, x: Any, axis: int) -> Any:
        return self._module.max(x, axis) - self._module.min(x, axis)

    def floor(self, x: Any) -> Any:
        return np.floor(_number(x))

    def round(self, x: Any) -> Any:
        return np.round(_number(x))

    def diag(self, x: Any) -> Any:
        return x[:, None] * np.eye(x.shape[0]) if x.ndim == 1 else self.diagonal(x)

    def broadcast_to(self, x: Any, shape: tuple[int, ...]) -> Any:
        return x * np.ones(shape)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        # autograd does not sum the gradient over what where broadcasts; addition does.
        spread = np.zeros(np.broadcast_shapes(*(np.shape(each) for each in (condition, x, y))))
        return self._module.where(condition, x + spread, y + spread)

    def outer(self, x: Any, y: Any) -> Any:
        return self._module.outer(self._module.ravel(x), self._module.ravel(y))

    def repeat(self, x: Any, repeats: int, axis: int) -> Any:
        return self._module.repeat(x, repeats, axis % x.ndim)

    def diagonal(self, x: Any) -> Any:
        along = np.arange(x.shape[0])
        return x[along, along]

    def einsum(self, subscripts: str, *operands: Any) -> Any:
        if subscripts == "ii->i":
            return self.diagonal(*operands)
        if subscripts == "ii->":
            return self._module.trace(*operands)
        return self._module.einsum(subscripts, *operands)


class TorchNames:
    """The NumPy names that random programs use, over torch tensors."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._other = {
            "negative": torch.neg,
            "arctan": torch.atan,
            "arcsin": torch.asin,
            "arccos": torch.acos,
            "arcsinh": torch.asinh,
            "arctanh": torch.atanh,
            "arccosh": torch.acosh,
            "arctan2": torch.atan2,
            "divide": torch.div,
            "subtract": torch.sub,
            "fabs": torch.abs,
            "radians": torch.deg2rad,
        }

    def __getattr__(self, name: str) -> Any:
        return self._other.get(name) or getattr(self._torch, name)

    def _tensor(self, value: Any, like: Any = None) -> Any:
        torch = self._torch
        if isinstance(value, torch.Tensor):
            return value
        return torch.tensor(value, dtype=None if like is None else like.dtype)

    def array(self, value: Any, dtype: Any = None) -> Any:
        return self._torch.tensor(value, dtype=dtype)

    def _pair(self, function: Any, x: Any, y: Any) -> Any:
        torch = self._torch
        like = x if isinstance(x, torch.Tensor) else y
        return function(self._tensor(x, like), self._tensor(y, like))

    def sqrt(self, x: Any) -> Any:
        return x**0.5 if isinstance(x, float) else self._torch.sqrt(x)

    def arange(self, size: int) -> Any:
        return self._torch.arange(size)

    def argmax(self, x: Any, axis: int) -> Any:
        return self._torch.argmax(x, dim=axis)

    def take_along_axis(self, x: Any, index: Any, axis: int) -> Any:
        return self._torch.take_along_dim(x, index, axis)

    def ptp(self, x: Any, axis: int) -> Any:
        return self._torch.amax(x, axis) - self._torch.amin(x, axis)

    def split(self, x: Any, at: list[int], axis: int) -> Any:
        return self._torch.tensor_split(x, at, dim=axis)

    def hypot(self, x: Any, y: Any) -> Any:
        return self._pair(self._torch.hypot, x, y)

    def logaddexp2(self, x: Any, y: Any) -> Any:
        return self._pair(self._torch.logaddexp2, x, y)

    def maximum(self, x: Any, y: Any) -> Any:
        return self._pair(self._torch.maximum, x, y)

    def minimum(self, x: Any, y: Any) -> Any:
        return self._pair(self._torch.minimum, x, y)

    def logaddexp(self, x: Any, y: Any) -> Any:
        return self._pair(self._torch.logaddexp, x, y)

    def power(self, x: Any, y: Any) -> Any:
        return self._torch.pow(x, y)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return self._torch.where(condition, x, y)

    def _reduce(self, name: str, x: Any, axis: Any, keepdims: bool) -> Any:
        axes = tuple(range(x.ndim)) if axis is None else axis
        if axes == ():
            return x.clone()
        return getattr(self._torch, name)(x, dim=axes, keepdim=keepdims)

    def sum(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return self._reduce("sum", x, axis, keepdims)

    def mean(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return self._reduce("mean", x, axis, keepdims)

    def max(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return self._reduce("amax", x, axis, keepdims)

    def min(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return self._reduce("amin", x, axis, keepdims)

    def prod(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        axes = range(x.ndim) if axis is None else [axis]
        for each in sorted((a % x.ndim for a in axes), reverse=True):
            x = self._torch.prod(x, dim=each, keepdim=keepdims)
        return x

    def var(self, x: Any, axis: Any = None, keepdims: bool = False, ddof: int = 0) -> Any:
        mean = self.mean(x, axis, True)
        total = self.sum((x - mean) ** 2, axis, keepdims)
        return total / (x.numel() // total.numel() - ddof)

    def std(self, x: Any, axis: Any = None, keepdims: bool = False, ddof: int = 0) -> Any:
        return self._torch.sqrt(self.var(x, axis, keepdims, ddof))

    def cumsum(self, x: Any, axis: Any = None) -> Any:
        return self._torch.cumsum(x.reshape(-1) if axis is None else x, 0 if axis is None else axis)

    def transpose(self, x: Any, axes: Any = None) -> Any:
        return x.permute(axes or tuple(reversed(range(x.ndim))))

    def expand_dims(self, x: Any, axis: int) -> Any:
        return x.unsqueeze(axis)

    def squeeze(self, x: Any, axis: Any = None) -> Any:
        return x.squeeze() if axis is None else x.squeeze(axis)

    def concatenate(self, parts: Any, axis: int = 0) -> Any:
        return self._torch.cat(tuple(parts), dim=axis)

    def stack(self, parts: Any, axis: int = 0) -> Any:
        return self._torch.stack(tuple(parts), dim=axis)

    def repeat(self, x: Any, repeats: int, axis: int) -> Any:
        return self._torch.repeat_interleave(x, repeats, dim=axis)

    def roll(self, x: Any, shift: int, axis: int) -> Any:
        return self._torch.roll(x, shift, axis)

    def clip(self, x: Any, low: Any, high: Any) -> Any:
        return self._torch.clamp(x, low, high)

    def trace(self, x: Any) -> Any:
        return self._torch.diagonal(x, 0, 0, 1).sum(-1)

    def diagonal(self, x: Any, offset: int = 0) -> Any:
        return self._torch.diagonal(x, offset, 0, 1)

    def dot(self, x: Any, y: Any) -> Any:
        return self._torch.matmul(x, y)

    def tensordot(self, x: Any, y: Any, axes: Any) -> Any:
        return self._torch.tensordot(x, y, dims=axes)

    def take(self, x: Any, index: Any, axis: int) -> Any:
        return _take(x, self._tensor(index), axis)

    def reshape(self, x: Any, shape: Any) -> Any:
        return x.reshape(shape)


NUMPY = _NumPy()
SYMGRAPH = _Symgraph()
AUTOGRAD = _Autograd()
JAX = _Jax()
TORCH = _Torch()
