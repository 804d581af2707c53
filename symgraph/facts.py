"""What is known of a value: the vocabulary of facts, what each implies, and how one is checked.

A fact speaks of exact arithmetic at every point where the value is defined: `exp(x)` is positive
although it underflows to 0 at -1000. *Open* facts (positive, nonzero, an interval) hold on a
neighbourhood and may be used before differentiating; *equality* facts (simplex, symmetric, ...) tie
elements together, so using one before differentiating would change the derivative.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, cast
from weakref import WeakValueDictionary

import numpy as np

from .errors import FactError

__all__ = [
    "OF_SQUARES",
    "Fact",
    "antisymmetric",
    "consistent",
    "diagonal",
    "finite",
    "holds_on",
    "implied",
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
    "stated",
    "symmetric",
    "total",
    "triangular",
    "unique",
    "unit_norm",
    "violation",
]


class Fact:
    """A named property of a value, such as `positive` or `simplex(axis=-1)`.

    Axes are negative, so that they keep their meaning when a value gains leading axes. Equal facts
    are one object: they are compared and hashed a hundred times a node.

    Parameters
    ----------
    name : str
    args : tuple, hashable
        What the property is made of, such as the axis.

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
            # setdefault: another thread may have made it meanwhile.
            found = _every_fact.setdefault(key, made)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("A fact does not change.")

    def __reduce__(self) -> Any:
        return Fact, (self.name, self.args)

    def __repr__(self) -> str:
        return f"Fact({self.name!r}, {self.args!r})"

    @property
    def is_open(self) -> bool:
        """Whether it holds on a neighbourhood, and so may be used before differentiating."""
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
"""No infinity and no NaN. Alone among the facts it speaks of floating-point numbers: exp of a
finite number is not known to be finite, for it may overflow."""
total = Fact("total")
"""Defined (a real number in exact arithmetic) wherever the inputs are finite."""
integer_valued = Fact("integer_valued")
unique = Fact("unique")
"""No value occurs twice: of indices, that no two read or write one place."""
symmetric = Fact("symmetric")
antisymmetric = Fact("antisymmetric")
"""The negative of its own transpose."""
positive_definite = Fact("positive_definite")
"""Symmetric, with positive eigenvalues."""
orthogonal = Fact("orthogonal")
diagonal = Fact("diagonal")


OF_SQUARES = frozenset({symmetric, antisymmetric, positive_definite, orthogonal, diagonal})
"""Facts that only square matrices have."""


def is_square(shape: Sequence[Any]) -> bool:
    """Whether the last two axes are, or may be, as long as one another."""
    if len(shape) < 2:
        return False
    rows, columns = shape[-2:]
    named = not (isinstance(rows, int) and isinstance(columns, int))
    return named or rows == columns


def interval(low: float, high: float) -> Fact:
    """Every element within [low, high].

    Parameters
    ----------
    low, high : float
    The bounds, which belong to it; infinite ones are allowed.

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
    """Nonnegative, and summing to one along `axis`.

    Parameters
    ----------
    axis : int
    Of the array that it is stated of.

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
    """One 1 and otherwise 0 along `axis`.

    Parameters
    ----------
    axis : int
    Of the array that it is stated of.

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
    """Squares summing to one along `axis`.

    Parameters
    ----------
    axis : int
    Of the array that it is stated of.

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
    """A lower or upper triangular matrix.

    It is carried to inverses, products and sums of such matrices. Their numbers may have 1e-17 on
    the other side, as NumPy's inverse has: what is done with the structure takes that for 0.

    Parameters
    ----------
    which : "lower" or "upper"
    Where the numbers are; the other side is 0.

    Returns
    -------
    Fact
    To be stated of an input of shape (..., n, n), with `assume=`.

    Raises
    ------
    FactError
    If it is neither of the two.

    Examples
    --------
    >>> sg.input("l", (3, 3), assume=sg.triangular("lower"))
    <Array 'l' float64[3, 3]>
    """
    if which not in ("lower", "upper"):
        raise FactError(f'triangular("lower") or triangular("upper"), not {which!r}.')
    return Fact("triangular", (which,))


_PLAIN: dict[str, tuple[Fact, ...]] = {
    "positive": (nonnegative, nonzero),
    "negative": (nonpositive, nonzero),
    "positive_definite": (symmetric,),
    "orthogonal": (Fact("interval", (-1.0, 1.0)),),
    "diagonal": (symmetric, triangular("lower"), triangular("upper")),
    "finite": (total,),
}


def _implied_at_once(fact: Fact) -> Iterable[Fact]:
    yield from _PLAIN.get(fact.name, ())
    match fact.name:
        case "simplex":
            yield interval(0.0, 1.0)
        case "one_hot":
            yield from (simplex(fact.args[0]), integer_valued)
        case "unit_norm":
            yield interval(-1.0, 1.0)
        case "interval":
            low, high = fact.args
            if low > 0:
                yield positive
            if low >= 0:
                yield nonnegative
            if high < 0:
                yield negative
            if high <= 0:
                yield nonpositive
        case _:
            pass


_TOGETHER: tuple[tuple[Fact, Fact, Fact], ...] = (
    (nonnegative, nonzero, positive),
    (nonpositive, nonzero, negative),
    (symmetric, Fact("triangular", ("lower",)), diagonal),
    (symmetric, Fact("triangular", ("upper",)), diagonal),
)
"""Two facts, and the third that they give."""


def implied(facts: Iterable[Fact]) -> dict[Fact, Fact | None]:
    """All facts that follow from the given ones, each with one it follows from, None if given."""
    found: dict[Fact, Fact | None] = dict.fromkeys(facts)
    queue = list(found)
    while queue:
        while queue:
            fact = queue.pop()
            for other in _implied_at_once(fact):
                if other not in found:
                    found[other] = fact
                    queue.append(other)
        for one, other, third in _TOGETHER:
            if one in found and other in found and third not in found:
                found[third] = one
                queue.append(third)
    return found


_CLASHES = (
    (positive, nonpositive),
    (negative, nonnegative),
    (positive, negative),
)


def stated(assume: Fact | Iterable[Fact]) -> tuple[Fact, ...]:
    """One fact or several, as a tuple.

    Raises
    ------
    FactError
        If something else is among them.
    """
    given: Any = assume
    several = isinstance(given, Iterable) and not isinstance(given, str)
    found: tuple[Any, ...] = tuple(cast("Iterable[Any]", given)) if several else (given,)
    for each in found:
        if not isinstance(each, Fact):
            raise FactError(
                f"{each!r} is no fact.", mend="State facts: assume=(sg.positive, sg.simplex(-1))."
            )
    return found


def consistent(facts: Iterable[Fact]) -> dict[Fact, Fact | None]:
    """As `implied`, refusing contradictions.

    Raises
    ------
    FactError
        If two facts cannot hold together; it names the two that were stated.
    """
    found = implied(facts)
    for one, other in _CLASHES:
        if one in found and other in found:
            raise FactError(
                f"A value cannot be {_stated(one, found)} and {_stated(other, found)} at once."
            )
    bounds = [fact for fact in found if fact.name == "interval"]
    if bounds:
        lowest = max(bounds, key=lambda fact: fact.args[0])
        highest = min(bounds, key=lambda fact: fact.args[1])
        low, high = lowest.args[0], highest.args[1]
        if low > high:
            both = f"{_stated(lowest, found)} and {_stated(highest, found)}"
            raise FactError(f"{both} have no number in common.")
        for sign, apart in ((positive, high <= 0), (negative, low >= 0)):
            if sign in found and apart:
                bound = highest if sign is positive else lowest
                raise FactError(
                    f"A value cannot be {_stated(sign, found)} and {_stated(bound, found)} at once."
                )
        if low == high == 0 and nonzero in found:
            raise FactError(f"A value cannot be {_stated(nonzero, found)} and {lowest} at once.")
    return found


def _stated(fact: Fact, found: dict[Fact, Fact | None]) -> str:
    """The fact that gives `fact`, and how: `interval(1.0, 2.0), so positive,`."""
    root = fact
    while (before := found[root]) is not None:
        root = before
    return str(fact) if root is fact else f"{root}, so {fact},"


def holds_on(fact: Fact, array: np.ndarray[Any, Any], tolerance: float = 1e-6) -> bool:
    """Whether the fact is true of these numbers (sums and products within `tolerance`).

    In arrays of fewer digits the tolerance is at least that of their rounding.
    """
    return violation(fact, array, tolerance) is None


def violation(fact: Fact, array: np.ndarray[Any, Any], tolerance: float = 1e-6) -> str | None:
    """What contradicts the fact, as `[3] = -1.0`; None where it holds.

    Raises
    ------
    FactError
        If no check is known for the fact.
    """
    x = np.asarray(array)
    if x.dtype.kind == "f":
        tolerance = max(tolerance, 8 * float(np.finfo(x.dtype).eps))
    held = _elementwise(fact, x)
    if held is not None:
        return _first(x, held)
    if not np.all(np.isfinite(x)):
        return _first(x, np.isfinite(x))
    if x.dtype.kind in "biu":
        x = x.astype(np.float64)  # unsigned numbers have no differences
    if fact.name == "unique":
        values, counts = np.unique(x, return_counts=True)
        return None if np.all(counts == 1) else f" holds {values[counts > 1][0]} twice"
    if fact.name in ("simplex", "one_hot", "unit_norm"):
        return _along_axis(fact, x, tolerance)
    return _of_matrices(fact, x, tolerance)


Numbers = np.ndarray[Any, Any]


def _elementwise(fact: Fact, x: Numbers) -> Numbers | None:
    """Where an elementwise fact holds; None for facts that tie elements together."""
    match fact.name:
        case "positive":
            return x > 0
        case "nonnegative":
            return x >= 0
        case "negative":
            return x < 0
        case "nonpositive":
            return x <= 0
        case "nonzero":
            return x != 0
        case "finite" | "total":
            return np.isfinite(x)
        case "integer_valued":
            return x == np.floor(x)
        case "interval":
            return (x >= fact.args[0]) & (x <= fact.args[1])
        case _:
            return None


def _first(x: Numbers, held: Numbers, what: str = "") -> str | None:
    """The first element at which something does not hold."""
    if np.all(held):
        return None
    at = tuple(int(each[0]) for each in np.nonzero(~np.atleast_1d(held)))
    place = ", ".join(map(str, at)) if held.ndim else ""
    return f"{what}{f'[{place}]' if place else ''} = {np.atleast_1d(x)[at]}"


def _along_axis(fact: Fact, x: Numbers, tolerance: float) -> str | None:
    axis = fact.args[0]
    if not -x.ndim <= axis < x.ndim:
        return f" has {x.ndim} axes"
    if fact.name == "unit_norm":
        sums = np.sum(x * x, axis=axis)
        return _first(sums, np.abs(sums - 1) <= tolerance, f": sum of squares along axis {axis}, ")
    wrong = _first(x, x >= 0 if fact.name == "simplex" else (x == 0) | (x == 1))
    sums = np.asarray(np.sum(x, axis=axis))
    slack = tolerance if fact.name == "simplex" else 0
    return wrong or _first(sums, np.abs(sums - 1) <= slack, f": sum along axis {axis}, ")


def _of_matrices(fact: Fact, x: Numbers, tolerance: float) -> str | None:
    if x.ndim < 2 or (x.shape[-1] != x.shape[-2] and fact.name != "triangular"):
        return f" of shape {x.shape} is no square matrix"
    transposed = np.swapaxes(x, -1, -2)
    scale = np.max(np.abs(x), initial=1.0)
    match fact.name:
        case "symmetric":
            return _first(x, np.abs(x - transposed) <= tolerance * scale)
        case "antisymmetric":
            return _first(x, np.abs(x + transposed) <= tolerance * scale)
        case "positive_definite":
            wrong = _first(x, np.abs(x - transposed) <= tolerance * scale)
            if wrong or not x.size:
                return wrong
            least = np.linalg.eigvalsh(x.astype(np.float64))[..., 0]
            return _first(least, least > 0, ": smallest eigenvalue")
        case "orthogonal":
            product = x @ transposed
            off = np.abs(product - np.eye(x.shape[-1]))
            return _first(product, off <= tolerance * x.shape[-1], ": X Xᵀ")
        case "diagonal":
            return _first(x, (x == 0) | np.eye(x.shape[-1], dtype=bool))
        case "triangular":
            inside = np.tri(*x.shape[-2:], dtype=bool)
            inside = inside if fact.args[0] == "lower" else np.tri(*x.shape[:-3:-1], dtype=bool).T
            return _first(x, (x == 0) | inside)
        case _:
            raise FactError(f"No check is known for the fact {fact}.")
