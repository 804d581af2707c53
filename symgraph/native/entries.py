"""Small programs as one function: where their values lie, and what is computed from what.

What only changes the order of numbers costs nothing; an array that a loop takes in row order is
copied where it lies otherwise.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TypeAlias

import numpy as np

from ..ir.avals import Aval
from ..ir.node import Node
from ..ir.traits import Arrangement
from ..lowering.drafts import Draft
from ..namespace import NUMPY
from ..records import record
from .groups import END, Group, Item
from .layouts import Laid, Numbers, row_order
from .operations import kind_of
from .small_products import MOST_WORK, Matrix, lies_well
from .writer import is_float

__all__ = [
    "Copied",
    "Entry",
    "Looped",
    "Multiplied",
    "Step",
    "Zeroed",
    "entry_of",
    "is_small",
    "matrices",
]

_MOST_NUMBERS = 2**14
"""Numbers of the largest loop: Python's other threads wait meanwhile."""
_MOST_BYTES = 2**11 if sys.platform == "win32" else 2**16
"""Bytes of temporaries, which lie on the stack; Windows gives that page by page."""


@record
class Looped:
    """A group, and where each value lies that its loop reads or writes."""

    group: Group
    values: Mapping[str, Laid]


@record
class Multiplied:
    """A product of matrices or vectors: its operands, and rows, columns and inner length."""

    left: Laid
    right: Laid
    out: Laid
    sizes: tuple[int, int, int]


@record
class Copied:
    """Numbers that are put elsewhere."""

    source: Laid
    out: Laid


@record
class Zeroed:
    """A memory that is filled with zeros."""

    out: Laid


Step: TypeAlias = "Looped | Multiplied | Copied | Zeroed"


@dataclass
class Entry:
    """A program as one function.

    Parameters
    ----------
    inputs, constants : dict of str to Laid
    arrays : dict of str to array
        The numbers of the constants.
    made : dict of str to Laid
        The memory that the function writes to, by name.
    steps : list of Step
    results : tuple of Laid
        Arrays, each in a memory of its own.
    """

    inputs: dict[str, Laid]
    constants: dict[str, Laid] = field(default_factory=dict[str, Laid])
    arrays: dict[str, Numbers] = field(default_factory=dict[str, Numbers])
    made: dict[str, Laid] = field(default_factory=dict[str, Laid])
    steps: list[Step] = field(default_factory=list[Step])
    results: tuple[Laid, ...] = ()

    @property
    def temporaries(self) -> dict[str, Laid]:
        """The memory that is no result's."""
        given = {each.memory for each in self.results}
        return {name: each for name, each in self.made.items() if name not in given}


def entry_of(
    items: Sequence[Item],
    inputs: Mapping[str, Aval],
    constants: Mapping[str, Node],
    results: Sequence[str],
) -> Entry | None:
    """The function of a program; None if a statement or a size stands against it.

    Parameters
    ----------
    items : sequence of Item
    inputs : mapping of str to Aval
    constants : mapping of str to Node
    results : sequence of str
        The names of the program's results, in order.
    """
    try:
        maker = _Maker(inputs, constants, _statements_of(items))
        for each in items:
            if isinstance(each, Group):
                maker.loop(each)
            else:
                maker.statement(each)
        return maker.finished(results)
    except _Left:
        return None


def _most_scratch(group: Group) -> int:
    """Bytes that a loop may keep of a row for later stages, if there are any."""
    if all(each.stage in (0, END) for each in group.placed.values()):
        return 0
    row = prod([int(group.space[axis]) for axis in group.columns])
    return 8 * row * len(group.members)


def is_small(aval: Aval) -> bool:
    """Whether an array may be a value of such a function."""
    size = aval.size
    return isinstance(size, int) and size <= _MOST_NUMBERS


def _statements_of(items: Sequence[Item]) -> Counter[Node]:
    """How many statements compute each node."""
    drafts = [
        draft
        for each in items
        for draft in ([m.draft for m in each.members] if isinstance(each, Group) else [each])
    ]
    return Counter([each.node for each in drafts])


class _Left(Exception):
    """The program runs statement by statement."""


def _laid(memory: str, aval: Aval) -> Laid:
    kind = kind_of(aval.dtype)
    if kind is None or not all(isinstance(dim, int) for dim in aval.shape):
        raise _Left
    shape = tuple([int(dim) for dim in aval.shape])
    return Laid(memory, kind, shape, row_order(shape))


def matrices(left: Laid, right: Laid, places: tuple[str, str] = ("", "")) -> tuple[Matrix, Matrix]:
    """The operands of a product; vectors are a row on the left, a column on the right."""
    rows = left.steps[0] if len(left.shape) == 2 else 0
    columns = right.steps[1] if len(right.shape) == 2 else 0
    return (
        Matrix(places[0], rows, left.steps[-1]),
        Matrix(places[1], right.steps[0], columns),
    )


class _Maker:
    def __init__(
        self,
        inputs: Mapping[str, Aval],
        constants: Mapping[str, Node],
        statements_of: Mapping[Node, int],
    ) -> None:
        self.values = {name: _laid(name, aval) for name, aval in inputs.items()}
        self.entry = Entry(dict(self.values))
        self.scratch = 0
        self.constants = constants
        self.statements_of = statements_of

    # -- statements --------------------------------------------------------------------------------
    def loop(self, group: Group) -> None:
        if not all(isinstance(dim, int) for dim in group.space):
            raise _Left
        if prod([int(dim) for dim in group.space]) > _MOST_NUMBERS:
            raise _Left
        read = dict.fromkeys([name for each in group.members for name in each.names])
        values = {name: self._operand(name, group) for name in read if name not in group.targets}
        for each in group.members:
            if each.target in group.results:
                values[each.target] = self._new(each.target, each.result)
        self.entry.steps.append(Looped(group, values))
        self.scratch += _most_scratch(group)

    def statement(self, draft: Draft) -> None:
        call = draft.line.call
        node = draft.node
        if len(draft.line.avals) != 1 or node.op.custom:
            raise _Left
        names = [each for each in draft.pieces if isinstance(each, str) and each in draft.names]
        (aval,) = draft.line.avals
        if self.statements_of[node] == 1 and not node.operands:
            self._constant(draft.target, aval, node.op.kernel(NUMPY, **node.params))
            return
        if self.statements_of[node] == 1 and node.op.traits.arrangement is Arrangement.DIAGONAL:
            self._diagonal(draft.target, aval, self._value(names[0]), node.params["offset"])
            return
        function = call.function if call is not None else ""
        if function == "np.matmul" and call is not None and call.args == (None, None):
            left, right = names if len(names) == 2 else names * 2
            self._product(draft.target, aval, self._value(left), self._value(right))
        elif function == "np.concatenate" and self.statements_of[node] == 1:
            self._joined(draft.target, aval, names, node.params["axis"])
        elif node.op.view and self.statements_of[node] == 1 and len(names) == 1:
            self.values[draft.target] = self._viewed(node, names[0])
        else:
            raise _Left

    def _viewed(self, node: Node, name: str) -> Laid:
        """A look at a value in another order or shape, or at some of it."""

        def view(x: Numbers) -> Numbers:
            return node.op.kernel(NUMPY, x, **node.params)

        value = self._value(name)
        found = value.viewed(view) or self._copied(value).viewed(view)
        if found is None or found.shape != node.shape:
            raise _Left
        return found

    def _joined(self, target: str, aval: Aval, names: Sequence[str], axis: int) -> None:
        out = self._new(target, aval)
        start = 0
        for name in names:
            value = self._value(name)
            place = replace(out, shape=value.shape, start=start)
            self.entry.steps.append(Copied(value, place))
            start += value.shape[axis] * out.steps[axis]
        if start != out.shape[axis] * out.steps[axis]:
            raise _Left

    def _product(self, target: str, aval: Aval, left: Laid, right: Laid) -> None:
        if not (left.kind == right.kind == kind_of(aval.dtype) and is_float(left.kind)):
            raise _Left
        if not ({len(left.shape), len(right.shape)} <= {1, 2}):
            raise _Left
        m = left.shape[0] if len(left.shape) == 2 else 1
        n = right.shape[1] if len(right.shape) == 2 else 1
        k = left.shape[-1]
        if m * n * k > MOST_WORK:
            raise _Left
        if not lies_well(*matrices(left, right), n, k):
            right = self._copied(right)
        self.entry.steps.append(Multiplied(left, right, self._new(target, aval), (m, n, k)))

    def _diagonal(self, target: str, aval: Aval, given: Laid, offset: int) -> None:
        out = self._new(target, aval)
        columns = out.shape[-1]
        start = offset if offset >= 0 else -offset * columns
        steps = (*out.steps[:-2], columns + 1)
        on_diagonal = replace(out, shape=given.shape, steps=steps, start=start)
        self.entry.steps += [Zeroed(out), Copied(given, on_diagonal)]

    # -- values ------------------------------------------------------------------------------------
    def _value(self, name: str) -> Laid:
        found = self.values.get(name)
        if found is not None:
            return found
        if name not in self.constants:
            raise _Left
        node = self.constants[name]
        return self._constant(name, node.aval, node.params["value"])

    def _constant(self, name: str, aval: Aval, value: Numbers) -> Laid:
        """Numbers that are the same in each call."""
        found = self.values[name] = self.entry.constants[name] = _laid(name, aval)
        array = np.array(value, aval.dtype, order="C")
        assert array.shape == found.shape
        self.entry.arrays[name] = array
        return found

    def _new(self, name: str, aval: Aval) -> Laid:
        found = _laid(name, aval)
        self.values[name] = self.entry.made[name] = found
        return found

    def _in_rows(self, name: str) -> Laid:
        found = self._value(name)
        return found if found.in_rows else self._copied(found)

    def _operand(self, name: str, group: Group) -> Laid:
        """An array that a loop reads: in row order, and of the loop's shape if it has to be."""
        found = self._value(name)
        shape = tuple([int(dim) for dim in group.space])
        if group.placed[name].form != "full" or found.size == prod(shape):
            return self._in_rows(name)
        return self._copied(found.broadcast(shape))

    def _copied(self, value: Laid) -> Laid:
        name = f"copy{len(self.entry.made)}"
        found = Laid(name, value.kind, value.shape, row_order(value.shape))
        self.entry.made[name] = found
        self.entry.steps.append(Copied(value, found))
        return found

    def _is_all(self, value: Laid) -> bool:
        """Whether a value has all numbers of a memory that the function makes."""
        made = self.entry.made.get(value.memory)
        steps = [step for step, n in zip(value.steps, value.shape, strict=True) if n != 1]
        return made is not None and made.size == value.size and all(step > 0 for step in steps)

    def finished(self, results: Sequence[str]) -> Entry:
        """The whole, with an array for each result."""
        found: dict[str, Laid] = {}
        for name in results:
            value = self._value(name)
            if value.memory in found or not self._is_all(value):
                value = self._copied(value)
            found[value.memory] = value
        self.entry.results = tuple(found.values())
        sizes = [each.size * each.itemsize for each in self.entry.temporaries.values()]
        if sum(sizes) + self.scratch > _MOST_BYTES:
            raise _Left
        return self.entry
