"""Values defined by an equation: the node that holds the solution, its checks and its derivative.

The operands of the node are the solution, however it was found, and the captured values that the
function of the equation depends on. The function is a body in the node's params.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...array.dispatch import FUNCTIONS
from ...array.handle import Array, apply
from ...errors import ConvergenceError, DTypeError, InputError, ShapeError, TraceError
from ...ir.avals import Aval
from ...ir.body import Body, SizedBody
from ...ir.differentiation import Places, Pull, Trail
from ...ir.dims import same_shape
from ...ir.node import Node
from ...ir.op import Batch, Op, Unbatched, carries_aligned, no_flops, register
from ...ir.traits import Arrangement, Traits
from ...namespace.namespace import Namespace
from ...ops.batched import applied
from ...ops.carrying import settled
from ...ops.closures import TracedFunction, as_leaves, rebuilt
from ...ops.creation import zeros
from ...pytrees import Tree, leaf_paths

__all__ = [
    "CONVERGED",
    "Transposed",
    "allowed_steps",
    "check_like",
    "floating_leaves",
    "follow_solution",
    "infer_solution",
    "kernel_of_solution",
    "nodes_of",
    "pulled_back",
    "solution_node",
    "tolerance_for",
]

Transposed = Callable[[Sequence[Array], Sequence[Node]], list[Array | None]]
"""Products of a transposed Jacobian with arrays, for some of its inputs."""


# -- whether an iteration has converged ------------------------------------------------------------
def _kernel_converged(xp: Any, x: Any, arrived: Any, *, what: str, steps: int) -> Any:
    if not isinstance(xp, Namespace):
        raise TypeError("A kernel that looks at numbers has no source, and is called by name.")
    return xp.arrived(x, arrived, ConvergenceError, _not_arrived(what, steps))


_NEEDS = {
    "sg.fixed_point": "a fixed point needs a function that contracts",
    "sg.root": "a root needs a function whose Jacobian is regular",
    "sg.cg": "conjugate gradients need a linear operator that is symmetric and positive definite",
}


def _not_arrived(what: str, steps: int) -> str:
    return (
        f"{what} has not converged after {steps} steps or fewer. "
        f"Start nearer, allow more max_steps or a larger tolerance; {_NEEDS[what]}."
    )


def _batch_converged(batch: Batch, **params: Mapping[str, Any]) -> Any:
    """The op on a batch: an error if any of the batch has not converged."""
    x, arrived = batch.operands
    if batch.batched[1]:
        arrived = FUNCTIONS["all"](arrived)
    found = applied(batch, [x, arrived], **params)
    return found if batch.batched[0] else Unbatched(found)


CONVERGED = register(
    Op(
        "converged",
        batch=_batch_converged,
        carries=lambda out, x, arrived, *, slot, **_params: (
            carries_aligned(out, x, slot=0) if slot == 0 else ()
        ),
        infer=lambda x, arrived, *, what, steps: x,
        kernel=_kernel_converged,
        vjp=(lambda ct, out, x, arrived, *, what, steps: ct, None),
        flops=no_flops,
        count=0,
        view=True,
        doc="x, if an iteration has converged; else an error (NaN where a backend cannot raise).",
        traits=Traits(arrangement=Arrangement.SAME),
    )
)


# -- the solution of an equation -------------------------------------------------------------------
def infer_solution(*avals: Aval, body: Body, **_params: object) -> tuple[Aval, ...]:
    """The avals of the solution, which comes first among the operands."""
    return avals[: len(body.outputs)]


def kernel_of_solution(xp: Any, *operands: Any, body: SizedBody, **_params: Any) -> Any:
    """The solution itself, which comes first among the operands."""
    found = list(operands[: len(body.results())])
    return tuple(found) if len(found) > 1 else found[0]


def pulled_back(pull: Pull, body: Body, adjoint: Callable[..., list[Array]]) -> list[Array | None]:
    r"""Cotangents of the values that the function in `body` captures.

    `adjoint(transposed, unknowns, cts)` gives $u$. `transposed(us, targets)` gives the products of
    the function's transposed Jacobian, at the solution, with `us`.
    """
    number = len(body.outputs)
    lead = next(ct.shape[: pull.lead] for ct in pull.cts if ct is not None)
    cts = [
        zeros((*lead, *out.shape), out.dtype) if ct is None else ct
        for ct, out in zip(pull.cts, pull.outs, strict=True)
    ]
    here = dict(
        zip(
            body.inputs,
            [*[x.node for x in pull.outs], *nodes_of(pull.operands[number:])],
            strict=True,
        )
    )

    def transposed(us: Sequence[Array], targets: Sequence[Node]) -> list[Array | None]:
        seeds = list(zip(map(Array, body.outputs), us, strict=True))
        found = pull.cotangents(seeds, [Array(each) for each in targets])
        there = [each.node for each in found if each is not None]
        products = iter(rebuilt(there, here))
        return [None if each is None else Array(next(products)) for each in found]

    us = adjoint(transposed, body.inputs[:number], cts)
    # The solution does not depend on the point where the iteration starts.
    wanted = [slot for slot in pull.wanted if slot >= number]
    pulled = dict(zip(wanted, transposed(us, [body.inputs[slot] for slot in wanted]), strict=True))
    return [pulled.get(slot) for slot in pull.wanted]


def follow_solution(trail: Trail, *, body: Body, **_params: object) -> list[Places | None]:
    r"""The places of axes in the solution: those that they have in the function as well.

    Along such an axis both Jacobians of $\partial_x F\,\dot x = -\partial_\theta F\,\dot\theta$
    are block diagonal, and so is $\dot x$ as a function of $\dot\theta$. The point where the
    iteration starts does not count.
    """
    number = len(body.outputs)
    held, _ = settled(trail, body, [None] * number, trail.places[number:])
    return held


# -- from the user's arguments to the node ---------------------------------------------------------
def check_like(found: TracedFunction, avals: Sequence[Aval], tree: Tree, like: str) -> None:
    """Check that a function gives the containers, shapes and dtypes of its argument.

    Errors call the argument `like`.

    Raises
    ------
    TraceError, ShapeError, DTypeError
    """
    if found.tree != tree:
        raise TraceError(
            f"The function gives {found.tree}, but {like} is {tree}.",
            mend=f"Return arrays in the containers of {like}.",
        )
    for path, aval, node in zip(leaf_paths(tree, "x"), avals, found.leaves, strict=True):
        same = same_shape(aval.shape, node.shape)
        text = f"The function gives {node.aval} for {path}, which is {aval}."
        if not same:
            raise ShapeError(text, mend=f"Give {like} the shape that the function gives.")
        if aval.dtype != node.dtype:
            raise DTypeError(text, mend=f"Convert {like} or the result with astype.")


def floating_leaves(x0: object, what: str) -> tuple[list[Array], Tree]:
    """The leaves of the unknowns, or of the point where the iteration starts.

    Raises
    ------
    DTypeError, TraceError
        If a leaf is not floating, or there is none.
    """
    leaves, tree = as_leaves(x0, what)
    for path, leaf in zip(leaf_paths(tree, what), leaves, strict=True):
        if leaf.dtype.kind != "f":
            raise DTypeError(f"{path} is {leaf.aval}; unknowns must be floating.")
    if not leaves:
        raise TraceError(f"There is nothing to solve for: {what} holds no array.")
    return leaves, tree


def tolerance_for(leaves: Sequence[Array], tolerance: float | None) -> float:
    """The tolerance given; by default a little over half of the digits of the coarsest dtype."""
    coarsest = max(float(np.finfo(leaf.dtype).eps) for leaf in leaves)
    return coarsest**0.7 if tolerance is None else float(tolerance)


def allowed_steps(max_steps: int) -> int:
    """The number of steps given.

    Raises
    ------
    InputError
        If it is less than 1.
    """
    if max_steps < 1:
        raise InputError(f"max_steps is {max_steps!r}; give 1 or more.")
    return int(max_steps)


def solution_node(
    op: Op,
    xs: Sequence[Array],
    arrived: Array,
    captured: Sequence[Node],
    *,
    what: str,
    **params: object,
) -> list[Array]:
    """The solution as results of a node of `op`, whose derivative is that of the equation.

    Parameters
    ----------
    op : Op
    xs : sequence of Array
        The last iterates.
    arrived : Array
        Whether the iteration has converged; if not, `what` raises an error when the graph is run.
    captured : sequence of Node
        The values that the function of the equation depends on.
    what : str
        The user's function, as errors call it.
    **params
        The params of the node; `steps` is the number of steps allowed.
    """
    checked = [apply(CONVERGED, x, arrived, what=what, steps=params["steps"]) for x in xs]
    found = apply(op, *checked, *map(Array, captured), **params)
    return list(found) if isinstance(found, tuple) else [found]


def nodes_of(arrays: Sequence[Array]) -> list[Node]:
    """The nodes of the arrays."""
    return [each.node for each in arrays]
