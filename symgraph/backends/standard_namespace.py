"""NumPy's names over a namespace of the Python array API standard.

Kernels use NumPy's names. Names that the standard spells otherwise are translated, and functions
that it lacks are composed from its own. Nothing is written in place, and no dtype is promoted
beyond the standard's rules. Any other name is refused with an error that names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..errors import BackendError
from ..namespace import NUMPY, Namespace
from ..namespace import windows as _windows
from .capabilities import DTYPES
from .composed import COMPOSED, RENAMED, accumulated, truth
from .standard_indexing import IndexedByPlaces

__all__ = ["StandardNamespace"]

_SCALARS = (bool, int, float)


class StandardNamespace(IndexedByPlaces, Namespace):
    """The namespace for kernels, over a module that follows the standard.

    Parameters
    ----------
    module : module
        Such as `array_api_strict`, or `array_api_compat.torch`.
    to_numpy, from_numpy : callable, optional
        Convert the module's arrays to NumPy's and back; by default `numpy.asarray` and the module's
        `asarray`.
    special : module, optional
        Has special functions of the module's arrays under SciPy's names. SciPy computes a function
        that it lacks on the host; by default, all of them.
    """

    def __init__(
        self,
        module: Any,
        *,
        to_numpy: Callable[[Any], Any] = np.asarray,
        from_numpy: Callable[[Any], Any] | None = None,
        special: Any = None,
    ) -> None:
        self.module = module
        self._to_numpy = to_numpy
        self._from_numpy = from_numpy or module.asarray
        self.own_special = special
        self.as_they_are: set[type] = set()
        self._own_dtypes: dict[Any, Any] = {}

    # -- arrays and dtypes -------------------------------------------------------------------------
    def to_numpy(self, x: Any) -> np.ndarray[Any, Any]:
        return np.asarray(self._to_numpy(x))

    def from_numpy(self, x: Any) -> Any:
        x = np.array(x, order="C")  # a copy by rows: torch reads no negative strides
        self.own_dtype(x.dtype)
        if self.lacks(x.dtype):
            x = x.astype("float32")
        return self._from_numpy(x)

    def own_dtype(self, dtype: Any) -> Any:
        """The module's dtype with the same name as NumPy's.

        Raises
        ------
        BackendError
            If the module has no dtype of that name.
        """
        known = self._own_dtypes.get(dtype)
        if known is not None:
            return known
        name = np.dtype(dtype).name
        # NumPy computes half precision in single precision, too.
        kept = "float32" if self.lacks(dtype) and name == "float16" else name
        found = getattr(self.module, kept, None)
        if found is None:
            raise BackendError(
                f"{self.module.__name__} has no dtype {name}.",
                mend="Cast to a dtype that it has, or lower the graph to another backend.",
            )
        self._own_dtypes[dtype] = found
        return found

    @property
    def dtypes(self) -> frozenset[str]:
        """The dtypes in which it computes; half precision in a wider one if need be."""
        own = [name for name in DTYPES if not self.lacks(name)]
        return frozenset([*own, *(["float16"] if "float32" in own else [])])

    def lacks(self, dtype: Any) -> bool:
        """Whether the module has no dtype of that name."""
        return getattr(self.module, np.dtype(dtype).name, None) is None

    def dtype_of(self, x: Any) -> np.dtype[Any]:
        return np.dtype(next(name for name in DTYPES if getattr(self.module, name, 0) == x.dtype))

    def own(self, value: Any) -> Any:
        if isinstance(value, (np.ndarray, np.generic)):
            return self.from_numpy(value)
        if isinstance(value, np.dtype) or (isinstance(value, type) and value not in (tuple, list)):
            return self.own_dtype(value)
        if isinstance(value, (tuple, list)):
            return type(value)([self.own(each) for each in value])
        if not isinstance(value, type):
            self.as_they_are.add(type(value))
        return value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "module":
            raise AttributeError(name)
        found = getattr(self.module, RENAMED.get(name, name), None)
        if name in COMPOSED:
            found = partial(COMPOSED[name], self)
        if found is None:
            raise BackendError(
                f"{self.module.__name__} has no {name}, and nothing in the standard replaces it.",
                mend="Add a method of that name to the namespace of the backend.",
            )
        value = _Translated(self, found) if callable(found) else found
        setattr(self, name, value)
        return value

    @property
    def special(self) -> Any:
        return _Special(self)

    @property
    def linalg(self) -> Any:
        return _Linalg(self)

    def astype(self, x: Any, dtype: Any) -> Any:
        dtype = self.own_dtype(dtype) if _is_numpy_dtype(dtype) else dtype
        return self.module.astype(x, dtype, copy=False)

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        dtype = self.own_dtype(dtype) if _is_numpy_dtype(dtype) else dtype
        if isinstance(x, (np.ndarray, np.generic)):
            x = self.from_numpy(x)
        if isinstance(x, _SCALARS) or dtype is None:
            return self.module.asarray(x, dtype=dtype)
        return self.module.astype(x, dtype, copy=False)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        """As in the standard, but also for two numbers, which it refuses."""
        if isinstance(x, _SCALARS) and isinstance(y, _SCALARS):
            x = self.asarray(np.result_type(x, y).type(x))
        return self.module.where(truth(self, condition), self.own(x), self.own(y))

    # -- functions that other namespaces compute in place ------------------------------------------
    def linear_recurrence(self, a: Any, b: Any) -> Any:
        a, b = self.module.broadcast_arrays(a, b)
        found: list[Any] = []
        for k in range(b.shape[-1]):
            found.append(a[..., k] * found[-1] + b[..., k] if found else b[..., k])
        return self.module.stack(found, axis=-1) if found else b

    def solve_triangular(
        self, a: Any, b: Any, *, lower: bool, trans: int, unit_diagonal: bool
    ) -> Any:
        xp = self.module
        a = xp.tril(a) if lower else xp.triu(a)
        if unit_diagonal:
            one = xp.eye(a.shape[-1], dtype=a.dtype)
            a = a * (1 - one) + one
        return self.linalg.solve(xp.matrix_transpose(a) if trans else a, b)

    def expm(self, x: Any) -> Any:
        raise BackendError(
            f"{self.module.__name__} has no matrix exponential.",
            mend="Lower the graph to another backend.",
        )

    def on_host(
        self, name: str, function: Callable[..., Any], shape: tuple[int, ...], *operands: Any
    ) -> Any:
        for each in operands:
            _check_on_host(each, name, self.module.__name__)
        return self.from_numpy(function(*[self.to_numpy(each) for each in operands]))

    def while_loop(
        self,
        test: Callable[..., Any],
        step: Callable[..., Sequence[Any]],
        init: Sequence[Any],
    ) -> Sequence[Any]:
        carries = list(init)
        while test(*carries):
            carries = list(step(*carries))
        return carries

    def scan(self, step: Any, init: Any, xs: Any, **options: Any) -> tuple[Any, ...]:
        rows = [[x[t, ...] for t in range(options["length"])] for x in xs]
        return Namespace.scan(self, step, init, rows, **options)

    def windows(self, x: Any, sizes: Any, strides: Any, dilations: Any) -> Any:
        return _windows.stacked_windows(self, x, sizes, strides, dilations)

    def overlap_add(self, y: Any, extents: Any, strides: Any, dilations: Any) -> Any:
        return _windows.overlaps_added(self, y, extents, strides, dilations)


class _Translated:
    """A function of the module that also takes NumPy's dtypes and arrays."""

    def __init__(self, names: StandardNamespace, function: Callable[..., Any]) -> None:
        self._names = names
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own, known = self._names.own, self._names.as_they_are
        args = tuple([each if type(each) in known else own(each) for each in args])
        if not kwargs:
            return self._function(*args)
        if isinstance(kwargs.get("dtype"), str):
            kwargs["dtype"] = np.dtype(kwargs["dtype"])
        return self._function(*args, **{name: own(value) for name, value in kwargs.items()})

    def accumulate(self, x: Any, axis: int) -> Any:
        """The running results along an axis, as of NumPy's ufuncs."""
        return accumulated(self._names, self, x, axis)


def _is_numpy_dtype(dtype: Any) -> bool:
    return isinstance(dtype, (np.dtype, str, type))


class _Special:
    """Special functions: the module's own if it has them, else SciPy's on the host."""

    def __init__(self, names: StandardNamespace) -> None:
        self._names = names

    def __getattr__(self, name: str) -> Any:
        names = self._names
        found = getattr(names.own_special, name, None)
        return found if found is not None else partial(self._on_host, getattr(NUMPY.special, name))

    def _on_host(self, function: Callable[..., Any], *operands: Any) -> Any:
        names = self._names
        arrays: list[Any] = []
        for each in operands:
            if not isinstance(each, (int, float)):
                _check_on_host(each, function.__name__, names.module.__name__)
                each = names.to_numpy(each)
            arrays.append(each)
        with np.errstate(all="ignore"):
            found = function(*arrays)
        if isinstance(found, tuple):
            return tuple([names.from_numpy(each) for each in found])
        return names.from_numpy(found)


_HOSTS = (1, 3, 11)
"""DLPack's numbers of memory that the host reads: its own, and what CUDA and ROCm pin in it."""


def _check_on_host(x: Any, name: str, package: str) -> None:
    """Refuse an array of another device, which would be copied to the host in silence.

    Arrays tell their device as DLPack's; one that does not must be readable by NumPy.
    """
    tell = getattr(x, "__dlpack_device__", None)
    try:
        kind = _HOSTS[0] if tell is None else int(tell()[0])
    except (RuntimeError, TypeError, ValueError, BufferError):
        kind = 0  # a device without a number
    if kind not in _HOSTS:
        raise BackendError(
            f"{package} has no {name}, which SciPy computes on the host, and an operand is on the "
            f"device {getattr(x, 'device', kind)}.",
            mend="Give the graph arrays of the CPU, or add the function to the namespace.",
        )


class _Linalg:
    """The standard's extension for linear algebra, with NumPy's arguments."""

    def __init__(self, names: StandardNamespace) -> None:
        self._names = names
        self._module = names.module.linalg

    def __getattr__(self, name: str) -> Any:
        return _Translated(self._names, getattr(self._module, name))

    def eigh(self, x: Any, UPLO: str = "L") -> Any:
        """The decomposition of a symmetric matrix, of which one triangle is read."""
        xp = self._names.module
        half = xp.tril(x) if UPLO == "L" else xp.matrix_transpose(xp.triu(x))
        rest = xp.matrix_transpose(xp.tril(half, k=-1))
        return self._module.eigh(half + rest)

    def pinv(self, x: Any, rtol: Any = None) -> Any:
        return self._module.pinv(x, rtol=rtol)

    def lstsq(self, a: Any, b: Any, rcond: float | None = None) -> tuple[Any]:
        """The first of NumPy's results.

        Singular values below `rcond` times the largest one count as 0.
        """
        inverse = self._module.pinv(a, rtol=rcond)
        return (self._names.module.matmul(inverse, b),)

    def svd(self, x: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
        if not compute_uv:
            return self._module.svdvals(x)
        return self._module.svd(x, full_matrices=full_matrices)
