"""Products, variances and polynomials of complex arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import FUNCTIONS, NUMPY_FUNCTIONS
from ..ir.avals import normal_axis
from .arithmetic import multiplied, plus
from .handle import COMPLEX_FUNCTIONS, Operand, as_complex, refused

__all__: list[str] = []


def _prod(
    z: Operand, axis: Operand = None, dtype: None = None, out: None = None, keepdims: bool = False
) -> Any:
    """The product, of two halves each time."""
    axes = range(z.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    along = [normal_axis(each, z.ndim) + z.ndim for each in axes]
    for each in along:
        z = _prod_along(z, each)
    return z if keepdims else z[tuple([0 if i in along else slice(None) for i in range(z.ndim)])]


def _prod_along(z: Operand, axis: int) -> Any:
    size = _size(z, axis, "np.prod")
    if size == 0:
        shape = [1 if i == axis % z.ndim else n for i, n in enumerate(z.shape)]
        return np.ones_like(np.broadcast_to(np.sum(z, axis, keepdims=True), shape))
    while size > 1:
        half = size // 2
        found = multiplied(_cut(z, axis, 0, half), _cut(z, axis, half, 2 * half))
        odd = [_cut(z, axis, size - 1, size)] if size % 2 else []
        z, size = np.concatenate([found, *odd], axis=axis) if odd else found, half + size % 2
    return z


def _cumprod(z: Operand, axis: Operand = None, dtype: None = None, out: None = None) -> Any:
    if axis is None:
        z, axis = np.ravel(z), 0
    axis = normal_axis(axis, z.ndim) + z.ndim
    size = _size(z, axis, "np.cumprod")
    found = [_cut(z, axis, 0, 1)] if size else []
    for i in range(1, size):
        found.append(multiplied(found[-1], _cut(z, axis, i, i + 1)))
    return np.concatenate(found, axis=axis) if size else z


def _size(z: Operand, axis: int, name: str) -> int:
    size = z.shape[axis]
    if not isinstance(size, int):
        raise refused(f"{name} along an axis of {size}", "Trace with fixed sizes.")
    return size


def _cut(z: Operand, axis: int, start: int, stop: int) -> Any:
    return z[(*[slice(None)] * (axis % z.ndim), slice(start, stop))]


def _var(z: Operand, *args: Operand, **kwargs: Operand) -> Any:
    """That of the real parts and that of the imaginary parts."""
    parts = [each for each in as_complex(z) if each is not None]
    found = [NUMPY_FUNCTIONS[np.var](each, *args, **kwargs) for each in parts]
    return plus(found[0], found[1] if len(found) > 1 else None)


def _std(z: Operand, *args: Operand, **kwargs: Operand) -> Any:
    return FUNCTIONS["sqrt"](_var(z, *args, **kwargs))


def _polyval(p: Operand, x: Operand) -> Any:
    """By Horner's scheme, as NumPy."""
    value: Any = 0.0
    for i in range(_size(p, 0, "np.polyval") if hasattr(p, "shape") else len(p)):
        value = value * x + p[i]
    return value


COMPLEX_FUNCTIONS.update(
    {np.prod: _prod, np.cumprod: _cumprod, np.var: _var, np.std: _std, np.polyval: _polyval}
)
