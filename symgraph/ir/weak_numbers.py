"""Mark of numbers that meet arrays on their own terms."""

from __future__ import annotations

__all__ = ["Weak"]


class Weak:
    """Of this an array's operators leave `x + n` to `n`, as if they did not know it."""

    __slots__ = ()
