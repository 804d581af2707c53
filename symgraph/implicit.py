r"""Values defined by an equation, differentiated by the implicit function theorem.

Where $F(x^*, \theta) = 0$, the derivative of $x^*$ needs nothing of how it was found:
$\bar\theta = -\partial_\theta F^\top u$ with $\partial_x F^\top u = \bar x$ (Griewank and Walther
2008, ch. 15; Blondel et al. 2022). So the iterations are not kept, and the gradient is as exact as
the solution is. The equation for $u$ is itself solved by a node of this kind, hence derivatives of
every order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .array import FUNCTIONS, Array, apply
from .autodiff.reverse import cotangents
from .avals import Aval
from .body import Body, SizedBody
from .dag import Node
from .dims import Dim, count, known_equal
from .errors import ConvergenceError, DTypeError, InputError, ShapeError, TraceError
from .namespace import Namespace
from .op import Op, Places, Pull, Trail, carries_aligned, no_flops, register
from .ops.carrying import settled
from .ops.closures import Traced, as_leaves, closed, rebuilt, traced
from .ops.composites import naming_lines
from .ops.creation import constant_of, eye, zeros
from .ops.iteration import while_loop
from .pytrees import leaf_paths, unflatten

__all__ = ["CONVERGED", "IMPLICIT", "fixed_point", "root"]


# -- whether an iteration has arrived --------------------------------------------------------------
def _kernel_converged(xp: Any, x: Any, arrived: Any, *, what: str, steps: int) -> Any:
    if not isinstance(xp, Namespace):
        raise TypeError("A kernel that looks at numbers is called by its name, not written out.")
    return xp.arrived(x, arrived, ConvergenceError, _not_arrived(what, steps))


def _not_arrived(what: str, steps: int) -> str:
    return (
        f"{what} has not converged after {steps} steps. "
        "Start nearer, allow more max_steps or a larger tolerance; a fixed point needs a function "
        "that contracts, a root one whose Jacobian is regular."
    )


CONVERGED = register(
    Op(
        "converged",
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
    )
)


# -- the solution of an equation -------------------------------------------------------------------
def _infer(*avals: Aval, body: Body, kind: str, tolerance: float, steps: int) -> tuple[Aval, ...]:
    return avals[: len(body.outputs)]


def _kernel(
    xp: Any, *operands: Any, body: SizedBody, kind: str, tolerance: float, steps: int
) -> Any:
    found = list(operands[: len(body.results())])
    return tuple(found) if len(found) > 1 else found[0]


def _pullback(
    pull: Pull, *, body: Body, kind: str, tolerance: float, steps: int
) -> list[Array | None]:
    number = len(body.outputs)
    lead = next(ct.shape[: pull.lead] for ct in pull.cts if ct is not None)
    cts = [
        zeros((*lead, *out.shape), out.dtype) if ct is None else ct
        for ct, out in zip(pull.cts, pull.outs, strict=True)
    ]
    here = dict(
        zip(
            body.inputs,
            [*[x.node for x in pull.outs], *_nodes(pull.operands[number:])],
            strict=True,
        )
    )

    def transposed(us: Sequence[Array], targets: Sequence[Node]) -> list[Array | None]:
        """What the function's transposed Jacobian at the solution makes of `us`."""
        seeds = list(zip(map(Array, body.outputs), us, strict=True))
        found = pull.cotangents(seeds, [Array(each) for each in targets])
        there = [each.node for each in found if each is not None]
        moved = iter(rebuilt(there, here))
        return [None if each is None else Array(next(moved)) for each in found]

    unknowns = body.inputs[:number]
    if kind == "fixed_point":
        us = _adjoint_of_fixed_point(transposed, unknowns, cts, tolerance, steps)
    else:
        us = _adjoint_of_root(transposed, unknowns, cts, pull.lead)
    # What starts the iteration has no part in the solution.
    wanted = [slot for slot in pull.wanted if slot >= number]
    pulled = dict(zip(wanted, transposed(us, [body.inputs[slot] for slot in wanted]), strict=True))
    return [pulled.get(slot) for slot in pull.wanted]


Transposed = Callable[[Sequence[Array], Sequence[Node]], list[Array | None]]


def _adjoint_of_fixed_point(
    transposed: Transposed,
    unknowns: Sequence[Node],
    cts: list[Array],
    tolerance: float,
    steps: int,
) -> list[Array]:
    r"""$u = \bar x + \partial_x f^\top u$, which contracts as $f$ does."""

    def step(us: list[Array]) -> list[Array]:
        found = transposed(us, unknowns)
        return [ct if each is None else ct + each for ct, each in zip(cts, found, strict=True)]

    return fixed_point(step, cts, tolerance=tolerance, max_steps=steps)


def _adjoint_of_root(
    transposed: Transposed, unknowns: Sequence[Node], cts: list[Array], lead: int
) -> list[Array]:
    r"""$\partial_x f^\top u = -\bar x$, solved with the Jacobian written out."""
    avals = [node.aval for node in unknowns]
    size = _size(avals)
    rows = eye(size, dtype=cts[0].dtype)
    jacobian = _joined(_filled(transposed(_parted(rows, avals), unknowns), avals, (size,)), 1)
    ct = _joined(cts, lead)
    found = np.linalg.solve(jacobian.T, FUNCTIONS["expand_dims"](-ct, -1))[..., 0]
    return _parted(found, avals)


def _filled(
    found: Sequence[Array | None], avals: Sequence[Aval], lead: tuple[Dim, ...]
) -> list[Array]:
    return [
        zeros((*lead, *aval.shape), aval.dtype) if each is None else each
        for each, aval in zip(found, avals, strict=True)
    ]


def _follows(
    trail: Trail, *, body: Body, kind: str, tolerance: float, steps: int
) -> list[Places | None]:
    r"""Where the function has axes if its solution has them there as well.

    Along such an axis both Jacobians of $\partial_x F\,\dot x = -\partial_\theta F\,\dot\theta$
    are made of blocks, and so is their quotient. What starts the iteration has no part in it.
    """
    number = len(body.outputs)
    held, _ = settled(trail, body, [None] * number, trail.places[number:])
    return held


IMPLICIT = register(
    Op(
        "implicit",
        infer=_infer,
        kernel=_kernel,
        pullback=_pullback,
        flops=no_flops,
        follows=_follows,
        count=0,
        doc="The solution of an equation: itself, with the derivative the equation gives it.",
    )
)


# -- several arrays as one vector ------------------------------------------------------------------
def _size(avals: Sequence[Aval]) -> Dim:
    total: Any = 0
    for aval in avals:
        total = total + count(aval.shape)
    return total


def _joined(arrays: Sequence[Array], lead: int) -> Array:
    """All elements on one last axis behind `lead` leading ones."""
    flat = [
        FUNCTIONS["reshape"](each, (*each.shape[:lead], count(each.shape[lead:])))
        for each in arrays
    ]
    return flat[0] if len(flat) == 1 else FUNCTIONS["concatenate"](flat, axis=-1)


def _parted(vector: Array, avals: Sequence[Aval]) -> list[Array]:
    """The arrays whose elements lie on the last axis."""
    found: list[Array] = []
    place: Any = 0
    for aval in avals:
        size = count(aval.shape)
        part = vector if len(avals) == 1 else vector[..., place : place + size]
        found.append(FUNCTIONS["reshape"](part, (*vector.shape[:-1], *aval.shape)))
        place = place + size
    return found


def _nodes(arrays: Sequence[Array]) -> list[Node]:
    return [each.node for each in arrays]


# -- as a user writes it ---------------------------------------------------------------------------
@naming_lines
def fixed_point(
    f: Callable[..., Any],
    x0: Any,
    *args: Any,
    tolerance: float | None = None,
    max_steps: int = 1000,
) -> Any:
    r"""The solution of $x = f(x, \theta)$, found by iterating `f` from `x0`.

    The gradient solves $u = \bar x + \partial_x f^\top u$ by iteration, too; it does not depend on
    `x0`. Arrays may be among `args` or closed over.

    Parameters
    ----------
    f : callable
        `f(x, *args)`, of the structure, shapes and dtypes of `x0`.
    x0 : array, or tuples, lists, dicts and dataclasses of arrays, floating
    *args : anything
        Passed on.
    tolerance : float, optional
        The iteration ends when no element moves by more than this, relative to 1 + the largest; by
        default about 1e-11 in float64.
    max_steps : int

    Raises
    ------
    ConvergenceError
        When the graph is run and the iteration does not arrive. A backend that cannot raise gives
        NaN.
    ShapeError, DTypeError, TraceError
        If `f` gives something else than it is given.

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
    x0: Any,
    *args: Any,
    tolerance: float | None = None,
    max_steps: int = 50,
) -> Any:
    r"""The solution of $f(x, \theta) = 0$, found by Newton's method from `x0`.

    Each step solves with the Jacobian of all elements of `x`, so they should be few. The gradient
    is $-\partial_\theta f^\top u$ with $\partial_x f^\top u = \bar x$.

    Parameters, errors as `fixed_point`; `f` gives as many elements as `x` has.

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
    """An equation, checked, and the loop that solves it."""

    def __init__(
        self,
        f: Callable[[Any], Any],
        x0: Any,
        tolerance: float | None,
        max_steps: int,
        kind: str,
    ) -> None:
        self.kind = kind
        self.start, self.tree = as_leaves(x0, "x0")
        for path, leaf in zip(leaf_paths(self.tree, "x0"), self.start, strict=True):
            if leaf.dtype.kind != "f":
                raise DTypeError(f"{path} is {leaf.aval}; what is solved for is floating.")
        if not self.start:
            raise TraceError("There is nothing to solve for: x0 holds no array.")
        if max_steps < 1:
            raise InputError(f"max_steps is {max_steps!r}; give 1 or more.")
        self.max_steps = int(max_steps)
        coarsest = max(float(np.finfo(leaf.dtype).eps) for leaf in self.start)
        self.tolerance = coarsest**0.7 if tolerance is None else float(tolerance)
        self.avals = [leaf.aval for leaf in self.start]
        self.found = traced(f, [(self.avals, self.tree)], "The function")
        self._check(self.found)
        self.outside, self.body = closed(self.found.inputs, self.found.leaves)

    def _check(self, found: Traced) -> None:
        if found.tree != self.tree:
            raise TraceError(
                f"The function gives {found.tree}, but x0 is {self.tree}.",
                mend="Return arrays in the containers of x0.",
            )
        paths = leaf_paths(self.tree, "x")
        for path, aval, node in zip(paths, self.avals, found.leaves, strict=True):
            same = aval.ndim == node.ndim and all(map(known_equal, aval.shape, node.shape))
            text = f"The function gives {node.aval} for {path}, which is {aval}."
            if not same:
                raise ShapeError(text, mend="Give x0 the shape that the function gives.")
            if aval.dtype != node.dtype:
                raise DTypeError(text, mend="Convert x0 or the result with astype.")

    def solved(self, advanced: Callable[[list[Array], list[Array]], Any]) -> Any:
        """The solution; `advanced(xs, f(xs))` gives the next point and the last one."""
        first: Any = np.inf

        def step(carry: tuple[list[Array], Array, Array]) -> Any:
            xs, _, number = carry
            here = dict(zip(self.body.inputs, [*_nodes(xs), *self.outside], strict=True))
            values = [Array(node) for node in rebuilt(self.body.outputs, here)]
            after, before = advanced(xs, values)
            return after, self._moved(after, before), number + 1

        def going_on(carry: tuple[list[Array], Array, Array]) -> Array:
            return (carry[1] > self.tolerance) & (carry[2] < self.max_steps)

        error = constant_of(first, self._error_dtype())
        xs, moved, _ = while_loop(going_on, step, (self.start, error, 0))
        what = f"sg.{self.kind}"
        checked = [
            apply(CONVERGED, x, moved <= self.tolerance, what=what, steps=self.max_steps)
            for x in xs
        ]
        solution = apply(
            IMPLICIT,
            *checked,
            *[Array(node) for node in self.outside],
            body=self.body,
            kind=self.kind,
            tolerance=self.tolerance,
            steps=self.max_steps,
        )
        return unflatten(self.tree, list(solution) if isinstance(solution, tuple) else [solution])

    def newton(self, xs: list[Array], values: list[Array]) -> tuple[list[Array], list[Array]]:
        r"""$x - J^{-1} f(x)$."""
        size = _size(self.avals)
        rows = _parted(eye(size, dtype=self.avals[0].dtype), self.avals)
        seeds = list(zip(values, rows, strict=True))
        jacobian = _joined(_filled(cotangents(seeds, xs), self.avals, (size,)), 1)
        moved = np.linalg.solve(jacobian, FUNCTIONS["expand_dims"](_joined(values, 0), -1))
        moves = _parted(moved[..., 0], self.avals)
        return [x - move for x, move in zip(xs, moves, strict=True)], xs

    def _error_dtype(self) -> Any:
        return np.result_type(*[aval.dtype for aval in self.avals])

    def _moved(self, after: list[Array], before: list[Array]) -> Array:
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
    nothing = zeros((1,), x.dtype)  # The largest of no elements.
    return FUNCTIONS["max"](FUNCTIONS["concatenate"]([FUNCTIONS["reshape"](sizes, (-1,)), nothing]))
