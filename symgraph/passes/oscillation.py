"""Rounds of simplification that go to and fro: when they are over, and which graph is taken."""

from __future__ import annotations

from ..ir.cost import op_count
from ..ir.node import Node

__all__ = ["Oscillation", "cheapest_of_cycle"]

_SWINGS = 2
"""After so many rounds in which rules lengthen what the algebra shortens again, but not below the
shortest graph so far, the graph is at rest: rules solve a system where its inverse is computed
anyway."""

_CREEPS, _LITTLE = 2, 2
"""After so many rounds, each of which gains at most so many operations, signs move before the next
round: rules and algebra take a negation along a loop one step a round."""


class Oscillation:
    """Rounds in a row in which rules lengthen what the algebra shortens again.

    Parameters
    ----------
    outputs : list of Node
        The graph before the first round.

    Attributes
    ----------
    shortest : list of Node
        The shortest graph so far.
    least : int
        Its number of operations.
    gain : float
        The part of its operations that the last round has gained.
    """

    def __init__(self, outputs: list[Node]) -> None:
        self.shortest = outputs
        self.least = self._length = op_count(outputs)
        self._count = self._small_gains = 0
        self.gain = 1.0

    @property
    def are_enough(self) -> bool:
        """Whether the graph is at rest."""
        return self._count >= _SWINGS

    @property
    def creep(self) -> bool:
        """Whether round after round gains an operation or two, as a sign on its way does."""
        return self._small_gains >= _CREEPS

    def note(self, before: list[Node], rewritten: list[Node], outputs: list[Node]) -> None:
        """Count a round: the graph before it, after the rules, and after the algebra."""
        lengthened = rewritten != before and op_count(rewritten) > self._length
        length = op_count(outputs)
        swung = lengthened and length >= self.least
        self._count = self._count + 1 if swung else 0
        self.gain = 1 - length / max(self._length, 1)
        gained_little = 0 < self._length - length <= _LITTLE
        self._small_gains = self._small_gains + 1 if gained_little else 0

    def measure(self, outputs: list[Node]) -> None:
        """Take a graph with which a round ends; one more swing is allowed if it is the shortest."""
        self._length = op_count(outputs)
        if self._length < self.least:
            self.shortest, self.least = outputs, self._length
            self._count = min(self._count, _SWINGS - 1)


def cheapest_of_cycle(last: list[Node], seen: dict[tuple[Node, ...], int]) -> list[Node]:
    """The last graph; if the rounds came back to an earlier one, the cheapest since then.

    Rules and algebra may prefer different forms of equal cost. The first such form stays, so that
    simplifying again changes nothing.
    """
    first = seen.get(tuple(last), len(seen))
    cycle = [list(outputs) for outputs, at in seen.items() if at >= first]
    return min(cycle, key=op_count, default=last)
