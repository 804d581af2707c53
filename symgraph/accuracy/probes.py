"""The points at which spellings are tried, and numbers there of which the facts of a value hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..facts import Fact

__all__ = ["COUNT", "MIXED", "ORDINARY", "Numbers", "drawn"]

Numbers: TypeAlias = "np.ndarray[Any, Any]"


class Setting(NamedTuple):
    """How the numbers of one probe are drawn.

    Parameters
    ----------
    scale : float
        The power of 10 that numbers are of.
    sign : int
        That of all numbers; 0 for either.
    apart : float
        Arrays differ from one another by so much of their size; 0 if they have nothing in common.
    between : float
        By how many powers of 10 one array may be larger than another.
    within : float
        By how many powers of 10 one element may be larger than another.
    zeros : float
        The share of elements that are 0.
    """

    scale: float = 0.0
    sign: int = 0
    apart: float = 0.0
    between: float = 0.0
    within: float = 0.0
    zeros: float = 0.0


_LARGE = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 11.0, 13.5, 16.0, 18.0, 22.0, 27.0, 32.0)
"""Powers of 10 between which squares, cubes, fourth and sixth powers overflow."""

_SMALL = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 12.0, 15.0, 18.0, 23.0, 32.0)
"""And between which they underflow. Not where they have a few digits left."""

_ARGUMENTS = (5.0, 9.5, 18.0, 30.0, 50.0, 80.0, 110.0, 400.0, 800.0)
"""Where exp and its like lose digits, leave single and double precision, and squares of them do."""

_MIXED = (6.0, 9.5, 9.5, 12.0, 12.0, 16.0, 19.0, 19.0)
"""Of inputs of any size: a product of two is in range, and that of one with a square is not."""

_SETTINGS: tuple[Setting, ...] = (
    *[Setting(sign=sign) for sign in (0, 0, 0, 1, -1)],
    *[Setting(scale, sign=1, apart=1e-3) for scale in (0.0, 0.0, 2.0, 4.0)],
    *[Setting(scale) for scale in _LARGE],
    *[Setting(-scale) for scale in _SMALL],
    *[Setting(np.log10(size), sign) for size in _ARGUMENTS for sign in (1, -1)],
    *[Setting(between=width) for width in (1.0, 1.0, 2.0, 2.0, 4.0, 4.0)],
    *[Setting(within=width) for width in (2.0, 2.0, 4.0)],
    *[Setting(zeros=0.3), Setting(sign=1, zeros=0.3)],
    *[Setting(between=width, within=width) for width in _MIXED],
)

COUNT = len(_SETTINGS)
"""How many probes there are."""

ORDINARY: Numbers = np.array(
    [abs(each.scale) <= 4 and not (each.between or each.within or each.zeros) for each in _SETTINGS]
)
"""Those whose numbers are arguments of ordinary functions: up to ten thousand."""

MIXED: Numbers = np.array([each.between > 0 and each.within > 0 for each in _SETTINGS])
"""Those whose numbers are of any size: where one order of factors overflows another does not."""


@cache
def _columns() -> list[Numbers]:
    """The settings, one row each: those of a common scale, and those of any size."""
    rows = np.array(_SETTINGS, dtype=np.float64).T
    return [rows[:, ~MIXED], rows[:, MIXED]]


def drawn(shape: tuple[int, ...], dtype: np.dtype[Any], known: Any, index: int) -> Numbers:
    """Numbers for one value at all probes, these along a leading axis.

    They are exact in single precision, except where facts tie elements together.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    known : Known
        Facts and bounds that the numbers satisfy.
    index : int
        Which value of its graph it is: those of different ones have nothing to do with each other
        except where a probe wants it so.
    """
    rng = np.random.default_rng([1997, index])
    wide = (COUNT, *shape)
    if dtype.kind == "b":
        return rng.integers(0, 2, wide).astype(bool)
    facts = tuple(known.facts)
    low, high = (float(bound) for bound in known.bounds)
    if dtype.kind in "iu":
        least = max(low, 0.0 if dtype.kind == "u" or low >= 0 else -3.0)
        return rng.integers(int(least), int(max(min(high, least + 4), least)) + 1, wide).astype(
            dtype
        )
    # One group after the other, so that those of the first are what they are without the second.
    x = np.concatenate([_within(_free(shape, rng, each), low, high, rng) for each in _columns()])
    with np.errstate(all="ignore"):
        x = np.asarray(_signed(x, facts).astype(np.float32), np.float64)
    for name, made in _TIED.items():
        for fact in facts:
            if fact.name == name and len(shape) >= (1 if fact.args else 2):
                x = made(x, fact)
    return x


def _free(shape: tuple[int, ...], rng: np.random.Generator, settings: Numbers) -> Numbers:
    """Numbers as the probes with these settings want them."""
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
    """The numbers within bounds: those outside anywhere between them, or as near as they come."""
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
def _turned(x: Numbers) -> Numbers:
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
    return (x + _turned(x)) / 2 if _is_square(x) else x


def _antisymmetric(x: Numbers, _fact: Fact) -> Numbers:
    return (x - _turned(x)) / 2 if _is_square(x) else x


def _definite(x: Numbers, _fact: Fact) -> Numbers:
    if not _is_square(x):
        return x
    size = np.max(np.abs(x), axis=(-1, -2), keepdims=True) + 1e-300
    x = x / size
    return (x @ _turned(x) + 0.5 * np.eye(x.shape[-1])) * size


def _orthogonal(x: Numbers, _fact: Fact) -> Numbers:
    size = np.max(np.abs(x), axis=(-1, -2), keepdims=True) + 1e-300
    return np.linalg.qr(x / size + 0.5 * np.eye(x.shape[-1]))[0] if _is_square(x) else x


def _diagonal(x: Numbers, _fact: Fact) -> Numbers:
    return x * np.eye(x.shape[-1]) if _is_square(x) else x


def _triangular(x: Numbers, fact: Fact) -> Numbers:
    return np.tril(x) if fact.args[0] == "lower" else np.triu(x)


_TIED: dict[str, Callable[[Numbers, Fact], Numbers]] = {
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
"""What fulfils a fact of several elements; in this order, the stronger after the weaker."""
