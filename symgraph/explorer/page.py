"""The explorer's page: a graph, its derivation and its values as one self-contained file.

The page loads nothing and sends nothing: its policy admits its own script and style, by their
hashes, and nothing else. All data stands in one block of JSON in which `<` is escaped, and the
script writes it as text only, so no name can become markup.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from ..export.expressions import number_text
from ..export.graph_text import headline
from ..export.labels import Labels
from ..ir.dag import Dag
from ..ir.fact_inference import Knowledge
from ..ir.interpreter import bound_inputs, values_of
from ..ir.node import Node
from ..ir.walks import reachable
from ..memory.liveness import live_ranges
from ..notation.node_text import ATOM, Spelled, escaped, shortened, spelled
from ..records import record
from ..rewriting.log import Log
from .details import facts_of, step_of, summary, told
from .timeline import TimelineEntry, TimelineMoment, moments, timeline
from .timeline_layout import FORWARD, GRADIENT, Seats, lane_of, seated

__all__ = ["Explorer", "explorer", "hash_of", "own_hashes"]

_FEW = 150
"""Of more entries each fact tells its next reason only: a chain is as long as the graph is deep."""
_MANY = 1_500
"""Of more entries only those of the last graph tell their facts; of more steps none does."""


@record
class Explorer:
    """A page that shows a graph; in a notebook it shows itself, in a frame without privileges.

    Parameters
    ----------
    html : str
        The page, complete in itself.
    """

    html: str

    def __repr__(self) -> str:
        return f"<Explorer: a page of {len(self.html.encode()) / 1000:.0f} kB>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{escape(self.html)}" '
            'style="width:100%;height:640px;border:1px solid #8884;border-radius:6px"></iframe>'
        )


def explorer(dag: Dag, log: Log, values: Mapping[str, Any] | None = None) -> Explorer:
    """The page of a graph.

    Parameters
    ----------
    dag : Dag
    log : Log
        The steps that led to it.
    values : mapping of str to array_like, optional
        Inputs by name; the page then tells the value of every node.

    Raises
    ------
    InputError
        If inputs are missing, unknown or of another shape or dtype.
    """
    data = json.dumps(_data(dag, log, values), separators=(",", ":"), ensure_ascii=False)
    # In JSON these characters stand in strings only.
    data = data.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    data = data.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    style, script = (_own(name) for name in ("explorer.css", "explorer.js"))
    policy = (
        f"default-src 'none'; style-src '{hash_of(style)}'; script-src '{hash_of(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    title = shortened(", ".join(map(escaped, dag.names)), 80)
    parts = {
        "POLICY": policy,
        "TITLE": escape(title),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": data,
    }
    # In one pass: nothing in the data is taken for the name of a part.
    page = re.sub(r"@([A-Z]+)@", lambda found: parts[found[1]], _own("explorer.html"))
    return Explorer(page)


def _own(name: str) -> str:
    return files(__package__ or "symgraph.explorer").joinpath(name).read_text(encoding="utf-8")


def own_hashes() -> tuple[str, str]:
    """The hashes of the page's style and script, for the policy of a page that frames it."""
    return hash_of(_own("explorer.css")), hash_of(_own("explorer.js"))


def hash_of(text: str) -> str:
    """The hash of a script or a style, as a Content-Security-Policy names it."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


# -- data ------------------------------------------------------------------------------------------
def _data(dag: Dag, log: Log, values: Mapping[str, Any] | None) -> dict[str, Any]:
    states = moments(log, dag.outputs)
    line = timeline(states)
    labels = Labels(dag)
    shown = [entry for entry in line.entries if not _is_inline(entry.node)]
    places = seated(line, labels)
    numbers = {id(entry): number for number, entry in enumerate(shown)}
    latest: dict[Node, int] = {}
    for entry in shown:
        latest[entry.node] = numbers[id(entry)]
    nodes = [_node(entry, labels, latest, places) for entry in shown]
    names = _named(line.entries, labels)
    for entry, told_of in zip(shown, nodes, strict=True):
        told_of["n"] = names[entry.node][0]
        told_of["e"] = _expression(entry.node, names)
    _add_facts(shown, nodes, line.alive)
    _add_lives(dag, nodes, latest)
    if values is not None:
        _add_values(dag, shown, nodes, values)
    heights = _heights(places)
    return {
        "title": ", ".join(map(escaped, dag.names)),
        "about": headline(dag, labels),
        "steps": _steps(states, log, places, line.entries),
        "nodes": nodes,
        "bands": heights,
        "groups": list(places.groups),
        "titles": list(places.titles),
        "valued": values is not None,
    }


def _is_inline(node: Node) -> bool:
    """Whether a value of constants only is written where it is used."""
    return not node.is_input and not node.operands and node.aval.size in (0, 1)


def _node(
    entry: TimelineEntry, labels: Labels, latest: Mapping[Node, int], places: Seats
) -> dict[str, Any]:
    node = entry.node
    lane, band, seat = places.of[entry.place]
    found = told(node, labels)
    found.update(
        {
            "k": "parameter" if node in labels.parameters else _kind(node),
            "at": [lane, band, seat],
            "s": entry.place,
            "l": entry.lives,
            "in": [latest[each] for each in dict.fromkeys(node.operands) if each in latest],
        }
    )
    if node in labels.outputs:
        found["out"] = list(labels.outputs[node])
    return found


def _kind(node: Node) -> str:
    if node.is_input:
        return "input"
    if not node.operands:
        return "constant"
    if node.copy:
        return "recomputed"
    return {FORWARD: "forward", GRADIENT: "gradient"}[lane_of(node)]


def _named(entries: Sequence[TimelineEntry], labels: Labels) -> dict[Node, Spelled]:
    """The names of all nodes, as in the listing; nodes of earlier graphs are u1, u2, ..."""
    last = set(labels.nodes)
    taken = {labels.name(node) for node in last}
    names: dict[Node, Spelled] = {}
    for entry in entries:
        node = entry.node
        if node.is_constant and (short := number_text(node.params["value"])) is not None:
            names[node] = short
        elif node in last:
            names[node] = labels.atom(node)
        elif _is_inline(node):
            names[node] = _spelled_alone(node)
        else:
            name = f"u{entry.place}"
            while name in taken:
                name += "′"
            taken.add(name)
            names[node] = name, ATOM
    return names


def _spelled_alone(node: Node) -> Spelled:
    from_constant = Labels(Dag({}, [node]))
    return from_constant.atom(node)


def _expression(node: Node, names: Mapping[Node, Spelled]) -> str:
    if not node.operands:
        return node.op.name
    return shortened(spelled(node, [names[each] for each in node.operands])[0], 120)


def _add_facts(
    shown: Sequence[TimelineEntry],
    nodes: Sequence[dict[str, Any]],
    last: Mapping[Node, TimelineEntry],
) -> None:
    knowledge = Knowledge()
    for entry, found in zip(shown, nodes, strict=True):
        if len(shown) <= _MANY or (entry.node in last and len(last) <= _MANY):
            facts = facts_of(entry.node, knowledge, chains=len(shown) <= _FEW)
            if facts:
                found["facts"] = facts


def _add_lives(dag: Dag, nodes: Sequence[dict[str, Any]], latest: Mapping[Node, int]) -> None:
    """When each value is computed and last needed, in the order of execution."""
    for node, (made, last) in live_ranges(dag, reachable(dag.outputs)).items():
        if node in latest:
            nodes[latest[node]]["live"] = [made, last]


def _add_values(
    dag: Dag,
    shown: Sequence[TimelineEntry],
    nodes: Sequence[dict[str, Any]],
    given: Mapping[str, Any],
) -> None:
    arrays, env = bound_inputs(dag.inputs, dict(given))
    values = values_of(reachable([each.node for each in shown]), dag.inputs, arrays, env)
    for entry, found in zip(shown, nodes, strict=True):
        found["v"] = summary(values[entry.node])


def _heights(places: Seats) -> list[int]:
    """The number of seats that each band needs."""
    heights = [1] * len(places.groups)
    for _, band, seat in places.of.values():
        heights[band] = max(heights[band], seat + 1)
    return heights


def _steps(
    states: Sequence[TimelineMoment], log: Log, places: Seats, entries: Sequence[TimelineEntry]
) -> list[dict[str, Any]]:
    place_of = {entry.node: entry.place for entry in entries}
    index = {id(step): number for number, step in enumerate(log.steps)}
    # Rewrites before the last differentiation used open facts only.
    open_until = max((each.start for each in log.passes if not each.equal), default=0)
    count = sum(len(moment.steps) for moment in states)
    knowledge = Knowledge() if count <= _MANY else None
    found: list[dict[str, Any]] = []
    for moment in states:
        told_of: dict[str, Any] = {"what": escaped(moment.what)}
        if len(moment.steps) == 1:
            (step,) = moment.steps
            ties = index[id(step)] >= open_until
            told_of["step"] = step_of(step, knowledge, ties=ties)
            if step.after in place_of:
                told_of["s"] = place_of[step.after]
        elif moment.steps:
            told_of["count"] = len(moment.steps)
        found.append(told_of)
    return found
