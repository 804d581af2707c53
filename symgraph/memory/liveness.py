"""The live range of each value, and the memory a run needs, predicted before it runs.

The prediction follows `lowering.memory_model`. It is the memory that a run of the lowered program
needs beside its inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir.dag import Dag
from ..ir.given_names import name_of
from ..ir.html_tables import bundle
from ..ir.node import Node
from ..lowering.memory_model import model_of, profile
from ..lowering.ownership import bases
from ..lowering.schedule import scheduled
from ..notation.node_text import escaped, shortened
from ..records import record
from .scratch import scratch_bytes
from .timeline import timeline_html

__all__ = ["Memory", "live_ranges", "live_rows", "memory", "readable_bytes", "told_bytes"]

_UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def readable_bytes(count: int) -> str:
    """A number of bytes as text: `"1.5 MiB"`, `"312 B"`."""
    for unit, size in _UNITS:
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} B"


def told_bytes(count: int) -> str:
    """The same, with the whole number behind where the unit is a larger one."""
    text = readable_bytes(count)
    return text if text.endswith(" B") else f"{text} ({count} bytes)"


@record
class Memory:
    """The memory that a run needs beside its inputs.

    Parameters
    ----------
    peak_bytes : int
        The most bytes live at any step.
    peak_node : Node or None
        The step that needs them; None where nothing is computed.
    live : tuple of (Node, int)
        The values live at that step with their bytes, most bytes first.
    timeline : tuple of (Node, int)
        Bytes live at each step that computes a value of its own, in order of execution.
    output_bytes : int
        Bytes live at the end: those of the results.
    """

    peak_bytes: int
    peak_node: Node | None
    live: tuple[tuple[Node, int], ...]
    timeline: tuple[tuple[Node, int], ...]
    output_bytes: int

    def __repr__(self) -> str:
        lines = [
            f"peak {told_bytes(self.peak_bytes)}, "
            f"results {readable_bytes(self.output_bytes)}, {len(self.timeline)} steps"
        ]
        if self.peak_node is not None:
            lines += [f"at   {described(self.peak_node)}", "live there:"]
            lines += [
                f"  {readable_bytes(size):>9}  {described(node)}" for node, size in self.live[:8]
            ]
            if len(self.live) > 8:
                rest = sum(size for _, size in self.live[8:])
                lines.append(f"  {readable_bytes(rest):>9}  in {len(self.live) - 8} more values")
        return "\n".join(lines)

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        """The text, and in notebooks the timeline above it."""
        return bundle(self, timeline_html(self.timeline, repr(self)))


def described(node: Node) -> str:
    """A value as reports and errors name it: `hidden = tanh float64[n, 64]   model.py:12`."""
    avals = ", ".join(str(aval) for aval in node.results)
    again = " (again)" if node.copy else ""
    where = str(node.origin)
    called = "" if node.is_input else shortened(escaped(name_of(node)))
    named = f"{called} = " if called else ""
    return f"{named}{node.op.name}{again} {avals}" + (f"   {where}" if where else "")


_SHOWN = 6
"""How many of the largest values an error names."""


def live_rows(needed: Memory) -> list[str]:
    """The step of the peak and the largest values live there, as rows of an error."""
    rows = [f"at {described(needed.peak_node)}"] if needed.peak_node is not None else []
    rows += [f"{readable_bytes(size):>9}  {described(node)}" for node, size in needed.live[:_SHOWN]]
    if len(needed.live) > _SHOWN:
        rest = sum(size for _, size in needed.live[_SHOWN:])
        rows.append(f"{readable_bytes(rest):>9}  in {len(needed.live) - _SHOWN} more values")
    return rows


def memory(
    dag: Dag,
    dims: Mapping[str, int] | None = None,
    order: Sequence[Node] | None = None,
    *,
    reuse: bool = True,
) -> Memory:
    """The memory that a run of the graph needs: bytes live at each step, and their peak.

    Parameters
    ----------
    dag : Dag
    dims : mapping of str to int, optional
        Sizes of named dimensions; needed where there are any.
    order : sequence of Node, optional
        The order of execution; by default `scheduled(dag, dims)`.
    reuse : bool
        Whether an elementwise result takes over the buffer of an operand that dies there.

    Raises
    ------
    InputError
        If the size of a named dimension is missing.
    """
    sizes = dict(dims or {})
    steps = scheduled(dag, sizes) if order is None else order
    joins = dag.schedule is not None and reuse
    model = model_of(steps, dag.outputs, sizes, reuse=reuse, work=scratch_bytes, joins=joins)
    sequence = range(len(model))
    found = profile(model, sequence)
    live: list[tuple[Node, int]] = []
    if found.at >= 0:
        taken = found.taken_over[found.at]
        live = [
            (model.nodes[step], model.sizes[step])
            for step in sequence[: found.at + 1]
            if found.last_read[step] >= found.at and step != taken
        ]
        live.sort(key=lambda each: -each[1])
    return Memory(
        found.peak,
        model.nodes[found.at] if found.at >= 0 else None,
        tuple(live),
        tuple(zip(model.nodes, found.bytes_at, strict=True)),
        sum(model.sizes[step] for step in model.kept),
    )


def live_ranges(dag: Dag, order: Sequence[Node]) -> dict[Node, tuple[int, int]]:
    """For each computed node the positions in the order where it is computed and last needed.

    A node that owns memory is needed until the last read of its last view. An output is needed
    until the end, so its second position is the length of the order.
    """
    steps = list(order)
    owner = bases(steps)
    made: dict[Node, int] = {}
    last: dict[Node, int] = {}
    for position, node in enumerate(steps):
        if owner[node] is None:
            continue
        made[node] = last[node] = position
        for operand in node.operands:
            base = owner[operand]
            if base is not None:
                last[operand] = last[base] = position
    for node in dag.outputs:
        base = owner[node]
        if base is not None:
            last[node] = last[base] = len(steps)
    return {node: (made[node], last[node]) for node in made}
