"""Functions of NumPy that move elements or add them: each does the same to both parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..array import FUNCTIONS, NUMPY_FUNCTIONS
from .arithmetic import pair
from .handle import COMPLEX_FUNCTIONS, ComplexArray, Operand, as_complex, refused

__all__: list[str] = []

_OF_ONE = [
    *[np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze],
    *[np.expand_dims, np.broadcast_to, np.atleast_1d, np.atleast_2d, np.atleast_3d],
    *[np.matrix_transpose, np.flip, np.fliplr, np.flipud, np.rot90, np.roll, np.tile, np.repeat],
    *[np.take, np.take_along_axis, np.diag, np.diagonal, np.diagflat, np.tril, np.triu, np.trace],
    *[np.sum, np.mean, np.cumsum, np.diff, np.copy, np.zeros_like],
    *[np.array_split, np.split, np.hsplit, np.vsplit, np.dsplit],
    *[np.fft.fftshift, np.fft.ifftshift, np.linalg.trace, np.linalg.diagonal],
]
_OF_LISTS = [np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack]


def _to_both(function: Callable[..., Any]) -> Callable[..., Any]:
    real = NUMPY_FUNCTIONS.get(function, function)

    def called(z: Operand, *args: Any, **kwargs: Any) -> Any:
        parts = [None if each is None else real(each, *args, **kwargs) for each in as_complex(z)]
        known = next(each for each in parts if each is not None)
        if not isinstance(known, (list, tuple)):
            return pair(*parts)
        sides = [[None] * len(known) if each is None else each for each in parts]
        return [pair(*each) for each in zip(*sides, strict=True)]

    return called


def _joined(function: Callable[..., Any]) -> Callable[..., Any]:
    real = NUMPY_FUNCTIONS[function]

    def called(arrays: Operand, *args: Any, **kwargs: Any) -> Any:
        given = [as_complex(each) for each in arrays]
        sides = [
            None
            if all(each is None for each in side)
            else real([_filled(*each) for each in zip(side, given, strict=True)], *args, **kwargs)
            for side in zip(*given, strict=True)
        ]
        return pair(*sides)

    return called


def _filled(part: Any, parts: tuple[Any, Any]) -> Any:
    """A part, or zeros like the other."""
    if part is not None:
        return part
    other = next(each for each in parts if each is not None)
    return FUNCTIONS["zeros_like"](other)


def _where(condition: Operand, x: Operand, y: Operand) -> Any:
    parts = zip(as_complex(x), as_complex(y), strict=True)
    return pair(
        *[
            None
            if a is None and b is None
            else FUNCTIONS["where"](condition, 0.0 if a is None else a, 0.0 if b is None else b)
            for a, b in parts
        ]
    )


def _padded(z: Operand, pad_width: Operand, mode: str = "constant", **kwargs: Operand) -> Any:
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        raise refused(f"np.pad(..., mode={mode!r}) of complex numbers")
    return _to_both(np.pad)(z, pad_width, mode, **kwargs)


def _ones_like(z: ComplexArray) -> ComplexArray:
    return ComplexArray(FUNCTIONS["ones_like"](z.real), None)


COMPLEX_FUNCTIONS.update({each: _to_both(each) for each in _OF_ONE})
COMPLEX_FUNCTIONS.update({each: _joined(each) for each in _OF_LISTS})
COMPLEX_FUNCTIONS.update({np.where: _where, np.ones_like: _ones_like, np.pad: _padded})
