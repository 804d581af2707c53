"""All facts that can be known about a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from weakref import WeakValueDictionary

from ..errors import FactError

__all__ = [
    "OF_SQUARES",
    "Fact",
    "antisymmetric",
    "diagonal",
    "finite",
    "integer_valued",
    "interval",
    "is_square",
    "negative",
    "nonnegative",
    "nonpositive",
    "nonzero",
    "one_hot",
    "orthogonal",
    "positive",
    "positive_definite",
    "simplex",
    "symmetric",
    "total",
    "triangular",
    "unique",
    "unit_norm",
]


class Fact:
    """A named property of a value, such as `positive` or `simplex(axis=-1)`.

    Axes are negative, so that they keep their meaning when a value gains leading axes. Equal facts
    are one object, since each node compares and hashes facts about a hundred times.

    Parameters
    ----------
    name : str
    args : tuple, hashable
        The arguments of the property, such as the axis.

    Examples
    --------
    >>> sg.simplex(axis=-1) is sg.simplex(axis=-1)
    True
    >>> x = sg.input("x", (3,), assume=[sg.positive, sg.integer_valued])
    >>> sg.graph(np.rint(np.abs(x))).simplify().formula()
    x
    """

    __slots__ = ("__weakref__", "args", "name")
    name: str
    args: tuple[Any, ...]

    def __new__(cls, name: str, args: tuple[Any, ...] = ()) -> Fact:
        key = (name, args)
        found = _every_fact.get(key)
        if found is None:
            made = super().__new__(cls)
            object.__setattr__(made, "name", name)
            object.__setattr__(made, "args", args)
            # setdefault, since another thread may have made the same fact.
            found = _every_fact.setdefault(key, made)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("A fact cannot be changed.")

    def __reduce__(self) -> Any:
        return Fact, (self.name, self.args)

    def __repr__(self) -> str:
        return f"Fact({self.name!r}, {self.args!r})"

    @property
    def is_open(self) -> bool:
        """Whether the fact holds on a neighbourhood, so it may be used before differentiating."""
        return self.name in _OPEN

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.args))})" if self.args else self.name


_every_fact: WeakValueDictionary[tuple[str, tuple[Any, ...]], Fact] = WeakValueDictionary()
_OPEN = {
    "positive",
    "nonnegative",
    "negative",
    "nonpositive",
    "nonzero",
    "finite",
    "total",
    "interval",
    "unique",
}

positive = Fact("positive")
nonnegative = Fact("nonnegative")
negative = Fact("negative")
nonpositive = Fact("nonpositive")
nonzero = Fact("nonzero")
finite = Fact("finite")
"""No infinity and no NaN. Only this fact is about floating-point numbers: exp of a finite number is
not known to be finite, since it may overflow."""
total = Fact("total")
"""Defined (a real number in exact arithmetic) wherever the inputs are finite."""
integer_valued = Fact("integer_valued")
unique = Fact("unique")
"""No value occurs twice. Unique indices read or write each place at most once."""
symmetric = Fact("symmetric")
antisymmetric = Fact("antisymmetric")
"""Equal to the negative of its transpose."""
positive_definite = Fact("positive_definite")
"""Symmetric, with positive eigenvalues."""
orthogonal = Fact("orthogonal")
diagonal = Fact("diagonal")


OF_SQUARES = frozenset({symmetric, antisymmetric, positive_definite, orthogonal, diagonal})
"""Facts that only square matrices can have."""


def is_square(shape: Sequence[Any]) -> bool:
    """Whether the last two axes have, or may have, the same length."""
    if len(shape) < 2:
        return False
    rows, columns = shape[-2:]
    named = not (isinstance(rows, int) and isinstance(columns, int))
    return named or rows == columns


def interval(low: float, high: float) -> Fact:
    """The fact that every element is within [low, high].

    Parameters
    ----------
    low, high : float
        The bounds, which are included; they may be infinite.

    Returns
    -------
    Fact
        To be stated of an input, with `assume=`.

    Raises
    ------
    FactError
        If `low > high`.

    Examples
    --------
    >>> x = sg.input("x", assume=sg.interval(2, 3))
    >>> sg.graph(np.abs(x)).simplify().formula()
    x
    """
    if not low <= high:
        raise FactError(f"interval({low}, {high}) is empty.")
    return Fact("interval", (float(low), float(high)))


def simplex(axis: int = -1) -> Fact:
    """The fact that an array is nonnegative and sums to one along `axis`.

    Parameters
    ----------
    axis : int
        An axis of the array that has the fact.

    Returns
    -------
    Fact
        To be stated of an input, with `assume=`.

    Examples
    --------
    >>> p, z = sg.input("p", (3,), assume=sg.simplex()), sg.input("z", (3,))
    >>> loss = -np.sum(p * snp.log_softmax(z))
    >>> sg.graph(sg.grad(loss, z)).simplify().formula()
    softmax(z) - p
    """
    return Fact("simplex", (int(axis),))


def one_hot(axis: int = -1) -> Fact:
    """The fact that along `axis` one element is 1 and all others are 0.

    Parameters
    ----------
    axis : int
        An axis of the array that has the fact.

    Returns
    -------
    Fact
        To be stated of an input, with `assume=`.

    Examples
    --------
    >>> y = sg.input("y", (3,), assume=sg.one_hot())
    >>> sg.graph(np.maximum(y, 0)).simplify().formula()
    y
    """
    return Fact("one_hot", (int(axis),))


def unit_norm(axis: int = -1) -> Fact:
    """The fact that the squares sum to one along `axis`.

    Parameters
    ----------
    axis : int
        An axis of the array that has the fact.

    Returns
    -------
    Fact
        To be stated of an input, with `assume=`.

    Examples
    --------
    >>> u = sg.input("u", (3,), assume=sg.unit_norm())
    >>> sg.graph(np.sum(u * u)).simplify().formula()
    1
    """
    return Fact("unit_norm", (int(axis),))


def triangular(which: Literal["lower", "upper"]) -> Fact:
    """The fact that a matrix is lower or upper triangular.

    Inverses, products and sums of such matrices have the same fact. NumPy's inverse may have 1e-17
    on the other side; operations that use the structure take that for 0.

    Parameters
    ----------
    which : "lower" or "upper"
        The triangle that holds the numbers; the other one is 0.

    Returns
    -------
    Fact
        To be stated of an input of shape (..., n, n), with `assume=`.

    Raises
    ------
    FactError
        If `which` is neither "lower" nor "upper".

    Examples
    --------
    >>> sg.input("l", (3, 3), assume=sg.triangular("lower"))
    <Array 'l' float64[3, 3]>
    """
    if which not in ("lower", "upper"):
        raise FactError(f'Write triangular("lower") or triangular("upper"), not {which!r}.')
    return Fact("triangular", (which,))
