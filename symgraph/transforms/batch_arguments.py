"""Arguments of `vmap` as leaves, and the axis of the batch in each."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from ..array.dispatch import FUNCTIONS
from ..array.handle import Array, constant
from ..errors import InputError, ShapeError
from ..ir.dims import Dim, known_equal, normal, show_shape
from ..ops.creation import input as symbolic_input
from ..pytrees import Tree, flatten, leaf_paths, unflatten
from ..records import record
from .arguments import Signature, dtype_of, is_array

__all__ = ["Axes", "BatchArguments", "batch_first", "check_axes", "spread_axes"]

Axes: TypeAlias = Any
"""An int, None, or containers of such: an entry for a container holds for all in it."""


@record
class BatchArguments:
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
    ) -> BatchArguments:
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
            found = spread_axes(entry, tree, "in_axes", name)
            trees.append(tree)
            leaves.extend(parts)
            paths.extend(labels)
            axes.extend(map(_axis_of, parts, labels, found))
        return cls(len(args), tuple(kwargs), tuple(trees), tuple(leaves), tuple(paths), tuple(axes))

    def size(self, stated: object) -> Dim:
        """The size of the batch."""
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


def batch_first(leaf: object, axis: int | None) -> Array:
    """An argument with the axis of the batch first."""
    x = leaf if isinstance(leaf, Array) else constant(leaf)
    assert axis is not None
    return FUNCTIONS["moveaxis"](x, axis, 0) if axis % x.ndim else x


# -- axes ------------------------------------------------------------------------------------------
def _is_axis(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_axes(name: str, axes: Axes) -> None:
    """Check that axes are ints or None, nested."""
    wrong = [leaf for leaf in flatten(axes)[0] if not _is_axis(leaf)]
    if wrong:
        raise InputError(
            f"{name} holds {wrong[0]!r}, which is no axis.",
            mend="Give ints, None for what has no axis of the batch, or containers of them.",
        )


def spread_axes(axes: Axes, tree: Tree, name: str, what: str) -> Sequence[int | None]:
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
