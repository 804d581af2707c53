"""Formats read back by readers that others have written: DOT by pydot, LaTeX by pylatexenc."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from randomgraphs import random_program, traced_program

import symgraph as sg

NAMES = ["x", "<script>", '"]-->', "a\nb", "\u202ex", "\\input{x}", "%", "{", "$x$", "w" * 10_000]


def gradient(name: str) -> sg.Graph:
    x = sg.input(name, ("n", "n"))
    y = sg.name(np.tanh(x @ x + x[0]), f"{name}?")
    return sg.graph(np.sum(np.log(np.exp(y)))).gradient(name).simplify()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pydot's own calls of pyparsing
@pytest.mark.sampled(one_in=9)
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_graphviz_text_is_read_by_pydot(name: str) -> None:
    pydot: Any = pytest.importorskip("pydot")
    graph = gradient(name)
    (read,) = pydot.graph_from_dot_data(graph.to_dot())
    inside = [read, *read.get_subgraphs()]
    nodes = {each.get_name() for part in inside for each in part.get_nodes()}
    nodes -= {"node", "edge", "graph"}
    edges = [
        (each.get_source(), each.get_destination()) for part in inside for each in part.get_edges()
    ]
    outputs = len(graph.outputs)
    written = [
        node for node in graph.nodes if node.is_input or node.operands or node.aval.size != 1
    ]
    assert len(written) <= len(nodes) <= len(graph.nodes) + outputs
    assert {end for edge in edges for end in edge} <= nodes
    assert len(edges) >= len(written) - 1


def walked(text: str) -> list[Any]:
    reader: Any = pytest.importorskip("pylatexenc.latexwalker")
    return reader.LatexWalker(text, tolerant_parsing=False).get_latex_nodes()[0]


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_formulas_of_hostile_names_are_read_by_pylatexenc(name: str) -> None:
    graph = gradient(name)
    for text in (
        graph.to_latex(),
        graph.to_latex("index"),
        graph.explain(format="latex"),
        graph.explain(format="align"),
    ):
        kinds = {type(node).__name__ for node in walked(text)}
        assert "LatexCommentNode" not in kinds
        assert "LatexMathNode" not in kinds
        assert not any(getattr(node, "macroname", "") == "input" for node in walked(text))


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("seed", range(8))
def test_formulas_of_random_programs_are_read_by_pylatexenc(seed: int) -> None:
    program = random_program(seed)
    small = traced_program(program).gradient(*program.targets).simplify()
    for text in (small.to_latex(), small.to_latex("index"), small.explain(format="align")):
        walked(text)
