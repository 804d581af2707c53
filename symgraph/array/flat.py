"""The elements of an array in a row, `x.flat`, as `np.flatiter` gives them.

They are counted row by row, however the array lies in memory. What is read is a copy, and what is
written is written into the array: `K.flat[:: n + 1] += 0.1` adds to a diagonal.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .dispatch import FUNCTIONS

__all__ = ["Flat"]


class Flat:
    """The elements of a symbolic array in a row.

    Values that are assigned broadcast to the places, where NumPy would begin again with the first.

    Parameters
    ----------
    array : Array

    Examples
    --------
    >>> x = sg.input("x", (2, 3))
    >>> x.flat[1:5].shape, len(x.flat)
    ((4,), 6)
    """

    __slots__ = ("base",)
    __hash__ = None  # pyright: ignore[reportAssignmentType]  # as of np.flatiter, `==` compares elements

    def __init__(self, array: object) -> None:
        self.base: Any = array

    def copy(self) -> Any:
        """The elements as a vector."""
        return self.base.flatten()

    def __getitem__(self, index: object) -> Any:
        return self.copy()[index]

    def __setitem__(self, index: object, values: object) -> None:
        elements = self.copy()
        elements[index] = FUNCTIONS["ravel"](values)
        self.base[...] = elements.reshape(self.base.shape)

    def __len__(self) -> int:
        return len(self.copy())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy())

    def __array__(self, *args: object, **keywords: object) -> np.ndarray[Any, Any]:
        return self.copy().__array__(*args, **keywords)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **keywords: object
    ) -> Any:
        return getattr(ufunc, method)(*map(_vector, inputs), **keywords)

    def __array_function__(
        self,
        function: Callable[..., Any],
        types: object,
        args: tuple[object, ...],
        keywords: Mapping[str, object],
    ) -> Any:
        given = {name: _vector(each) for name, each in keywords.items()}
        return function(*map(_vector, args), **given)


def _vector(value: object) -> object:
    return value.copy() if isinstance(value, Flat) else value


def _compare(name: str) -> None:
    compared = getattr(operator, name)

    def method(self: Flat, other: object) -> Any:
        return compared(self.copy(), _vector(other))

    method.__name__ = name
    setattr(Flat, name, method)


for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    _compare(_name)
