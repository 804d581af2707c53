"""A topological order chosen for memory.

Four orders are tried:

- the order in which nodes were made;
- the same, but a step that releases memory runs as soon as it can (a weight gradient releases its
  cotangent);
- depth first from the outputs, larger subtrees first (Sethi and Ullman, JACM 17(4), 1970);
- greedily, least growth first.

The order of least peak wins, the earliest of equals, so the order is the same in every run. Each
takes linear time up to a logarithm.

A planned graph brings its own order: recomputing a value early would save nothing.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence

from ..ir.dag import Dag
from ..ir.node import Node
from .memory_model import Model, least_bytes, model_of, profile, workspace_bytes
from .ownership import bases

__all__ = ["list_scheduled", "place", "scheduled"]

_LARGE = 20_000
"""Above this many steps only the first alternative is tried, for all would take seconds."""


def scheduled(dag: Dag, dims: Mapping[str, int] | None = None) -> list[Node]:
    """Every node of the graph, operands first, in an order of low peak memory.

    Parameters
    ----------
    dag : Dag
        If it has a `schedule`, this is the order.
    dims : mapping of str to int, optional
        Sizes of named dimensions; without them each dimension counts as `NOMINAL_DIM`.
    """
    if dag.schedule is not None:
        return list(dag.schedule)
    serial = list(dag.nodes)
    if any(node.copy for node in serial):
        return _recomputed_late(serial)
    model = model_of(serial, dag.outputs, dims, work=workspace_bytes)
    best = range(len(model))
    least = profile(model, best).peak
    # No order needs less than its largest step or its results.
    if least > least_bytes(model):
        for order in _ORDERS[:1] if len(model) > _LARGE else _ORDERS:
            candidate = _copies_last(model, order(model))
            peak = profile(model, candidate).peak
            if peak < least:
                best, least = candidate, peak
    return _with_views(serial, model, best)


def _with_views(serial: Sequence[Node], model: Model, sequence: Sequence[int]) -> list[Node]:
    """The full order: a node that owns no memory stands just before its first reader."""
    if isinstance(sequence, range):
        return list(serial)
    placed: set[Node] = set()
    order: list[Node] = []
    for node in [*[model.nodes[step] for step in sequence[: len(model) - model.copies]], *serial]:
        place(node, order, placed)
    return order


def place(node: Node, order: list[Node], placed: set[Node]) -> None:
    """Add a node to the order, after the operands that are missing."""
    stack = [node]
    while stack:
        top = stack[-1]
        missing = [operand for operand in top.operands if operand not in placed]
        if missing:
            stack.extend(reversed(missing))
            continue
        stack.pop()
        if top not in placed:
            placed.add(top)
            order.append(top)


def _copies_last(model: Model, order: list[int]) -> list[int]:
    """The order with the copies of outputs at the end."""
    first = len(model) - model.copies
    return [*[step for step in order if step < first], *range(first, len(model))]


def _recomputed_late(serial: Sequence[Node]) -> list[Node]:
    """Recomputed values stand just before their readers, all others in the order they were made."""
    owner = bases(serial)
    late = {node for node in serial if node.copy}
    late.update(node for node in serial if node.op.view and owner[node] in late)
    placed: set[Node] = set()
    order: list[Node] = []
    for node in serial:
        if node not in late:
            place(node, order, placed)
    for node in serial:
        place(node, order, placed)
    return order


def _consumers(model: Model) -> list[list[int]]:
    readers: list[list[int]] = [[] for _ in model.sizes]
    for step, reads in enumerate(model.reads):
        for read in reads:
            readers[read].append(step)
    return readers


def list_scheduled(model: Model, priority: Callable[[int, int], tuple[int, int]]) -> list[int]:
    """List scheduling: of the ready steps the one of least priority(growth, step) comes next.

    The growth of a step is the bytes it adds, less the bytes it releases as its operands' last
    reader. It only falls while other readers run. So a heap entry is out of date when the growth
    has fallen since, and the step's better entry is met first.
    """
    readers = _consumers(model)
    unread = [len(each) for each in readers]
    kept = set(model.kept)
    waiting = [len(reads) for reads in model.reads]
    growth = list(model.sizes)
    done = [False] * len(model)
    heap: list[tuple[tuple[int, int], int]] = []

    def credit_last_reader(step: int) -> None:
        """If one reader of `step` is left, count the bytes of `step` as released by it."""
        if unread[step] == 1 and step not in kept:
            last = next(reader for reader in readers[step] if not done[reader])
            growth[last] -= model.sizes[step]
            if waiting[last] == 0:
                heapq.heappush(heap, (priority(growth[last], last), last))

    for step, count in enumerate(waiting):
        if count == 0:
            heap.append((priority(growth[step], step), step))
    heapq.heapify(heap)
    order: list[int] = []
    for step in range(len(model)):
        credit_last_reader(step)
    while heap:
        _, step = heapq.heappop(heap)
        if done[step]:
            continue
        done[step] = True
        order.append(step)
        for reader in readers[step]:
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heapq.heappush(heap, (priority(growth[reader], reader), reader))
        for read in model.reads[step]:
            unread[read] -= 1
            credit_last_reader(read)
    return order


def _releasing_first(model: Model) -> list[int]:
    return list_scheduled(model, lambda growth, step: (-1 if growth < 0 else 0, step))


def _least_growth(model: Model) -> list[int]:
    return list_scheduled(model, lambda growth, step: (growth, step))


def _depth_first(model: Model) -> list[int]:
    """Post-order from the results; the operand that needs more memory comes first."""
    need = _sethi_ullman(model)
    readers = _consumers(model)
    kept = set(model.kept)
    roots = [step for step in range(len(model)) if step in kept or not readers[step]]
    done = [False] * len(model)
    order: list[int] = []
    for root in roots:
        stack = [root]
        while stack:
            step = stack[-1]
            missing = [read for read in model.reads[step] if not done[read]]
            if missing and not done[step]:
                stack.extend(sorted(missing, key=lambda each: (need[each], -each)))
                continue
            stack.pop()
            if not done[step]:
                done[step] = True
                order.append(step)
    return order


def _sethi_ullman(model: Model) -> list[int]:
    """Sethi-Ullman numbers in bytes: the memory a subtree needs if it shares no node."""
    need: list[int] = []
    for reads, size in zip(model.reads, model.sizes, strict=True):
        held = most = 0
        for read in sorted(reads, key=lambda each: model.sizes[each] - need[each]):
            most = max(most, held + need[read])
            held += model.sizes[read]
        need.append(max(most, held + size))
    return need


_ORDERS = (_releasing_first, _depth_first, _least_growth)
