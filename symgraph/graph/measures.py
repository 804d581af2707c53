"""The cost of a graph: operations, flops, bytes, memory.

The functions are the methods of `View` of the same names.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from .. import memory as plans
from ..ir.cost import Cost, checked_dims
from ..ir.cost import bytes_moved as bytes_of
from ..ir.cost import cost as cost_of
from ..ir.cost import flops as flops_of
from ..ir.cost import op_count as count_of
from ..ir.dag import Dag
from ..passes.program_graph import program_graph

if TYPE_CHECKING:
    from ..ir.dims import Dim

__all__ = [
    "HasDag",
    "bytes_moved",
    "cost",
    "flops",
    "memory",
    "memory_frontier",
    "memory_plan",
    "op_count",
]


class HasDag(Protocol):
    """A graph, seen as its nodes alone."""

    dag: Dag


def op_count(self: HasDag) -> int:
    """Operations by the convention for closed forms: movement and constants are free.

    Returns
    -------
    int

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> graph.op_count()
    2
    """
    return count_of(self.dag.outputs)


def flops(self: HasDag, /, **dims: int) -> Dim:
    """Floating-point operations: a number, or a formula in the dimensions not given.

    Parameters
    ----------
    **dims : int
        A size for each named dimension; the result is a formula in the others.

    Returns
    -------
    int or SymPy expression

    Raises
    ------
    InputError
        If no dimension has such a name.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> graph.flops(n=100), graph.flops()
    (1100, 11*n)
    """
    return flops_of(self.dag.outputs, dims, self.dag.dims)


def bytes_moved(self: HasDag, /, **dims: int) -> Dim:
    """Bytes that operations read and write if none are fused: a number or a formula.

    Parameters
    ----------
    **dims : int
        A size for each named dimension; the result is a formula in the others.

    Returns
    -------
    int or SymPy expression

    Raises
    ------
    InputError
        If no dimension has such a name.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> graph.bytes_moved(n=100)
    2408
    """
    return bytes_of(self.dag.outputs, dims, self.dag.dims)


def cost(self: HasDag, /, **dims: int) -> Cost:
    """Operations, flops and bytes, in all, by operation and by node; prints as a table.

    Parameters
    ----------
    **dims : int
        A size for each named dimension; the result is a formula in the others.

    Returns
    -------
    Cost
        Its `operations`, `flops` and `bytes` are the totals.

    Raises
    ------
    InputError
        If no dimension has such a name.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> graph.cost(n=100).flops
    1100
    """
    return cost_of(self.dag.outputs, dims, self.dag.dims)


def memory(self: HasDag, /, **dims: int) -> plans.Memory:
    """Live ranges of the schedule, and the predicted peak in bytes (`.peak_bytes`).

    The peak is that of the program `lower()` emits for NumPy, in-place reuse and working room
    included; inputs belong to the caller and do not count. What loops keep for the loops of their
    gradients is among the results of the former.

    Parameters
    ----------
    **dims : int
        A size for each named dimension.

    Returns
    -------
    Memory
        `peak_bytes` is the number, `timeline` the bytes alive at each node.

    Raises
    ------
    InputError
        If a size is missing, or no dimension has such a name.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> graph.memory(n=1000).peak_bytes
    8016
    """
    checked_dims(dims, self.dag.outputs, self.dag.dims)
    needed = plans.memory(program_graph(self.dag), dims)
    return replace(needed, peak_bytes=plans.program_peak(self.dag, dims))


def memory_plan(self: HasDag, /, **dims: int) -> plans.MemoryPlan:
    """The plan of a graph from `checkpoint`: peak, cost, a bound, and what is computed again.

    Parameters
    ----------
    **dims : int
        A size for each named dimension.

    Returns
    -------
    MemoryPlan
        `explain()` tells the values computed again in your lines.

    Raises
    ------
    InputError
        If a size is missing, or no dimension has such a name.

    Examples
    --------
    >>> def deep(x):
    ...     for _ in range(20):
    ...         x = np.sin(x)
    ...     return np.sum(x)
    >>> graph = sg.trace(deep, x="n").gradient("x", value=False).simplify()
    >>> graph.checkpoint("70%", n=1000).memory_plan(n=1000).peak_bytes
    104000
    """
    checked_dims(dims, self.dag.outputs, self.dag.dims)
    return plans.plan_of(self.dag, dims)


def memory_frontier(self: HasDag, /, **dims: int) -> list[tuple[int, int]]:
    """Peak bytes of the memory model against operations computed again, peaks rising.

    No plan in the list is beaten by another one in both. The last computes everything once.

    Parameters
    ----------
    **dims : int
        A size for each named dimension.

    Returns
    -------
    list of (int, int)

    Raises
    ------
    InputError
        If a size is missing, or no dimension has such a name.

    Examples
    --------
    >>> def deep(x):
    ...     for _ in range(6):
    ...         x = np.sin(x)
    ...     return np.sum(x)
    >>> graph = sg.trace(deep, x="n").gradient("x", value=False).simplify()
    >>> graph.memory_frontier(n=1000)[-1]
    (40000, 0)
    """
    checked_dims(dims, self.dag.outputs, self.dag.dims)
    return plans.frontier(self.dag, dims)
