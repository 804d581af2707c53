"""The document: its version, its layout, and the graphs in it.

```
{
    "format": "symgraph",
    "version": 1,
    "frames": [[file, line, function, text], ...],
    "nodes": [{"op": ..., "operands": [...], "params": {...}, "results": [[dtype, shape]]}, ...],
    "notes": [[node, {"lines": [...], "gradient_of": ...}], ...],
    "stages": [{"inputs": [[name, node]], "outputs": [[name, node]], "structure": ...}, ...],
}
```

A node may have `"lines"`, `"gradient_of"`, `"by"`, `"scope": [title, ...]` and
`"names": [[name, depth], [name, depth, node that had it first or -1], ...]`: where it comes from.

The last stage is the graph. Each node, frame and stage takes one line of text, with its keys in a
fixed order. So equal graphs are equal bytes, and a changed graph gives a readable diff.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..errors import FormatError, InputError, SymgraphError
from ..ir.collector import collector_paused
from ..ir.dag import Dag
from ..ir.invariants import verify
from ..ir.node import Node
from .encoding import Nodes, value_at
from .json_paths import Place, parsed
from .node_table import ReadNodes, WrittenNodes

__all__ = ["dag_at", "dag_of", "laid_out", "opened", "text_of", "written_dag"]

_FORMAT = "symgraph"
_VERSION = 1


# -- the whole document ----------------------------------------------------------------------------
def laid_out(table: WrittenNodes, parts: Mapping[str, Any]) -> str:
    """The text of a document, with one line for each item of a list."""
    whole = {"format": _FORMAT, "version": _VERSION, "frames": table.frames, "nodes": table.nodes}
    whole["notes"] = table.notes
    lines: list[str] = []
    for name, value in {**whole, **parts}.items():
        if isinstance(value, list) and value:
            items = ",\n".join([_json(each) for each in cast("list[Any]", value)])
            lines.append(f"{_json(name)}: [\n{items}\n]")
        else:
            lines.append(f"{_json(name)}: {_json(value)}")
    return "{" + ",\n".join(lines) + "}\n"


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(
            "A name or a line of this graph cannot be saved: it is not valid Unicode.",
            [ascii(value)[:80]],
        ) from None
    return text


def opened(source: str | bytes, more: Sequence[str] = ()) -> dict[str, Place]:
    """The fields of a document.

    Raises
    ------
    FormatError
        If it is not a saved graph, or is of another version.
    """
    whole = parsed(source)
    header: Any = whole.value
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise FormatError(
            f'This is not a saved graph: it has no field "format": "{_FORMAT}".',
            mend='Load a file that graph.save("g.json") has written.',
        )
    if type(header.get("version")) is not int or header.get("version") != _VERSION:
        raise FormatError(
            f"version: expected {_VERSION}, got {json.dumps(header.get('version'))[:60]}.",
            mend="Load it with the release of symgraph that saved it.",
        )
    return whole.fields(("format", "version", "frames", "nodes", "notes", "stages"), more)


@collector_paused()
def text_of(dag: Dag) -> str:
    """The text of a graph alone, without the stages it was derived from.

    Raises
    ------
    InputError
        If a node cannot be saved.
    """
    table = WrittenNodes(dag.inputs.values(), dag.nodes, dag.nodes)
    return laid_out(table, {"stages": [written_dag(dag, table)]})


@collector_paused()
@collector_paused()
def dag_of(source: str | bytes) -> Dag:
    """The graph in a text of `text_of`.

    Raises
    ------
    FormatError
    """
    fields = opened(source)
    read = ReadNodes(fields["frames"], fields["nodes"], fields["notes"])
    (stage,) = fields["stages"].items(1)
    return dag_at(stage, read.nodes)


# -- one graph of the document ---------------------------------------------------------------------
def written_dag(dag: Dag, table: WrittenNodes) -> dict[str, Any]:
    """A graph as JSON, with its nodes as numbers of the table."""
    fields: dict[str, Any] = {
        "inputs": [[name, table.number[node]] for name, node in dag.inputs.items()],
        "outputs": [
            [name, table.number[node]] for name, node in zip(dag.names, dag.outputs, strict=True)
        ],
        "structure": _written_structure(dag.structure, table),
    }
    if dag.schedule is not None:
        fields["schedule"] = [table.number[node] for node in dag.schedule]
    if dag.small_blocks:
        fields["small_blocks"] = True
    return fields


def _written_structure(structure: object, table: WrittenNodes) -> Any:
    # The recursion is as deep as the tuples that the user returned.
    if isinstance(structure, Mapping):
        items = cast("Mapping[Any, Any]", structure).items()
        return {"dict": [[table.value(k), _written_structure(part, table)] for k, part in items]}
    if isinstance(structure, (tuple, list)):
        kind = "tuple" if isinstance(structure, tuple) else "list"
        parts = cast("Sequence[Any]", structure)
        return {kind: [_written_structure(part, table) for part in parts]}
    return structure


def dag_at(place: Place, nodes: Nodes, more: Sequence[str] = ()) -> Dag:
    """The graph written at a place.

    Raises
    ------
    FormatError
    """
    fields = place.fields(("inputs", "outputs", "structure"), ("schedule", "small_blocks", *more))
    inputs: dict[str, Node] = {}
    for each in fields["inputs"].items():
        name, node = each.items(2)
        if inputs.setdefault(name.text(), found := nodes.at(node)) is not found:
            name.refuse("two inputs have this name")
        if not found.is_input or found.params["name"] != name.value:
            node.refuse(f"node {node.value} is not the input {name.value!r}")
    outputs = [each.items(2) for each in fields["outputs"].items()]
    ends = [nodes.at(node) for _, node in outputs]
    for (_, place_of_end), end in zip(outputs, ends, strict=True):
        if len(end.results) > 1:
            place_of_end.refuse("an output is one array; this node has several results")
    structure = _structure_at(fields["structure"], len(ends))
    schedule = None
    if "schedule" in fields:
        schedule = [nodes.at(each) for each in fields["schedule"].items()]
    try:
        names = [name.text() for name, _ in outputs]
        small = "small_blocks" in fields and fields["small_blocks"].boolean()
        dag = Dag(inputs, ends, names, structure, schedule, small_blocks=small)
        verify(dag)
    except SymgraphError as error:
        place.refuse(error.what.rstrip("."))
    _check_schedule(fields, dag)
    return dag


def _check_schedule(fields: Mapping[str, Place], dag: Dag) -> None:
    if dag.schedule is None:
        return
    place = {node: i for i, node in enumerate(dag.schedule)}
    if len(place) != len(dag.schedule) or place.keys() != set(dag.nodes):
        fields["schedule"].refuse("it does not hold each node once")
    for node in dag.schedule:
        if any(place[each] > place[node] for each in node.operands):
            fields["schedule"].refuse("a node precedes one of its operands")


def _structure_at(place: Place, count: int) -> Any:
    if not isinstance(place.value, dict):
        return place.integer(0, count - 1)
    kind, inner = place.alone()
    if kind == "tuple":
        return tuple([_structure_at(each, count) for each in inner.items()])
    if kind == "list":
        return [_structure_at(each, count) for each in inner.items()]
    if kind != "dict":
        inner.refuse("there is no such container; the containers are tuple, list, dict")
    found: dict[Any, Any] = {}
    for each in inner.items():
        key, part = each.items(2)
        read = _key_at(key)
        if read in found:
            key.refuse("the dict has this key twice")
        found[read] = _structure_at(part, count)
    return found


def _key_at(place: Place) -> Any:
    key = value_at(place, Nodes())
    if not isinstance(key, (str, int, float, bool, tuple, type(None))):
        place.expected("a key: text, a number, or a list of keys")
    try:
        hash(key)
    except TypeError:
        place.expected("a key that can be hashed")
    return key
