"""The memory model: which values own bytes, how long they live, how many bytes a sequence needs.

One model serves the schedule, the liveness report and the planner of recomputation, so their
figures agree. It says:

- a value lives from the step that computes it to the last step that reads it; outputs live to the
  end;
- a view (transpose, slice, broadcast, reshape of contiguous memory) owns nothing: its base lives as
  long as any of its views is read;
- inputs and constants are the caller's and are not counted, nor are views of them;
- a result is allocated before its operands are released, unless an operand of the same dtype and
  shape dies there and the operation writes through `out=`: then the result takes over its buffer
  (`reuse`);
- an operation made of several calls needs room for their intermediate results (`work`);
- the peak is the most bytes live at any step, its operands, result and working room included.

Steps are numbers here. A sequence may compute a value again. A read then means the latest
computation before it, and each computation lives to its own last read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from ..ir.cost import node_flops, nominal
from ..ir.dims import Dim, Shape, resolve, same_shape
from ..ir.interpreter import results_read
from ..ir.node import Node
from ..ir.traits import Arrangement
from ..ops.results import PROJECT
from ..records import record
from .joins_in_place import joins_of
from .ownership import bases

__all__ = [
    "MemoryProfile",
    "Model",
    "least_bytes",
    "model_of",
    "node_bytes",
    "profile",
    "resolved",
    "workspace_bytes",
]


@record
class Model:
    """Steps that own memory, numbered in one topological order.

    Parameters
    ----------
    nodes : tuple of Node
        The node each step computes.
    reads : tuple of tuple of int
        Steps whose memory each step reads, directly or through views, each once.
    sizes : tuple of int
        Bytes of each result.
    costs : tuple of int
        Floating-point operations of each step, plus one.
    takes : tuple of tuple of int
        Operands whose buffer the result of each step may take over, where they die.
    kept : tuple of int
        Steps whose results live to the end.
    copies : int
        How many of the last steps copy an output that may not go to the caller as it is: a view,
        an input, a second name of one value, a scalar.
    work : tuple of int
        Bytes each step needs while it runs, beside operands and result; empty if no step needs any.
    """

    nodes: tuple[Node, ...]
    reads: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    costs: tuple[int, ...]
    takes: tuple[tuple[int, ...], ...]
    kept: tuple[int, ...]
    copies: int = 0
    work: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.sizes)

    def room(self, step: int) -> int:
        """Bytes a step needs beside its operands, if it takes over none of their buffers."""
        return self.sizes[step] + (self.work[step] if self.work else 0)

    def room_taking_over(self, step: int) -> int:
        """Bytes a step needs beside its operands, if it takes over one of their buffers."""
        return self.work[step] if self.work else 0


@record
class MemoryProfile:
    """The memory a sequence of steps needs.

    Parameters
    ----------
    bytes_at : list of int
        Bytes live at each position of the sequence.
    last_read : list of int
        Where the value of each position is read last: the position itself if it is never read, the
        length of the sequence if it is kept.
    taken_over : list of int
        The position whose buffer each position takes over, or -1.
    peak, at : int
        The most bytes, and the first position that needs them.
    """

    bytes_at: list[int]
    last_read: list[int]
    taken_over: list[int]
    peak: int
    at: int


def resolved(value: Dim, dims: Mapping[str, int] | None) -> int:
    """A size as a number; a named dimension counts as `NOMINAL_DIM` where `dims` is None."""
    if isinstance(value, int):
        return value
    return nominal(value) if dims is None else int(resolve(value, dims))


def node_bytes(
    node: Node, dims: Mapping[str, int] | None, keep: tuple[bool, ...] | None = None
) -> int:
    """Bytes of all results of a node, or of those that are kept."""
    kept = keep or (True,) * len(node.results)
    return sum(
        resolved(aval.nbytes, dims) for aval, each in zip(node.results, kept, strict=True) if each
    )


def workspace_bytes(node: Node, dims: Mapping[str, int] | None) -> int:
    """Bytes that the kernel of a node says it needs while it runs, beside operands and results."""
    operands: list[Any] = [
        operand.results[0] if len(operand.results) == 1 else operand.results
        for operand in node.operands
    ]
    return resolved(node.op.workspace(node.results[0], *operands, **node.params), dims)


def model_of(
    order: Sequence[Node],
    outputs: Iterable[Node],
    dims: Mapping[str, int] | None = None,
    *,
    reuse: bool = True,
    costs: bool = False,
    work: Callable[[Node, Mapping[str, int] | None], int] | None = None,
    joins: bool = False,
) -> Model:
    """The steps of `order` that own memory.

    Parameters
    ----------
    order : sequence of Node
        Operands before consumers.
    outputs : iterable of Node
    dims : mapping of str to int, optional
        Sizes of named dimensions.
    reuse : bool
        Whether results may take over the buffers of dying operands.
    costs : bool
        Whether to count floating-point operations; else each step costs 1.
    work : callable, optional
        Gives the bytes a node needs while it is computed, from the node and `dims`.
    joins : bool
        Whether the pieces of joined results are written in place, as in a planned program.
    """
    owner = bases(order)
    known: _Bytes = {}
    number, reads, takes, sizes = _owning_steps(order, owner, dims, known, reuse)
    steps = list(number)
    costs_of = [resolved(node_flops(node), dims) + 1 if costs else 1 for node in steps]
    kept: list[int] = []
    if joins:
        kept.extend(_with_pieces_in_place(order, outputs, number, sizes))
    for node in _copied_outputs(outputs, owner, kept, number):
        base = owner[node]
        kept.append(len(steps))
        steps.append(node)
        reads.append(() if base is None else (number[base],))
        sizes.append(_bytes_once(node, dims, known))
        takes.append(())
        costs_of.append(1)
    return Model(
        tuple(steps),
        tuple(reads),
        tuple(sizes),
        tuple(costs_of),
        tuple(takes),
        tuple(sorted(kept)),
        len(steps) - len(number),
        tuple([0 if node not in number else work(node, dims) for node in steps]) if work else (),
    )


_Bytes: TypeAlias = dict[tuple[np.dtype[Any], Shape], int]  # Of results, by dtype and shape.


def _owning_steps(
    order: Sequence[Node],
    owner: Mapping[Node, Node | None],
    dims: Mapping[str, int] | None,
    known: _Bytes,
    reuse: bool,
) -> tuple[dict[Node, int], list[tuple[int, ...]], list[tuple[int, ...]], list[int]]:
    """The steps of the nodes that own memory: numbers, reads, buffers to take over, and bytes."""
    number: dict[Node, int] = {}
    reads: list[tuple[int, ...]] = []
    takes: list[tuple[int, ...]] = []
    sizes: list[int] = []
    kept_results = results_read(order)
    for node in order:
        if owner[node] is not node:
            continue
        read: dict[int, None] = {}
        for operand in node.operands:
            base = owner[operand]
            if base is not None:
                read[number[base]] = None
        number[node] = len(number)
        reads.append(tuple(read))
        takes.append(_takes(node, owner, number) if reuse and _elementwise(node.op.ufunc) else ())
        sizes.append(_bytes_once(node, dims, known, kept_results.get(node)))
    return number, reads, takes, sizes


def _with_pieces_in_place(
    order: Sequence[Node], outputs: Iterable[Node], number: Mapping[Node, int], sizes: list[int]
) -> list[int]:
    """The pieces of joins, which live to the end; the joins need no bytes beside theirs."""
    found: list[int] = []
    for join in joins_of(order, list(outputs)):
        pieces = [number[each.node] for each in join.pieces]
        sizes[number[join.node]] -= sum([sizes[piece] for piece in pieces])
        for node in join.within:
            if node in number:
                sizes[number[node]] = 0
        found.extend(pieces)
    return found


_WHOLE = (Arrangement.REGROUPED, Arrangement.PERMUTED)
"""Arrangements that view all elements of an array, each once."""


def _is_whole(node: Node) -> bool:
    return node.op is PROJECT or node.op.traits.arrangement in _WHOLE


def _copied_outputs(
    outputs: Iterable[Node],
    owner: Mapping[Node, Node | None],
    kept: list[int],
    number: Mapping[Node, int],
) -> list[Node]:
    """Outputs that are copied at the end; the steps of all others are added to `kept`."""
    copied: list[Node] = []
    for node in outputs:
        whole = node
        while owner[whole] is not whole and _is_whole(whole):
            whole = whole.operands[0]
        # NumPy gives scalars for shape (); callers get arrays.
        if node.shape and owner[whole] is whole and number[whole] not in kept:
            kept.append(number[whole])
        else:
            copied.append(node)
    return copied


def _bytes_once(
    node: Node,
    dims: Mapping[str, int] | None,
    known: _Bytes,
    keep: tuple[bool, ...] | None = None,
) -> int:
    """Bytes of a node, cached by dtype and shape, for symbolic sizes are slow to resolve."""
    if len(node.results) > 1:
        return node_bytes(node, dims, keep)
    key = (node.dtype, node.shape)
    found = known.get(key)
    if found is None:
        found = known[key] = node_bytes(node, dims)
    return found


@cache
def _elementwise(ufunc: str) -> bool:
    """Whether the ufunc may write over its operands; matmul may not."""
    return bool(ufunc) and getattr(np, ufunc, np.matmul).signature is None


def _takes(
    node: Node, owner: Mapping[Node, Node | None], number: Mapping[Node, int]
) -> tuple[int, ...]:
    """Operands whose buffer the result may be written to: owners of its dtype and shape."""
    found: dict[int, None] = {}
    if not node.shape:
        return ()  # NumPy gives scalars there, which cannot be written to.
    for operand in node.operands:
        if (
            owner[operand] is operand  # An input, a constant and a view are never written.
            and operand.dtype == node.dtype
            and same_shape(operand.shape, node.shape)
            and len(operand.results) == 1
            # A view of the buffer that is read too would see it half written.
            and all(owner[other] is not operand or other is operand for other in node.operands)
        ):
            found[number[operand]] = None
    return tuple(found)


def least_bytes(model: Model) -> int:
    """A lower bound for any sequence: bytes of the largest step, or of all results at the end."""
    largest = max(
        (
            sum([model.sizes[read] for read in reads])
            + (model.room_taking_over(step) if model.takes[step] else model.room(step))
            for step, reads in enumerate(model.reads)
        ),
        default=0,
    )
    return max(largest, sum(model.sizes[step] for step in model.kept))


def profile(model: Model, sequence: Sequence[int]) -> MemoryProfile:
    """The memory a sequence of steps needs, in time linear in its length."""
    length = len(sequence)
    latest = [-1] * len(model)
    last_read = list(range(length))
    operands: list[list[int]] = []
    for position, step in enumerate(sequence):
        now = [latest[read] for read in model.reads[step]]
        for read in now:
            last_read[read] = position
        operands.append(now)
        latest[step] = position
    for step in model.kept:
        last_read[latest[step]] = length
    sizes, takes, work = model.sizes, model.takes, model.work
    taken_over = [-1] * length
    bytes_at: list[int] = []
    live = peak = 0
    at = -1
    for position, step in enumerate(sequence):
        taken = -1
        if takes[step]:
            # `latest` is now that of the whole sequence, so positions are those noted above.
            for read, place in zip(model.reads[step], operands[position], strict=True):
                if last_read[place] == position and read in takes[step]:
                    taken = place
                    break
        taken_over[position] = taken
        live += sizes[step] if taken < 0 else 0
        here = live + work[step] if work else live
        bytes_at.append(here)
        if here > peak or at < 0:
            peak, at = here, position
        for place in operands[position]:
            if last_read[place] == position and place != taken:
                live -= sizes[sequence[place]]
        if last_read[position] == position:
            live -= sizes[step]
    return MemoryProfile(bytes_at, last_read, taken_over, peak, at)
