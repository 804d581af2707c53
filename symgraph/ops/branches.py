"""Branches: `cond` runs one of two functions, as a truth value decides.

The branches are bodies in the params of one node. The other branch is not run, so it costs
nothing and cannot poison a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..array import FUNCTIONS, Array, ArrayLike, apply, constant
from ..errors import DTypeError, ShapeError, TraceError
from ..ir.avals import Aval
from ..ir.body import Body, SizedBody
from ..ir.differentiation import Places, Pull, Trail, joined
from ..ir.dims import Dim, same_shape
from ..ir.node import Node
from ..ir.op import Batch, Op, Unbatched, register
from ..notation import loops
from ..pytrees import flatten, leaf_paths, unflatten
from .batched import aligned, per_example, whole
from .closures import (
    TracedFunction,
    as_leaves,
    body_of_batch,
    body_total,
    check_same,
    closed,
    fresh_like,
    newest,
    traced,
)
from .composites import naming_lines
from .creation import zeros

__all__ = ["COND", "cond"]


# -- a choice --------------------------------------------------------------------------------------
def _infer_cond(pred: Aval, *avals: Aval, true: Body, false: Body) -> tuple[Aval, ...]:
    if pred.dtype.kind != "b" or pred.shape:
        raise ShapeError(
            f"the condition is {pred}, but one truth value is needed.",
            mend="Choose between elements with np.where(condition, x, y).",
        )
    for body in (true, false):
        check_same(body.operand_avals, avals, "operand", "a branch takes")
    check_same(true.avals, false.avals, "result", "the other branch gives")
    return true.avals


def _kernel_cond(xp: Any, pred: Any, *operands: Any, true: SizedBody, false: SizedBody) -> Any:
    found = xp.cond(
        pred,
        lambda *values: true.converted(xp, *values),
        lambda *values: false.converted(xp, *values),
        operands,
    )
    return tuple(found) if len(found) > 1 else found[0]


def _flops_cond(_out: Aval, *_avals: Aval, true: Body, false: Body) -> Dim:
    both: tuple[Any, Any] = true.flops, false.flops
    if all(isinstance(each, int) for each in both):
        return max(both)
    return both[0] + both[1]


def _pullback_cond(pull: Pull, *, true: Body, false: Body) -> list[Array | None]:
    """The cotangents of the branch that was taken."""
    given = [
        (place, ct)
        for place, ct in enumerate(pull.cts)
        if ct is not None and true.outputs[place].aval.is_float
    ]
    wanted = [slot - 1 for slot in pull.wanted]  # The condition comes before the operands.
    if not given:
        return [None] * len(wanted)
    sides: list[tuple[list[Node], list[Array | None]]] = []
    for body in (true, false):
        cts = [fresh_like(ct.aval, f"ct{place}") for place, ct in given]
        seeds = [
            (Array(body.outputs[place]), Array(node))
            for (place, _), node in zip(given, cts, strict=True)
        ]
        targets = [Array(body.inputs[slot]) for slot in wanted]
        sides.append(([*cts, *body.inputs], pull.cotangents(seeds, targets)))
    lead = given[0][1].shape[: pull.lead]
    pairs = list(zip(sides[0][1], sides[1][1], strict=True))
    kept = [place for place, pair in enumerate(pairs) if any(each is not None for each in pair)]
    if not kept:
        return [None] * len(wanted)
    bodies: list[tuple[list[Node], list[Node]]] = []
    for inputs, found in sides:
        outputs: list[Node] = []
        for place in kept:
            aval, ct = pull.operands[wanted[place] + 1].aval, found[place]
            outputs.append((zeros((*lead, *aval.shape), aval.dtype) if ct is None else ct).node)
        bodies.append((inputs, outputs))
    operands = [*[ct for _, ct in given], *pull.operands[1:]]
    results = iter(_chosen(pull.operands[0], operands, *bodies))
    return [next(results) if place in kept else None for place in range(len(wanted))]


def _chosen(
    pred: Array,
    operands: Sequence[Array],
    true: tuple[Sequence[Node], Sequence[Node]],
    false: tuple[Sequence[Node], Sequence[Node]],
) -> list[Array]:
    """The node that runs one of two bodies; operands that neither body reads are dropped."""
    sides = [Body(*true), Body(*false)]
    read = [any(pair) for pair in zip(sides[0].used, sides[1].used, strict=True)]
    bodies = [
        Body([node for node, kept in zip(each.inputs, read, strict=True) if kept], each.outputs)
        for each in sides
    ]
    kept = [each for each, wanted in zip(operands, read, strict=True) if wanted]
    found = apply(COND, pred, *kept, true=bodies[0], false=bodies[1])
    return list(found) if isinstance(found, tuple) else [found]


def _follows_cond(trail: Trail, *, true: Body, false: Body) -> list[Places | None]:
    """The place of an axis in both branches; the choice itself has derivative 0."""
    sides = [trail.within(body, trail.places[1:], trail.level) for body in (true, false)]
    return [joined(*pair) for pair in zip(*sides, strict=True)]


def _batch_cond(batch: Batch, *, true: Body, false: Body) -> Any:
    """One branch if the condition is not batched; else a choice for each example."""
    pred, *operands = batch.operands
    flags = batch.batched[1:]
    if batch.batched[0]:
        if not (body_total(true) and body_total(false)):
            return batch.one_by_one()
        return _selected(batch, true, false)
    sides = [body_of_batch(batch, body, flags) for body in (true, false)]
    either = [one or other for (_, one), (_, other) in zip(sides[0][1], sides[1][1], strict=True)]
    bodies = [
        (
            inputs,
            [
                (per_example(value, batch.size) if flag and not now else value).node
                for flag, (value, now) in zip(either, found, strict=True)
            ],
        )
        for inputs, found in sides
    ]
    results = _chosen(pred, operands, *bodies)
    return [
        value if flag else Unbatched(value) for value, flag in zip(results, either, strict=True)
    ]


def _selected(batch: Batch, true: Body, false: Body) -> list[Array]:
    """Run both branches and choose one for each example of the batch.

    Masks stand before and behind a branch. So the results of operands that it was not
    meant for, such as the logarithm of a negative number, reach no result and no derivative.
    """
    pred = batch.operands[0]
    sides: list[list[Array]] = []
    for body, condition in ((true, pred), (false, FUNCTIONS["logical_not"](pred))):
        given = {
            node: (_entering(batch, slot, condition), batch.batched[slot] or node.aval.is_float)
            for slot, node in enumerate(body.inputs, 1)
        }
        found = batch.mapped(body.outputs, given, batch.size)
        sides.append([x if flag else per_example(x, batch.size) for x, flag in found])
    return [
        FUNCTIONS["where"](_like(pred, one), one, other) for one, other in zip(*sides, strict=True)
    ]


def _entering(batch: Batch, slot: int, condition: Array) -> Array:
    """An operand of a branch; it has derivative 0 where the branch is not taken."""
    x = batch.operands[slot]
    if not x.aval.is_float:
        return x
    x = whole(batch, slot)
    return FUNCTIONS["where"](_like(condition, x), x, FUNCTIONS["stop_gradient"](x))


def _like(condition: Array, x: Array) -> Array:
    """One truth value for each example, broadcast to all elements of its array."""
    return aligned(condition, x.ndim - 1)


COND = register(
    Op(
        "cond",
        batch=_batch_cond,
        total=lambda *_avals, true, false: body_total(true) and body_total(false),
        infer=_infer_cond,
        kernel=_kernel_cond,
        pullback=_pullback_cond,
        flops=_flops_cond,
        follows=_follows_cond,
        doc="One of two branches, chosen by one truth value; the other is not run.",
        source=loops.cond_source,
    )
)


@naming_lines
def cond(
    pred: ArrayLike, true_fn: Callable[..., Any], false_fn: Callable[..., Any], *operands: object
) -> Any:
    """`true_fn(*operands)` where `pred` holds, else `false_fn(*operands)`; only one of them is run.

    Parameters
    ----------
    pred : array of shape ()
        A truth value, or a number that stands for one (not 0).
    true_fn, false_fn : callable
        Give results of one structure, shapes and dtypes. Both are called once, with symbols; what
        they close over may be differentiated by.
    *operands : arrays, or tuples, lists, dicts and dataclasses of arrays

    Returns
    -------
    same as the branches give
        Arrays of their shapes and dtypes, nested alike; numbers where all operands are numbers.

    Raises
    ------
    ShapeError
        If `pred` is no single value, or the branches give different shapes.
    DTypeError, TraceError
        If the branches give different dtypes or structures.

    Examples
    --------
    >>> x = sg.input("x")
    >>> y = sg.cond(x > 0, lambda: np.log(x), lambda: 0.0)
    >>> sg.graph(y).evaluate(x=-1.0)
    array(0.)
    """
    for each in (true_fn, false_fn):
        if not callable(each):
            raise TraceError(
                f"A branch is a function, not {each!r}.",
                mend="Give functions, as in sg.cond(x > 0, lambda: x, lambda: -x); "
                "np.where(condition, a, b) chooses between arrays.",
            )
    condition = pred if isinstance(pred, Array) else constant(pred)
    if condition.dtype.kind != "b":
        condition = condition != 0
    leaves, tree = flatten(operands)
    given, _ = as_leaves(leaves, "An operand")
    inside = newest()
    avals = [each.aval for each in given]

    def branch(f: Callable[..., Any]) -> TracedFunction:
        def called(arguments: Sequence[object]) -> Any:
            return f(*arguments)

        return traced(called, [(avals, tree)], "A branch")

    one, other = branch(true_fn), branch(false_fn)
    if one.tree != other.tree:
        raise TraceError(
            f"The branches give different structures: {one.tree} and {other.tree}.",
            mend="Return arrays in the same containers from both.",
        )
    first, second = _adapted(one, other)
    outside, true, false = _closed_together((one.inputs, first), (other.inputs, second), inside)
    found = _chosen(condition, [*given, *[Array(node) for node in outside]], true, false)
    return unflatten(one.tree, found)


def _adapted(one: TracedFunction, other: TracedFunction) -> tuple[list[Node], list[Node]]:
    """The results of both branches; a 0-d constant takes the dtype of the other result."""
    first, second = list(one.leaves), list(other.leaves)
    for place, path in enumerate(leaf_paths(one.tree, "result")):
        these, those = first[place], second[place]
        if these.dtype != those.dtype and these.is_constant and not these.shape:
            first[place] = these = _cast(these, those)
        elif these.dtype != those.dtype and those.is_constant and not those.shape:
            second[place] = those = _cast(those, these)
        if these.dtype != those.dtype:
            raise DTypeError(
                f"The branches give {path} as {these.aval} and {those.aval}.",
                mend="Convert one of them with astype.",
            )
        if not same_shape(these.shape, those.shape):
            raise ShapeError(
                f"The branches give {path} as {these.aval} and {those.aval}.",
                mend="Broadcast one of them, as with np.broadcast_to.",
            )
    return first, second


def _cast(node: Node, like: Node) -> Node:
    return constant(node.params["value"], like.dtype).node


Side = tuple[Sequence[Node], Sequence[Node]]


def _closed_together(one: Side, other: Side, inside: int) -> tuple[list[Node], Side, Side]:
    """Two bodies with the same operands: their own, then the arrays that either captures."""
    first, true = closed(*one, inside)
    second, false = closed(*other, inside)
    outside = list(dict.fromkeys([*first, *second]))

    def inputs(own: int, body: Body, found: list[Node]) -> list[Node]:
        inner = dict(zip(found, body.inputs[own:], strict=True))
        rest = [inner.get(node) or fresh_like(node.aval, "unused") for node in outside]
        return [*body.inputs[:own], *rest]

    return (
        outside,
        (inputs(len(one[0]), true, first), true.outputs),
        (inputs(len(other[0]), false, second), false.outputs),
    )
