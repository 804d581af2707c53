r"""What an operation is in exact arithmetic, as data: parity, linearity, scaling, form.

Passes ask an operation's traits, not its name. Traits stand in the operation's record; the tests
check each of them on numbers, and find those that hold and are not declared.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import e
from types import EllipsisType
from typing import TypeAlias

__all__ = [
    "EVEN",
    "MOVEMENT",
    "ODD",
    "PLACEMENT",
    "PLAIN",
    "Arrangement",
    "Exponential",
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
    exponent : float, optional
        $f(x) = x^k$ for all numbers $x$, NaN where that is none.
    logarithmic : bool
        The logarithm of something, or a multiple of one: exp takes it out.
    homogeneous : float, optional
        $f(a x) = a^k f(x)$ for all $a > 0$, where $x$ are all floating operands.
    shift : float, optional
        $f(x + c) = f(x) + s c$ for all numbers $c$, where $x$ are all floating operands.
    exponential : Exponential, optional
    logarithm : Logarithm, optional
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
    exponent: float | None = None
    logarithmic: bool = False
    homogeneous: float | None = None
    shift: float | None = None
    exponential: Exponential | None = None
    logarithm: Logarithm | None = None

    def linear_in(self, count: int) -> tuple[int, ...]:
        """Places in which it is linear by themselves, of `count` operands."""
        return _places(self.linear, count)

    def linear_together(self, count: int) -> tuple[int, ...]:
        """Places in which it is linear together, of `count` operands."""
        return _places(self.jointly_linear, count)

    def blind_in(self, count: int) -> tuple[int, ...]:
        """Places in which NaN need not make the result NaN, of `count` operands."""
        return _places(self.blind, count)

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
