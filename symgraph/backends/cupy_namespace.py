"""NumPy's names over CuPy, with NumPy's values where CuPy has others.

CuPy wraps indices that are out of range, writes at repeated indices in any order, and adds at
indices in few dtypes; here they mean what they mean in NumPy. Special functions are CuPy's own.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import BackendError, InputError
from ..namespace import Namespace

__all__ = ["CupyNamespace"]

cupy: Any = import_module("cupy")


def _on_host_alone(name: str) -> BackendError:
    return BackendError(
        f"CuPy has no {name}, and SciPy would compute it on the host.",
        mend='Lower the graph to "numpy", or give it to "jax" with host=True.',
    )


class _CupySpecial:
    """CuPy's special functions under SciPy's names."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module("cupyx.scipy.special"), name, None)
        if found is None:
            raise _on_host_alone(name)
        return found

    def polygamma(self, n: int, x: Any) -> Any:
        """CuPy's own takes arrays of orders alone."""
        return import_module("cupyx.scipy.special").polygamma(cupy.asarray(n), x)


class _Running:
    """A ufunc whose `accumulate` runs on the device."""

    def __init__(self, name: str) -> None:
        self._function: Callable[..., Any] = getattr(cupy, name)

    def __call__(self, *operands: Any) -> Any:
        return self._function(*operands)

    def accumulate(self, x: Any, axis: int) -> Any:
        """Running results in as many steps as the length has bits (Hillis and Steele 1986)."""
        found = cupy.moveaxis(x, axis, -1)
        step = 1
        while step < found.shape[-1]:
            joined = self._function(found[..., :-step], found[..., step:])
            found = cupy.concatenate((found[..., :step], joined), axis=-1)
            step *= 2
        return cupy.moveaxis(found, -1, axis)


class CupyNamespace(Namespace):
    """CuPy's functions, and replacements for those that it lacks or that differ."""

    solvers = "cupyx.scipy.linalg"
    few_rows = 0  # All rows are computed on the device.

    def __init__(self) -> None:
        super().__init__("cupy", "cupyx.scipy.special")
        for name in ("maximum", "minimum", "logaddexp"):
            setattr(self, name, _Running(name))

    @property
    def special(self) -> Any:
        return _SPECIAL

    def max(self, x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
        """As NumPy's, of which CuPy lacks `initial`."""
        if initial is None:
            return cupy.max(x, axis=axis, keepdims=keepdims)
        if not x.size:
            shape = np.sum(np.zeros(x.shape), axis=axis, keepdims=keepdims).shape
            return cupy.full(shape, initial, dtype=x.dtype)
        return cupy.maximum(cupy.max(x, axis=axis, keepdims=keepdims), initial)

    def convolve(self, x: Any, v: Any, mode: str) -> Any:
        """By products: the Fourier transforms of CuPy's own lose the digits of small results."""
        if x.size < v.size:
            x, v = v, x
        rest = v.size - 1
        sides = {"full": (rest, rest), "same": ((rest + 1) // 2, rest // 2), "valid": (0, 0)}[mode]
        return self.windows(cupy.pad(x, sides), (v.size,), (1,), (1,)) @ v[::-1]

    def argsort(self, x: Any, axis: int, stable: bool) -> Any:
        return cupy.argsort(x, axis=axis, kind="stable" if stable else None)

    def expm(self, x: Any) -> Any:
        """CuPy's own takes one matrix."""
        if not x.size:
            return x.copy()
        matrices = x.reshape(-1, *x.shape[-2:])
        expm = import_module(self.solvers).expm
        return cupy.stack([expm(each) for each in matrices]).reshape(x.shape)

    def on_host(
        self, name: str, function: Callable[..., Any], shape: tuple[int, ...], *operands: Any
    ) -> Any:
        raise _on_host_alone(name)

    def getitem(self, x: Any, index: Any) -> Any:
        _check_places(x.shape, index)
        return x[index]

    def scatter_add(self, x: Any, index: tuple[Any, ...], values: Any) -> Any:
        """CUDA adds numbers of 64 bits without sign: the same bits as with a sign."""
        _check_places(x.shape, index)
        if x.dtype.kind == "f":
            return super().scatter_add(x, index, values)
        whole = super().scatter_add(
            x.astype("uint64"), index, cupy.asarray(values).astype("uint64")
        )
        return whole.astype(x.dtype)

    def scatter_set(self, x: Any, index: tuple[Any, ...], values: Any) -> Any:
        """Of values for one place the last one stays; CuPy alone leaves any of them."""
        _check_places(x.shape, index)
        places = cupy.arange(x.size).reshape(x.shape)[index]
        order = cupy.arange(1, places.size + 1, dtype="uint64").reshape(places.shape)
        latest = cupy.zeros(x.size, dtype="uint64")
        cupy.maximum.at(latest, places, order)
        chosen = latest[places].astype("int64") - 1
        result = x.flatten()
        result[places] = cupy.broadcast_to(cupy.asarray(values), places.shape).ravel()[chosen]
        return result.reshape(x.shape)


def _check_places(shape: tuple[int, ...], index: Any) -> None:
    """Refuse places beyond the ends of an axis, which CuPy would wrap around."""
    parts: tuple[Any, ...] = index if isinstance(index, tuple) else (index,)
    dots = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    for i, part in enumerate(parts):
        if not hasattr(part, "shape") or not part.size:
            continue
        axis = i if i < dots else i - len(parts)
        size = shape[axis]
        beyond = (part >= size) | (part < -size) if part.dtype.kind == "i" else part >= size
        if bool(beyond.any()):
            raise InputError(
                f"An index is out of bounds for axis {axis % len(shape)} with size {size}: "
                f"{int(part[beyond][0])}.",
                mend="Pass indices from -size to size - 1.",
            )


_SPECIAL = _CupySpecial()
