"""The peak memory of a program, found by running it on sizes instead of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import add
from typing import Any

import numpy as np

from ..ir.avals import Aval
from ..ir.dims import Dim, resolve
from ..ir.interpreter import run
from ..ir.node import Node
from ..ops.results import PROJECT
from .block_sizes import block_aval
from .memory_model import workspace_bytes
from .offsets import offsets
from .source_pieces import Alias, Defined
from .statements import Filled, Program, Role, Statement, Temporary

__all__ = ["BUFFER", "Peaks", "bytes_left", "bytes_outside", "predicted_peak"]


def predicted_peak(
    program: Program, dims: Mapping[str, int] | None = None, *, buffers: bool = True
) -> int:
    """The most bytes the program holds at once, inputs and constants not counted.

    The workspace is there from the start. Each statement allocates its result, unless it writes
    into the workspace or an operand or gives a view; then it releases the values it read for the
    last time. Inputs are taken to be contiguous.

    Parameters
    ----------
    program : Program
    dims : mapping of str to int, optional
        A size for each named dimension.
    buffers : bool
        Count also the buffers that NumPy holds within one call.
    """
    sizes = dims or {}
    return max(_Simulation(program.for_sizes(sizes), sizes).bytes_at(buffers), default=0)


class Peaks:
    """The peak of a program for any choice of values in its workspace, from one run.

    Buffers that NumPy holds within a call are not counted.

    Parameters
    ----------
    program : Program
    dims : mapping of str to int
        A size for each named dimension.
    """

    def __init__(self, program: Program, dims: Mapping[str, int]) -> None:
        self._simulation = simulation = _Simulation(program.for_sizes(dims), dims)
        self._held = simulation.bytes_at(False)
        self._workspace = self._held[0]

    @property
    def now(self) -> int:
        """The peak of the program as it is."""
        return max(self._held)

    def with_places(self, chosen: Mapping[str, Temporary]) -> int:
        """The peak if these values lay in the workspace, too."""
        simulation = self._simulation
        change = [0] * (len(self._held) + 1)
        for name in chosen:
            for storage in simulation.storages[name]:
                size = simulation.sizes[storage]
                change[simulation.first[storage] + 1] -= size
                if storage in simulation.last:
                    change[simulation.last[storage] + 2] += size
        in_order = sorted(chosen.values(), key=lambda each: each.first)
        workspace = simulation.workspace_bytes([*in_order, *simulation.program.workspace])
        return workspace - self._workspace + max(map(add, self._held, accumulate(change)))


def bytes_outside(program: Program, dims: Mapping[str, int], *places: Role) -> list[int]:
    """The bytes that each statement of a program needs, values at these places not counted."""
    return _Simulation(program, dims, places).bytes_at(True)[1:]


def bytes_left(program: Program, dims: Mapping[str, int], *places: Role) -> list[int]:
    """The bytes that live after each statement of a program, values at these places not counted."""
    simulation = _Simulation(program, dims, places)
    simulation.bytes_at(True)
    return simulation.left


BUFFER = 1024
"""Elements of an operand that a ufunc buffers at a time, which programs set by `np.setbufsize`.

NumPy's own number is 8,192. It copies rows that are shorter to a buffer, to compute several at
once, where a row ends before the array does: with a broadcast, or in a part of an array. Rows of
1,000 numbers take 0.6 of the time without.
"""


class _Simulation:
    def __init__(
        self, program: Program, dims: Mapping[str, int], elsewhere: Sequence[Role] = ()
    ) -> None:
        self.program = program
        self.elsewhere = _places_elsewhere(program, elsewhere)
        self.dims = dims
        self.sizes: list[int] = []
        self.holders: list[int] = []
        self.storages: dict[str, tuple[int, ...]] = {}
        self.resolved: dict[Dim, int] = {}
        # Layouts are followed only where a reshape asks for them.
        self.with_layouts = any(
            Alias.RESHAPE in statement.aliases for statement in program.statements
        )
        self.layouts: dict[str, np.ndarray[Any, Any]] = {}
        self.avals: dict[str, Aval] = {}
        self.strided: set[str] = set()
        self.rows: list[int] = []
        self.left: list[int] = []
        self.number = 0
        # For each memory the statements that took it and gave it back.
        self.first: list[int] = []
        self.last: dict[int, int] = {}

    def bytes_at(self, buffers: bool) -> list[int]:
        """The most bytes held while each statement runs; first, those held from the start."""
        for name in (*self.program.inputs, *self.program.constants):
            self.storages[name] = ()
        for name, node in zip(self.program.inputs, self.program.dag.inputs.values(), strict=True):
            self.avals[name] = node.aval
        for name, node in self.program.constants.items():
            self.avals[name] = node.aval
        if self.with_layouts:
            for name, node in zip(
                self.program.inputs, self.program.dag.inputs.values(), strict=True
            ):
                self.layouts[name] = self._contiguous(node)
            for name, node in self.program.constants.items():
                self.layouts[name] = node.params["value"]
        self.rows = [each.rows_of_block(self.dims) for each in self.program.loops]
        # The values of an arena are counted while they live.
        now = 0 if self.program.arena else self.workspace_bytes(self.program.workspace)
        found = [now]
        for number, statement in enumerate(self.program.statements):
            self.number, before = number, len(self.sizes)
            if statement.target:
                self._compute(statement)
            now += sum(self.sizes[before:]) + self._filled_bytes(statement)
            inside = self._buffer_bytes(statement) * buffers + self._body_bytes(statement, buffers)
            if statement.target and statement.works:
                inside += workspace_bytes(statement.node, self.dims)
            found.append(now + inside)
            for name in statement.dead:
                now -= self._released(name)
            self.left.append(now)
        return found

    def workspace_bytes(self, temporaries: Sequence[Temporary]) -> int:
        """The bytes of a workspace that holds these."""
        sizes = [self._nbytes(self._block(each.aval, each)) for each in temporaries]
        return offsets(temporaries, sizes)[1]

    def _compute(self, statement: Statement) -> None:
        shared = [self.storages[name] for name in statement.operands]
        if statement.out:
            held: tuple[int, ...] = self.storages[statement.out]
        elif statement.place in self.elsewhere or statement.filled is Filled.PART:
            held = ()
        elif statement.node.op is PROJECT:
            operand = shared[0]
            held = operand[statement.node.params["index"] :][:1]
        else:
            held = ()
            for index, (alias, aval) in enumerate(
                zip(statement.aliases, statement.avals, strict=True)
            ):
                if self._is_view(statement, alias):
                    held += tuple(dict.fromkeys(each for part in shared for each in part))
                else:
                    later = statement.filled is Filled.LATER or index in statement.given
                    self.sizes.append(0 if later else self._nbytes(self._block(aval, statement)))
                    self.holders.append(0)
                    self.first.append(self.number)
                    held += (len(self.sizes) - 1,)
        self.storages[statement.target] = held
        for storage in held:
            self.holders[storage] += 1
        if self.with_layouts:
            self.layouts[statement.target] = self._layout(statement)

    def _filled_bytes(self, statement: Statement) -> int:
        """The bytes of an array that the statement is the first to write, a part of it."""
        if statement.filled is not Filled.PART:
            return 0
        added = self._nbytes(statement.avals[0])
        array = statement.place.partition("[")[0]
        for storage in self.storages[array]:
            self.sizes[storage] += added
            return added
        return 0

    def _buffer_bytes(self, statement: Statement) -> int:
        """Bytes that a ufunc buffers: of operands that are strided views, or broadcast."""
        if not statement.target:
            return 0
        aval = self.avals[statement.target] = statement.avals[0]
        if statement.aliases[0] in (Alias.WHOLE, Alias.PART) and statement.loop < 0:
            self.strided.add(statement.target)
        known = [name for name in statement.operands if self.avals[name].shape]
        if not statement.elementwise or not aval.shape or len(known) < 2:
            return 0
        elements = min(BUFFER, self._nbytes(self._block(aval, statement)) // aval.dtype.itemsize)
        buffered = [
            name for name in known if name in self.strided or self.avals[name].shape != aval.shape
        ]
        return sum([elements * self.avals[name].dtype.itemsize for name in buffered])

    def _body_bytes(self, statement: Statement, buffers: bool) -> int:
        """The peak of the bodies that a statement runs, with what a loop holds beside a step.

        These are the carries that the step begins with, and captured arrays brought into row order.
        """
        return max(
            [
                predicted_peak(self.program.bodies[body], self.dims, buffers=buffers)
                + sum([self._nbytes(aval) for aval in body.operand_avals[: piece.carried]])
                + sum([self._nbytes(aval) for aval in piece.laid_out])
                for piece in statement.pieces
                if isinstance(piece, Defined)
                for body in piece.bodies
            ],
            default=0,
        )

    def _released(self, name: str) -> int:
        freed = 0
        for storage in self.storages[name]:
            self.holders[storage] -= 1
            if not self.holders[storage]:
                freed += self.sizes[storage]
                self.last[storage] = self.number
        return freed

    def _is_view(self, statement: Statement, alias: Alias) -> bool:
        match alias:
            case Alias.FRESH:
                return False
            case Alias.WHOLE | Alias.PART:
                return True
            case Alias.UNKNOWN:
                return statement.node.op.view
            case Alias.RESHAPE:
                source = self.layouts[statement.operands[0]]
                return _reshapes_in_place(source, self._shape(statement.avals[0]))

    # -- sizes and layouts -------------------------------------------------------------------------
    def _block(self, aval: Aval, of: Statement | Temporary) -> Aval:
        """The part of a value that there is at a time: in a loop, the rows of a block."""
        return block_aval(aval, of.axis, self.rows[of.loop]) if of.loop >= 0 else aval

    def _size(self, dim: Dim) -> int:
        if isinstance(dim, int):
            return dim
        found = self.resolved.get(dim)
        if found is None:
            found = self.resolved[dim] = resolve(dim, self.dims)
        return found

    def _shape(self, aval: Aval) -> tuple[int, ...]:
        return tuple([self._size(dim) for dim in aval.shape])

    def _nbytes(self, aval: Aval) -> int:
        total = aval.dtype.itemsize
        for dim in aval.shape:
            total *= self._size(dim)
        return total

    def _contiguous(self, node: Node) -> np.ndarray[Any, Any]:
        return _stand_in(node.dtype, self._shape(node.aval))

    def _layout(self, statement: Statement) -> np.ndarray[Any, Any]:
        """An array of the result's shape and strides, with memory for one element."""
        node, aval = statement.node, statement.avals[0]
        if statement.out:
            return self.layouts[statement.out]
        operands = [self.layouts[name] for name in statement.operands]
        alias = statement.aliases[0]
        shape = self._shape(aval)
        if alias is Alias.RESHAPE and self._is_view(statement, alias):
            return _reshaped(operands[0], shape)
        whole = len(operands) == len(node.operands) == 1 and statement.avals is node.results
        if alias in (Alias.WHOLE, Alias.PART) and shape and whole and node.op is not PROJECT:
            return run(node, operands, self.dims)  # Views read no element.
        full = [each for each in operands if each.shape == shape]
        elementwise = bool(full) and any("np." in str(piece) for piece in statement.pieces[:1])
        column_major = elementwise and all(_is_column_major(each) for each in full)
        return _stand_in(aval.dtype, shape, column_major=column_major)


def _places_elsewhere(program: Program, roles: Sequence[Role]) -> frozenset[str]:
    """The places whose bytes are not counted with the statement that writes to them."""
    if not program.arena:
        return frozenset([each.place for each in program.statements if each.place])
    return frozenset([f"w[{i}]" for i, each in enumerate(program.workspace) if each.role in roles])


def _stand_in(
    dtype: np.dtype[Any], shape: tuple[int, ...], *, column_major: bool = False
) -> np.ndarray[Any, Any]:
    """A contiguous array of this shape, with memory for one element."""
    strides: list[int] = []
    step = dtype.itemsize
    for size in shape if column_major else reversed(shape):
        strides.append(step)
        step *= size
    one = np.empty((), dtype)
    order = strides if column_major else strides[::-1]
    return np.lib.stride_tricks.as_strided(one, shape, order, writeable=False)


def _is_column_major(array: np.ndarray[Any, Any]) -> bool:
    return array.flags.f_contiguous and not array.flags.c_contiguous


def _reshapes_in_place(array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> bool:
    return array.flags.c_contiguous or _without_ones(array.shape) == _without_ones(shape)


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if size != 1)


def _reshaped(array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if array.flags.c_contiguous:
        return _stand_in(array.dtype, shape)
    # Only dimensions of size one are added or removed, so no element is read.
    return array.reshape(shape)
