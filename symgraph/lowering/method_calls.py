"""Calls of NumPy's functions as methods of arrays, and as operators of numbers.

A method takes a third of the time to call. An operator of two of NumPy's numbers takes a tenth of
what a function does that makes arrays of them first, and rounds as it does.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..ir.avals import Aval
from .shapes import ufunc_named
from .source_pieces import Alias, Piece, Pieces, Tabled
from .statements import Program, Statement

__all__ = ["as_method", "as_operator", "numbers", "wholes"]

_METHODS = {"np.reshape(": ".reshape(", "np.transpose(": ".transpose("}
_BOTH_AXES = ("(", "-1", ", ", "-2", ")", ")")
"""The axes of a transposed matrix: the attribute `T` takes half the time of the method."""
_LAST_AXIS = (", axis=", "-1")
_MOST = 2**14
"""Of larger matrices only the product counts, and `dot` copies those that lie in odd ways."""


def wholes(program: Program) -> dict[str, Aval]:
    """Shapes and dtypes of the values that are whole arrays, and no parts or repetitions of any."""
    inputs = zip(program.inputs, program.dag.inputs.values(), strict=True)
    found = {name: node.aval for name, node in inputs if len(node.results) == 1}
    found.update({name: node.aval for name, node in program.constants.items()})
    for each in program.statements:
        turned = each.aliases[0] in (Alias.WHOLE, Alias.RESHAPE) and each.pieces[0] in _METHODS
        if each.aliases == (Alias.FRESH,) or (turned and set(each.operands) <= found.keys()):
            found[each.target] = each.avals[0]
    return found


def as_method(statement: Statement, avals: Mapping[str, Aval]) -> Pieces:
    """The right-hand side with `v1.reshape((2, 3))` for `np.reshape(v1, (2, 3))`."""
    pieces = statement.pieces
    first = pieces[0]
    method = _METHODS.get(first) if isinstance(first, str) else None
    if method is None and first == "np.matmul(" and _takes_dot(statement, avals):
        method = ".dot("
    if pieces[2:4] == _LAST_AXIS and f"{first}".endswith(".reduce("):
        whole = avals.get(f"{pieces[1]}")
        if whole is not None and whole.ndim == 1:
            return (*pieces[:2], *pieces[4:])  # A vector has no other axis.
    if method is None or not (isinstance(pieces[1], str) and pieces[1].isidentifier()):
        return pieces
    rest = pieces[3:] if pieces[2:3] == (", ",) else pieces[2:]
    if method == ".transpose(" and rest == _BOTH_AXES:
        return (pieces[1], ".T")
    return (pieces[1], method, *rest)


def _takes_dot(statement: Statement, avals: Mapping[str, Aval]) -> bool:
    """Whether a product of small matrices and vectors is the same by `dot`, to the bit.

    `dot` takes an axis of length one for a number, and zero times infinity is zero to it then. Of
    other arrays than whole ones it gives BLAS a copy, where `matmul` calls no BLAS.
    """
    known = [avals.get(each) for each in statement.pieces[1:4:2] if isinstance(each, str)]
    if statement.loop >= 0 or len(known) != 2:
        return False
    (aval,) = statement.avals
    # Of stacks of matrices `dot` takes all pairs.
    return aval.ndim <= 2 and all(
        each is not None
        and each.ndim <= 2
        and each.dtype == aval.dtype
        and each.dtype.kind == "f"
        and each.dtype.itemsize >= 4
        and all(isinstance(dim, int) and dim > 1 for dim in each.shape)
        and isinstance(each.size, int)
        and each.size <= _MOST
        for each in known
    )


_OPERATORS = {
    "np.add(": "{0} + {1}",
    "np.divide(": "{0} / {1}",
    "np.multiply(": "{0} * {1}",
    "np.negative(": "-{0}",
    "np.square(": "{0} * {0}",
    "np.subtract(": "{0} - {1}",
}
_FLOATS = (np.dtype("float32"), np.dtype("float64"))


def numbers(program: Program) -> dict[str, np.dtype[np.generic]]:
    """The dtypes of the values that are NumPy's scalars, and no arrays of shape ()."""
    return {
        each.target: each.avals[0].dtype
        for each in program.statements
        if len(each.avals) == 1 and each.avals[0].dtype in _FLOATS and _gives_number(each)
    }


def _gives_number(statement: Statement) -> bool:
    first = statement.pieces[0]
    if statement.avals[0].shape or statement.place or statement.out or not isinstance(first, str):
        return False
    return first == "np.matmul(" or ".reduce(" in first or ufunc_named(first[:-1], None) is not None


def as_operator(
    statement: Statement,
    known: Mapping[str, np.dtype[np.generic]],
    constants: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]],
) -> Pieces:
    """The right-hand side with `v1 * v2` for `np.multiply(v1, v2)` of NumPy's scalars."""
    pieces = statement.pieces
    first = pieces[0]
    template = _OPERATORS.get(first) if isinstance(first, str) else None
    if template is None or statement.target not in known or pieces[-1] != ")":
        return pieces
    dtype = known[statement.target]
    texts = [_number_text(each, dtype, known, constants) for each in pieces[1:-1:2]]
    if None in texts or not any(isinstance(each, str) and each in known for each in pieces[1:-1]):
        return pieces
    return (template.format(*texts),)


def _number_text(
    piece: Piece,
    dtype: np.dtype[np.generic],
    known: Mapping[str, np.dtype[np.generic]],
    constants: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]],
) -> str | None:
    """A number by its name, a constant by its digits; None for another operand."""
    if isinstance(piece, str) and piece in known:
        return piece if known[piece] == dtype else None
    value = piece.value if isinstance(piece, Tabled) else constants.get(f"{piece}")
    if not isinstance(value, np.ndarray) or value.shape or value.dtype != dtype:
        return None
    return repr(float(value)) if np.isfinite(value) else None
