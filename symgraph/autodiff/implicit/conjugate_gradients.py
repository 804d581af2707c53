r"""Linear equations without a matrix: `cg`, the method of conjugate gradients.

Given a function that applies a symmetric positive definite $A(\theta)$, the solution of $A x = b$
is found by products with $A$ alone (Hestenes and Stiefel 1952; Golub and Van Loan, algorithm
11.3.3). Its derivative is that of the equation, $\bar b = u$ and
$\bar\theta = -\partial_\theta (A x)^\top u$ with $A^\top u = \bar x$. This is a linear equation
again, so derivatives of every order take products only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...array import ArrayLike
from ...array.dispatch import FUNCTIONS
from ...array.handle import Array
from ...errors import InputError, ShapeError
from ...ir.body import Body
from ...ir.differentiation import Pull
from ...ir.node import Node
from ...ir.op import Batch, Op, no_flops, register
from ...notation import loops
from ...ops.batched import applied, per_example, whole
from ...ops.closures import as_leaves, body_of_batch, closed, rebuilt, traced
from ...ops.composites import as_array, naming_lines
from ...ops.iteration import while_loop
from ...pytrees import Tree, flatten, unflatten
from .implicit_function import (
    Transposed,
    allowed_steps,
    check_like,
    floating_leaves,
    follow_solution,
    infer_solution,
    kernel_of_solution,
    nodes_of,
    pulled_back,
    solution_node,
    tolerance_for,
)

__all__ = ["LINEAR_SOLUTION", "cg"]


# -- the record ------------------------------------------------------------------------------------
def _pullback(
    pull: Pull, *, body: Body, lead: int, tolerance: float, steps: int
) -> list[Array | None]:
    def adjoint(transposed: Transposed, unknowns: Sequence[Node], cts: list[Array]) -> list[Array]:
        def applied(us: list[Array]) -> list[Array]:
            found = transposed(us, unknowns)
            return [u * 0 if each is None else each for u, each in zip(us, found, strict=True)]

        _, tree = flatten(cts)
        us = _solved(applied, cts, None, tree, lead + pull.lead, tolerance, steps)
        return [-u for u in us]

    return pulled_back(pull, body, adjoint)


def _batch(batch: Batch, *, body: Body, lead: int, **params: Mapping[str, Any]) -> Any:
    """The op on a batch: systems stacked along one more axis."""
    number = len(body.outputs)
    inputs, found = body_of_batch(batch, body, [*[True] * number, *batch.batched[number:]])
    after = [(x if flag else per_example(x, batch.size)).node for x, flag in found]
    operands = [*[whole(batch, slot) for slot in range(number)], *batch.operands[number:]]
    return applied(batch, operands, body=Body(inputs, after), lead=lead + 1, **params)


LINEAR_SOLUTION = register(
    Op(
        "linear_solution",
        batch=_batch,
        infer=infer_solution,
        kernel=kernel_of_solution,
        pullback=_pullback,
        flops=no_flops,
        follows=follow_solution,
        count=0,
        doc="The solution of A(x) = b: itself, with the derivative the equation gives it.",
        source=loops.solution_source,
    )
)


# -- the iteration ---------------------------------------------------------------------------------
class _Lanes:
    """Systems stacked along `lead` axes; each is a lane with its own sums, scales and updates."""

    def __init__(self, lead: int) -> None:
        self.lead = lead

    def dot(self, xs: Sequence[Array], ys: Sequence[Array]) -> Array:
        """The inner product over all arrays, for each lane."""
        total: Any = 0
        for x, y in zip(xs, ys, strict=True):
            total = total + FUNCTIONS["sum"](x * y, axis=tuple(range(self.lead, x.ndim)))
        return total

    def largest(self, xs: Sequence[Array]) -> Array:
        """The largest absolute value of an element, for each lane; 1 where it is 0."""
        found: Any = None
        for x in xs:
            axes = tuple(range(self.lead, x.ndim))
            size = FUNCTIONS["max"](FUNCTIONS["absolute"](x), axis=axes, initial=0.0)
            found = size if found is None else FUNCTIONS["maximum"](found, size)
        return FUNCTIONS["where"](found > 0, found, 1.0)

    def times(self, number: Array, xs: Sequence[Array]) -> list[Array]:
        """Each array times the number of its lane."""
        return [
            FUNCTIONS["astype"](number, x.dtype).reshape(
                (*number.shape, *[1] * (x.ndim - self.lead))
            )
            * x
            for x in xs
        ]


Applied = Callable[[list[Array]], list[Array]]
_State = tuple[list[Array], list[Array], list[Array], Array, Any]


def _iterated(
    applied: Applied,
    bs: list[Array],
    starts: list[Array] | None,
    lanes: _Lanes,
    tolerance: float,
    steps: int,
) -> tuple[list[Array], Array]:
    """The last iterates, and whether all lanes have converged.

    A lane that has converged stands still. A lane that meets a direction along which the operator
    is not positive becomes NaN, and has not converged.
    """
    where = FUNCTIONS["where"]
    first = [b * 0 for b in bs] if starts is None else starts
    residuals = bs if starts is None else _minus(bs, applied(starts))
    rho = lanes.dot(residuals, residuals)
    bound = tolerance**2 * FUNCTIONS["maximum"](lanes.dot(bs, bs), rho)

    def step(state: _State) -> _State:
        xs, rs, ps, rho, number = state
        live = rho > bound
        images = applied(ps)
        curvature = lanes.dot(ps, images)
        usable = where(curvature > 0, curvature, np.nan)
        length = where(live, rho / where(live, usable, 1.0), 0.0)
        xs = _plus(xs, lanes.times(length, ps))
        rs = _minus(rs, lanes.times(length, images))
        after = where(live, lanes.dot(rs, rs), rho)
        ratio = where(live, after / where(live, rho, 1.0), 0.0)
        return xs, rs, _plus(rs, lanes.times(ratio, ps)), after, number + 1

    def going_on(state: _State) -> Array:
        return FUNCTIONS["any"](state[3] > bound) & (state[4] < steps)

    xs, _, _, rho, _ = while_loop(going_on, step, (first, residuals, residuals, rho, 0))
    # The residual in the loop is right for a linear operator only, so the true one is checked too.
    true = _minus(bs, applied(xs))
    near = lanes.dot(true, true) <= FUNCTIONS["maximum"](bound / tolerance, bound)
    return xs, FUNCTIONS["all"]((rho <= bound) & near)


def _plus(xs: Sequence[Array], ys: Sequence[Array]) -> list[Array]:
    return [x + y for x, y in zip(xs, ys, strict=True)]


def _minus(xs: Sequence[Array], ys: Sequence[Array]) -> list[Array]:
    return [x - y for x, y in zip(xs, ys, strict=True)]


def _solved(
    operator: Callable[[Any], Any],
    bs: list[Array],
    starts: list[Array] | None,
    tree: Tree,
    lead: int,
    tolerance: float,
    steps: int,
) -> list[Array]:
    """The leaves of the solution; right sides are scaled to size 1, to keep squares in range."""
    avals = [b.aval for b in bs]
    found = traced(operator, [(avals, tree)], "The operator")
    check_like(found, avals, tree, "b")
    outside, applying = closed(found.inputs, found.leaves)

    def applied(xs: list[Array]) -> list[Array]:
        here = dict(zip(applying.inputs, [*nodes_of(xs), *outside], strict=True))
        return [Array(node) for node in rebuilt(applying.outputs, here)]

    lanes = _Lanes(lead)
    scale = lanes.largest(bs)
    first = None if starts is None else lanes.times(1 / scale, starts)
    scaled = lanes.times(1 / scale, bs)
    xs, arrived = _iterated(applied, scaled, first, lanes, tolerance, steps)
    residuals = [(Array(leaf) - b).node for leaf, b in zip(found.leaves, bs, strict=True)]
    captured, body = closed(found.inputs, residuals)
    return solution_node(
        LINEAR_SOLUTION,
        lanes.times(scale, xs),
        arrived,
        captured,
        what="sg.cg",
        body=body,
        lead=lead,
        tolerance=tolerance,
        steps=steps,
    )


# -- as a user writes it ---------------------------------------------------------------------------
@naming_lines
def cg(
    operator: Callable[..., Any],
    b: ArrayLike,
    x0: object = None,
    *,
    tolerance: float | None = None,
    max_steps: int = 1000,
) -> Any:
    r"""The solution of $A x = b$ by conjugate gradients, for symmetric positive definite $A$.

    Only products with $A$ are taken, also in derivatives of every order. The derivatives follow
    from the equation, not from the steps. The solution may be used in loops and functions like any
    other value.

    Parameters
    ----------
    operator : callable, or an array of two dimensions
        `operator(x)` gives $A x$, linear in x: a Hessian-vector product, a convolution. You may
        differentiate with respect to arrays that it closes over.
    b : array, or tuples, lists, dicts and dataclasses of arrays, floating
    x0 : as b, optional
        Where the iteration starts, by default at 0; the solution does not depend on it.
    tolerance : float, optional
        The iteration ends when the norm of the residual, relative to the norm of `b`, is at most
        this; by default about 1e-11 in float64.
    max_steps : int
        The most steps of the iteration; each takes one product with $A$.

    Returns
    -------
    same as b
        The solution, with the structure, shapes and dtypes of `b`.

    Raises
    ------
    ConvergenceError
        When the graph is run, if the steps are too few, or the operator is not linear or not
        positive definite. A backend that cannot raise gives NaN.
    ShapeError, DTypeError, TraceError, InputError
        If the result of the operator, or `x0`, differs from `b` in structure, shapes or dtypes.

    Examples
    --------
    A step of Newton's method for a function of many variables, without its Hessian:

    >>> def f(x):
    ...     return np.sum(np.exp(x) + (x - 1) ** 4)
    >>> def newton(x):
    ...     return sg.cg(lambda v: sg.hvp(f)(x, v=v), -sg.grad(f)(x))
    >>> step = sg.trace(newton, x=(3,))
    >>> step.evaluate(x=[0.0, 0.5, 2.0]).round(4)
    array([ 0.2308, -0.2471, -0.5874])
    """
    bs, tree = floating_leaves(b, "b")
    starts = None if x0 is None else _starts(x0, bs, tree)
    steps = allowed_steps(max_steps)
    called = operator if callable(operator) else _as_function(operator)
    found = _solved(called, bs, starts, tree, 0, tolerance_for(bs, tolerance), steps)
    return unflatten(tree, found)


def _as_function(matrix: object) -> Callable[[Any], Any]:
    array = as_array(matrix)
    if array.ndim != 2:
        raise ShapeError(
            f"The operator is {array.aval}; a matrix has two dimensions.",
            mend="Give a function that applies it.",
        )
    return lambda x: FUNCTIONS["matmul"](array, x)


def _starts(x0: object, bs: Sequence[Array], tree: Tree) -> list[Array]:
    leaves, found = as_leaves(x0, "x0")
    if found != tree:
        raise InputError(f"x0 is {found}, but b is {tree}.", mend="Give x0 the containers of b.")
    return [
        FUNCTIONS["broadcast_to"](FUNCTIONS["astype"](leaf, b.dtype), b.shape)
        for leaf, b in zip(leaves, bs, strict=True)
    ]
