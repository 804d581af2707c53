"""Numbers made of named dimensions: `x.shape[0]`, `1 / n` and `n**0.5` as values of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from ..errors import DTypeError
from ..ir.dims import normal, plain
from ..ir.node import Node, make
from ..ir.op import OPS

if TYPE_CHECKING:
    from sympy import Expr

    from ..ir.symbolic_sizes import SymbolicSize

__all__ = ["node_of_size", "weak_number"]


def weak_number(dim: SymbolicSize | Expr) -> int | float:
    """The Python number that stands for an expression in dimensions in promotion: int or float."""
    return 0 if dim.is_integer else 0.0


def node_of_size(dim: SymbolicSize | Expr, dtype: DTypeLike | None = None) -> Node:
    """The 0-d value of an expression in named dimensions.

    Parameters
    ----------
    dim : SymbolicSize or SymPy expression
        Of named dimensions and numbers by + - * / and powers.
    dtype : dtype, optional
        By default int64 of a whole number and float64 of any other.

    Raises
    ------
    DTypeError
        If the expression is not a whole number and `dtype` is an integer, or if it is made of
        anything else.
    """
    dim = plain(dim)
    kind = np.dtype(dtype or type(weak_number(dim)))
    if dim.is_integer:
        return make(OPS["dimension"], (), {"size": normal(dim), "dtype": kind})
    if kind.kind != "f":
        raise DTypeError(f"{dim} need not be a whole number, as dtype {kind} wants it.")
    return _node(dim, kind)


def _node(expr: Any, dtype: np.dtype[Any]) -> Node:
    # Recursion as deep as the user's arithmetic on one shape.
    if expr.is_number:
        return make(OPS["constant"], (), {"value": np.array(float(expr), dtype=dtype)})
    if expr.is_integer:
        return make(OPS["dimension"], (), {"size": normal(expr), "dtype": dtype})
    if expr.is_Add or expr.is_Mul:
        over, under = expr.as_numer_denom()
        if expr.is_Mul and under != 1:
            return make(OPS["divide"], (_node(over, dtype), _node(under, dtype)))
        first, *rest = [_node(each, dtype) for each in expr.args]
        for each in rest:
            first = make(OPS["add" if expr.is_Add else "multiply"], (first, each))
        return first
    if expr.is_Pow:
        if expr.exp == -1:
            return make(OPS["divide"], (_node(expr.exp**0, dtype), _node(expr.base, dtype)))
        return make(OPS["power"], (_node(expr.base, dtype), _node(expr.exp, dtype)))
    raise DTypeError(
        f"{expr} is not a number made of dimensions by + - * / and powers.",
        mend="Compute it from a 0-d input instead.",
    )
