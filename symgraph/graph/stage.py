"""A stage: a graph, the graph it is a derivative of, and the graph before it was simplified."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Literal, TypeAlias, cast

from ..array.handle import Array
from ..autodiff.derivations import Derivation
from ..autodiff.jacobians import Record
from ..ir.dag import Dag
from ..ir.node import Node
from ..passes.simplify import Effort
from ..records import record
from ..rewriting.index import RuleSet
from ..rewriting.rule import Soundness

__all__ = ["Chosen", "Derive", "Kept", "Stage", "lineage", "nodes_in"]

Derive: TypeAlias = Callable[[Dag, Record], Dag]
"""From a graph to one of its derivatives; choices it makes are recorded."""
Chosen: TypeAlias = Callable[[Dag], Collection[Node]]
"""The values of a function that are kept."""
Kept: TypeAlias = tuple[str, ...] | Literal[True]
"""Names of kept values; True stands for all names."""


@record
class Stage:
    """A graph and its descent.

    Parameters
    ----------
    dag : Dag
    forward : Stage, optional
        The graph it is a derivative of, and `derive`, which derives it from that graph.
    before : Stage, optional
        The graph before it was simplified.
    by : tuple of grade, RuleSet and effort, optional
        How it was simplified.
    kept : tuple of str, or True
        Names of values that `simplify` keeps, in later stages too; True stands for all names.
    plain : bool
        Whether `dag` is what `derive` gives of the graph `forward`.
    """

    dag: Dag
    forward: Stage | None = None
    derive: Derive | None = None
    before: Stage | None = None
    by: tuple[Soundness, RuleSet, Effort] | None = None
    kept: Kept = ()
    plain: bool = False


def lineage(last: Stage) -> list[Stage]:
    """A stage and all it comes from, the oldest first."""
    order: dict[int, Stage] = {}
    stack = [last]
    while stack:
        at = stack[-1]
        before = [each for each in (at.before, at.forward) if each is not None]
        waiting = [each for each in before if id(each) not in order]
        if waiting:
            stack.extend(waiting)
        else:
            order[id(stack.pop())] = at
    return list(order.values())


def nodes_in(value: object) -> Iterator[Node]:
    """Nodes that a derivation refers to: tangents, cotangents, vectors."""
    if isinstance(value, Array):
        yield value.node
    elif isinstance(value, Derivation):
        for each in value.options.values():
            yield from nodes_in(each)
    elif isinstance(value, (tuple, list)):
        for each in cast("Sequence[Any]", value):
            yield from nodes_in(each)
