"""Formats for other programs, read back by readers that are not ours; with hostile names."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import symgraph as sg
from symgraph.export import mermaid

HOSTILE = [
    "<script>alert(1)</script>",
    '"]-->',
    "a\nb\r\n```\n# heading",
    "\u202eright to left\u2066",
    "\x00\x1b[31m\x7f",
    "x" * 10_000,
    "`~~~`$|{}&lt;#quot;\\N",
    "]]>&amp;<![CDATA[",
    "\ud800",
]


def gradient(name: str = "x") -> sg.Graph:
    x = sg.input(name, ("n",))
    y = sg.name(np.tanh(x * x), f"{name}?")
    return sg.graph(np.sum(np.log(np.exp(y)))).gradient(name).simplify()


def assert_same_graph(read: Any, graph: sg.Graph) -> None:
    """Whether a reader saw the operations and operands of the graph."""
    assert read.number_of_nodes() == len(graph.nodes)
    assert read.number_of_edges() == sum(len(node.operands) for node in graph.nodes)
    found = sorted(told["op"] for _, told in read.nodes(data=True))
    assert found == sorted(node.op.name for node in graph.nodes)


def test_nodes_of_the_networkx_graph_have_attributes() -> None:
    graph = gradient()
    tanh = next(node for node in graph.nodes if node.op.name == "tanh")
    told = graph.nx.nodes[tanh]
    assert (told["op"], told["shape"], told["dtype"], told["role"]) == (
        *("tanh", "n", "float64"),
        "forward",
    )
    assert told["name"] == "x?"
    assert told["origin"].startswith("test_formats.py:")
    assert told["flops"] == "10*n"
    assert graph.nx is graph.nx
    assert nx.is_frozen(graph.nx)


@pytest.mark.parametrize("name", ["x", *HOSTILE], ids=range(1 + len(HOSTILE)))
def test_graphml_is_read_by_networkx(name: str, tmp_path: Path) -> None:
    graph = gradient(name)
    path = tmp_path / "g.graphml"
    graph.save(path)
    read = nx.read_graphml(path)
    assert_same_graph(read, graph)
    # With networkx's own writer, too.
    nx.write_graphml(graph.to_networkx(), path)
    assert_same_graph(nx.read_graphml(path), graph)
    for _, told in read.nodes(data=True):
        assert told["shape"] in ("", "n", "1")
        assert len(told["name"]) < 200
    slots = {(a, b, told["slot"]) for a, b, told in read.edges(data=True)}
    assert len(slots) == read.number_of_edges()


@pytest.mark.parametrize("name", ["x", *HOSTILE], ids=range(1 + len(HOSTILE)))
def test_gexf_is_read_by_networkx(name: str, tmp_path: Path) -> None:
    graph = gradient(name)
    path = tmp_path / "g.gexf"
    graph.save(path)
    assert_same_graph(nx.read_gexf(path), graph)
    first = path.read_bytes()
    graph.save(path)
    assert path.read_bytes() == first


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", ["x", *HOSTILE], ids=range(1 + len(HOSTILE)))
@pytest.mark.parametrize("kind", ["graphml", "gexf", "gml"])
def test_networkx_writes_the_graph_itself(kind: str, name: str, tmp_path: Path) -> None:
    graph = gradient(name)
    path = tmp_path / f"g.{kind}"
    if kind == "gml":
        nx.write_gml(graph.nx, path, stringizer=str)
        read = nx.read_gml(path)
    else:
        getattr(nx, f"write_{kind}")(graph.nx, path)
        read = getattr(nx, f"read_{kind}")(path)
        ET.parse(path)
    assert read.number_of_nodes() == len(graph.nodes)
    found = sorted(told["op"] for _, told in read.nodes(data=True))
    assert found == sorted(node.op.name for node in graph.nodes)
    filled = [told["slots"].split(", ") for _, _, told in read.edges(data=True)]
    assert sum(map(len, filled)) == sum(len(node.operands) for node in graph.nodes)


_NODE = re.compile(r'    (\w+)\["([^"\n]*)"\]:::(given|fixed|forward|gradient|output)')
_EDGE = re.compile(r"    (\w+) (?:-->|==>)(?:\|\d+\|)? (\w+)")
_CLASS = re.compile(r"    classDef \w+ [a-z0-9:#,]+")


@pytest.mark.parametrize("name", ["x", *HOSTILE], ids=range(1 + len(HOSTILE)))
def test_mermaid_has_nodes_and_edges_only(name: str) -> None:
    graph = gradient(name)
    first, *lines = graph.to_mermaid().splitlines()
    assert first == "flowchart TD"
    nodes, edges = {}, []
    for line in lines:
        if found := _NODE.fullmatch(line):
            nodes[found[1]] = found[2]
        elif found := _EDGE.fullmatch(line):
            edges.append(found.groups())
        else:
            assert _CLASS.fullmatch(line), line
    outputs = len(graph.outputs)
    assert len(nodes) == len(graph.nodes) + outputs
    assert len(edges) == sum(len(node.operands) for node in graph.nodes) + outputs
    assert {end for edge in edges for end in edge} <= set(nodes)
    for label in nodes.values():
        assert not re.search(r"[<>`\[\]{}|&]", label.replace("<br/>", ""))
        assert label.isprintable()


def test_a_mermaid_label_says_what_was_given() -> None:
    shown = mermaid.quoted('<b>"]', "z").strip('"').split("<br/>")
    read = [re.sub(r"#(\d+);", lambda code: chr(int(code[1])), line) for line in shown]
    assert read == ['<b>"]', "z"]


@pytest.mark.parametrize("name", ["x", *HOSTILE], ids=range(1 + len(HOSTILE)))
def test_the_derivation_as_markdown_holds_no_markup_of_the_users(name: str) -> None:
    reader = pytest.importorskip("markdown_it").MarkdownIt()
    graph = gradient(name)
    text = graph.explain(format="markdown")
    tokens = reader.parse(text)
    kinds = {token.type for token in tokens}
    assert "html_block" not in kinds
    headings = [token for token in tokens if token.type == "heading_open"]
    steps = [each for each in graph.explain(format="data") if each["grain"] != "bookkeeping"]
    assert len(headings) == len(steps)
    assert all(token.tag == "h3" for token in headings)
    fences = [token.content for token in tokens if token.type == "fence"]
    assert len(fences) == len(steps)
    assert any("log_of_exp" in each for each in fences)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_are_harmless_in_every_format(name: str, tmp_path: Path) -> None:
    graph = gradient(name)
    suffixes = "json svg html dot mmd graphml gexf txt tex md npz py"
    for suffix in suffixes.split():
        path = tmp_path / f"g.{suffix}"
        if suffix == "json" and name == "\ud800":
            with pytest.raises(sg.errors.InputError, match="not valid Unicode"):
                graph.save(path)
            continue
        graph.save(path)
        data = path.read_bytes()
        if suffix in ("svg", "html", "mmd", "graphml", "gexf"):
            assert b"<script>alert" not in data
        if suffix in ("svg", "graphml", "gexf"):
            ET.fromstring(data.decode("utf-8"))
        if suffix == "py":
            compile(data.decode("utf-8"), "g.py", "exec")
        if suffix not in ("npz", "json"):
            assert not set(data.decode("utf-8")) & {"\u202e", "\u2066", "\x00", "\x1b", "\x7f"}
    if name != "\ud800":
        assert str(sg.load(tmp_path / "g.json").formula()) == str(graph.formula())


def test_constants_are_an_npz_file(tmp_path: Path) -> None:
    table = np.arange(6.0).reshape(2, 3)
    graph = sg.trace(lambda x: np.sum(x * table) + 3.5, x=(2, 3))
    graph.save(tmp_path / "c.npz")
    with np.load(tmp_path / "c.npz", allow_pickle=False) as read:
        found = [read[name] for name in read.files]
    wanted = [node.params["value"] for node in graph.nodes if node.is_constant]
    assert len(found) == len(wanted) >= 2
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
