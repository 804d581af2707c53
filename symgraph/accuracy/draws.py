"""Random numbers at probes: `drawn` gives those of one input, which satisfy the input's facts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..facts import Fact
from ..ir.fact_inference import Known
from .probes import Numbers, Places, Setting, settings_at

__all__ = ["drawn", "free", "groups"]

_SIZES = np.array([-27.0, -17.0, -8.0, 8.0, 17.0, 27.0])
"""Powers of 10 of which squares, cubes or products with another one leave single precision."""

_AROUND = 3.0
"""The sizes are moved by so many powers of 10, half of them up and half down."""

Rows: TypeAlias = "slice | Numbers"
"""Some of the probes."""


class Group(NamedTuple):
    """Probes whose numbers are drawn together, and where they differ from the plain ones.

    Arrays have a row for each probe and as many axes as the numbers.

    Parameters
    ----------
    size : int
        The number of probes.
    below : ndarray
        A random number below it gives a negative sign.
    factor : ndarray
        The size of the numbers, where they are of one size.
    power, between, within : ndarray
        Of the probes `spread`: the size as a power of 10, and how far it is spread.
    unlike : ndarray
        Of the probes `spread`: 1 where each array has one of `_SIZES`, else 0.
    apart, zeros : ndarray
        Of the probes `near` and `holed`: the relative difference, and the share of zeros.
    plain, near, spread, holed : slice or ndarray
        The probes of ordinary numbers, of numbers near one another, of many sizes, and with zeros.
    """

    size: int
    below: Numbers
    factor: Numbers
    power: Numbers
    between: Numbers
    within: Numbers
    unlike: Numbers
    apart: Numbers
    zeros: Numbers
    plain: Rows
    near: Rows
    spread: Rows
    holed: Rows

    @classmethod
    def of(cls, settings: Sequence[Setting], axes: int) -> Group:
        columns = np.array(settings, dtype=np.float64).T
        columns = columns.reshape(*columns.shape, *[1] * axes)
        scale, sign, apart, between, within, zeros, unlike = columns
        plain = _rows((scale == 0) & (apart == 0) & (within == 0))
        near, spread = _rows(apart > 0), _rows((between > 0) | (within > 0))
        holed = _rows(zeros > 0)
        # No random number is below 0, and each is below 1.
        below = np.where(sign == 0, 0.5, np.where(sign < 0, 1.0, 0.0))
        factor = 10.0**scale
        factor[spread] = 1.0
        return cls(
            *(len(settings), below, factor, scale[spread], between[spread], within[spread]),
            *(unlike[spread], apart[near], zeros[holed], plain, near, spread, holed),
        )


def _rows(mask: Numbers) -> Rows:
    """The rows where a mask with one element a row holds; all of them as a slice."""
    return slice(None) if mask.all() else np.flatnonzero(mask)


@cache
def groups(places: Places, axes: int, *, exponents: bool = False) -> list[Group]:
    """The settings, for numbers with so many axes."""
    return [Group.of(each, axes) for each in settings_at(places, exponents=exponents)]


_kept: dict[Hashable, Numbers] = {}
"""Random numbers drawn before: graphs of a process have inputs of the same few shapes."""

_MOST_KEPT = 1_000

_SMALL = 1 << 14
"""The most bytes of numbers that are kept."""


def drawn(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    known: Known,
    index: int,
    places: Places = "usual",
    *,
    exponent: bool = False,
) -> Numbers:
    """Random numbers for one value; the leading axis runs over the probes.

    Single precision holds them exactly, unless a fact relates several elements, as `simplex` does.
    They are drawn once in a process and not to be written to.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    known : Known
        Facts and bounds that the numbers satisfy.
    index : int
        The number of the value in its graph: the seed. Different values get independent numbers,
        except at probes where `Setting.apart` makes them nearly equal.
    places : "usual", "wide" or "positive"
        Which set of probes.
    exponent : bool
        Whether the value is the exponent of a power.
    """
    facts = tuple(known.facts)
    low, high = (float(bound) for bound in known.bounds)
    key = (shape, dtype, facts, low, high, index, places, exponent)
    found = _kept.get(key)
    if found is None:
        probes = groups(places, len(shape), exponents=exponent)
        found = _drawn(shape, dtype, facts, (low, high), index, probes)
        found.flags.writeable = False
        if found.nbytes <= _SMALL:
            if len(_kept) >= _MOST_KEPT:
                _kept.clear()
            _kept[key] = found
    return found


def _drawn(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    facts: Sequence[Fact],
    bounds: tuple[float, float],
    index: int,
    probes: Sequence[Group],
) -> Numbers:
    low, high = bounds
    rng = np.random.default_rng([1997, index])
    wide = (sum(each.size for each in probes), *shape)
    if dtype.kind == "b":
        return rng.integers(0, 2, wide).astype(bool)
    if dtype.kind in "iu":
        least = max(low, 0.0 if dtype.kind == "u" or low >= 0 else -3.0)
        return rng.integers(int(least), int(max(min(high, least + 4), least)) + 1, wide).astype(
            dtype
        )
    x = np.concatenate([_within(free(shape, rng, each), low, high, rng) for each in probes])
    with np.errstate(all="ignore"):
        x = np.asarray(_signed(x, facts).astype(np.float32), np.float64)
    if not facts:
        return x
    for name, made in _RELATED.items() if x.size else ():
        for fact in facts:
            if fact.name == name and len(shape) >= (1 if fact.args else 2):
                x = made(x, fact)
    return x


def free(shape: tuple[int, ...], rng: np.random.Generator, group: Group) -> Numbers:
    """Random numbers for the probes of a group.

    All random numbers are drawn for all probes, so that a setting of one leaves the others as they
    are. What few probes need is computed for these alone.
    """
    wide = (group.size, *shape)
    x = rng.uniform(0.75, 1.0, wide)
    near, ordinary = rng.normal(size=wide), rng.normal(size=wide)
    of_all, of_each = rng.uniform(-1, 1, group.below.shape), rng.uniform(-1, 1, wide)
    coin, share = rng.random(wide), rng.random(wide)
    if len(group.apart):
        x[group.near] = _common(wide)[group.near] * (1 + group.apart * near[group.near])
    x[group.plain] = np.abs(ordinary[group.plain]) + 0.05
    x *= group.factor
    if len(group.power):
        own = of_all[group.spread]
        power = group.power + group.between * own + group.unlike * _sizes(own)
        x[group.spread] *= 10.0 ** (power + group.within * of_each[group.spread])
    np.negative(x, out=x, where=coin < group.below)
    if len(group.zeros):
        x[group.holed] = np.where(share[group.holed] < group.zeros, 0.0, x[group.holed])
    return x


def _sizes(own: Numbers) -> Numbers:
    """For random numbers from -1 to 1 one of the `_SIZES` each, moved a little."""
    place, rest = np.divmod((own + 1) * (len(_SIZES) / 2), 1)
    return np.asarray(_SIZES[place.astype(int)] + _AROUND * (rest - 0.5))


@cache
def _common(wide: tuple[int, ...]) -> Numbers:
    """The numbers near which all arrays of a shape are."""
    return np.random.default_rng([1998, *wide[1:]]).uniform(0.6, 1.0, wide)


def _within(x: Numbers, low: float, high: float, rng: np.random.Generator) -> Numbers:
    """The numbers with those out of bounds replaced.

    Between two finite bounds they are drawn again; at a single bound they are reflected.
    """
    if low == -np.inf and high == np.inf:
        return x
    outside = (x < low) | (x > high)
    if not outside.any():
        return x
    if np.isfinite(low) and np.isfinite(high):
        return np.where(outside, low + (high - low) * rng.random(x.shape), x)
    bound = low if np.isfinite(low) else high
    away = 1.0 if np.isfinite(low) else -1.0
    return np.where(outside, bound + away * np.abs(x - bound), x)


def _signed(x: Numbers, facts: Sequence[Fact]) -> Numbers:
    if not facts:
        return x
    names = {fact.name for fact in facts}
    if "integer_valued" in names:
        x = np.rint(x)
    if names & {"positive", "nonnegative"}:
        x = np.abs(x)
    elif names & {"negative", "nonpositive"}:
        x = -np.abs(x)
    if names & {"positive", "negative", "nonzero"}:
        x = np.where(x == 0, -1.0 if "negative" in names else 1.0, x)
    return x


# -- facts about several elements ------------------------------------------------------------------
def _transposed(x: Numbers) -> Numbers:
    return np.swapaxes(x, -1, -2)


def _is_square(x: Numbers) -> bool:
    return x.shape[-1] == x.shape[-2]


def _one_hot(x: Numbers, fact: Fact) -> Numbers:
    place = np.argmax(x, axis=fact.args[0], keepdims=True)
    result = np.zeros(x.shape)
    np.put_along_axis(result, place, 1, axis=fact.args[0])
    return result


def _simplex(x: Numbers, fact: Fact) -> Numbers:
    axis = fact.args[0]
    if np.any(x < 0) or not np.allclose(np.sum(x, axis=axis), 1):
        x = np.abs(x) / np.max(np.abs(x) + 1e-300, axis=axis, keepdims=True) + 1e-3
    return x / np.sum(x, axis=axis, keepdims=True)


def _unit_norm(x: Numbers, fact: Fact) -> Numbers:
    axis = fact.args[0]
    x = x / np.max(np.abs(x) + 1e-300, axis=axis, keepdims=True) + 1e-3
    return x / np.sqrt(np.sum(x * x, axis=axis, keepdims=True))


def _symmetric(x: Numbers, _fact: Fact) -> Numbers:
    return (x + _transposed(x)) / 2 if _is_square(x) else x


def _antisymmetric(x: Numbers, _fact: Fact) -> Numbers:
    return (x - _transposed(x)) / 2 if _is_square(x) else x


def _definite(x: Numbers, _fact: Fact) -> Numbers:
    if not _is_square(x):
        return x
    size = np.max(np.abs(x), axis=(-1, -2), keepdims=True) + 1e-300
    x = x / size
    return (x @ _transposed(x) + 0.5 * np.eye(x.shape[-1])) * size


def _orthogonal(x: Numbers, _fact: Fact) -> Numbers:
    size = np.max(np.abs(x), axis=(-1, -2), keepdims=True) + 1e-300
    return np.linalg.qr(x / size + 0.5 * np.eye(x.shape[-1]))[0] if _is_square(x) else x


def _diagonal(x: Numbers, _fact: Fact) -> Numbers:
    return x * np.eye(x.shape[-1]) if _is_square(x) else x


def _triangular(x: Numbers, fact: Fact) -> Numbers:
    return np.tril(x) if fact.args[0] == "lower" else np.triu(x)


_RELATED: dict[str, Callable[[Numbers, Fact], Numbers]] = {
    "triangular": _triangular,
    "diagonal": _diagonal,
    "symmetric": _symmetric,
    "antisymmetric": _antisymmetric,
    "positive_definite": _definite,
    "orthogonal": _orthogonal,
    "unit_norm": _unit_norm,
    "simplex": _simplex,
    "one_hot": _one_hot,
}
"""How to make numbers satisfy a fact about several elements; the stronger facts come later."""
