"""Gradients of a graph's output as further outputs of the same DAG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from ..array import Array
from ..errors import InputError, NotDifferentiable
from ..ir.dag import Dag
from ..ir.node import Node
from ..ops.creation import zeros
from .connectivity import connection
from .directions import distinct
from .reverse import gradients

__all__ = ["Disconnected", "differentiated", "label_of", "output_of", "target_of"]

Disconnected: TypeAlias = Literal["zero", "raise"]


def target_of(dag: Dag, wrt: object) -> Node:
    """The node that `wrt` means: an input by its name, or a node or an array of the graph.

    Raises
    ------
    InputError
        If the graph has no such input or node.
    """
    if isinstance(wrt, str):
        if wrt not in dag.inputs:
            raise InputError(
                f"There is no input {wrt!r} to differentiate with respect to.",
                [f"{name}: {node.aval}" for name, node in dag.inputs.items()],
                mend="Name one of the inputs above.",
            )
        return dag.inputs[wrt]
    node = wrt.node if isinstance(wrt, Array) else wrt
    if not isinstance(node, Node) or node not in set(dag.nodes):
        raise InputError(
            f"{wrt!r} is not a node of this graph.",
            [f"{name}: {each.aval}" for name, each in dag.inputs.items()],
            mend='Name inputs one by one, as in gradient("w", "b").'
            if isinstance(wrt, (list, tuple, set))
            else "Name one of the inputs above, or pass an array of this graph.",
        )
    return node


def output_of(dag: Dag, of: str | None) -> Node:
    """The output to differentiate: the only one, or the one named `of`.

    Raises
    ------
    InputError
        If there is no output of this name, or several outputs and no name.
    """
    if of is None:
        if len(dag.outputs) != 1:
            raise InputError(
                f"The graph has {len(dag.outputs)} outputs: {', '.join(dag.names)}.",
                mend='Say which to differentiate, as in gradient("w", of="loss").',
            )
        return dag.outputs[0]
    if of not in dag.names:
        raise InputError(f"There is no output {of!r}; the outputs are {', '.join(dag.names)}.")
    return dag.outputs[dag.names.index(of)]


def differentiated(
    dag: Dag,
    wrt: Sequence[Any],
    *,
    value: bool = True,
    of: str | None = None,
    disconnected: Disconnected = "zero",
) -> Dag:
    """The graph with gradients of one scalar output as outputs.

    Parameters
    ----------
    dag : Dag
    wrt : sequence of str, Node or Array
        Floating-point inputs or intermediate values.
    value : bool
        Keep the differentiated output as the first output.
    of : str, optional
        Which output to differentiate, if there are several.
    disconnected : "zero" or "raise"
        Whether a gradient is zero, or an error, where no path leads from its target to the output.

    Raises
    ------
    InputError
        If a name is unknown.
    ShapeError, DTypeError
        If the output is not a scalar, or a target is not floating.
    NotDifferentiable
        If an operation on a path has no derivative, or, with "raise", if a target is disconnected.
    """
    if not wrt:
        raise InputError(
            "Nothing to differentiate with respect to: name at least one input.",
            mend=f"Its inputs are {', '.join(map(repr, dag.inputs))}.",
        )
    output = output_of(dag, of)
    targets = [target_of(dag, each) for each in wrt]
    try:
        found = gradients(Array(output), [Array(target) for target in targets])
    except NotDifferentiable as error:
        raise _with_paths(error, output, targets) from None
    results: list[Node] = []
    for target, gradient in zip(targets, found, strict=True):
        if gradient is None and disconnected == "raise":
            raise NotDifferentiable(
                f"The gradient with respect to {target!r} is {connection(output, target)}."
            )
        results.append((zeros(target.shape, target.dtype) if gradient is None else gradient).node)
    labels = [
        label_of(target, each, i) for i, (target, each) in enumerate(zip(targets, wrt, strict=True))
    ]
    names = distinct([f"grad_{label}" for label in labels])
    first = 1 if value else 0
    grads: Any = first if len(results) == 1 else tuple(range(first, first + len(results)))
    if not value:
        return dag.with_outputs(results, names, grads)
    head = dag.names[dag.outputs.index(output)]
    return dag.with_outputs([output, *results], distinct([head, *names]), (0, grads))


def _with_paths(
    error: NotDifferentiable, output: Node, targets: Sequence[Node]
) -> NotDifferentiable:
    """The error with the paths through operations without a derivative added."""
    found = [(target, connection(output, target)) for target in targets]
    rows = [f"d/d {target!r} is {each}" for target, each in found if each.kind == "undefined"]
    return NotDifferentiable(error.what, [*error.rows, *rows], error.mend)


def label_of(target: Node, wrt: object, position: int) -> str:
    """The name of a target in the names of results."""
    if isinstance(wrt, str):
        return wrt
    return target.params["name"] if target.is_input else f"{target.op.name}{position}"
