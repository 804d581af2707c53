r"""Values defined by an equation, differentiated by the implicit function theorem.

Where $F(x^*, \theta) = 0$, the derivative of $x^*$ does not depend on how $x^*$ was found:
$\bar\theta = -\partial_\theta F^\top u$ with $\partial_x F^\top u = \bar x$ (Griewank and Walther
2008, ch. 15; Blondel et al. 2022). So the iterations are not kept, and the gradient is as exact as
the solution. The equation for $u$ is itself solved by a node of this kind, so derivatives of every
order exist.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...array.dispatch import FUNCTIONS
from ...array.handle import Array
from ...ir.avals import Aval
from ...ir.body import Body
from ...ir.differentiation import Pull
from ...ir.dims import Dim, count
from ...ir.node import Node
from ...ir.op import Op, no_flops, register
from ...notation import loops
from ...ops.closures import closed, rebuilt, traced
from ...ops.composites import naming_lines
from ...ops.creation import constant_of, eye, zeros
from ...ops.iteration import while_loop
from ...pytrees import unflatten
from ..reverse import cotangents
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

__all__ = ["IMPLICIT", "fixed_point", "root"]


# -- the solution of an equation -------------------------------------------------------------------
def _pullback(
    pull: Pull, *, body: Body, kind: str, tolerance: float, steps: int
) -> list[Array | None]:
    def adjoint(transposed: Transposed, unknowns: Sequence[Node], cts: list[Array]) -> list[Array]:
        if kind == "fixed_point":
            return _adjoint_of_fixed_point(transposed, unknowns, cts, tolerance, steps)
        return _adjoint_of_root(transposed, unknowns, cts, pull.lead)

    return pulled_back(pull, body, adjoint)


def _adjoint_of_fixed_point(
    transposed: Transposed,
    unknowns: Sequence[Node],
    cts: list[Array],
    tolerance: float,
    steps: int,
) -> list[Array]:
    r"""The solution of $u = \bar x + \partial_x f^\top u$, which contracts as $f$ does."""

    def step(us: list[Array]) -> list[Array]:
        found = transposed(us, unknowns)
        return [ct if each is None else ct + each for ct, each in zip(cts, found, strict=True)]

    return fixed_point(step, cts, tolerance=tolerance, max_steps=steps)


def _adjoint_of_root(
    transposed: Transposed, unknowns: Sequence[Node], cts: list[Array], lead: int
) -> list[Array]:
    r"""The solution of $\partial_x f^\top u = -\bar x$, with the whole Jacobian."""
    avals = [node.aval for node in unknowns]
    size = _size(avals)
    rows = eye(size, dtype=cts[0].dtype)
    jacobian = _flat(_filled(transposed(_unflat(rows, avals), unknowns), avals, (size,)), 1)
    ct = _flat(cts, lead)
    found = np.linalg.solve(jacobian.T, FUNCTIONS["expand_dims"](-ct, -1))[..., 0]
    return _unflat(found, avals)


def _filled(
    found: Sequence[Array | None], avals: Sequence[Aval], lead: tuple[Dim, ...]
) -> list[Array]:
    return [
        zeros((*lead, *aval.shape), aval.dtype) if each is None else each
        for each, aval in zip(found, avals, strict=True)
    ]


IMPLICIT = register(
    Op(
        "implicit",
        infer=infer_solution,
        kernel=kernel_of_solution,
        pullback=_pullback,
        flops=no_flops,
        follows=follow_solution,
        count=0,
        doc="The solution of an equation: itself, with the derivative the equation gives it.",
        source=loops.solution_source,
    )
)


# -- several arrays as one vector ------------------------------------------------------------------
def _size(avals: Sequence[Aval]) -> Dim:
    total: Any = 0
    for aval in avals:
        total = total + count(aval.shape)
    return total


def _flat(arrays: Sequence[Array], lead: int) -> Array:
    """All elements along one last axis, after `lead` leading axes."""
    flat = [
        FUNCTIONS["reshape"](each, (*each.shape[:lead], count(each.shape[lead:])))
        for each in arrays
    ]
    return flat[0] if len(flat) == 1 else FUNCTIONS["concatenate"](flat, axis=-1)


def _unflat(vector: Array, avals: Sequence[Aval]) -> list[Array]:
    """The arrays whose elements lie along the last axis of `vector`."""
    found: list[Array] = []
    place: Any = 0
    for aval in avals:
        size = count(aval.shape)
        part = vector if len(avals) == 1 else vector[..., place : place + size]
        found.append(FUNCTIONS["reshape"](part, (*vector.shape[:-1], *aval.shape)))
        place = place + size
    return found


# -- as a user writes it ---------------------------------------------------------------------------
@naming_lines
def fixed_point(
    f: Callable[..., Any],
    x0: object,
    *args: object,
    tolerance: float | None = None,
    max_steps: int = 1000,
) -> Any:
    r"""The solution of $x = f(x, \theta)$, found by iterating `f` from `x0`.

    The gradient solves $u = \bar x + \partial_x f^\top u$ by iteration, too; it does not depend on
    `x0`. Arrays may be among `args`, or `f` may close over them.

    Parameters
    ----------
    f : callable
        `f(x, *args)` has the structure, shapes and dtypes of `x0`.
    x0 : array, or tuples, lists, dicts and dataclasses of arrays, floating
        Where the iteration starts.
    *args : anything
        Passed on.
    tolerance : float, optional
        The iteration ends when no element moves by more than this, relative to 1 + the largest; by
        default about 1e-11 in float64.
    max_steps : int
        The most times that `f` is applied.

    Returns
    -------
    same as x0
        The solution, with the structure, shapes and dtypes of `x0`.

    Raises
    ------
    ConvergenceError
        When the graph is run and the iteration does not converge. A backend that cannot raise
        gives NaN.
    ShapeError, DTypeError, TraceError
        If the result of `f` differs from `x0` in structure, shapes or dtypes.

    Examples
    --------
    >>> a = sg.input("a")
    >>> x = sg.fixed_point(lambda x: (x + a / x) / 2, a)
    >>> values = sg.graph(x, sg.grad(x, a)).evaluate(a=4.0)
    >>> [round(float(value), 9) for value in values]
    [2.0, 0.25]
    """
    problem = _Problem(lambda x: f(x, *args), x0, tolerance, max_steps, "fixed_point")
    return problem.solved(lambda xs, values: (values, xs))


@naming_lines
def root(
    f: Callable[..., Any],
    x0: object,
    *args: object,
    tolerance: float | None = None,
    max_steps: int = 50,
) -> Any:
    r"""The solution of $f(x, \theta) = 0$, found by Newton's method from `x0`.

    Each step solves with the Jacobian of all elements of `x`, so `x` should have few elements. The
    gradient is $-\partial_\theta f^\top u$ with $\partial_x f^\top u = \bar x$.

    Parameters
    ----------
    f : callable
        `f(x, *args)` has the structure, shapes and dtypes of `x0`.
    x0 : array, or tuples, lists, dicts and dataclasses of arrays, floating
        Where the iteration starts.
    *args : anything
        Passed on.
    tolerance : float, optional
        The iteration ends when no element moves by more than this, relative to 1 + the largest; by
        default about 1e-11 in float64.
    max_steps : int
        The most steps of Newton's method.

    Returns
    -------
    same as x0
        The solution, with the structure, shapes and dtypes of `x0`.

    Raises
    ------
    ConvergenceError
        When the graph is run and the iteration does not converge. A backend that cannot raise
        gives NaN.
    ShapeError, DTypeError, TraceError
        If the result of `f` differs from `x0` in structure, shapes or dtypes.

    Examples
    --------
    >>> a = sg.input("a")
    >>> x = sg.root(lambda x: x**3 - a, 2.0)
    >>> values = sg.graph(x, sg.grad(x, a)).evaluate(a=8.0)
    >>> [round(float(value), 9) for value in values]
    [2.0, 0.083333333]
    """
    problem = _Problem(lambda x: f(x, *args), x0, tolerance, max_steps, "root")
    return problem.solved(problem.newton)


class _Problem:
    """A checked equation, and the loop that solves it."""

    def __init__(
        self,
        f: Callable[[Any], Any],
        x0: object,
        tolerance: float | None,
        max_steps: int,
        kind: str,
    ) -> None:
        self.kind = kind
        self.start, self.tree = floating_leaves(x0, "x0")
        self.max_steps = allowed_steps(max_steps)
        self.tolerance = tolerance_for(self.start, tolerance)
        self.avals = [leaf.aval for leaf in self.start]
        self.found = traced(f, [(self.avals, self.tree)], "The function")
        check_like(self.found, self.avals, self.tree, "x0")
        self.outside, self.body = closed(self.found.inputs, self.found.leaves)

    def solved(self, advanced: Callable[[list[Array], list[Array]], Any]) -> Any:
        """The solution; `advanced(xs, f(xs))` gives the next point, and the point it moved from."""
        first: Any = np.inf

        def step(carry: tuple[list[Array], Array, Array]) -> Any:
            xs, _, number = carry
            here = dict(zip(self.body.inputs, [*nodes_of(xs), *self.outside], strict=True))
            values = [Array(node) for node in rebuilt(self.body.outputs, here)]
            after, before = advanced(xs, values)
            return after, self._relative_move(after, before), number + 1

        def going_on(carry: tuple[list[Array], Array, Array]) -> Array:
            return (carry[1] > self.tolerance) & (carry[2] < self.max_steps)

        error = constant_of(first, self._error_dtype())
        xs, moved, _ = while_loop(going_on, step, (self.start, error, 0))
        found = solution_node(
            IMPLICIT,
            xs,
            moved <= self.tolerance,
            self.outside,
            what=f"sg.{self.kind}",
            body=self.body,
            kind=self.kind,
            tolerance=self.tolerance,
            steps=self.max_steps,
        )
        return unflatten(self.tree, found)

    def newton(self, xs: list[Array], values: list[Array]) -> tuple[list[Array], list[Array]]:
        r"""One step of Newton's method, $x - J^{-1} f(x)$, and the point before it."""
        size = _size(self.avals)
        rows = _unflat(eye(size, dtype=self.avals[0].dtype), self.avals)
        seeds = list(zip(values, rows, strict=True))
        jacobian = _flat(_filled(cotangents(seeds, xs), self.avals, (size,)), 1)
        moved = np.linalg.solve(jacobian, FUNCTIONS["expand_dims"](_flat(values, 0), -1))
        moves = _unflat(moved[..., 0], self.avals)
        return [x - move for x, move in zip(xs, moves, strict=True)], xs

    def _error_dtype(self) -> Any:
        return np.result_type(*[aval.dtype for aval in self.avals])

    def _relative_move(self, after: list[Array], before: list[Array]) -> Array:
        """The largest move of an element, relative to 1 + the largest element."""
        moves = [_largest(one - other) for one, other in zip(after, before, strict=True)]
        sizes = [_largest(one) for one in after]
        move, size = moves[0], sizes[0]
        for one, other in zip(moves[1:], sizes[1:], strict=True):
            move, size = FUNCTIONS["maximum"](move, one), FUNCTIONS["maximum"](size, other)
        return move / (1 + size)


def _largest(x: Array) -> Array:
    sizes = FUNCTIONS["absolute"](x)
    if isinstance(x.size, int) and x.size > 0:
        return FUNCTIONS["max"](sizes)
    zero = zeros((1,), x.dtype)  # It is the result if x has no elements.
    return FUNCTIONS["max"](FUNCTIONS["concatenate"]([FUNCTIONS["reshape"](sizes, (-1,)), zero]))
