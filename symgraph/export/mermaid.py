"""Graphs as Mermaid flowcharts, which many Markdown viewers draw.

Labels stand in quotes. All characters in them that are no letters, digits or harmless signs are
written by their number, as in `#34;`, so no label ends its quotes or is read as HTML. Identifiers
are made here; they never hold the user's text.
"""

from __future__ import annotations

from ..ir.collector import collector_paused
from ..ir.dag import Dag
from ..ir.node import Node
from ..notation.node_text import escaped, shortened
from .labels import Labels

__all__ = ["quoted", "render"]

_PLAIN = frozenset(" .,_+-/()=:")
_CLASSES = {
    "given": "fill:#e3f1e1,stroke:#5b8f58,color:#1b1b1b",
    "fixed": "fill:#eeeeee,stroke:#888888,color:#1b1b1b",
    "forward": "fill:#e3ecf8,stroke:#4a77ad,color:#1b1b1b",
    "gradient": "fill:#fcebd9,stroke:#c27a2c,color:#1b1b1b",
    "output": "fill:none,stroke:none",
}


def quoted(*lines: str) -> str:
    """The lines as one Mermaid string, which shows them one below another."""
    return '"' + "<br/>".join("".join(map(_coded, escaped(line))) for line in lines) + '"'


def _coded(char: str) -> str:
    return char if char.isalnum() or char in _PLAIN else f"#{ord(char)};"


@collector_paused()
def render(dag: Dag) -> str:
    """The graph as a flowchart, operands above results. Viewers draw some hundreds of edges."""
    labels = Labels(dag)
    ids = {node: f"n{position}" for position, node in enumerate(labels.nodes)}
    lines = ["flowchart TD"]
    for node in labels.nodes:
        kind = _kind(node, labels)
        first = labels.name(node)
        if not (node.is_input or labels.is_inline(node)):
            first = f"{first} = {shortened(labels.expression(node), 60)}"
        lines.append(f"    {ids[node]}[{quoted(first, labels.aval(node))}]:::{kind}")
    for node in labels.nodes:
        several = len(node.operands) > 1
        lines += [
            f"    {ids[operand]} -->{f'|{slot}|' if several else ''} {ids[node]}"
            for slot, operand in enumerate(node.operands)
        ]
    for position, (name, node) in enumerate(zip(dag.names, dag.outputs, strict=True)):
        lines.append(f"    out{position}[{quoted(shortened(name))}]:::output")
        lines.append(f"    {ids[node]} ==> out{position}")
    lines += [f"    classDef {kind} {style}" for kind, style in _CLASSES.items()]
    return "\n".join([*lines, ""])


def _kind(node: Node, labels: Labels) -> str:
    if node.is_input:
        return "given"
    if node.is_constant or labels.is_inline(node):
        return "fixed"
    return "gradient" if labels.orders[node] else "forward"
