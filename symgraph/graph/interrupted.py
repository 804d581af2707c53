"""The exception that Ctrl-C raises while a graph is simplified."""

from __future__ import annotations

from typing import Any

__all__ = ["SimplifyInterrupted"]


class SimplifyInterrupted(KeyboardInterrupt):
    """Ctrl-C while a graph was simplified. The simplest equal graph found so far is kept.

    It ends a program as any Ctrl-C does, unless it is caught.

    Parameters
    ----------
    graph : Graph
        Of the same inputs and outputs as the graph that was to be simplified.
    given : int
        The operations of that graph.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.log(np.exp(x)), x="n")
    >>> def stop(progress):
    ...     raise KeyboardInterrupt
    >>> try:
    ...     small = graph.simplify(progress=stop)
    ... except sg.SimplifyInterrupted as stopped:
    ...     small = stopped.graph
    >>> small.formula()
    log(exp(x))
    """

    def __init__(self, graph: object, given: int) -> None:
        self.graph: Any = graph
        self.given = given
        count = self.graph.op_count()
        super().__init__(
            f"simplify was interrupted. The best graph so far, of {count} operations "
            f"instead of {given}, is the attribute `graph` of this exception."
        )
