"""Reading and writing at an index, where a namespace of the array API standard has no such index.

The standard writes nothing in place, and has neither negative steps nor integer arrays beside
slices. An element is found by its place in the flattened array instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, cast

import numpy as np

__all__ = ["IndexedByPlaces"]


class IndexedByPlaces(ABC):
    """The functions of a namespace that read and write at an index; the rest is its own."""

    module: Any

    @abstractmethod
    def from_numpy(self, x: Any) -> Any:
        """The module's array of NumPy's."""

    @abstractmethod
    def asarray(self, x: Any, dtype: Any = None) -> Any:
        """The module's array of anything."""

    @abstractmethod
    def own_dtype(self, dtype: Any) -> Any:
        """The module's dtype with the same name as NumPy's."""

    def getitem(self, x: Any, index: Any) -> Any:
        """As in the standard, but also for negative steps, and for integer arrays beside slices."""
        if _is_plain(index):
            return x[index]
        places, _ = self._places(x.shape, index)
        flat = self.module.reshape(x, (-1,))
        found = self.module.take(flat, self.module.reshape(places, (-1,)), axis=0)
        return self.module.reshape(found, places.shape)

    def scatter_add(self, x: Any, index: tuple[Any, ...], values: Any) -> Any:
        xp = self.module
        written, place, values = self._writes(x, index, values)
        if written.ndim == 1:
            share = xp.where(written, xp.take(values, place, axis=0), xp.zeros_like(values[:1]))
        else:
            share = xp.sum(xp.where(written, values[:, None], xp.zeros_like(values[:1])), axis=0)
        return x + xp.reshape(xp.astype(share, x.dtype), x.shape)

    def scatter_set(self, x: Any, index: tuple[Any, ...], values: Any) -> Any:
        xp = self.module
        written, place, values = self._writes(x, index, values)
        if written.ndim == 2:
            order = xp.reshape(xp.arange(1, values.shape[0] + 1), (-1, 1))
            last = xp.max(xp.where(written, order, xp.zeros_like(order)), axis=0)
            written, place = last > 0, xp.where(last > 0, last - 1, xp.zeros_like(last))
        chosen = xp.astype(xp.take(values, place, axis=0), x.dtype)
        return xp.reshape(xp.where(written, chosen, xp.reshape(x, (-1,))), x.shape)

    def _writes(self, x: Any, index: Any, values: Any) -> tuple[Any, Any, Any]:
        """Which elements of the flattened `x` receive which of the flattened values.

        For an index without arrays: a truth value for each element, and the place of its value.
        Else a table of truth values with a row for each value, since the standard cannot write at
        integer arrays. The third result is the flattened values.
        """
        xp = self.module
        places, fixed = self._places(x.shape, index)
        values = xp.reshape(xp.broadcast_to(self.asarray(values), places.shape), (-1,))
        size = int(np.prod(x.shape))
        if not values.shape[0]:
            values = xp.zeros((1,), dtype=values.dtype)
            none = np.zeros(size, bool)
            return self.from_numpy(none), self.from_numpy(none.astype(int)), values
        if fixed is None:
            own = xp.reshape(places, (-1, 1))
            return own == xp.reshape(xp.arange(size, dtype=own.dtype), (1, -1)), None, values
        place = np.full(size, -1)
        place[fixed.ravel()] = np.arange(fixed.size)
        return self.from_numpy(place >= 0), self.from_numpy(np.maximum(place, 0)), values

    def _places(self, shape: Any, index: Any) -> tuple[Any, np.ndarray[Any, Any] | None]:
        """The flat places of the elements at an index, also as a NumPy array if they are known."""
        parts = index if isinstance(index, tuple) else (index,)
        if not any(hasattr(part, "shape") for part in parts):
            fixed = np.arange(int(np.prod(shape))).reshape(tuple(shape))[parts]
            return self.from_numpy(fixed), np.asarray(fixed)
        at = [part is Ellipsis for part in parts]
        where = at.index(True) if any(at) else len(parts)
        rest = [slice(None)] * (len(shape) - (len(parts) - sum(at)))
        full = [*parts[:where], *rest, *parts[where + 1 :]]
        return self._places_of_arrays(tuple(shape), full), None

    def _places_of_arrays(self, shape: tuple[int, ...], parts: list[Any]) -> Any:
        """The flat places of an index with arrays on adjacent axes and one part for each axis."""
        xp = self.module
        arrays = [i for i, part in enumerate(parts) if hasattr(part, "shape")]
        joint = max(parts[i].ndim for i in arrays)
        steps = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
        behind = len(parts) - arrays[-1] - 1
        found: Any = 0
        for i, (part, size, step) in enumerate(zip(parts, shape, steps, strict=True)):
            if i in arrays:
                own = self.asarray(part, "int64")
                own = xp.where(own < 0, own + size, own)
                ones = behind
            elif isinstance(row := range(size)[part], int):
                found = found + row * step
                continue
            else:  # counted where the arrays are, not moved there
                own = xp.arange(row.start, row.stop, row.step, dtype=self.own_dtype("int64"))
                ones = len(parts) - i - 1 if i > arrays[-1] else arrays[0] - i - 1 + joint + behind
            found = found + xp.reshape(own, (*own.shape, *[1] * ones)) * step
        return found


def _is_plain(index: Any) -> bool:
    """Whether every namespace has this index: only an ellipsis, whole axes and new axes."""
    parts = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
    if any(hasattr(part, "shape") for part in parts):
        return False
    whole = (slice(None), slice(None, None, 1))
    return Ellipsis in parts and all(
        part is None or part is Ellipsis or part in whole for part in parts
    )
