"""SymPy expressions as a graph: a walk from part to part, which never parses a text."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import TYPE_CHECKING, Any

from ..array import FUNCTIONS, Array
from ..errors import InputError
from ..ir.dims import ShapeLike
from ..ops.creation import constant
from ..ops.creation import input as new_input
from .graph import Graph
from .sympy_functions import REMEDIES, Maker, makers
from .tracing import graph as graph_of

if TYPE_CHECKING:
    from sympy import Basic, Expr

__all__ = ["from_sympy"]


def from_sympy(expr: Basic, **specs: ShapeLike) -> Graph:
    """The graph of a SymPy expression, of scalars or of matrices.

    Parameters
    ----------
    expr : sympy.Expr, sympy.MatrixExpr or sympy.Matrix
        Symbols become inputs, in alphabetical order; a text is refused, for SymPy would execute it.
    **specs : array specifications
        The shape of a symbol, as `sg.trace` takes it; scalars without one. Functions of it are of
        its elements.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        If it is no SymPy expression, or holds a function that this library lacks, or what SymPy has
        not evaluated yet, such as an integral.

    Examples
    --------
    >>> import sympy
    >>> x, y = sympy.symbols("x y")
    >>> sg.from_sympy(sympy.log(sympy.exp(x)) + y**2).simplify().formula()
    y**2 + x
    >>> A, B = sympy.MatrixSymbol("A", 2, 3), sympy.MatrixSymbol("B", 3, 2)
    >>> sg.from_sympy(sympy.Trace(A * B)).gradient("A", value=False).simplify().formula()
    B.T
    """
    import sympy as s

    if isinstance(expr, s.MatrixBase):
        expr = s.ImmutableDenseMatrix(expr)
    if not isinstance(expr, s.Basic):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(
            f"{type(expr).__name__} is no SymPy expression.",
            mend="A text is never evaluated."
            if isinstance(expr, str)
            else "Several expressions are one sympy.Matrix; sympy.sympify makes one of a number.",
        )
    table = makers()
    order = _below(expr)
    free = [each for each in order if isinstance(each, s.Symbol | s.MatrixSymbol)]
    sizes = {part for each in free if isinstance(each, s.MatrixSymbol) for part in each.shape}
    names = {part for size in sizes for part in size.free_symbols}
    matrix_names = {each.name for each in free if isinstance(each, s.MatrixSymbol)}
    found: dict[Any, Any] = {}
    for each in sorted(free, key=str):
        if isinstance(each, s.MatrixSymbol):
            shape: Any = tuple(_size(size) for size in each.shape)
            found[each] = new_input(each.name, shape)
        elif each not in names and each.name not in matrix_names:
            found[each] = new_input(each.name, specs.pop(each.name, ()))
    if specs:
        raise InputError(f"The expression has no scalar symbol named {', '.join(specs)}.")
    for node in order:
        if node not in found:
            found[node] = _made(node, found, table)
    result = found[expr]
    return graph_of(result if isinstance(result, Array) else constant(result))


def _below(expr: Basic) -> list[Any]:
    """All subexpressions, each after its parts, without recursion."""
    order: dict[Any, None] = {}
    known: set[int] = set()  # By identity: the hash of a part is known before that of the whole.
    stack: list[tuple[Any, bool]] = [(expr, False)]
    while stack:
        node, ready = stack.pop()
        if ready or (_is_leaf(node) and id(node) not in known):
            order.setdefault(node)
            known.add(id(node))
        elif id(node) not in known:
            known.add(id(node))
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(node.args))
    return list(order)


def _is_leaf(node: Basic) -> bool:
    import sympy as s

    return not node.args or isinstance(node, s.MatrixSymbol)


def _size(size: Basic) -> int | str:
    return int(str(size)) if size.is_Integer else str(size)


def _made(node: Expr, found: Mapping[Any, Any], table: Mapping[Any, Maker]) -> Any:
    if not node.args and getattr(node, "is_extended_real", False):
        return int(node) if node.is_Integer else float(node)
    if node.is_Boolean and not node.args:
        return bool(node)
    if node.func.__name__ == "NaN":
        return nan
    if node.func.__name__ == "re" and node.args[0].func.__name__ == "loggamma":
        # Of a negative number the whole is complex, and only its real part is gammaln.
        return FUNCTIONS["gammaln"](found[node.args[0].args[0]])
    make = table.get(node.func)
    if make is None or any(part not in found for part in node.args):
        raise _refused(node)
    return make(*[found[part] for part in node.args])


def _refused(node: Basic) -> InputError:
    import sympy as s

    name = node.func.__name__
    remedy = REMEDIES.get(name, "")
    if isinstance(node, s.core.function.AppliedUndef):
        remedy = f"{name} is a function without a body: expr.subs({node}, ...) gives it one."
    return InputError(f"SymPy's {name} has no counterpart here.", [str(node)[:80]], remedy)
