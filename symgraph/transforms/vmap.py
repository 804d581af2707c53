r"""`vmap`: a function applied to each of a batch at once, $y_i = f(x_i)$.

The function is traced on the arrays of one example; its graph is then made again for all of them
(`batching`), so that no loop runs where an operation takes a batch as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..array.dispatch import FUNCTIONS
from ..array.handle import Array, constant
from ..capture.calling import called, owns
from ..errors import InputError, ShapeError, TraceError
from ..ir.dims import Dim
from ..ir.node import Node
from ..passes.simplify import Effort
from ..pytrees import flatten, leaf_paths, unflatten
from ..rewriting import Soundness
from .arguments import Names
from .assumptions import Assume
from .batch_arguments import Axes, BatchArguments, batch_first, check_axes, spread_axes
from .batching import Mapped, batched
from .kinds import TransformKind
from .transform import Transform

__all__ = ["Axes", "vmap"]


def vmap(
    f: Callable[..., Any],
    in_axes: Axes = 0,
    out_axes: Axes = 0,
    axis_size: Dim | None = None,
    *,
    static: Names = (),
    assume: Assume | None = None,
    backend: str = "numpy",
    trust: Soundness = "rounding",
    effort: Effort = "normal",
    cache_size: int = 64,
    **options: object,
) -> Transform:
    r"""A function that applies `f` to each of a batch: $y_i = f(x_i)$, without a loop.

    `f` is written for one example. Called on NumPy arrays the result is traced once for each
    structure, shape, dtype and static value of its arguments, simplified, lowered and kept; called
    on symbolic arrays it appends to their trace, so it composes with itself, with `grad`,
    `jacobian`, `hessian`, `jvp`, `vjp`, with loops and branches. What does not depend on an array
    that is batched is computed once.

    A `cond` whose condition differs within the batch runs both branches and chooses; derivatives
    of the branch not taken are masked (those with respect to what all share are formed for each
    example before they are added). If a branch might raise or run forever for numbers it was not
    meant for, examples go through it one by one. A `while_loop` runs until all are done. An
    operation that takes no batch (a custom operation, `least_squares` of several matrices,
    `searchsorted` in several vectors, derivatives of solved equations) is applied in a loop.

    Parameters
    ----------
    f : callable
        From arrays to arrays, nested as you like on both sides.
    in_axes : int, None, or a tuple, list or dict of such
        The axis of each array that is the batch's; None where all share the array. An int holds
        for all arguments; a tuple has one entry for each argument, by position; a dict one for
        each by name. An entry may be nested as its argument is, or as its outer containers.
        Arguments given by name alone are batched on axis 0 where a tuple does not mention them.
    out_axes : int, None, or containers of such
        Where the batch is in the results, nested as they are, or as their outer containers. None
        where a result is the same for all, which is checked.
    axis_size : int or dimension, optional
        How many examples there are in the batch; by default as the arguments say.
    static : str, int or a sequence of them
        Names or positions of arguments that are known while tracing, of any type.
    assume : mapping of str to Fact or a sequence of them, optional
        Facts of arguments, as in `grad`; of arrays as they are passed, with the batch.
    backend : str
        Where it runs, as in `Graph.lower`.
    trust : {"exact", "rounding", "domain"}
        The rewrites that are allowed, as in `Graph.simplify`.
    effort : {"low", "normal", "high"}
        How long to simplify, as in `Graph.simplify`.
    cache_size : int
        Programs kept; the one used longest ago goes first.
    **options
        The backend's own.

    Returns
    -------
    Transform
        A function that takes the arguments of `f`.

    Raises
    ------
    InputError
        If no argument is batched and `axis_size` is not given, or axes are not nested as the
        arguments are.
    ShapeError
        If an array has no such axis, or two batches differ in size: both arguments are named.
    TraceError
        If `f` returns no array.

    Examples
    --------
    Gradients of each example by itself:

    >>> def loss(w, x, y):
    ...     return (np.dot(w, x) - y) ** 2
    >>> per_example = sg.vmap(sg.grad(loss), in_axes=(None, 0, 0))
    >>> w, x, y = np.array([1.0, 2.0]), np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2)
    >>> per_example(w, x, y)
    array([[2., 0.],
           [0., 4.]])

    A loss of a whole batch, of a model written for one example:

    >>> f = lambda w: np.sum(sg.vmap(lambda w, x: np.tanh(w @ x), in_axes=(None, 0))(w, x))
    >>> sg.grad(f)(w).shape
    (2,)
    """
    chosen = {
        "static": static,
        "assume": assume,
        "backend": backend,
        "trust": trust,
        "effort": effort,
        "cache_size": cache_size,
    }
    return _Vmap(f, in_axes, out_axes, axis_size, {**chosen, **options})


class _Vmap(Transform):
    """The result of `vmap`."""

    def __init__(
        self,
        f: Callable[..., Any],
        in_axes: Axes,
        out_axes: Axes,
        axis_size: Dim | None,
        options: Mapping[str, Any],
    ) -> None:
        for name in ("wrt", "has_aux"):
            if name in options:
                raise InputError(f"vmap differentiates nothing: it takes no {name}.")
        super().__init__(f, TransformKind("vmap", (), "traced"), wrt=(), **options)
        check_axes("in_axes", in_axes)
        check_axes("out_axes", out_axes)
        self._in_axes, self._out_axes, self._axis_size = in_axes, out_axes, axis_size

    def _traced_function(self) -> Callable[..., Any]:
        return self._applied

    def _applied(self, *args: object, **kwargs: object) -> Any:
        """The results for each of the batch, on symbolic arrays."""
        arguments = BatchArguments.of(self._parameters, args, kwargs, self._in_axes)
        size = arguments.size(self._axis_size)
        symbols = arguments.symbols()
        ordered, named = arguments.rebuilt(symbols)
        with called(self._parameters.name, self._f) as scope:
            owns(scope, [symbol.node for symbol in symbols.values()])
            result = self._f(*ordered, **named)
        leaves, tree = flatten(result)
        axes = spread_axes(self._out_axes, tree, "out_axes", "the result")
        given: dict[Node, Mapped] = {
            symbol.node: (batch_first(arguments.leaves[i], arguments.axes[i]), True)
            for i, symbol in symbols.items()
        }
        found = batched([_as_output(leaf).node for leaf in leaves], given, size)
        paths = leaf_paths(tree, "result")
        rows = zip(found, axes, paths, strict=True)
        return unflatten(tree, [_placed(*pair, axis, path, size) for pair, axis, path in rows])


# -- results ---------------------------------------------------------------------------------------
def _as_output(leaf: object) -> Array:
    if isinstance(leaf, Array):
        return leaf
    if isinstance(leaf, (np.ndarray, np.generic, int, float)):
        return constant(leaf)
    raise TraceError(
        f"The function returned {leaf!r}, which is no array.",
        mend="Return arrays, nested as you like.",
    )


def _placed(x: Array, has_batch: bool, axis: int | None, path: str, size: Dim) -> Array:
    """A result with the batch where it is asked for."""
    if axis is None:
        if has_batch:
            raise InputError(
                f"{path} differs within the batch, but out_axes says None for it.",
                mend="Give the axis where the batch is to be.",
            )
        return x
    ndim = x.ndim if has_batch else x.ndim + 1
    if not -ndim <= axis < ndim:
        raise ShapeError(
            f"{path} has {ndim} dimensions with the batch, and no axis {axis} for it.",
            mend="Name an axis it has in out_axes.",
        )
    whole = x if has_batch else FUNCTIONS["broadcast_to"](x, (size, *x.shape))
    return FUNCTIONS["moveaxis"](whole, 0, axis) if axis % ndim else whole
