"""A graph as Python source that needs only an array namespace with NumPy's names."""

from __future__ import annotations

from ..ir.dag import Dag
from ..lowering.functional import functional

__all__ = ["to_python"]


def to_python(dag: Dag) -> str:
    """Source of `def function(np, **inputs)`: one line a node, results grouped as asked.

    Kernels of custom operations whose source cannot stand alone are an argument: `def function(np,
    kernels, **inputs)`, a mapping from names of operations to functions.

    Raises
    ------
    BackendError
        If a param of an operation or a size has no source in NumPy's words.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.exp(x) + 1, x=(3,))
    >>> names = {}
    >>> exec(graph.to_python(), names)
    >>> names["function"](np, x=np.zeros(3))
    array([2., 2., 2.])
    """
    return functional(dag)
