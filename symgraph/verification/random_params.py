"""Random params for a rule: axes, shapes, dtypes and indices that often fit each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np

from ..ir.dims import parse_shape
from ..rewriting.pattern import Static

__all__ = ["CAST_DTYPES", "draw_params", "shape_of_index", "shape_of_part"]

CAST_DTYPES = ("float32", "float64", "float16", "int64", "int8")
_ALL = (None, None, 1)
_SORTS = 12
_INDICES: tuple[Any, ...] = (
    *((-1,), (-2, _ALL, _ALL), (_ALL, (0, 2, 1)), ()),
    *((None, _ALL), (None, _ALL, _ALL), (None, None, _ALL), (None,)),
    *((_ALL, None), (None, _ALL, None), (_ALL, None, None)),
)

Shape: TypeAlias = "tuple[Any, ...]"
Entry: TypeAlias = "int | tuple[int | None, int | None, int | None]"


def draw_params(
    statics: Sequence[Static], env: dict[str, Any], shape: Shape, rng: np.random.Generator
) -> None:
    """Put a random value into `env` for each param that it lacks, for operands of about this shape.

    Every third time a param equals an earlier one of its kind.
    """
    for static in statics:
        if static.name in env:
            continue
        before = [
            env[each.name] for each in statics if each.name in env and each.kind == static.kind
        ]
        if before and rng.integers(3) == 0:
            env[static.name] = _pick(before, rng)
            continue
        targets = [
            env[each.name] for each in statics if each.name in env and each.kind.name == "shape"
        ]
        among_others = any(each.kind.name == "index" for each in statics)
        target = targets[-1] if targets else None
        if static.kind.name == "shape" and _has_index(statics, env) and rng.integers(2):
            part = shape_of_index(statics, env, shape, shape)
            env[static.name] = parse_shape(_repetition(part, shape, rng))
            continue
        env[static.name] = _param(static.kind.name, shape, target, among_others, rng)


def _has_index(statics: Sequence[Static], env: Mapping[str, Any]) -> bool:
    return any(each.kind.name == "index" and each.name in env for each in statics)


def _param(
    kind: str, shape: Shape, target: Shape | None, placed: bool, rng: np.random.Generator
) -> Any:
    ndim = len(shape)
    match kind:
        case "axes":
            if target is not None and rng.integers(2):
                return _repeated(shape, target)
            most = ndim if target is None else len(target)
            return tuple(i for i in range(-most, 0) if rng.integers(2))
        case "axis":
            return -1 - int(rng.integers(max(ndim, 1)))
        case "offset":
            return int(rng.integers(-2, 3))
        case "permutation":
            ndim = 2 if ndim > 2 and rng.integers(3) == 0 else ndim
            if ndim > 1 and rng.integers(2):
                return (*range(-ndim, -2), -1, -2)
            return _pick([tuple(each) for each in permutations(range(-ndim, 0))], rng)
        case "shape":
            return parse_shape(shape if placed and rng.integers(2) else _near(shape, rng))
        case "dtype":
            return np.dtype(_pick(CAST_DTYPES, rng))
        case "flag":
            return bool(rng.integers(2))
        case _:
            return _index(shape if target is None else target, rng)


def _index(shape: Shape, rng: np.random.Generator) -> Any:
    """A random index of some of the last axes, mostly with the same sort of entry on each."""
    if rng.integers(4) == 0:
        return _pick(_INDICES, rng)
    taken = shape if rng.integers(2) else shape[int(rng.integers(len(shape) + 1)) :]
    each = len(taken) or 1
    sorts = rng.integers(_SORTS, size=each if rng.integers(3) == 0 else 1).tolist() * each
    entries = tuple(_entry(dim, int(sort)) for dim, sort in zip(taken, sorts, strict=False))
    return entries if rng.integers(8) else (None, *entries)


def _entry(dim: object, sort: int) -> Entry:
    """An entry of an index along an axis of length `dim`."""
    if not isinstance(dim, int):
        return (_ALL, -1, -2)[sort % 3]
    backwards = ((dim - 1, None, -1), (dim - 1, None, -2)) if dim else (_ALL, _ALL)
    fewer = ((dim - 2, None, -1), (1 - dim, None, -1)) if dim > 1 else (_ALL, _ALL)
    part = ((1, dim, 1), (0, dim, 2), (None, None, 2), (0, 1, 1) if dim else _ALL)
    return (_ALL, (0, dim, 1), *backwards, *fewer, *part, dim - 1, -1)[sort]


def _pick(options: Sequence[Any], rng: np.random.Generator) -> Any:
    return options[int(rng.integers(len(options)))]


def _repeated(shape: Shape, target: Shape) -> tuple[int, ...]:
    """The axes of `target` along which an array of `shape` is repeated to fill it."""
    return tuple(
        axis
        for axis in range(-len(target), 0)
        if -axis > len(shape) or (shape[axis] == 1 and target[axis] != 1)
    )


def _near(shape: Shape, rng: np.random.Generator) -> Shape:
    """A shape that a reshape or a broadcast of `shape` may have."""
    choice = int(rng.integers(4))
    if choice == 0:
        return shape
    if choice == 1:
        lengths = [0, 0, 1, 2, 3, "n", *shape[:1] * 3]
        return (*[_pick(lengths, rng) for _ in range(int(rng.integers(1, 3)))], *shape)
    if choice == 2 and 1 in shape:
        longer = _pick((0, 2, 3, 3, "n"), rng)
        return tuple(longer if dim == 1 else dim for dim in shape)
    sizes = [dim for dim in shape if dim != 1]
    if "n" not in sizes and rng.integers(2):
        return (prod(cast("list[int]", sizes)),)
    return (*sizes, 1)


def _repetition(part: Shape, shape: Shape, rng: np.random.Generator) -> Shape:
    """A shape to which `part`, an indexed part of an array of `shape`, can be broadcast.

    `shape` itself can often be broadcast to it too.
    """
    lengths = [dim for dim in shape if dim != 1] or [2]
    filled = tuple(_pick(lengths, rng) if dim == 1 and rng.integers(2) else dim for dim in part)
    return filled if rng.integers(3) else (2, *filled)


def shape_of_part(statics: Sequence[Static], env: Mapping[str, Any], shape: Shape) -> Shape:
    """The shape at the index of the rule's target shape; `shape` if the rule lacks either."""
    targets = [env[each.name] for each in statics if each.kind.name == "shape"]
    return shape_of_index(statics, env, targets[0], shape) if targets else shape


def shape_of_index(
    statics: Sequence[Static], env: Mapping[str, Any], whole: Shape, otherwise: Shape
) -> Shape:
    """The shape of the part of `whole` at the rule's first index; `otherwise` if there is none."""
    indices = [env[each.name] for each in statics if each.kind.name == "index"]
    if not indices or not all(isinstance(dim, int) for dim in whole):
        return otherwise
    entries = [slice(*entry) if isinstance(entry, tuple) else entry for entry in indices[0]]
    try:
        return np.empty(whole)[(..., *entries)].shape
    except IndexError:
        return otherwise
