"""Graphs as Python source, which needs only an array namespace with NumPy's names."""

from __future__ import annotations

from ..ir.collector import collector_paused
from ..ir.dag import Dag
from ..lowering.functional import functional

__all__ = ["to_python"]


@collector_paused()
def to_python(dag: Dag) -> str:
    """The source of `def function(np, **inputs)`, with one line a node.

    If the source of a custom operation's kernel cannot be written out, the function takes the
    kernels as an argument: `def function(np, kernels, **inputs)`. This is a mapping from names of
    operations to functions.

    Raises
    ------
    BackendError
        If a param of an operation, or a size, cannot be written with NumPy's names.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.exp(x) + 1, x=(3,))
    >>> names = {}
    >>> exec(graph.to_python(), names)
    >>> names["function"](np, x=np.zeros(3))
    array([2., 2., 2.])
    """
    return functional(dag)
