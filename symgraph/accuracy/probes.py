"""Probes: the points at which spellings are compared, and random numbers for each.

A probe says how large all random numbers are, which sign they have, and how far they differ from
one another. `drawn` gives the numbers of one input at all probes; they satisfy the input's facts.
There are three sets of probes. By the usual ones digits are judged. The wide ones, of every size,
only show whether a number is lost; so do the positive ones, for what has no value elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..facts import Fact
from ..ir.fact_inference import Known

__all__ = [
    "COUNT",
    "MIXED",
    "NEAR_ONE",
    "ORDINARY",
    "ORDINARY_SIZES",
    "Numbers",
    "Places",
    "drawn",
    "is_wide_band",
]

Numbers: TypeAlias = "np.ndarray[Any, Any]"

Places: TypeAlias = Literal["usual", "wide", "positive"]
"""Which set of probes."""


class Setting(NamedTuple):
    """How the numbers of one probe are drawn.

    Parameters
    ----------
    scale : float
        The size of the numbers, as a power of 10.
    sign : int
        The sign of all numbers; 0 for either sign at random.
    apart : float
        The relative difference between any two arrays; 0 if the arrays are independent.
    between : float
        Each array is scaled by a random power of 10 between minus this and this.
    within : float
        Each element is scaled by a random power of 10 between minus this and this.
    zeros : float
        The share of elements that are 0.
    """

    scale: float = 0.0
    sign: int = 0
    apart: float = 0.0
    between: float = 0.0
    within: float = 0.0
    zeros: float = 0.0


_HUGE_POWERS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 11.0, 13.5, 16.0, 18.0, 22.0, 27.0, 32.0)
"""Powers of 10 between which squares, cubes, fourth and sixth powers overflow."""

_TINY_POWERS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 12.0, 15.0, 18.0, 23.0, 32.0)
"""Powers of 10 between which they underflow; none where only a few digits are left."""

_ARGUMENTS = (5.0, 9.5, 18.0, 30.0, 50.0, 80.0, 110.0, 400.0, 800.0)
"""Arguments at which exp and similar functions lose digits or overflow, and so do their squares.

They overflow in single precision first, and in double precision later."""

_MIXED = (6.0, 9.5, 9.5, 12.0, 12.0, 16.0, 19.0, 19.0)
"""Powers of 10 for mixed probes: x * y may be in range where x * y**2 is not."""

_SIGNED = (Setting(sign=1), Setting(sign=-1))

_SETTINGS: tuple[Setting, ...] = (
    *[Setting()] * 3,
    *_SIGNED,
    *[Setting(scale, sign=1, apart=1e-3) for scale in (0.0, 0.0, 2.0, 4.0)],
    *[Setting(scale) for scale in _HUGE_POWERS],
    *[Setting(-scale) for scale in _TINY_POWERS],
    *[Setting(np.log10(size), sign) for size in _ARGUMENTS for sign in (1, -1)],
    *[Setting(between=width) for width in (1.0, 1.0, 2.0, 2.0, 4.0, 4.0)],
    *[Setting(within=width) for width in (2.0, 2.0, 4.0)],
    *[Setting(zeros=0.3), Setting(sign=1, zeros=0.3)],
    *[Setting(between=width, within=width) for width in _MIXED],
)

COUNT = len(_SETTINGS)
"""The number of probes."""

ORDINARY: Numbers = np.array(
    [abs(each.scale) <= 4 and not (each.between or each.within or each.zeros) for each in _SETTINGS]
)
"""The ordinary probes, as a mask: all numbers are of one size, up to ten thousand."""

NEAR_ONE: Numbers = np.array([each in (Setting(), *_SIGNED) for each in _SETTINGS])
"""Those of independent numbers near 1, as a mask: of these hardly any function overflows."""

MIXED: Numbers = np.array([each.between > 0 and each.within > 0 for each in _SETTINGS])
"""The mixed probes, as a mask: numbers of all sizes. The order of factors decides overflow."""


_POWERS = tuple([power / 2 for power in range(-75, 76)])
"""Every size of number in single precision, in steps of half a power of 10."""

_EXPONENTS = tuple([Setting(np.log10(size), sign) for sign in (1, -1) for size in range(6, 90, 6)])
"""Arguments from which exp and exp2 give numbers of every size in single precision."""

_WIDE = (*[Setting(power, within=0.7) for power in _POWERS], *_EXPONENTS)

_POSITIVE = tuple([Setting(power, sign=1, within=0.7) for power in _POWERS])

ORDINARY_SIZES = slice(_POWERS.index(-6), _POWERS.index(6) + 1)
"""The wide probes of ordinary sizes."""


def is_wide_band(places: Sequence[int]) -> bool:
    """Whether these wide probes, in order, are of more than a narrow band of numbers.

    Between two spellings, one of which overflows a little before the other, lies a band of numbers
    that the first drops. It is wide if two probes in it are a power of 10 apart, or two arguments
    of exp next to each other.
    """
    sizes = [each for each in places if each < len(_POWERS)]
    exponents = [each for each in places if each >= len(_POWERS)]
    steps = [after - before for before, after in pairwise(exponents)]
    return (bool(sizes) and sizes[-1] - sizes[0] >= 2) or 1 in steps


@cache
def _columns(places: Places) -> list[Numbers]:
    """The settings as arrays with a row for each field; the mixed probes stand last."""
    if places != "usual":
        settings = _WIDE if places == "wide" else _POSITIVE
        return [np.array(settings, dtype=np.float64).T]
    rows = np.array(_SETTINGS, dtype=np.float64).T
    return [rows[:, ~MIXED], rows[:, MIXED]]


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
    """
    facts = tuple(known.facts)
    low, high = (float(bound) for bound in known.bounds)
    key = (shape, dtype, facts, low, high, index, places)
    found = _kept.get(key)
    if found is None:
        found = _drawn(shape, dtype, facts, (low, high), index, places)
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
    places: Places,
) -> Numbers:
    columns, (low, high) = _columns(places), bounds
    rng = np.random.default_rng([1997, index])
    wide = (sum(each.shape[1] for each in columns), *shape)
    if dtype.kind == "b":
        return rng.integers(0, 2, wide).astype(bool)
    if dtype.kind in "iu":
        least = max(low, 0.0 if dtype.kind == "u" or low >= 0 else -3.0)
        return rng.integers(int(least), int(max(min(high, least + 4), least)) + 1, wide).astype(
            dtype
        )
    # One group after the other, so that a change of the second leaves the first as it is.
    x = np.concatenate([_within(_free(shape, rng, each), low, high, rng) for each in columns])
    with np.errstate(all="ignore"):
        x = np.asarray(_signed(x, facts).astype(np.float32), np.float64)
    for name, made in _RELATED.items() if x.size else ():
        for fact in facts:
            if fact.name == name and len(shape) >= (1 if fact.args else 2):
                x = made(x, fact)
    return x


def _free(shape: tuple[int, ...], rng: np.random.Generator, settings: Numbers) -> Numbers:
    """Random numbers for the probes with these settings."""
    columns = [each.reshape(-1, *[1] * len(shape)) for each in settings]
    scale, sign, apart, between, within, zeros = columns
    wide = (settings.shape[1], *shape)
    size = rng.uniform(0.75, 1.0, wide)
    common = np.random.default_rng([1998, *shape]).uniform(0.6, 1.0, wide)
    size = np.where(apart > 0, common * (1 + apart * rng.normal(size=wide)), size)
    plain = (scale == 0) & (apart == 0) & (within == 0)
    size = np.where(plain, np.abs(rng.normal(size=wide)) + 0.05, size)
    power = scale + between * rng.uniform(-1, 1, between.shape) + within * rng.uniform(-1, 1, wide)
    either = np.where(rng.random(wide) < 0.5, -1.0, 1.0)
    x = np.where(sign == 0, either, sign) * size * 10.0**power
    return np.where(rng.random(wide) < zeros, 0.0, x)


def _within(x: Numbers, low: float, high: float, rng: np.random.Generator) -> Numbers:
    """The numbers with those out of bounds replaced.

    Between two finite bounds they are drawn again; at a single bound they are reflected.
    """
    outside = (x < low) | (x > high)
    if not outside.any():
        return x
    if np.isfinite(low) and np.isfinite(high):
        return np.where(outside, low + (high - low) * rng.random(x.shape), x)
    bound = low if np.isfinite(low) else high
    away = 1.0 if np.isfinite(low) else -1.0
    return np.where(outside, bound + away * np.abs(x - bound), x)


def _signed(x: Numbers, facts: Iterable[Fact]) -> Numbers:
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
