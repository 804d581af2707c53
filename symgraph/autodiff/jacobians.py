r"""Jacobians by the cheapest way: forward, reverse, through a bottleneck or part by part.

$J = \partial y / \partial x$ comes from seeding one mode with an identity on leading axes, which
the same derivative rules carry along (`docs/decisions.md`, 6). Reverse mode needs a seed for each
element of y, forward mode one for each element of x. Along diagonal axes (`axes.tied_axes`) one
seed of ones is enough: the diagonal of an elementwise map of n elements costs as much as one
product. If all paths run through a value h narrower than both ends, then
$J = (\partial y / \partial h)(\partial h / \partial x)$, by forward mode from h to y and by reverse
mode from x to h (Griewank and Walther 2008, chapter 10, on cross-country elimination). If y is
joined of parts that have little in common, such as the components of a vector field, each part has
a Jacobian by itself, in which no zeros of the others are multiplied. So has each piece of x, if x
is read piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from ..array import FUNCTIONS, Array
from ..errors import DTypeError, InputError, NotDifferentiable
from ..ir.cost import flops
from ..ir.dag import Dag
from ..ir.dims import Dim, count, names_of, resolve
from ..ir.node import Node, adjoint_origin, origin
from ..ops.creation import zeros
from ..ops.movement import RESHAPE, reshape
from ..ops.parts import joined, parts_of, pieces_of, resized
from ..records import record
from .axes import Ties, axes_of_one_length, mixing, moves_with, tied_axes
from .differentiate import label_of, target_of
from .directions import moved, positions, with_results
from .reverse import active_nodes
from .seeds import by_cotangents, by_tangents, embedded, other_axes, permuted

__all__ = ["JacobianMode", "Record", "jacobian", "jacobians"]

JacobianMode: TypeAlias = Literal["reverse", "forward", "mixed"]
Record: TypeAlias = Callable[[str, Node, Node], None]
"""`record(what, before, after)` notes a step of the derivation."""

_NOMINAL = 64
"""The size of a named dimension when costs are compared."""

_SHARED_BY_PARTS = 2
"""How many parts may depend on a value, on average, if each is differentiated by itself."""

_SHARED_BY_PIECES = 4
"""On how many pieces a value may depend, on average, if each is differentiated by itself. The
operations are fewer however many: a column of the identity moves as many numbers as there are
pieces. But the graph has more of them."""


@record
class _Candidate:
    """A way to a Jacobian: its mode, its number of seeds or parts, its result and its cost."""

    mode: JacobianMode | Literal["parts", "pieces"]
    seeds: int
    found: Array
    flops: int

    def __str__(self) -> str:
        seeds = f"{self.mode} mode, {_counted(self.seeds, 'seed')}"
        alone = self.mode in ("parts", "pieces")
        way = _counted(self.seeds, self.mode.removesuffix("s")) if alone else seeds
        return f"{way}, {_counted(self.flops, 'flop')}"


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
    return permuted(block, [*range(ndim, block.ndim), *range(ndim)])


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
            free = other_axes(x, [axis for _, axis in ties])
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
    best = min(candidates, key=_price)
    how = str(best)
    others = [str(each) for each in candidates if each is not best]
    if others:
        how += f" ({'; '.join(others)})"
    if ties:
        pairs = ", ".join(f"{place} of the output with {axis}" for place, axis in ties)
        how += f"; diagonal along axes {pairs}"
    found = best.found if diagonal else embedded(best.found, y, x, ties)
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
    backward = _size([y.shape[axis] for axis in other_axes(y, [place for place, _ in ties])])
    forward = _size([x.shape[axis] for axis in other_axes(x, [axis for _, axis in ties])])
    if mode in (None, "reverse"):
        try:
            found.append(_candidate("reverse", backward, by_cotangents(y, x, ties)))
        except NotDifferentiable as error:  # Forward mode may still work.
            refused = error
    if mode == "forward" or (mode is None and (backward > 1 or refused)):
        found.append(_candidate("forward", forward, by_tangents(y, x, ties)))
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
    by_parts = _by_parts(y, x, ties) if mode is None and y.ndim else []
    found.extend(by_parts)
    if mode is None and not ties and not by_parts and backward > 1:
        found.extend(_by_pieces(y, x))  # Of parts each finds its own way.
    if not found and refused is not None:
        raise refused
    return found


def _by_parts(y: Array, x: Array, ties: Ties) -> list[_Candidate]:
    """The Jacobian joined of those of the parts of y, if y is joined of parts."""
    if y.node.op is RESHAPE and not ties:
        (operand,) = y.node.operands
        inner = _by_parts(Array(operand), x, ties) if operand.ndim else []
        return [replace(each, found=reshape(each.found, (*y.shape, *x.shape))) for each in inner]
    parts = parts_of(y.node)
    if parts is None or parts.axis in dict(ties):
        return []
    present = [part.value for part in parts.parts if part.value is not None]
    if sum([_work([part], x) for part in present]) > _SHARED_BY_PARTS * _work(present, x):
        return []
    free = [x.shape[axis] for axis in other_axes(x, [axis for _, axis in ties])]
    found = [
        zeros((*resized(y.shape, parts.axis, part.stop - part.start), *free), y.dtype)
        if part.value is None
        else _of_part(part.value, parts.axis, x, ties)
        for part in parts.parts
    ]
    whole = joined(found, parts.axis - len(free))
    return [_candidate("parts", len(found), whole)]


def _by_pieces(y: Array, x: Array) -> list[_Candidate]:
    """The Jacobian joined of those by the pieces of x, if x is read piece by piece."""
    between = active_nodes([y.node], [x.node])
    pieces = pieces_of(x.node, between)
    if pieces is None:
        return []
    read = [Array(piece.value) for piece in pieces if piece.value is not None]
    if sum([_work([y], piece) for piece in read]) > _SHARED_BY_PIECES * _work([y], x):
        return []
    found: list[Array] = []
    for piece in pieces:
        shape = (*y.shape, piece.stop - piece.start)
        if piece.value is None:
            found.append(zeros(shape, y.dtype))
            continue
        try:
            columns, _ = jacobian(y, Array(piece.value))
        except NotDifferentiable:  # The other modes tell of it.
            return []
        found.append(reshape(columns, shape))
    return [_candidate("pieces", len(found), joined(found, -1))]


def _of_part(part: Array, axis: int, x: Array, ties: Ties) -> Array:
    """The Jacobian of one part, with the axes of the part and the untied axes of x."""
    flat = part
    if part.shape[axis] == 1:  # Without the axis on which parts are joined.
        ties = tuple([(place + (place < axis), other) for place, other in ties])
        place = part.ndim + axis
        shape = (*part.shape[:place], *part.shape[place + 1 :])
        below = part.node.operands[0] if part.node.op is RESHAPE else None
        flat = Array(below) if below is not None and below.shape == shape else reshape(part, shape)
    if ties:
        found = min(_candidates(flat, x, ties, None), key=_price).found
    else:
        found, _ = jacobian(flat, x)
    return reshape(found, (*part.shape, *found.shape[flat.ndim :]))


def _work(ends: Sequence[Array], x: Array) -> int:
    """The operations between x and some values."""
    between = active_nodes([each.node for each in ends], [x.node])
    return sum([node.op.count > 0 for node in between])


def _price(way: _Candidate) -> tuple[int, int]:
    """Operations, then seeds: of ways that only move numbers, the seeds tell how many."""
    return way.flops, way.seeds


def _candidate(
    mode: JacobianMode | Literal["parts", "pieces"], seeds: int, found: Array
) -> _Candidate:
    return _Candidate(mode, seeds, found, _number(flops([found.node])))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _number(dim: Dim) -> int:
    return resolve(dim, dict.fromkeys(names_of(dim), _NOMINAL))


def _size(dims: Sequence[Dim]) -> int:
    return _number(count(dims))


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
