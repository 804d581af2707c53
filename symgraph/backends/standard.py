"""Any namespace of the Python array API standard as a backend: the kernels, run one by one.

`StandardBackend("mine", StandardNamespace(module))` is all that a package needs whose arrays follow
the standard, such as array-api-strict, or torch through array-api-compat. What the namespace cannot
compute is refused. A backend that does more (compile, run elsewhere) is written like
`symgraph.backends.jax`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import BackendError, SymgraphError
from ..ir.dag import Dag
from ..ir.interpreter import run
from ..ir.node import Node
from .base import Compiled, sizes_read
from .standardnames import StandardNamespace

__all__ = ["StandardBackend", "StandardNamespace"]


class StandardBackend:
    """Graphs run node by node in a namespace of the array API standard.

    Parameters
    ----------
    name : str
        As users ask for it, `graph.lower(name)`.
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

    def compile(self, dag: Dag) -> Compiled:
        """A function that runs the kernels in the order of the graph."""
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
        try:
            with np.errstate(all="ignore"):
                found = run(node, operands, sizes, self.namespace)
        except SymgraphError as error:
            error.add_note(f"while computing {node.op.name} {node.aval}, from {node.origin}")
            raise
        except Exception as error:
            if node.op.custom:
                raise
            raise BackendError(
                f"Backend {self.name!r} cannot compute {node.op.name}: {error}",
                [f"{node.op.name} {node.aval}   from {node.origin}"],
                mend="Lower the graph to another backend, or give the namespace of this one what "
                "it lacks.",
            ) from error
        if len(node.results) == 1 and self.namespace.lacks(node.aval.dtype):
            # Kept in a wider dtype, it has the values of its own.
            return self.namespace.from_numpy(self._result(node, found))
        return found

    def _result(self, node: Node, value: Any) -> np.ndarray[Any, Any]:
        with np.errstate(all="ignore"):
            return np.array(self.to_numpy(value), dtype=node.aval.dtype)

    def to_numpy(self, value: Any) -> np.ndarray[Any, Any]:
        return value if isinstance(value, np.ndarray) else self.namespace.to_numpy(value)
