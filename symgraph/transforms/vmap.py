r"""`vmap`: a function applied to each of a batch at once, $y_i = f(x_i)$.

The function is traced on the arrays of one example; its graph is then made again for all of them
(`batching`), so that no loop runs where an operation takes a batch as a whole.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from ..array.handle import FUNCTIONS, Array, constant
from ..capture.calling import called, owns
from ..errors import InputError, ShapeError, TraceError
from ..ir.dims import Dim, known_equal, normal, show_shape
from ..ir.node import Node
from ..ops.creation import input as symbolic_input
from ..passes.simplify import Effort
from ..pytrees import Tree, flatten, leaf_paths, unflatten
from ..rewriting import Soundness
from .arguments import Names, Signature, dtype_of, is_array
from .batching import Mapped, batched
from .transform import Transform, TransformKind

__all__ = ["Axes", "vmap"]

Axes: TypeAlias = Any
"""An int, None, or containers of such: an entry for a container holds for all in it."""


def vmap(
    f: Callable[..., Any],
    in_axes: Axes = 0,
    out_axes: Axes = 0,
    axis_size: Dim | None = None,
    *,
    static: Names = (),
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
        _check_axes("in_axes", in_axes)
        _check_axes("out_axes", out_axes)
        self._in_axes, self._out_axes, self._axis_size = in_axes, out_axes, axis_size

    def _traced_function(self) -> Callable[..., Any]:
        return self._applied

    def _applied(self, *args: object, **kwargs: object) -> Any:
        """The results for each of the batch, on symbolic arrays."""
        arguments = _Arguments.of(self._parameters, args, kwargs, self._in_axes)
        size = arguments.size(self._axis_size)
        symbols = arguments.symbols()
        ordered, named = arguments.rebuilt(symbols)
        with called(self._parameters.name, self._f) as scope:
            owns(scope, [symbol.node for symbol in symbols.values()])
            result = self._f(*ordered, **named)
        leaves, tree = flatten(result)
        axes = _spread(self._out_axes, tree, "out_axes", "the result")
        given: dict[Node, Mapped] = {
            symbol.node: (_batch_first(arguments.leaves[i], arguments.axes[i]), True)
            for i, symbol in symbols.items()
        }
        found = batched([_as_output(leaf).node for leaf in leaves], given, size)
        paths = leaf_paths(tree, "result")
        rows = zip(found, axes, paths, strict=True)
        return unflatten(tree, [_placed(*pair, axis, path, size) for pair, axis, path in rows])


# -- arguments -------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Arguments:
    """The arguments of a call as leaves, and the axis of the batch in each.

    Parameters
    ----------
    args, kwargs : int, tuple of str
        How many are passed by position, and the names of the others.
    trees : tuple of Tree
        The structure of each.
    leaves : tuple
    paths : tuple of str
        Where each leaf is, as text.
    axes : tuple of int or None
        One a leaf.
    """

    args: int
    kwargs: tuple[str, ...]
    trees: tuple[Tree, ...]
    leaves: tuple[Any, ...]
    paths: tuple[str, ...]
    axes: tuple[int | None, ...]

    @classmethod
    def of(
        cls, signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], in_axes: Axes
    ) -> _Arguments:
        """The arguments of a call of the function with this signature."""
        names = [*_names(signature, len(args))[: len(args)], *kwargs]
        trees: list[Tree] = []
        leaves: list[Any] = []
        paths: list[str] = []
        axes: list[int | None] = []
        entries = _entries(in_axes, names, len(args), signature)
        for name, value, entry in zip(names, [*args, *kwargs.values()], entries, strict=True):
            parts, tree = flatten(value)
            labels = leaf_paths(tree, name)
            found = _spread(entry, tree, "in_axes", name)
            trees.append(tree)
            leaves.extend(parts)
            paths.extend(labels)
            axes.extend(map(_axis_of, parts, labels, found))
        return cls(len(args), tuple(kwargs), tuple(trees), tuple(leaves), tuple(paths), tuple(axes))

    def size(self, stated: object) -> Dim:
        """How many there are in the batch."""
        known: list[tuple[str, Dim]] = []
        if stated is not None:
            known.append(("axis_size", normal(stated)))
        known += [
            (f"axis {axis} of {path} (shape {show_shape(leaf.shape)})", leaf.shape[axis])
            for leaf, path, axis in zip(self.leaves, self.paths, self.axes, strict=True)
            if axis is not None
        ]
        if not known:
            raise InputError(
                "No argument is batched: in_axes is None for every array.",
                mend="Give the axis of the batch, as in in_axes=(None, 0), or axis_size=.",
            )
        (first, size), *others = known
        for label, other in others:
            if not known_equal(size, other):
                raise ShapeError(
                    f"The sizes of the batch differ: {size} and {other}.",
                    [f"{first}: {size}", f"{label}: {other}"],
                    mend="Give arrays of one batch, or None in in_axes for what all share.",
                )
        return size

    def symbols(self) -> dict[int, Array]:
        """For each leaf that is batched an input that stands for one example."""
        found: dict[int, Array] = {}
        for i, axis in enumerate(self.axes):
            if axis is not None:
                leaf = self.leaves[i]
                place = axis % leaf.ndim
                shape = (*leaf.shape[:place], *leaf.shape[place + 1 :])
                found[i] = symbolic_input(self.paths[i], shape, dtype_of(leaf))
        return found

    def rebuilt(self, instead: Mapping[int, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments with other leaves."""
        leaves = [instead.get(i, leaf) for i, leaf in enumerate(self.leaves)]
        values: list[Any] = []
        for tree in self.trees:
            values.append(unflatten(tree, leaves[: tree.size]))
            del leaves[: tree.size]
        return values[: self.args], dict(zip(self.kwargs, values[self.args :], strict=True))


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _names(signature: Signature, count: int) -> list[str]:
    """The names of arguments that may be passed by position, at least `count` of them."""
    known = [each.name for each in signature.parameters.values() if each.kind in _POSITIONAL]
    return [*known, *[f"args[{i}]" for i in range(len(known), count)]]


def _entries(in_axes: Axes, names: Sequence[str], count: int, signature: Signature) -> list[Axes]:
    """The part of `in_axes` that each argument has."""
    if in_axes is None or _is_axis(in_axes):
        return [in_axes] * len(names)
    if isinstance(in_axes, dict):
        by_name = cast("dict[str, Axes]", in_axes)
        missing = [name for name in names if name not in by_name]
        strange = [name for name in by_name if name not in names]
        if missing or strange:
            raise InputError(
                f"in_axes names {', '.join(map(str, by_name))}; "
                f"the arguments of this call are {', '.join(names)}.",
                mend="Name every argument, with None where all share it.",
            )
        return [by_name[name] for name in names]
    ordered = list(cast("Sequence[Axes]", in_axes))
    parameters = signature.parameters
    known = _names(signature, max(count, len(ordered)))
    places = [known.index(name) if name in known else None for name in names]
    positions = [place for place in places if place is not None]
    spare = [name for place, name in enumerate(known) if place not in positions]
    optional = [name in parameters and _has_default(parameters[name]) for name in spare]
    if max(positions, default=-1) >= len(ordered) or not all(optional[: len(ordered)]):
        raise InputError(
            f"in_axes has {len(ordered)} entries, but this call has the arguments "
            f"{', '.join(names)}.",
            mend="Give one entry for each argument, None where all share it.",
        )
    return [0 if place is None else ordered[place] for place in places]


def _has_default(parameter: inspect.Parameter) -> bool:
    return parameter.default is not parameter.empty


def _axis_of(leaf: Any, path: str, axis: int | None) -> int | None:
    """The axis of the batch in a leaf, checked; None for a leaf that has none, such as text."""
    if axis is None:
        return None
    if not is_array(leaf):
        if not isinstance(leaf, int):
            return None
        raise ShapeError(
            f"{path} is the number {leaf!r}, which has no axis {axis} for the batch.",
            mend=f"Say None for {path} in in_axes, or give an array.",
        )
    shape = leaf.shape if hasattr(leaf, "shape") else np.shape(leaf)
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(
            f"{path} has shape {show_shape(shape)}, and no axis {axis} for the batch.",
            mend=f"Name an axis it has, or say None for {path} in in_axes.",
        )
    return axis


def _batch_first(leaf: object, axis: int | None) -> Array:
    x = leaf if isinstance(leaf, Array) else constant(leaf)
    assert axis is not None
    return FUNCTIONS["moveaxis"](x, axis, 0) if axis % x.ndim else x


# -- axes ------------------------------------------------------------------------------------------
def _is_axis(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _check_axes(name: str, axes: Axes) -> None:
    """Check that axes are ints or None, nested."""
    wrong = [leaf for leaf in flatten(axes)[0] if not _is_axis(leaf)]
    if wrong:
        raise InputError(
            f"{name} holds {wrong[0]!r}, which is no axis.",
            mend="Give ints, None for what has no axis of the batch, or containers of them.",
        )


def _spread(axes: Axes, tree: Tree, name: str, what: str) -> Sequence[int | None]:
    """One axis a leaf of a structure that `axes` is a prefix of."""
    leaves, given = flatten(axes)
    found = _matched(given, tree, iter(leaves))
    if found is None:
        raise InputError(
            f"{name} is not nested as {what} is.",
            [f"{name}: {given}", f"{what}: {tree}"],
            mend="Give one axis for all of it, or one for each part.",
        )
    return found


def _matched(given: Tree, tree: Tree, leaves: Iterator[int]) -> Sequence[int | None] | None:
    """The axis of each leaf; None if the structures do not match."""
    if given.kind == "none":
        return [None] * tree.size
    if given.kind == "leaf":
        return [int(next(leaves))] * tree.size
    ordered = ("tuple", "list", "namedtuple")
    alike = given.kind in ordered if tree.kind in ordered else given.keys == tree.keys
    if not alike or tree.kind in ("leaf", "none") or len(given.children) != len(tree.children):
        return None
    axes: list[int | None] = []
    for part, child in zip(given.children, tree.children, strict=True):
        found = _matched(part, child, leaves)
        if found is None:
            return None
        axes.extend(found)
    return axes


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
