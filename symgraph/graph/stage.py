"""A stage: a graph, the graph it is a derivative of, and the graph before it was simplified."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..autodiff.jacobians import Record
from ..ir.dag import Dag
from ..ir.node import Node
from ..passes.simplify import Effort
from ..rewriting.index import RuleSet
from ..rewriting.rule import Soundness

__all__ = ["Chosen", "Derive", "Kept", "Stage"]

Derive: TypeAlias = Callable[[Dag, Record], Dag]
"""From a graph to one of its derivatives; choices it makes are recorded."""
Chosen: TypeAlias = Callable[[Dag], Collection[Node]]
"""The values of a function that are kept."""
Kept: TypeAlias = tuple[str, ...] | Literal[True]
"""Names of kept values; True stands for all names."""


@dataclass(frozen=True, slots=True)
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
