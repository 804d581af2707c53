"""Ordinary and awkward numbers for a rule, of which the facts of its operands are true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Any, Literal, TypeAlias

import numpy as np

from .. import facts as f
from ..facts import Fact, consistent
from ..ir.dims import resolve
from ..ir.node import Node
from ..rewriting.rule import Soundness
from .instance_maker import Instance

__all__ = ["Matrices", "Numbers", "values_for"]

Numbers = np.ndarray[Any, Any]
Matrices: TypeAlias = Literal["any", "positive definite", "negative definite", "singular"]

_ROWS_OF_ONE_VALUE = 0.5
"""At this share of awkward values a whole row holds one of them: a softmax of only -inf."""


def _specials(dtype: np.dtype[Any]) -> Numbers:
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([0, 1, 2, 3, info.min, info.max, info.max - 1], dtype)
    info = np.finfo(dtype)
    tiny = [float(info.smallest_subnormal), float(info.tiny), float(info.eps), 1e-3]
    usual = [0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 7.5, 20.0, 90.0, 710.0]
    big = [float(info.max) ** 0.5, float(info.max) / 4, float(info.max)]
    with np.errstate(all="ignore"):
        positive = np.array([*tiny, *usual, *big, np.inf]).astype(dtype)
    return np.concatenate([np.array([0.0, -0.0, np.nan], dtype), positive, -positive])


def _ordinary(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Numbers:
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -5, 6, shape).astype(dtype)
    return rng.uniform(-3.0, 3.0, shape).astype(dtype)


def values_for(
    instance: Instance,
    rng: np.random.Generator,
    specials: float,
    sizes: Mapping[str, int],
    *,
    matrices: Matrices,
) -> dict[Node, Numbers]:
    """Numbers for each input that its facts admit, a share `specials` of them awkward.

    Matrices may be positive definite, since others have no Cholesky factor; negative definite,
    since the product of two can be positive definite; or singular.
    """
    shapes = [_shape_of(node, sizes) for node in instance.inputs]
    dtypes = [node.aval.dtype for node in instance.inputs]
    drawn = (
        _combined(dtypes, shapes[0][0], rng)
        if specials == 1 and len(shapes) > 1 and len(set(shapes)) == 1 and len(shapes[0]) == 1
        else [_mixed(*each, rng, specials) for each in zip(shapes, dtypes, strict=True)]
    )
    if specials == _ROWS_OF_ONE_VALUE:
        drawn = _with_opposites(drawn, rng)
    if matrices == "positive definite":
        drawn = [_as_definite(array) for array in drawn]
    if matrices == "negative definite":
        drawn = [_as_definite(array, -1) for array in drawn]
    if matrices == "singular":
        drawn = [_as_singular(array) for array in drawn]
    return {
        node: _admitted(array, facts, rng, instance.sound)
        for node, array, facts in zip(instance.inputs, drawn, instance.facts, strict=True)
    }


def _with_opposites(drawn: Sequence[Numbers], rng: np.random.Generator) -> list[Numbers]:
    """The arrays, some elements replaced by the negative of the array before: their sum is 0."""
    result = list(drawn[:1])
    for x, y in pairwise(drawn):
        alike = x.shape == y.shape and x.dtype == y.dtype and y.dtype.kind == "f"
        result.append(np.where(rng.integers(4, size=y.shape) == 0, -x, y) if alike else y)
    return result


def _as_definite(root: Numbers, sign: int = 1) -> Numbers:
    """A definite matrix of this sign if the array is square; else the array."""
    if root.ndim < 2 or root.shape[-1] != root.shape[-2] or root.dtype.kind != "f":
        return root
    positive = root @ np.swapaxes(root, -1, -2) + np.eye(root.shape[-1], dtype=root.dtype)
    return positive if sign > 0 else -positive


def _as_singular(array: Numbers) -> Numbers:
    """The array with zeros in its last column; of a vector, with a zero as its last element."""
    result = np.array(array)
    if result.ndim and result.shape[-1]:
        result[..., -1] = 0
    return result


def _shape_of(node: Node, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return resolve(node.aval.shape, sizes)


def _mixed(
    shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator, share: float
) -> Numbers:
    array = np.asarray(_ordinary(shape, dtype, rng))
    if share:
        grid = rng.permutation(_specials(dtype))
        chosen = rng.random(shape) < share
        # Taken in turn, not at random, so that a large array holds each awkward value.
        array = np.where(chosen, np.resize(grid, shape), array)
    array = np.asarray(array, dtype)
    if share == _ROWS_OF_ONE_VALUE and dtype.kind == "f" and array.size:
        rows = array.reshape(-1, shape[-1] if shape else 1).copy()
        rows[rng.integers(len(rows))] = rng.choice(np.array([-np.inf, np.inf, np.nan], dtype))
        array = rows.reshape(shape)
    return array


def _combined(
    dtypes: Sequence[np.dtype[Any]], size: int, rng: np.random.Generator
) -> list[Numbers]:
    """Vectors that hold the combinations of the worst values, as many as fit into `size`."""
    grids = [_worst_values(dtype) for dtype in dtypes]
    lengths = [1] * len(grids)
    grown = True
    while grown:
        grown = False
        for i, grid in enumerate(grids):
            longer = [*lengths[:i], lengths[i] + 1, *lengths[i + 1 :]]
            if longer[i] <= len(grid) and prod(longer) <= size:
                lengths, grown = longer, True
    places = np.indices(lengths).reshape(len(lengths), -1)
    vectors: list[Numbers] = []
    for dtype, grid, place in zip(dtypes, grids, places, strict=True):
        rest = rng.choice(_specials(dtype), max(size - place.size, 0))
        vectors.append(np.concatenate([grid[place], rest])[:size].astype(dtype))
    return vectors


def _worst_values(dtype: np.dtype[Any]) -> Numbers:
    """Awkward values, the most telling first."""
    if dtype.kind != "f":
        return _specials(dtype)
    most = float(np.finfo(dtype).max)
    low = [np.nan, 0.0, np.inf, -2.0, 1.0, -np.inf, 0.5, -0.0, -1.0, 2.0, most, -most]
    return np.array([*low, float(np.finfo(dtype).tiny), 20.0, -20.0, 710.0], dtype)


def _admitted(
    array: Numbers, facts: tuple[Fact, ...], rng: np.random.Generator, sound: Soundness
) -> Numbers:
    """`array` with admitted values for those that the facts exclude.

    Facts are about exact arithmetic: a positive value may still be NaN or infinite, or 0 after an
    underflow. A rule of grade `exact` must be right for these too.
    """
    implied = set(consistent(facts))
    result = array
    if implied & {f.finite, f.total} and result.dtype.kind == "f" and sound != "exact":
        result = np.where(np.isfinite(result), result, np.asarray(1.5, result.dtype))
    if result.dtype.kind == "f":
        if implied & {f.positive, f.nonnegative}:
            result = np.where(result < 0, -result, result)
        if implied & {f.negative, f.nonpositive}:
            result = np.where(result > 0, -result, result)
    elif implied & {f.positive, f.nonnegative}:
        result = np.maximum(result, 0)
    elif implied & {f.negative, f.nonpositive}:
        result = np.minimum(result, 0)
    if implied & {f.positive, f.negative, f.nonzero} and sound != "exact":
        sign = -1 if f.negative in implied else 1
        result = np.where(result == 0, np.asarray(sign * 2, result.dtype), result)
    if f.integer_valued in implied and result.dtype.kind == "f":
        with np.errstate(all="ignore"):
            result = np.rint(result)
    for fact in facts:
        if fact.name == "interval" and sound == "exact":
            result = _near_bounds(fact, np.asarray(result, array.dtype))
        else:
            result = _satisfying(fact, np.asarray(result, array.dtype), rng)
    return np.asarray(result, array.dtype)


def _near_bounds(fact: Fact, x: Numbers) -> Numbers:
    """Values within the bounds, or one rounding outside; NaN stays."""
    if x.dtype.kind != "f":
        return np.clip(x, *fact.args)
    low, high = (np.asarray(bound, x.dtype) for bound in fact.args)
    down, up = np.asarray(-np.inf, x.dtype), np.asarray(np.inf, x.dtype)
    return np.clip(x, np.nextafter(low, down), np.nextafter(high, up))


def _satisfying(fact: Fact, x: Numbers, rng: np.random.Generator) -> Numbers:
    """Values that satisfy a fact about several elements, or about bounds."""
    match fact.name:
        case "interval":
            return np.clip(np.where(np.isnan(x), fact.args[0], x), *fact.args)
        case "simplex":
            weights = np.abs(_ordinary(x.shape, x.dtype, rng)) + np.asarray(0.1, x.dtype)
            return weights / np.sum(weights, axis=fact.args[0], keepdims=True)
        case "unit_norm":
            ordinary = _ordinary(x.shape, x.dtype, rng) + np.asarray(0.1, x.dtype)
            return ordinary / np.sqrt(np.sum(ordinary**2, axis=fact.args[0], keepdims=True))
        case "one_hot":
            axis = fact.args[0]
            place = np.argmax(rng.random(x.shape), axis=axis, keepdims=True)
            result = np.zeros(x.shape, x.dtype)
            np.put_along_axis(result, place, 1, axis=axis)
            return result
        case "symmetric":
            return x / 2 + np.swapaxes(x, -1, -2) / 2
        case "antisymmetric":
            return x / 2 - np.swapaxes(x, -1, -2) / 2
        case "positive_definite":
            return _as_definite(_ordinary(x.shape, x.dtype, rng))
        case "orthogonal":
            return np.linalg.qr(_ordinary(x.shape, x.dtype, rng))[0]
        case "diagonal":
            # NaN times 0 is no zero; a zero keeps its sign.
            zeros = np.copysign(np.zeros_like(x), x)
            return np.where(np.eye(x.shape[-1], dtype=bool), x, zeros)
        case "triangular":
            return np.tril(x) if fact.args[0] == "lower" else np.triu(x)
        case _:
            return x
