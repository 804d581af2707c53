"""Tangents and cotangents as users give them: names of new inputs, numbers, or symbolic arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..array import FUNCTIONS, Array, constant
from ..errors import DTypeError, InputError, ShapeError
from ..ir.dag import Dag, Structure
from ..ir.dims import same_shape, show_shape
from ..ir.node import Node
from ..ir.walks import reachable
from ..ops.creation import input

__all__ = ["Direction", "direction", "distinct", "moved", "positions", "with_results"]

Direction: TypeAlias = "str | Array | Node | np.ndarray[Any, Any] | float"


def direction(dag: Dag, like: Node, given: object, what: str) -> Array:
    """The value of a tangent or cotangent of `like`; it is not differentiated through.

    Parameters
    ----------
    dag : Dag
    like : Node
        The value it belongs to. It has the shape of this value, possibly with extra leading axes,
        and its dtype.
    given : str, array_like, Array or Node
        The name of a new input, numbers, or a symbolic array.
    what : str
        The word for it in errors.

    Raises
    ------
    InputError
        If the name is taken.
    ShapeError, DTypeError
        If it does not fit `like`.
    """
    if isinstance(given, str):
        if given in dag.inputs:
            raise InputError(
                f"The {what} cannot be a new input {given!r}: the graph has one of that name.",
                mend=f"Give another name, or pass graph.inputs[{given!r}] to use that input.",
            )
        return input(given, like.shape, like.dtype)
    if isinstance(given, (Array, Node)):
        found = given if isinstance(given, Array) else Array(given)
        if (not found.node.is_input and not found.node.is_constant) or found.node in dag.inputs:
            found = FUNCTIONS["stop_gradient"](found)
    else:
        found = constant(np.asarray(given))
    if found.dtype.kind not in "fiub":
        raise DTypeError(f"The {what} has dtype {found.dtype}; numbers are needed.")
    lead = found.ndim - like.ndim
    if lead < 0 or not same_shape(found.shape[lead:], like.shape):
        raise ShapeError(
            f"The {what} has shape {show_shape(found.shape)}, "
            f"but its value has shape {show_shape(like.shape)}.",
            [f"{like!r}   from {like.origin}"],
            mend="Leading axes may be added; the last ones must agree.",
        )
    return found if found.dtype == like.dtype else FUNCTIONS["astype"](found, like.dtype)


def positions(dag: Dag, of: str | None) -> list[int]:
    """The positions of the named output, or of all outputs.

    Raises
    ------
    InputError
        If there is no output of that name.
    """
    if of is None:
        return list(range(len(dag.outputs)))
    if of not in dag.names:
        raise InputError(f"There is no output {of!r}; the outputs are {', '.join(dag.names)}.")
    return [dag.names.index(of)]


def with_results(
    dag: Dag,
    kept: Sequence[int],
    results: Sequence[tuple[str, Array]],
    structure: Structure,
    *,
    value: bool,
    directions: Sequence[Array] = (),
) -> Dag:
    """A graph of derivatives: the outputs that are kept, then the results by name.

    Parameters
    ----------
    dag : Dag
    kept : sequence of int
        The positions of the outputs that the results belong to.
    results : sequence of (name, Array)
    structure
        How results are grouped: leaves are positions in `results`.
    value : bool
        Whether the outputs stay; then the graph gives a pair of outputs and results.
    directions : sequence of Array
        New inputs among them stay inputs where no result depends on them, because it is 0.
    """
    nodes = [array.node for _, array in results]
    inputs = dict(dag.inputs)
    declared = set(inputs.values())
    for node in reachable([*nodes, *[array.node for array in directions]]):
        if node.is_input and node not in declared:
            inputs.setdefault(node.params["name"], node)
    names = [name for name, _ in results]
    if not value:
        return Dag(inputs, nodes, distinct(names), structure)
    whole = len(kept) == len(dag.outputs)
    head = dag.structure if whole else 0 if len(kept) == 1 else tuple(range(len(kept)))
    return Dag(
        inputs,
        [*[dag.outputs[i] for i in kept], *nodes],
        distinct([*[dag.names[i] for i in kept], *names]),
        (head, moved(structure, len(kept))),
    )


def moved(structure: Structure, by: int) -> Structure:
    """The same grouping with `by` added to all positions."""
    if isinstance(structure, int):
        return structure + by
    if isinstance(structure, Mapping):
        return {key: moved(part, by) for key, part in structure.items()}
    parts = [moved(part, by) for part in structure]
    return tuple(parts) if isinstance(structure, tuple) else parts


def distinct(names: Sequence[str]) -> list[str]:
    """The names, with a number added to each repeated name."""
    result: list[str] = []
    for name in names:
        fresh, number = name, 2
        while fresh in result:
            fresh, number = f"{name}_{number}", number + 1
        result.append(fresh)
    return result
