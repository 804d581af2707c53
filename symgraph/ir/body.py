"""Body: a graph held in the params of a node, such as the step of a loop or a branch.

A body is a function of arrays: nodes in terms of input nodes of its own, bound by position. Nothing
outside is referred to, so what a function closes over is among the inputs. Bodies are compared by
value: two are equal if they say the same of inputs in the same places, whenever they were traced,
and so nodes that hold equal bodies are one node.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, cast

from ..namespace.namespace import Namespace
from .avals import Aval
from .cost import node_flops
from .dag import Dag
from .dims import Dim, names_of, normal, resolve
from .immutable import Immutable
from .interning import params_key
from .interpreter import bound_kernel, results_read
from .node import Node
from .traits import Matrices
from .walks import reachable

__all__ = ["Body", "SizedBody", "has_custom"]


class Body(Immutable):
    """A graph as a value.

    Parameters
    ----------
    inputs : sequence of Node
        Input nodes, each once; values are given in this order.
    outputs : sequence of Node
        In terms of `inputs` and constants only.
    """

    def __init__(self, inputs: Sequence[Node], outputs: Sequence[Node]) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self._key = _canonical(self.inputs, self.outputs)
        self._hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Body) or self._hash != other._hash:
            return False
        return self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def name(self) -> str:
        """`body_a5586e9e`: tells bodies apart wherever params are shown, or compared as text."""
        digest = hashlib.blake2b(repr(self._key).encode(), digest_size=4).hexdigest()
        return f"body_{digest}"

    def __repr__(self) -> str:
        return self.name

    @property
    def operand_avals(self) -> tuple[Aval, ...]:
        return tuple([node.aval for node in self.inputs])

    @property
    def avals(self) -> tuple[Aval, ...]:
        """One an output."""
        return tuple([node.aval for node in self.outputs])

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes to compute, operands first; inputs left out."""
        return tuple([node for node in reachable(self.outputs) if not node.is_input])

    @cached_property
    def used(self) -> tuple[bool, ...]:
        """For each input whether an output depends on it."""
        found = set(reachable(self.outputs))
        return tuple([node in found for node in self.inputs])

    @cached_property
    def right_factors(self) -> tuple[bool, ...]:
        """For each input whether it is the right factor of a product of matrices.

        Such products are written for rows of the right factor. A loop that captures it in another
        layout, as a transpose is, would read it across its rows at each step.
        """
        found: set[Node] = set()
        for node in self.nodes:
            inner = [each for each in node.params.values() if isinstance(each, Body)]
            if node.op.traits.matrices is Matrices.ANY and len(node.operands) == 2:
                found.update(each for each in node.operands[1:] if each.ndim > 1)
            elif len(inner) == 1 and len(inner[0].inputs) == len(node.operands):
                reads = zip(node.operands, inner[0].right_factors, strict=True)
                found.update(each for each, read in reads if read)
        return tuple([node in found for node in self.inputs])

    @cached_property
    def dag(self) -> Dag:
        """The same as a graph, its inputs called `i0`, `i1`, ..."""
        return Dag({f"i{place}": node for place, node in enumerate(self.inputs)}, self.outputs)

    @cached_property
    def dim_names(self) -> tuple[str, ...]:
        """Named dimensions that some node calculates with, or that shapes depend on."""
        found: set[str] = set()
        for node in (*self.inputs, *self.nodes):
            for aval in node.results:
                found.update(aval.dim_names)
            stack: list[Any] = list(node.params.values())
            while stack:
                value = stack.pop()
                if isinstance(value, tuple):
                    stack.extend(cast("tuple[Any, ...]", value))
                else:
                    found.update(names_of(value))
        return tuple(sorted(found))

    @cached_property
    def flops(self) -> Dim:
        """Floating-point operations of one run."""
        total: Any = 0
        for node in self.nodes:
            total = total + node_flops(node)
        return normal(total)

    @cached_property
    def _steps(self) -> tuple[tuple[Node, tuple[Node, ...]], ...]:
        """Nodes in order, each with the nodes that are read for the last time there."""
        last = {operand: node for node in self.nodes for operand in node.operands}
        kept = {*self.outputs, *self.inputs}
        return tuple(
            [
                (
                    node,
                    tuple(
                        dict.fromkeys(
                            each
                            for each in node.operands
                            if last[each] is node and each not in kept
                        )
                    ),
                )
                for node in self.nodes
            ]
        )

    @cached_property
    def _read(self) -> Mapping[Node, tuple[bool, ...]]:
        return results_read(self.nodes)

    def at_sizes(self, env: Mapping[str, int]) -> SizedBody:
        """The body as a function of numbers, named dimensions being as large as `env` says."""
        return SizedBody(self, env)

    def kernels(self, xp: Namespace, env: Mapping[str, int]) -> list[Callable[..., Any]]:
        """The kernel of each node as a function of its operands' values alone.

        Constants are made here, once, as moving them to a GPU waits for it.
        """
        kernels = [bound_kernel(node, env, xp, self._read.get(node)) for node in self.nodes]
        if xp.traces:
            return kernels
        return [
            partial(_as_it_is, kernel()) if node.is_constant else kernel
            for node, kernel in zip(self.nodes, kernels, strict=True)
        ]

    def run(self, values: Sequence[Any], kernels: Sequence[Callable[..., Any]]) -> list[Any]:
        """The value of each output, node by node."""
        known: dict[Node, Any] = dict(zip(self.inputs, values, strict=True))
        for (node, dead), kernel in zip(self._steps, kernels, strict=True):
            known[node] = kernel(*[known[operand] for operand in node.operands])
            for each in dead:
                del known[each]
        return [known[output] for output in self.outputs]


class SizedBody:
    """A body whose named dimensions have sizes, as a kernel gets it."""

    __slots__ = ("_kernels", "body", "env")

    def __init__(self, body: Body, env: Mapping[str, int]) -> None:
        self.body = body
        self.env = env
        self._kernels: tuple[Namespace, list[Callable[..., Any]]] | None = None

    def __call__(self, xp: Namespace, *values: Any) -> list[Any]:
        """The value of each output."""
        known = self._kernels
        if known is None or known[0] is not xp:
            # Once for all steps of a loop.
            known = self._kernels = (xp, self.body.kernels(xp, self.env))
        return self.body.run(values, known[1])

    def converted(self, xp: Namespace, *values: Any) -> list[Any]:
        """The value of each output as an array of the dtype it is known to have."""
        found = zip(self(xp, *values), self.body.avals, strict=True)
        return [xp.asarray(value, dtype=xp.result_type(value, aval.dtype)) for value, aval in found]

    def results(self) -> list[tuple[Any, tuple[int, ...]]]:
        """Dtype and shape of each output."""
        return [(aval.dtype, resolve(aval.shape, self.env)) for aval in self.body.avals]


def _as_it_is(value: object) -> object:
    return value


def has_custom(dag: Dag) -> bool:
    """Whether a user's kernel computes a value, here or in a body."""
    for node in dag.nodes:
        bodies = [each for each in node.params.values() if isinstance(each, Body)]
        if node.op.custom or any(has_custom(each.dag) for each in bodies):
            return True
    return False


def _canonical(inputs: tuple[Node, ...], outputs: tuple[Node, ...]) -> tuple[Any, ...]:
    """The body's content, in an order of its own: depth first from the outputs."""
    number: dict[Node, int] = {node: place for place, node in enumerate(inputs)}
    rows: list[Any] = [(node.aval.dtype.str, node.shape) for node in inputs]
    stack = list(reversed(outputs))
    while stack:
        node = stack[-1]
        if node in number:
            stack.pop()
            continue
        waiting = [operand for operand in node.operands if operand not in number]
        if waiting:
            stack.extend(reversed(waiting))
            continue
        if node.is_input:
            raise AssertionError(f"{node!r} is no input of the body.")
        stack.pop()
        number[node] = len(number)
        operands = tuple([number[operand] for operand in node.operands])
        rows.append((node.op, operands, params_key(node.params), node.copy))
    return (tuple(rows), tuple([number[output] for output in outputs]))
