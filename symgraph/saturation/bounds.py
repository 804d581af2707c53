"""How far the strategy `saturate` goes."""

from __future__ import annotations

from ..records import record

__all__ = ["SaturationBounds"]


@record
class SaturationBounds:
    """The bounds of `strategy="saturate"`: counts, so that results do not depend on time.

    Parameters
    ----------
    iterations : int
        Rounds of matching.
    nodes : int
        The number of e-nodes above which none is added.
    window : int
        How many operations are saturated together; a larger graph is taken in parts.
    exact_below : int
        The most e-nodes for which an integer program finds the cheapest graph.
    rounds : int
        How often saturation and the greedy pass take turns.

    Examples
    --------
    >>> sg.SaturationBounds(iterations=3).nodes
    1200
    """

    iterations: int = 6
    nodes: int = 1200
    window: int = 40
    exact_below: int = 150
    rounds: int = 3
