"""`autograd.numpy`: NumPy's functions, which take lists and tuples of symbols, too.

NumPy asks a symbolic array what to do with it, wherever one stands as an argument. In a list it
asks none: there the list is stacked first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

import symgraph as sg
import symgraph.numpy as snp

__all__ = ["holds_symbol", "is_symbol", "modules", "stacked", "wrapped"]

# Functions that are given several arrays in a list.
_OF_LISTS = {
    *("block", "broadcast_arrays", "column_stack", "concatenate", "dstack", "einsum"),
    *("hstack", "meshgrid", "select", "stack", "vstack", "row_stack", "concat", "piecewise"),
}
# Arrays that may be written to, and indexed by symbols: symgraph's own, in a trace.
_CREATED = ("empty", "eye", "ones", "zeros")
# Arguments of these names, and of these functions, are no arrays.
_NO_ARRAYS = {"axis", "axes", "shape", "pad_width", "newshape", "reps", "shift"}


def is_symbol(x: Any) -> bool:
    """Whether the value is a symbolic array."""
    return isinstance(x, sg.Array)


def holds_symbol(x: Any) -> bool:
    """Whether a symbolic array stands in nested lists, tuples and dicts."""
    if isinstance(x, Mapping):
        return any(map(holds_symbol, x.values()))
    if isinstance(x, (list, tuple)):
        return any(map(holds_symbol, x))
    return is_symbol(x)


def stacked(x: Any, dtype: Any = None) -> Any:
    """Nested lists of symbols and numbers as one array, as `np.array` makes it."""
    if isinstance(x, (list, tuple)) and holds_symbol(x):
        parts = [stacked(each) for each in x]
        shape = np.broadcast_shapes(*[np.shape(each) for each in parts])
        x = snp.stack([snp.broadcast_to(snp.asarray(each), shape) for each in parts])
    found = snp.asarray(x) if is_symbol(x) else np.asarray(x)
    return found if dtype is None else found.astype(dtype)


def wrapped(name: str, function: Callable[..., Any], symbolic: Any = None) -> Callable[..., Any]:
    """The function, lists of symbols among its arguments stacked."""

    @functools.wraps(function)
    def call(*operands: Any, **params: Any) -> Any:
        if not holds_symbol((operands, params)):
            return function(*operands, **params)
        if name not in _OF_LISTS:
            operands = tuple([_laid(each) for each in operands])
            params = {
                key: each if key in _NO_ARRAYS else _laid(each) for key, each in params.items()
            }
        elif name == "concatenate" and not isinstance(operands[0], (list, tuple)):
            operands = (list(operands[0]), *operands[1:])
        return (symbolic or function)(*operands, **params)

    return call


def _laid(x: Any) -> Any:
    return stacked(x) if isinstance(x, (list, tuple)) and holds_symbol(x) else x


def _array(x: Any, dtype: Any = None, *rest: Any, **params: Any) -> Any:
    if not holds_symbol(x):
        return np.array(x, dtype, *rest, **params)
    found = stacked(x, dtype)
    ndmin = params.get("ndmin", 0)
    return found.reshape((1,) * (ndmin - found.ndim) + found.shape) if ndmin > found.ndim else found


def _full(shape: Any, value: Any, *rest: Any, **params: Any) -> Any:
    if is_symbol(value):
        return snp.broadcast_to(value, (shape,) if isinstance(shape, int) else tuple(shape))
    return np.full(shape, value, *rest, **params)


def _make_diagonal(rows: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    if (offset, axis1, axis2) != (0, -1, -2):
        raise NotImplementedError("autograd has it for these axes alone")
    return rows[..., None] * np.eye(rows.shape[-1])


def _array_from_args(_args: Any, _kwargs: Any, *parts: Any) -> Any:
    return _array(list(parts))


class _Index:
    """`np.r_` and `np.c_`, of symbols too."""

    def __init__(self, plain: Any, columns: bool) -> None:
        self._plain = plain
        self._columns = columns

    def __getitem__(self, entries: Any) -> Any:
        entries = entries if isinstance(entries, tuple) else (entries,)
        if not holds_symbol(entries):
            return self._plain[entries]
        parts = [self._part(each) for each in entries]
        if self._columns:
            return snp.concatenate([each.reshape(len(each), -1) for each in parts], axis=1)
        return snp.concatenate(parts)

    def _part(self, entry: Any) -> Any:
        part = np.r_[entry] if isinstance(entry, slice) else entry
        return snp.asarray(part).reshape(-1) if np.ndim(part) == 0 else snp.asarray(part)


class _Numpy(ModuleType):
    """The functions of a module of NumPy, wrapped as they are asked for."""

    def __init__(self, name: str, plain: Any, members: Mapping[str, Any]) -> None:
        super().__init__(name)
        self.__path__ = []
        self._plain = plain
        self.__dict__.update(members)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._plain, name)
        if callable(found) and not isinstance(found, type):
            found = wrapped(name, found)
        self.__dict__[name] = found
        return found


def modules() -> dict[str, ModuleType]:
    """`autograd.numpy` and what is in it."""
    members = {
        "array": _array,
        "asarray": _array,
        "array_from_args": _array_from_args,
        "full": _full,
        "make_diagonal": _make_diagonal,
        "r_": _Index(np.r_, False),
        "c_": _Index(np.c_, True),
        "random": np.random,
        **{name: getattr(snp, name) for name in _CREATED},
    }
    inside = {
        "T": lambda x: np.swapaxes(x, -1, -2),
        "_dot": lambda x, y: np.einsum("...ij,...jk->...ik", x, y),
    }
    linalg = _Numpy("autograd.numpy.linalg", np.linalg, inside)
    return {
        "autograd.numpy": _Numpy("autograd.numpy", np, members),
        "autograd.numpy.linalg": linalg,
        "autograd.numpy.random": np.random,
        "autograd.numpy.fft": np.fft,
    }
