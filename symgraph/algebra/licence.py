"""Leave to cancel what may be 0 or no number: what trust="domain" is to the algebra.

Facts license a cancellation where both sides are defined alike. With this leave x / x is 1 and
x - x is 0 all the same: equal where the left side is defined. So equality has a direction. The
value x * y / x may be written as y, but y never as the value x * y / x, though it be computed
anyway. Values whose expressions rest on the leave are taken down, and not remembered as what those
expressions are.
"""

from __future__ import annotations

from ..ir.node import Node

__all__ = ["Licence"]


class Licence:
    """The leave, and who made use of it.

    Attributes
    ----------
    used : int
        How often a step was taken that no fact allows.
    values : set of Node
        Values whose expressions rest on such a step.
    """

    def __init__(self) -> None:
        self.used = 0
        self.values: set[Node] = set()

    def use(self) -> bool:
        """Take note of one step more; it may be taken."""
        self.used += 1
        return True
