r"""Jacobians by the cheapest way: forward, reverse or through a bottleneck.

$J = \partial y / \partial x$ comes from seeding one mode with an identity on leading axes, which
the same derivative rules carry along (`docs/decisions.md`, 6). Reverse mode needs a seed for each
element of y, forward mode one for each element of x. Along diagonal axes (`axes.tied_axes`) one
seed of ones is enough: the diagonal of an elementwise map of n elements costs as much as one
product. If all paths run through a value h narrower than both ends, then
$J = (\partial y / \partial h)(\partial h / \partial x)$, by forward mode from h to y and by reverse
mode from x to h (Griewank and Walther 2008, chapter 10, on cross-country elimination).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..array import FUNCTIONS, Array, apply
from ..errors import DTypeError, InputError, NotDifferentiable
from ..ir.cost import flops
from ..ir.dag import Dag
from ..ir.dims import Dim, count, names_of, resolve
from ..ir.node import Node, adjoint_origin, origin
from ..ops.creation import eye, ones, zeros
from ..ops.diagonals import DIAGONAL_MATRIX
from ..ops.movement import broadcast_to, expand_dims, moveaxis, reshape, transpose
from .axes import Ties, axes_of_one_length, mixing, moves_with, tied_axes
from .differentiate import label_of, target_of
from .directions import moved, positions, with_results
from .forward import tangents
from .reverse import active_nodes, vjp

__all__ = ["JacobianMode", "Record", "jacobian", "jacobians"]

JacobianMode: TypeAlias = Literal["reverse", "forward", "mixed"]
Record: TypeAlias = Callable[[str, Node, Node], None]
"""`record(what, before, after)` notes a step of the derivation."""

_NOMINAL = 64
"""The size of a named dimension when costs are compared."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A way to a Jacobian: its mode, its number of seeds, its result and its cost."""

    mode: JacobianMode
    seeds: int
    found: Array
    flops: int

    def __str__(self) -> str:
        return f"{self.mode} mode, {_counted(self.seeds, 'seed')}, {_counted(self.flops, 'flop')}"


def jacobians(
    dag: Dag,
    wrt: Sequence[Any],
    *,
    value: bool,
    of: str | None = None,
    outputs: Sequence[int] | None = None,
    kept: Sequence[int] | None = None,
    mode: JacobianMode | None = None,
    diagonal: bool = False,
    single: bool | None = None,
    name: str = "jacobian",
    symmetric: bool = False,
    record: Record,
) -> Dag:
    """The graph with the Jacobians of its outputs, grouped first by output, then by target.

    Parameters
    ----------
    dag : Dag
    wrt : sequence of str, Node or Array
    value, of
        As `Graph.gradient`.
    outputs, kept : sequence of int, optional
        Instead of `of`: the outputs to differentiate, and the outputs that stay with `value`.
    mode, diagonal
        As `jacobian`.
    single : bool, optional
        Whether results are not grouped by target; by default, if there is one target.
    name : str
        The name of results.
    symmetric : bool
        Whether output i is the gradient with respect to target i, so that block [i][j] is block
        [j][i] transposed: one of the two is computed.
    record : callable
        Notes each choice.

    Raises
    ------
    InputError, DTypeError, NotDifferentiable
    """
    if not wrt:
        raise InputError("Nothing to differentiate with respect to: name at least one input.")
    chosen = positions(dag, of) if outputs is None else list(outputs)
    targets = [target_of(dag, each) for each in wrt]
    labels = [label_of(target, wrt[i], i) for i, target in enumerate(targets)]
    results: list[tuple[str, Array]] = []
    half = symmetric and not diagonal and _is_symmetric(dag, targets)
    for row, i in enumerate(chosen):
        for column, (target, label) in enumerate(zip(targets, labels, strict=True)):
            y = dag.outputs[i]
            if half and column < row:
                other = results[column * len(targets) + row][1]
                found, how = _transposed(other, Array(target).ndim), "symmetry"
            else:
                found, how = jacobian(Array(y), Array(target), mode=mode, diagonal=diagonal)
            record(f"{name} by {how}", y, found.node)
            of_output = f"_{dag.names[i]}" if len(chosen) > 1 and name == "jacobian" else ""
            results.append((f"{name}{of_output}_{label}", found))
    alone = len(wrt) == 1 if single is None else single
    row_of = 0 if alone else tuple(range(len(wrt)))
    parts = [moved(row_of, len(wrt) * k) for k in range(len(chosen))]
    structure = _nested(dag, parts, alone=alone, whole=outputs is None)
    return with_results(dag, chosen if kept is None else kept, results, structure, value=value)


def _nested(dag: Dag, parts: Sequence[Any], *, alone: bool, whole: bool) -> Any:
    """How Jacobians are nested: as the outputs of the graph, if the user did not choose some."""
    if whole:
        return dag.regroup(parts) if len(parts) == len(dag.outputs) else parts[0]
    return parts[0] if alone and len(parts) == 1 else tuple(parts)


def _is_symmetric(dag: Dag, targets: Sequence[Node]) -> bool:
    """Whether second derivatives are surely symmetric; those by a user's rules may not be."""
    between = active_nodes(dag.outputs, targets)
    return not any(node.op.unchecked or node.op.asymmetric for node in between)


def _transposed(block: Array, ndim: int) -> Array:
    """A block of shape (*a, *b) as one of shape (*b, *a); `a` has `ndim` axes."""
    return _permuted(block, [*range(ndim, block.ndim), *range(ndim)])


def jacobian(
    y: Array, x: Array, *, mode: JacobianMode | None = None, diagonal: bool = False
) -> tuple[Array, str]:
    """The Jacobian of shape (*y.shape, *x.shape), and how it was found.

    Parameters
    ----------
    y, x : Array, floating
    mode : "reverse", "forward" or "mixed", optional
        By default the mode of fewest floating-point operations.
    diagonal : bool
        Give the diagonal alone: axes of x that are tied to axes of y are not repeated. So the
        result has the shape of y for an elementwise map, and (n, *rest) for a map of n rows. If y
        does not depend on x, it is zeros, and axes of one length are taken as tied.

    Raises
    ------
    DTypeError
        If y or x is not floating.
    NotDifferentiable
        If an operation on a path has no derivative.
    InputError
        If there is no such mode, no bottleneck for "mixed", or no diagonal.
    """
    if y.dtype.kind != "f":
        raise DTypeError(f"A Jacobian is taken of floating-point values; this is {y.dtype}.")
    with origin(adjoint_origin(y.node)):
        return _jacobian(y, x, mode, diagonal)


def _jacobian(y: Array, x: Array, mode: JacobianMode | None, diagonal: bool) -> tuple[Array, str]:
    if diagonal and not moves_with(y.node, x.node):
        ties = axes_of_one_length(y.node, x.node)
        if ties or not y.ndim or not x.ndim:
            free = _other_axes(x, [axis for _, axis in ties])
            return zeros((*y.shape, *[x.shape[axis] for axis in free]), y.dtype), "nothing: zeros"
    ties = tied_axes(y.node, x.node)
    if diagonal and y.ndim and x.ndim and not ties:
        meets = mixing(y.node, x.node)
        raise InputError(
            f"The Jacobian of {y!r} with respect to {x!r} has no diagonal: "
            "no axis stays separate from the others.",
            [f"mixed by {meets!r}   from {meets.origin}"] if meets is not None else [],
            mend="Leave out diagonal=True, or differentiate each row by itself.",
        )
    candidates = _candidates(y, x, ties, mode)
    best = min(candidates, key=lambda each: each.flops)
    how = str(best)
    others = [str(each) for each in candidates if each is not best]
    if others:
        how += f" ({'; '.join(others)})"
    if ties:
        pairs = ", ".join(f"{place} of the output with {axis}" for place, axis in ties)
        how += f"; diagonal along axes {pairs}"
    found = best.found if diagonal else _embedded(best.found, y, x, ties)
    return found, how


def _candidates(y: Array, x: Array, ties: Ties, mode: JacobianMode | None) -> list[_Candidate]:
    """The possible ways, at least one."""
    if mode not in (None, "reverse", "forward", "mixed"):
        raise InputError(
            f"There is no mode {mode!r}.",
            mend='Use "reverse", "forward" or "mixed", or leave the mode out.',
        )
    found: list[_Candidate] = []
    refused: NotDifferentiable | None = None
    if mode is None and any(node.op.asymmetric for node in active_nodes([y.node], [x.node])):
        mode = "reverse"  # A gradient uses reverse mode, and forward mode would give other numbers.
    backward = _size([y.shape[axis] for axis in _other_axes(y, [place for place, _ in ties])])
    forward = _size([x.shape[axis] for axis in _other_axes(x, [axis for _, axis in ties])])
    if mode in (None, "reverse"):
        try:
            found.append(_candidate("reverse", backward, _reverse(y, x, ties)))
        except NotDifferentiable as error:  # Forward mode may still work.
            refused = error
    if mode == "forward" or (mode is None and (backward > 1 or refused)):
        found.append(_candidate("forward", forward, _forward(y, x, ties)))
    if mode == "mixed" or (mode is None and not ties and not refused):
        narrow = _bottleneck(y.node, x.node)
        if narrow is not None and _size(narrow.shape) < min(backward, forward):
            h = Array(narrow)
            product = FUNCTIONS["tensordot"](
                jacobian(y, h, mode="forward")[0], jacobian(h, x, mode="reverse")[0], h.ndim
            )
            found.append(_candidate("mixed", 2 * _size(narrow.shape), product))
        elif mode == "mixed":
            raise InputError(
                f"No value narrower than both ends lies on all paths from {x!r} to {y!r}.",
                mend='Use mode="reverse" or "forward".',
            )
    if not found and refused is not None:
        raise refused
    return found


def _candidate(mode: JacobianMode, seeds: int, found: Array) -> _Candidate:
    return _Candidate(mode, seeds, found, _number(flops([found.node])))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _number(dim: Dim) -> int:
    return resolve(dim, dict.fromkeys(names_of(dim), _NOMINAL))


def _size(dims: Sequence[Dim]) -> int:
    return _number(count(dims))


def _other_axes(array: Array, tied: Sequence[int]) -> list[int]:
    return [axis for axis in range(-array.ndim, 0) if axis not in tied]


def _identity(like: Array, axes: Sequence[int]) -> Array:
    """Seeds for all positions along `axes`, as leading axes; ones along the other axes."""
    lead = [like.shape[axis] for axis in axes]
    shape = (*lead, *like.shape)
    if not axes:
        return ones(shape, like.dtype)
    seed: Any = None
    for i, axis in enumerate(axes):
        delta = eye(like.shape[axis], dtype=like.dtype)
        between = len(lead) - i - 1 + like.ndim + axis
        delta = expand_dims(delta, tuple(range(1, 1 + between))) if between else delta
        behind = -axis - 1
        delta = expand_dims(delta, tuple(range(-behind, 0))) if behind else delta
        seed = delta if seed is None else seed * delta
    return broadcast_to(seed, shape)


def _reverse(y: Array, x: Array, ties: Ties) -> Array:
    """The Jacobian with the axes of y, then the untied axes of x, by cotangents."""
    rest = _other_axes(y, [place for place, _ in ties])
    tied = dict(ties)
    free = _other_axes(x, list(tied.values()))
    (found,) = vjp(y, [x], _identity(y, rest))
    if found is None:
        return zeros((*y.shape, *[x.shape[axis] for axis in free]), x.dtype)
    order = [
        len(rest) + x.ndim + tied[place] if place in tied else rest.index(place)
        for place in range(-y.ndim, 0)
    ]
    return _permuted(found, [*order, *[len(rest) + x.ndim + axis for axis in free]])


def _forward(y: Array, x: Array, ties: Ties) -> Array:
    """The Jacobian with the axes of y, then the untied axes of x, by tangents."""
    free = _other_axes(x, [axis for _, axis in ties])
    (found,) = tangents([y], [(x, _identity(x, free))])
    if found is None:
        return zeros((*y.shape, *[x.shape[axis] for axis in free]), y.dtype)
    return _permuted(found, [*range(len(free), len(free) + y.ndim), *range(len(free))])


def _permuted(array: Array, order: Sequence[int]) -> Array:
    return array if list(order) == list(range(array.ndim)) else transpose(array, tuple(order))


def _embedded(compact: Array, y: Array, x: Array, ties: Ties) -> Array:
    """The whole Jacobian with axes (*y, *x): zeros off the diagonals."""
    if not ties:
        return compact
    tied = dict(ties)
    free = _other_axes(x, list(tied.values()))
    places = [y.ndim + place for place in tied]
    sizes = [y.shape[place] for place in tied]
    rest = [axis for axis in range(compact.ndim) if axis not in places]
    flat = moveaxis(compact, places, list(range(-len(places), 0)))
    lead = flat.shape[: len(rest)]
    length = count(sizes)
    flat = flat if len(sizes) == 1 else reshape(flat, (*lead, length))
    square = apply(DIAGONAL_MATRIX, flat, rows=length, columns=length, offset=0)
    if len(sizes) > 1:
        square = reshape(square, (*lead, *sizes, *sizes))
    of_y = [
        len(rest) + list(tied).index(place) if place in tied else rest.index(y.ndim + place)
        for place in range(-y.ndim, 0)
    ]
    columns = {axis: len(rest) + len(tied) + k for k, axis in enumerate(tied.values())}
    of_x = [
        columns[axis] if axis in columns else rest.index(y.ndim + free.index(axis))
        for axis in range(-x.ndim, 0)
    ]
    return _permuted(square, [*of_y, *of_x])


def _bottleneck(y: Node, x: Node) -> Node | None:
    """The narrowest value that lies on all paths from x to y, in time linear in the edges.

    A node lies on all paths if, in topological order, no edge leads from before it to after it.
    """
    between = sorted(active_nodes([y], [x]), key=lambda node: node.serial)
    place = {node: i for i, node in enumerate(between)}
    reach = [0] * len(between)
    for node in between:
        for operand in node.operands:
            if operand in place:
                reach[place[operand]] = max(reach[place[operand]], place[node])
    narrow: list[Node] = []
    furthest = 0
    for i, node in enumerate(between):
        alone = furthest <= i and node is not x and node is not y
        if alone and len(node.results) == 1 and node.dtype.kind == "f":
            narrow.append(node)
        furthest = max(furthest, reach[i])
    # Of equally narrow values the last is taken: a root, not the sum under it. The slope of a root
    # may be infinite.
    return min(reversed(narrow), key=lambda node: _size(node.shape), default=None)
