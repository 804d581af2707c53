"""Probes: the points at which spellings are compared.

A probe says how large all random numbers are, which sign they have, and how far they differ from
one another (`draws`). There are three sets of probes. By the usual ones digits are judged. The wide
ones, of every size, only show whether a number is lost; so do the positive ones, for what has no
value elsewhere. At some of the wide ones, the unlike, each array has a size of its own: they show
whether products and squares leave the range on the way to a number in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

__all__ = [
    "COUNT",
    "MIXED",
    "NEAR_ONE",
    "OF_ONE_SIZE",
    "ORDINARY",
    "ORDINARY_SIZES",
    "UNLIKE",
    "Numbers",
    "Places",
    "Setting",
    "is_wide_band",
    "settings_at",
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
    unlike : int
        1 if each array has one of six sizes, three of them huge and three tiny.
    """

    scale: float = 0.0
    sign: int = 0
    apart: float = 0.0
    between: float = 0.0
    within: float = 0.0
    zeros: float = 0.0
    unlike: int = 0


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

_UNLIKE = (*[Setting(unlike=1, within=0.5)] * 120, *[Setting(between=14.0, within=14.0)] * 40)
"""Arrays of unlike sizes; in the last ones the elements are, too."""

OF_ONE_SIZE, UNLIKE = slice(len(_WIDE)), slice(len(_WIDE), None)
"""The wide probes at which all numbers are of one size, and those of arrays of unlike sizes."""

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


def settings_at(places: Places, *, exponents: bool = False) -> list[list[Setting]]:
    """The settings of the probes, in groups whose numbers are drawn together.

    Of the usual ones the mixed stand last, so that a change of these leaves the others as they are.
    At every second size, and at the unlike ones, exponents are ordinary numbers: x**a and
    x**(a - 1) leave the range at different x only if a is none of the largest or smallest itself.
    """
    if places != "usual":
        wide = list(_WIDE if places == "wide" else _POSITIVE)
        first = _of_exponents(wide) if exponents else wide
        unlike = [Setting()] * len(_UNLIKE) if exponents else list(_UNLIKE)
        return [first, unlike] if places == "wide" else [first]
    settings = _of_exponents(_SETTINGS) if exponents else _SETTINGS
    rows = list(zip(settings, MIXED, strict=True))
    return [[each for each, mixed in rows if mixed == last] for last in (False, True)]


def _of_exponents(settings: Sequence[Setting]) -> list[Setting]:
    """The settings with ordinary numbers at every second size."""
    return [
        each._replace(scale=0.0, within=0.0) if place % 2 and each.scale else each
        for place, each in enumerate(settings)
    ]
