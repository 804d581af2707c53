"""Every text that a user can give, put through every format, and read by readers that are not ours.

Names of inputs, values, scopes and outputs, lines of code: none becomes markup, code or a command.
"""

from __future__ import annotations

import ast
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import symgraph as sg

PIECES = [
    "<script>alert(1)</script>",
    "</script><script>",
    '"]-->',
    "'''",
    '"""',
    "\n",
    "\r\n",
    "\u2028",
    "\u202e",
    "\u2066",
    "\x00",
    "\x1b[31m",
    "]]>",
    "<!--",
    "&lt;",
    "&#x3c;",
    "\\",
    "\\input{x}",
    "\\end{aligned}",
    "$x$",
    "%",
    "```",
    "|",
    "{}",
    "__import__('os')",
    "x" * 10_000,
    "ÿ",
    "☃",
    "\U0001f600",
    "\u0301",
    "__proto__",
    "constructor",
]
TEXTS = st.one_of(
    st.sampled_from(PIECES),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join),
    st.text(min_size=1, max_size=30),
)
FORBIDDEN = {*"\u202e\u2066\x00\x1b\u2028\x7f"}


def graph_of(given_name: str, value: str, scope: str, output: str) -> sg.Graph:
    def f(**inputs: Any) -> Any:
        x = inputs[given_name]
        with sg.scope(scope):
            y = sg.name(np.tanh(x * x), value)
        return {output: np.sum(np.log(np.exp(y)))}

    return sg.trace(f, **{given_name: "n, n"})


class _Page(HTMLParser):
    """The elements of a page, by an HTML reader of Python's own."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.data = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.kind = dict(attrs).get("type")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script" and self.kind == "application/json":
            self.data += data


def page_of(text: str) -> _Page:
    reader = _Page()
    reader.feed(text)
    reader.close()
    return reader


def assert_is_tex(text: str) -> None:
    plain = re.sub(r"\\[\\{}$&#%_]", "", text)
    assert plain.count("{") == plain.count("}")
    assert plain.count(r"\begin{") == plain.count(r"\end{")
    commands = set(re.findall(r"\\[a-zA-Z]+", text.replace(r"\\", "")))
    assert not commands & {r"\input", r"\include", r"\write", r"\def", r"\href", r"\catcode"}
    assert "$" not in plain
    assert "%" not in plain


def assert_harmless(graph: sg.Graph, plain: sg.Graph) -> None:
    """Whether each format has the form that it has for plain names."""
    nodes = len(graph.nodes)
    texts = {
        "text": str(graph),
        "tree": graph.tree(),
        "table": str(graph.table()),
        "dot": graph.to_dot(),
        "mermaid": graph.to_mermaid(),
        "source": graph.to_python(),
        "latex": graph.to_latex(),
        "index": graph.to_latex("index"),
        "align": graph.explain(format="align"),
        "derivation": graph.explain(),
        "markdown": graph.explain(format="markdown"),
        "svg": graph.to_svg(),
        "graphml": graph.to_graphml(),
        "formula": str(graph.formula()),
    }
    for kind, text in texts.items():
        assert not set(text) & FORBIDDEN, kind
        text.encode("utf-8")
    # Sizes: no label grows without bound.
    assert len(texts["svg"]) < len(plain.to_svg()) + 3_000 * nodes
    assert max(map(len, texts["text"].splitlines())) < 400
    elements = [each.tag for each in ET.fromstring(texts["svg"]).iter()]
    assert elements.count("{http://www.w3.org/2000/svg}script") == 0
    assert elements.count("{http://www.w3.org/2000/svg}rect") >= 1
    read = nx.parse_graphml(texts["graphml"])
    assert read.number_of_nodes() == nodes
    tree = ast.parse(texts["source"])
    calls = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    assert "__import__" not in calls
    assert [type(each).__name__ for each in tree.body] == [
        type(each).__name__ for each in ast.parse(plain.to_python()).body
    ]
    for kind in ("latex", "index", "align"):
        assert_is_tex(texts[kind])
    page, own = page_of(graph.explore().html), page_of(plain.explore().html)
    assert page.tags == own.tags
    assert page.attributes == own.attributes
    json.loads(page.data)
    for thing in (graph, *graph.nodes, graph.table(), graph.history.profile()):
        bundle: Any = thing._repr_mimebundle_()
        shown = page_of(bundle["text/html"])
        assert "script" not in shown.tags
        assert not any(name.startswith("on") for name in shown.attributes)


def derived(graph: sg.Graph, output: str, name: str) -> sg.Graph:
    return graph.gradient(name, of=output).simplify()


def assert_all_harmless(given_name: str, value: str, scope: str, output: str) -> None:
    plain = graph_of("x", "hidden", "layer", "loss")
    graph = graph_of(given_name, value, scope, output)
    assert_harmless(graph, plain)
    assert_harmless(derived(graph, output, given_name), derived(plain, "loss", "x"))
    again = sg.load(graph.to_json())
    assert str(again) == str(graph)
    assert list(again.inputs) == [given_name]
    assert list(again.outputs) == list(graph.outputs)


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("text", PIECES, ids=range(len(PIECES)))
def test_a_hostile_text_at_every_place_is_harmless(text: str) -> None:
    text = text if text.strip() else f"a{text}b"
    assert_all_harmless(text, text, text, text)


@pytest.mark.fuzz
@settings(max_examples=300)
@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_any_texts_are_harmless(given_name: str, value: str, scope: str, output: str) -> None:
    assume(value.strip() and scope.strip())
    for each in (given_name, value, scope, output):
        try:
            each.encode("utf-8")
        except UnicodeEncodeError:
            assume(False)
    assert_all_harmless(given_name, value, scope, output)


@pytest.mark.whole
def test_pictures_as_png_take_hostile_names() -> None:
    pytest.importorskip("resvg_py")
    for text in PIECES:
        graph = graph_of("x", text if text.strip() else "a", "layer", text)
        assert graph.to_png(scale=0.5)[:4] == b"\x89PNG"
