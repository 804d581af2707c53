r"""Identities of operations in exact arithmetic, as data: parity, linearity, scaling, form.

Passes ask an operation's traits, not its name. An operation's record declares its traits. The tests
check each declared trait on numbers, and find traits that hold and are not declared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from fractions import Fraction
from math import e
from types import EllipsisType
from typing import Any, Literal, TypeAlias

from ..records import record

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
    "Selection",
    "Traits",
]

Operands: TypeAlias = tuple[int, ...] | EllipsisType
"""The places of operands; `...` means all of them."""


@record
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


@record
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
    """How a result arranges the elements of the first operand, all of which it holds."""

    SAME = "as they are"
    CONVERTED = "in another dtype"
    REPEATED = "repeated, as operands are broadcast"
    REGROUPED = "in row-major order, in another shape"
    PERMUTED = "with the axes in another order"
    DIAGONAL = "on a diagonal of matrices of zeros"


class Selection(Enum):
    """The element of its operands that an operation selects; the numbers decide which."""

    LARGEST = 1
    """The largest; NaN if there is one."""
    LEAST = -1
    """The least; NaN if there is one."""
    OTHER = 0
    """Another one, or one for each place, as in a sort."""


class Matrices(Enum):
    """The matrices that an operation takes, on the last two axes of its first operand."""

    ANY = "of any sides"
    SQUARE = "square"
    DEFINITE = "symmetric and positive definite"


@record
class Infix:
    """A sign between two operands.

    Parameters
    ----------
    sign : str
    binding : int
        The precedence of Python's operator: from 1 of `<` to 9 of `**`.
    """

    sign: str
    binding: int


@record
class Prefix:
    """A sign before the operand, with the precedence of Python's unary operators."""

    sign: str


@record
class ExponentialSum:
    r"""A function of $e^x$ and $Z = \sum e^x$, or $Z = 1 + e^x$: softmax, sigmoid, logarithms.

    Parameters
    ----------
    share : bool
        Whether it is $e^x / Z$; else it is $Z$.
    logarithm : bool
        Whether it is the logarithm of that.
    over_axis : bool
        Whether $Z$ is the sum over the param `axis`; else it is $1 + e^x$.
    """

    share: bool = False
    logarithm: bool = False
    over_axis: bool = False


@record
class Angle:
    r"""A sine, cosine or tangent: $s$, $c$ or $t = s / c$, with $c^2 + k s^2 = 1$.

    Parameters
    ----------
    part : "sine", "cosine" or "tangent"
    square : int
        $k$: 1 of circular functions, -1 of hyperbolic ones.
    """

    part: Literal["sine", "cosine", "tangent"]
    square: int = 1


@record
class Comparison:
    """A comparison of two operands.

    Parameters
    ----------
    side : int
        1 if it holds where the first operand is above the second one, -1 where it is below, else 0.
    ties : bool
        Whether it holds where the two are equal.
    """

    side: int
    ties: bool = False


Indices: TypeAlias = Callable[..., "tuple[Sequence[Sequence[Any]], Sequence[Any]] | None"]
"""`indices(out, *avals, **params)`: labels of the axes of each operand, and of the result.

The result is the product of the operands, summed over the labels that it does not have. Where two
axes of the result have one label, it is 0 off the diagonal. None if the params allow no such form.
"""


@record
class Traits:
    r"""Identities that an operation obeys.

    Parameters
    ----------
    elementwise : bool
        It is a function of corresponding elements of its broadcast operands, without params.
    commutative : bool
        $f(x, y) = f(y, x)$, to the bit. Extrema are not, for they choose between two zeros.
    parity : tuple of int
        One for each operand: -1 if $f(-x) = -f(x)$ in it, to the bit, 1 if $f(-x) = f(x)$, else 0.
    signed_zero : tuple of int
        The operands whose zeros' signs change more than the sign of a zero result, as divisors do.
    linear : places, or `...` for all
        The operands in each of which it is linear, as a product is in both factors.
    jointly_linear : places, or `...` for all
        The operands in which it is linear together, as `where` is in its two branches.
    movement : bool
        Each element of the result is one of an operand, or 0, and no number decides which.
    arrangement : Arrangement, optional
    blind : places, or `...` for all
        The operands whose NaN need not make the result NaN, as in comparisons and choices.
    matrices : Matrices, optional
    at_places : bool
        Integer operands are the places of elements that are read or written.
    multiplies : bool
        Elements of one operand are multiplied with one another.
    selection : Selection, optional
        Each element of the result is one of an operand, and the numbers decide which.
    homogeneous : float, optional
        The degree $k$ if $f(a x) = a^k f(x)$ for all $a > 0$, where $x$ are all floating operands.
    shift : float, optional
        The slope $s$ if $f(x + c) = f(x) + s c$ for all numbers $c$, where $x$ are all floating
        operands.
    exponential : Exponential, optional
    logarithm : Logarithm, optional
    other_logarithm : bool
        It is a logarithm, or a multiple of one, that `logarithm` and `exponential_sum` do not tell.
    combination : tuple of int
        The numbers $a$, $b$ if $f(x, y) = a x + b y$.
    monomial : tuple of rational numbers
        The powers $a$, $b$ if $f(x, y) = x^a y^b$.
    raises : bool
        $f(x, y) = x^y$.
    exponential_sum : ExponentialSum, optional
    angle : Angle, optional
    comparison : Comparison, optional
    indices : callable, optional
        The labels of axes of a product that is summed: see `Indices`.
    in_order : callable, optional
        `in_order(**params)`: whether all elements are kept, in their order.
    relative_slope : callable, optional
        `relative_slope(out, x)` is $f'(x) / f(x)$ of a function of one operand that overflows, a
        number also where it does.
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
    selection: Selection | None = None
    homogeneous: float | None = None
    shift: float | None = None
    exponential: Exponential | None = None
    logarithm: Logarithm | None = None
    other_logarithm: bool = False
    combination: tuple[int, ...] = ()
    monomial: tuple[int | Fraction, ...] = ()
    raises: bool = False
    exponential_sum: ExponentialSum | None = None
    angle: Angle | None = None
    comparison: Comparison | None = None
    indices: Indices | None = None
    in_order: Callable[..., bool] | None = None
    relative_slope: Callable[..., Any] | None = None

    def linear_in(self, count: int) -> tuple[int, ...]:
        """The places of the operands in each of which it is linear, of `count` operands."""
        return _places(self.linear, count)

    def linear_together(self, count: int) -> tuple[int, ...]:
        """The places of the operands in which it is linear together, of `count` operands."""
        return _places(self.jointly_linear, count)

    def blind_in(self, count: int) -> tuple[int, ...]:
        """The places of the operands whose NaN need not make the result NaN, of `count`."""
        return _places(self.blind, count)

    @property
    def selects(self) -> bool:
        """Whether each element of the result is one of an operand, chosen by the numbers."""
        return self.selection is not None

    @property
    def extremum(self) -> int:
        """1 if it gives the largest of numbers, -1 if the least, else 0."""
        return 0 if self.selection is None else self.selection.value

    @property
    def logarithmic(self) -> bool:
        """Whether it is a logarithm, or a multiple of one: exp takes it out."""
        of_sum = self.exponential_sum is not None and self.exponential_sum.logarithm
        return self.logarithm is not None or of_sum or self.other_logarithm

    @property
    def exponent(self) -> float | None:
        """The number $k$ if the operation has one operand and $f(x) = x^k$; else None."""
        return float(self.monomial[0]) if len(self.monomial) == 1 else None

    def parity_in(self, place: int, count: int) -> int:
        """-1 if it is odd in the operand at a place, 1 if it is even, else 0; of `count`."""
        if place in self.linear_in(count):
            return -1
        return self.parity[place] if place < len(self.parity) else 0


def _places(operands: Operands, count: int) -> tuple[int, ...]:
    return tuple(range(count)) if isinstance(operands, EllipsisType) else operands


PLAIN = Traits()
ODD = Traits(parity=(-1,))
EVEN = Traits(parity=(1,))
MOVEMENT = Traits(linear=(0,), movement=True, shift=1)
"""The elements are only moved."""
PLACEMENT = Traits(linear=(0,), movement=True)
"""The elements are moved, with zeros between them."""
