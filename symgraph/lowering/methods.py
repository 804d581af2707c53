"""Calls of NumPy's functions as methods of arrays, which take a third of the time to call."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.avals import Aval
from .pieces import Alias, Pieces
from .statements import Program, Statement

__all__ = ["as_method", "wholes"]

_METHODS = {"np.reshape(": ".reshape(", "np.transpose(": ".transpose("}
_BOTH_AXES = ("(", "-1", ", ", "-2", ")", ")")
"""The axes of a transposed matrix: the attribute `T` takes half the time of the method."""
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
    return aval.ndim in (1, 2) and all(
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
