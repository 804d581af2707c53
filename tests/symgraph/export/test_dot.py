"""DOT text, read back by the rules of the language."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from symgraph.autodiff.differentiate import differentiated
from symgraph.export import dot
from symgraph.export.expressions import escaped
from symgraph.expression import parse
from symgraph.ir.dag import Dag
from symgraph.ops.creation import input as symbolic_input

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_NODE = re.compile(r"  (\w+) \[(label=S(, \w+=(S|\w+))*)\];")
_EDGE = re.compile(r"  (\w+) -> (\w+)( \[(headlabel=S|style=bold)\])?;")
_OTHER = (
    "digraph {",
    "  label=S; labelloc=t;",
    "  rankdir=TB; node [fontname=S, fontsize=11]; edge [fontname=S, fontsize=9, color=S];",
    "  subgraph cluster_0 { label=S; color=S;",
    "  subgraph cluster_1 { label=S; color=S;",
    "  }",
    "}",
    "",
)


def _read(source: str) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """Node names, edges and strings; fails on any line that is not of one of the known forms."""
    strings = _STRING.findall(source)
    nodes: list[str] = []
    edges: list[tuple[str, str]] = []
    for line in _STRING.sub("S", source).split("\n"):
        if found := _NODE.fullmatch(line):
            nodes.append(found[1])
        elif found := _EDGE.fullmatch(line):
            edges.append((found[1], found[2]))
        else:
            assert line in _OTHER, line
    return nodes, edges, strings


def _shown(string: str) -> str:
    """What Graphviz shows for a string without orders: backslashes undone, entities undone."""
    text = string[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return text.replace("&amp;", "&")


def test_every_slot_is_an_edge() -> None:
    nodes, edges, _ = _read(dot.render(parse("x * x - y", shapes={"x": 2, "y": 2})))
    assert nodes == ["n0", "n1", "n2", "n3", "out0"]
    assert sorted(edges) == [
        ("n0", "n1"),
        ("n0", "n1"),
        ("n1", "n3"),
        ("n2", "n3"),
        ("n3", "out0"),
    ]


def test_slots_are_numbered_where_order_matters() -> None:
    source = dot.render(parse("x / y"))
    assert '[headlabel="0"]' in source
    assert '[headlabel="1"]' in source
    assert "headlabel" not in dot.render(parse("exp(x)"))


def test_forward_and_gradient_differ_in_shape_and_colour() -> None:
    joint = differentiated(parse("sum(x * x)"), ["x"])
    source = dot.render(joint, clusters=True)
    nodes, _, _ = _read(source)
    assert len(nodes) == len(joint.nodes) + 2
    assert source.count('label="forward"') == source.count('label="gradient"') == 1
    forward, _, gradient = source.partition("cluster_1")
    assert "#e3ecf8" in forward
    assert "#fcebd9" not in forward
    assert "#fcebd9" in gradient


@given(name=st.text(min_size=1, max_size=40))
@example(name='"]--> x')
@example(name="<script>alert(1)</script>")
@example(name="<b>bold</b>")
@example(name="\\N \\G \\n \\l")
@example(name="&lt;&quot;")
@example(name="a\nb\u2028c\x00\u202ed")
@example(name='\\"; evil [label="x')
def test_labels_are_shown_as_they_are(name: str) -> None:
    x = symbolic_input(name, (2,))
    source = dot.render(Dag({name: x.node}, [np.exp(x).node], [name]))
    assert source.isprintable() or {c for c in source if not c.isprintable()} == {"\n"}
    nodes, edges, strings = _read(source)
    assert nodes == ["n0", "n1", "out0"]
    assert edges == [("n0", "n1"), ("n1", "out0")]
    assert escaped(name) in [_shown(string) for string in strings]


def test_large_graphs_are_linear() -> None:
    x = symbolic_input("x", ())
    y = x
    for _ in range(3_000):
        y = y + x
    nodes, edges, _ = _read(dot.render(Dag({"x": x.node}, [y.node])))
    assert len(nodes) == 3_002
    assert len(edges) == 6_001
