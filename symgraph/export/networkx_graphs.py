"""Graphs for networkx: attributes of nodes, and a copy of plain texts that its writers take."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..ir.collector import collector_paused
from ..ir.cost import node_flops
from ..ir.dag import Dag
from ..ir.node import Node
from ..notation.node_text import escaped, shortened
from .labels import Labels

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["attributes", "flat", "gexf", "graphml"]


@collector_paused()
def attributes(dag: Dag) -> dict[Node, dict[str, str]]:
    """The attributes of each node, all of them text.

    These are `name`, `op`, `expression`, `shape`, `dtype`, `role`, `origin` (the user's line),
    `scope`, `flops` and `outputs`.
    """
    labels = Labels(dag)
    return {node: _attributes(node, labels) for node in labels.nodes}


def _attributes(node: Node, labels: Labels) -> dict[str, str]:
    found = {
        "name": labels.name(node),
        "op": escaped(node.op.name),
        "expression": shortened(labels.expression(node), 200),
        "shape": "; ".join(", ".join(map(str, aval.shape)) for aval in node.results),
        "dtype": "; ".join(str(aval.dtype) for aval in node.results),
        "role": labels.role(node),
        "origin": labels.place(node),
        "scope": " / ".join(labels.scope(node)),
        "flops": str(node_flops(node)) if node.operands else "0",
        "outputs": ", ".join(labels.outputs.get(node, ())),
    }
    return {key: escaped(value) for key, value in found.items()}


def flat(dag: Dag) -> nx.MultiDiGraph[str]:
    """The graph with texts for nodes, and one edge for each operand, keyed by its `slot`."""
    import networkx as nx  # a third of what `import symgraph` takes: paid when first asked for

    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    ids: dict[Node, str] = {}
    for node, told in attributes(dag).items():
        ids[node] = f"n{len(ids)}"
        graph.add_node(ids[node], label=told["name"], **told)
    for node, identifier in ids.items():
        for slot, operand in enumerate(node.operands):
            graph.add_edge(ids[operand], identifier, key=slot, slot=slot)
    return graph


def graphml(dag: Dag) -> str:
    """The graph as a GraphML document, which networkx, Gephi and yEd read."""
    import networkx as nx

    lines: Any = nx.generate_graphml(flat(dag))
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', *lines, ""])


def gexf(dag: Dag) -> str:
    """The graph as a GEXF document, the format of Gephi."""
    import networkx as nx

    lines: Any = nx.generate_gexf(flat(dag))
    # networkx writes the day into the document: the same graph shall give the same text.
    lines = [re.sub(r' lastmodifieddate="[^"]*"', "", line) for line in lines]
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', *lines, ""])
