"""Branches that complete one another, comparisons with a difference, and a number times itself."""

from __future__ import annotations

from symgraph.numpy import greater, less, square, where
from symgraph.rewriting import Boolean, Identity, Real, rule


# -- branches --------------------------------------------------------------------------------------
@rule(sound="rounding")
def choices_that_complete(c: Boolean, x: Real, y: Real) -> Identity:
    """Where one is masked the other is not: their sum is a choice (but -0.0 + 0 is +0.0)."""
    return where(c, x, 0) + where(c, 0, y), where(c, x, y)


@rule(sound="rounding")
def choices_between(c: Boolean, x: Real, y: Real) -> Identity:
    """What is left out of one choice stands in the other."""
    return where(c, x, 0) - where(c, 0, y), where(c, x, -y)


# -- comparisons -----------------------------------------------------------------------------------
@rule(sound="exact")
def difference_above_zero(x: Real, y: Real) -> Identity:
    r"""$x - y > 0 \iff x > y$, exactly: differences underflow gradually, and inf - inf is NaN."""
    return greater(x - y, 0), greater(x, y)


@rule(sound="exact")
def difference_below_zero(x: Real, y: Real) -> Identity:
    r"""$x - y < 0 \iff x < y$, as above."""
    return less(x - y, 0), less(x, y)


# -- squares ---------------------------------------------------------------------------------------
@rule(sound="exact", measure="products of a number with itself")
def times_itself(x: Real) -> Identity:
    r"""One spelling for $x \cdot x$, so that equal squares are one node."""
    return x * x, square(x)
