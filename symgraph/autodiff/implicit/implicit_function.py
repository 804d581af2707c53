"""What values defined by an equation have in common: a node that holds it, and its derivative.

The node's operands are the solution, however it was found, and what the equation's function depends
on beside it; the function is a body in its params.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...array.handle import FUNCTIONS, Array
from ...errors import ConvergenceError, DTypeError, ShapeError, TraceError
from ...ir.avals import Aval
from ...ir.body import Body, SizedBody
from ...ir.differentiation import Places, Pull, Trail
from ...ir.dims import known_equal
from ...ir.node import Node
from ...ir.op import Batch, Op, Unbatched, carries_aligned, no_flops, register
from ...ir.traits import Arrangement, Traits
from ...namespace.namespace import Namespace
from ...ops.batched import applied
from ...ops.carrying import settled
from ...ops.closures import Traced, as_leaves, rebuilt
from ...ops.creation import zeros
from ...pytrees import Tree, leaf_paths

__all__ = [
    "CONVERGED",
    "Transposed",
    "check_like",
    "floating_leaves",
    "follow_solution",
    "infer_solution",
    "kernel_of_solution",
    "nodes_of",
    "pulled_back",
    "tolerance_for",
]

Transposed = Callable[[Sequence[Array], Sequence[Node]], list[Array | None]]
"""What a transposed Jacobian makes of arrays, for some of its inputs."""


# -- whether an iteration has arrived --------------------------------------------------------------
def _kernel_converged(xp: Any, x: Any, arrived: Any, *, what: str, steps: int) -> Any:
    if not isinstance(xp, Namespace):
        raise TypeError("A kernel that looks at numbers is called by its name, not written out.")
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
    """An error if any of the batch has not arrived."""
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
        doc="x, if an iteration has arrived; else an error (NaN where a backend cannot raise).",
        traits=Traits(arrangement=Arrangement.SAME),
    )
)


# -- the solution of an equation -------------------------------------------------------------------
def infer_solution(*avals: Aval, body: Body, **_params: object) -> tuple[Aval, ...]:
    """The solution comes first among the operands."""
    return avals[: len(body.outputs)]


def kernel_of_solution(xp: Any, *operands: Any, body: SizedBody, **_params: Any) -> Any:
    """Those operands as they are."""
    found = list(operands[: len(body.results())])
    return tuple(found) if len(found) > 1 else found[0]


def pulled_back(pull: Pull, body: Body, adjoint: Callable[..., list[Array]]) -> list[Array | None]:
    r"""Cotangents of what the function in `body` depends on beside the solution.

    `adjoint(transposed, unknowns, cts)` gives $u$; `transposed(us, targets)` is what the function's
    transposed Jacobian at the solution makes of `us`.
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
        moved = iter(rebuilt(there, here))
        return [None if each is None else Array(next(moved)) for each in found]

    us = adjoint(transposed, body.inputs[:number], cts)
    # What starts the iteration has no part in the solution.
    wanted = [slot for slot in pull.wanted if slot >= number]
    pulled = dict(zip(wanted, transposed(us, [body.inputs[slot] for slot in wanted]), strict=True))
    return [pulled.get(slot) for slot in pull.wanted]


def follow_solution(trail: Trail, *, body: Body, **_params: object) -> list[Places | None]:
    r"""Where the function has axes if its solution has them there as well.

    Along such an axis both Jacobians of $\partial_x F\,\dot x = -\partial_\theta F\,\dot\theta$
    are made of blocks, and so is their quotient. What starts the iteration has no part in it.
    """
    number = len(body.outputs)
    held, _ = settled(trail, body, [None] * number, trail.places[number:])
    return held


# -- what is solved for ----------------------------------------------------------------------------
def check_like(found: Traced, avals: Sequence[Aval], tree: Tree, like: str) -> None:
    """Check that a function gives what it is given, which is as `like`: containers, shapes, dtypes.

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
        same = aval.ndim == node.ndim and all(map(known_equal, aval.shape, node.shape))
        text = f"The function gives {node.aval} for {path}, which is {aval}."
        if not same:
            raise ShapeError(text, mend=f"Give {like} the shape that the function gives.")
        if aval.dtype != node.dtype:
            raise DTypeError(text, mend=f"Convert {like} or the result with astype.")


def floating_leaves(x0: object, what: str) -> tuple[list[Array], Tree]:
    """The leaves of what is solved for, or starts that.

    Raises
    ------
    DTypeError, TraceError
        If one is not floating, or there is none.
    """
    leaves, tree = as_leaves(x0, what)
    for path, leaf in zip(leaf_paths(tree, what), leaves, strict=True):
        if leaf.dtype.kind != "f":
            raise DTypeError(f"{path} is {leaf.aval}; unknowns must be floating.")
    if not leaves:
        raise TraceError(f"There is nothing to solve for: {what} holds no array.")
    return leaves, tree


def tolerance_for(leaves: Sequence[Array], tolerance: float | None) -> float:
    """What is given, or a little more than half of the digits of the coarsest dtype."""
    coarsest = max(float(np.finfo(leaf.dtype).eps) for leaf in leaves)
    return coarsest**0.7 if tolerance is None else float(tolerance)


def nodes_of(arrays: Sequence[Array]) -> list[Node]:
    """Their nodes."""
    return [each.node for each in arrays]
