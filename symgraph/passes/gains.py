"""Whether other spellings of the outputs are a gain: shorter, and no digit or number is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ..ir.cost import op_count
from ..ir.node import Node
from ..ir.walks import reachable, substituted

__all__ = ["Change", "Loses", "changed_one_by_one", "is_shorter", "keeps_digits"]

_NODES_WALKED = 200_000
"""So many nodes are walked for changes that are tried one by one, and for `_FEWEST` at least."""

_FEWEST = 8

Change: TypeAlias = tuple[Node, Node]
"""A value, and what may stand in its place."""

Loses: TypeAlias = Callable[[Node, Node], bool]
"""`loses(new, old)`: whether a new spelling of an output loses digits or range."""


def keeps_digits(new: Sequence[Node], old: Sequence[Node], loses: Loses) -> bool:
    """Whether no output loses digits or range."""
    return not any(map(loses, new, old))


def is_shorter(new: Sequence[Node], old: Sequence[Node], loses: Loses) -> bool:
    """Whether the new outputs take fewer operations, and none loses digits or range."""
    return op_count(new) < op_count(old) and keeps_digits(new, old, loses)


def changed_one_by_one(
    outputs: Sequence[Node],
    changes: Callable[[Sequence[Node]], Iterator[Change]],
    is_gain: Callable[[Sequence[Node], Sequence[Node]], bool],
) -> list[Node]:
    """The outputs after each change that is a gain; of a large graph few are tried.

    Parameters
    ----------
    outputs : sequence of Node
    changes : callable
        Gives the changes of a graph, whose outputs it takes.
    is_gain : callable
        `is_gain(new, old)`: whether new outputs are better.
    """
    current, failed = list(outputs), set[Change]()
    left = max(_FEWEST, _NODES_WALKED // len(reachable(current)))
    while left:
        for node, new in changes(current):
            if (node, new) in failed or not left:
                continue
            left -= 1
            tried = substituted(current, {node: new})
            if is_gain(tried, current):
                current = tried
                break
            failed.add((node, new))
        else:
            break
    return current
