"""A loop that runs as long as a condition holds: `while_loop`, with forward mode.

Reverse mode would need what each step went through, and how many there are nobody knows before the
loop runs; with a bound on the steps the loop is a scan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, apply
from ..avals import Aval
from ..body import Body, SizedBody
from ..dims import Dim
from ..errors import DTypeError, InputError, ShapeError, TraceError
from ..op import Op, Places, Push, Trail, register, undefined
from ..pytrees import Tree, flatten, leaf_paths, unflatten
from .branches import cond
from .carrying import settled
from .closures import (
    Traced,
    as_leaves,
    check_same,
    closed,
    fresh_like,
    same_shape,
    spread,
    traced,
)
from .composites import naming_lines
from .creation import zeros
from .loops import scan

__all__ = ["WHILE_LOOP", "while_loop"]


def _infer_while(*avals: Aval, cond: Body, body: Body, tests: int) -> tuple[Aval, ...]:
    count = len(body.outputs)
    check_same(cond.operand_avals, avals[: count + tests], "operand", "the condition is given")
    inner = [*avals[:count], *avals[count + tests :]]
    check_same(body.operand_avals, inner, "operand", "the body is given")
    check_same(body.operand_avals[:count], body.avals, "carry", "a step gives")
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
    moving = spread(body, known, [*zip(body.inputs, body.outputs, strict=False)])
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


def _follows_while(trail: Trail, *, cond: Body, body: Body, tests: int) -> list[Places | None]:
    """How many steps there are does not move with x: a derivative sees the steps alone."""
    count = len(body.outputs)
    held, _ = settled(trail, body, trail.places[:count], trail.places[count + tests :])
    return held


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
        follows=_follows_while,
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
    numbers = [type(leaf) in (int, float) for leaf in flatten(init)[0]]
    step = traced(body, [([leaf.aval for leaf in leaves], tree)], "A step")
    if step.tree == tree:
        # A first carry written as a number takes the dtype that the step makes of it.
        leaves = [
            FUNCTIONS["astype"](leaf, after.dtype) if number else leaf
            for leaf, after, number in zip(leaves, step.leaves, numbers, strict=True)
        ]
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


def _check_loop(test: Traced, step: Traced, avals: Sequence[Aval], tree: Tree) -> None:
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
        if not same_shape(before, node.aval):
            raise ShapeError(text, mend="Give `init` the shape that steps give.")


def _bounded(test: Callable[..., Any], body: Callable[..., Any], init: Any, max_steps: int) -> Any:
    if isinstance(max_steps, (bool, np.bool_)) or max_steps < 0:
        raise InputError(f"max_steps is {max_steps!r}; give a number of steps.")

    def step(carry: Any, _: Any) -> Any:
        return cond(test(carry), body, lambda same: same, carry), None

    return scan(step, init, None, int(max_steps))[0]
