"""What is known of a value: the vocabulary of facts, what each implies, and how one is checked.

A fact speaks of exact arithmetic at every point where the value is defined: `exp(x)` is positive
although it underflows to 0 at -1000. *Open* facts (positive, nonzero, an interval) hold on a
neighbourhood and may be used before differentiating; *equality* facts (simplex, symmetric, ...) tie
elements together, so using one before differentiating would change the derivative.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal
from weakref import WeakValueDictionary

import numpy as np

from .errors import FactError

__all__ = [
    "Fact",
    "consistent",
    "diagonal",
    "finite",
    "holds_on",
    "implied",
    "integer_valued",
    "interval",
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
    "unit_norm",
]


class Fact:
    """A named property of a value, such as `positive` or `simplex(axis=-1)`.

    Axes are negative, so that they keep their meaning when a value gains leading axes. Equal facts
    are one object: they are compared and hashed a hundred times a node.

    Parameters
    ----------
    name : str
    args : tuple, hashable
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

    def __setattr__(self, name: str, value: Any) -> None:
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
symmetric = Fact("symmetric")
positive_definite = Fact("positive_definite")
"""Symmetric, with positive eigenvalues."""
orthogonal = Fact("orthogonal")
diagonal = Fact("diagonal")


def interval(low: float, high: float) -> Fact:
    """Every element within [low, high].

    Raises
    ------
    FactError
        If `low > high`.
    """
    if not low <= high:
        raise FactError(f"interval({low}, {high}) is empty.")
    return Fact("interval", (float(low), float(high)))


def simplex(axis: int = -1) -> Fact:
    """Nonnegative, and summing to one along `axis`."""
    return Fact("simplex", (int(axis),))


def one_hot(axis: int = -1) -> Fact:
    """One 1 and otherwise 0 along `axis`."""
    return Fact("one_hot", (int(axis),))


def unit_norm(axis: int = -1) -> Fact:
    """Squares summing to one along `axis`."""
    return Fact("unit_norm", (int(axis),))


def triangular(which: Literal["lower", "upper"]) -> Fact:
    """A lower or upper triangular matrix."""
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


def consistent(facts: Iterable[Fact]) -> dict[Fact, Fact | None]:
    """As `implied`, refusing contradictions.

    Raises
    ------
    FactError
        If two facts cannot hold together.
    """
    found = implied(facts)
    for one, other in _CLASHES:
        if one in found and other in found:
            raise FactError(f"A value cannot be {one} and {other} at once.")
    bounds = [fact.args for fact in found if fact.name == "interval"]
    if bounds:
        low, high = max(low for low, _ in bounds), min(high for _, high in bounds)
        if low > high:
            raise FactError(f"The intervals {bounds} have no number in common.")
        if low == high == 0 and nonzero in found:
            raise FactError("A value cannot be nonzero and within [0, 0] at once.")
    return found


def holds_on(fact: Fact, array: np.ndarray[Any, Any], tolerance: float = 1e-6) -> bool:
    """Whether the fact is true of these numbers (sums and products within `tolerance`)."""
    x = np.asarray(array)
    match fact.name:
        case "positive":
            return bool(np.all(x > 0))
        case "nonnegative":
            return bool(np.all(x >= 0))
        case "negative":
            return bool(np.all(x < 0))
        case "nonpositive":
            return bool(np.all(x <= 0))
        case "nonzero":
            return bool(np.all(x != 0))
        case "finite" | "total":
            return bool(np.all(np.isfinite(x)))
        case "integer_valued":
            return bool(np.all(x == np.floor(x)))
        case "interval":
            return bool(np.all((x >= fact.args[0]) & (x <= fact.args[1])))
        case "simplex":
            sums = np.sum(x, axis=fact.args[0])
            return bool(np.all(x >= 0) and np.allclose(sums, 1, atol=tolerance, rtol=0))
        case "one_hot":
            ones = np.sum(x == 1, axis=fact.args[0])
            return bool(np.all((x == 0) | (x == 1)) and np.all(ones == 1))
        case "unit_norm":
            return bool(np.allclose(np.sum(x * x, axis=fact.args[0]), 1, atol=tolerance))
        case _:
            return _matrix_fact_holds(fact, x, tolerance)


def _matrix_fact_holds(fact: Fact, x: np.ndarray[Any, Any], tolerance: float) -> bool:
    transposed = np.swapaxes(x, -1, -2)
    match fact.name:
        case "symmetric":
            return bool(np.allclose(x, transposed, atol=tolerance))
        case "positive_definite":
            return bool(
                np.allclose(x, transposed, atol=tolerance) and np.all(np.linalg.eigvalsh(x) > 0)
            )
        case "orthogonal":
            return bool(np.allclose(x @ transposed, np.eye(x.shape[-1]), atol=tolerance))
        case "diagonal":
            return bool(np.all(np.triu(x, 1) == 0) and np.all(np.tril(x, -1) == 0))
        case "triangular":
            outside = np.triu(x, 1) if fact.args[0] == "lower" else np.tril(x, -1)
            return bool(np.all(outside == 0))
        case _:
            raise FactError(f"No check is known for the fact {fact}.")
