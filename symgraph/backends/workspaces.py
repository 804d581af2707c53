"""Workspaces: memory for the temporaries of a program, kept from call to call.

A call takes a workspace and gives it back at its end, so calls in several threads, and a call
within a call, have one each. Sizes may differ from call to call where dimensions are named: the
memory then grows when it is too small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from ..ir.dims import resolve
from ..lowering.offsets import offsets
from ..lowering.statements import Temporary

__all__ = ["Workspaces"]

Places: TypeAlias = "tuple[np.ndarray[Any, Any], ...]"

_MOST_KEPT = 2**28
"""A workspace of more bytes than this is given back to the system after the call."""
_MOST_SIZES = 8
"""For how many sizes of named dimensions the places of temporaries are remembered."""


class Workspaces:
    """The workspaces of a program that no call is using.

    Parameters
    ----------
    temporaries : sequence of Temporary
    dims : sequence of str
        The named dimensions whose sizes a call knows.
    """

    def __init__(self, temporaries: Sequence[Temporary], dims: Sequence[str]) -> None:
        self._temporaries = temporaries
        self._dims = tuple(dims)
        self._idle: list[_Workspace] = []

    def running(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function(*values, *sizes, places)` as a function of values and sizes."""
        # Threads share the list: it is taken from, and added to, in one step each.
        take, give_back = self._idle.pop, self._idle.append
        count = len(self._dims)

        def run(*values: Any) -> Any:
            try:
                workspace = take()
            except IndexError:
                workspace = _Workspace()
            sizes = values[-count:] if count else ()
            places = workspace.places.get(sizes)
            if places is None:
                places = self._fit(workspace, sizes)
            results = function(*values, places)
            if workspace.memory.size <= _MOST_KEPT:
                give_back(workspace)
            return results

        return run

    def _fit(self, workspace: _Workspace, sizes: tuple[int, ...]) -> Places:
        """The place of each temporary for these sizes."""
        known = dict(zip(self._dims, sizes, strict=True))
        shapes = [
            tuple([int(resolve(dim, known)) for dim in each.aval.shape])
            for each in self._temporaries
        ]
        dtypes = [each.aval.dtype for each in self._temporaries]
        nbytes = [dtype.itemsize * prod(shape) for dtype, shape in zip(dtypes, shapes, strict=True)]
        starts, total = offsets(self._temporaries, nbytes)
        if workspace.memory.size < total:
            workspace.places.clear()  # These lie in the old memory.
            workspace.memory = np.empty(0, np.uint8)
            workspace.memory = np.empty(total, np.uint8)
        elif len(workspace.places) == _MOST_SIZES:
            workspace.places.clear()
        places = workspace.places[sizes] = tuple(
            [
                np.ndarray(shape, dtype, workspace.memory, start)
                for shape, dtype, start in zip(shapes, dtypes, starts, strict=True)
            ]
        )
        return places

    @property
    def nbytes(self) -> int:
        """The bytes that are kept for later calls."""
        return sum([each.memory.size for each in [*self._idle]])

    def release(self) -> None:
        """Give the memory back to the system; later calls take new memory."""
        self._idle.clear()


class _Workspace:
    """Memory for one call at a time, and where its temporaries lie, by sizes."""

    __slots__ = ("memory", "places")

    def __init__(self) -> None:
        self.memory = np.empty(0, np.uint8)
        self.places: dict[tuple[int, ...], Places] = {}
