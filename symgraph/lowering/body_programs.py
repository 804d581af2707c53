"""Programs of loops' bodies, made once for the plans of one graph.

Plans differ in the order of a graph's nodes alone. The bodies of its loops are the same in all of
them, and so are the bodies within these; a search of some hundred plans would draft each body again
for each plan.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from ..ir.dag import Dag
from .statements import Program

__all__ = ["bodies_kept", "program_of_body"]

_kept: ContextVar[dict[tuple[int, int], tuple[Dag, Program]] | None]
_kept = ContextVar("kept programs of bodies", default=None)
"""By the identity of a body's graph and the number of its first constant: the graph, the program.

The graph is held, so that no other one gets its identity.
"""


@contextmanager
def bodies_kept() -> Generator[None]:
    """Within, the programs of bodies are made once."""
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def program_of_body(dag: Dag, constants_from: int, make: Callable[[], Program]) -> Program:
    """The program of a body's graph, as `make` gives it; made before, if programs are kept."""
    kept = _kept.get()
    if kept is None:
        return make()
    key = (id(dag), constants_from)
    if key not in kept:
        kept[key] = (dag, make())
    return kept[key][1]
