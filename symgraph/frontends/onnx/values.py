"""Values behind the names of a model: arrays of the graph, and their numbers where known.

Shapes, axes and indices are numbers that the structure of a graph depends on. In a model they are
computed as all else is: `Shape`, `Gather`, `Concat`, `Reshape`. So small values that depend on no
input are evaluated as they are read, and sizes of named dimensions are carried as formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from ...array import FUNCTIONS, Array, constant
from ...array.dimension_numbers import node_of_size
from ...errors import FormatError
from ...ir.dag import Dag
from ...ir.dims import is_named, normal
from ...ir.interpreter import evaluate
from ...ir.node import Node
from ...ir.symbolic_sizes import as_expr
from ...ir.walks import reachable

__all__ = [
    "FOLDED",
    "Entry",
    "Numbers",
    "Value",
    "check_sizes",
    "entry",
    "folded",
    "from_sizes",
    "is_sized",
]

Numbers: TypeAlias = "np.ndarray[Any, Any]"
"""Of numbers; or, with dtype object, of ints and formulas in named dimensions."""

FOLDED = 65_536
"""The most elements of a value that is evaluated while a model is read."""


class Value:
    """A tensor of the model.

    Parameters
    ----------
    array : Array, optional
        Made when it is asked for, where only numbers are given.
    numbers : Numbers, optional
        Its elements, where they are known.
    """

    __slots__ = ("_array", "numbers")

    def __init__(self, array: Array | None = None, numbers: Numbers | None = None) -> None:
        self._array = array
        self.numbers = numbers

    @property
    def array(self) -> Array:
        """The value in the graph."""
        if self._array is None:
            assert self.numbers is not None
            self._array = _constant(self.numbers)
        return self._array

    @property
    def sized(self) -> bool:
        """Whether its elements are formulas in named dimensions."""
        return is_sized(self.numbers)

    @property
    def small(self) -> bool:
        """Whether its elements are known, and few."""
        return self.numbers is not None and self.numbers.size <= FOLDED


Entry: TypeAlias = "Value | tuple[Value, ...] | None"
"""A tensor, a sequence of tensors, or nothing."""


def is_sized(numbers: object) -> bool:
    """Whether something is an array of dimensions."""
    return isinstance(numbers, np.ndarray) and numbers.dtype.kind == "O"


def _constant(numbers: Numbers) -> Array:
    if not is_sized(numbers):
        return constant(numbers)
    parts = [
        Array(node_of_size(each, np.int64)) if is_named(each) else constant(each, np.int64)
        for each in numbers.ravel()
    ]
    flat = FUNCTIONS["stack"](parts)
    return FUNCTIONS["reshape"](flat, numbers.shape)


_MOST_TERMS = 1_000
"""The most terms of a formula for a size, multiplied out."""


def check_sizes(sizes: Iterable[Any]) -> None:
    """Refuse formulas that would take too long to be multiplied out.

    Raises
    ------
    FormatError
        If their product has too many terms.
    """
    total = 1
    for each in sizes:
        if is_named(each):
            total *= _terms(each)
        if total > _MOST_TERMS:
            raise FormatError(
                "A size is a formula of too many terms.",
                mend="Give named dimensions numbers with dims=.",
            )


def _terms(expr: Any) -> int:
    """How many terms a sum of products has, multiplied out; at most `_MOST_TERMS` + 1."""
    expr = as_expr(expr)
    if expr.is_Add:
        found = sum(_terms(each) for each in expr.args)
    elif expr.is_Mul:
        found = 1
        for each in expr.args:
            found = min(found * _terms(each), _MOST_TERMS + 1)
    elif expr.is_Pow and expr.exp.is_Integer and expr.exp > 1:
        base = _terms(expr.base)
        found = 1 if base == 1 else base ** min(int(expr.exp), 10)
    else:
        found = 1 + sum(_terms(each) for each in expr.args)
    return min(found, _MOST_TERMS + 1)


def from_sizes(sizes: Any) -> Value:
    """A value made of dimensions; of numbers, where none has a name."""
    numbers = np.asarray(sizes, dtype=object)
    for each in numbers.ravel():
        check_sizes([each])
    flat = [normal(each) for each in numbers.ravel()]
    if not any(map(is_named, flat)):
        return Value(numbers=np.array(flat, np.int64).reshape(numbers.shape))
    numbers = np.empty(len(flat), object)
    numbers[:] = flat
    return Value(numbers=numbers.reshape(np.shape(sizes)))


def entry(result: Any) -> Entry:
    """The result of an operator, as an entry."""
    if isinstance(result, (tuple, list)):
        return tuple([cast("Value", entry(each)) for each in cast("Sequence[Any]", result)])
    if result is None or isinstance(result, Value):
        return result
    return Value(result) if isinstance(result, Array) else Value(numbers=np.asarray(result))


def folded(results: Sequence[Array]) -> list[Numbers] | None:
    """The numbers of results that depend on no input, if no step on the way to them is large."""
    nodes = [each.node for each in results]
    if not nodes or any(map(_unknown, reachable(nodes))):
        return None
    with np.errstate(all="ignore"):
        return [np.asarray(each) for each in evaluate(Dag({}, nodes), {})]


def _unknown(node: Node) -> bool:
    """Whether a node is an input, of named dimensions, or too large to be evaluated here."""
    if node.is_input or node.op.name == "dimension":
        return True
    sizes = [each.size for each in node.results]
    return any(not isinstance(each, int) or each > FOLDED for each in sizes)
