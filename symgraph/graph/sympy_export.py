"""A graph as SymPy expressions.

A graph's scalars become real symbols and its matrices `MatrixSymbol`s; what has no SymPy expression
is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..errors import SymgraphError
from ..ir.collector import collector_paused
from ..ir.dag import Dag
from ..ir.node import Node
from ..ir.traits import Arrangement
from ..ops.creation import DIMENSION

if TYPE_CHECKING:
    from sympy import Basic, Expr, MatrixExpr

__all__ = ["SAME_MEANING", "to_sympy"]


_OF_ONE_NAME = "exp log sin cos tan sinh cosh tanh erf erfc sign floor"
SAME_MEANING = {
    **{name: name for name in _OF_ONE_NAME.split()},
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "arctan2": "atan2",
    "absolute": "Abs",
    "ceil": "ceiling",
    "loggamma": "loggamma",
}
"""NumPy's names of functions, and SymPy's names of the same functions."""

_OF_DEFINITIONS = "sqrt digamma asin acos atan atan2 asinh acosh atanh"
_ONE_WAY = {
    **{name: name for name in _OF_DEFINITIONS.split()},
    "maximum": "Max",
    "minimum": "Min",
    "less": "Lt",
    "less_equal": "Le",
    "greater": "Gt",
    "greater_equal": "Ge",
    "equal": "Eq",
    "not_equal": "Ne",
    "logical_and": "And",
    "logical_or": "Or",
    "logical_not": "Not",
}
"""What SymPy has as another function or of any number of operands, so it is not read back so."""


# -- out -------------------------------------------------------------------------------------------
class _Functions:
    """SymPy's functions under NumPy's names, as the definitions of operations call them."""

    exp: Callable[..., Any]
    log: Callable[..., Any]
    loggamma: Callable[..., Any]

    def __init__(self) -> None:
        import sympy as s

        for ours, theirs in {**SAME_MEANING, **_ONE_WAY}.items():
            setattr(self, ours, getattr(s, theirs))
        self._choice, self._real_part = s.Piecewise, s.re

    def where(self, condition: Basic, x: Expr, y: Expr) -> Any:
        return self._choice((x, condition), (y, True))

    def add(self, x: Expr, y: Expr) -> Any:
        return x + y

    def subtract(self, x: Expr, y: Expr) -> Any:
        return x - y

    def multiply(self, x: Expr, y: Expr) -> Any:
        return x * y

    def divide(self, x: Expr, y: Expr) -> Any:
        return x / y

    def negative(self, x: Expr) -> Any:
        return -x

    def power(self, x: Expr, y: Expr) -> Any:
        return x**y

    def square(self, x: Expr) -> Any:
        return x**2

    def log1p(self, x: Expr) -> Any:
        return self.log(1 + x)

    def gammaln(self, x: Expr) -> Any:
        """The real part: of a negative number SymPy's logarithm is complex."""
        found = self.loggamma(x)
        return found if x.is_positive else self._real_part(found)

    def expm1(self, x: Expr) -> Any:
        return self.exp(x) - 1

    def sigmoid(self, x: Expr) -> Any:
        return 1 / (1 + self.exp(-x))

    def softplus(self, x: Expr) -> Any:
        return self.log(1 + self.exp(x))


class _Matrices:
    """The same for matrices: only operations that mean the same for matrices as a whole."""

    def __init__(self) -> None:
        import sympy as s

        self.inv, self.det = s.Inverse, s.Determinant

    def add(self, x: MatrixExpr, y: MatrixExpr) -> Any:
        return x + y

    def subtract(self, x: MatrixExpr, y: MatrixExpr) -> Any:
        return x - y

    def negative(self, x: MatrixExpr) -> Any:
        return -x

    def matmul(self, x: MatrixExpr, y: MatrixExpr) -> Any:
        return x * y

    def transpose(self, x: MatrixExpr) -> Any:
        return x.T

    def multiply(self, x: Expr, y: Expr) -> Any:
        import sympy as s

        return s.HadamardProduct(x, y) if x.is_Matrix and y.is_Matrix else x * y


@collector_paused()
def to_sympy(dag: Dag) -> dict[str, Basic]:
    """The outputs of a graph of scalars and matrices as SymPy expressions, by name."""
    scalars, matrices = _Functions(), _Matrices()
    found: dict[Node, Any] = {}
    for node in dag.nodes:
        operands = [found[operand] for operand in node.operands]
        found[node] = _expression(node, operands, scalars, matrices)
    return {name: found[node] for name, node in zip(dag.names, dag.outputs, strict=True)}


def _expression(
    node: Node, operands: Sequence[Any], scalars: _Functions, matrices: _Matrices
) -> Any:
    import sympy as s

    if len(node.results) == 1 and node.ndim in (0, 2):
        if node.is_input:
            name = node.params["name"]
            if node.shape:
                return s.MatrixSymbol(name, *node.shape)
            return s.Symbol(name) if node.dtype == bool else s.Symbol(name, real=True)
        if node.op is DIMENSION:
            return node.params["size"]
        if node.is_constant and not node.shape:
            return _number(node.params["value"])
        if _keeps_numbers(node):
            return operands[0]
        made = _scalar if all(not each.shape for each in (node, *node.operands)) else _of_matrices
        result = made(node, operands, scalars, matrices)
        if result is not None:
            return result
    raise SymgraphError(
        f"{node.op.name} of {', '.join(str(each.aval) for each in node.operands) or node.aval} "
        "has no SymPy expression.",
        [f"{node.op.name}   from {node.origin}"],
        mend="Scalars and matrices with products, transposes, inverses and determinants have one; "
        "graph.to_latex() shows any graph.",
    )


def _keeps_numbers(node: Node) -> bool:
    """Whether the node is its operand: the same, or a cast that drops no fraction."""
    if node.op.traits.arrangement is Arrangement.CONVERTED:
        source = node.operands[0].dtype
        return source.kind != "b" and (node.dtype.kind == "f" or np.can_cast(source, node.dtype))
    return node.op.traits.arrangement is Arrangement.SAME


def _number(value: np.ndarray[Any, Any]) -> Any:
    import sympy as s

    item = value.item()
    if isinstance(item, bool):
        return s.true if item else s.false
    if isinstance(item, float) and item.is_integer() and abs(item) < 2**53:
        return s.Integer(int(item))
    return s.Integer(item) if isinstance(item, int) else s.Float(item, 17)


def _scalar(node: Node, operands: Sequence[Any], scalars: _Functions, _matrices: _Matrices) -> Any:
    operands = _as_sympy_takes_them(node, operands)
    made: Callable[..., Any] | None = getattr(scalars, node.op.name, None)
    if not operands:
        return None
    if made is not None:
        return made(*operands)
    if node.op.definition is None or node.params:
        return None
    try:
        return node.op.definition(cast("Any", scalars), *operands)
    except AttributeError:  # The definition calls a function that SymPy has not.
        return None


def _as_sympy_takes_them(node: Node, operands: Sequence[Any]) -> list[Any]:
    """The operands: SymPy's logic is of truth values alone, and its numbers are none; else none."""
    import sympy as s

    bools = [each.dtype == bool for each in node.operands]
    if node.op.name.startswith("logical_"):
        pairs = zip(operands, bools, strict=True)
        return [each if known else s.Ne(each, 0) for each, known in pairs]
    return [] if any(bools[node.op.name == "where" :]) else list(operands)


def _of_matrices(
    node: Node, operands: Sequence[Any], _scalars: _Functions, matrices: _Matrices
) -> Any:
    fits = all(each.shape in ((), node.shape) for each in node.operands)
    elementwise = node.op.traits.elementwise
    made: Callable[..., Any] | None = getattr(matrices, node.op.name, None)
    if made is None or (elementwise and not fits):
        return None
    if elementwise and node.op.name != matrices.multiply.__name__:
        # SymPy adds no number to a matrix.
        return made(*operands) if all(each.shape for each in node.operands) else None
    return made(*operands)
