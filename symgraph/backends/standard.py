"""Any namespace of the Python array API standard as a backend that runs kernels one by one.

`StandardBackend("mine", StandardNamespace(module))` is the whole backend of a package whose arrays
follow the standard, such as array-api-strict, or torch through array-api-compat. An operation that
the namespace cannot compute is refused. `symgraph.backends.jax` is an example of a backend that
does more: it compiles, and runs on other devices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..ir.dag import Dag
from ..ir.node import Node
from ..passes.program_graph import program_graph
from .base import Compiled
from .capabilities import Capabilities
from .op_by_op import Steps
from .standard_namespace import StandardNamespace

__all__ = ["StandardBackend", "StandardNamespace"]


class StandardBackend:
    """Runs graphs node by node in a namespace of the array API standard.

    Parameters
    ----------
    name : str
        The name for `graph.lower(name)`.
    namespace : StandardNamespace

    Examples
    --------
    A package's module, whose entry point in the group `symgraph.backends` names `BACKEND`::

        import array_api_strict
        from symgraph.backends.standard import StandardBackend, StandardNamespace

        BACKEND = StandardBackend("strict", StandardNamespace(array_api_strict))
    """

    def __init__(self, name: str, namespace: StandardNamespace) -> None:
        self.name = name
        self.namespace = namespace
        self.native = (np.ndarray,)

    @property
    def capabilities(self) -> Capabilities:
        """The dtypes that the namespace has; NumPy arrays are given to its default device."""
        return Capabilities(dtypes=self.namespace.dtypes)

    def compile(self, dag: Dag) -> Compiled:
        """A function that runs the kernels in the order of the graph."""
        steps = self._steps(program_graph(dag), self.namespace)
        count = len(dag.inputs)

        def call(*values: Any) -> Sequence[Any]:
            sizes = dict(zip(steps.dims, values[count:], strict=True))
            arrays = [self.namespace.from_numpy(each) for each in values[:count]]
            results = steps(arrays, sizes)
            return [self._result(*each) for each in zip(dag.outputs, results, strict=True)]

        return Compiled(call, steps.source, steps.dims)

    def _steps(self, ran: Dag, namespace: StandardNamespace) -> Steps:
        return Steps(self.name, ran, namespace, partial(self._rounding, namespace))

    def _rounding(self, namespace: StandardNamespace, node: Node) -> Callable[[Any], Any] | None:
        """Where the namespace lacks the dtype and holds a wider one: to the dtype's values."""
        if len(node.results) > 1 or not namespace.lacks(node.aval.dtype):
            return None
        return lambda value: namespace.from_numpy(self._result(node, value))

    def _result(self, node: Node, value: Any) -> np.ndarray[Any, Any]:
        with np.errstate(all="ignore"):
            return np.array(self.to_numpy(value), dtype=node.aval.dtype)

    def to_numpy(self, value: Any) -> np.ndarray[Any, Any]:
        return value if isinstance(value, np.ndarray) else self.namespace.to_numpy(value)
