"""Workspaces: memory for the temporaries of a program, kept from call to call.

A call takes a workspace and gives it back at its end, so calls in several threads, and a call
within a call, have one each. Sizes may differ from call to call where dimensions are named: the
memory then grows when it is too small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from functools import partial
from math import prod
from typing import Any, TypeAlias

import numpy as np

from ..ir.dims import resolve
from ..lowering.block_sizes import block_aval
from ..lowering.offsets import offsets
from ..lowering.statements import Program, Temporary
from .arity import of_arguments
from .kept_memory import MOST_KEPT, MOST_SIZES

__all__ = ["Workspaces"]

_AT_KNOWN_SIZES = """
def run(*values):
    try:
        workspace = take()
    except IndexError:
        workspace = new()
    number, places = workspace.last
    results = workspace.run(functions[number], *values, places)
    if workspace.kept:
        give_back(workspace)
    return results
"""
_AT_SIZES = """
def run(*values):
    try:
        workspace = take()
    except IndexError:
        workspace = new()
    sizes = SIZES
    found = workspace.places.get(sizes)
    number, places = fit(workspace, sizes) if found is None else found
    results = workspace.run(functions[number], *values, places)
    if workspace.kept:
        give_back(workspace)
    return results
"""
Blocks: TypeAlias = "list[tuple[Any, ...]]"
Places: TypeAlias = "tuple[np.ndarray[Any, Any] | Blocks | list[Blocks], ...]"


class Workspaces:
    """The workspaces of a program that no call is using.

    Parameters
    ----------
    program : Program
    dims : sequence of str
        The named dimensions whose sizes a call knows.
    threads : int, optional
        How many threads compute blocks, each in scratch memory of its own. Each then has a list of
        blocks, which begin with their numbers.
    """

    def __init__(self, program: Program, dims: Sequence[str], threads: int | None = None) -> None:
        self._program = program
        self._dims = tuple(dims)
        self._threads = threads
        self._idle: list[_Workspace] = []

    def running(
        self,
        plain: Callable[..., Any],
        blocked: Callable[..., Any] | None = None,
        context: Callable[[], Context] | None = None,
    ) -> Callable[..., Any]:
        """`plain(*values, *sizes, places)` as a function of values and sizes.

        `blocked` is called instead for sizes where its loops pay; either in a `context`, of which
        each workspace has one, as a call has a workspace to itself.
        """
        count = len(self._program.inputs)
        sizes = "".join([f"v{count + place}, " for place in range(len(self._dims))])
        # Threads share the list: it is taken from, and added to, in one step each.
        return of_arguments(
            _AT_SIZES.replace("SIZES", f"({sizes})") if self._dims else _AT_KNOWN_SIZES,
            count + len(self._dims),
            functions=(plain, plain if blocked is None else blocked),
            take=self._idle.pop,
            give_back=self._idle.append,
            fit=self._fit,
            new=partial(self._new, context),
            IndexError=IndexError,
        )

    def _new(self, context: Callable[[], Context] | None) -> _Workspace:
        workspace = _Workspace(context)
        if not self._dims:
            self._fit(workspace, ())
        return workspace

    def _fit(self, workspace: _Workspace, sizes: tuple[int, ...]) -> tuple[int, Places]:
        """The function to call for these sizes, and the place of each temporary."""
        known = dict(zip(self._dims, sizes, strict=True))
        program = self._program.for_sizes(known)
        temporaries = program.workspace
        rows = [loop.rows_of_block(known) for loop in program.loops]
        shapes, dtypes = _arrays(temporaries, rows, known)
        nbytes = [dtype.itemsize * prod(shape) for dtype, shape in zip(dtypes, shapes, strict=True)]
        inner = [k for k, each in enumerate(temporaries) if each.loop >= 0]
        starts, total = offsets(temporaries, nbytes)
        shifts, more = offsets([temporaries[k] for k in inner], [nbytes[k] for k in inner])
        counts = [loop.threads(known, self._threads or 1) for loop in program.loops]
        others = max(counts, default=1) - 1
        self._enlarge(workspace, total + more * others)

        def placed(k: int, start: int) -> np.ndarray[Any, Any]:
            return np.ndarray(shapes[k], dtypes[k], workspace.memory, start)

        # The scratch memory of the caller lies among the temporaries, that of others behind them.
        begins = [dict(enumerate(starts))]
        for other in range(others):
            begin = total + more * other
            begins.append({k: begin + shift for k, shift in zip(inner, shifts, strict=True)})
        whole: list[Any] = [
            placed(k, starts[k]) for k, each in enumerate(temporaries) if each.loop < 0
        ]
        for number, loop in enumerate(program.loops):
            mine = [k for k in inner if temporaries[k].loop == number]
            count = int(resolve(loop.dim, known))
            lists = [
                _blocks(
                    count, rows[number], [(placed(k, at[k]), temporaries[k].axis) for k in mine]
                )
                for at in begins[: counts[number]]
            ]
            whole.append(lists[0] if self._threads is None else [*map(_numbered, lists)])
        found = int(program is not self._program), tuple(whole)
        workspace.last = workspace.places[sizes] = found
        return found

    def _enlarge(self, workspace: _Workspace, total: int) -> None:
        """So much memory, and room for the places of one more combination of sizes."""
        if workspace.memory.size < total:
            workspace.places.clear()  # These lie in the old memory.
            workspace.memory = np.empty(0, np.uint8)
            workspace.memory = np.empty(total, np.uint8)
            workspace.kept = total <= MOST_KEPT
        elif len(workspace.places) == MOST_SIZES:
            workspace.places.clear()

    @property
    def nbytes(self) -> int:
        """The bytes that are kept for later calls."""
        return sum([each.memory.size for each in [*self._idle]])

    def release(self) -> None:
        """Give the memory back to the system; later calls take new memory."""
        self._idle.clear()


def _arrays(
    temporaries: Sequence[Temporary], rows: Sequence[int], sizes: Mapping[str, int]
) -> tuple[list[tuple[int, ...]], list[np.dtype[Any]]]:
    """The shape and the dtype of each temporary, in a loop those of a block."""
    avals = [
        each.aval if each.loop < 0 else block_aval(each.aval, each.axis, rows[each.loop])
        for each in temporaries
    ]
    shapes = [tuple([int(resolve(dim, sizes)) for dim in each.shape]) for each in avals]
    return shapes, [each.dtype for each in avals]


def _blocks(
    count: int, rows: int, scratch: Sequence[tuple[np.ndarray[Any, Any], int | None]]
) -> Blocks:
    """For each block its rows, and its scratch memory; the last may have fewer rows."""

    def first_rows(array: np.ndarray[Any, Any], axis: int | None, least: int) -> Any:
        if axis is None:
            return array
        position = array.ndim + axis
        shape = (*array.shape[:position], least, *array.shape[position + 1 :])
        # Without gaps: some of NumPy's functions read wrong elements from one array with gaps and
        # write them into another.
        return array.reshape(-1)[: prod(shape)].reshape(shape)

    blocks: Blocks = []
    for start in range(0, count, rows):
        stop = min(start + rows, count)
        places = [array for array, _ in scratch]
        if stop - start < rows:
            places = [first_rows(array, axis, stop - start) for array, axis in scratch]
        blocks.append((slice(start, stop), *places))
    return blocks


def _numbered(blocks: Blocks) -> Blocks:
    return [(number, *each) for number, each in enumerate(blocks)]


def _called(function: Callable[..., Any], *values: Any) -> Any:
    return function(*values)


class _Workspace:
    """Memory for one call at a time, and where temporaries lie, by sizes and at the last ones."""

    __slots__ = ("kept", "last", "memory", "places", "run")

    def __init__(self, context: Callable[[], Context] | None) -> None:
        self.run = _called if context is None else context().run
        self.kept = True
        self.last: tuple[int, Places] = 0, ()
        self.memory = np.empty(0, np.uint8)
        self.places: dict[tuple[int, ...], tuple[int, Places]] = {}
