"""Random numbers for tests, of which given facts are true."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from ..errors import FactError
from ..facts import Fact, consistent, holds_on
from ..records import record

__all__ = ["GradientCase", "Operand", "random_values"]

Numbers: TypeAlias = "np.ndarray[Any, Any]"


def random_values(
    shape: tuple[int, ...],
    dtype: DTypeLike = "float64",
    facts: Iterable[Fact] = (),
    rng: np.random.Generator | None = None,
) -> Numbers:
    """Random numbers of which the facts are true.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    facts : iterable of Fact
        Their axes are counted from the end.
    rng : Generator, optional

    Raises
    ------
    FactError
        If the facts contradict each other, or if no method is known that satisfies all of them.
    """
    rng = rng or np.random.default_rng(0)
    kind = np.dtype(dtype).kind
    known = consistent(facts)
    structured = [fact for fact in known if fact.name in _MAKERS]
    low, high = _range(known)
    if kind in "ub":
        low, high = max(low, 0.0), max(high, 0.0) if kind == "u" else 1.0
    x = rng.uniform(low, high, shape)
    if kind in "iub" or Fact("integer_valued") in known:
        x = np.clip(np.rint(x), np.ceil(low), np.floor(high))
        if Fact("nonzero") in known:
            x = np.where(x == 0, 1.0 if high >= 1 else -1.0, x)
    for fact in sorted(structured, key=lambda each: list(_MAKERS).index(each.name)):
        x = _MAKERS[fact.name](x, rng, *fact.args)
        if fact.name in _COMPLETE:
            break
    x = np.asarray(x).astype(dtype)
    for fact in known:
        if not holds_on(fact, x, 1e-5):
            raise FactError(f"No method is known for random numbers that are {fact}.")
    return x


def _range(known: Iterable[Fact]) -> tuple[float, float]:
    low, high = -2.0, 2.0
    for fact in known:
        match fact.name:
            case "interval":
                low, high = max(low, fact.args[0]), min(high, fact.args[1])
                if low > high:
                    low = high = min(max(fact.args[0], low), fact.args[1])
            case "positive":
                low = max(low, 0.1)
            case "nonnegative":
                low = max(low, 0.0)
            case "negative":
                high = min(high, -0.1)
            case "nonpositive":
                high = min(high, 0.0)
            case _:
                pass
    return low, high


def _on_simplex(x: Numbers, rng: np.random.Generator, axis: int) -> Numbers:
    weights = np.exp(x)
    return weights / np.sum(weights, axis=axis, keepdims=True)


def _one_hot(x: Numbers, rng: np.random.Generator, axis: int) -> Numbers:
    hot = np.expand_dims(np.argmax(x, axis=axis), axis)
    result = np.zeros_like(x)
    np.put_along_axis(result, hot, 1.0, axis=axis)
    return result


def _unit(x: Numbers, rng: np.random.Generator, axis: int) -> Numbers:
    return x / np.sqrt(np.sum(x * x, axis=axis, keepdims=True))


def _positive_definite(x: Numbers, rng: np.random.Generator) -> Numbers:
    return x @ np.swapaxes(x, -1, -2) + np.eye(x.shape[-1])


def _orthogonal(x: Numbers, rng: np.random.Generator) -> Numbers:
    return np.linalg.qr(rng.normal(size=x.shape))[0]


def _symmetric(x: Numbers, rng: np.random.Generator) -> Numbers:
    return (x + np.swapaxes(x, -1, -2)) / 2


def _antisymmetric(x: Numbers, rng: np.random.Generator) -> Numbers:
    return (x - np.swapaxes(x, -1, -2)) / 2


def _diagonal(x: Numbers, rng: np.random.Generator) -> Numbers:
    return x * np.eye(x.shape[-1])


def _triangular(x: Numbers, rng: np.random.Generator, which: str) -> Numbers:
    return np.tril(x) if which == "lower" else np.triu(x)


_MAKERS: dict[str, Callable[..., Numbers]] = {
    "one_hot": _one_hot,
    "simplex": _on_simplex,
    "unit_norm": _unit,
    "positive_definite": _positive_definite,
    "orthogonal": _orthogonal,
    "diagonal": _diagonal,
    "triangular": _triangular,
    "symmetric": _symmetric,
    "antisymmetric": _antisymmetric,
}
_COMPLETE = ("one_hot", "simplex", "positive_definite", "orthogonal")
"""Facts whose makers also satisfy all facts that they imply."""


@record
class Operand:
    """The random numbers for an operand of a test.

    Parameters
    ----------
    low, high : float
        Numbers are drawn between these bounds, away from both.
    shape : tuple of int or None
        None if any shape fits, as for elementwise operations.
    facts : tuple of Fact
        Further facts of the numbers.
    """

    low: float = -2.0
    high: float = 2.0
    shape: tuple[int, ...] | None = None
    facts: tuple[Fact, ...] = ()

    def draw(
        self,
        rng: np.random.Generator,
        shape: tuple[int, ...] | None = None,
        dtype: DTypeLike = "float64",
    ) -> Numbers:
        """Numbers of `shape`, by default the operand's own."""
        size = self.shape if self.shape is not None else (2, 3) if shape is None else shape
        facts = self.facts
        if not facts:
            margin = 0.05 * (self.high - self.low)
            return rng.uniform(self.low + margin, self.high - margin, size).astype(dtype)
        return random_values(size, dtype, facts, rng)


@record
class GradientCase:
    """A row of a table of gradient tests.

    Parameters
    ----------
    op : str
        The name of the tested operation in the table of operations.
    call : callable
        Takes a symbolic array for each operand, and gives one floating-point array.
    operands : tuple of Operand
    analytic : bool
        Whether the kernels work on complex numbers, so that the complex step applies.
    order : int
        The highest order of derivatives.
    note : str
        Distinguishes the row from others of the same operation.
    """

    op: str
    call: Callable[..., Any]
    operands: tuple[Operand, ...] = (Operand(),)
    analytic: bool = True
    order: int = 2
    note: str = ""

    def __str__(self) -> str:
        return f"{self.op}-{self.note}" if self.note else self.op

    @property
    def elementwise(self) -> bool:
        """Whether the call takes operands of any shapes that broadcast."""
        return all(operand.shape is None for operand in self.operands)
