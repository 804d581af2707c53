"""The state of the exact search after some gradient steps: the moves it has, the values due.

Sets of steps are whole numbers, a bit for each forward value or gradient step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from ..records import record

__all__ = ["Due", "GradientMove", "Items", "Turn", "bits"]


def bits(mask: int) -> Iterator[int]:
    """The bits of a mask, each as a mask."""
    while mask:
        low = mask & -mask
        yield low
        mask ^= low


Items: TypeAlias = "tuple[tuple[int, int, int], ...]"


class GradientMove(NamedTuple):
    """A gradient step that may come next.

    Parameters
    ----------
    needs : int
        The forward values it reads.
    adds : int
        Bytes it needs beside all that is live.
    after : int
        The gradient steps done then.
    useful : int
        The forward values that may be needed then.
    step : int
        The step of the model.
    work : int
        Bytes it needs where it takes over the buffer of a forward value.
    takes : tuple of int
        These forward values, if they are read later too.
    """

    needs: int
    adds: int
    after: int
    useful: int
    step: int
    work: int
    takes: tuple[int, ...]


class Due(NamedTuple):
    """The demands of a due gradient step on the bound.

    Parameters
    ----------
    needs : int
        The forward values it reads.
    fixed : int
        Those of them whose buffer it cannot take over.
    beside : int
        Bytes that are surely live beside these when it runs: gradient values and its result.
    carried : int
        Bytes of those that are surely live before.
    last : int
        Those of the values it reads that no later step reads.
    later : int
        The forward values that it or a later step reads.
    items : tuple of (int, int, int)
        The same as items of a knapsack: value, bytes and cost, the cheapest for each byte first.
        Values much smaller than others are left out.
    unit : int
        All bytes of items are multiples of it.
    small : int
        Bytes of the values that are left out.
    """

    needs: int
    fixed: int
    beside: int
    carried: int
    last: int
    later: int
    items: Items
    unit: int
    small: int


@record
class Turn:
    """The state after some gradient steps, for any set of live forward values.

    Parameters
    ----------
    held : int
        Bytes of live gradient values.
    needed : int
        The forward values that gradient steps will read, and those that are results.
    useful : int
        The forward values that are needed, or of which these can be computed.
    moves : tuple of GradientMove
        The steps that may come next.
    shrinking : tuple of GradientMove
        Those of them that leave no more gradient bytes live.
    due : tuple of Due
        What the bound asks of some of them.
    """

    held: int
    needed: int
    useful: int
    moves: tuple[GradientMove, ...]
    shrinking: tuple[GradientMove, ...]
    due: tuple[Due, ...]
