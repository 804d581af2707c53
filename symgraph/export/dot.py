r"""Graphs in Graphviz' DOT language, with an edge for each operand.

Inside quoted strings, DOT reads `\N`, `\G` and `\n` as commands and `&lt;` as an entity. So
backslashes in labels are doubled, and ampersands are written as entities. Identifiers are made
here; they never hold the user's text.
"""

from __future__ import annotations

from ..ir.collector import collector_paused
from ..ir.dag import Dag
from ..ir.node import Node
from ..notation.node_text import escaped, shortened
from .graph_text import headline
from .labels import Labels

__all__ = ["quoted", "render"]

_STYLES = {
    "input": 'shape=box, style="rounded,filled", fillcolor="#e3f1e1", color="#5b8f58"',
    "constant": 'shape=box, style="rounded,filled", fillcolor="#eeeeee", color="#888888"',
    "forward": 'shape=box, style="rounded,filled", fillcolor="#e3ecf8", color="#4a77ad"',
    "gradient": 'shape=box, style="filled", fillcolor="#fcebd9", color="#c27a2c"',
    "output": 'shape=plaintext, style="bold"',
}


def quoted(*lines: str) -> str:
    """The lines as one DOT string, which shows them one below another."""
    safe = [
        escaped(line).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
        for line in lines
    ]
    return '"' + "\\n".join(safe) + '"'


@collector_paused()
def render(dag: Dag, *, clusters: bool = False) -> str:
    """The graph as a DOT digraph, operands above results.

    Parameters
    ----------
    dag : Dag
    clusters : bool
        Draw frames around the forward and the gradient nodes. Graphviz then keeps them apart, which
        reads well on graphs of some dozens of nodes and badly on larger ones.
    """
    labels = Labels(dag)
    ids = {node: f"n{position}" for position, node in enumerate(labels.nodes)}
    statements = [
        "digraph {",
        f"  label={quoted(headline(dag, labels))}; labelloc=t;",
        '  rankdir=TB; node [fontname="Helvetica", fontsize=11]; '
        'edge [fontname="Helvetica", fontsize=9, color="#666666"];',
    ]
    drawn = {node: _node(node, ids[node], labels) for node in labels.nodes}
    if clusters:
        statements += _clustered(drawn, labels)
    else:
        statements += drawn.values()
    for node in labels.nodes:
        statements += _edges(node, ids)
    for position, (name, node) in enumerate(zip(dag.names, dag.outputs, strict=True)):
        statements.append(
            f"  out{position} [label={quoted(shortened(name))}, {_STYLES['output']}];"
        )
        statements.append(f"  {ids[node]} -> out{position} [style=bold];")
    return "\n".join([*statements, "}", ""])


def _node(node: Node, identifier: str, labels: Labels) -> str:
    leaf = node.is_input or labels.is_inline(node)
    name = labels.name(node)
    first = name if leaf else f"{name} = {shortened(labels.expression(node), 60)}"
    frame = labels.frame(node)
    tooltip = [labels.role(node), *([f"{frame} {frame.text}"] if frame else [])]
    if labels.origins[node].rule:
        tooltip.append(f"by {labels.origins[node].rule}")
    shown = quoted(first, labels.aval(node))
    return f"  {identifier} [label={shown}, tooltip={quoted(*tooltip)}, {_style(node, labels)}];"


def _style(node: Node, labels: Labels) -> str:
    if node.is_input:
        return _STYLES["input"]
    if node.is_constant or labels.is_inline(node):
        return _STYLES["constant"]
    style = _STYLES["gradient" if labels.orders[node] else "forward"]
    return style + ", peripheries=2" if node.copy else style


def _clustered(drawn: dict[Node, str], labels: Labels) -> list[str]:
    statements: list[str] = []
    for cluster, title in enumerate(("forward", "gradient")):
        inside = [
            text for node, text in drawn.items() if bool(labels.orders[node]) == bool(cluster)
        ]
        if inside:
            head = f'  subgraph cluster_{cluster} {{ label="{title}"; color="#bbbbbb";'
            statements += [head, *inside, "  }"]
    return statements


def _edges(node: Node, ids: dict[Node, str]) -> list[str]:
    """One edge for each operand, numbered if there are several: `x * x` has two."""
    several = len(node.operands) > 1
    return [
        f"  {ids[operand]} -> {ids[node]}" + (f' [headlabel="{slot}"]' if several else "") + ";"
        for slot, operand in enumerate(node.operands)
    ]
