"""Loops as a user writes them: `scan` and `fori_loop`, over functions of containers of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, constant
from ..errors import DTypeError, InputError, ShapeError, TraceError, by_position
from ..ir.avals import Aval
from ..ir.dims import Dim, known_equal, normal, same_shape
from ..ir.node import Node
from ..pytrees import LEAF, Tree, flatten, leaf_paths, unflatten
from .closures import TracedFunction, as_leaves, check_carry, check_functions, traced
from .composites import naming_lines
from .creation import arange
from .scan import Carry, looped

__all__ = ["fori_loop", "scan"]

Step = Callable[..., Any]


@naming_lines
def scan(
    f: Step,
    init: object,
    xs: ArrayLike | None = None,
    length: Dim | None = None,
    *,
    reverse: bool = False,
    truncate: int | None = None,
    checkpoint: int | None = None,
    unroll: bool = False,
) -> tuple[Any, Any]:
    r"""The last carry and the stacked results of $(c_{t+1}, y_t) = f(c_t, x_t)$.

    It is one node for any number of steps. Its gradient is another scan, in reverse
    (back-propagation through time), which reads the carries and runs each step again. A program
    also keeps what is worth its memory, such as products of matrices and gates, so that none of
    them runs twice; a graph from `Graph.checkpoint(memory)` keeps what its budget allows. All steps
    share the arrays that `f` captures: their gradients are sums over the steps.

    Parameters
    ----------
    f : callable
        `f(carry, x)` gives `(carry, y)`. Called once, with symbolic arrays.
    init : array, or tuples, lists, dicts and dataclasses of arrays
        The first carry; each step gives one of the same structure, shapes and dtypes.
    xs : likewise, optional
        Arrays of one first dimension: step t gets their slices `x[t]`. None where `f` needs none.
    length : int or dimension, optional
        How many steps; by default what `xs` says.
    reverse : bool
        From the last slice to the first; results stand where their slices stood.
    truncate : int, optional
        Gradients flow within windows of this many steps and not from one into the one before
        (truncated back-propagation through time). Values are not changed.
    checkpoint : int, optional
        Of the carries keep every k-th for the gradient, and compute those between again, a
        stretch at a time (Griewank 1992): `T / k + k` carries are held instead of `T`, for one more
        run of the loop. The square root of `length` holds the fewest. `length` must be a number.
        `Graph.checkpoint(memory)` chooses this for a plain loop.
    unroll : bool
        Write the steps out as a plain graph; `length` must be a number.

    Returns
    -------
    carry, ys
        The last carry, and `y` of all steps stacked on a new first axis.

    Raises
    ------
    ShapeError, DTypeError
        If a step gives another carry than it was given, or first dimensions differ.
    TraceError
        If `f` gives no pair, the structure of the carry changes, or the length is not known.

    Examples
    --------
    >>> x = sg.input("x", (5,))
    >>> total, partial = sg.scan(lambda c, x: (c + x, c + x), 0.0, x)
    >>> partial.shape
    (5,)
    """
    check_functions("sg.scan(lambda carry, x: (carry + x, carry), init, xs)", f=f)
    steps = _Steps(f, init, xs, length, truncate)
    if unroll:
        return steps.unrolled(reverse)
    return steps.looped(reverse, _window(checkpoint, "checkpoint"))


_COUNTED = "sg.fori_loop(5, lambda i, carry: carry + i, init); i counts from 0"


@by_position(3, f"Write {_COUNTED}.")
@naming_lines
def fori_loop(n: ArrayLike, body: Step, init: object, *, unroll: bool = False) -> Any:
    """The carry after `body(i, carry)` for i = 0, ..., n - 1.

    It is a `scan` over counted steps, so it has a gradient. A computed number of steps needs
    `while_loop`.

    Parameters
    ----------
    n : int or dimension
    body : callable
        From the number of the step (int64) and the carry to the next carry.
    init : array, or tuples, lists, dicts and dataclasses of arrays
    unroll : bool
        Write the steps out as a plain graph.

    Returns
    -------
    same as init
        The last carry, of its structure, shapes and dtypes.

    Raises
    ------
    TraceError
        If `n` is an array: its value is not known.
    ShapeError, DTypeError, TraceError
        As `scan`.

    Examples
    --------
    >>> x = sg.input("x")
    >>> sg.fori_loop(3, lambda i, c: c * x, 1.0)
    <Array project float64[]>
    """
    check_functions(_COUNTED, body=body)
    if isinstance(n, Array):
        raise TraceError(
            f"The number of steps is computed: {n!r}.",
            mend="Give a number or a named dimension, or write sg.while_loop.",
        )
    count = normal(n)
    carry, _ = scan(
        lambda carry, i: (body(i, carry), None), init, arange(count), count, unroll=unroll
    )
    return carry


class _Steps:
    """The arguments of a scan, checked."""

    def __init__(
        self, f: Step, init: object, xs: object, length: object, truncate: int | None
    ) -> None:
        self.f = f
        self.numbers = [_is_number(leaf) for leaf in flatten(init)[0]]
        self.init, self.carry = as_leaves(init, "The carry")
        self.xs, self.slices = as_leaves(xs, "xs")
        self.length = _length(self.xs, leaf_paths(self.slices, "xs"), length)
        self.truncate = _window(truncate, "truncate")

    # -- one node ----------------------------------------------------------------------------------
    def looped(self, reverse: bool, checkpoint: int | None = None) -> tuple[Any, Any]:
        f, xs, slices = self.f, self.xs, self.slices
        if self.truncate is not None:
            f, slices = _truncated(f), Tree("tuple", (LEAF, slices))
            xs = [self._within_window(reverse), *xs]
        if checkpoint is not None:
            return self._in_stretches(f, xs, slices, reverse, checkpoint)
        found = self._traced(f, xs, slices)
        count = len(self.init)
        after = found.leaves[:count]
        carries = [
            Carry(*each) for each in zip(found.inputs[:count], self.init, after, strict=True)
        ]
        scanned = list(zip(found.inputs[count:], xs, strict=True))
        result = looped(carries, scanned, found.leaves[count:], length=self.length, reverse=reverse)
        return unflatten(self.carry, result.carries), unflatten(
            found.tree.children[1], result.stacked
        )

    def _in_stretches(
        self, f: Step, xs: Sequence[Array], slices: Tree, reverse: bool, checkpoint: int
    ) -> tuple[Any, Any]:
        """A loop over stretches, which are loops themselves, then one over the remaining steps."""
        if not isinstance(self.length, int):
            raise TraceError(
                f"A loop of {self.length} steps cannot be cut into stretches.",
                mend="Give the dimension a number, or leave checkpoint out.",
            )
        self._traced(f, xs, slices)  # Its checks, and the dtypes of numbers.
        count, rest = divmod(self.length, checkpoint)
        if checkpoint >= self.length:
            return self.looped(reverse)

        def stretch(carry: object, xs: ArrayLike) -> tuple[Any, Any]:
            return scan(f, carry, xs, checkpoint, reverse=reverse)

        def whole(carry: object) -> tuple[Any, list[Array], Tree]:
            cut = [_cut(x[: count * checkpoint], count) for x in xs]
            carry, ys = scan(stretch, carry, unflatten(slices, cut), count, reverse=reverse)
            leaves, tree = flatten(ys)
            return carry, [_joined(y) for y in leaves], tree

        def left(carry: object) -> tuple[Any, list[Array], Tree]:
            part = unflatten(slices, [x[count * checkpoint :] for x in xs])
            carry, ys = scan(f, carry, part, rest, reverse=reverse)
            return carry, *flatten(ys)

        carry = unflatten(self.carry, self.init)
        parts: list[list[Array]] = []
        tree = LEAF
        halves = [whole, left] if rest else [whole]
        for half in halves[::-1] if reverse else halves:
            carry, found, tree = half(carry)
            parts.append(found)
        if not rest:
            return carry, unflatten(tree, parts[0])
        pairs = zip(*(parts[::-1] if reverse else parts), strict=True)
        joined = [FUNCTIONS["concatenate"](list(pair)) for pair in pairs]
        return carry, unflatten(tree, joined)

    def _traced(self, f: Step, xs: Sequence[Array], slices: Tree) -> TracedFunction:
        """The traced step and its next carry, checked."""
        inner = [x.aval.with_shape(x.shape[1:]) for x in xs]

        def once(first: Sequence[Aval]) -> TracedFunction:
            return traced(f, [(first, self.carry), (inner, slices)], "A step")

        if any(self.numbers):
            least = [
                c.aval.with_dtype(_LEAST[c.dtype.kind]) if number else c.aval
                for c, number in zip(self.init, self.numbers, strict=True)
            ]
            self._adapt(least, self._carries_of(once(least)))
        found = once([carry.aval for carry in self.init])
        self._check(self._carries_of(found))
        return found

    def _carries_of(self, found: TracedFunction) -> Sequence[Node]:
        if found.tree.kind != "tuple" or len(found.tree.children) != 2:
            raise TraceError(
                "A step gives a pair, the carry and a result, not "
                f"{'one array' if found.tree.kind == 'leaf' else found.tree}.",
                mend="Return (carry, y), or (carry, None) if there is no result.",
            )
        check_carry(self.carry, found.tree.children[0])
        return found.leaves[: len(self.init)]

    def _adapt(self, least: Sequence[Aval], after: Sequence[Node]) -> None:
        """Give a first carry that is a Python number the dtype that the arrays decide.

        The carry starts in the least dtype of its kind and leaves the step in the dtype of the
        arrays that it meets. If its dtype does not change, it meets none and keeps its own.
        """
        for place, (first, node) in enumerate(zip(least, after, strict=True)):
            if self.numbers[place] and node.dtype != first.dtype:
                self.init[place] = FUNCTIONS["astype"](self.init[place], node.dtype)

    def _check(self, after: Sequence[Node]) -> None:
        paths = leaf_paths(self.carry, "carry")
        for path, first, node in zip(paths, self.init, after, strict=True):
            before, behind = first.aval, node.aval
            if before.dtype != behind.dtype:
                raise DTypeError(
                    f"{path} enters a step as {before} and leaves it as {behind}.",
                    mend="Convert `init` or the result of the step with astype.",
                )
            if not same_shape(before.shape, behind.shape):
                raise ShapeError(
                    f"{path} enters a step as {before} and leaves it as {behind}.",
                    mend="Give `init` the shape that steps give, as with snp.zeros.",
                )

    # -- written out -------------------------------------------------------------------------------
    def unrolled(self, reverse: bool) -> tuple[Any, Any]:
        if not isinstance(self.length, int):
            raise TraceError(
                f"A loop of {self.length} steps cannot be written out.",
                mend="Give the dimension a number, or leave unroll out.",
            )
        self._traced(self.f, self.xs, self.slices)  # Its checks, and the dtypes of numbers.
        carry = unflatten(self.carry, self.init)
        rows: list[Any] = [None] * self.length
        for number in range(self.length):
            place = self.length - 1 - number if reverse else number
            if self.truncate is not None and number and number % self.truncate == 0:
                carry = _stopped(carry)
            carry, rows[place] = self.f(carry, unflatten(self.slices, [x[place] for x in self.xs]))
        return carry, self._stacked(rows)

    def _stacked(self, rows: Sequence[Any]) -> Any:
        if not rows:
            return self.looped(False)[1]
        columns = [as_leaves(row, "A step")[0] for row in rows]
        tree = flatten(rows[0])[1]
        return unflatten(
            tree, [FUNCTIONS["stack"](list(column)) for column in zip(*columns, strict=True)]
        )

    # -- truncation --------------------------------------------------------------------------------
    def _within_window(self, reverse: bool) -> Array:
        """For each slice, whether gradients flow from its step into the step before."""
        place = arange(self.length)
        number = FUNCTIONS["flip"](place, 0) if reverse else place
        return (number % constant(self.truncate) != 0) | (number == 0)


def _cut(x: Array, count: int) -> Array:
    """The array with its first axis cut into `count` stretches."""
    return FUNCTIONS["reshape"](x, (count, x.shape[0] // count, *x.shape[1:]))


def _joined(y: Array) -> Array:
    """The array with its first two axes, stretches and their steps, as one."""
    return FUNCTIONS["reshape"](y, (y.shape[0] * y.shape[1], *y.shape[2:]))


def _truncated(f: Step) -> Step:
    def step(carry: object, x: Array) -> Any:
        flows, inner = x
        leaves, tree = flatten(carry)
        entering = [_let_through(flows, leaf) for leaf in leaves]
        return f(unflatten(tree, entering), inner)

    return step


def _let_through(flows: Array, leaf: Array) -> Array:
    """The leaf, with derivative 0 where no gradient flows."""
    if leaf.dtype.kind != "f":
        return leaf
    return FUNCTIONS["where"](flows, leaf, FUNCTIONS["stop_gradient"](leaf))


def _stopped(carry: object) -> Any:
    leaves, tree = flatten(carry)
    stop = FUNCTIONS["stop_gradient"]
    return unflatten(tree, [stop(leaf) if isinstance(leaf, Array) else leaf for leaf in leaves])


_LEAST = {"b": "bool", "i": "int8", "f": "float16"}


def _is_number(leaf: object) -> bool:
    return isinstance(leaf, (int, float)) and not isinstance(leaf, np.generic)


def _length(xs: Sequence[Array], paths: Sequence[str], length: object) -> Dim:
    if length is not None:
        count = normal(length)
        if isinstance(count, int) and count < 0:
            raise InputError(f"A loop of {count} steps makes no sense.")
    elif xs:
        count = xs[0].shape[0] if xs[0].ndim else None
    else:
        raise TraceError("The number of steps is not known.", mend="Give length=, or xs.")
    for path, x in zip(paths, xs, strict=True):
        if not x.ndim or count is None or not known_equal(x.shape[0], count):
            raise ShapeError(
                f"{path} is {x.aval}, but a slice for each of {count} steps is needed.",
                mend="Give arrays of one first dimension.",
            )
    assert count is not None
    return count


def _window(steps: int | None, what: str) -> int | None:
    if steps is None:
        return None
    if isinstance(steps, bool) or steps < 1:
        raise InputError(f"{what} is {steps!r}; give 1 or more steps.")
    return int(steps)
