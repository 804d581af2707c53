"""Sums and differences in all orders of their terms."""

from __future__ import annotations

from ...rewriting import Identity, rule
from ...rewriting.guards import Real


@rule(sound="rounding")
def sums_associate(x: Real, y: Real, z: Real) -> Identity:
    """$(x + y) + z = x + (y + z)$."""
    return (x + y) + z, x + (y + z)


@rule(sound="rounding")
def sum_after_difference(x: Real, y: Real, z: Real) -> Identity:
    """$(x - y) + z = (x + z) - y$."""
    return (x - y) + z, (x + z) - y


@rule(sound="rounding")
def difference_after_sum(x: Real, y: Real, z: Real) -> Identity:
    """$(x + z) - y = x + (z - y)$."""
    return (x + z) - y, x + (z - y)


@rule(sound="rounding")
def difference_of_difference(x: Real, y: Real, z: Real) -> Identity:
    """$x - (y - z) = (x + z) - y$."""
    return x - (y - z), (x + z) - y


@rule(sound="rounding")
def difference_of_sum(x: Real, y: Real, z: Real) -> Identity:
    """$x - (y + z) = (x - y) - z$."""
    return x - (y + z), (x - y) - z


@rule(sound="rounding")
def difference_twice(x: Real, y: Real, z: Real) -> Identity:
    """$(x - y) - z = x - (y + z)$."""
    return (x - y) - z, x - (y + z)
