"""Trace a Python function of symbolic arrays to a `Body` with explicit captures.

A function given to `scan` or `cond` may use arrays from outside. They become operands of the node,
so gradients reach them: a weight that every step of a loop uses is one operand, and its cotangent
is the sum over the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..array import Array, constant
from ..capture.calling import called, owns
from ..errors import ShapeError, SymgraphError, TraceError
from ..ir.avals import Aval
from ..ir.body import Body
from ..ir.dims import same_shape
from ..ir.node import Node, make, newest_serial, origin
from ..ir.op import Batch
from ..pytrees import Tree, flatten, unflatten
from ..records import record
from .creation import input

__all__ = [
    "TracedFunction",
    "as_leaves",
    "body_of_batch",
    "body_total",
    "check_carry",
    "check_same",
    "closed",
    "fresh_like",
    "newest",
    "rebuilt",
    "spread",
    "traced",
]


@record
class TracedFunction:
    """The result of a function of fresh inputs: its leaves as nodes, and their grouping."""

    inputs: tuple[Node, ...]
    leaves: tuple[Node, ...]
    tree: Tree


def fresh_like(aval: Aval, name: str) -> Node:
    """An input node of this shape and dtype."""
    return input(name, aval.shape, aval.dtype).node


def newest() -> int:
    """A serial number that all later nodes exceed."""
    return newest_serial()


def as_leaves(value: object, what: str) -> tuple[list[Array], Tree]:
    """The leaves of a container as arrays; numbers become constants.

    Raises
    ------
    TraceError
        If a leaf is no array of numbers.
    """
    leaves, tree = flatten(value)
    for leaf in leaves:
        if not isinstance(leaf, (Array, np.ndarray, np.generic, int, float, bool)):
            raise TraceError(
                f"{what} holds {leaf!r}, which is no array.",
                mend="Give arrays, or tuples, lists, dicts and dataclasses of them.",
            )
    return [leaf if isinstance(leaf, Array) else constant(leaf) for leaf in leaves], tree


def traced(
    f: Callable[..., Any], arguments: Sequence[tuple[Sequence[Aval], Tree]], what: str
) -> TracedFunction:
    """Call `f` once on fresh inputs in the containers of its arguments."""
    inputs: list[Node] = []
    groups: list[Any] = []
    for avals, tree in arguments:
        nodes = [fresh_like(aval, f"i{len(inputs) + i}") for i, aval in enumerate(avals)]
        inputs.extend(nodes)
        groups.append(unflatten(tree, [Array(node) for node in nodes]))
    with called(what, f, body=True) as scope:
        owns(scope, inputs)
        result = _result(f, groups, what)
    leaves, tree = as_leaves(result, what)
    return TracedFunction(tuple(inputs), tuple([leaf.node for leaf in leaves]), tree)


def _result(f: Callable[..., Any], groups: Sequence[Any], what: str) -> Any:
    try:
        return f(*groups)
    except TypeError as error:
        inside = error.__traceback__ is not None and error.__traceback__.tb_next is not None
        if inside or isinstance(error, SymgraphError):
            raise
        count = len(groups)
        raise TraceError(
            f"{what} is called with {count} argument{'s' * (count != 1)}: {error}.",
            mend=f"Give it {count} parameter{'s' * (count != 1)}.",
        ) from None


def check_functions(form: str, **functions: object) -> None:
    """Refuse what is no function where a loop takes one: arguments in another order, perhaps.

    Raises
    ------
    TraceError
    """
    for name, each in functions.items():
        if not callable(each):
            raise TraceError(f"{name} is a function, not {each!r}.", mend=f"Write {form}.")


def closed(
    inputs: Sequence[Node], outputs: Sequence[Node], inside: int | None = None
) -> tuple[list[Node], Body]:
    """The captured nodes, and a Body that takes them as trailing inputs.

    Parameters
    ----------
    inputs : sequence of Node
        Input nodes that are newer than all that is closed over.
    outputs : sequence of Node
    inside : int, optional
        A serial number: newer nodes are computed inside. By default each node that does not depend
        on the inputs is captured, so that a loop computes it once.
    """
    order = _between(inputs, outputs, inside)
    own = set(inputs)
    dependent: set[Node] = set(own)
    for node in order:
        if any(operand in dependent for operand in node.operands):
            dependent.add(node)

    def is_inside(node: Node) -> bool:
        return node in dependent or (inside is not None and node.serial > inside)

    new: dict[Node, Node] = {node: node for node in inputs}
    found: dict[Node, Node] = {}

    def brought_in(node: Node) -> Node:
        if node in new:
            return new[node]
        if _is_constant(node):
            return node
        if node not in found:
            found[node] = fresh_like(node.aval, f"closed{len(found)}")
        return found[node]

    for node in order:
        if node in own or not is_inside(node):
            continue
        if node.is_input or (node.op.name == "project" and not is_inside(node.operands[0])):
            continue  # Inputs of another function; a result of a node outside is closed over.
        new[node] = _on(node, tuple([brought_in(operand) for operand in node.operands]))
    results = [brought_in(output) for output in outputs]
    return list(found), Body([*inputs, *found.values()], results)


def _on(node: Node, operands: tuple[Node, ...]) -> Node:
    if operands == node.operands:
        return node
    with origin(node.origin):
        return make(node.op, operands, node.params, node.copy)


def _between(inputs: Sequence[Node], outputs: Sequence[Node], inside: int | None) -> list[Node]:
    """Nodes of the outputs that may depend on the inputs or lie inside, operands first."""
    floors = [node.serial for node in inputs]
    if inside is not None:
        floors.append(inside + 1)
    floor = min(floors) if floors else 0
    seen = set(outputs)
    stack = list(seen)
    while stack:
        node = stack.pop()
        if node.serial < floor:
            continue
        for operand in node.operands:
            if operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return sorted((node for node in seen if node.serial >= floor), key=lambda node: node.serial)


_LOOKED_AT = 32
"""How many nodes we look through to see that a value is constant."""


def _is_constant(node: Node) -> bool:
    """Whether a short search shows that a value depends on no input."""
    seen = {node}
    stack = [node]
    while stack:
        each = stack.pop()
        if each.is_input or len(seen) > _LOOKED_AT:
            return False
        fresh = [operand for operand in each.operands if operand not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    return True


def rebuilt(outputs: Sequence[Node], replacement: Mapping[Node, Node]) -> list[Node]:
    """The outputs with some nodes replaced; older nodes are not visited."""
    new = dict(replacement)
    for node in _between(list(replacement), outputs, None):
        if node not in new:
            new[node] = _on(node, tuple([new.get(operand, operand) for operand in node.operands]))
    return [new.get(output, output) for output in outputs]


def check_carry(before: Tree, after: Tree) -> None:
    """Check that a carry leaves a step with the structure that it had.

    Raises
    ------
    TraceError
    """
    if before != after:
        became = after.holds_complex and not before.holds_complex
        raise TraceError(
            f"The carry changes its structure: {before} enters a step, {after} leaves it.",
            mend="Start with complex numbers, as in init + 0j."
            if became
            else "Return a carry of the structure of `init`.",
        )


def check_same(these: Sequence[Aval], those: Sequence[Aval], what: str, other: str) -> None:
    """Check that bodies and operands agree.

    Raises
    ------
    ShapeError
        Naming the place: `{what} {place} is ..., but {other} ...`.
    """
    for place, (one, another) in enumerate(zip(these, those, strict=True)):
        if one.dtype != another.dtype or not same_shape(one.shape, another.shape):
            raise ShapeError(f"{what} {place} is {one}, but {other} {another}.")


def spread(
    body: Body,
    start: Iterable[Node],
    carries: Sequence[tuple[Node, Node]],
    through: Callable[[Node], bool] = lambda node: True,
) -> set[Node]:
    """Which carries depend on `start` after any number of steps.

    Parameters
    ----------
    body : Body
        Of the loop.
    start : iterable of Node
    carries : sequence of pairs of Node
        The input that holds a carry, and the output that is the carry of the next step.
    through : callable
        Whether a dependence passes through a node of the body.
    """
    found = set(start)
    while True:
        before = len(found)
        for node in body.nodes:
            if any(operand in found for operand in node.operands) and through(node):
                found.add(node)
        found.update(carry for carry, after in carries if after in found)
        if len(found) == before:
            return found


# -- each of a batch -------------------------------------------------------------------------------
def body_of_batch(
    batch: Batch, body: Body, flags: Sequence[bool]
) -> tuple[list[Node], list[tuple[Array, bool]]]:
    """The inputs of a body for a batch, and its outputs, each with whether it is batched.

    Parameters
    ----------
    batch : Batch
    body : Body
    flags : sequence of bool
        Which inputs are batched.
    """
    inputs = [
        fresh_like(node.aval.with_shape((batch.size, *node.shape)), "batched") if flag else node
        for node, flag in zip(body.inputs, flags, strict=True)
    ]
    given = {
        node: (Array(inner), flag)
        for node, inner, flag in zip(body.inputs, inputs, flags, strict=True)
    }
    return inputs, batch.mapped(body.outputs, given, batch.size)


def body_total(body: Body) -> bool:
    """Whether a graph ends and raises no error for all inputs."""
    return all(
        node.op.is_total(*[operand.aval for operand in node.operands], **node.params)
        for node in body.nodes
    )
