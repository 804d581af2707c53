"""The table of addresses that the function of a small program reads."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from .entry_frame import FRAME, KINDS, frame_text
from .machine import address, head_bytes
from .operations import DTYPES

__all__ = ["table"]

_NEW_FROM_DESCR = 94
"""The place of `PyArray_NewFromDescr` in NumPy's table of functions, the same in all versions."""


def table(constants: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """The addresses that functions of programs ask for; the array keeps the constants alive."""
    found = np.array([*_known(), *[each.ctypes.data for each in constants]], np.uintp).view(_Table)
    found.kept = tuple(constants)
    return found


class _Table(np.ndarray[Any, Any]):
    """Addresses, and the objects that must live as long."""

    kept: tuple[Any, ...]


@cache
def _known() -> tuple[int, ...]:
    things = (None, np.ndarray, float, np.float64)
    dtypes = [DTYPES[kind] for kind in KINDS]
    frame = address(frame_text(head_bytes()), FRAME)
    return (*map(id, things), _makes_arrays(), frame, *map(id, dtypes))


@cache
def _makes_arrays() -> int:
    """The address of `PyArray_NewFromDescr`."""
    capsule: Any = import_module("numpy._core._multiarray_umath")._ARRAY_API
    read = ctypes.pythonapi.PyCapsule_GetPointer
    read.restype, read.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    functions = (ctypes.c_void_p * (_NEW_FROM_DESCR + 1)).from_address(read(capsule, None))
    return int(functions[_NEW_FROM_DESCR] or 0)
