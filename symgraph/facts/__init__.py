"""Facts about values: all facts there are, what each implies, and how it is checked.

A fact is about exact arithmetic, at every point where the value is defined: `exp(x)` is positive
although it underflows to 0 at -1000. *Open* facts (positive, nonzero, an interval) hold on a
neighbourhood and may be used before differentiating. *Equality* facts (simplex, symmetric, ...) tie
elements together, so using one before differentiating would change the derivative.
"""

from .checks import holds_on, violation
from .fact import (
    OF_SQUARES,
    Fact,
    antisymmetric,
    diagonal,
    finite,
    integer_valued,
    interval,
    is_square,
    negative,
    nonnegative,
    nonpositive,
    nonzero,
    one_hot,
    orthogonal,
    positive,
    positive_definite,
    simplex,
    symmetric,
    total,
    triangular,
    unique,
    unit_norm,
)
from .implications import consistent, implied, stated

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
