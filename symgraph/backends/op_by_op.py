"""Programs that run the kernels of a graph one after the other in a namespace.

What does not depend on the numbers is asked once, when the graph is lowered: the kernels, their
parameters, where operands lie, and after which step a value is read no more, so that its memory is
free again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ..errors import BackendError, SymgraphError
from ..ir.dag import Dag
from ..ir.dims import is_named
from ..ir.interpreter import bound_kernel, run
from ..ir.node import Node
from ..namespace import Namespace
from ..records import record
from .base import sizes_read

__all__ = ["Steps"]

Finish = Callable[[Node], Callable[[Any], Any] | None]
"""What is done with the value of a node, if anything."""


@record
class _Step:
    """A node of the program: the places of its operands and value, and those freed after it."""

    node: Node
    is_constant: bool
    kernel: Callable[..., Any] | None
    """With its parameters; None where they read the sizes of named dimensions."""
    finish: Callable[[Any], Any] | None
    reads: tuple[int, ...]
    place: int
    free: tuple[int, ...]


class Steps:
    """A graph as steps in the order in which it is scheduled.

    Parameters
    ----------
    backend : str
        The name that errors tell.
    dag : Dag
        As it is run (`program_graph`).
    xp : Namespace
        Where kernels run.
    finish : callable, optional
        `finish(node)` gives a function of the value of a node, or None.

    Attributes
    ----------
    source : str
        A line for each step.
    dims : tuple of str
        Named dimensions whose sizes are read.
    """

    def __init__(self, backend: str, dag: Dag, xp: Namespace, finish: Finish | None = None) -> None:
        self._backend = backend
        self._xp = xp
        scheduled = dag.nodes if dag.schedule is None else dag.schedule
        order = [node for node in scheduled if not node.is_input]
        places = {node: at for at, node in enumerate([*dag.inputs.values(), *order])}
        last = {operand: node for node in order for operand in node.operands}
        free: dict[Node, list[int]] = {node: [] for node in order}
        kept = set(dag.outputs)
        for operand, node in last.items():
            if operand not in kept:
                free[node].append(places[operand])
        self._steps = [
            _Step(
                node,
                node.is_constant,
                _kernel_of(node, xp),
                None if finish is None else finish(node),
                tuple([places[each] for each in node.operands]),
                places[node],
                tuple(free[node]),
            )
            for node in order
        ]
        self._outputs = [places[node] for node in dag.outputs]
        self.source = "\n".join([repr(node) for node in order])
        self.dims = sizes_read(dag)

    def __call__(
        self,
        given: Sequence[Any],
        sizes: Mapping[str, int],
        constants: dict[Node, Any] | None = None,
    ) -> list[Any]:
        """The value of each output.

        Parameters
        ----------
        given : sequence
            An array of the namespace for each input.
        sizes : mapping of str to int
            The sizes of `dims`.
        constants : dict, optional
            Keeps the arrays of constants from one call to the next.

        Raises
        ------
        BackendError
            If the namespace cannot compute a step. It names the operation and your line.
        """
        values: list[Any] = [*given, *[None] * len(self._steps)]
        with np.errstate(all="ignore"):
            for step in self._steps:
                if not step.is_constant or constants is None:
                    values[step.place] = self._computed(step, values, sizes)
                else:
                    if step.node not in constants:
                        constants[step.node] = self._computed(step, values, sizes)
                    values[step.place] = constants[step.node]
                for place in step.free:
                    values[place] = None
        return [values[place] for place in self._outputs]

    def _computed(self, step: _Step, values: Sequence[Any], sizes: Mapping[str, int]) -> Any:
        node = step.node
        operands = [values[place] for place in step.reads]
        try:
            if step.kernel is not None:
                found = step.kernel(*operands)
            else:
                found = run(node, operands, sizes, self._xp)
            return found if step.finish is None else step.finish(found)
        except SymgraphError as error:
            error.add_note(f"while computing {node.op.name} {node.aval}, from {node.origin}")
            raise
        except Exception as error:
            if node.op.custom:
                raise
            raise BackendError(
                f"Backend {self._backend!r} cannot compute {node.op.name}: {error}",
                [f"{node.op.name} {node.aval}   from {node.origin}"],
                mend="Lower the graph to another backend, or add the missing function to the "
                "namespace of this one.",
            ) from error


def _kernel_of(node: Node, xp: Namespace) -> Callable[..., Any] | None:
    """The kernel with its parameters, or None if these depend on sizes."""
    if any(map(_depends_on_sizes, node.params.values())):
        return None
    return bound_kernel(node, {}, xp)


def _depends_on_sizes(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_depends_on_sizes, cast("tuple[Any, ...]", value)))
    return is_named(value) or hasattr(value, "at_sizes")
