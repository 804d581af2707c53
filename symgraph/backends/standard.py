"""Any namespace of the Python array API standard as a backend that runs kernels one by one.

`StandardBackend("mine", StandardNamespace(module))` is the whole backend of a package whose arrays
follow the standard, such as array-api-strict, or torch through array-api-compat. An operation that
the namespace cannot compute is refused. `symgraph.backends.jax` is an example of a backend that
does more: it compiles, and runs on other devices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import BackendError, SymgraphError
from ..ir.dag import Dag
from ..ir.interpreter import run
from ..ir.node import Node
from ..namespace import Namespace
from ..passes.as_run import as_run
from .base import Compiled, sizes_read
from .capabilities import Capabilities
from .standardnames import StandardNamespace

__all__ = ["StandardBackend", "StandardNamespace", "computed"]


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
        dag = as_run(dag)
        order = [node for node in dag.nodes if not node.is_input]
        dims = sizes_read(dag)
        count = len(dag.inputs)
        source = "\n".join([repr(node) for node in order])

        def call(*values: Any) -> Sequence[Any]:
            sizes = dict(zip(dims, values[count:], strict=True))
            arrays = [self.namespace.from_numpy(each) for each in values[:count]]
            known: dict[Node, Any] = dict(zip(dag.inputs.values(), arrays, strict=True))
            for node in order:
                known[node] = self._value(node, [known[each] for each in node.operands], sizes)
            return [self._result(node, known[node]) for node in dag.outputs]

        return Compiled(call, source, dims)

    def _value(self, node: Node, operands: Sequence[Any], sizes: Mapping[str, int]) -> Any:
        found = computed(self.name, node, operands, sizes, self.namespace)
        if len(node.results) == 1 and self.namespace.lacks(node.aval.dtype):
            # The namespace lacks the dtype and holds a wider one: round to the values of the dtype.
            return self.namespace.from_numpy(self._result(node, found))
        return found

    def _result(self, node: Node, value: Any) -> np.ndarray[Any, Any]:
        with np.errstate(all="ignore"):
            return np.array(self.to_numpy(value), dtype=node.aval.dtype)

    def to_numpy(self, value: Any) -> np.ndarray[Any, Any]:
        return value if isinstance(value, np.ndarray) else self.namespace.to_numpy(value)


def computed(
    backend: str, node: Node, operands: Sequence[Any], sizes: Mapping[str, int], xp: Namespace
) -> Any:
    """The value of a node by its kernel.

    Raises
    ------
    BackendError
        If the namespace cannot compute it. It names the operation and your line.
    """
    try:
        with np.errstate(all="ignore"):
            return run(node, operands, sizes, xp)
    except SymgraphError as error:
        error.add_note(f"while computing {node.op.name} {node.aval}, from {node.origin}")
        raise
    except Exception as error:
        if node.op.custom:
            raise
        raise BackendError(
            f"Backend {backend!r} cannot compute {node.op.name}: {error}",
            [f"{node.op.name} {node.aval}   from {node.origin}"],
            mend="Lower the graph to another backend, or add the missing function to the "
            "namespace of this one.",
        ) from error
