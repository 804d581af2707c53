"""The licence to cancel a value that may be 0 or NaN, which trust="domain" gives.

Facts allow a cancellation if both sides are defined at the same points. The licence also allows
x / x = 1 and x - x = 0, which hold where the left side is defined. So equality has a direction:
x * y / x may be written as y, but y is never written as x * y / x, even if that is computed anyway.
The licence records the values whose expressions depend on it. They do not stand for their
expressions elsewhere.
"""

from __future__ import annotations

from ...ir.node import Node

__all__ = ["Licence"]


class Licence:
    """The licence to cancel without a fact, and a record of its uses.

    Attributes
    ----------
    used : int
        The number of steps that no fact allowed.
    values : set of Node
        Values whose expressions depend on such a step.
    """

    def __init__(self) -> None:
        self.used = 0
        self.values: set[Node] = set()

    def use(self) -> bool:
        """Count one more step. It is always allowed."""
        self.used += 1
        return True
