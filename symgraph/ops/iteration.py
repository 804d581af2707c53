"""A loop that runs as long as a condition holds: `while_loop`, with forward mode.

Reverse mode would need the carries of each step, and the number of steps is not known before
the loop runs. With a bound on the steps the loop is a scan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, apply
from ..errors import DTypeError, InputError, ShapeError
from ..ir.avals import Aval
from ..ir.body import Body, SizedBody
from ..ir.differentiation import Places, Push, Trail, undefined
from ..ir.dims import Dim, same_shape
from ..ir.node import Node
from ..ir.op import Batch, Op, Unbatched, register
from ..notation import loops
from ..pytrees import Tree, flatten, leaf_paths, unflatten
from ..records import record
from .batched import aligned, per_example, whole
from .branches import cond
from .carrying import settled
from .closures import (
    TracedFunction,
    as_leaves,
    body_of_batch,
    body_total,
    check_carry,
    check_functions,
    check_same,
    closed,
    fresh_like,
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
    """The flops of one step; the number of steps is not known."""
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
    """The places after all steps; the number of steps has derivative 0."""
    count = len(body.outputs)
    held, _ = settled(trail, body, trail.places[:count], trail.places[count + tests :])
    return held


@record
class _Flags:
    """Which operands of a loop are batched: carries, and captures of the condition and the body."""

    carries: list[bool]
    tests: list[bool]
    rest: list[bool]


def _batch_while(batch: Batch, *, cond: Body, body: Body, tests: int) -> Any:
    """One loop for the whole batch; finished examples stay unchanged while others go on."""
    count = len(body.outputs)
    given = list(batch.batched)
    flags = _Flags(given[:count], given[count : count + tests], given[count + tests :])
    while True:
        _, [(_, differs)] = body_of_batch(batch, cond, [*flags.carries, *flags.tests])
        _, found = body_of_batch(batch, body, [*flags.carries, *flags.rest])
        pairs = zip(flags.carries, found, strict=True)
        after = [flag or now or differs for flag, (_, now) in pairs]
        if after == flags.carries:
            break
        flags = replace(flags, carries=after)
    if differs and not (body_total(cond) and body_total(body)):
        return batch.one_by_one()
    first = [whole(batch, i) if flag else batch.operands[i] for i, flag in enumerate(after)]
    operands = [*first, *batch.operands[count:]]
    results = (_masked if differs else _together)(batch, operands, flags, cond, body)
    return [value if flag else Unbatched(value) for value, flag in zip(results, after, strict=True)]


def _together(
    batch: Batch, operands: list[Array], flags: _Flags, cond: Body, body: Body
) -> Sequence[Array]:
    """One loop, in which all examples take the same number of steps."""
    inputs, [(test, _)] = body_of_batch(batch, cond, [*flags.carries, *flags.tests])
    stepped, found = body_of_batch(batch, body, [*flags.carries, *flags.rest])
    after = _next(batch, flags.carries, found)
    return _looped(operands, Body(inputs, [test.node]), Body(stepped, after), len(flags.tests))


def _next(batch: Batch, flags: Sequence[bool], found: Sequence[tuple[Array, bool]]) -> list[Node]:
    """The carries after a step, batched as before it."""
    return [
        (per_example(value, batch.size) if flag and not now else value).node
        for flag, (value, now) in zip(flags, found, strict=True)
    ]


def _looped(operands: Sequence[Array], cond: Body, body: Body, tests: int) -> Sequence[Array]:
    found = apply(WHILE_LOOP, *operands, cond=cond, body=body, tests=tests)
    return found if isinstance(found, tuple) else [found]


def _masked(
    batch: Batch, operands: list[Array], flags: _Flags, cond: Body, body: Body
) -> Sequence[Array]:
    """A loop that runs while any example goes on; a carry tells which examples do."""
    count, behind = len(flags.carries), len(flags.carries) + len(flags.tests)
    going = fresh_like(Aval(np.dtype(bool), (batch.size,)), "going")
    inputs, found = body_of_batch(batch, body, [*flags.carries, *flags.rest])
    stepped = [
        FUNCTIONS["where"](aligned(Array(going), after.ndim - 1), after, Array(before))
        for before, after in zip(
            inputs, [Array(node) for node in _next(batch, flags.carries, found)], strict=False
        )
    ]
    shared = [fresh_like(x.aval, "tested") for x in operands[count:behind]]

    def goes_on(carries: Sequence[Array], rest: Sequence[Array]) -> Array:
        pairs = zip([*carries, *rest], [*flags.carries, *flags.tests], strict=True)
        given = dict(zip(cond.inputs, pairs, strict=True))
        ((test, _),) = batch.mapped(cond.outputs, given, batch.size)
        return test

    still = goes_on(stepped, [Array(node) for node in shared]) & Array(going)
    start = goes_on(operands[:count], operands[count:behind])
    testing = Body([going, *inputs[:count]], [FUNCTIONS["any"](Array(going)).node])
    stepping = Body(
        [going, *inputs[:count], *shared, *inputs[count:]],
        [still.node, *[each.node for each in stepped]],
    )
    return _looped([start, *operands], testing, stepping, 0)[1:]


WHILE_LOOP = register(
    Op(
        "while_loop",
        batch=_batch_while,
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
        source=loops.while_source,
    )
)


@naming_lines
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    init: object,
    *,
    max_steps: int | None = None,
) -> Any:
    """Apply `body` to the carry as long as `cond(carry)` holds; the last carry.

    Forward mode differentiates it. Reverse mode needs `max_steps`: the loop then ends after at most
    that many steps. It is a `scan` whose steps do nothing once the condition has failed.

    Parameters
    ----------
    cond : callable
        From the carry to one truth value.
    body : callable
        From the carry to the next one, of the same structure, shapes and dtypes.
    init : array, or tuples, lists, dicts and dataclasses of arrays
    max_steps : int, optional

    Returns
    -------
    same as init
        The last carry, of its structure, shapes and dtypes.

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
    form = "sg.while_loop(lambda carry: carry > 1, lambda carry: carry / 2, init)"
    check_functions(form, cond=cond, body=body)
    if max_steps is not None:
        return _bounded(cond, body, init, max_steps)
    leaves, tree = as_leaves(init, "The carry")
    numbers = [type(leaf) in (int, float) for leaf in flatten(init)[0]]
    step = traced(body, [([leaf.aval for leaf in leaves], tree)], "A step")
    if step.tree == tree:
        # A first carry that is a Python number takes the dtype of the carry after a step.
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


def _check_loop(
    test: TracedFunction, step: TracedFunction, avals: Sequence[Aval], tree: Tree
) -> None:
    check_carry(tree, step.tree)
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
        if not same_shape(before.shape, node.shape):
            raise ShapeError(text, mend="Give `init` the shape that steps give.")


def _bounded(
    test: Callable[..., Any], body: Callable[..., Any], init: object, max_steps: int
) -> Any:
    if isinstance(max_steps, (bool, np.bool_)) or max_steps < 0:
        raise InputError(f"max_steps is {max_steps!r}; give a number of steps.")

    def step(carry: object, _: object) -> Any:
        return cond(test(carry), body, lambda same: same, carry), None

    return scan(step, init, None, int(max_steps))[0]
