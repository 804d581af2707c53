"""The straight-line program of a graph: one statement a node, values released at their last use.

A program says in which order nodes are computed, which results are written into the buffer of an operand
that dies there, which names are released after each statement, and which outputs are copied so that the
caller may write to them. It is what backends print as source, and what the predicted peak is taken from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..dag import Dag, Node
from ..dims import resolve
from ..evaluate import run
from .buffers import Buffers
from .schedule import scheduled
from .spelling import Alias, Operand, Spelling, called_by_name, spell

__all__ = ["Program", "Statement", "predicted_peak", "program_of"]


@dataclass(frozen=True, slots=True)
class Statement:
    """`target = ...` for one node.

    Parameters
    ----------
    node : Node
        What is computed; of a copied output, the output.
    target : str
        The name of the value.
    operands : tuple of str
        Names of the operands, in order.
    spelling : Spelling
        The source of the right-hand side.
    aliases : tuple of Alias
        What memory each result shares with the operands.
    out : str
        The operand whose buffer is written, or an empty string.
    dead : tuple of str
        Names read for the last time here.
    """

    node: Node
    target: str
    operands: tuple[str, ...]
    spelling: Spelling
    aliases: tuple[Alias, ...]
    out: str = ""
    dead: tuple[str, ...] = ()

    @property
    def allocates(self) -> bool:
        """Whether the statement may need memory for its result."""
        return not self.out and any(
            alias not in (Alias.WHOLE, Alias.PART) for alias in self.aliases
        )


@dataclass(frozen=True, slots=True)
class Program:
    """Statements in order, with the names of inputs, constants and results.

    Parameters
    ----------
    dag : Dag
    inputs : tuple of str
        One an input of `dag`, in order.
    constants : mapping of str to Node
        Constants by name.
    statements : tuple of Statement
    results : tuple of str
        One an output of `dag`, in order; no two share memory, and none is an input or a constant.
    """

    dag: Dag
    inputs: tuple[str, ...]
    constants: Mapping[str, Node]
    statements: tuple[Statement, ...]
    results: tuple[str, ...]


def _key(value: Any) -> Any:
    """A key that tells 1, 1.0, True and -0.0 apart."""
    if isinstance(value, tuple):
        return tuple([_key(item) for item in cast("tuple[Any, ...]", value)])
    return (type(value), value.hex() if isinstance(value, float) else value)


_COPY = Spelling((), ("np.array(", Operand(0), ")"), (Alias.FRESH,))


def program_of(dag: Dag, order: Sequence[Node] | None = None) -> Program:
    """The program that computes the outputs of `dag`.

    Parameters
    ----------
    dag : Dag
    order : sequence of Node, optional
        Nodes in the order they are computed; by default the schedule chosen for memory.
    """
    return _Builder(dag, scheduled(dag) if order is None else order).built()


class _Builder:
    def __init__(self, dag: Dag, order: Sequence[Node]) -> None:
        self.dag = dag
        self.buffers = Buffers()
        self.names: dict[Node, str] = {}
        self.statements: list[Statement] = []
        self.constants: dict[str, Node] = {}
        self.spellings: dict[Any, Spelling] = {}
        self.computed = [node for node in order if not (node.is_input or node.is_constant)]
        self.last_use = {operand: node for node in self.computed for operand in node.operands}
        self.last_use.update((node, None) for node in dag.outputs)
        self.projections = Counter(
            (node.operands[0], node.params["index"])
            for node in self.computed
            if node.op.name == "project"
        )
        for node in dag.inputs.values():
            self.names[node] = f"v{len(self.names)}"
            self.buffers.external(self.names[node])
        for node in order:
            if node.is_constant:
                name = f"c{len(self.constants)}"
                self.names[node] = name
                self.constants[name] = node
                self.buffers.external(name)

    def built(self) -> Program:
        number = len(self.dag.inputs)
        for node in self.computed:
            self._compute(node, f"v{number}")
            number += 1
        results = self._handed_out(number)
        return Program(
            self.dag,
            tuple([self.names[node] for node in self.dag.inputs.values()]),
            self.constants,
            tuple(self.statements),
            results,
        )

    def _compute(self, node: Node, target: str) -> None:
        operands = tuple([self.names[operand] for operand in node.operands])
        dying = [
            self.names[operand]
            for operand in dict.fromkeys(node.operands)
            if self.last_use[operand] is node and not (operand.is_input or operand.is_constant)
        ]
        spelling = self._spelled(node)
        aliases = spelling.aliases
        if node.op.name == "project" and self.projections[node.operands[0], node.params["index"]] == 1:
            aliases = self._projected(node, operands[0])
        out = None
        if spelling.out:
            out = self.buffers.to_take_over(node, operands, dying)
        self.names[node] = target
        if out is None:
            self.buffers.born(target, aliases, operands)
        else:
            self.buffers.took_over(target, out)
        for name in dying:
            self.buffers.died(name)
        dead = (*dying, target) if node not in self.last_use else tuple(dying)
        self.statements.append(
            Statement(node, target, operands, spelling, aliases, out or "", dead)
        )

    def _projected(self, node: Node, operand: str) -> tuple[Alias, ...]:
        """A result read off once, of new arrays, is nobody else's."""
        return (Alias.FRESH,) if self.buffers.is_plain(operand) else (Alias.WHOLE,)

    def _spelled(self, node: Node) -> Spelling:
        """`spell`, remembered: what a kernel says depends on op, params, dtypes and shapes only."""
        params = tuple([(name, _key(value)) for name, value in node.params.items()])
        key = (node.op.name, params, *[each.results for each in node.operands])
        try:
            found = self.spellings.get(key)
        except TypeError:  # Params that cannot be hashed, such as arrays.
            return self._found(node)
        if found is None:
            found = self.spellings[key] = self._found(node)
        return found

    def _found(self, node: Node) -> Spelling:
        spelling = spell(node, fast=True)
        return called_by_name(node, spelling.aliases) if spelling.steps else spelling

    def _handed_out(self, number: int) -> tuple[str, ...]:
        results: list[str] = []
        copied: list[tuple[int, Node]] = []
        for node in self.dag.outputs:
            name = self.names[node]
            # NumPy gives scalars for shape (); callers get arrays, always.
            if not node.aval.shape or not self.buffers.given_out(name):
                copied.append((len(results), node))
            results.append(name)
        left = Counter(results)
        for position, node in copied:
            name = self.names[node]
            left[name] -= 1
            target = f"v{number}"
            number += 1
            last = not left[name] and not (node.is_input or node.is_constant)
            dead = (name,) if last else ()
            self.statements.append(Statement(node, target, (name,), _COPY, _COPY.aliases, "", dead))
            results[position] = target
        return tuple(results)


# -- what it needs -------------------------------------------------------------------------------------
def predicted_peak(program: Program, dims: Mapping[str, int] | None = None) -> int:
    """The most bytes the program holds at once, inputs and constants not counted.

    The program is run with sizes instead of arrays: each statement allocates its result unless it writes
    into an operand or gives a view, then releases what died. Inputs are taken to be contiguous.

    Parameters
    ----------
    program : Program
    dims : mapping of str to int, optional
        A size for each named dimension.
    """
    return _Simulation(program, dims or {}).peak()


class _Simulation:
    def __init__(self, program: Program, dims: Mapping[str, int]) -> None:
        self.program = program
        self.dims = dims
        self.sizes: list[int] = []
        self.holders: list[int] = []
        self.storages: dict[str, tuple[int, ...]] = {}
        self.resolved: dict[Any, int] = {}
        # Layouts are followed only where a reshape asks for them.
        self.with_layouts = any(
            Alias.RESHAPE in statement.aliases for statement in program.statements
        )
        self.layouts: dict[str, np.ndarray[Any, Any]] = {}

    def peak(self) -> int:
        for name in (*self.program.inputs, *self.program.constants):
            self.storages[name] = ()
        if self.with_layouts:
            for name, node in zip(
                self.program.inputs, self.program.dag.inputs.values(), strict=True
            ):
                self.layouts[name] = self._contiguous(node)
            for name, node in self.program.constants.items():
                self.layouts[name] = node.params["value"]
        now = peak = 0
        for statement in self.program.statements:
            before = len(self.sizes)
            self._compute(statement)
            now += sum(self.sizes[before:])
            peak = max(peak, now)
            for name in statement.dead:
                now -= self._released(name)
        return peak

    def _compute(self, statement: Statement) -> None:
        shared = [self.storages[name] for name in statement.operands]
        if statement.out:
            held: tuple[int, ...] = self.storages[statement.out]
        elif statement.node.op.name == "project":
            operand = shared[0]
            held = operand[statement.node.params["index"] :][:1]
        else:
            held = ()
            for alias, aval in zip(statement.aliases, statement.node.results, strict=True):
                if self._is_view(statement, alias):
                    held += tuple(dict.fromkeys(each for part in shared for each in part))
                else:
                    self.sizes.append(self._nbytes(aval))
                    self.holders.append(0)
                    held += (len(self.sizes) - 1,)
        self.storages[statement.target] = held
        for storage in held:
            self.holders[storage] += 1
        if self.with_layouts:
            self.layouts[statement.target] = self._layout(statement)

    def _released(self, name: str) -> int:
        freed = 0
        for storage in self.storages[name]:
            self.holders[storage] -= 1
            if not self.holders[storage]:
                freed += self.sizes[storage]
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
                return _reshapes_in_place(source, self._shape(statement.node))

    # -- sizes and layouts ---------------------------------------------------------------------------
    def _size(self, dim: Any) -> int:
        if isinstance(dim, int):
            return dim
        found = self.resolved.get(dim)
        if found is None:
            found = self.resolved[dim] = resolve(dim, self.dims)
        return found

    def _shape(self, node: Node) -> tuple[int, ...]:
        return tuple([self._size(dim) for dim in node.shape])

    def _nbytes(self, aval: Any) -> int:
        total = aval.dtype.itemsize
        for dim in aval.shape:
            total *= self._size(dim)
        return total

    def _contiguous(self, node: Node) -> np.ndarray[Any, Any]:
        return _without_memory(node.dtype, self._shape(node))

    def _layout(self, statement: Statement) -> np.ndarray[Any, Any]:
        """An array of the result's shape and strides that holds no memory."""
        node = statement.node
        if statement.out:
            return self.layouts[statement.out]
        operands = [self.layouts[name] for name in statement.operands]
        alias = statement.aliases[0]
        if alias is Alias.RESHAPE and self._is_view(statement, alias):
            return _reshaped(operands[0], self._shape(node))
        if alias in (Alias.WHOLE, Alias.PART) and node.shape and node.op.name != "project":
            return run(node, operands, self.dims)  # Views read no element.
        shape = self._shape(node)
        full = [each for each in operands if each.shape == shape]
        reverse = statement.spelling.out and full and all(_is_reversed(each) for each in full)
        return _without_memory(node.dtype, shape, reverse=bool(reverse))


def _without_memory(
    dtype: np.dtype[Any], shape: tuple[int, ...], *, reverse: bool = False
) -> np.ndarray[Any, Any]:
    strides: list[int] = []
    step = dtype.itemsize
    for size in shape if reverse else reversed(shape):
        strides.append(step)
        step *= size
    one = np.empty((), dtype)
    order = strides if reverse else strides[::-1]
    return np.lib.stride_tricks.as_strided(one, shape, order, writeable=False)


def _is_reversed(array: np.ndarray[Any, Any]) -> bool:
    return array.flags.f_contiguous and not array.flags.c_contiguous


def _reshapes_in_place(array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> bool:
    return array.flags.c_contiguous or _kept(array.shape) == _kept(shape)


def _kept(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if size != 1)


def _reshaped(array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if array.flags.c_contiguous:
        return _without_memory(array.dtype, shape)
    # Only dimensions of size one come or go, so no element is read.
    return array.reshape(shape)
