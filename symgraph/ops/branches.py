"""Choices and loops that numbers decide: `cond` runs one of two branches, `while_loop` runs on.

The branches and the steps are bodies in the params of one node. A branch that is not taken is not
run, so it costs nothing and cannot poison a gradient; what both branches share is computed outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..array import Array, apply, constant
from ..avals import Aval
from ..body import Body, SizedBody
from ..dag import Node
from ..dims import Dim, known_equal
from ..errors import DTypeError, InputError, ShapeError, TraceError
from ..op import Op, Pull, Push, register, undefined
from ..pytrees import flatten, leaf_paths, unflatten
from .closures import Traced, as_leaves, closed, fresh_like, newest, traced
from .composites import naming_lines
from .creation import zeros
from .loops import scan

__all__ = ["COND", "WHILE_LOOP", "cond", "while_loop"]


# -- a choice --------------------------------------------------------------------------------------
def _infer_cond(pred: Aval, *avals: Aval, true: Body, false: Body) -> tuple[Aval, ...]:
    if pred.dtype.kind != "b" or pred.shape:
        raise ShapeError(
            f"the condition is {pred}, but one truth value is needed.",
            mend="Choose between elements with np.where(condition, x, y).",
        )
    for body in (true, false):
        _check_same(body.operand_avals, avals, "operand", "a branch takes")
    _check_same(true.avals, false.avals, "result", "the other branch gives")
    return true.avals


def _check_same(these: Sequence[Aval], those: Sequence[Aval], what: str, other: str) -> None:
    for place, (one, another) in enumerate(zip(these, those, strict=True)):
        if one.dtype != another.dtype or not _same_shape(one, another):
            raise ShapeError(f"{what} {place} is {one}, but {other} {another}.")


def _same_shape(one: Aval, other: Aval) -> bool:
    return one.ndim == other.ndim and all(map(known_equal, one.shape, other.shape))


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
    """The same choice between the cotangents of the two branches."""
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
    """The node that runs one of two bodies, without operands that neither reads."""
    sides = [Body(*true), Body(*false)]
    read = [any(pair) for pair in zip(sides[0].used, sides[1].used, strict=True)]
    bodies = [
        Body([node for node, kept in zip(each.inputs, read, strict=True) if kept], each.outputs)
        for each in sides
    ]
    kept = [each for each, wanted in zip(operands, read, strict=True) if wanted]
    found = apply(COND, pred, *kept, true=bodies[0], false=bodies[1])
    return list(found) if isinstance(found, tuple) else [found]


COND = register(
    Op(
        "cond",
        infer=_infer_cond,
        kernel=_kernel_cond,
        pullback=_pullback_cond,
        flops=_flops_cond,
        doc="One of two branches, chosen by one truth value; the other is not run.",
    )
)


@naming_lines
def cond(
    pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], *operands: Any
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
    condition = pred if isinstance(pred, Array) else constant(pred)
    if condition.dtype.kind != "b":
        condition = condition != 0
    leaves, tree = flatten(operands)
    given, _ = as_leaves(leaves, "An operand")
    inside = newest()
    avals = [each.aval for each in given]

    def branch(f: Callable[..., Any]) -> Traced:
        def called(arguments: Any) -> Any:
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


def _adapted(one: Traced, other: Traced) -> tuple[list[Node], list[Node]]:
    """Results of both branches; a 0-d constant takes the dtype of the other's result."""
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
        if not _same_shape(these.aval, those.aval):
            raise ShapeError(
                f"The branches give {path} as {these.aval} and {those.aval}.",
                mend="Broadcast one of them, as with np.broadcast_to.",
            )
    return first, second


def _cast(node: Node, like: Node) -> Node:
    return constant(node.params["value"], like.dtype).node


Side = tuple[Sequence[Node], Sequence[Node]]


def _closed_together(one: Side, other: Side, inside: int) -> tuple[list[Node], Side, Side]:
    """Two bodies that take the same operands: their own, then what either closes over."""
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


# -- a loop of unknown length ----------------------------------------------------------------------
def _infer_while(*avals: Aval, cond: Body, body: Body, tests: int) -> tuple[Aval, ...]:
    count = len(body.outputs)
    _check_same(cond.operand_avals, avals[: count + tests], "operand", "the condition is given")
    inner = [*avals[:count], *avals[count + tests :]]
    _check_same(body.operand_avals, inner, "operand", "the body is given")
    _check_same(body.operand_avals[:count], body.avals, "carry", "a step gives")
    (test,) = cond.avals
    if test.dtype.kind != "b" or test.shape:
        raise ShapeError(f"the condition gives {test}, but one truth value is needed.")
    return body.avals


def _kernel_while(xp: Any, *operands: Any, cond: SizedBody, body: SizedBody, tests: int) -> Any:
    count = len(body.results())
    init, tested, rest = (
        operands[:count],
        operands[count : count + tests],
        operands[count + tests :],
    )
    found = xp.while_loop(
        lambda *carries: cond(xp, *carries, *tested)[0],
        lambda *carries: body.converted(xp, *carries, *rest),
        init,
    )
    return tuple(found) if len(found) > 1 else found[0]


def _flops_while(_out: Aval, *_avals: Aval, cond: Body, body: Body, tests: int) -> Dim:
    """Those of one step: how many there are nobody knows."""
    return cond.flops + body.flops  # pyright: ignore[reportReturnType]  # int + Expr is an Expr


def _pushforward_while(push: Push, *, cond: Body, body: Body, tests: int) -> list[Array | None]:
    r"""The same loop over carries and tangents: $\dot c' = \partial_c f\, \dot c + \dots$."""
    count = len(body.outputs)
    carries, shared = body.inputs[:count], body.inputs[count:]
    given = dict(zip(carries, push.tangents[:count], strict=True))
    given.update(zip(shared, push.tangents[count + tests :], strict=True))
    lead = next(each.shape[: push.lead] for each in push.tangents if each is not None)
    known = {node: tangent for node, tangent in given.items() if tangent is not None}
    if not known:
        return [None] * count
    moving = _moving(body, set(known))
    names = {
        node: fresh_like(node.aval.with_shape((*lead, *node.shape)), "tangent")
        for node in (*carries, *shared)
        if node in moving and node.aval.is_float
    }
    seeds = [(Array(node), Array(name)) for node, name in names.items()]
    led = [node for node in carries if node in names]
    after = push.differentiate([Array(body.outputs[carries.index(node)]) for node in led], seeds)
    results = [
        (zeros(names[node].shape, node.dtype) if each is None else each).node
        for node, each in zip(led, after, strict=True)
    ]
    first = [known[node] if node in known else zeros(names[node].shape, node.dtype) for node in led]
    own = [*carries, *[names[node] for node in led]]
    rest = [*shared, *[names[node] for node in shared if node in names]]
    stepping = Body([*own, *rest], [*body.outputs, *results])
    unread = [fresh_like(names[node].aval, "tangent") for node in led]
    testing = Body([*cond.inputs[:count], *unread, *cond.inputs[count:]], cond.outputs)
    found = apply(
        WHILE_LOOP,
        *push.operands[:count],
        *first,
        *push.operands[count:],
        *[known[node] for node in shared if node in names],
        cond=testing,
        body=stepping,
        tests=tests,
    )
    moved = dict(zip(led, found[count:], strict=True))
    return [moved.get(node) for node in carries]


def _moving(body: Body, known: set[Node]) -> set[Node]:
    """What varies with the known inputs, from step to step."""
    moving = set(known)
    while True:
        before = len(moving)
        for node in body.nodes:
            if any(operand in moving for operand in node.operands):
                moving.add(node)
        moving.update(
            inner
            for inner, after in zip(body.inputs, body.outputs, strict=False)
            if after in moving
        )
        if len(moving) == before:
            return moving


WHILE_LOOP = register(
    Op(
        "while_loop",
        infer=_infer_while,
        kernel=_kernel_while,
        vjp=undefined(
            "how many steps it takes is not known before it runs, so reverse mode cannot keep what "
            "they went through; use sg.scan or sg.fori_loop, give while_loop a max_steps, take a "
            "jvp, or state what it solves with sg.fixed_point or sg.root"
        ),
        pushforward=_pushforward_while,
        flops=_flops_while,
        doc="A loop that runs while a condition holds.",
    )
)


@naming_lines
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    init: Any,
    *,
    max_steps: int | None = None,
) -> Any:
    """The carry after `body` has been applied as long as `cond` holds of it.

    Forward mode differentiates it. Reverse mode needs `max_steps`: the loop then ends after so many
    steps at the latest, and is a `scan` whose steps do nothing once the condition has failed.

    Parameters
    ----------
    cond : callable
        From the carry to one truth value.
    body : callable
        From the carry to the next one, of the same structure, shapes and dtypes.
    init : array, or tuples, lists, dicts and dataclasses of arrays
    max_steps : int, optional

    Raises
    ------
    ShapeError, DTypeError, TraceError
        If the condition is no truth value, or a step gives another carry than it was given.
    NotDifferentiable
        When a gradient is taken through a loop without `max_steps`.

    Examples
    --------
    >>> x = sg.input("x")
    >>> halved = sg.while_loop(lambda c: c > 1, lambda c: c / 2, x)
    >>> sg.graph(halved).evaluate(x=5.0)
    array(0.625)
    """
    if max_steps is not None:
        return _bounded(cond, body, init, max_steps)
    leaves, tree = as_leaves(init, "The carry")
    avals = [leaf.aval for leaf in leaves]
    test = traced(cond, [(avals, tree)], "The condition")
    step = traced(body, [(avals, tree)], "A step")
    _check_loop(test, step, avals, tree)
    outside_test, testing = closed(test.inputs, test.leaves)
    outside_step, stepping = closed(step.inputs, step.leaves)
    found = apply(
        WHILE_LOOP,
        *leaves,
        *[Array(node) for node in (*outside_test, *outside_step)],
        cond=testing,
        body=stepping,
        tests=len(outside_test),
    )
    return unflatten(tree, list(found) if isinstance(found, tuple) else [found])


def _check_loop(test: Traced, step: Traced, avals: Sequence[Aval], tree: Any) -> None:
    if step.tree != tree:
        raise TraceError(
            f"The carry changes its structure: {tree} enters a step, {step.tree} leaves it.",
            mend="Return a carry of the structure of `init`.",
        )
    if len(test.leaves) != 1 or test.leaves[0].shape or test.leaves[0].dtype.kind != "b":
        shown = ", ".join(str(leaf.aval) for leaf in test.leaves)
        raise ShapeError(
            f"The condition gives {shown}, but one truth value is needed.",
            mend="Reduce it with np.all or np.any.",
        )
    for path, before, node in zip(leaf_paths(tree, "carry"), avals, step.leaves, strict=True):
        text = f"{path} enters a step as {before} and leaves it as {node.aval}."
        if before.dtype != node.dtype:
            raise DTypeError(text, mend="Convert `init` or the result of the step with astype.")
        if not _same_shape(before, node.aval):
            raise ShapeError(text, mend="Give `init` the shape that steps give.")


def _bounded(test: Callable[..., Any], body: Callable[..., Any], init: Any, max_steps: int) -> Any:
    if isinstance(max_steps, (bool, np.bool_)) or max_steps < 0:
        raise InputError(f"max_steps is {max_steps!r}; give a number of steps.")

    def step(carry: Any, _: Any) -> Any:
        return cond(test(carry), body, lambda same: same, carry), None

    return scan(step, init, None, int(max_steps))[0]
