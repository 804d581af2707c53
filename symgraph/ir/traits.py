r"""What an operation is in exact arithmetic, as data: parity, linearity, scaling, form.

Passes ask an operation's traits, not its name. Traits stand in the operation's record; the tests
check each of them on numbers, and find those that hold and are not declared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import e
from types import EllipsisType
from typing import Any, Literal, TypeAlias

__all__ = [
    "EVEN",
    "MOVEMENT",
    "ODD",
    "PLACEMENT",
    "PLAIN",
    "Angle",
    "Arrangement",
    "Comparison",
    "Exponential",
    "ExponentialSum",
    "Indices",
    "Infix",
    "Logarithm",
    "Matrices",
    "Operands",
    "Prefix",
    "Traits",
]

Operands: TypeAlias = tuple[int, ...] | EllipsisType
"""Places of operands; `...` stands for all of them."""


@dataclass(frozen=True, slots=True)
class Exponential:
    r"""The form $b^x - s$ of an operation of one operand.

    Parameters
    ----------
    base : float
    less : float
        1 for $e^x - 1$.
    """

    base: float = e
    less: float = 0


@dataclass(frozen=True, slots=True)
class Logarithm:
    r"""The form $\log_b(x + s)$ of an operation of one operand.

    Parameters
    ----------
    base : float
    plus : float
        1 for $\log(1 + x)$.
    """

    base: float = e
    plus: float = 0


class Arrangement(Enum):
    """What becomes of the elements of the first operand, where none is changed or left out."""

    SAME = "as they are"
    CONVERTED = "in another dtype"
    REPEATED = "repeated, as operands are broadcast"
    REGROUPED = "in row-major order, in another shape"
    PERMUTED = "with the axes in another order"


class Matrices(Enum):
    """What matrices an operation takes, on the last two axes of its first operand."""

    ANY = "of any sides"
    SQUARE = "square"
    DEFINITE = "symmetric and positive definite"


@dataclass(frozen=True, slots=True)
class Infix:
    """A sign between two operands.

    Parameters
    ----------
    sign : str
    binding : int
        How strongly it binds, as Python's operators do: from 1 of `<` to 9 of `**`.
    """

    sign: str
    binding: int


@dataclass(frozen=True, slots=True)
class Prefix:
    """A sign before the operand, which binds as Python's unary operators do."""

    sign: str


@dataclass(frozen=True, slots=True)
class ExponentialSum:
    r"""What is made of $e^x$ and $Z = \sum e^x$, or $Z = 1 + e^x$: softmax, sigmoid, logarithms.

    Parameters
    ----------
    share : bool
        $e^x / Z$; else $Z$.
    logarithm : bool
        The logarithm of that.
    over_axis : bool
        Whether $Z$ is the sum over the param `axis`; else it is $1 + e^x$.
    """

    share: bool = False
    logarithm: bool = False
    over_axis: bool = False


@dataclass(frozen=True, slots=True)
class Angle:
    r"""A function of an angle: of $c$ and $s$ with $c^2 + k s^2 = 1$, and $t = s / c$.

    Parameters
    ----------
    part : "sine", "cosine" or "tangent"
    square : int
        $k$: 1 of circular functions, -1 of hyperbolic ones.
    """

    part: Literal["sine", "cosine", "tangent"]
    square: int = 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether the first operand is above (1) or below (-1) the second one, or neither (0).

    Parameters
    ----------
    side : int
    ties : bool
        Whether it holds where the two are equal.
    """

    side: int
    ties: bool = False


Indices: TypeAlias = Callable[..., "tuple[Sequence[Sequence[Any]], Sequence[Any]] | None"]
"""`indices(out, *avals, **params)`: labels of the axes of each operand, and of the result.

The result is the product of the operands, summed over the labels that it has not; it is 0 where
two axes of one label are at different places. None where these params have no such form.
"""


@dataclass(frozen=True, slots=True)
class Traits:
    r"""Identities that an operation obeys.

    Parameters
    ----------
    elementwise : bool
        A function of corresponding elements of its operands, which are broadcast; without params.
    commutative : bool
        $f(x, y) = f(y, x)$, to the bit: not of extrema, which choose between two zeros.
    parity : tuple of int
        One an operand: -1 if $f(-x) = -f(x)$ in it, to the bit, 1 if $f(-x) = f(x)$, else 0.
    signed_zero : tuple of int
        Operands of which the sign of a zero decides more than the sign of a zero result: divisors.
    linear : places, or `...` for all
        Operands in which it is linear by themselves: a product is linear in each.
    jointly_linear : places, or `...` for all
        Operands in which it is linear together: `where` in both of its branches.
    movement : bool
        Each element of the result is one of an operand, or 0; no number decides which.
    arrangement : Arrangement, optional
    blind : places, or `...` for all
        Operands in which NaN need not make the result NaN: of comparisons, and of choices.
    matrices : Matrices, optional
    at_places : bool
        Integer operands tell the places of elements that are read or written.
    multiplies : bool
        Elements of one operand are multiplied with one another.
    selects : bool
        Each element of the result is one of an operand: which, the numbers decide.
    logarithmic : bool
        The logarithm of something, or a multiple of one: exp takes it out.
    homogeneous : float, optional
        $f(a x) = a^k f(x)$ for all $a > 0$, where $x$ are all floating operands.
    shift : float, optional
        $f(x + c) = f(x) + s c$ for all numbers $c$, where $x$ are all floating operands.
    exponential : Exponential, optional
    logarithm : Logarithm, optional
    combination : tuple of int
        $f(x, y) = a x + b y$: these numbers.
    monomial : tuple of rational numbers
        $f(x, y) = x^a y^b$: these powers.
    raises : bool
        $f(x, y) = x^y$.
    exponential_sum : ExponentialSum, optional
    angle : Angle, optional
    comparison : Comparison, optional
    extremum : int
        1 of what gives the largest of numbers, -1 the least; NaN if there is one.
    indices : callable, optional
        Labels of axes, of a product that is summed: see `Indices`.
    in_order : callable, optional
        `in_order(**params)`: whether the elements stay all there and in their order.
    """

    elementwise: bool = False
    commutative: bool = False
    parity: tuple[int, ...] = ()
    signed_zero: tuple[int, ...] = ()
    linear: Operands = ()
    jointly_linear: Operands = ()
    movement: bool = False
    arrangement: Arrangement | None = None
    blind: Operands = ()
    matrices: Matrices | None = None
    at_places: bool = False
    multiplies: bool = False
    selects: bool = False
    logarithmic: bool = False
    homogeneous: float | None = None
    shift: float | None = None
    exponential: Exponential | None = None
    logarithm: Logarithm | None = None
    combination: tuple[int, ...] = ()
    monomial: tuple[int | Fraction, ...] = ()
    raises: bool = False
    exponential_sum: ExponentialSum | None = None
    angle: Angle | None = None
    comparison: Comparison | None = None
    extremum: int = 0
    indices: Indices | None = None
    in_order: Callable[..., bool] | None = None

    def linear_in(self, count: int) -> tuple[int, ...]:
        """Places in which it is linear by themselves, of `count` operands."""
        return _places(self.linear, count)

    def linear_together(self, count: int) -> tuple[int, ...]:
        """Places in which it is linear together, of `count` operands."""
        return _places(self.jointly_linear, count)

    def blind_in(self, count: int) -> tuple[int, ...]:
        """Places in which NaN need not make the result NaN, of `count` operands."""
        return _places(self.blind, count)

    @property
    def exponent(self) -> float | None:
        """The number $k$ of $f(x) = x^k$, an operation of one operand."""
        return float(self.monomial[0]) if len(self.monomial) == 1 else None

    def parity_in(self, place: int, count: int) -> int:
        """-1 where it is odd in an operand, 1 where it is even, else 0; of `count` operands."""
        if place in self.linear_in(count):
            return -1
        return self.parity[place] if place < len(self.parity) else 0


def _places(operands: Operands, count: int) -> tuple[int, ...]:
    return tuple(range(count)) if isinstance(operands, EllipsisType) else operands


PLAIN = Traits()
ODD = Traits(parity=(-1,))
EVEN = Traits(parity=(1,))
MOVEMENT = Traits(linear=(0,), movement=True, shift=1)
"""Elements are only put elsewhere."""
PLACEMENT = Traits(linear=(0,), movement=True)
"""Elements are put elsewhere, with zeros between."""
