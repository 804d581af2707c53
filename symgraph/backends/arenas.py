"""Arenas: memory for the values of a planned program, kept from call to call, no more than planned.

An arena is a range of addresses that the system backs with pages where it is written to. A call
gives pages back where it would hold more than was planned; how is the affair of `lowering.arena`.
Large results are mapped each by itself, so their pages go back when the caller drops them. The heap
of the C library does neither: freed memory stays with the process in gaps that no array fits.

Where the system cannot take single pages back, and while `tracemalloc` looks on, which sees the
arrays that NumPy allocates, every value is an array of its own. So it is for programs of a few
pages.
"""

from __future__ import annotations

import mmap
import sys
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ..freed import give_freed_memory_back
from ..ir.dims import resolve
from ..lowering.arena import Layout, laid_out
from ..lowering.peak import bytes_left, bytes_outside, predicted_peak
from ..lowering.statements import Program, Role
from ..records import record
from .kept_memory import MOST_KEPT, MOST_SIZES

__all__ = ["Arenas"]

CAN_RELEASE = sys.platform == "linux" and hasattr(mmap, "MADV_DONTNEED")
LEAST_BYTES = 2**20
"""A program of fewer bytes uses no arena."""
MAPPED_BYTES = 2**17
"""A result of as many bytes is mapped by itself."""
_HUGE = 2**21
_LEAST_HUGE = 2**25
"""An arena of as many bytes has pages of 2 MiB: the system gives them ten times as fast."""
_SLACK = 1 / 400
"""How much more than planned may be held for the sake of large pages."""


@record
class _Fit:
    """The facts about its sizes that a call needs."""

    shapes: Sequence[tuple[int, ...]]
    dtypes: Sequence[np.dtype[Any]]
    roles: Sequence[Role]
    layout: Layout | None
    huge: bool


class Arenas:
    """The arenas of a planned program that no call is using.

    Parameters
    ----------
    program : Program
    dims : sequence of str
        The named dimensions whose sizes a call knows.
    """

    def __init__(self, program: Program, dims: Sequence[str]) -> None:
        self._program = program
        self._dims = tuple(dims)
        self._fits: dict[tuple[int, ...], _Fit] = {}
        self._idle: dict[tuple[int, ...], list[_Arena]] = {}
        if not dims:
            self._fitted(())

    def running(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """`plain(*values, *sizes, places)` as a function of values and sizes."""
        count = len(self._dims)

        def run(*values: Any) -> Any:
            sizes = values[-count:] if count else ()
            fit = self._fits.get(sizes)
            if fit is None:
                fit = self._fitted(sizes)
            if fit.layout is None or tracemalloc.is_tracing():
                return plain(*values, _Allocating(fit))
            # Threads share the list: it is taken from, and added to, in one step each.
            idle = self._idle.setdefault(sizes, [])
            try:
                arena = idle.pop()
            except IndexError:
                arena = _Arena(fit, fit.layout)
            results = plain(*values, arena)
            if fit.layout.kept <= MOST_KEPT:
                idle.append(arena)
            return results

        return run

    def _fitted(self, sizes: tuple[int, ...]) -> _Fit:
        known = dict(zip(self._dims, sizes, strict=True))
        program = self._program
        places = program.workspace
        shapes = [tuple([int(resolve(dim, known)) for dim in each.aval.shape]) for each in places]
        dtypes = [each.aval.dtype for each in places]
        nbytes = [dtype.itemsize * prod(shape) for dtype, shape in zip(dtypes, shapes, strict=True)]
        limit = predicted_peak(program, known)
        layout, huge = None, False
        if CAN_RELEASE and limit >= LEAST_BYTES:
            outside = bytes_outside(program, known, Role.TEMPORARY)
            heap = bytes_outside(program, known, Role.TEMPORARY, Role.RESULT)
            left = bytes_left(program, known, Role.TEMPORARY, Role.RESULT)
            layout = laid_out(places, nbytes, outside, heap, left, limit, mmap.PAGESIZE)
            if layout.nbytes >= _LEAST_HUGE:
                large = laid_out(places, nbytes, outside, heap, left, limit, _HUGE)
                huge = large.most <= limit * (1 + _SLACK)
                layout = large if huge else layout
        if len(self._fits) == MOST_SIZES:
            self._fits.clear()
            self._idle.clear()
        found = _Fit(shapes, dtypes, [each.role for each in places], layout, huge)
        self._fits[sizes] = found
        return found

    @property
    def nbytes(self) -> int:
        """The bytes that are kept for later calls."""
        return sum([each.kept for idle in [*self._idle.values()] for each in [*idle]])

    def release(self) -> None:
        """Give the memory back to the system; later calls take new memory."""
        self._idle.clear()


class _Allocating:
    """Places that are allocated by NumPy when they are asked for."""

    __slots__ = ("_fit",)

    def __init__(self, fit: _Fit) -> None:
        self._fit = fit

    def __getitem__(self, number: int) -> np.ndarray[Any, Any] | None:
        if self._fit.roles[number] is Role.MARK:
            return None
        return np.empty(self._fit.shapes[number], self._fit.dtypes[number])


class _Arena:
    """Places in one mapping, for one call at a time."""

    __slots__ = ("_arrays", "_fit", "_memory", "_offset", "_released", "_trimmed", "kept")

    def __init__(self, fit: _Fit, layout: Layout) -> None:
        self._fit = fit
        self._released: Mapping[int, list[tuple[int, int]]] = layout.released
        self._trimmed = layout.trimmed
        self.kept = layout.kept
        self._memory = _mapped(layout.nbytes + (_HUGE if fit.huge else 0), huge=fit.huge)
        self._offset = -_address(self._memory) % _HUGE if fit.huge else 0
        self._arrays = [
            None
            if role is not Role.TEMPORARY
            else np.ndarray(shape, dtype, self._memory, self._offset + start)
            for shape, dtype, role, start in zip(
                fit.shapes, fit.dtypes, fit.roles, layout.starts, strict=True
            )
        ]

    def __getitem__(self, number: int) -> np.ndarray[Any, Any] | None:
        if number in self._trimmed:
            give_freed_memory_back()
        for start, length in self._released.get(number, ()):
            self._memory.madvise(mmap.MADV_DONTNEED, self._offset + start, length)
        found = self._arrays[number]
        if found is not None or self._fit.roles[number] is Role.MARK:
            return found
        return _result(self._fit.shapes[number], self._fit.dtypes[number])


def _result(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array whose pages go back to the system when it is dropped."""
    nbytes = dtype.itemsize * prod(shape)
    if nbytes < MAPPED_BYTES:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, _mapped(nbytes, huge=nbytes >= 2 * _HUGE))


def _mapped(nbytes: int, *, huge: bool) -> mmap.mmap:
    try:
        found = mmap.mmap(-1, max(1, nbytes), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"The system has no {nbytes} bytes for the program.") from error
    # A large page at the edge of a small value would hold more than was planned.
    found.madvise(mmap.MADV_HUGEPAGE if huge else mmap.MADV_NOHUGEPAGE)
    return found


def _address(memory: mmap.mmap) -> int:
    return np.ndarray((1,), np.uint8, memory).ctypes.data
